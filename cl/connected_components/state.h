/* Words of the buffer `state`, through which the phases of one run communicate without the host. */
#ifndef CLGRAPH_COMPONENTS_STATE_H
#define CLGRAPH_COMPONENTS_STATE_H
#define STATE_GIANT 0            /* label of the giant component, or NO_GIANT */
#define STATE_SHARE 1            /* its share of the sample, percent */
#define STATE_LINKED 64          /* 1: something was linked since the giant was found; a cache line of its own */
#define STATE_ENDED 128          /* number of work-groups that have compressed; 0 before and after the kernel */
#define STATE_WORDS 129
#define NO_GIANT -1
#endif
