/* How work-items share a range of items, and a hash of 32 bits.
 *
 *   share_of(n)         the items that a sub-group takes, one a lane
 *   share_of_members    the same for a kernel in which only some groups take part
 *   share_of_list       the same for a short list of items that differ in work
 *   team_share_of(n)    the same if all lanes of a sub-group share an item; also team_share_of_members
 *   mixed(x)            a hash of x in which each bit of x changes about half of the bits
 */
#ifndef CLGRAPH_SHARES_H
#define CLGRAPH_SHARES_H
#include "common/subgroup.h"

/* The items of 0 ... n - 1 that a sub-group takes: on GPUs with a stride, on CPUs consecutive ones.  The loop over them is
 * `for (uint i = share.first; i < share.end; i += share.step)`; a lane takes item i + sg_lane() if that is less than n.
 * All lanes of a sub-group loop together. */
typedef struct { uint first, end, step; } share_t;
INLINE share_t share_of_members(uint n, uint member, uint members) {
  share_t share;
#if DEV_IS_CPU
  const uint teams = members * SUB_GROUPS_PER_GROUP, team = member * SUB_GROUPS_PER_GROUP + sg_in_group();
  const uint each = ((n + teams - 1u) / teams + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE * SUB_GROUP_SIZE;
  share.first = min(n, team * each);
  share.end = min(n, share.first + each);
  share.step = SUB_GROUP_SIZE;
#else
  share.first = member * WG_SIZE + sg_in_group() * SUB_GROUP_SIZE;
  share.end = n;
  share.step = members * WG_SIZE;
#endif
  return share;
}
/* The same for a list whose items differ in work; it takes item i + sg_lane() * stride.  A short list is spread over
 * all sub-groups. */
typedef struct { uint first, end, step, stride; } list_share_t;
INLINE list_share_t share_of_list(uint n, uint member, uint members) {
  const share_t share = share_of_members(n, member, members);
  list_share_t list;
  list.end = share.end;
  list.step = share.step;
#if DEV_IS_CPU
  list.stride = 1u;
  list.first = share.first;
#else
  const int is_few = n <= members * WG_SIZE;
  list.stride = is_few ? members * SUB_GROUPS_PER_GROUP : 1u;
  list.first = is_few ? sg_in_group() * members + member : share.first;
#endif
  return list;
}
INLINE share_t share_of(uint n) { return share_of_members(n, get_group_id(0), get_num_groups(0)); }
/* The same if all lanes of a sub-group share an item. */
INLINE share_t team_share_of_members(uint n, uint member, uint members) {
  const uint team = member * SUB_GROUPS_PER_GROUP + sg_in_group(), teams = members * SUB_GROUPS_PER_GROUP;
  share_t share;
#if DEV_IS_CPU
  const uint each = (n + teams - 1u) / teams;
  share.first = min(n, team * each);
  share.end = min(n, share.first + each);
  share.step = 1u;
#else
  share.first = team;
  share.end = n;
  share.step = teams;
#endif
  return share;
}
INLINE share_t team_share_of(uint n) { return team_share_of_members(n, get_group_id(0), get_num_groups(0)); }

INLINE uint mixed(uint x) {      /* murmur3's finaliser */
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}
#endif
