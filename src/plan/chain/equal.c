/* equal.c -- adjoint chains of equal steps, exactly, with or without slow memory.
 *
 * A dynamic program over segments. A segment is reversed from its left end: run some steps, keep the value reached
 * in fast memory or store it, reverse the part behind it, then the part before it. docs/proofs/chain.md has the
 * proof that the least cost of all plans is among these. Memory is counted in numbers of values: see the header.
 *
 * A tier with a cap needs a table for each number of values in it. So the caps are ignored at first: if the plan
 * stays within them anyway, it is also the best one with caps. Else its cost is a bound for the plan with caps.
 */
#include "plan/chain/equal.h"

#include "base/context.h"
#include "game/price.h"

#include <inttypes.h>
#include <string.h>

#define NEVER PBI_EQUAL_NEVER
#define MAX_ENTRIES (UINT64_C(1) << 28) /* of all tables: 2 GiB */

/* Is tier a never worse than tier b, whatever is stored there? */
static bool dominates(const pbi_equal_tier *a, const pbi_equal_tier *b)
{
    return a->slots == UINT32_MAX && a->store <= b->store && a->load <= b->load &&
           (a->store < b->store || a->load < b->load || b->slots != UINT32_MAX || a->number < b->number);
}

/* The useful tiers: with prices in range, room for a value, and not dominated by another. */
static void set_tiers(pbi_equal *t, const pb_game *game)
{
    pbi_equal_tier all[PB_MAX_TIERS];
    uint32_t count = 0;
    for (uint32_t i = 0; game->kind == PB_GAME_TIERED && i < game->tier_count; i++) {
        const pb_tier *tier = &game->tiers[i];
        uint64_t size = t->c.step_size, slots = tier->cap / size;
        pbi_equal_tier *at = &all[count];
        *at = (pbi_equal_tier){.number = (uint8_t)(i + 1)};
        at->store = pbi_store_price(tier, size);
        at->load = pbi_load_price(tier, size);
        at->slots = slots >= t->c.steps ? UINT32_MAX : (uint32_t)slots; /* x_n is never stored */
        at->serves_right = t->c.reads_output && at->load < t->c.step_cost;
        count += slots && at->store < NEVER / 4 && at->load < NEVER / 4;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool useless = false;
        for (uint32_t j = 0; j < count; j++)
            useless = useless || dominates(&all[j], &all[i]);
        if (!useless)
            t->tiers[t->tier_count++] = all[i];
    }
}

/* Which rows exist, and how tiers with caps are counted. */
static void set_rows(pbi_equal *t)
{
    bool kinds[PBI_RIGHT_KINDS] = {[PBI_RIGHT_BARE] = true}, lefts[PBI_LEFT_KINDS] = {[PBI_LEFT_HELD] = true};
    kinds[PBI_RIGHT_FIRST] = t->c.grad_size > 0;
    kinds[PBI_RIGHT_HELD] = t->c.reads_output;
    uint64_t layers = 1;
    t->sorted = true;
    for (uint32_t i = 0; i < t->tier_count; i++) {
        pbi_equal_tier *tier = &t->tiers[i];
        t->sorted = t->sorted && !tier->serves_right;
        bool capped = tier->slots != UINT32_MAX;
        bool *copied = &lefts[PBI_LEFT_COPIED + 4 * i];
        kinds[PBI_RIGHT_AWAY + 2 * i] = kinds[PBI_RIGHT_BOTH + 2 * i] = tier->serves_right;
        copied[0] = copied[1] = capped || !tier->serves_right;
        copied[2] = copied[3] = tier->serves_right;
        tier->stride = capped ? (uint32_t)layers : 0;
        layers *= capped ? (uint64_t)tier->slots + 1 : 1;
        layers = layers < UINT32_MAX ? layers : UINT32_MAX;
    }
    t->layers = (uint32_t)layers;
    t->held_rows = t->slow_rows = 0;
    for (uint32_t left = 0; left < PBI_LEFT_KINDS; left++)
        for (uint32_t kind = 0; kind < PBI_RIGHT_KINDS; kind++) {
            uint32_t *rows = t->sorted && left == PBI_LEFT_HELD ? &t->held_rows : &t->slow_rows;
            t->row[left][kind] = lefts[left] && kinds[kind] ? (int16_t)(*rows)++ : -1;
        }
    t->held_rows = t->sorted ? t->held_rows : t->slow_rows;
    t->origin = t->tier_count && t->c.step_inplace;
}

