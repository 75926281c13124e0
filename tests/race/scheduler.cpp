/* Kernels under a seeded scheduler: work-items are fibres of one thread, and before each atomic, racy load or
 * racy store the running one may lose its turn to any other.  A seed fixes the input and every switch, so a
 * wrong answer is replayed by its seed.  It shows wrong answers only.  Seeds that are 3 modulo 4 have weak memory
 * (memory.h), the others none; with those that are 2 modulo 4 one work-item is late: it seldom gets a turn.
 *
 *   scheduler CASE FIRST_SEED SEEDS      stops at the first seed with a wrong answer
 */

static void schedule_point();
#define SCHEDULE_POINT(p) schedule_point();
#define UPDATE_(p) schedule_point(); memory::Update update_(p, sizeof *(p), true);
#define STORE_(p) schedule_point(); memory::Update update_(p, sizeof *(p), false);
#define AS_SEEN_(p, v) memory::as_seen(p, v)
#define FENCE_ memory::fence();

#include "host.h"
#include "memory.h"

static const int N_FIBRES = 24;  /* work-items in flight when a kernel has no barriers */
static const size_t N_GROUPS = 3;  /* groups in flight when it has */
static const size_t STACK_BYTES = 1 << 16;

enum State { READY, AT_BARRIER, AT_MEETING, ENDED };
struct Fibre {
  ucontext_t context;            /* where it starts */
  jmp_buf left;                  /* where it goes on; a jump makes no system call, as swapcontext does */
  bool has_started;
  Place place;
  State state;
  memory::Seen seen;
};
static std::vector<Fibre> fibres;
static std::vector<std::vector<char>> stacks;  /* of the fibres; kept from launch to launch */
static jmp_buf main_left;
static Fibre *running;
static Random switches(1);
static ulong switch_mask, n_switches;
static bool has_late;
static size_t late;              /* which fibre that is */
static const std::function<void()> *kernel_body;
static std::vector<size_t> waiting_items;  /* not yet started, last first */
static Grouping mode;
static bool diverged, shares_memory;
static std::vector<std::string> local_memories;  /* of the groups in flight, but for the one that ran last, whose is in use */
static size_t last_group;

static Place &place() { return running->place; }
memory::Seen &memory::seen() { return running->seen; }

static size_t group_of(const Fibre *fibre) { return (fibre - fibres.data()) / WG_SIZE; }

static void take_local_memory(size_t group) {
  if (mode == INDEPENDENT || group == last_group) return;
  const size_t size = memory::__stop_local_memory - memory::__start_local_memory;
  local_memories[last_group].assign(memory::__start_local_memory, size);
  local_memories[group].resize(size, '\x5a');  /* of a group that starts: nothing that it may rely on */
  memcpy(memory::__start_local_memory, local_memories[group].data(), size);
  last_group = group;
}

static void run_next(Fibre *next) {
  Fibre *before = running;
  if (next == before) return;
  n_switches++;
  running = next;
  if (next) take_local_memory(group_of(next));
  if (_setjmp(before ? before->left : main_left)) return;
  if (!next) _longjmp(main_left, 1);
  if (next->has_started) _longjmp(next->left, 1);
  next->has_started = true;
  setcontext(&next->context);
}

/* Any ready fibre; the main program when there is none.  Loops that run at every switch are over bare pointers: nothing
 * is optimised here. */
static Fibre *pick() {
  Fibre *const first = fibres.data(), *const end = first + fibres.size();
  size_t n_ready = 0;
  for (const Fibre *fibre = first; fibre < end; fibre++) n_ready += fibre->state == READY;
  if (!n_ready) return nullptr;
  const Fibre *const left_out =
      has_late && n_ready > 1 && first[late].state == READY && switches.below(16) ? first + late : nullptr;
  size_t chosen = switches.below((uint)(n_ready - (left_out != nullptr)));
  for (Fibre *fibre = first; fibre < end; fibre++)
    if (fibre->state == READY && fibre != left_out && !chosen--) return fibre;
  return nullptr;
}

static void schedule_point() {
  if (running && !(switches.next() >> 20 & switch_mask)) run_next(pick());
}

/* What each of these has seen or will see after a fence, all have seen. */
static void share_memory(Fibre *first, size_t n) {
  if (!memory::is_weak || !shares_memory) return;
  memory::View all;
  for (size_t i = 0; i < n; i++) {
    memory::join(all, first[i].seen.now);
    memory::join(all, first[i].seen.after_fence);
  }
  for (size_t i = 0; i < n; i++) first[i].seen = {all, all, first[i].seen.published};
}

/* When no fibre of the running one's group is ready, all that live have met at the barrier. */
static void open_barrier() {
  Fibre *first = fibres.data() + group_of(running) * WG_SIZE;
  size_t n_ended = 0, n_waiting = 0;
  for (Fibre *fibre = first; fibre < first + WG_SIZE; fibre++) {
    if (fibre->state == READY || fibre->state == AT_MEETING) return;
    n_ended += fibre->state == ENDED;
    n_waiting += fibre->state == AT_BARRIER;
  }
  if (n_waiting && n_ended) diverged = true;
  share_memory(first, WG_SIZE);
  for (Fibre *fibre = first; fibre < first + WG_SIZE; fibre++)
    if (fibre->state == AT_BARRIER) fibre->state = READY;
  if (mode == WITH_BARRIERS && n_ended == WG_SIZE && !waiting_items.empty()) {  /* the next group, in the place of this one */
    std::fill_n(memory::__start_local_memory, memory::__stop_local_memory - memory::__start_local_memory, '\x5a');
    for (Fibre *fibre = first; fibre < first + WG_SIZE; fibre++) {
      fibre->place.id = waiting_items.back();
      waiting_items.pop_back();
      fibre->state = READY;
      fibre->seen = {};
    }
  }
}

