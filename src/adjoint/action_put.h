/* action_put.h -- writes actions one after the other: each call returns where the next one goes. */
#ifndef PBI_ACTION_PUT_H
#define PBI_ACTION_PUT_H

#include "pebble/adjoint.h"

/* Store state n0 in a slot, then run to n1. */
static inline pb_action *pbi_put_forward(pb_action *out, uint64_t n0, uint64_t n1, uint8_t storage, uint32_t slot)
{
    *out = (pb_action){n0, n1, slot, PB_ACTION_FORWARD, PB_WRITE_RESTART, PB_STORAGE_NONE, storage};
    return out + 1;
}

/* Run without storing anything. */
static inline pb_action *pbi_put_advance(pb_action *out, uint64_t n0, uint64_t n1)
{
    *out = (pb_action){n0, n1, 0, PB_ACTION_FORWARD, 0, PB_STORAGE_NONE, PB_STORAGE_NONE};
    return out + 1;
}

static inline pb_action *pbi_put_load(pb_action *out, uint64_t n, uint8_t storage, uint32_t slot, pb_action_kind kind)
{
    *out = (pb_action){n, n, slot, (uint8_t)kind, 0, storage, PB_STORAGE_WORK};
    return out + 1;
}

static inline pb_action *pbi_put_end(pb_action *out, uint64_t steps, pb_action_kind kind)
{
    *out = (pb_action){steps, steps, 0, (uint8_t)kind, 0, PB_STORAGE_NONE, PB_STORAGE_NONE};
    return out + 1;
}

/* Run step n onto the tape and reverse it. */
static inline pb_action *pbi_put_reverse(pb_action *out, uint64_t n)
{
    out[0] = (pb_action){n, n + 1, 0, PB_ACTION_FORWARD, PB_WRITE_REVERSE, PB_STORAGE_NONE, PB_STORAGE_WORK};
    out[1] = (pb_action){n, n + 1, 0, PB_ACTION_REVERSE, 0, PB_STORAGE_WORK, PB_STORAGE_NONE};
    return out + 2;
}

/* The same for a step that may be the last of all: the forward run then ends between the two. Needs room for three. */
static inline pb_action *pbi_put_reverse_last(pb_action *out, uint64_t n, uint64_t steps)
{
    out = pbi_put_reverse(out, n);
    if (n + 1 != steps)
        return out;
    out[0] = out[-1];
    pbi_put_end(out - 1, steps, PB_ACTION_END_FORWARD);
    return out + 1;
}

/* Produces the next actions of a stream: up to `room`, which is at least PBI_MIN_ROOM; none only at the end. */
typedef size_t (*pbi_producer)(void *stream, pb_action *actions, size_t room);
enum { PBI_MIN_ROOM = 12 };

/* Fills an empty queue; false at the end. */
bool pbi_queue_fill(pb_action_queue *queue, pbi_producer produce, void *stream);
/* Up to `room` actions: those in the queue, then new ones; fewer only at the end. */
size_t pbi_queue_read(pb_action_queue *queue, pbi_producer produce, void *stream, pb_action *actions, size_t room);

#endif