/* Fills in the prices and the room; false when the numbers are out of range for this method. */
static bool set_up(pbi_equal *t, const pb_game *game)
{
    const pbi_chain *c = &t->c;
    uint64_t cap = game->cap < game->graph->total_size ? game->cap : game->graph->total_size;
    t->room = cap - game->graph->fixed_size; /* the start fits: the pipeline has checked */
    uint64_t max_held = t->room / c->step_size;
    t->max_held = max_held < c->steps ? (uint32_t)max_held : c->steps;
    t->max_held = t->max_held ? t->max_held : 1;
    set_tiers(t, game);
    double n = c->steps, price = (double)c->step_cost + 1;
    for (uint32_t i = 0; i < t->tier_count; i++)
        price += (double)t->tiers[i].store + (double)t->tiers[i].load;
    return n * n * price < (double)NEVER / 4;
}

static double entries(const pbi_equal *t)
{
    double h = t->max_held, n = t->c.steps, layers = t->layers;
    double held = (h * (n + 2) - h * (h - 1) / 2) * t->held_rows * (t->sorted ? 1 : layers);
    return held + (t->tier_count ? (n + 1) * (1 + t->origin) * t->slow_rows * layers : 0);
}

static bool is_small(const pbi_equal *t) { return entries(t) <= (double)t->limit && entries(t) <= (double)MAX_ENTRIES; }

/* Makes the tables smaller: uses fewer slots of a tier than it has, or fewer tiers. False: cannot shrink further. */
static bool shrink(pbi_equal *t)
{
    uint32_t largest = UINT32_MAX;
    for (uint32_t i = 0; i < t->tier_count; i++)
        if (t->tiers[i].slots != UINT32_MAX && t->tiers[i].slots > 1 &&
            (largest == UINT32_MAX || t->tiers[i].slots > t->tiers[largest].slots))
            largest = i;
    if (largest != UINT32_MAX)
        t->tiers[largest].slots = (uint32_t)((uint64_t)t->tiers[largest].slots * 7 / 8);
    else if (t->tier_count > 1)
        t->tier_count--;
    else
        return false;
    set_rows(t);
    return true;
}

/* Is the least cost of the tables without caps the least of all plans, under this game's weights? The tables never move
 * a gradient to slow memory, and keep a value in one tier only. See docs/proofs/chain.md. */
static bool is_proved(const pbi_equal *t, const pb_game *game)
{
    if (game->weights.alpha || game->weights.beta)
        return false;
    if (game->kind != PB_GAME_TIERED || !game->tier_count)
        return true;
    if (t->tier_count != 1 || game->tier_count != 1)
        return false;
    const pb_tier *tier = &game->tiers[0];
    /* a move has one price */
    bool alike = !tier->store_per_unit && !tier->load_per_unit && !tier->store_bandwidth && !tier->load_bandwidth;
    return t->c.grad_size == 0 || t->c.grad_size == t->c.step_size || (t->c.grad_size < t->c.step_size && alike);
}

