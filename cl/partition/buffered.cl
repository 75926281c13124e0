/* Refinement by buffered requests: each part accepts the requests with the largest gains that fit.
 *
 *   count_requests   a work-item takes a candidate and counts its request; rebalancing is as in label propagation
 *   place_requests   a work-item takes a candidate and puts it in the buffer of the requested part
 *   accept_requests  a work-group takes a part and finds, bit by bit, the least key from which on all requests fit
 *
 * The order of requests in a buffer depends on timing, but the set of accepted requests does not.
 *
 * After G. Goodarzi, M. Burtscher, D. Goswami, "Parallel graph partitioning on a CPU-GPU architecture", IPDPSW 2016.
 */
#include "partition/requests.h"

#ifndef LEAST_GAIN               /* least gain of a request */
#define LEAST_GAIN 1
#endif

INLINE int is_request(const refined_t *r, int v, uint stamp) {
  return (ARRAY(r, TARGET)[v] > ARRAY(r, PART)[v]) == (int)(stamp & 1u) && ARRAY(r, GAIN)[v] >= LEAST_GAIN;
}

KERNEL count_requests(uint level, REQUEST_PARAMETERS) {
  REQUESTED
  const level_t on = LEVEL(level);
  if (mode != MODE_SPREAD) {
    confirm(&r, &on);
    return;
  }
  const uint n = state[REFINE_CANDIDATES];
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    const int v = ARRAY(&r, CANDIDATES)[i];
    if (is_request(&r, v, stamp)) fetch_add(OF_REQUESTS(COUNTS) + ARRAY(&r, TARGET)[v], 1);
  }
}

KERNEL place_requests(uint level, REQUEST_PARAMETERS) {
  LOCAL_ARRAY int begins[PARTS_ROOM];
  LOCAL_ARRAY int scratch[GROUP_SCRATCH];
  REQUESTED
  if (mode != MODE_SPREAD) return;
  int before = 0, all;
  for (uint start = 0u; start < n_parts; start += WG_SIZE) {
    const uint p = start + get_local_id(0);
    const int at = before + group_exclusive_sum(p < n_parts ? OF_REQUESTS(COUNTS)[p] : 0, scratch, &all);
    if (p < n_parts) begins[p] = at;
    if (p < n_parts && get_group_id(0) == 0) OF_REQUESTS(BEGINS)[p] = at;
    before += all;
  }
  local_barrier();
  const uint n = state[REFINE_CANDIDATES];
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    const int v = ARRAY(&r, CANDIDATES)[i], target = ARRAY(&r, TARGET)[v];
    if (is_request(&r, v, stamp)) requests[begins[target] + fetch_add(OF_REQUESTS(PLACED) + target, 1)] = v;
  }
}

/* Returns the total weight of the requests with keys of at least `least`. */
INLINE long weight_from(const refined_t *r, const level_t *on, __global int *items, uint n, ulong least,
                        uint stamp, __local long *scratch) {
  long own = 0, all;
  for (uint i = get_local_id(0); i < n; i += WG_SIZE)
    if (request_key(r, items[i], stamp) >= least) own += vertex_weight(on, items[i]);
  group_exclusive_sum(own, scratch, &all);
  return all;
}

KERNEL accept_requests(uint level, REQUEST_PARAMETERS) {
  LOCAL_ARRAY long scratch[GROUP_SCRATCH];
  REQUESTED
  const level_t on = LEVEL(level);
  if (mode != MODE_SPREAD) return;
  NEW_BATCH(movers)
  for (uint p = get_group_id(0); p < n_parts; p += get_num_groups(0)) {
    __global int *items = requests + OF_REQUESTS(BEGINS)[p];
    const uint n = (uint)OF_REQUESTS(PLACED)[p];
    const long free = (long)OF_PARTS(&r, LIMITS)[p] - OF_PARTS(&r, SIZES)[p];
    const int is_all = weight_from(&r, &on, items, n, 0ul, stamp, scratch) <= free;
    ulong refused = 0ul;         /* the greatest key found so far from which on the requests are too heavy */
    for (int bit = is_all ? -1 : 63; bit >= 0; bit--)
      if (weight_from(&r, &on, items, n, refused | 1ul << bit, stamp, scratch) > free) refused |= 1ul << bit;
    for (uint i = get_local_id(0); i < n; i += WG_SIZE)
      if (is_all || request_key(&r, items[i], stamp) > refused) accept_request(&r, items[i], stamp, &movers);
    FORGET_REQUESTS(p)
  }
  flush(&r, &movers, MOVERS, REFINE_MOVERS);
}
