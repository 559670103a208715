/* first_bound.c -- see first_bound.h.
 *
 * Each needed node z gives a bound, and the best one counts. First, prices of memory are tried at nodes spread over the
 * order and then around the best of them. The price found at one is the first guess at the next, and a node whose bound
 * cannot exceed the best is left after a flow or two. Then the best few are solved in whole values.
 */
#include "bound/first_bound.h"

#include "base/context.h"
#include "bound/cut_branch.h"
#include "bound/moments_bound.h"

#include <stdlib.h>

enum { FIRST_LOOKS = 16, NEAR = 4, MAX_CASES = 40000, MAX_BRANCHED = 12 };

typedef struct search {
    const pb_game *game;
    pbi_cut_network net;
    pbi_pricer pricer;
    pbi_single *list; /* moments examined so far */
    uint32_t count;
    uint8_t *seen; /* by place in the order: examined */
    pbi_rate guess;
    int64_t best;
    uint64_t lasting; /* size of all values that cannot be recomputed */
    pbi_first *out;
} search;

static int by_value(const void *a, const void *b)
{
    const pbi_single *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* What must be resident at the first computation of z, whatever the work. */
static void weigh(search *s, pb_node z)
{
    const pb_graph *g = s->game->graph;
    uint64_t used = g->fixed_size + g->size[z] + g->workspace[z] - s->net.saved;
    for (uint32_t k = g->in_start[z]; k < g->in_start[z + 1]; k++)
        used += g->size[g->in[k]];
    if (used + s->lasting <= s->out->least_cap)
        return;
    used += pbi_pricer_least_size(&s->pricer);
    if (used > s->out->least_cap) {
        s->out->least_cap = used;
        s->out->least_at = z;
    }
}

static void raise_best(search *s, pb_node z, int64_t value)
{
    if (value <= s->best)
        return;
    s->best = value;
    s->out->at = z;
}

static void examine(search *s, uint32_t place)
{
    const pb_graph *g = s->game->graph;
    pb_node z = g->order[place];
    pbi_priced priced;
    if (s->seen[place] || !(g->flags[z] & PB_NODE_NEEDED) || s->pricer.stopped)
        return;
    s->seen[place] = 1;
    pbi_cut_network_at(&s->net, z);
    if (s->lasting)
        weigh(s, z);
    if (s->game->cap == PB_UNLIMITED || !s->net.fits || s->net.required_size <= s->net.free_size || s->pricer.stopped)
        return;
    pbi_pricer_run(&s->pricer, s->net.free_size, s->guess, s->best, &priced);
    if (priced.impossible) {
        s->out->over = true;
        s->out->over_at = z;
        return;
    }
    int64_t value = pbi_cut_network_round(&s->net, priced.value);
    s->list[s->count++] = (pbi_single){z, place, value, priced.rate};
    if (value > s->best)
        s->guess = priced.rate;
    raise_best(s, z, value);
}

static bool finished(const search *s) { return s->pricer.stopped || s->out->over || s->net.flow.work > s->pricer.most; }

/* Where the program in program order uses most memory: usually a good start. */
static uint32_t program_order_top(search *s)
{
    const pb_graph *g = s->game->graph;
    uint32_t *left = s->net.stack; /* readers still to come */
    uint64_t held = 0, most = 0;
    uint32_t top = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        left[v] = g->out_start[v + 1] - g->out_start[v];
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        held += g->size[v];
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                held += left[g->part[k]] ? g->size[g->part[k]] : 0;
        if (held > most && (g->flags[v] & PB_NODE_NEEDED)) {
            most = held;
            top = i;
        }
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (--left[g->in[k]] == 0 && !(g->flags[g->in[k]] & PB_NODE_GIVEN))
                held -= g->size[g->in[k]];
        held -= left[v] ? 0 : g->size[v];
    }
    return top;
}

/* Nodes spread over the order, then closer and closer around the best few. */
static void examine_around(search *s)
{
    uint32_t n = s->game->graph->order_count, step = n / FIRST_LOOKS + 1;
    if (n)
        examine(s, program_order_top(s));
    for (uint32_t i = step / 2; i < n && !finished(s); i += step)
        examine(s, i);
    while (step > 1 && !finished(s)) {
        uint32_t near[NEAR], count = s->count < NEAR ? s->count : NEAR;
        step = (step + 1) / 2;
        qsort(s->list, s->count, sizeof *s->list, by_value);
        for (uint32_t k = 0; k < count; k++)
            near[k] = s->list[k].place;
        for (uint32_t k = 0; k < count && !finished(s); k++) {
            if (near[k] >= step)
                examine(s, near[k] - step);
            if (near[k] + step < n)
                examine(s, near[k] + step);
        }
    }
    for (uint32_t i = 0; i < n && !finished(s); i++)
        examine(s, i);
}

