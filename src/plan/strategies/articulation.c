/* articulation.c -- segments of the forward pass that end at articulation points.
 *
 * Problem     skip connections cross segments that are cut anywhere: values that cross must be recomputed from
 *             further back.
 * Idea        let segments end only at articulation points of the forward graph: nodes without which it falls apart.
 *             No edge bypasses them. Of these points, keep every sqrt-th, or those at which the sizes since the last
 *             kept point exceed b.
 * Invariants  every value is computed at most twice (sequence/segments, sequence/replay).
 * Cost        O(nodes and edges) for the points and for each of some tens of plans.
 * Source      the baselines "AP sqrt(n)" and "AP greedy" of Jain et al., "Checkmate", MLSys 2020; points by Tarjan's
 *             depth-first search (Hopcroft and Tarjan, 1973).
 * Limits      costs are ignored; without articulation points (dense skips, U-Nets) nothing can be dropped.
 */
#include "base/context.h"
#include "plan/sequence/segments.h"

typedef struct seeker {
    const pbi_training *t;
    uint32_t *entered; /* per forward place: visiting number, from 1; 0: not visited */
    uint32_t *low;     /* the smallest visiting number that it or its subtree has an edge to */
    uint32_t *parent;
    uint32_t *next; /* next edge to visit: inputs first, then readers */
    uint32_t *part; /* readers of by-products are neighbours too: the member that is visited now */
    uint8_t *point;
    uint32_t clock;
} seeker;

static bool allocate_seeker(seeker *s, pb_arena *arena)
{
    uint32_t n = s->t->forward;
    s->entered = pb_arena_zero(arena, n, sizeof *s->entered);
    s->low = pb_arena_alloc(arena, n, sizeof *s->low);
    s->parent = pb_arena_alloc(arena, n, sizeof *s->parent);
    s->next = pb_arena_alloc(arena, n, sizeof *s->next);
    s->part = pb_arena_alloc(arena, n, sizeof *s->part);
    s->point = pb_arena_zero(arena, n, sizeof *s->point);
    return s->entered && s->low && s->parent && s->next && s->part && s->point;
}

static void visit(seeker *s, uint32_t p, uint32_t parent)
{
    s->entered[p] = s->low[p] = ++s->clock;
    s->parent[p] = parent;
    s->next[p] = s->t->g->in_start[s->t->order[p]];
    s->part[p] = 0;
}

/* The next neighbour of p, a forward place; PBI_NO_PLACE when there is none left. Inputs of the node come first (member
 * 0), then the readers of the node (member 1) and of its by-products (2 and on). */
static uint32_t next_neighbour(seeker *s, uint32_t p)
{
    const pb_graph *g = s->t->g;
    pb_node v = s->t->order[p];
    uint32_t parts = g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
    for (;;) {
        uint32_t m = s->part[p];
        pb_node w = m < 2 ? v : g->part[g->part_start[v] + m - 2];
        const uint32_t *start = m ? g->out_start : g->in_start;
        while (s->next[p] < start[w + 1]) {
            uint32_t k = s->next[p]++;
            uint32_t q = s->t->place[m ? g->out[k] : g->in[k]];
            if (q < s->t->forward && q != p)
                return q;
        }
        if (m == 1 + parts)
            return PBI_NO_PLACE;
        s->part[p] = ++m;
        s->next[p] = g->out_start[m < 2 ? v : g->part[g->part_start[v] + m - 2]];
    }
}

/* One connected part of the forward graph; the path from its root to p is in `parent`. */
static void search_component(seeker *s, uint32_t root)
{
    uint32_t p = root, children = 0;
    visit(s, root, PBI_NO_PLACE);
    while (p != PBI_NO_PLACE) {
        uint32_t q = next_neighbour(s, p);
        if (q != PBI_NO_PLACE) {
            if (!s->entered[q]) {
                visit(s, q, p);
                children += p == root;
                p = q;
            } else if (q != s->parent[p] && s->entered[q] < s->low[p]) {
                s->low[p] = s->entered[q];
            }
            continue;
        }
        uint32_t up = s->parent[p];
        if (up != PBI_NO_PLACE) {
            s->low[up] = s->low[p] < s->low[up] ? s->low[p] : s->low[up];
            s->point[up] |= up != root && s->low[p] >= s->entered[up];
        }
        p = up;
    }
    s->point[root] = children > 1;
}

pb_status pbi_plan_articulation(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pbi_training training;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_training_find(game->graph, &scratch, &training);
    seeker s = {.t = &training};
    if (status == PB_OK && !allocate_seeker(&s, &scratch))
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_tick(ctx, (uint64_t)training.count + game->graph->edge_count);
    for (uint32_t p = 0; status == PB_OK && p < training.forward; p++)
        if (!s.entered[p])
            search_component(&s, p);
    if (status == PB_OK)
        status = pbi_segments_plan(ctx, game, options, &training, s.point, plan);
    pb_arena_release(&scratch);
    return status;
}
