/* walk.c -- see walk.h. */
#include "report/walk.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "game/untimed.h"

enum { POLL_MOVES = 1 << 14 };

static bool starts_fast(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW);
}

pb_status pbi_walk_init(pbi_walk *w, const pb_certificate *c, pb_arena *scratch)
{
    return pbi_walk_moves(w, pb_certificate_game(c), pb_certificate_moves(c), scratch);
}

pb_status pbi_walk_moves(pbi_walk *w, const pb_game *game, const pb_moves *moves, pb_arena *scratch)
{
    *w = (pbi_walk){.game = game, .moves = moves};
    pb_status status = pbi_untimed(scratch->ctx, w->game, "this view of a plan");
    if (status != PB_OK)
        return status;
    w->graph = w->game->graph;
    w->step = PBI_NO_STEP;
    w->removes = PB_NO_NODE;
    w->resident = pb_arena_zero(scratch, w->graph->node_count, sizeof *w->resident);
    if (w->game->borrow)
        w->borrowed = pb_arena_zero(scratch, w->graph->node_count, sizeof *w->borrowed);
    if (!w->resident || (w->game->borrow && !w->borrowed))
        return PB_ENOMEM;
    w->after = w->graph->fixed_size;
    for (pb_node v = 0; v < w->graph->node_count; v++) {
        if (starts_fast(w->graph, v)) {
            w->resident[v] = true;
            w->after += w->graph->size[v];
        } else if ((w->graph->flags[v] & PB_NODE_GIVEN) && w->game->kind == PB_GAME_TIERED) {
            w->slow += w->graph->size[v];
        }
    }
    return PB_OK;
}

static void walk_compute(pbi_walk *w)
{
    const pb_graph *g = w->graph;
    pb_node v = w->move.node, over = pb_moves_over(w->moves, w->step);
    uint64_t parts = 0, made = 0, taken = 0;
    pb_way way = pb_graph_way(g, v, w->move.by);
    w->cost = way.cost;
    w->also = pb_moves_also(w->moves, w->step, &w->also_count);
    for (uint32_t i = 0; i < w->also_count; i++) {
        parts += g->size[w->also[i]];
        w->resident[w->also[i]] = true;
    }
    if (!w->resident[v]) {
        w->makes = true;
        made = g->size[v];
        w->resident[v] = true;
        if (w->move.flags & PB_MOVE_BORROW) {
            w->borrowed[v] = g->size[v] > 0;
            made = 0;
        }
    }
    if (over != PB_NO_NODE) {
        w->removes = over;
        w->resident[over] = false;
        taken = g->size[over];
    }
    w->during = w->before + parts + (made > taken ? made - taken : 0) + way.workspace;
    w->after = w->before + parts + made - taken;
}

static void walk_transfer(pbi_walk *w)
{
    const pb_tier *tier = &w->game->tiers[w->move.tier ? w->move.tier - 1 : 0];
    pb_node v = w->move.node;
    uint64_t size = w->graph->size[v];
    if (w->move.op == PB_DROP) {
        w->slow -= size;
        return;
    }
    w->io = true;
    if (w->move.op == PB_STORE) {
        w->cost = pbi_store_price(tier, size);
        w->slow += size;
        return;
    }
    w->cost = pbi_load_price(tier, size);
    w->makes = true;
    w->resident[v] = true;
    w->during = w->after = w->before + size;
}

static void walk_remove(pbi_walk *w)
{
    pb_node v = w->move.node;
    w->removes = v;
    w->resident[v] = false;
    w->after = w->before - (w->borrowed && w->borrowed[v] ? 0 : w->graph->size[v]);
    if (w->borrowed)
        w->borrowed[v] = false;
    if (w->move.op == PB_UNCOMPUTE) {
        w->cost = w->graph->cost[v];
        w->during = w->before + w->graph->workspace[v];
    }
}

bool pbi_walk_next(pbi_walk *w)
{
    w->step = w->step == PBI_NO_STEP ? 0 : w->step + 1;
    if (w->step >= w->moves->count)
        return false;
    w->move = w->moves->move[w->step];
    w->cost = 0;
    w->io = w->makes = false;
    w->also_count = 0;
    w->removes = PB_NO_NODE;
    w->before = w->during = w->after;
    w->start = w->end;
    switch ((pb_op)w->move.op) {
    case PB_COMPUTE: walk_compute(w); break;
    case PB_UNCOMPUTE:
    case PB_FREE: walk_remove(w); break;
    default: walk_transfer(w); break;
    }
    w->end = w->start + w->cost;
    if (!w->io)
        w->work += w->cost;
    pbi_u128_add(&w->flux, pbi_u128_product(w->cost, w->during));
    return true;
}

const pb_node *pbi_walk_reads(const pb_graph *g, const pb_move *move, uint32_t *count)
{
    bool reads = move->op == PB_COMPUTE || move->op == PB_UNCOMPUTE;
    pb_way way = pb_graph_way(g, move->node, move->by);
    *count = reads ? way.in_count : 0;
    return way.in;
}

static void link_made(pbi_links *links, pb_step *next_make, pb_step *next_use, pb_step k, pb_node v)
{
    if (next_use[v] < links->use[k])
        links->use[k] = next_use[v];
    next_make[v] = k;
    next_use[v] = PBI_NO_STEP;
}

pb_status pbi_links_make(pb_context *ctx, const pb_certificate *c, pb_arena *scratch, pbi_links *out)
{
    const pb_moves *moves = pb_certificate_moves(c);
    const pb_graph *g = pb_certificate_game(c)->graph;
    pb_step *next_make = pb_arena_alloc(scratch, g->node_count, sizeof *next_make);
    pb_step *next_use = pb_arena_alloc(scratch, g->node_count, sizeof *next_use);
    out->again = pb_arena_alloc(scratch, moves->count, sizeof *out->again);
    out->use = pb_arena_alloc(scratch, moves->count, sizeof *out->use);
    if (!next_make || !next_use || !out->again || !out->use)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        next_make[v] = next_use[v] = PBI_NO_STEP;
    for (pb_step k = moves->count; k-- > 0;) {
        const pb_move *m = &moves->move[k];
        uint32_t count;
        if (k % POLL_MOVES == 0 && pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
        out->again[k] = out->use[k] = PBI_NO_STEP;
        pb_node removed = m->op == PB_FREE || m->op == PB_UNCOMPUTE ? m->node
                          : m->op == PB_COMPUTE                     ? pb_moves_over(moves, k)
                                                                    : PB_NO_NODE;
        if (m->op == PB_COMPUTE) {
            const pb_node *also = pb_moves_also(moves, k, &count);
            for (uint32_t i = 0; i < count; i++)
                link_made(out, next_make, next_use, k, also[i]);
        }
        if (m->op == PB_COMPUTE || m->op == PB_LOAD)
            link_made(out, next_make, next_use, k, m->node);
        if (removed != PB_NO_NODE)
            out->again[k] = next_make[removed];
        const pb_node *reads = pbi_walk_reads(g, m, &count);
        for (uint32_t i = 0; i < count; i++)
            next_use[reads[i]] = k;
    }
    return PB_OK;
}

void pbi_recipe_text(pbi_out *out, const pb_graph *g, const pb_move *move)
{
    if (move->op != PB_COMPUTE || !move->by)
        return;
    const char *name = g->recipe[g->recipe_start[move->node] + move->by - 1].name;
    if (*name) {
        pbi_out_text(out, " by ");
        pbi_out_plain(out, name);
    } else {
        pbi_out_format(out, " by recipe %u", (unsigned)move->by);
    }
}
