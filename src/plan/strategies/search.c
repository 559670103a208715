/* search.c -- anytime search over order and recomputation together.
 *
 * Problem     least cost under the cap, for any graph: what is computed or loaded when.
 * Idea        a schedule is its sequence of computations and loads. Rounds of simulated annealing (anneal/anneal)
 *             start from a known plan, from the plan of the graph's chain of blocks if it has one, from program order
 *             and from the best so far, hot and cool by turns. If no plan within the cap is known, the cap is lowered
 *             to it step by step. If the peak has a weight, smaller caps are tried too. If there is slow memory,
 *             plans with loads alone are starts for those with both, and so is the best plan of the same search in
 *             fast memory alone: that search runs alongside, and gets most of the time while loads do not pay.
 *             Threads run rounds in parallel and share the best after each. A new best plan is polished: stretches of
 *             it are solved exactly (statespace/stretch).
 * Invariants  the best plan never gets worse; a stop keeps the best so far; equal seed, ticks and threads, equal
 *             plan.
 * Cost        about a microsecond a proposal, thousands of proposals a node and round.
 * Source      Kirkpatrick et al.; on computation sequences first by FastSA (NeurIPS 2023); the moves are ours.
 * Limits      no proof of its own: `optimal` comes from the bound. Slow tiers with a cap of their own are not used.
 */
#include "plan/reversible/anneal/search.h"
#include "base/context.h"
#include "plan/anneal/rounds.h"
#include "plan/blocks/plan.h"
#include "plan/statespace/stretch.h"

#include <math.h>
#include <string.h>

enum {
    STALE = 4,         /* it stops after this many rounds without a better plan, */
    SOONEST = 400000,  /* but not before this many ticks: rounds of small graphs are short */
    A_NODE = 2000,     /* proposals of a round for each node, */
    A_ROUND = 3000000, /* and at most in all */
    A_STAGE = 300000,  /* proposals that are worth their time at each stage of lowering the cap */
    MANY = 20000,      /* nodes above which rounds improve little: there is one short round unless time remains */
    SHORT = 100000,    /* proposals of such a round */
    STRETCH = 48,      /* events that are solved exactly at a time, */
    A_STRETCH = 4000,  /* with at most this many states */
    FEW = 40           /* nodes up to which lowering the cap is quick, and is tried even if a plan is known */
};

typedef struct search {
    pb_context *ctx;
    const pb_game *game;
    pb_arena *arena;
    pbi_rounds rounds;
    pbi_events program_order, blocks, given;
    bool patient, brief; /* continue as long as allowed; run one short round only */
    uint32_t turn;       /* rounds so far */
    /* The same search without slow memory or, in a game without it, without recipes; NULL if the game has neither. */
    struct search *plain;
} search;

/* The events of a plan, unless it has loads or recipes and this search cannot use them. */
static void read_moves(search *s, const pb_moves *moves, pbi_events *out)
{
    const pb_graph *g = s->game->graph;
    bool recipes = s->rounds.worker[0].a.t.events.recipes;
    for (uint64_t i = 0; i < moves->count; i++) {
        const pb_move *m = &moves->move[i];
        bool load = m->op == PB_LOAD, compute = m->op == PB_COMPUTE && (g->flags[m->node] & PB_NODE_NEEDED);
        if (!load && !compute)
            continue;
        if ((load && !s->rounds.loads) || (m->by && !recipes) || out->count + 2 >= s->rounds.room) {
            out->count = 0;
            return;
        }
        out->event[out->count++] = load ? m->node | PBI_LOAD_EVENT : pbi_event_of(g, m->node, m->by);
    }
}

static pb_status plan_blocks(search *s)
{
    pbi_sequence sequence;
    pbi_sequence_init(&sequence, s->arena);
    pb_status status = pbi_blocks_sequence(s->ctx, s->game, 100000000, &sequence);
    if (status == PB_ENOMEM || status == PB_ECANCELLED)
        return status;
    if (status != PB_OK || !sequence.count || sequence.count + 2 >= s->rounds.room)
        return PB_OK; /* no start of this kind */
    memcpy(s->blocks.event, sequence.event, sequence.count * sizeof *s->blocks.event);
    s->blocks.count = (uint32_t)sequence.count;
    return PB_OK;
}

