/* The cost of a grid barrier: all resident work-groups pass `rounds` of them.
 *
 * passed[member]: number of rounds that the group has passed; control: as in common/grid_barrier.h, zeroed.
 * A wait ends after SPIN_LIMIT turns; then the status word reports it and every group leaves. */
#include "common/grid_barrier.h"

KERNEL grid_barriers(uint rounds, uint linger, volatile __global uint *control, __global uint *passed) {
  LOCAL_ARRAY uint joined[2];
  LOCAL_ARRAY int through;
  if (get_local_id(0) == 0) {
    joined[0] = grid_join(control, linger);
    joined[1] = grid_members(control);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (joined[0] == GRID_OUTSIDE) return;
  uint round = 0u;
  while (round < rounds && grid_barrier(control, joined[1], &through)) round++;
  if (get_local_id(0) == 0) passed[joined[0]] = round;
}
