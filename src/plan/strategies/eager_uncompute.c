/* eager_uncompute.c -- compute once, uncompute once, as early as possible.
 *
 * Problem     the least work in the reversible game, with no more memory than that needs.
 * Idea        follow an order; a unit is uncomputed as soon as every reader is computed and is either final or
 *             already uncomputed, because then nothing can need it again.
 * Invariants  the inputs of a unit stay resident until the unit is final or uncomputed, so it can always be
 *             uncomputed.
 * Cost        O(nodes + edges).
 * Source      clean-up by output cones, as in circuit synthesis.
 * Limits      deep graphs with one target keep everything until the end; work is the least possible.
 */
#include "plan/reversible/units.h"

#include "base/context.h"

#include <string.h>

typedef struct eager {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    pb_arena *scratch;
    pb_node *order; /* needed units */
    uint32_t count;
    uint32_t *open;     /* per unit: reads by units that are neither final nor uncomputed */
    uint8_t *done;      /* per unit: computed */
    pb_node *to_finish; /* units to uncompute, or to mark as final */
} eager;

static pb_status allocate_eager(eager *e)
{
    size_t n = e->g->node_count;
    e->order = pb_arena_alloc(e->scratch, n, sizeof *e->order);
    e->open = pb_arena_alloc(e->scratch, n, sizeof *e->open);
    e->done = pb_arena_alloc(e->scratch, n, sizeof *e->done);
    e->to_finish = pb_arena_alloc(e->scratch, n, sizeof *e->to_finish);
    return e->order && e->open && e->done && e->to_finish ? PB_OK : PB_ENOMEM;
}

static void program_order(eager *e)
{
    e->count = 0;
    for (uint32_t i = 0; i < e->g->order_count; i++)
        if (e->g->flags[e->g->order[i]] & PB_NODE_NEEDED)
            e->order[e->count++] = e->g->order[i];
}

/* One final unit after the other, in program order, each after its own inputs depth first. */
static pb_status cone_order(eager *e)
{
    const pb_graph *g = e->g;
    typedef struct frame {
        pb_node node;
        uint32_t next;
    } frame;
    frame *stack = pb_arena_alloc(e->scratch, (size_t)g->node_count + 1, sizeof *stack);
    uint8_t *seen = pb_arena_zero(e->scratch, g->node_count, sizeof *seen);
    if (!stack || !seen)
        return PB_ENOMEM;
    e->count = 0;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node root = g->order[i];
        bool final = pbi_is_final(g, root);
        if (g->flags[root] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[root]; k < g->part_start[root + 1]; k++)
                final = final || pbi_is_final(g, g->part[k]);
        if (!final || seen[root])
            continue;
        uint32_t depth = 0;
        seen[root] = 1;
        stack[depth++] = (frame){root, g->in_start[root]};
        while (depth) {
            frame *f = &stack[depth - 1];
            if (f->next == g->in_start[f->node + 1]) {
                e->order[e->count++] = f->node;
                depth--;
                continue;
            }
            pb_node u = pb_graph_maker(g, g->in[f->next++]);
            if (!(g->flags[u] & PB_NODE_GIVEN) && !seen[u]) {
                seen[u] = 1;
                stack[depth++] = (frame){u, g->in_start[u]};
            }
        }
    }
    return PB_OK;
}

/* Moves a waiting unit whose workspace fits to the end of the list, if the last one's does not fit. */
static void prefer_fitting(eager *e, const pbi_reversible *r, uint32_t waiting)
{
    uint64_t room = e->game->cap - r->memory;
    for (uint32_t i = waiting; i-- > 0;)
        if (e->g->workspace[e->to_finish[i]] <= room) {
            pb_node fits = e->to_finish[i];
            e->to_finish[i] = e->to_finish[waiting - 1];
            e->to_finish[waiting - 1] = fits;
            return;
        }
}

/* Uncomputes v, or marks it as final, and then every unit that this allows. */
static pb_status finish_unit(eager *e, pbi_reversible *r, pb_node v)
{
    const pb_graph *g = e->g;
    uint32_t waiting = 0;
    pb_status status = PB_OK;
    e->to_finish[waiting++] = v;
    while (waiting && status == PB_OK && !r->stuck) {
        prefer_fitting(e, r, waiting);
        pb_node now = e->to_finish[--waiting];
        status = pbi_reversible_uncompute(r, now);
        for (uint32_t k = g->in_start[now]; k < g->in_start[now + 1]; k++) {
            pb_node u = pb_graph_maker(g, g->in[k]);
            if (!(g->flags[u] & PB_NODE_GIVEN) && --e->open[u] == 0 && e->done[u])
                e->to_finish[waiting++] = u;
        }
    }
    return status;
}

static pb_status play_order(eager *e, pbi_reversible *r)
{
    const pb_graph *g = e->g;
    pb_status status = PB_OK;
    memset(e->open, 0, g->node_count * sizeof *e->open);
    memset(e->done, 0, g->node_count * sizeof *e->done);
    for (uint32_t i = 0; i < e->count; i++)
        for (uint32_t k = g->in_start[e->order[i]]; k < g->in_start[e->order[i] + 1]; k++)
            e->open[pb_graph_maker(g, g->in[k])]++;
    for (uint32_t i = 0; i < e->count && status == PB_OK && !r->stuck; i++) {
        pb_node v = e->order[i];
        status = pbi_reversible_compute(r, v);
        e->done[v] = 1;
        if (status == PB_OK && !r->stuck && !e->open[v])
            status = finish_unit(e, r, v);
    }
    if (status == PB_OK)
        pbi_reversible_finish(r);
    return status;
}

static pb_status plan_order(eager *e, bool cones, pbi_plan *plan, pbi_figures *f)
{
    pbi_reversible r;
    pb_status status = PB_OK;
    if (cones)
        status = cone_order(e);
    else
        program_order(e);
    if (status == PB_OK)
        status = pbi_reversible_init(&r, e->ctx, e->game, plan, UINT64_MAX, e->scratch);
    if (status == PB_OK)
        status = play_order(e, &r);
    if (status == PB_OK)
        *f = r.f;
    return status;
}

pb_status pbi_plan_eager_uncompute(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                                   pbi_plan *plan)
{
    const char *choice = pbi_option_find(options, "order");
    bool both = !choice || strcmp(choice, "auto") == 0, cones = choice && strcmp(choice, "cones") == 0;
    if (!both && !cones && strcmp(choice, "program") != 0)
        return pbi_fail(ctx, PB_EINVAL, "order must be auto, program or cones, not \"%.40s\"", choice);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    eager e = {.ctx = ctx, .game = game, .g = game->graph, .scratch = &scratch};
    pbi_figures program, by_cone;
    pb_status status = allocate_eager(&e);
    if (status == PB_OK && both) {
        status = plan_order(&e, false, NULL, &program);
        if (status == PB_OK)
            status = plan_order(&e, true, NULL, &by_cone);
        if (status == PB_OK)
            cones = by_cone.fits != program.fits ? by_cone.fits : pbi_figures_better(game, &by_cone, &program);
    }
    if (status == PB_OK)
        status = plan_order(&e, cones, plan, &program);
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_plan_record(plan, "order", cones ? "cones" : "program") : status;
}