static pb_status find_starts(search *s, const pb_moves *start)
{
    const pb_graph *g = s->game->graph;
    if (!pbi_events_init(&s->program_order, s->arena, s->rounds.room) ||
        !pbi_events_init(&s->blocks, s->arena, s->rounds.room) || !pbi_events_init(&s->given, s->arena, s->rounds.room))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            s->program_order.event[s->program_order.count++] = g->order[i];
    if (start)
        read_moves(s, start, &s->given);
    return plan_blocks(s);
}

/* Does a round take a large part of the available time? */
static bool is_long(const search *s) { return s->rounds.proposals > 2 * A_STAGE; }

/* Lowers the cap in steps: no plan within the cap is known, and a round at the full cap found none. */
static void choose_lowering(const search *s, uint32_t attempt, pbi_round *round)
{
    static const double hot[] = {6, 2, 6, 4}, more[] = {1, 1, 2.5, 1};
    static const pbi_use use[] = {PBI_USE_REPEATS, PBI_USE_BOTH, PBI_USE_LOADS};
    enum { WAYS = sizeof hot / sizeof *hot };
    uint64_t all = s->rounds.proposals, few = all < A_STAGE ? all : A_STAGE, each = all / 4 > few ? all / 4 : few;
    round->lower = true;
    round->near = attempt % 2 == 0;
    round->use = s->rounds.loads ? use[attempt % 3] : PBI_USE_BOTH;
    round->hot = hot[attempt % WAYS];
    round->cold = 0.02;
    round->proposals = (uint64_t)((double)each * more[attempt % WAYS]);
}

/* Does the best plan use what the search without it has not: loads, or recipes? */
static bool has_extras(const search *s)
{
    const pbi_events *plan = &s->rounds.best;
    for (uint32_t i = 0; i < plan->count; i++)
        if (s->rounds.loads ? pbi_event_is_load(plan->event[i]) : plan->event[i] >= s->game->graph->node_count)
            return true;
    return false;
}

/* The next rounds, one for each thread: where to start, and how hot. */
static void choose_rounds(search *s, uint32_t n, pbi_round *round)
{
    static const double fresh_hot[] = {1, 1, 3, 0.3, 6, 12, 0.1}, best_hot[] = {0.3, 0.1, 1, 0.03, 3};
    enum { FRESH = sizeof fresh_hot / sizeof *fresh_hot, BEST = sizeof best_hot / sizeof *best_hot };
    const pbi_events *best = &s->rounds.best;
    bool none = best->count == 0, fresh = none || n % 2 == 0;
    *round = (pbi_round){.from = fresh ? &s->program_order : best,
                         .cap = s->game->cap,
                         .hot = fresh ? fresh_hot[n / (none ? 1 : 2) % FRESH] : best_hot[n / 2 % BEST],
                         .cold = 0.002,
                         .proposals = s->rounds.proposals,
                         .use = PBI_USE_BOTH};
    /* Long chains of recomputations pay under tight caps only. */
    round->further = none ? 2 : 4;
    if (s->plain && fresh && s->rounds.loads) /* plans with loads alone; `plain` has those without */
        round->use = PBI_USE_LOADS;
    if (none && n == 0 && is_long(s))
        round->hot = 0.3; /* there is time for one hot round; cooler rounds from its result come next */
    if (none ? n > 0 : fresh && n % 4 == 2 && s->game->graph->needed_count <= FEW)
        choose_lowering(s, none ? n - 1 : n / 4, round);
    if (s->game->weights.alpha && !fresh)
        round->cap = pbi_rounds_other_cap(&s->rounds, n / 2);
}

static pb_status from_starts(search *s)
{
    const pbi_events *starts[] = {&s->given, &s->blocks};
    pb_status status = PB_OK;
    for (int i = 0; i < 2 && status == PB_OK && !pbi_rounds_enough(&s->rounds); i++) {
        pbi_round round = {.from = starts[i],
                           .cap = s->game->cap,
                           .hot = 0.1,
                           .cold = 0.001,
                           .proposals = s->rounds.proposals,
                           .further = 4,
                           .use = PBI_USE_BOTH};
        if (starts[i]->count)
            status = pbi_rounds_run(&s->rounds, &round, 1);
    }
    return status;
}

