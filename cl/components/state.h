/* What the phases of one run tell each other without the host: words of the buffer `state`. */
#ifndef CLGRAPH_COMPONENTS_STATE_H
#define CLGRAPH_COMPONENTS_STATE_H
#define STATE_GIANT 0            /* label of the giant component, or NO_GIANT */
#define STATE_SHARE 1            /* its share of the sample, percent */
#define STATE_LINKED 64          /* 1: something was linked since find_giant; a cache line of its own */
#define STATE_WORDS 65
#define NO_GIANT -1
#endif
