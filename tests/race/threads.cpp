/* Kernels as host threads, for ThreadSanitizer: it reports two accesses that nothing orders, at least one of
 * them a write and at least one not atomic, whether or not the answer was wrong this time.
 *
 *   threads CASE RUNS
 */


#include "host.h"

static thread_local Place here;
/* A group meets at one after the other: at one alone, who is late would see all that the others did before the next
 * meeting as ordered. */
static const int N_GATES = 3;
static thread_local pthread_barrier_t *gates;
static thread_local int next_gate;
static Place &place() { return here; }
static void barrier(int) {
  if (WG_SIZE == 1) return;
  if (!gates) {
    fprintf(stderr, "a kernel with a barrier was launched as INDEPENDENT\n");
    abort();
  }
  pthread_barrier_wait(gates + next_gate++ % N_GATES);
}

#if DEV_SUB_GROUP_SIZE > 1
/* Where a sub-group meets: relaxed atomics, which order nothing for ThreadSanitizer. */
struct Meeting {
  ulong words[LANES_];
  uint n_came, n_released[N_GATES];
};
static Meeting meetings[64];
static thread_local Meeting *meeting;
static ulong *lane_words() { return meeting->words; }
static void meet(bool orders) {
  const uint turn = __atomic_load_n(&meeting->n_came, __ATOMIC_RELAXED) / LANES_;
  uint *released = meeting->n_released + turn % N_GATES;
  if (orders) __atomic_fetch_add(released, 1u, __ATOMIC_RELEASE);
  __atomic_fetch_add(&meeting->n_came, 1u, __ATOMIC_RELAXED);
  while (__atomic_load_n(&meeting->n_came, __ATOMIC_RELAXED) / LANES_ == turn) sched_yield();
  if (orders) __atomic_load_n(released, __ATOMIC_ACQUIRE);
}
#define ENTER_SUB_GROUP(i) meeting = meetings + (i) / LANES_;
#else
#define ENTER_SUB_GROUP(i)
#endif

static void launch(size_t n_items, const std::function<void()> &body, Grouping grouping) {
  const size_t n_groups = (n_items + WG_SIZE - 1) / WG_SIZE, n = n_groups * WG_SIZE, n_threads = DEV_SUB_GROUP_SIZE == 1 ? 4 : 2 * DEV_SUB_GROUP_SIZE;
  if (grouping == INDEPENDENT) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < n_threads; t++)
      threads.emplace_back([=, &body] {
        ENTER_SUB_GROUP(t)
        for (size_t i = t; i < n; i += n_threads) {  /* neighbours on different threads */
          here = {i, n};
          body();
        }
      });
    for (std::thread &thread : threads) thread.join();
    return;
  }
  for (size_t group = 0; group < n_groups; group++) {
    pthread_barrier_t of_group[N_GATES];
    for (pthread_barrier_t &gate : of_group) pthread_barrier_init(&gate, nullptr, WG_SIZE);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < WG_SIZE; i++)
      threads.emplace_back([=, &body, &of_group] {
        gates = of_group;
        ENTER_SUB_GROUP(i)
        here = {group * WG_SIZE + i, n};
        body();
      });
    for (std::thread &thread : threads) thread.join();
    for (pthread_barrier_t &gate : of_group) pthread_barrier_destroy(&gate);
  }
}

#include CASES
#ifdef ONLY_CASE
#undef cases
static const Case cases[] = {ONLY_CASE};
#endif

int main(int n_arguments, char **arguments) {
  if (n_arguments != 3) return 2;
  for (const Case &one : cases)
    if (!strcmp(arguments[1], one.name)) {
      for (ulong seed = 1; seed <= strtoul(arguments[2], nullptr, 10); seed++) {
        Random random(seed);
        if (!one.right(random, seed)) {
          printf("%s: WRONG in run %lu\n", one.name, seed);
          return 1;
        }
      }
      printf("%s: right\n", one.name);
      return 0;
    }
  return 2;
}
