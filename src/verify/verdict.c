/* verdict.c -- a verdict as text. */
#include "pebble/verify.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *name, *sentence;
} rules[] = {
#define PB_RULE(code, name, sentence) {name, sentence},
#include "pebble/rules.def"
#undef PB_RULE
};

const char *pb_rule_name(pb_rule rule) { return (unsigned)rule < PB_RULE_COUNT ? rules[rule].name : "unknown"; }
const char *pb_rule_sentence(pb_rule rule) { return (unsigned)rule < PB_RULE_COUNT ? rules[rule].sentence : "unknown"; }

static const char *name_of(const pb_graph *g, pb_node v, char number[16])
{
    if (v < g->node_count)
        return pb_graph_name(g, v);
    snprintf(number, 16, "#%" PRIu32, v);
    return number;
}

static const char *memory_name(const pb_game *game, uint32_t memory)
{
    const pb_machine *m = game->timing->machine;
    return memory < m->memory_count ? m->memories[memory].name : "any memory";
}

static const char *place_name(const pb_game *game, const pb_moves *moves, const pb_verdict *v)
{
    const pb_machine *m = game->timing->machine;
    uint32_t place = v->step < moves->when_count ? moves->when[v->step].place : UINT32_MAX;
    bool link = v->step < moves->count && moves->move[v->step].op == PB_COPY;
    if (link)
        return place < m->link_count ? m->links[place].name : "unknown";
    return place < m->processor_count ? m->processors[place].name : "unknown";
}

const char *pb_stall_name(pb_stall stall)
{
    static const char *const names[PB_STALL_COUNT] = {"copy", "processor", "memory"};
    return (unsigned)stall < PB_STALL_COUNT ? names[stall] : "unknown";
}

/* A violation of the timed game. */
static int write_timed(char *text, size_t room, const pb_game *game, const pb_moves *moves, const pb_verdict *v)
{
    char a[16], b[16];
    const char *node = name_of(game->graph, v->node, a), *other = name_of(game->graph, v->other, b);
    const char *place = place_name(game, moves, v), *memory = memory_name(game, v->place);
    unsigned long long amount = v->amount;
    switch (v->rule) {
    case PB_RULE_LANE:
        return snprintf(text, room,
                        "it has no start time, or no processor, link or memory of machine \"%.60s\"; add it",
                        game->timing->machine->name);
    case PB_RULE_TIME:
        return snprintf(text, room, "it starts at %llu, before the move in front of it; sort them", amount);
    case PB_RULE_PROCESSOR:
        return snprintf(text, room, "%.60s may not compute %.80s, or has no rate for it; choose another processor",
                        place, node);
    case PB_RULE_BUSY:
        return snprintf(text, room, "the lane of %.60s is busy until %llu; start the move then", place, amount);
    case PB_RULE_NOT_READY:
        if (v->amount == UINT64_MAX)
            return snprintf(text, room,
                            "%.80s is not in the memory that it is read from; compute or copy it there first", other);
        return snprintf(text, room, "%.80s is there only at %llu; start the move then", other, amount);
    case PB_RULE_IN_MEMORY: return snprintf(text, room, "%.80s is already in that memory; remove this move", node);
    case PB_RULE_OVER_READ:
        return snprintf(text, room, "%.80s is used by another move until %llu; start the move then", other, amount);
    case PB_RULE_FREE_ABSENT: return snprintf(text, room, "%.80s is not in %.60s; remove this move", node, memory);
    case PB_RULE_FREE_USED:
        return snprintf(text, room, "%.80s is used in %.60s until %llu; free it then", node, memory, amount);
    case PB_RULE_MEMORY:
    case PB_RULE_START_CAP:
        return snprintf(text, room, "%s%.60s would hold %llu, over its cap; %s",
                        v->rule == PB_RULE_START_CAP ? "at the start " : "", memory, amount,
                        v->rule == PB_RULE_START_CAP ? "raise the cap" : "free a value first, or raise the cap");
    default: return snprintf(text, room, "%.80s must be kept in %.60s, but is not there; do not free it", node, memory);
    }
}

static int write_recipe_violation(char *text, size_t room, const pb_game *game, const pb_verdict *v)
{
    char number[16];
    const char *node = name_of(game->graph, v->node, number);
    if (v->rule == PB_RULE_RECIPE_ALSO)
        return snprintf(text, room, "a recipe of %s produces no by-products; remove `also` or `by`", node);
    if (v->rule == PB_RULE_RECIPE_EARLY)
        return snprintf(text, room, "%s has not existed yet; compute it from its own inputs first", node);
    if (game->kind == PB_GAME_REVERSIBLE)
        return snprintf(text, room, "the reversible game has no recipes; remove `by`");
    return snprintf(text, room, "%s has no recipe %" PRIu64 "; recipes count from 1", node, v->amount);
}