/* Do the moves stay within the caps of the tiers? */
static bool keeps_caps(const pb_game *game, const pb_moves *moves)
{
    uint64_t used[PB_MAX_TIERS] = {0};
    for (pb_step k = 0; k < moves->count; k++) {
        const pb_move *move = &moves->move[k];
        if (move->op != PB_STORE && move->op != PB_DROP)
            continue;
        uint32_t i = move->tier - 1u;
        used[i] += move->op == PB_STORE ? game->graph->size[move->node] : 0;
        used[i] -= move->op == PB_DROP ? game->graph->size[move->node] : 0;
        if (used[i] > game->tiers[i].cap)
            return false;
    }
    return true;
}

static pb_status give_up_size(const pbi_equal *t, pbi_plan *plan)
{
    return pbi_plan_give_up(plan,
                            "does not apply: %" PRIu32 " steps with %" PRIu32
                            " values in memory exceed its limit; raise its option limit",
                            t->c.steps, t->max_held);
}

static pb_status give_up_cap(const pbi_equal *t, pbi_plan *plan)
{
    return pbi_plan_give_up(plan, "does not fit: no plan reverses %" PRIu32 " steps under the cap", t->c.steps);
}

typedef enum attempt { SETTLED, PASSES_CAPS, PASSES_LIMIT } attempt;

/* The least cost of the chain in another game; NEVER when there is none. */
static pb_status cost_in(const pbi_equal *like, const pb_game *game, uint64_t *cost)
{
    pb_arena scratch;
    uint32_t left, held, layer;
    pbi_equal t = {.ctx = like->ctx, .c = like->c, .limit = like->limit};
    *cost = NEVER;
    if (!set_up(&t, game))
        return PB_OK;
    set_rows(&t);
    pb_arena_init(&scratch, t.ctx);
    pb_status status = is_small(&t) ? pbi_equal_fill(&t, &scratch) : PB_ELIMIT;
    if (status == PB_OK)
        *cost = pbi_equal_cost(&t, &left, &held, &layer);
    pb_arena_release(&scratch);
    return status;
}

/* If a load costs more than a step, the proof does not apply. With loads at the price of a step the tables are
 * exact: a plan that loads costs at least that, plus the difference for one load; a plan that does not load costs
 * what it does without slow memory. `gradients` is the work of the gradients, which is the same in all plans. */
static pb_status bound_expensive_loads(const pbi_equal *open, const pb_game *game, uint64_t gradients, pbi_plan *plan)
{
    uint64_t with, without = NEVER, step = open->c.step_cost;
    pb_game other = *game;
    other.tier_count = 1;
    other.tiers[0] = (pb_tier){.store_cost = open->tiers[0].store, .load_cost = step, .cap = PB_UNLIMITED};
    pb_status status = cost_in(open, &other, &with);
    other.kind = PB_GAME_REMAT;
    other.tier_count = 0;
    if (status == PB_OK)
        status = cost_in(open, &other, &without);
    if (status == PB_ELIMIT || status == PB_ECANCELLED)
        return PB_OK; /* there is a plan, but no bound */
    if (status != PB_OK || with >= NEVER)
        return status;
    uint64_t bound = pbi_add_saturated(with, open->tiers[0].load - step);
    bound = without < bound ? without : bound;
    plan->outcome = bound == open->cost ? PB_OPTIMAL : plan->outcome;
    plan->lower_bound = pbi_add_saturated(gradients, bound);
    return status;
}

