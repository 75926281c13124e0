/* Delaunay refinement by work-groups.  Each takes a patch of the mesh and refines it in rounds of its own, with
 * barriers of the group between them.  Local memory holds the claims of triangles and the lists of bad ones.
 *
 *   key_places     per triangle: its position on a Hilbert curve.  Triangles are sorted by it and cut into patches of PATCH
 *   own_patches    per triangle in this order: the number of its patch, and its number there
 *   refine_groups  per patch: inserts all points whose cavity and the triangles around it are in the patch
 *
 * In a round of a patch, bad triangles that come before their bad neighbours are candidates, at most one per work-item.
 * Each candidate walks through its cavity and claims triangles with its key.  The highest key stays, and candidates that
 * own their cavity insert their points.  A candidate that needs a triangle of another patch, or exact arithmetic, is left
 * for later: the next passes have other patches, and rounds over the whole mesh do the rest.
 *
 * Groups do not race.  A link that crosses a patch border is never changed: that would need triangles of both patches,
 * and a group changes only its own.  So a group reads only what existed when the launch began, or what it wrote.
 * Points and slots are counted by atomics, so their numbers differ from run to run.
 */
#ifndef PATCH                    /* triangles of a patch when the launch begins */
#define PATCH 512
#endif
#ifndef PATCH_ROOM               /* greatest number of triangles of a patch when the launch ends */
#define PATCH_ROOM 2048
#endif
#define LIST_BITS 10             /* A list has room for 2^10 bad triangles: no fewer than PATCH. */
#define MOST_LISTED (1 << LIST_BITS)

#define IN_GROUP 1
#include "refine_mesh/insertion.h"
#include "common/hashes.h"
#include "primitives/group_scan.h"

#define N_LISTED 0               /* words of `counts`: the lengths of two lists, */
#define N_CHOSEN 2               /* the number of triangles that are tried, */
#define POINT_BASE 3             /* the first new point and slot of this round */
#define SLOT_BASE 4
#define COUNTS 5

/* Returns the position on D. Hilbert's curve of a point with 16 bits in each coordinate. */
INLINE uint hilbert(uint x, uint y) {
  uint place = 0u;
  for (uint bit = 1u << 15; bit; bit >>= 1) {
    uint right = (x & bit) != 0u, upper = (y & bit) != 0u;
    place = 4u * place + ((3u * right) ^ upper);
    if (!upper) {
      uint turned = right ? ~x : x;
      x = right ? ~y : y;
      y = turned;
    }
  }
  return place;
}

/* shift: moves the curve, and with it the borders of patches */
KERNEL key_places(int n_triangles, double low_x, double low_y, double scale, double shift,
                  __global const double2 *restrict points, __global const int4 *restrict corners,
                  __global uint *restrict keys, __global int *restrict items) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  int4 corner = corners[t];
  double2 sum = points[corner.x] + points[corner.y] + points[corner.z];
  uint x = (uint)clamp((int)((sum.x / 3.0 - low_x) * scale + shift), 0, 65535);
  uint y = (uint)clamp((int)((sum.y / 3.0 - low_y) * scale + shift), 0, 65535);
  keys[t] = hilbert(x, y);
  items[t] = t;
}

KERNEL own_patches(int n_triangles, __global const int *restrict order, __global uint *restrict places) {
  int k = get_global_id(0);
  if (k < n_triangles) places[order[k]] = (uint)(k / PATCH) * PATCH_ROOM + (uint)(k % PATCH);
}

/* Two keys of one round are never equal, since each contains a place of the list. */
INLINE uint patch_key(int t, int urgency, uint turn, int place) {
  return ((uint)urgency << 24) | (hash_murmur3((uint)t ^ turn * 0x9e3779b9u) >> 8 << LIST_BITS & 0xffffffu) | (uint)place;
}

/* Returns 1 if the triangle with this key comes before its neighbours in the patch. */
INLINE int leads_in_patch(field_t f, int t, uint key, __local const uint *keys) {
  int4 link = f.links[t];
  for (int e = 0; e < 3; e++) {
    int across = of3(link, e);
    if (across == OUTSIDE) continue;
    uint place = f.places[unmarked(across) >> 2] - f.first_place;
    if (place < PATCH_ROOM && keys[place] > key) return 0;
  }
  return 1;
}