/* Does the plan fit, with the frees that follow from its order? */
static pb_status check_fits(search *s, const pbi_stretch_plan *plan, pb_arena *scratch, bool *fits)
{
    pbi_sequence sequence;
    pbi_figures figures;
    pb_status status = PB_OK;
    pbi_sequence_init(&sequence, scratch);
    for (uint32_t i = 0; i < plan->count && status == PB_OK; i++)
        status = pbi_event_add(&s->rounds.worker[0].a.t.events, plan->event[i], &sequence);
    if (status == PB_OK)
        status = pbi_sequence_emit(s->ctx, s->game, &sequence, NULL, &figures);
    *fits = status == PB_OK && figures.fits && !figures.overflow;
    return status;
}

/* Solves stretches of the plan exactly, one after the other; the moves around each stretch do not change. */
static pb_status solve_stretches(search *s, pbi_stretch_plan *plan, pb_arena *scratch, uint64_t *spared)
{
    pbi_stretches all;
    uint64_t begun = s->ctx->ticks, max = s->rounds.proposals / 8, saved;
    pb_status status = pbi_stretch_init(&all, s->ctx, s->game, &s->rounds.worker[0].a.t.events, scratch);
    *spared = 0;
    for (uint32_t at = 0; at < plan->count && status == PB_OK && s->ctx->ticks - begun < max; at += STRETCH / 2) {
        status = pbi_stretch_try(&all, plan, at, STRETCH, A_STRETCH, &saved);
        *spared += saved;
    }
    pbi_stretch_close(&all);
    return status;
}

static pb_status polish(search *s)
{
    pbi_rounds *r = &s->rounds;
    pbi_stretch_plan plan = {.count = r->best.count, .room = r->room};
    pb_arena scratch;
    uint64_t spared;
    bool fits;
    pb_arena_init(&scratch, s->ctx);
    plan.event = pb_arena_alloc(&scratch, r->room, sizeof *plan.event);
    pb_status status = plan.event ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        memcpy(plan.event, r->best.event, plan.count * sizeof *plan.event);
        status = solve_stretches(s, &plan, &scratch, &spared);
        if (status == PB_OK && spared && check_fits(s, &plan, &scratch, &fits) == PB_OK && fits) {
            memcpy(r->best.event, plan.event, plan.count * sizeof *plan.event);
            r->best.count = plan.count;
            r->best_cost -= r->worker[0].a.gamma * (double)spared;
        }
    }
    pb_arena_release(&scratch);
    return status;
}

/* Runs the next rounds in parallel. */
static pb_status run_next(search *s)
{
    pbi_round round[PBI_MAX_THREADS];
    uint32_t threads = s->rounds.threads;
    double before = s->rounds.best_cost;
    for (uint32_t k = 0; k < threads; k++)
        choose_rounds(s, s->turn + k, &round[k]);
    s->turn += threads;
    pb_status status = pbi_rounds_run(&s->rounds, round, threads);
    if (s->rounds.best_cost < before && status == PB_OK && pbi_stretch_apply(s->game))
        status = polish(s);
    return status;
}

/* Is it the turn of the search without loads or recipes? For every other fresh start, and nearly always while they do
 * not pay. */
static bool is_plain_turn(const search *s)
{
    uint32_t n = s->turn / s->rounds.threads, first = s->rounds.loads ? 0 : 1;
    return s->plain && (n % 4 == first || (s->rounds.best.count && n > 3 && n % 16 != 7 && !has_extras(s)));
}

static void adopt_plain_best(search *s)
{
    const pbi_rounds *plain = &s->plain->rounds;
    pbi_rounds *r = &s->rounds;
    if (!(plain->best_cost < r->best_cost) || plain->best.count > r->room)
        return;
    memcpy(r->best.event, plain->best.event, plain->best.count * sizeof *r->best.event);
    r->best.count = plain->best.count;
    r->best_cost = plain->best_cost;
    r->best_peak = plain->best_peak;
}

static pb_status run_plain(search *s)
{
    pb_status status = PB_OK;
    if (s->plain->turn == 0)
        status = from_starts(s->plain);
    if (status == PB_OK)
        status = run_next(s->plain);
    s->turn += s->rounds.threads;
    adopt_plain_best(s);
    return status;
}

