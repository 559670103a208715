/* prefetch.c -- which loads of a schedule can start before their moves.
 *
 * A load may run during an earlier move if its place in the block is free, the value is already stored, and memory
 * during that move stays within the peak with this load and the other running ones. Each load in turn takes the
 * earliest move in an unbroken sequence of such moves before its own.
 */
#include "engine/engine_parts.h"

#include "base/context.h"

#include <string.h>

enum { STRETCH = 256 };

typedef struct planner {
    const pbi_phase *phase;
    uint64_t *during;    /* by move, including prefetched values */
    uint32_t *ends;      /* lifetimes in the order of their ends */
    uint32_t *end_start; /* by time */
    uint64_t *since;     /* by node and tier: the time of its store */
    pbi_prefetch *prefetch;
    uint32_t count;
} planner;

/* Memory during each move, as the verifier counts it. */
static pb_status measure(pb_context *ctx, planner *p)
{
    const pb_graph *g = p->phase->game->graph;
    const pb_moves *moves = p->phase->moves;
    uint64_t used = g->fixed_size;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint8_t *there = pb_arena_zero(&scratch, (size_t)g->node_count + 1, 1);
    pb_status status = there ? PB_OK : PB_ENOMEM;
    for (pb_node v = 0; there && v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW)) {
            there[v] = 1;
            used += g->size[v];
        }
    for (pb_step k = 0; there && k < moves->count; k++) {
        pbi_effect effect = pbi_move_effect(g, moves, k, there);
        p->during[k] = used + effect.during;
        used = used + effect.made - effect.gone;
    }
    pb_arena_release(&scratch);
    return status;
}

static pb_status sort_ends(pb_arena *scratch, planner *p)
{
    const pb_lifetimes *lives = &p->phase->lives;
    size_t times = (size_t)p->phase->moves->count + 4;
    p->end_start = pb_arena_zero(scratch, times, sizeof *p->end_start);
    p->ends = pb_arena_alloc(scratch, (size_t)lives->count + 1, sizeof *p->ends);
    if (!p->end_start || !p->ends)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < lives->count; i++)
        p->end_start[lives->life[i].to + 1]++;
    for (size_t t = 1; t < times; t++)
        p->end_start[t] += p->end_start[t - 1];
    for (uint32_t i = 0; i < lives->count; i++)
        p->ends[p->end_start[lives->life[i].to]++] = i;
    for (size_t t = times - 1; t; t--) /* each start was moved to its end */
        p->end_start[t] = p->end_start[t - 1];
    p->end_start[0] = 0;
    return PB_OK;
}

/* Whether nothing that ends at this time overlaps the place of the lifetime. */
static bool place_is_free(const planner *p, uint32_t life, uint64_t time)
{
    const pb_lifetime *lives = p->phase->lives.life;
    uint64_t from = p->phase->packing.offset[life], to = from + lives[life].size;
    for (uint32_t i = p->end_start[time]; i < p->end_start[time + 1]; i++) {
        uint64_t at = p->phase->packing.offset[p->ends[i]];
        if (at < to && from < at + lives[p->ends[i]].size)
            return false;
    }
    return true;
}

/* For the load of move k. Time t + 1 is that of move t. */
static void find_start(planner *p, pb_step k, uint32_t life)
{
    const pb_graph *g = p->phase->game->graph;
    const pb_move *move = &p->phase->moves->move[k];
    uint64_t size = g->size[move->node];
    uint64_t stored = p->since[(size_t)(move->tier - 1) * g->node_count + move->node];
    pb_step issue = k;
    while (issue > 0 && issue + STRETCH > k && issue > stored && place_is_free(p, life, issue + 1) &&
           size <= p->phase->peak - p->during[issue - 1])
        p->during[--issue] += size;
    if (issue < k)
        p->prefetch[p->count++] = (pbi_prefetch){issue, k, life};
}

static pb_status sort_by_issue(pb_arena *arena, pb_arena *scratch, planner *p, pbi_phase *phase)
{
    uint32_t *start = pb_arena_zero(scratch, (size_t)phase->moves->count + 2, sizeof *start);
    phase->prefetch = pb_arena_alloc(arena, (size_t)p->count + 1, sizeof *phase->prefetch);
    if (!start || !phase->prefetch)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < p->count; i++)
        start[p->prefetch[i].issue + 1]++;
    for (pb_step k = 0; k < phase->moves->count; k++)
        start[k + 1] += start[k];
    for (uint32_t i = 0; i < p->count; i++)
        phase->prefetch[start[p->prefetch[i].issue]++] = p->prefetch[i];
    phase->prefetch_count = p->count;
    return PB_OK;
}

static void find_all(planner *p)
{
    const pb_graph *g = p->phase->game->graph;
    const pb_moves *moves = p->phase->moves;
    uint32_t life = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        const pb_move *move = &moves->move[k];
        if (move->op == PB_STORE)
            p->since[(size_t)(move->tier - 1) * g->node_count + move->node] = k + 1;
        if (move->op != PB_LOAD || !g->size[move->node])
            continue;
        while (p->phase->lives.life[life].from < k + 1 || p->phase->lives.life[life].node != move->node)
            life++;
        find_start(p, k, life);
    }
}

pb_status pbi_phase_find_prefetches(pb_context *ctx, pb_arena *arena, pbi_phase *phase)
{
    pb_arena scratch;
    planner p = {.phase = phase};
    size_t nodes = phase->game->graph->node_count, loads = 0;
    for (pb_step k = 0; k < phase->moves->count; k++)
        loads += phase->moves->move[k].op == PB_LOAD;
    if (!loads)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    p.during = pb_arena_alloc(&scratch, (size_t)phase->moves->count + 1, sizeof *p.during);
    p.since = pb_arena_zero(&scratch, nodes * phase->game->tier_count, sizeof *p.since);
    p.prefetch = pb_arena_alloc(&scratch, loads, sizeof *p.prefetch);
    pb_status status = p.during && p.since && p.prefetch ? measure(ctx, &p) : PB_ENOMEM;
    if (status == PB_OK)
        status = sort_ends(&scratch, &p);
    if (status == PB_OK) {
        find_all(&p);
        status = sort_by_issue(arena, &scratch, &p, phase);
    }
    pb_arena_release(&scratch);
    return status;
}