/* Fills the tables and turns them into moves. */
static pb_status plan_tables(pbi_equal *t, const pb_game *game, bool proved, pbi_plan *plan, attempt *how)
{
    pb_arena scratch;
    pbi_sequence s;
    pbi_figures figures;
    uint32_t left, held, layer;
    bool settled = false;
    t->work = 0;
    *how = is_small(t) ? SETTLED : PASSES_LIMIT;
    if (*how == PASSES_LIMIT)
        return give_up_size(t, plan);
    pb_arena_init(&scratch, t->ctx);
    pbi_sequence_init(&s, &scratch);
    pb_status status = pbi_equal_fill(t, &scratch);
    if (status == PB_ELIMIT && t->work > t->limit) {
        *how = PASSES_LIMIT;
        status = give_up_size(t, plan);
    } else if (status == PB_OK && (t->cost = pbi_equal_cost(t, &left, &held, &layer)) >= NEVER) {
        status = give_up_cap(t, plan);
        plan->outcome = status == PB_OK && proved ? PB_INFEASIBLE : plan->outcome;
    } else if (status == PB_OK) {
        uint8_t *tier = pb_arena_zero(&scratch, game->graph->node_count, sizeof *tier);
        status = tier ? pbi_equal_walk(t, &scratch, tier, &s) : PB_ENOMEM;
        s.tier = t->tier_count ? tier : NULL;
        if (status == PB_OK)
            status = pbi_sequence_emit(t->ctx, game, &s, plan, &figures);
        if (status == PB_OK && !keeps_caps(game, &plan->moves))
            *how = PASSES_CAPS;
        settled = status == PB_OK && plan->outcome == PB_FOUND && proved;
    }
    pb_arena_release(&scratch);
    if (settled && t->tier_count && t->tiers[0].load > t->c.step_cost)
        return bound_expensive_loads(t, game, figures.time - t->cost, plan);
    plan->outcome = settled ? PB_OPTIMAL : plan->outcome;
    return status;
}

static pb_status plan_closed(pbi_equal *t, const pb_game *game, bool proved, pbi_plan *plan)
{
    bool possible = t->c.steps == 1 || t->max_held > 1;
    pb_status status = possible ? pbi_equal_closed(t, game->graph, plan) : give_up_cap(t, plan);
    if (status == PB_OK && proved && (!possible || plan->outcome == PB_FOUND))
        plan->outcome = possible ? PB_OPTIMAL : PB_INFEASIBLE;
    return status;
}

/* With the caps of the tiers, and with fewer slots than they have if the tables are too large. `bound` is the proved
 * cost without caps, or NEVER: nothing else is proved for these plans. */
static pb_status plan_capped(pbi_equal *t, const pb_game *game, uint64_t bound, pbi_plan *plan)
{
    bool more = true;
    attempt how = PASSES_LIMIT;
    pb_arena *arena = plan->arena;
    pb_status status = PB_OK;
    set_rows(t);
    while (status == PB_OK && how == PASSES_LIMIT && more) {
        while (!is_small(t) && more)
            more = shrink(t);
        pbi_plan_reset(plan, arena);
        status = plan_tables(t, game, false, plan, &how);
        more = more && how == PASSES_LIMIT && shrink(t);
    }
    if (status == PB_OK && plan->outcome == PB_FOUND && t->cost == bound)
        plan->outcome = PB_OPTIMAL;
    return status;
}

pb_status pbi_chain_equal_plan(pb_context *ctx, const pb_game *game, const pbi_chain *c, uint64_t limit, pbi_plan *plan)
{
    pbi_equal t = {.ctx = ctx, .c = *c, .limit = limit};
    bool capped = false;
    attempt how;
    if (!set_up(&t, game))
        return pbi_plan_give_up(plan, "does not apply: the sum of its costs exceeds 2^64; use a coarser cost unit");
    if (pbi_equal_is_closed(&t))
        return plan_closed(&t, game, is_proved(&t, game), plan);
    pbi_equal open = t;
    for (uint32_t i = 0; i < t.tier_count; i++) {
        capped = capped || t.tiers[i].slots != UINT32_MAX;
        open.tiers[i].slots = UINT32_MAX;
    }
    set_rows(&open);
    bool proved = is_proved(&open, game);
    pb_status status = plan_tables(&open, game, proved, plan, &how);
    if (status != PB_OK || how == SETTLED || !capped)
        return status;
    bool min = how == PASSES_CAPS && plan->outcome == PB_OPTIMAL;
    uint64_t bound = plan->lower_bound;
    status = plan_capped(&t, game, min ? open.cost : NEVER, plan);
    plan->lower_bound = bound;
    return status;
}