/* The violation, without the move. */
static int write_violation(char *text, size_t room, const pb_game *game, const pb_verdict *v, pb_op op)
{
    const pb_graph *g = game->graph;
    char a[16], b[16];
    const char *node = name_of(g, v->node, a), *other = name_of(g, v->other, b);
    uint64_t cap = game->cap, over = v->amount > cap ? v->amount - cap : 0;
    switch (v->rule) {
    case PB_RULE_NONE: return snprintf(text, room, "legal");
    case PB_RULE_START_CAP:
        return snprintf(text, room,
                        "the start needs %" PRIu64 ", which is %" PRIu64 " over the cap of %" PRIu64 "; raise the cap",
                        v->amount, over, cap);
    case PB_RULE_START_TIER:
        return snprintf(text, room, "slow memory holds %" PRIu64 " at the start, over its cap; raise it", v->amount);
    case PB_RULE_NODE:
        return snprintf(text, room, "the graph has no node %" PRIu32 "; pass the graph of this schedule", v->other);
    case PB_RULE_MOVE:
        return snprintf(text, room, "%s is not a move of the %s game; remove it", pb_op_name(op),
                        pb_game_kind_name(game->kind));
    case PB_RULE_GIVEN:
        return snprintf(text, room, "%s is given, so it is never computed or uncomputed; remove this move", node);
    case PB_RULE_BYPRODUCT: return snprintf(text, room, "%s is a by-product; compute %s with `also`", node, other);
    case PB_RULE_LOAD_RESIDENT:
    case PB_RULE_RESIDENT: return snprintf(text, room, "%s is already resident; remove this move", node);
    case PB_RULE_INPUT: return snprintf(text, room, "input %s is not resident; compute or load it first", other);
    case PB_RULE_ONCE:
        return snprintf(text, room, "%s is a `once` node and was computed before; keep it in memory", node);
    case PB_RULE_OVER:
        return snprintf(text, room, "%s may not be computed in the memory of %s; remove `over`", node, other);
    case PB_RULE_OVER_RESIDENT:
        return snprintf(text, room, "%s is resident and cannot overwrite %s; remove this move", node, other);
    case PB_RULE_OVER_BORROWED:
        return snprintf(text, room, "%s is in borrowed memory; uncompute it instead of overwriting it", other);
    case PB_RULE_BORROW:
        return snprintf(text, room,
                        "needs %" PRIu64 " of borrowed memory, but only %" PRIu64 " may be borrowed; allow more",
                        v->amount, game->borrow);
    case PB_RULE_FREE_BORROWED:
        return snprintf(text, room, "%s is in borrowed memory; uncompute it instead of freeing it", node);
    case PB_RULE_BORROW_LEFT: return snprintf(text, room, "%s is still in borrowed memory; uncompute it", node);
    case PB_RULE_ALSO: return snprintf(text, room, "%s is not a by-product of %s; remove it from `also`", other, node);
    case PB_RULE_ALSO_RESIDENT:
        return snprintf(text, room, "by-product %s is already resident; remove it from `also`", other);
    case PB_RULE_TIER: return snprintf(text, room, "there is no slow tier %" PRIu64 "; tiers count from 1", v->amount);
    case PB_RULE_STORE_AGAIN: return snprintf(text, room, "%s is already stored there; remove this move", node);
    case PB_RULE_TIER_CAP:
        return snprintf(text, room, "slow memory would hold %" PRIu64 ", over its cap; drop a value first", v->amount);
    case PB_RULE_LOAD:
    case PB_RULE_DROP: return snprintf(text, room, "%s is not stored there; store it first", node);
    case PB_RULE_CAP:
        return snprintf(text, room,
                        "needs %" PRIu64 ", which is %" PRIu64 " over the cap of %" PRIu64
                        "; free a value first, or raise the cap",
                        v->amount, over, cap);
    case PB_RULE_TARGET: return snprintf(text, room, "target %s was never computed; compute it", node);
    case PB_RULE_KEEP: return snprintf(text, room, "%s must be kept but is not resident; do not free it", node);
    case PB_RULE_LEFT: return snprintf(text, room, "%s is still resident; uncompute it", node);
    default: return snprintf(text, room, "%s is not resident; compute or load it first", node);
    }
}

size_t pb_verdict_text(const pb_game *game, const pb_moves *moves, const pb_verdict *v, char *text, size_t room)
{
    char violation[400];
    char number[16];
    bool start = v->rule == PB_RULE_START_CAP || v->rule == PB_RULE_START_TIER;
    const pb_move *move = !start && v->step < moves->count ? &moves->move[v->step] : NULL;
    pb_op op = move ? (pb_op)move->op : PB_COMPUTE;
    if (v->rule >= PB_RULE_LANE || (v->rule == PB_RULE_START_CAP && game->kind == PB_GAME_TIMED))
        write_timed(violation, sizeof violation, game, moves, v);
    else if (v->rule >= PB_RULE_RECIPE && v->rule <= PB_RULE_RECIPE_EARLY)
        write_recipe_violation(violation, sizeof violation, game, v);
    else
        write_violation(violation, sizeof violation, game, v, op);
    int length;
    if (v->certificate || v->rule == PB_RULE_NONE || start)
        length = snprintf(text, room, "%s", violation);
    else if (!move)
        length = snprintf(text, room, "at the end: %s", violation);
    else
        length = snprintf(text, room, "move %" PRIu64 " (%s %.80s): %s", v->step, pb_op_name(op),
                          name_of(game->graph, move->node, number), violation);
    return length > 0 ? (size_t)length : 0;
}
