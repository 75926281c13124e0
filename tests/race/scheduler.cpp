/* Kernels under a seeded scheduler: work-items are fibres of one thread, and before each atomic, racy load or
 * racy store the running one may lose its turn to any other.  A seed fixes the input and every switch, so a
 * wrong answer is replayed by its seed.  It shows wrong answers only, and only under sequential consistency.
 *
 *   scheduler CASE FIRST_SEED SEEDS
 */
#include <ucontext.h>

#include "host.h"

static void schedule_point();
#define SCHEDULE_POINT(p) schedule_point();

static const int N_FIBRES = 24;  /* work-items in flight when a kernel has no barriers */
static const size_t STACK_BYTES = 1 << 16;

enum State { READY, AT_BARRIER, ENDED };
struct Fibre {
  ucontext_t context;
  std::vector<char> stack;
  Place place;
  State state;
};
static std::vector<Fibre> fibres;
static ucontext_t main_context;
static Fibre *running;
static Random switches(1);
static ulong switch_mask, n_switches;
static const std::function<void()> *kernel_body;
static std::vector<size_t> waiting_items;  /* not yet started, last first */
static Grouping mode;
static bool diverged;

static Place &place() { return running->place; }

static void run_next(Fibre *next) {
  Fibre *before = running;
  if (next == before) return;
  n_switches++;
  running = next;
  swapcontext(before ? &before->context : &main_context, next ? &next->context : &main_context);
}

/* Any ready fibre; the main program when there is none. */
static Fibre *pick() {
  size_t n_ready = 0;
  for (Fibre &fibre : fibres) n_ready += fibre.state == READY;
  if (!n_ready) return nullptr;
  size_t chosen = switches.below((uint)n_ready);
  for (Fibre &fibre : fibres)
    if (fibre.state == READY && !chosen--) return &fibre;
  return nullptr;
}

static void schedule_point() {
  if (running && !(switches.next() >> 20 & switch_mask)) run_next(pick());
}

/* When no fibre is ready, all that live have met at the barrier. */
static void open_barrier() {
  size_t n_ended = 0, n_waiting = 0;
  for (Fibre &fibre : fibres) {
    if (fibre.state == READY) return;
    n_ended += fibre.state == ENDED;
    n_waiting += fibre.state == AT_BARRIER;
  }
  if (n_waiting && n_ended) diverged = true;
  for (Fibre &fibre : fibres)
    if (fibre.state == AT_BARRIER) fibre.state = READY;
}

static void barrier(int) {
  if (WG_SIZE == 1) return;
  if (mode != WITH_BARRIERS) {
    fprintf(stderr, "a kernel with a barrier was launched as INDEPENDENT\n");
    abort();
  }
  running->state = AT_BARRIER;
  open_barrier();
  run_next(pick());
}

static void fibre_main() {
  for (;;) {
    (*kernel_body)();
    if (mode == INDEPENDENT && !waiting_items.empty()) {
      running->place.id = waiting_items.back();
      waiting_items.pop_back();
      schedule_point();
      continue;
    }
    running->state = ENDED;
    open_barrier();
    run_next(pick());
  }
}

static void run_fibres(size_t n_fibres, size_t n) {
  fibres.resize(n_fibres);
  for (Fibre &fibre : fibres) {
    fibre.stack.resize(STACK_BYTES);
    fibre.place = {waiting_items.back(), n};
    waiting_items.pop_back();
    fibre.state = READY;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.data();
    fibre.context.uc_stack.ss_size = STACK_BYTES;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, fibre_main, 0);
  }
  run_next(pick());
}

static void launch(size_t n_items, const std::function<void()> &body, Grouping grouping) {
  const size_t n = (n_items + WG_SIZE - 1) / WG_SIZE * WG_SIZE;
  kernel_body = &body;
  mode = grouping;
  if (grouping == WITH_BARRIERS) {
    for (size_t first = 0; first < n; first += WG_SIZE) {
      waiting_items.clear();
      for (size_t i = WG_SIZE; i--;) waiting_items.push_back(first + i);
      run_fibres(WG_SIZE, n);
    }
    return;
  }
  waiting_items.clear();
  for (size_t i = n; i--;) waiting_items.push_back(i);
  if (switches.below(2))  /* groups start in any order on some devices */
    for (size_t i = n - 1; i; i--) std::swap(waiting_items[i], waiting_items[switches.below((uint)i + 1)]);
  run_fibres(min(n, (size_t)N_FIBRES), n);
}

#include CASES

int main(int n_arguments, char **arguments) {
  if (n_arguments != 4) return 2;
  const ulong first = strtoul(arguments[2], nullptr, 10), n_seeds = strtoul(arguments[3], nullptr, 10);
  for (const Case &one : cases)
    if (!strcmp(arguments[1], one.name)) {
      ulong n_wrong = 0, first_wrong = 0;
      for (ulong seed = first; seed < first + n_seeds; seed++) {
        Random random(seed);
        switches = Random(~seed);
        switch_mask = (1ul << seed % 4) - 1;  /* a switch at every point, every other one, ... */
        diverged = false;
        if (one.right(random, seed) && !diverged) continue;
        if (!n_wrong++) first_wrong = seed;
      }
      printf("%s: %lu of %lu seeds wrong, %lu switches\n", one.name, n_wrong, n_seeds, n_switches);
      if (n_wrong) printf("replay with: scheduler %s %lu 1\n", one.name, first_wrong);
      return n_wrong != 0;
    }
  return 2;
}
