/* Triangles: sizes of tiles and rows, and the words of control.
 *
 * A triangle is counted at its vertex u of lowest degree.  Its other vertices v and w are both in the forward row of u, and
 * w is in the forward row of v.  So triangles are counted by searching the entries of the forward rows of u's forward
 * neighbours in the forward row of u, or the other way round.
 *
 * counts has a 64-bit sum for each vertex, as two words (data/rows.h).
 */
#ifndef CLGRAPH_TRIANGLES_ROWS_H
#define CLGRAPH_TRIANGLES_ROWS_H
#include "common/types.h"

#ifndef TILE                     /* entries that a work-group of orient.cl takes; fewer than 2^16 */
#define TILE 2048
#endif
#ifndef SHORT_ROW                /* forward rows of up to this length are searched for in others, without a table */
#define SHORT_ROW 32
#endif
#ifndef LONG_SLOTS               /* slots of a work-group's table, a power of two */
#define LONG_SLOTS (DEV_LOCAL_MEM_BYTES > 40960 ? 4096 : 2048)
#endif
#ifndef TEAM_SLOTS               /* slots of a sub-group's table, a power of two */
#define TEAM_SLOTS (DEV_LOCAL_MEM_BYTES > 40960 ? 512 : 256)
#endif
#ifndef MEDIUM_ROW               /* longer forward rows get a table of a work-group.  Tables are at most half full. */
#define MEDIUM_ROW (TEAM_SLOTS / 2)
#endif
#ifndef LONG_PIECE               /* longer forward rows are cut in pieces of this length */
#define LONG_PIECE (LONG_SLOTS / 2)
#endif

#define TOTAL 0                  /* words of control: the number of triangles, as two words */
#define N_MEDIUM 2               /* numbers of listed rows */
#define N_LONG 3
#define N_TAKEN 4                /* blocks of vertices that work-items of count_marked have taken */
#define CONTROL_WORDS 5
#endif
