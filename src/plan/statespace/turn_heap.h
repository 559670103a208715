/* turn_heap.h -- the heap of states to expand: the smallest key first, then the smallest tie, then the newest state.
 * Included by the table of each exact search, which defines TURN: a struct with key, tie and state. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool turn_before(const TURN *a, const TURN *b)
{
    return a->key != b->key ? a->key < b->key : a->tie != b->tie ? a->tie < b->tie : a->state > b->state;
}

/* Adds a turn to the heap that has *count and room for *room. False when memory is exhausted. */
static inline bool turn_push(pb_arena *arena, TURN **heap, size_t *room, uint32_t *count, TURN turn)
{
    void *grown = *heap;
    if (!pbi_arena_reserve(arena, &grown, room, (size_t)*count + 1, sizeof turn))
        return false;
    TURN *h = *heap = grown;
    uint32_t at = (*count)++;
    for (; at && turn_before(&turn, &h[(at - 1) / 2]); at = (at - 1) / 2)
        h[at] = h[(at - 1) / 2];
    h[at] = turn;
    return true;
}

/* Removes the first turn of a heap that is not empty. */
static inline TURN turn_pop(TURN *heap, uint32_t *count)
{
    TURN first = heap[0], last = heap[--*count];
    uint32_t at = 0, left = *count;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= left)
            break;
        child += child + 1 < left && turn_before(&heap[child + 1], &heap[child]);
        if (!turn_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}