INLINE void list_one(int t, __local int *list, volatile __local uint *size) {
  uint place = fetch_add(size, 1u);
  if (place < MOST_LISTED) list[place] = t;
}

/* List the patch's triangles that are bad when the launch begins. */
INLINE void list_patch(int first, int n_own, int least_urgency, __global const int *order, __global const uchar *urgencies,
                       __local int *list, volatile __local uint *counts) {
  const int lane = get_local_id(0);
  for (int k = lane; k < COUNTS; k += WG_SIZE) counts[k] = 0u;
  local_barrier();
  for (int k = lane; k < n_own; k += WG_SIZE) {
    int t = order[first + k];
    if (urgencies[t] >= least_urgency) list_one(t, list, counts + N_LISTED);
  }
  local_barrier();
}

/* Choose listed triangles that come before their bad neighbours, and set the others that need no further round to -1. */
INLINE void choose_leaders(field_t f, int n, int least_urgency, uint turn, __global const uchar *urgencies,
                           __local int *list, volatile __local uint *keys, __local int *chosen,
                           volatile __local uint *counts) {
  const int lane = get_local_id(0);
  for (int i = lane; i < n; i += WG_SIZE) {
    int t = list[i], urgency = urgencies[t];
    if (urgency >= least_urgency) fetch_max(keys + (f.places[t] - f.first_place), patch_key(t, urgency, turn, i));
    else list[i] = -1;
  }
  local_barrier();
  for (int i = lane; i < n; i += WG_SIZE) {
    int t = list[i];
    if (t < 0) continue;
    uint key = keys[f.places[t] - f.first_place];
    if ((key & (MOST_LISTED - 1u)) != (uint)i) list[i] = -1;                /* it is in the list twice */
    else if (leads_in_patch(f, t, key, (__local const uint *)keys)) {
      uint place = fetch_add(counts + N_CHOSEN, 1u);
      if (place < WG_SIZE) chosen[place] = i;
    }
  }
  local_barrier();
}

/* Walk through the cavity of this work-item's chosen triangle and claim it; a walk that fails takes the triangle off the
 * list.  Returns whether the work-item owns its whole cavity when all have claimed. */
INLINE int win_cavity(field_t f, demands_t ask, __global const uchar *urgencies, __local int *list,
                      __local const uint *keys, __local const int *chosen, volatile __local uint *counts, found_t *found) {
  const int own = get_global_id(0), lane = get_local_id(0);
  uint key = 0u;
  int has_won = 0;
  found->n_cavity = found->n_rim = 0;
  found->second = -1;
  if (lane < (int)counts[N_CHOSEN]) {
    int i = chosen[lane], t = list[i];
    key = keys[f.places[t] - f.first_place];
    has_won = attempt(f, own, key, t, urgencies[t], ask, found) == WALK_DONE;
    if (!has_won) list[i] = -1;
  }
  local_barrier();
  for (int k = 0; k < found->n_cavity && has_won; k++)
    has_won = f.claims[f.places[f.cavity[k * (size_t)f.n_rows + own]] - f.first_place] == key;
  return has_won;
}

/* Take points and slots for the winners, as far as the mesh and the patch have room, insert their points, and list the bad
 * ones of the new triangles for the next round.  Returns whether every winner got room; n_own grows by the slots. */
