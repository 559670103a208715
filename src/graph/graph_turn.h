/* graph_turn.h -- the turning point of a training step: the position in an order where most values wait to be read. */
#ifndef PBI_GRAPH_TURN_H
#define PBI_GRAPH_TURN_H

#include <stdint.h>

/* The first such position of `count`. last[p] is the position of the last reader of the value computed at p, or p
 * for none; `ends` has a zero for every position. */
static inline uint32_t pbi_find_turn(const uint32_t *last, uint32_t count, uint32_t *ends)
{
    uint32_t waiting = 0, most = 0, turn = 0;
    for (uint32_t p = 0; p < count; p++)
        ends[last[p]] += last[p] != p;
    for (uint32_t p = 0; p < count; p++) {
        waiting += last[p] != p;
        waiting -= ends[p];
        if (waiting > most) {
            most = waiting;
            turn = p;
        }
    }
    return turn;
}

#endif
