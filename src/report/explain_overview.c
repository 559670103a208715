/* explain_overview.c -- the work and the memory of a plan, value by value. */
#include "report/explain.h"

#include "base/checked.h"
#include "base/context.h"

#include <stdlib.h>

enum { MAX_VISITS = 50000000, POLL_MOVES = 1 << 14 };

/* By value, during the walk. */
typedef struct tally {
    pb_u128 held;
    pb_step last;      /* the last move that made or read it */
    uint64_t last_end; /* time after that */
    uint64_t times, gaps, saves;
    bool lacking, stuck; /* effort ran out; cannot be recomputed */
} tally;

typedef struct counter {
    pbi_walk walk;
    pbi_rework rework;
    tally *tallies;
    bool *with_savings; /* values whose savings are computed; NULL in the first walk */
} counter;

static void touch(counter *n, pb_node v, pb_step k)
{
    n->tallies[v].last = k;
    n->tallies[v].last_end = n->walk.end;
}

/* Move k reads v (or the end needs it): adds the memory-time of waiting for it, and what that saves. */
static void close_gap(counter *n, pb_node v, pb_step k)
{
    tally *t = &n->tallies[v];
    pb_step since = t->last == PBI_NO_STEP ? 0 : t->last + 1;
    uint64_t time = n->walk.end - t->last_end;
    if (k <= since || time == 0)
        return;
    if (!n->with_savings) {
        t->gaps++;
        pbi_u128_add(&t->held, pbi_u128_product(time, n->walk.graph->size[v]));
    } else if (n->with_savings[v]) {
        pbi_rework_cost cost = pbi_rework_of(&n->rework, n->walk.resident, v);
        t->saves = pbi_add_saturated(t->saves, cost.work);
        t->lacking |= !cost.complete;
        t->stuck |= !cost.possible;
    }
}

static pb_status count_moves(pb_context *ctx, counter *n)
{
    pbi_walk *w = &n->walk;
    for (pb_node v = 0; v < w->graph->node_count; v++) {
        n->tallies[v].last = PBI_NO_STEP;
        n->tallies[v].last_end = 0;
    }
    for (pb_step k = 0; k < w->moves->count; k++) {
        const pb_move *m = &w->moves->move[k];
        uint32_t count;
        const pb_node *reads = pbi_walk_reads(w->graph, m, &count);
        if (k % POLL_MOVES == 0 && pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
        for (uint32_t i = 0; i < count; i++)
            close_gap(n, reads[i], k);
        pbi_walk_next(w);
        for (uint32_t i = 0; i < count; i++)
            touch(n, reads[i], k);
        if (w->makes)
            touch(n, m->node, k);
        for (uint32_t i = 0; i < w->also_count; i++)
            touch(n, w->also[i], k);
        if (m->op == PB_COMPUTE && !n->with_savings)
            n->tallies[m->node].times++;
        pbi_rework_note(&n->rework, m);
    }
    for (pb_node v = 0; v < w->graph->node_count; v++)
        if (w->resident[v] && (w->graph->flags[v] & (PB_NODE_KEEP | PB_NODE_TARGET)))
            close_gap(n, v, w->moves->count);
    return PB_OK;
}

static int by_work(const void *a, const void *b)
{
    const pbi_share *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int by_held(const void *a, const void *b)
{
    const pbi_share *x = a, *y = b;
    int order = pb_u128_compare(y->held, x->held);
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

static pbi_share share_of(const counter *n, pb_node v)
{
    const tally *t = &n->tallies[v];
    uint64_t work = 0;
    if (t->times > 1 && !pbi_mul(t->times - 1, n->walk.graph->cost[v], &work))
        work = UINT64_MAX;
    return (pbi_share){.node = v, .times = t->times, .work = work, .held = t->held, .gaps = t->gaps};
}

/* Both lists, complete, sorted and cut. */
static pb_status make_lists(const counter *n, size_t longest, pb_arena *scratch, pbi_overview *out)
{
    const pb_graph *g = n->walk.graph;
    pb_u128 nothing = {0, 0};
    for (pb_node v = 0; v < g->node_count; v++) {
        out->values += n->tallies[v].times > 0;
        out->again_values += n->tallies[v].times > 1;
        out->kept_values += pb_u128_compare(n->tallies[v].held, nothing) > 0;
        pbi_u128_add(&out->held, n->tallies[v].held);
    }
    out->again = pb_arena_alloc(scratch, out->again_values, sizeof *out->again);
    out->kept = pb_arena_alloc(scratch, out->kept_values, sizeof *out->kept);
    if (!out->again || !out->kept)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        pbi_share share = share_of(n, v);
        if (share.times > 1)
            out->again[out->again_length++] = share;
        if (pb_u128_compare(share.held, nothing) > 0)
            out->kept[out->kept_length++] = share;
        if (share.times) {
            out->once_work = pbi_add_saturated(out->once_work, g->cost[v]);
            out->again_work = pbi_add_saturated(out->again_work, share.work);
            out->again_count += share.times - 1;
        }
    }
    qsort(out->again, out->again_length, sizeof *out->again, by_work);
    qsort(out->kept, out->kept_length, sizeof *out->kept, by_held);
    if (out->again_length > longest)
        out->again_length = longest;
    if (out->kept_length > longest)
        out->kept_length = longest;
    return PB_OK;
}

/* The second walk: the savings of the values in the kept list. */
static pb_status weigh(pb_context *ctx, counter *n, const pb_certificate *c, pb_arena *scratch, pbi_overview *out)
{
    pb_status status = pbi_walk_init(&n->walk, c, scratch);
    if (status == PB_OK)
        status = pbi_rework_init(&n->rework, out->game, MAX_VISITS, scratch);
    n->with_savings =
        status == PB_OK ? pb_arena_zero(scratch, n->walk.graph->node_count, sizeof *n->with_savings) : NULL;
    if (!n->with_savings)
        return PB_ENOMEM;
    for (size_t i = 0; i < out->kept_length; i++)
        n->with_savings[out->kept[i].node] = true;
    status = count_moves(ctx, n);
    for (size_t i = 0; i < out->kept_length && status == PB_OK; i++) {
        const tally *t = &n->tallies[out->kept[i].node];
        out->kept[i].saves = t->saves;
        out->kept[i].complete = !t->lacking;
        out->kept[i].possible = !t->stuck;
    }
    return status;
}

pb_status pbi_overview_make(pb_context *ctx, const pb_certificate *c, size_t longest, pb_arena *scratch,
                            pbi_overview *out)
{
    counter n = {.with_savings = NULL};
    *out = (pbi_overview){.game = pb_certificate_game(c), .totals = pb_certificate_totals(c)};
    out->list = pb_certificate_moves(c);
    out->moves = out->list->count;
    pb_status status = pbi_walk_init(&n.walk, c, scratch);
    if (status == PB_OK)
        status = pbi_rework_init(&n.rework, out->game, 0, scratch);
    n.tallies = status == PB_OK ? pb_arena_zero(scratch, n.walk.graph->node_count, sizeof *n.tallies) : NULL;
    if (!n.tallies)
        return PB_ENOMEM;
    status = count_moves(ctx, &n);
    if (status == PB_OK)
        status = make_lists(&n, longest, scratch, out);
    if (status == PB_OK && out->kept_length)
        status = weigh(ctx, &n, c, scratch, out);
    return status == PB_OK ? pbi_pressure_make(ctx, c, longest, scratch, &out->pressure) : status;
}