INLINE int insert_winners(field_t f, grown_t m, demands_t ask, int has_won, found_t found, uint *n_own, uint *n_won,
                          uint most_points, int least_urgency, volatile __global uint *state, __global uint *places,
                          __local int *next_list, volatile __local uint *next_size, __local uint *scratch,
                          volatile __local uint *counts) {
  const int own = get_global_id(0), is_first = get_local_id(0) == 0;
  uint n_slots;
  const uint rank = group_exclusive_sum((uint)has_won, scratch, n_won);
  /* Each takes one slot or two.  A patch without room for all has ended. */
  const uint wanted = *n_own + 2u * *n_won <= PATCH_ROOM ? *n_won : 0u;
  if (is_first) counts[POINT_BASE] = fetch_add(state + N_POINTS, wanted);
  local_barrier();
  const uint v = counts[POINT_BASE], fits = v < most_points ? min(wanted, most_points - v) : 0u;
  has_won = has_won && rank < fits;        /* the host subtracts the points beyond that */
  const uint need = has_won ? (uint)(found.n_rim - found.n_cavity) : 0u;
  const uint slot = group_exclusive_sum(need, scratch, &n_slots);
  if (is_first) counts[SLOT_BASE] = fetch_add(state + N_TRIANGLES, n_slots);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (has_won) {
    const int base = (int)(counts[SLOT_BASE] + slot);
    for (uint j = 0; j < need; j++) places[base + (int)j] = f.first_place + *n_own + slot + j;
    insert_one(m, own, found, (int)(v + rank), base, ask);
    for (int k = 0; k < found.n_rim; k++) {
      int made = slot_of(m, own, found.n_cavity, k, base);
      if (m.urgencies[made] >= least_urgency) list_one(made, next_list, next_size);
    }
  }
  *n_own += n_slots;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return fits == *n_won;
}

KERNEL refine_groups(int n_triangles, int n_patches, int least_urgency, uint most_points, demands_t ask,
                     __global const int *restrict order, __global const int2 *restrict segment_ends,
                     __global const double *restrict caps, volatile __global uint *state, __global uint *places,
                     __global double2 *points, __global int4 *corners, __global int4 *links, __global int4 *sides,
                     __global uchar *urgencies, __global int *point_segments, __global int4 *rim,
                     __global int *cavity) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  LOCAL_ARRAY uint claims[PATCH_ROOM];
  LOCAL_ARRAY uint keys[PATCH_ROOM];
  LOCAL_ARRAY int lists[2 * MOST_LISTED];
  LOCAL_ARRAY int chosen[WG_SIZE];
  LOCAL_ARRAY uint counts[COUNTS];
  const int lane = get_local_id(0);
  field_t f;
  f.points = points; f.corners = corners; f.links = links; f.sides = sides; f.point_segments = point_segments;
  f.rim = rim; f.cavity = cavity; f.n_rows = get_global_size(0); f.lens = ask.lens; f.whole = ask.whole;
  f.places = places; f.claims = claims;
  grown_t m;
  m.points = points; m.corners = corners; m.links = links; m.sides = sides; m.urgencies = urgencies;
  m.point_segments = point_segments; m.segment_ends = segment_ends; m.caps = caps;
  m.rim = rim; m.cavity = cavity; m.n_rows = f.n_rows;
  for (int patch = get_group_id(0); patch < n_patches; patch += (int)get_num_groups(0)) {
    f.first_place = (uint)patch * PATCH_ROOM;
    uint n_own = (uint)min(PATCH, n_triangles - patch * PATCH), n_won;
    list_patch(patch * PATCH, (int)n_own, least_urgency, order, urgencies, lists, counts);
    int n = (int)counts[N_LISTED];
    for (uint turn = 0u; n > 0; turn++) {
      const uint here = turn & 1u, next = here ^ 1u;
      __local int *list = lists + here * MOST_LISTED, *next_list = lists + next * MOST_LISTED;
      volatile __local uint *next_size = counts + N_LISTED + next;
      for (int u = lane; u < (int)n_own; u += WG_SIZE) claims[u] = keys[u] = 0u;
      if (lane == 0) *next_size = counts[N_CHOSEN] = 0u;
      local_barrier();
      choose_leaders(f, n, least_urgency, turn, urgencies, list, keys, chosen, counts);
      found_t found;
      const int has_won = win_cavity(f, ask, urgencies, list, keys, chosen, counts, &found);
      const int has_room = insert_winners(f, m, ask, has_won, found, &n_own, &n_won, most_points, least_urgency, state,
                                          places, next_list, next_size, scratch, counts);
      for (int i = lane; i < n; i += WG_SIZE)
        if (list[i] >= 0) list_one(list[i], next_list, next_size);
      local_barrier();
      /* The highest key wins or leaves the list.  If neither happened, the next round would be the same. */
      const int left = (int)min(*next_size, (uint)MOST_LISTED), is_stuck = n_won == 0u && left >= n;
      if (is_stuck && lane == 0) store_relaxed(state + N_STUCK, turn + 1u);
      n = has_room && !is_stuck ? left : 0;
    }
    local_barrier();
  }
}
