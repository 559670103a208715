/* plan.c -- see plan.h. */
#include "plan/blocks/plan.h"

#include "base/checked.h"
#include "base/context.h"
#include "plan/blocks/parts.h"
#include "plan/blocks/ways.h"
#include "plan/sequence/sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_SLOTS = 500, MAX_BLOCKS = 600, LARGE = 16, EXACT_BLOCKS = 300 };

typedef struct speller {
    const pb_graph *g;
    const pbi_block_ways *ways;
    uint8_t *done; /* per node that is computed only once */
    pbi_sequence *s;
} speller;

static pb_status spell_list(speller *p, pbi_block_nodes list)
{
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < list.count && status == PB_OK; i++) {
        pb_node v = p->ways->event[list.start + i];
        if (p->g->flags[v] & PB_NODE_ONCE) {
            if (p->done[v])
                continue;
            p->done[v] = 1;
        }
        status = pbi_sequence_add(p->s, v);
    }
    return status;
}

static pb_status spell(speller *p, const pbi_blocks_plan *plan)
{
    pb_status status = PB_OK;
    for (size_t i = 0; i < plan->count && status == PB_OK; i++) {
        pbi_block_action a = plan->action[i];
        uint32_t way = p->ways->numbers.block[a.block].way + a.way;
        status = spell_list(p, a.what == PBI_BLOCK_RUN   ? p->ways->plain[a.block]
                               : a.what == PBI_BLOCK_WAY ? p->ways->forward[way]
                                                         : p->ways->backward[way]);
        if ((i & 0xff) == 0 && status == PB_OK)
            status = pbi_poll(p->s->arena->ctx);
    }
    return status;
}

/* The cheapest plan in numbers. budget->slots becomes 0 when it is exact. */
static pb_status solve(pb_context *ctx, const pbi_blocks *numbers, pbi_block_budget *budget, pb_arena *arena,
                       pbi_blocks_plan *out, uint64_t *min_work)
{
    pb_status status = PB_ELIMIT;
    bool either = budget->slots == UINT64_MAX;
    if (!budget->slots || (either && numbers->count <= EXACT_BLOCKS)) {
        status = pbi_blocks_exact(ctx, numbers, budget, arena, out);
        budget->slots = 0;
        if (status != PB_ELIMIT || !either || (ctx->tick_limit && ctx->ticks >= ctx->tick_limit))
            return status;
    }
    if (either)
        budget->slots = USUAL_SLOTS;
    return pbi_blocks_slots(ctx, numbers, budget, arena, out, min_work);
}

/* More than all values and the largest workspace is never needed. */
static uint64_t useful_cap(const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint64_t workspace = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        workspace = g->workspace[v] > workspace ? g->workspace[v] : workspace;
    uint64_t max = pbi_add_saturated(g->total_size, workspace);
    return game->cap < max ? game->cap : max;
}

/* One chain planned: its sequence, and how good that is. */
typedef struct attempt {
    pbi_sequence s;
    pbi_figures figures;
    pbi_block_chain chain;
    uint64_t slots;  /* 0: exact */
    uint64_t excess; /* upper limit on the work that counting in slots may have cost */
    bool found;
} attempt;

/* Work in units of a power of two, rounded up, if that of some plan could exceed 62 bits. */
static pb_status scale_work(pb_arena *arena, pbi_blocks *b, unsigned *shift)
{
    uint64_t max = pbi_blocks_max_work(b);
    uint32_t ways = 0;
    if (!(max >> 61))
        return PB_OK;
    for (uint32_t k = 1; k <= b->count; k++)
        ways = b->block[k].way + b->block[k].way_count > ways ? b->block[k].way + b->block[k].way_count : ways;
    pbi_block *block = pb_arena_alloc(arena, (size_t)b->count + 1, sizeof *block);
    pbi_block_way *way = pb_arena_alloc(arena, ways, sizeof *way);
    if (!block || !way)
        return PB_ENOMEM;
    memcpy(block, b->block, ((size_t)b->count + 1) * sizeof *block);
    memcpy(way, b->way, ways * sizeof *way);
    b->block = block;
    b->way = way;
    for (; max >> 61; max = pbi_blocks_max_work(b)) {
        for (uint32_t k = 1; k <= b->count; k++)
            block[k].cost -= block[k].cost / 2;
        for (uint32_t n = 0; n < ways; n++)
            way[n].extra_work -= way[n].extra_work / 2;
        ++*shift;
    }
    return PB_OK;
}

static pb_status plan_chain(pb_context *ctx, const pb_game *game, uint64_t limit, pb_arena *scratch, attempt *a)
{
    pbi_block_ways ways;
    pbi_blocks_plan plan;
    const pb_graph *g = game->graph;
    uint64_t cap = useful_cap(game), min_work = 0;
    unsigned shift = 0;
    if (a->chain.always > cap)
        return PB_OK;
    pb_status status = pbi_block_ways_find(ctx, g, &a->chain, scratch, &ways);
    if (status == PB_OK)
        status = scale_work(scratch, &ways.numbers, &shift);
    pbi_block_budget budget = {.memory = cap - a->chain.always, .slots = a->slots, .limit = limit};
    if (status == PB_OK)
        status = solve(ctx, &ways.numbers, &budget, scratch, &plan, &min_work);
    a->slots = budget.slots;
    if (status != PB_OK || !plan.fits)
        return status;
    speller p = {g, &ways, pb_arena_zero(scratch, g->node_count, 1), &a->s};
    status = p.done ? spell(&p, &plan) : PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &a->s, NULL, &a->figures);
    a->excess = a->slots ? (plan.work - min_work) << shift : 0;
    a->found = status == PB_OK && a->figures.fits && !a->figures.overflow;
    return status;
}