/* Lets the pricer run until `most` is spent in total. False if it is spent already, or the context stopped. */
static bool go_on(search *s, uint64_t most)
{
    pbi_pricer *p = &s->pricer;
    p->most = most;
    p->stopped = p->net->flow.work > most || pbi_poll(p->ctx) != PB_OK;
    return !p->stopped;
}

/* No more cases than the effort can examine. */
static uint32_t case_room(const search *s, uint64_t effort)
{
    uint64_t most = 100 + effort / (4 * (uint64_t)s->game->graph->node_count + 1);
    return most < MAX_CASES ? (uint32_t)most : MAX_CASES;
}

/* Solves the best few in whole values; each may take three quarters of the remaining effort. */
static void solve_best(search *s, pb_arena *arena, uint64_t effort)
{
    pbi_brancher b;
    qsort(s->list, s->count, sizeof *s->list, by_value);
    if (!s->count || !pbi_brancher_init(&b, &s->pricer, arena, case_room(s, effort)))
        return;
    for (uint32_t k = 0; k < s->count && k < MAX_BRANCHED && go_on(s, effort); k++) {
        const pbi_single *c = &s->list[k];
        uint64_t spent = s->net.flow.work;
        s->pricer.most = spent + (effort - spent) / 4 * 3;
        int64_t value = pbi_brancher_run(&b, c->z, c->value, c->rate, s->best);
        if (value >= PBI_FLOW_INF) {
            s->out->over = true;
            s->out->over_at = c->z;
            return;
        }
        raise_best(s, c->z, value);
    }
}

/* A second moment: its contribution is in whole work, at another scale. */
static pb_status add_moments(search *s, uint64_t effort)
{
    pbi_several more;
    if (s->out->at == PB_NO_NODE || !effort || s->out->over)
        return PB_OK;
    qsort(s->list, s->count, sizeof *s->list, by_value);
    pbi_singles singles = {s->list, s->count, s->net.shift};
    pb_status status = pbi_moments_bound(s->pricer.ctx, s->game, &singles, effort, &more);
    if (status != PB_OK)
        return status;
    s->out->effort += more.effort;
    s->out->over = more.over;
    s->out->over_at = more.over ? s->list[0].z : PB_NO_NODE;
    if (more.extra > s->out->extra) {
        s->out->extra = more.extra;
        s->out->at = more.at;
    }
    return PB_OK;
}

static uint64_t lasting_size(const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint64_t size = 0;
    for (pb_node v = 0; v < g->node_count && game->kind == PB_GAME_REMAT; v++)
        if ((g->flags[v] & PB_NODE_NEEDED) && !pb_graph_recipes(g, v) &&
            (g->flags[pb_graph_maker(g, v)] & (PB_NODE_GIVEN | PB_NODE_ONCE)))
            size += g->size[v];
    return size;
}

static void run(search *s, pb_arena *scratch, uint64_t effort)
{
    double size = (double)s->game->graph->total_size;
    s->guess = pbi_rate_of((double)(INT64_C(1) << 54) / (size > 1 ? size : 1));
    s->pricer.most = effort / 2;
    examine_around(s);
    if (!s->out->over && go_on(s, effort))
        solve_best(s, scratch, effort);
    s->out->extra = pbi_cut_network_work(&s->net, s->best);
    s->out->effort = s->net.flow.work;
}

pb_status pbi_first_bound(pb_context *ctx, const pb_game *game, uint64_t least_cap, uint64_t effort, uint64_t several,
                          pbi_first *out)
{
    const pb_graph *g = game->graph;
    pb_arena scratch;
    search s = {.game = game, .out = out, .lasting = lasting_size(game)};
    *out = (pbi_first){.at = PB_NO_NODE, .over_at = PB_NO_NODE, .least_cap = least_cap, .least_at = PB_NO_NODE};
    if (game->kind == PB_GAME_REVERSIBLE || (game->cap == PB_UNLIMITED && !s.lasting))
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    s.list = pb_arena_alloc(&scratch, g->order_count, sizeof *s.list);
    s.seen = pb_arena_zero(&scratch, g->order_count, 1);
    pb_status status = s.list && s.seen ? pbi_cut_network_init(ctx, &s.net, &scratch, game) : PB_ENOMEM;
    if (status == PB_OK && !pbi_pricer_init(&s.pricer, ctx, &s.net, &scratch))
        status = PB_ENOMEM;
    if (status == PB_OK) {
        run(&s, &scratch, effort);
        status = add_moments(&s, several);
    }
    pb_arena_release(&scratch);
    return status == PB_ECANCELLED ? PB_OK : status;
}
