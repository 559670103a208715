/* strategy_search.c -- anytime search over order and recomputation together.
 *
 * Problem     least work under the cap, for any graph of the remat game.
 * Idea        a schedule is its sequence of computations. Rounds of simulated annealing (method_anneal) start from the
 *             program as written, from the plan of the graph's chain of blocks where it has one, and from the best so
 *             far, hot and cool by turns. Where no plan within the cap is at hand the cap is lowered to it step by step.
 * Invariants  what is kept never gets worse; a stop keeps the best so far; equal seed and ticks, equal plan.
 * Cost        about a microsecond a proposal, thousands of proposals a node and round.
 * Source      Kirkpatrick et al.; on computation sequences first by FastSA (NeurIPS 2023); the moves are ours.
 * Limits      no proof by itself: `optimal` comes from the bound.
 */
#include "base/context.h"
#include "plan/method_anneal.h"
#include "plan/method_blocks_plan.h"
#include "plan/method_sequence.h"

#include <string.h>

enum {
    STALE = 4,         /* rounds without a better plan, after which it stops */
    STAGES = 60,       /* of lowering the cap */
    A_NODE = 2000,     /* proposals a round for each node, on graphs that are large enough */
    A_ROUND = 3000000, /* at most */
    MANY = 20000,      /* nodes: rounds do little, so there is a short one unless there is time */
    SHORT = 100000
};

typedef struct list {
    pb_node *node;
    uint32_t count;
    uint64_t work; /* UINT64_MAX: nothing there */
} list;

typedef struct search {
    pb_context *ctx;
    const pb_game *game;
    pb_arena *arena;
    pbi_anneal a;
    list written, blocks, given, best;
    uint64_t proposals;  /* a round */
    bool patient, brief; /* go on as long as one may; one short round */
    uint64_t enough;
} search;

static void note_best(search *s)
{
    if (s->a.best_work >= s->best.work || s->a.best_work == UINT64_MAX)
        return;
    memcpy(s->best.node, s->a.best, s->a.best_count * sizeof *s->best.node);
    s->best.count = s->a.best_count;
    s->best.work = s->a.best_work;
}

static pb_status round_from(search *s, const list *from, uint64_t cap, double hot, double cold, uint64_t proposals)
{
    if (!pbi_anneal_start(&s->a, from->node, from->count, cap))
        return PB_ENOMEM;
    pb_status status = pbi_anneal_run(&s->a, proposals, hot, cold, cap == s->game->cap ? s->enough : 0);
    if (cap <= s->game->cap)
        note_best(s);
    return status;
}

static list empty_list(search *s)
{
    return (list){pb_arena_alloc(s->arena, s->a.best_room, sizeof(pb_node)), 0, UINT64_MAX};
}

/* The computations of a plan, if there are no loads among its moves. */
static void take_moves(const pb_graph *g, const pb_moves *moves, uint32_t room, list *out)
{
    out->count = 0;
    for (uint64_t i = 0; i < moves->count; i++) {
        const pb_move *m = &moves->move[i];
        if (m->op == PB_LOAD || (m->op == PB_COMPUTE && out->count + 2 >= room)) {
            out->count = 0;
            return;
        }
        if (m->op == PB_COMPUTE && (g->flags[m->node] & PB_NODE_NEEDED))
            out->node[out->count++] = m->node;
    }
}

static pb_status find_starts(search *s, const pb_moves *start)
{
    const pb_graph *g = s->game->graph;
    s->written = empty_list(s);
    s->given = empty_list(s);
    s->blocks = empty_list(s);
    s->best = empty_list(s);
    if (!s->written.node || !s->blocks.node || !s->given.node || !s->best.node)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            s->written.node[s->written.count++] = g->order[i];
    s->written.work = g->needed_cost;
    if (start)
        take_moves(g, start, s->a.best_room, &s->given);
    pbi_sequence sequence;
    pbi_sequence_init(&sequence, s->arena);
    pb_status status = pbi_blocks_sequence(s->ctx, s->game, 100000000, &sequence);
    if (status == PB_ENOMEM || status == PB_ECANCELLED)
        return status;
    if (status != PB_OK || !sequence.count || sequence.count + 2 >= s->a.best_room)
        return PB_OK; /* no start of this kind */
    memcpy(s->blocks.node, sequence.event, sequence.count * sizeof *s->blocks.node);
    s->blocks.count = (uint32_t)sequence.count;
    s->blocks.work = 0;
    return PB_OK;
}

