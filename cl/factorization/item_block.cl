/* Supersteps inside blocks of items: a slot owns an item of the block and keeps its row during the block.
 *
 * Items are numbered by rank.  Block b has the ranks from b * n_groups * SLOTS_PER_GROUP on, one per slot.  The steps of
 * a block are the matchings that have ratings of the block, with a barrier between steps.  Steps are numbered
 * consecutively over all blocks.  A slot takes part in a step if its item's next rating belongs to the step.  Ratings are
 * sorted by the rank of the item, then by step; rank r has the ratings offsets[r] … offsets[r + 1] - 1.
 * A segment is one step, or several consecutive steps in which only slots of the first group have ratings.  That group
 * makes these with barriers of its own while the others wait.  With n_groups = 1 all segments are of this kind.
 * A user's row is accessed by one slot per step, an item's row by one slot per block.  There are no races.
 *
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (AGM-N, SGM).  The study has a barrier for every matching; here matchings without ratings in the block are skipped.
 */
#include "common/grid_barrier.h"
#include "factorization/model.h"

#define NO_STEP 0xffffffffu
#define NO_ITEM (-1)

typedef struct { int user; uint step; value_t value; } rating_t;

/* The item that a slot keeps; item is NO_ITEM if the slot has no item with ratings left in the block. */
typedef struct {
  int item;
  float bias;
  offset_t at, end;              /* the place of its next rating, and the end of its ratings */
  rating_t next;
  row_t row;
} held_t;

#define RATING_PARAMS const __global int *restrict users, const __global uint *restrict steps, \
  const __global value_t *restrict values

INLINE rating_t rating_at(offset_t k, offset_t end, RATING_PARAMS) {
  rating_t r = {0, NO_STEP, NO_VALUE};
  if (k < end) {
    r.user = users[k];
    r.step = steps[k];
    r.value = values[k];
  }
  return r;
}

/* Take the item of *rank* into the slot, at its first rating of *step* or later. */
INLINE held_t take_item(model_t m, uint rank, uint n_ranks, uint step, const __global int *restrict by_rank,
                        const __global offset_t *restrict offsets, RATING_PARAMS) {
  held_t held;
  held.item = NO_ITEM;
  held.bias = 0.0f;
  held.at = rank < n_ranks ? offsets[rank] : 0;
  held.end = rank < n_ranks ? offsets[rank + 1u] : 0;
  for (offset_t high = held.end; held.at < high;) {
    const offset_t middle = held.at + (high - held.at) / 2;
    if (steps[middle] < step) held.at = middle + 1;
    else high = middle;
  }
  if (held.at < held.end) {
    held.item = by_rank[rank];
    held.row = load_row(m.item_rows, held.item);
    held.bias = load_item_bias(m, held.item);
  }
  held.next = rating_at(held.at, held.end, users, steps, values);
  return held;
}

INLINE void visit_step(model_t m, held_t *held, uint step, RATING_PARAMS) {
  const rating_t now = held->next;
  const int active = now.step == step;
  if (active) {
    held->next = rating_at(++held->at, held->end, users, steps, values);
    check_begin(m, now.user, held->item);
  }
  update_user(m, active, now.user, now.value, &held->row, &held->bias);
  if (active) check_end(m, now.user, held->item);
}

/* Segments first … last - 1; steps of segment g: segments[g] … segments[g + 1], all of block blocks[g]. */
KERNEL item_blocks(const uint first, const uint last, const uint n_groups, const uint n_ranks,
                   const __global uint *restrict segments, const __global uint *restrict blocks,
                   const __global int *restrict by_rank, const __global offset_t *restrict offsets, RATING_PARAMS,
                   MODEL_PARAMS, volatile __global uint *control, volatile __global uint *status) {
  LOCAL_ARRAY int passed;
  GRID_ENTER(control)
  const int stays = members >= n_groups;     /* if not, a group also replaces others, and loads its items each time */
  model_t m = MODEL;
  held_t held;
  uint step = segments[first], block = blocks[first], is_first = 1u;
  for (uint g = first; g < last; g++) {
    const uint step_end = segments[g + 1u], next_block = g + 1u < last ? blocks[g + 1u] : NO_STEP;
    for (uint group = member; group < n_groups; group += members) {
      if (is_first || !stays) {
        const uint rank = (block * n_groups + group) * SLOTS_PER_GROUP + slot_in_group();
        held = take_item(m, rank, n_ranks, step, by_rank, offsets, users, steps, values);
      }
      if (step_end - step == 1u) {
        visit_step(m, &held, step, users, steps, values);
      } else if (group == 0u) {
        for (uint s = step; s < step_end; s++) {
          visit_step(m, &held, s, users, steps, values);
          barrier(CLK_GLOBAL_MEM_FENCE);
        }
      }
      if ((next_block != block || !stays) && held.item != NO_ITEM) store_item(m, held.item, held.row, held.bias);
    }
    if (members > 1u && !grid_barrier(control, members, &passed)) {
      if (get_local_id(0) == 0) report_status(status, STATUS_TIMEOUT);
      return;
    }
    if (members == 1u) barrier(CLK_GLOBAL_MEM_FENCE);
    is_first = next_block != block;
    step = step_end;
    block = next_block;
  }
}
