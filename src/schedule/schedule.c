/* schedule.c -- move lists, and the words of schedules. */
#include "pebble/schedule.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

static const char *const op_names[PB_OP_COUNT] = {"compute", "uncompute", "free", "store", "load", "drop"};
static const char *const outcome_names[] = {"gave_up", "found", "optimal", "infeasible"};

const char *pb_op_name(pb_op op) { return (unsigned)op < PB_OP_COUNT ? op_names[op] : "unknown"; }

bool pb_op_parse(const char *name, size_t length, pb_op *out)
{
    for (unsigned op = 0; op < PB_OP_COUNT; op++)
        if (strlen(op_names[op]) == length && memcmp(op_names[op], name, length) == 0) {
            *out = (pb_op)op;
            return true;
        }
    return false;
}

const char *pb_outcome_name(pb_outcome outcome)
{
    return (unsigned)outcome <= PB_INFEASIBLE ? outcome_names[outcome] : "unknown";
}

bool pb_outcome_parse(const char *name, pb_outcome *out)
{
    for (unsigned i = 0; i <= PB_INFEASIBLE; i++)
        if (strcmp(name, outcome_names[i]) == 0) {
            *out = (pb_outcome)i;
            return true;
        }
    return false;
}

const char *pb_bound_kind_name(pb_bound_kind kind)
{
    return kind == PB_BOUND_FREE_ORDER ? "free-order" : kind == PB_BOUND_FIXED_ORDER ? "fixed-order" : NULL;
}

void pb_moves_init(pb_moves *moves, pb_arena *arena)
{
    memset(moves, 0, sizeof *moves);
    moves->arena = arena;
}

static pb_status append(pb_moves *moves, pb_move move)
{
    void *items = moves->move;
    size_t room = (size_t)moves->room;
    if (moves->count == moves->room) {
        if (!pbi_arena_reserve(moves->arena, &items, &room, (size_t)moves->count + 1, sizeof move))
            return PB_ENOMEM;
        moves->move = items;
        moves->room = room;
    }
    moves->move[moves->count++] = move;
    return PB_OK;
}

pb_status pb_moves_add(pb_moves *moves, pb_op op, pb_node node, uint8_t tier)
{
    return append(moves, (pb_move){.node = node, .arg = PB_NO_NODE, .op = (uint8_t)op, .tier = tier});
}

pb_status pb_moves_add_compute(pb_moves *moves, pb_node node, pb_node over, const pb_node *also, uint32_t also_count)
{
    pb_move move = {.node = node, .arg = over, .op = PB_COMPUTE};
    if (over != PB_NO_NODE)
        move.flags = PB_MOVE_OVER;
    if (also_count) {
        void *extra = moves->extra;
        if (moves->extra_count + 2 + also_count >= UINT32_MAX)
            return pbi_fail(moves->arena->ctx, PB_ERANGE, "a schedule names at most 2^32 by-products");
        if (!pbi_arena_reserve(moves->arena, &extra, &moves->extra_room, moves->extra_count + 2 + also_count,
                               sizeof *moves->extra))
            return PB_ENOMEM;
        moves->extra = extra;
        move.arg = (uint32_t)moves->extra_count;
        move.flags |= PB_MOVE_ALSO;
        moves->extra[moves->extra_count] = over;
        moves->extra[moves->extra_count + 1] = also_count;
        memcpy(moves->extra + moves->extra_count + 2, also, also_count * sizeof *also);
        moves->extra_count += 2 + (size_t)also_count;
    }
    return append(moves, move);
}

pb_node pb_moves_over(const pb_moves *moves, pb_step k)
{
    const pb_move *move = &moves->move[k];
    if (!(move->flags & PB_MOVE_OVER))
        return PB_NO_NODE;
    return move->flags & PB_MOVE_ALSO ? moves->extra[move->arg] : move->arg;
}

const pb_node *pb_moves_also(const pb_moves *moves, pb_step k, uint32_t *count)
{
    const pb_move *move = &moves->move[k];
    *count = 0;
    if (!(move->flags & PB_MOVE_ALSO))
        return NULL;
    *count = moves->extra[move->arg + 1];
    return moves->extra + move->arg + 2;
}

void pb_cost_text(pb_u128 cost, const pb_weights *weights, char text[PB_COST_TEXT])
{
    char digits[PB_U128_TEXT];
    size_t length = pb_u128_text(cost, digits), point = weights->digits, used = 0;
    while (point && digits[length - 1] == '0' && length > 1) { /* trailing zeros behind the point */
        length--;
        point--;
    }
    if (length == 1 && digits[0] == '0')
        point = 0;
    if (length <= point) {
        text[used++] = '0';
        text[used++] = '.';
        for (size_t i = length; i < point; i++)
            text[used++] = '0';
        memcpy(text + used, digits, length);
        used += length;
    } else {
        memcpy(text, digits, length - point);
        used = length - point;
        if (point) {
            text[used++] = '.';
            memcpy(text + used, digits + length - point, point);
            used += point;
        }
    }
    text[used] = '\0';
}
