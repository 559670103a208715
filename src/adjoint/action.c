/* action.c -- the names and the text of actions. */
#include "adjoint/action_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *pb_action_kind_name(pb_action_kind kind)
{
    static const char *const names[PB_ACTION_KIND_COUNT] = {"Forward", "Reverse",    "Copy",
                                                            "Move",    "EndForward", "EndReverse"};
    return (unsigned)kind < PB_ACTION_KIND_COUNT ? names[kind] : "?";
}

const char *pb_storage_name(pb_storage storage)
{
    static const char *const names[PB_STORAGE_COUNT] = {"NONE",  "WORK",  "RAM",   "DISK",  "DISK2",
                                                        "DISK3", "DISK4", "DISK5", "DISK6", "DISK7"};
    return (unsigned)storage < PB_STORAGE_COUNT ? names[storage] : "?";
}

size_t pb_action_text(const pb_action *action, char text[PB_ACTION_TEXT])
{
    const char *name = pb_action_kind_name((pb_action_kind)action->kind);
    const char *from = pb_storage_name((pb_storage)action->from), *to = pb_storage_name((pb_storage)action->to);
    int length;
    switch (action->kind) {
    case PB_ACTION_FORWARD:
        length = snprintf(text, PB_ACTION_TEXT, "%s(%" PRIu64 ", %" PRIu64 ", %s, %s, %s)", name, action->n0,
                          action->n1, action->flags & PB_WRITE_RESTART ? "true" : "false",
                          action->flags & PB_WRITE_REVERSE ? "true" : "false", to);
        break;
    case PB_ACTION_REVERSE:
        length = snprintf(text, PB_ACTION_TEXT, "%s(%" PRIu64 ", %" PRIu64 ")", name, action->n1, action->n0);
        break;
    case PB_ACTION_COPY:
    case PB_ACTION_MOVE:
        length = snprintf(text, PB_ACTION_TEXT, "%s(%" PRIu64 ", %s, %s)", name, action->n0, from, to);
        break;
    default: length = snprintf(text, PB_ACTION_TEXT, "%s()", name); break;
    }
    return length < 0 ? 0 : (size_t)length;
}

static size_t take(pb_action_queue *queue, pb_action *actions, size_t room)
{
    size_t count = queue->count - queue->at;
    count = count < room ? count : room;
    memcpy(actions, queue->action + queue->at, count * sizeof *actions);
    queue->at += (uint32_t)count;
    return count;
}

bool pbi_queue_fill(pb_action_queue *queue, pbi_producer produce, void *stream)
{
    queue->at = 0;
    queue->count = (uint32_t)produce(stream, queue->action, PB_ACTION_BUFFER);
    return queue->count > 0;
}

size_t pbi_queue_read(pb_action_queue *queue, pbi_producer produce, void *stream, pb_action *actions, size_t room)
{
    size_t count = take(queue, actions, room), made = 1;
    while (room - count >= PB_ACTION_BUFFER && made > 0)
        count += made = produce(stream, actions + count, room - count);
    while (count < room && made > 0 && pbi_queue_fill(queue, produce, stream)) /* which always has enough room */
        count += take(queue, actions + count, room - count);
    return count;
}