/* Lowers the cap from what the plan at hand needs to what is allowed, each time from the last plan that fitted. */
static pb_status lower(search *s)
{
    list now = empty_list(s);
    pb_status status = PB_OK;
    if (!now.node || !pbi_anneal_start(&s->a, s->written.node, s->written.count, PB_UNLIMITED))
        return PB_ENOMEM;
    uint64_t peak = pbi_timeline_peak(&s->a.t), step = 32;
    memcpy(now.node, s->written.node, s->written.count * sizeof *now.node);
    now.count = s->written.count;
    for (int stage = 0; stage < STAGES && status == PB_OK && peak > s->game->cap; stage++) {
        uint64_t cap = peak - peak / step - 1;
        cap = cap > s->game->cap ? cap : s->game->cap;
        status = round_from(s, &now, cap, 2, 0.02, s->proposals / 4);
        if (s->a.best_work == UINT64_MAX) {
            step *= 2; /* too far in one step */
            if (step > 1024)
                break;
            continue;
        }
        memcpy(now.node, s->a.best, s->a.best_count * sizeof *now.node);
        now.count = s->a.best_count;
        if (!pbi_anneal_start(&s->a, now.node, now.count, cap))
            return PB_ENOMEM;
        peak = pbi_timeline_peak(&s->a.t);
        pbi_progress(s->ctx, "search", (uint64_t)stage, STAGES);
    }
    return status;
}

static pb_status all_rounds(search *s)
{
    static const double hot[] = {1, 6, 0.3, 2, 12, 0.1, 4};
    enum { HOTS = sizeof hot / sizeof *hot };
    pb_status status = PB_OK;
    if (s->given.count)
        status = round_from(s, &s->given, s->game->cap, 0.1, 0.001, s->proposals);
    if (s->blocks.count && status == PB_OK && s->best.work > s->enough)
        status = round_from(s, &s->blocks, s->game->cap, 0.1, 0.001, s->proposals);
    uint32_t stale = 0, most = !s->brief ? STALE : s->best.work == UINT64_MAX;
    for (uint32_t n = 0; (s->patient || stale < most) && status == PB_OK && s->best.work > s->enough; n++) {
        uint64_t before = s->best.work;
        bool fresh = s->best.work == UINT64_MAX || n % 2 == 0;
        status = round_from(s, fresh ? &s->written : &s->best, s->game->cap, hot[n % HOTS], 0.002, s->proposals);
        if (n == 1 && s->best.work == UINT64_MAX && status == PB_OK)
            status = lower(s);
        stale = s->best.work < before ? 0 : stale + 1;
        pbi_progress(s->ctx, "search", n + 1, 0);
    }
    return status;
}

static pb_status write_plan(search *s, pbi_plan *plan)
{
    pbi_sequence sequence;
    pbi_sequence_init(&sequence, s->arena);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < s->best.count && status == PB_OK; i++)
        status = pbi_sequence_add(&sequence, s->best.node[i]);
    return status == PB_OK ? pbi_sequence_emit(s->ctx, s->game, &sequence, plan, NULL) : status;
}

static bool given_slow(const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return true;
    return false;
}

pb_status pbi_plan_search(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint64_t nodes = game->graph->needed_count;
    if (game->graph->needed_cost > UINT64_MAX / 8)
        return pbi_plan_give_up(plan, "does not apply: its work is too near to 2^64");
    if (given_slow(game->graph))
        return pbi_plan_give_up(plan, "does not apply: a value is given in slow memory");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    search s = {
        .ctx = ctx, .game = game, .arena = &scratch, .enough = options->bounds->makespan, .patient = options->patient};
    uint64_t each = 100 + 10 * nodes;
    s.proposals = nodes * (each < A_NODE ? each : A_NODE);
    s.brief = nodes > MANY && !options->patient;
    s.proposals = s.brief ? SHORT : s.proposals < A_ROUND ? s.proposals : A_ROUND;
    pb_status status =
        pbi_anneal_init(&s.a, ctx, game, options->seed, &scratch) ? find_starts(&s, options->start) : PB_ENOMEM;
    if (status == PB_OK)
        status = all_rounds(&s);
    if (s.best.work != UINT64_MAX && (status == PB_OK || status == PB_ECANCELLED || status == PB_ELIMIT)) {
        pbi_held held = pbi_hold(ctx);
        status = write_plan(&s, plan);
        pbi_resume(ctx, held);
    } else if (status == PB_OK) {
        status = pbi_plan_give_up(plan, "limit hit: no plan within the cap was found");
    }
    pb_arena_release(&scratch);
    return status;
}
