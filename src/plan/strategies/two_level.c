/* two_level.c -- checkpoints at a fixed period, and binomial ones inside the current period.
 *
 * Problem     long adjoint runs whose number of periodic checkpoints is what slow memory, or a part of fast memory,
 *             holds.
 * Idea        every period-th value of the order is kept: in slow memory if there is any, else in fast memory. The
 *             periods are rebuilt backwards, each from its start; while one is rebuilt, some of its values are kept
 *             in slots, placed as binomial checkpointing places them.
 * Invariants  see sequence/window.h.
 * Cost        O(computations and their inputs) for each choice that is tried; some 2 log2(nodes) periods, with
 *             log2(period) numbers of slots each.
 * Source      Pringle, Jones, Goswami, Narayanan and Goldberg, ARCHER eCSE report, 2016; the
 *             TwoLevelCheckpointSchedule of tlm_adjoint and checkpoint_schedules. Aupy and Herrmann (2017) on
 *             periodic disk checkpoints.
 * Limits      costs and sizes are ignored when values are chosen; every period has the same number of slots.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/sequence/window.h"

#include <inttypes.h>

/* What can be chosen. As options, 0 and UINT32_MAX (inner) stand for auto. */
typedef struct choice {
    uint64_t period, inner, near;
} choice;

typedef struct trial {
    pb_arena arena;
    pbi_sequence s;
    pbi_figures f;
    choice made;
    bool fits;
} trial;

typedef struct search {
    pb_context *ctx;
    const pb_game *game;
    uint64_t limit;
    uint32_t turn;         /* see pbi_window_turn */
    const uint32_t *place; /* per node, in the order of needed nodes */
    trial best;
    uint32_t cut; /* choices that exceeded the limit */
} search;

enum {
    MAX_CUT = 16, /* choices above the limit after which the search stops */
    AROUND = 10   /* periods to try around the best */
};

/* The result of a choice decides what to try next as its number of slots. */
typedef enum result {
    FITS,
    TOO_LARGE, /* fewer slots may fit */
    TOO_LONG   /* the work is above the limit, or above that of the best plan: fewer slots mean even more */
} result;

/* Kept values that go to slow memory: all, as far as it has room. */
static pb_status mark_slow(const pb_game *game, pb_arena *arena, pbi_window *window)
{
    const pb_graph *g = game->graph;
    if (game->kind != PB_GAME_TIERED || !game->tier_count)
        return PB_OK;
    uint8_t *slow = pb_arena_zero(arena, g->node_count, sizeof *slow);
    if (!slow)
        return PB_ENOMEM;
    uint64_t room = game->tiers[0].cap;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            room -= room < g->size[v] ? room : g->size[v];
    for (pb_node v = 0; v < g->node_count; v++)
        if (window->kept[v] && g->size[v] <= room) {
            slow[v] = 1;
            room -= room == PB_UNLIMITED ? 0 : g->size[v];
        }
    window->slow = slow;
    return PB_OK;
}

static pb_status plan_choice(const search *r, const choice *c, pb_arena *arena, pbi_sequence *s)
{
    pbi_window window = {.limit = r->limit, .nested = true, .slots = (uint32_t)c->inner, .near = (uint32_t)c->near};
    pbi_sequence_init(s, arena);
    pb_status status = pbi_window_periodic(r->game, c->period, arena, &window);
    if (status == PB_OK)
        status = mark_slow(r->game, arena, &window);
    s->tier = (uint8_t *)window.slow; /* its marks, 0 and 1, are numbers of tiers as well */
    return status == PB_OK ? pbi_window_plan(r->ctx, r->game, &window, s) : status;
}

/* The work of a sequence, which need not fit the cap. */
static uint64_t work_of(const pb_graph *g, const pbi_sequence *s)
{
    uint64_t work = 0;
    for (size_t i = 0; i < s->count; i++)
        work = pbi_add_saturated(work, s->event[i] & PBI_LOAD_EVENT ? 0 : g->cost[s->event[i]]);
    return work;
}

/* Tries one choice and keeps it if it is the best so far. */
static pb_status try_choice(search *r, const choice *c, result *out)
{
    pb_context *ctx = r->ctx;
    trial now = {.made = *c, .fits = true};
    pb_arena_init(&now.arena, ctx);
    pb_status status = plan_choice(r, c, &now.arena, &now.s);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, r->game, &now.s, NULL, &now.f);
    *out = FITS;
    if (status == PB_OK && !now.f.fits) {
        const pb_weights *w = &r->game->weights;
        bool too_expensive = r->best.fits && !w->alpha && !w->beta && work_of(r->game->graph, &now.s) >= r->best.f.time;
        *out = too_expensive ? TOO_LONG : TOO_LARGE;
    }
    if (status == PB_ELIMIT && (!ctx->tick_limit || ctx->ticks <= ctx->tick_limit)) {
        status = PB_OK; /* too many computations with this choice: try another */
        *out = TOO_LONG;
        r->cut++;
    }
    bool better = status == PB_OK && *out == FITS && !now.f.overflow &&
                  (!r->best.fits || pbi_figures_better(r->game, &now.f, &r->best.f));
    trial worse = better ? r->best : now;
    if (better)
        r->best = now;
    if (worse.fits)
        pb_arena_release(&worse.arena);
    return status;
}

