/* order_task.c -- what an order of computations needs: the task, the peak of an order, the simplest bound. */
#include "plan/sequence/order_parts.h"

#include "base/context.h"

#include <string.h>

static bool starts_fast(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW)) == PB_NODE_GIVEN;
}

/* Is this by-product computed with its node? */
static bool part_is_made(const pbi_order_task *t, pb_node w)
{
    return t->readers[w] || (t->g->flags[w] & (PB_NODE_KEEP | PB_NODE_TARGET));
}

static void count_readers(pbi_order_task *t)
{
    const pb_graph *g = t->g;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        t->program_order[t->count++] = v;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            t->readers[g->in[k]]++;
    }
}

static void sum_made(pbi_order_task *t, pb_node v)
{
    const pb_graph *g = t->g;
    t->made[v] = g->size[v];
    t->unread[v] = t->readers[v] || pbi_order_stays(g, v) ? 0 : g->size[v];
    for (uint32_t i = 0, parts = pbi_order_parts(g, v); i < parts; i++) {
        pb_node w = g->part[g->part_start[v] + i];
        if (!part_is_made(t, w))
            continue;
        t->made[v] += g->size[w];
        t->unread[v] += t->readers[w] || pbi_order_stays(g, w) ? 0 : g->size[w];
    }
}

/* What is resident while v is computed, whatever the order: its inputs, its results, and `always`. */
static uint64_t working_set(const pbi_order_task *t, pb_node v, uint64_t always)
{
    const pb_graph *g = t->g;
    pbi_order_step s = {0, 0, 0};
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        if (starts_fast(g, u) && pbi_order_stays(g, u))
            continue; /* in `always` */
        s.loaded += g->size[u];
        if (!pbi_order_stays(g, u) && g->size[u] > s.over && pbi_order_inplace(g, v, u))
            s.over = g->size[u];
    }
    return pbi_order_during(t, v, &s, always);
}

/* The largest of start, end and working sets. */
static void find_floor(pbi_order_task *t)
{
    const pb_graph *g = t->g;
    uint64_t given = g->fixed_size, always = g->fixed_size, end = g->fixed_size;
    t->start = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool stays = pbi_order_stays(g, v), fast = starts_fast(g, v);
        given += fast ? g->size[v] : 0;
        always += fast && stays ? g->size[v] : 0;
        end += stays ? g->size[v] : 0;
        t->start += fast && (stays || t->readers[v]) ? g->size[v] : 0;
    }
    t->floor = given > end ? given : end;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t need = working_set(t, t->program_order[i], always);
        t->floor = need > t->floor ? need : t->floor;
    }
}

pb_status pbi_order_task_init(pbi_order_task *t, pb_context *ctx, const pb_game *game, uint64_t enough, pb_node *best,
                              pb_arena *arena)
{
    const pb_graph *g = game->graph;
    *t = (pbi_order_task){.ctx = ctx, .g = g, .arena = arena, .best = best};
    t->program_order = pb_arena_alloc(arena, g->needed_count, sizeof *t->program_order);
    t->readers = pb_arena_zero(arena, g->node_count, sizeof *t->readers);
    t->made = pb_arena_alloc(arena, g->node_count, sizeof *t->made);
    t->unread = pb_arena_alloc(arena, g->node_count, sizeof *t->unread);
    uint32_t *left = pb_arena_alloc(arena, g->node_count, sizeof *left);
    if (!t->program_order || !t->readers || !t->made || !t->unread || !left)
        return PB_ENOMEM;
    count_readers(t);
    for (uint32_t i = 0; i < t->count; i++)
        sum_made(t, t->program_order[i]);
    find_floor(t);
    t->enough = enough > t->floor ? enough : t->floor;
    memcpy(best, t->program_order, t->count * sizeof *best);
    t->peak = pbi_order_measure(t, best, left);
    return PB_OK;
}

/* What computing v frees and overwrites, if `left` counts the remaining readers of each value, v included. */
static pbi_order_step step_of(const pbi_order_task *t, pb_node v, const uint32_t *left)
{
    const pb_graph *g = t->g;
    pbi_order_step s = {0, 0, 0};
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        if (left[u] == t->readers[u] && pbi_order_given_slow(g, u))
            s.loaded += g->size[u];
        if (left[u] != 1 || pbi_order_stays(g, u))
            continue;
        s.freed += g->size[u];
        if (g->size[u] > s.over && pbi_order_inplace(g, v, u))
            s.over = g->size[u];
    }
    return s;
}

uint64_t pbi_order_measure(const pbi_order_task *t, const pb_node *order, uint32_t *left)
{
    const pb_graph *g = t->g;
    uint64_t now = t->start, peak = t->floor;
    memcpy(left, t->readers, g->node_count * sizeof *left);
    for (uint32_t i = 0; i < t->count; i++) {
        pb_node v = order[i];
        pbi_order_step s = step_of(t, v, left);
        uint64_t during = pbi_order_during(t, v, &s, now);
        peak = during > peak ? during : peak;
        now = pbi_order_after(t, v, &s, now);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            left[g->in[k]]--;
    }
    return peak;
}

void pbi_order_keep_best(pbi_order_task *t, const pb_node *order, uint64_t peak)
{
    if (peak >= t->peak)
        return;
    t->peak = peak;
    memcpy(t->best, order, t->count * sizeof *t->best);
}
