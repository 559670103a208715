/* schedule.c -- move lists, and the names of operations and outcomes. */
#include "pebble/schedule.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

static const char *const op_names[PB_OP_COUNT] = {"compute", "uncompute", "free", "store", "load", "drop", "copy"};
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

/* Room for one more move. Its fields are written in place, one by one: building a move elsewhere and copying it as a
 * whole would wait for its last field at every step. */
static inline bool has_room(pb_moves *moves)
{
    void *items = moves->move;
    size_t room = (size_t)moves->room;
    if (moves->count < moves->room)
        return true;
    if (!pbi_arena_reserve(moves->arena, &items, &room, (size_t)moves->count + 1, sizeof *moves->move))
        return false;
    moves->move = items;
    moves->room = room;
    return true;
}

static inline void append(pb_moves *moves, pb_op op, pb_node node, uint32_t arg, uint8_t tier, uint8_t flags)
{
    pb_move *move = &moves->move[moves->count++];
    move->node = node;
    move->arg = arg;
    move->op = (uint8_t)op;
    move->tier = tier;
    move->flags = flags;
    move->by = 0;
}

pb_status pb_moves_add(pb_moves *moves, pb_op op, pb_node node, uint8_t tier)
{
    if (!has_room(moves))
        return PB_ENOMEM;
    append(moves, op, node, PB_NO_NODE, tier, 0);
    return PB_OK;
}

pb_status pb_moves_set_when(pb_moves *moves, uint32_t place, uint64_t at)
{
    void *items = moves->when;
    size_t room = (size_t)moves->when_room;
    PB_ASSERT(moves->when_count + 1 == moves->count);
    if (!pbi_arena_reserve(moves->arena, &items, &room, (size_t)moves->when_count + 1, sizeof *moves->when))
        return PB_ENOMEM;
    moves->when = items;
    moves->when_room = room;
    pb_when *when = &moves->when[moves->when_count++];
    when->at = at;
    when->place = place;
    return PB_OK;
}

bool pb_moves_timed(const pb_moves *moves) { return moves->when_count == moves->count; }

/* The by-products of a computation; *arg becomes their index. */
static pb_status add_extra(pb_moves *moves, const pb_node *also, uint32_t also_count, uint32_t *arg)
{
    void *extra = moves->extra;
    if (moves->extra_count + 2 + also_count >= UINT32_MAX)
        return pbi_fail(moves->arena->ctx, PB_ERANGE,
                        "the schedule has more by-products than the limit of 2^32; use a smaller graph");
    if (!pbi_arena_reserve(moves->arena, &extra, &moves->extra_room, moves->extra_count + 2 + also_count,
                           sizeof *moves->extra))
        return PB_ENOMEM;
    moves->extra = extra;
    moves->extra[moves->extra_count] = *arg;
    moves->extra[moves->extra_count + 1] = also_count;
    memcpy(moves->extra + moves->extra_count + 2, also, also_count * sizeof *also);
    *arg = (uint32_t)moves->extra_count;
    moves->extra_count += 2 + (size_t)also_count;
    return PB_OK;
}

pb_status pb_moves_add_compute(pb_moves *moves, pb_node node, pb_node over, const pb_node *also, uint32_t also_count)
{
    uint32_t arg = over;
    uint8_t flags = (uint8_t)((over != PB_NO_NODE ? PB_MOVE_OVER : 0) | (also_count ? PB_MOVE_ALSO : 0));
    pb_status status = also_count ? add_extra(moves, also, also_count, &arg) : PB_OK;
    if (status != PB_OK)
        return status;
    if (!has_room(moves))
        return PB_ENOMEM;
    append(moves, PB_COMPUTE, node, arg, 0, flags);
    return PB_OK;
}

pb_status pb_moves_add_borrowed(pb_moves *moves, pb_node node)
{
    if (!has_room(moves))
        return PB_ENOMEM;
    append(moves, PB_COMPUTE, node, PB_NO_NODE, 0, PB_MOVE_BORROW);
    return PB_OK;
}

pb_status pb_moves_add_recipe(pb_moves *moves, pb_node node, uint32_t by, pb_node over)
{
    pb_status status = pb_moves_add_compute(moves, node, over, NULL, 0);
    if (status == PB_OK)
        moves->move[moves->count - 1].by = (uint8_t)by;
    return status;
}

pb_status pb_moves_add_copy(pb_moves *moves, const pb_moves *from, pb_step k)
{
    const pb_move *move = &from->move[k];
    uint32_t count;
    const pb_node *also = pb_moves_also(from, k, &count);
    if (move->op != PB_COMPUTE)
        return pb_moves_add(moves, (pb_op)move->op, move->node, move->tier);
    if (move->flags & PB_MOVE_BORROW)
        return pb_moves_add_borrowed(moves, move->node);
    pb_status status = pb_moves_add_compute(moves, move->node, pb_moves_over(from, k), also, count);
    if (status == PB_OK)
        moves->move[moves->count - 1].by = move->by;
    return status;
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
    while (point && digits[length - 1] == '0' && length > 1) { /* trailing zeros after the point */
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