static pb_status all_rounds(search *s)
{
    pb_status status = from_starts(s);
    uint32_t stale = 0, max = !s->brief ? STALE : s->rounds.best.count == 0, threads = s->rounds.threads;
    uint64_t begun = s->ctx->ticks, min = s->brief ? 0 : SOONEST;
    if (s->game->weights.alpha || s->plain) { /* there is more to try */
        max *= 3;
        min *= 2;
    }
    while (status == PB_OK && !pbi_rounds_enough(&s->rounds)) {
        if (!s->patient && stale >= max && s->ctx->ticks - begun >= min)
            break;
        double before = s->rounds.best_cost;
        status = is_plain_turn(s) ? run_plain(s) : run_next(s);
        stale = s->rounds.best_cost < before ? 0 : stale + threads;
        pbi_progress(s->ctx, "search", s->turn, 0);
    }
    return status;
}

static pb_status write_plan(search *s, pbi_plan *plan)
{
    pbi_sequence sequence;
    pbi_sequence_init(&sequence, s->arena);
    const pbi_events *best = &s->rounds.best;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < best->count && status == PB_OK; i++) {
        status = pbi_event_add(&s->rounds.worker[0].a.t.events, best->event[i], &sequence);
        if (best->event[i] & PBI_LOAD_EVENT)
            sequence.tier = s->rounds.worker[0].a.t.tier;
    }
    return status == PB_OK ? pbi_sequence_emit(s->ctx, s->game, &sequence, plan, NULL) : status;
}

static bool given_slow(const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return true;
    return false;
}

static pb_status init_search(search *s, const pbi_plan_options *options, const pb_moves *start)
{
    uint64_t nodes = s->game->graph->needed_count, each = 100 + 10 * nodes,
             all = nodes * (each < A_NODE ? each : A_NODE);
    s->patient = options->patient;
    s->brief = nodes > MANY && !options->patient;
    all = s->brief ? SHORT : all < A_ROUND ? all : A_ROUND;
    pb_status status = pbi_rounds_init(&s->rounds, s->ctx, s->game, options, all, s->arena);
    return status == PB_OK ? find_starts(s, start) : status;
}

/* A plan in fast memory alone is a plan of this game too, and costs the same; so is a plan without recipes. */
static pb_status search_all(search *s, const pbi_plan_options *options)
{
    pb_game fast = *s->game;
    pb_graph own = *s->game->graph;
    search plain = {.ctx = s->ctx, .game = &fast, .arena = s->arena};
    fast.kind = PB_GAME_REMAT;
    fast.tier_count = 0;
    pb_status status = init_search(s, options, options->start);
    if (status == PB_OK && !s->rounds.loads) {
        own.recipe_start = NULL;
        own.recipe = NULL;
        fast.graph = &own;
    }
    if (status == PB_OK && (s->rounds.loads || s->rounds.worker[0].a.t.events.recipes)) {
        status = init_search(&plain, options, options->fast_start);
        s->plain = &plain;
    }
    if (status == PB_OK)
        status = all_rounds(s);
    if (s->plain) {
        adopt_plain_best(s); /* of a round that was stopped */
        pbi_rounds_close(&plain.rounds);
    }
    s->plain = NULL;
    return status;
}

pb_status pbi_plan_search(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    if (game->kind == PB_GAME_REVERSIBLE)
        return pbi_rev_search(ctx, game, options, plan);
    if (game->graph->needed_cost > UINT64_MAX / 8)
        return pbi_plan_give_up(plan, "does not apply: its work is too close to 2^64; use a coarser cost unit");
    if (given_slow(game->graph))
        return pbi_plan_give_up(plan, "does not apply: a given value starts in slow memory");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    search s = {.ctx = ctx, .game = game, .arena = &scratch};
    pb_status status = search_all(&s, options);
    if (s.rounds.best.count && (status == PB_OK || status == PB_ECANCELLED || status == PB_ELIMIT)) {
        pbi_held held = pbi_hold(ctx);
        status = write_plan(&s, plan);
        pbi_resume(ctx, held);
    } else if (status == PB_OK) {
        status = pbi_plan_give_up(plan, "limit hit: no plan that fits the cap was found; allow more time or ticks");
    }
    pbi_rounds_close(&s.rounds);
    pb_arena_release(&scratch);
    return status;
}
