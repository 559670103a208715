/* timed_bound.c -- bounds of the timed game: the busiest processor, the longest path, and the cut at one moment. */
#include "pebble/bound.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/stages_bound.h"
#include "bound/timed_cut.h"

enum { DEFAULT_EFFORT = 300000000 };

typedef struct bounder {
    pb_context *ctx;
    const pb_graph *g;
    const pb_game *game;
    const pb_timing *t;
    pb_timed_bounds *out;
} bounder;

static uint64_t cap_of(const bounder *b, uint32_t memory)
{
    return memory ? b->t->machine->memories[memory].cap : b->game->cap;
}

static uint64_t duration(const bounder *b, uint32_t processor, pb_node v)
{
    return b->t->duration[(size_t)processor * b->g->node_count + v];
}

/* Memory that computing v needs, besides what is always there. */
static uint64_t working_set(const pb_graph *g, pb_node v)
{
    uint64_t used = g->size[v] + g->workspace[v], saved = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        used += g->size[g->in[k]];
    for (uint32_t k = g->inplace_start ? g->inplace_start[v] : 0; g->inplace_start && k < g->inplace_start[v + 1];
         k++) {
        uint64_t both = g->size[g->inplace[k]] < g->size[v] ? g->size[g->inplace[k]] : g->size[v];
        saved = both > saved ? both : saved;
    }
    return used - saved;
}

static void refuse(bounder *b, pb_node v, uint32_t memory, uint64_t needed)
{
    if (b->out->infeasible)
        return;
    b->out->infeasible = true;
    b->out->infeasible_at = v;
    b->out->memory = memory;
    b->out->needed = needed;
}

/* The start fits every memory, and every needed node one of the memories in which it can be computed. */
static pb_status check_memories(bounder *b, pb_arena *scratch)
{
    const pb_graph *g = b->g;
    const pb_machine *m = b->t->machine;
    uint64_t *held = pb_arena_alloc(scratch, m->memory_count, sizeof *held);
    if (!held)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < m->memory_count; i++)
        held[i] = b->t->fixed[i];
    for (pb_node v = 0; v < g->node_count; v++)
        if (b->t->start[v] != UINT32_MAX)
            held[b->t->start[v]] = pbi_add_saturated(held[b->t->start[v]], g->size[v]);
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (held[i] > cap_of(b, i))
            refuse(b, PB_NO_NODE, i, held[i]);
    for (pb_node v = 0; v < g->node_count; v++) {
        bool fits = !(g->flags[v] & PB_NODE_NEEDED) || !pb_graph_is_computed(g, v);
        uint64_t needed = UINT64_MAX, set = fits ? 0 : working_set(g, v);
        uint32_t memory = 0;
        for (uint32_t p = 0; p < m->processor_count && !fits; p++) {
            uint32_t here = m->processors[p].memory;
            uint64_t all = pbi_add_saturated(b->t->fixed[here], set);
            if (duration(b, p, v) == PB_NO_TIME)
                continue;
            fits = all <= cap_of(b, here);
            memory = all < needed ? here : memory;
            needed = all < needed ? all : needed;
        }
        if (!fits && needed != UINT64_MAX)
            refuse(b, v, memory, needed);
    }
    return PB_OK;
}

/* All work shared out over the processors; and what only one of them can do. */
static void bound_lanes(bounder *b)
{
    const pb_machine *m = b->t->machine;
    uint64_t each = b->g->needed_cost / m->processor_count + (b->g->needed_cost % m->processor_count != 0);
    b->out->makespan = b->out->span = each;
    for (uint32_t p = 0; p < m->processor_count; p++) {
        uint64_t alone = 0;
        for (pb_node v = 0; v < b->g->node_count; v++) {
            bool only =
                (b->g->flags[v] & PB_NODE_NEEDED) && pb_graph_is_computed(b->g, v) && duration(b, p, v) != PB_NO_TIME;
            for (uint32_t q = 0; q < m->processor_count && only; q++)
                only = q == p || duration(b, q, v) == PB_NO_TIME;
            alone += only ? duration(b, p, v) : 0;
        }
        if (alone > b->out->makespan)
            b->out->makespan = b->out->span = alone;
    }
}

/* A value is ready when its inputs were, and it has been computed since. */
static pb_status bound_paths(bounder *b, pb_arena *scratch)
{
    const pb_graph *g = b->g;
    uint64_t *ready = pb_arena_zero(scratch, (size_t)g->node_count + 1, sizeof *ready);
    if (!ready)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        uint64_t begin = 0;
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint64_t input = ready[pb_graph_maker(g, g->in[k])];
            begin = input > begin ? input : begin;
        }
        ready[v] = pbi_add_saturated(begin, g->cost[v]);
        if (ready[v] > b->out->makespan) {
            b->out->makespan = ready[v];
            b->out->why = PB_TIMED_PATH;
            b->out->at = v;
        }
    }
    return PB_OK;
}

/* Of a pipeline, if the game is one. */
static pb_status bound_stages(bounder *b, pb_arena *scratch)
{
    pbi_stages s;
    const char *why;
    pb_status status = pbi_stages_find(b->ctx, b->game, scratch, &s, &why);
    if (status != PB_OK || why)
        return status;
    uint64_t makespan = pbi_stages_bound(&s, PB_OBJECTIVE_MAKESPAN), span = pbi_stages_bound(&s, PB_OBJECTIVE_SPAN);
    b->out->why = makespan > b->out->makespan ? PB_TIMED_STAGES : b->out->why;
    b->out->makespan = makespan > b->out->makespan ? makespan : b->out->makespan;
    b->out->span = span > b->out->span ? span : b->out->span;
    return PB_OK;
}

pb_status pb_timed_bounds_make(pb_context *ctx, const pb_game *game, uint64_t effort, pb_timed_bounds *out)
{
    pb_timed_bounds found = {.why = PB_TIMED_LANE, .at = PB_NO_NODE, .infeasible_at = PB_NO_NODE};
    bounder b = {ctx, game->graph, game, game->timing, &found};
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = check_memories(&b, &scratch);
    if (status == PB_OK) {
        bound_lanes(&b);
        status = bound_paths(&b, &scratch);
    }
    if (status == PB_OK)
        status = bound_stages(&b, &scratch);
    uint64_t before = found.makespan;
    if (status == PB_OK && !found.infeasible)
        status = pbi_timed_cut(ctx, game, effort ? effort : DEFAULT_EFFORT, &found.makespan, &found.at);
    found.why = found.makespan > before ? PB_TIMED_CUT : found.why;
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = found;
    return status;
}