static void barrier(int flags) {
  if (WG_SIZE == 1) return;
  if (mode != WITH_BARRIERS) {
    fprintf(stderr, "a kernel with a barrier was launched as INDEPENDENT\n");
    abort();
  }
  running->state = AT_BARRIER;
  shares_memory = flags & CLK_GLOBAL_MEM_FENCE;
  open_barrier();
  run_next(pick());
}

#if DEV_SUB_GROUP_SIZE > 1
static std::vector<ulong> exchanged;
static ulong *lane_words() { return exchanged.data() + (running - fibres.data()) / LANES_ * LANES_; }
static void meet(bool orders) {
  Fibre *first = fibres.data() + (running - fibres.data()) / LANES_ * LANES_;
  running->state = AT_MEETING;
  bool all = true;
  for (uint l = 0; l < LANES_; l++) all &= first[l].state == AT_MEETING;
  if (all) {
    shares_memory = orders;
    share_memory(first, LANES_);
    for (uint l = 0; l < LANES_; l++) first[l].state = READY;
  }
  run_next(pick());
}
#endif

static void fibre_main() {
  for (;;) {
    (*kernel_body)();
#if DEV_SUB_GROUP_SIZE > 1       /* whole sub-groups follow each other */
    if (mode == INDEPENDENT && (running->place.id += fibres.size()) < running->place.n) continue;
#else
    if (mode == INDEPENDENT && !waiting_items.empty()) {
      running->place.id = waiting_items.back();
      waiting_items.pop_back();
      running->seen = {};
      schedule_point();
      continue;
    }
#endif
    running->state = ENDED;
    open_barrier();
    run_next(pick());            /* comes back when a next group has this place */
  }
}

static void run_fibres(size_t n_fibres, size_t n) {
  fibres.resize(n_fibres);
  memory::words.clear();
#if DEV_SUB_GROUP_SIZE > 1
  exchanged.resize(n_fibres);
#endif
  while (stacks.size() < n_fibres) stacks.emplace_back(STACK_BYTES);
  for (size_t i = 0; i < n_fibres; i++) {
    Fibre &fibre = fibres[i];
    fibre.place = {waiting_items.back(), n};
    waiting_items.pop_back();
    fibre.state = READY;
    fibre.seen = {};
    getcontext(&fibre.context);
    fibre.has_started = false;
    fibre.context.uc_stack.ss_sp = stacks[i].data();
    fibre.context.uc_stack.ss_size = STACK_BYTES;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, fibre_main, 0);
  }
  if (has_late) late = switches.below((uint)n_fibres);
  run_next(pick());
}

static void launch(size_t n_items, const std::function<void()> &body, Grouping grouping) {
  const size_t n = (n_items + WG_SIZE - 1) / WG_SIZE * WG_SIZE;
  kernel_body = &body;
  mode = grouping;
  waiting_items.clear();
  for (size_t i = n; i--;) waiting_items.push_back(i);
  if (grouping == WITH_BARRIERS) {
    const size_t n_groups = min(n / WG_SIZE, N_GROUPS);
    local_memories.assign(n_groups, {});
    last_group = 0;
    if (n) run_fibres(n_groups * WG_SIZE, n);
    return;
  }
  if (DEV_SUB_GROUP_SIZE == 1 && switches.below(2))  /* groups start in any order on some devices */
    for (size_t i = n - 1; i; i--) std::swap(waiting_items[i], waiting_items[switches.below((uint)i + 1)]);
  run_fibres(min(n, (size_t)N_FIBRES), n);
}

#include CASES
#ifdef ONLY_CASE
#undef cases
static const Case cases[] = {ONLY_CASE};
#endif

int main(int n_arguments, char **arguments) {
  if (n_arguments != 4) return 2;
  const ulong first = strtoul(arguments[2], nullptr, 10), n_seeds = strtoul(arguments[3], nullptr, 10);
  for (const Case &one : cases)
    if (!strcmp(arguments[1], one.name)) {
      for (ulong seed = first; seed < first + n_seeds; seed++) {
        Random random(seed);
        switches = Random(~seed);
        switch_mask = (1ul << seed % 4) - 1;  /* a switch at every point, every other one, ... */
        memory::is_weak = seed % 4 == 3;
        has_late = seed % 4 == 2;
        memory::loads = Random(~(seed << 1));
        diverged = false;
        if (one.right(random, seed) && !diverged) continue;
        printf("%s: 1 of %lu seeds wrong, %lu switches\n", one.name, seed - first + 1, n_switches);
        printf("replay with: scheduler %s %lu 1\n", one.name, seed);
        return 1;
      }
      printf("%s: 0 of %lu seeds wrong, %lu switches\n", one.name, n_seeds, n_switches);
      return 0;
    }
  return 2;
}
