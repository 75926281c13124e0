/* Words of the buffer `state`, through which the phases of one run communicate without the host. */
#ifndef CLGRAPH_MST_STATE_H
#define CLGRAPH_MST_STATE_H
#define STATE_THRESHOLD_WEIGHT 0 /* greatest weight of light edges */
#define STATE_THRESHOLD_ENTRY 1
#define STATE_ALIVE 32           /* the last round that left edges */
#define STATE_UNFINISHED 64      /* the last pass in which a climb met its limit */
#define STATE_CONTROLS 96        /* control words of two grids */
#define STATE_CONTROL_WORDS 32   /* distance of the two grids' control words */
#define STATE_WORDS 160
#define MAX_ROUNDS 64            /* greatest number of rounds.  Each at least halves the components that have edges. */
#endif