/* The largest number of slots that fits, because more slots mean less work. */
static pb_status search_inner(search *r, choice c)
{
    uint64_t low = 0, high = c.period; /* more than the length of a period are of no use */
    result got;
    c.inner = high;
    pb_status status = try_choice(r, &c, &got);
    if (got != TOO_LARGE)
        return status;
    while (status == PB_OK && low < high) {
        c.inner = low + (high - low) / 2;
        status = try_choice(r, &c, &got);
        if (got == TOO_LARGE)
            high = c.inner;
        else
            low = c.inner + 1;
    }
    return status;
}

static pb_status search_near(search *r, const choice *asked, uint64_t period)
{
    pb_status status = PB_OK;
    bool few = r->game->graph->shape == PB_SHAPE_ADJOINT_CHAIN || asked->inner != UINT32_MAX;
    uint64_t max = few ? 1 : 16; /* on a chain the next place is the only one */
    for (uint64_t near = 1; near <= max && (near == 1 || near < period) && status == PB_OK && r->cut < MAX_CUT;
         near *= 4) {
        choice c = {period, asked->inner, asked->near ? asked->near : near};
        result got;
        status = asked->inner == UINT32_MAX ? search_inner(r, c) : try_choice(r, &c, &got);
        if (asked->near)
            break;
    }
    return status;
}

static pb_status find_places(search *r, pb_arena *scratch)
{
    const pb_graph *g = r->game->graph;
    uint32_t *place = pb_arena_zero(scratch, g->node_count, sizeof *place), next = 0;
    if (!place)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            place[g->order[i]] = next++;
    r->place = place;
    return pbi_window_turn(r->ctx, g, &r->turn);
}

static bool is_read_after(const search *r, pb_node v, uint32_t place)
{
    const pb_graph *g = r->game->graph;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
        if ((g->flags[g->out[k]] & PB_NODE_NEEDED) && r->place[g->out[k]] > place)
            return true;
    return false;
}

/* Do the outer checkpoints in fast memory exceed the cap at the turn, whatever the number of slots? */
static bool is_hopeless(const search *r, uint64_t period)
{
    const pb_graph *g = r->game->graph;
    uint64_t held = g->fixed_size;
    if (r->game->kind == PB_GAME_TIERED && r->game->tier_count)
        return false;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        bool outer = (g->flags[v] & PB_NODE_NEEDED) && ((uint64_t)r->place[v] + 1) % period == 0;
        if (outer && r->place[v] + 1 < r->turn && is_read_after(r, v, r->turn))
            held = pbi_add_saturated(held, g->size[v]);
    }
    return held > r->game->cap;
}

static pb_status search_period(search *r, const choice *asked, uint64_t period)
{
    return is_hopeless(r, period) ? PB_OK : search_near(r, asked, period);
}

/* Tries periods 2, 3, 4, 6, 9, ... as long as two of them fit before the turn, then some around the best of them. */
static pb_status search_all(search *r, const choice *asked)
{
    pb_arena scratch;
    if (asked->period)
        return search_near(r, asked, asked->period);
    pb_arena_init(&scratch, r->ctx);
    pb_status status = find_places(r, &scratch);
    for (uint64_t period = 2; (period == 2 || 2 * period <= r->turn) && status == PB_OK; period += period / 2)
        status = search_period(r, asked, period);
    uint64_t best = r->best.made.period, low = best - best / 3, high = best + best / 2;
    for (uint64_t i = 1, last = best; i <= AROUND && status == PB_OK && r->best.fits; i++) {
        uint64_t period = low + (high - low) * i / (AROUND + 1);
        if (period != last && period != best && (period == 2 || 2 * period <= r->turn))
            status = search_period(r, asked, period);
        last = period;
    }
    pb_arena_release(&scratch);
    return status;
}

static pb_status conclude(search *r, const choice *asked, pb_status status, pbi_plan *plan)
{
    if (!r->best.fits && status == PB_OK)
        return r->cut ? pbi_plan_give_up(plan,
                                         "limit hit: every plan tried needs more than %" PRIu64
                                         " computations; raise its option limit",
                                         r->limit)
               : asked->period
                   ? pbi_plan_give_up(plan, "does not fit: a period of %" PRIu64 " exceeds the cap", asked->period)
                   : pbi_plan_give_up(plan, "does not fit: no period tried fits the cap");
    if (!r->best.fits)
        return status;
    pbi_held held = pbi_hold(r->ctx); /* also after a stop: write the best plan so far */
    status = pbi_sequence_emit(r->ctx, r->game, &r->best.s, plan, NULL);
    pbi_resume(r->ctx, held);
    pb_arena_release(&r->best.arena);
    if (status == PB_OK)
        status = pbi_plan_record_number(plan, "period", r->best.made.period);
    if (status == PB_OK)
        status = pbi_plan_record_number(plan, "inner", r->best.made.inner);
    if (status == PB_OK && r->best.made.near != 1)
        status = pbi_plan_record_number(plan, "near", r->best.made.near);
    return status;
}

pb_status pbi_plan_two_level(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    search r = {.ctx = ctx, .game = game};
    choice asked = {.inner = UINT32_MAX};
    pb_status status = pbi_option_number(ctx, options, "period", 1, UINT32_MAX, &asked.period);
    if (status == PB_OK)
        status = pbi_option_number(ctx, options, "inner", 0, UINT32_MAX - 1, &asked.inner);
    if (status == PB_OK)
        status = pbi_option_number(ctx, options, "near", 1, UINT32_MAX, &asked.near);
    if (status == PB_OK)
        status = pbi_option_computations(ctx, options, game->graph, &r.limit);
    if (status != PB_OK)
        return status;
    status = conclude(&r, &asked, search_all(&r, &asked), plan);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", r.limit) : status;
}