static pb_status write_plan(pb_context *ctx, const pb_game *game, const attempt *best, pbi_plan *plan)
{
    const pbi_block_chain *c = &best->chain;
    char what[160], within[80] = "";
    pb_status status = pbi_sequence_emit(ctx, game, &best->s, plan, NULL);
    if (c->largest > 2)
        snprintf(what, sizeof what,
                 "a chain of %" PRIu32 " blocks with a forward and a backward pass, the largest of %" PRIu32 " nodes",
                 c->count, c->largest);
    else
        snprintf(what, sizeof what, "an adjoint chain of %" PRIu32 " steps", c->count);
    if (best->slots)
        snprintf(within, sizeof within, "; measuring memory in slots costs at most %.2g %%",
                 100.0 * (double)best->excess / ((double)best->figures.time + 1e-300));
    if (status == PB_OK)
        status = pbi_plan_note(plan, "the graph is %s%s", what, within);
    return status == PB_OK && best->slots ? pbi_plan_record_number(plan, "slots", best->slots) : status;
}

/* Small blocks lose if several of them should be treated as one, large ones if memory is scarce. */
static const uint32_t groups[] = {0, 1, 2, 3, 4, 6, 8, 12, 16};

enum { GROUPS = sizeof groups / sizeof *groups };

typedef struct search {
    pb_arena scratch[GROUPS];
    attempt tries[GROUPS], *best;
    uint32_t count; /* chains tried */
} search;

/* False when larger groups would change nothing. */
static bool try_next(pb_context *ctx, const pb_game *game, uint64_t limit, uint64_t slots, search *x, pb_status *status)
{
    uint32_t i = x->count++;
    attempt *a = &x->tries[i];
    *a = (attempt){.slots = slots};
    pb_arena_init(&x->scratch[i], ctx);
    pbi_sequence_init(&a->s, &x->scratch[i]);
    *status = pbi_block_chain_find(ctx, game->graph, groups[i], MAX_BLOCKS, &x->scratch[i], &a->chain);
    if (*status != PB_OK || !a->chain.count || (i && a->chain.count == x->tries[i - 1].chain.count))
        return false;
    if (!i && a->chain.count < 3 && a->chain.largest > LARGE) {
        a->chain.count = 0; /* treating it as a chain gained nothing */
        return false;
    }
    *status = plan_chain(ctx, game, limit, &x->scratch[i], a);
    if (*status == PB_OK && a->found && (!x->best || pbi_figures_better(game, &a->figures, &x->best->figures)))
        x->best = a;
    bool done = x->best && x->best->figures.time == game->graph->needed_cost; /* nothing is computed twice */
    return *status == PB_OK && !done;
}

static pb_status try_groups(pb_context *ctx, const pb_game *game, uint64_t limit, uint64_t slots, search *x)
{
    pb_status status = PB_OK;
    *x = (search){.count = 0};
    while (x->count < GROUPS && try_next(ctx, game, limit, slots, x, &status))
        pbi_progress(ctx, "chain", x->count, GROUPS);
    return (status == PB_ECANCELLED || status == PB_ELIMIT) && x->best ? PB_OK : status;
}

static void release(search *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        pb_arena_release(&x->scratch[i]);
}

pb_status pbi_blocks_sequence(pb_context *ctx, const pb_game *game, uint64_t limit, pbi_sequence *out)
{
    search x;
    pb_status status = try_groups(ctx, game, limit, UINT64_MAX, &x);
    for (size_t i = 0; x.best && i < x.best->s.count && status == PB_OK; i++)
        status = pbi_sequence_add(out, x.best->s.event[i]);
    release(&x);
    return status == PB_ENOMEM && ctx->memory_limit ? PB_ELIMIT : status; /* the caller has other starts */
}

pb_status pbi_blocks_plan_graph(pb_context *ctx, const pb_game *game, uint64_t limit, uint64_t slots, pbi_plan *plan,
                                uint32_t *blocks)
{
    search x;
    pb_status status = try_groups(ctx, game, limit, slots, &x);
    *blocks = x.count ? x.tries[0].chain.count : 0;
    if (status == PB_OK && x.best)
        status = write_plan(ctx, game, x.best, plan);
    else if (status == PB_OK && x.tries[0].chain.count)
        status = pbi_plan_give_up(plan, "does not fit: no plan reverses its %" PRIu32 " blocks under the cap",
                                  x.tries[0].chain.count);
    else if (status == PB_OK)
        status = pbi_plan_give_up(plan, "does not apply: %s", x.tries[0].chain.why);
    release(&x);
    return status;
}
