/* prop_order.c -- orders of small peak on random games, against all orders there are. */
#include "plan/sequence/order.h"
#include "plan/sequence/sequence.h"
#include "support/law.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ORDERS = 3000 };

/* The peak of the moves that an order stands for; false when they cannot be made. */
static bool peak_of(law_bench *b, const pb_node *order, uint32_t count, uint64_t *peak)
{
    pbi_sequence s;
    pbi_figures figures;
    pb_game open = b->game;
    open.cap = PB_UNLIMITED;
    pbi_sequence_init(&s, &b->arena);
    for (uint32_t i = 0; i < count; i++)
        if (pbi_sequence_add(&s, order[i]) != PB_OK)
            return false;
    if (pbi_sequence_emit(&b->ctx, &open, &s, NULL, &figures) != PB_OK)
        return false;
    *peak = figures.peak;
    return true;
}

/* Every order, one after the other. */
typedef struct all_orders {
    law_bench *b;
    pb_node node[SMALL_MAX], order[SMALL_MAX];
    uint32_t count, tried;
    uint64_t min_peak;
    bool failed;
} all_orders;

static bool is_ready(const pb_graph *g, pb_node v, uint32_t done)
{
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (!(g->flags[g->in[k]] & PB_NODE_GIVEN) && !(done >> pb_graph_maker(g, g->in[k]) & 1))
            return false;
    return true;
}

static void try_all(all_orders *a, uint32_t placed, uint32_t done)
{
    if (a->failed || a->tried > MOST_ORDERS)
        return;
    if (placed == a->count) {
        uint64_t peak;
        a->failed = !peak_of(a->b, a->order, a->count, &peak);
        a->min_peak = !a->failed && peak < a->min_peak ? peak : a->min_peak;
        a->tried++;
        return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (!(done >> a->node[i] & 1) && is_ready(a->b->game.graph, a->node[i], done)) {
            a->order[placed] = a->node[i];
            try_all(a, placed + 1, done | UINT32_C(1) << a->node[i]);
        }
}

static bool playable(const law_bench *b)
{
    const pb_graph *g = b->game.graph;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && b->game.kind != PB_GAME_TIERED)
            return false;
    return true;
}

static void list_needed(const pb_graph *g, pb_node *node, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            node[(*count)++] = g->order[i];
}

/* Finds an order and checks all that can be checked without knowing the least peak. */
static bool find_fails(law_bench *b, const pbi_order_options *options, pbi_order_found *found)
{
    const pb_graph *g = b->game.graph;
    pb_node order[SMALL_MAX], again[SMALL_MAX], written[SMALL_MAX];
    uint32_t count, done = 0;
    uint64_t peak = 0, program_peak = 0;
    pbi_order_found twice;
    list_needed(g, written, &count);
    if (count != g->needed_count)
        return law_broken(b, "%u nodes are needed, %u counted", g->needed_count, count);
    if (pbi_order_find(&b->ctx, &b->game, options, order, found) != PB_OK ||
        pbi_order_find(&b->ctx, &b->game, options, again, &twice) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_ready(g, order[i], done) || (done >> order[i] & 1) || !(g->flags[order[i]] & PB_NODE_NEEDED))
            return law_broken(b, "%s comes too early or twice", pb_graph_name(g, order[i]));
        done |= UINT32_C(1) << order[i];
    }
    if (memcmp(order, again, count * sizeof *order) != 0 || memcmp(found, &twice, sizeof twice) != 0)
        return law_broken(b, "another order when run again");
    if (!peak_of(b, order, count, &peak) || !peak_of(b, written, count, &program_peak))
        return law_broken(b, "the order cannot be carried out: %s", b->ctx.error.message);
    if (peak != found->peak)
        return law_broken(b, "peak %" PRIu64 " where the moves have %" PRIu64, found->peak, peak);
    if (peak > program_peak && program_peak > options->enough)
        return law_broken(b, "peak %" PRIu64 " above %" PRIu64 " in program order", peak, program_peak);
    if (found->min_peak > peak)
        return law_broken(b, "peak %" PRIu64 " below the proved %" PRIu64, peak, found->min_peak);
    return false;
}

static bool least_fails(law_bench *b)
{
    if (!playable(b))
        return law_skip(b);
    all_orders all = {.b = b, .min_peak = UINT64_MAX};
    list_needed(b->game.graph, all.node, &all.count);
    try_all(&all, 0, 0);
    if (all.tried > MOST_ORDERS)
        return law_skip(b);
    if (all.failed)
        return law_broken(b, "%s", b->ctx.error.message);
    pbi_order_found found;
    if (find_fails(b, &(pbi_order_options){.effort = 1000000, .seed = 1}, &found))
        return true;
    if (found.peak != all.min_peak || found.min_peak != all.min_peak)
        return law_broken(b, "peak %" PRIu64 ", proved %" PRIu64 ", least of all orders %" PRIu64, found.peak,
                          found.min_peak, all.min_peak);
    /* With a peak that is enough it may stop there, but no order is missed. */
    uint64_t enough = all.min_peak + b->small->seed % 3 - 1;
    if (find_fails(b, &(pbi_order_options){.enough = enough, .effort = 1000000, .seed = 1}, &found))
        return true;
    if (found.peak > enough && found.peak != all.min_peak)
        return law_broken(b, "peak %" PRIu64 " where %" PRIu64 " was enough and %" PRIu64 " the least", found.peak,
                          enough, all.min_peak);
    return false;
}

static bool any_fails(law_bench *b)
{
    pbi_order_found greedy, some, exact;
    if (!playable(b))
        return law_skip(b);
    if (find_fails(b, &(pbi_order_options){.effort = 0}, &greedy) ||
        find_fails(b, &(pbi_order_options){.effort = 300, .seed = b->small->seed}, &some) ||
        find_fails(b, &(pbi_order_options){.effort = 1000000, .seed = 1}, &exact))
        return true;
    if (exact.min_peak != exact.peak || exact.peak > some.peak || some.peak > greedy.peak ||
        greedy.min_peak > exact.peak || some.min_peak > exact.peak)
        return law_broken(b, "peaks %" PRIu64 ", %" PRIu64 ", %" PRIu64 " with growing effort", greedy.peak, some.peak,
                          exact.peak);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("the least peak is that of the best of all orders", least_fails, PB_GAME_REMAT | PB_GAME_TIERED, cases);
    law_run_large("orders are legal, no worse than program order, and as good as they say", any_fails,
                  PB_GAME_REMAT | PB_GAME_TIERED, cases / 4 + 1);
    return law_finish();
}
