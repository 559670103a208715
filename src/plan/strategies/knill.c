/* knill.c -- the least work on a chain, reversibly, within the cap.
 *
 * Problem     compute the end of a chain reversibly, leaving nothing else, with the fewest moves that the cap allows.
 * Idea        some place m is computed first and uncomputed last; in between, the end is computed from m: with k
 *             pebbles, F(n, k) = min over m of F(m, k) + F(n - m, k - 1) + F(m, k - 1). If all steps are alike, F is
 *             convex in n and comes from merging slopes; if they differ, every interval has its own front of work and
 *             memory.
 * Invariants  a part stays within the memory it is given; values before and behind it do not change meanwhile.
 * Cost        alike: O(moves), and next to nothing before. Different: O(n^3) times the points of a front, up to
 *             `effort`; beyond that the steps are treated as alike.
 * Source      Knill, "An analysis of Bennett's pebble game", 1995.
 * Limits      proved if all steps are alike and one node stays; with different costs no better plan is known. With
 *             different sizes it can pay to release a place in the middle of a part, which no cut describes; with
 *             several targets, to compute a later one first.
 */
#include "plan/reversible/line/best_cuts.h"

#include "base/context.h"

#include <inttypes.h>

/* Candidates of a search over the memory to use: past this many, steps between them grow. */
enum { CLOSE_CANDIDATES = 8 };

typedef struct planner {
    pb_context *ctx;
    const pb_game *game;
    const pbi_line *line;
    const pbi_best_cuts *k;
    uint64_t limit;
} planner;

static pb_status report_no_fit(const planner *p, pbi_plan *plan)
{
    const pbi_line *line = p->line;
    pb_status status;
    if (p->k->overflow)
        return pbi_fail(p->ctx, PB_ERANGE, "the work of every plan found exceeds 2^64; use a coarser cost unit");
    if (!p->k->exact && !p->k->intervals && !(line->equal_sizes && line->equal_costs))
        return pbi_plan_give_up(plan, "does not fit: if all steps are treated as the largest, the chain exceeds the "
                                      "cap; raise its option effort to treat them exactly");
    if (!p->k->exact)
        return pbi_plan_give_up(plan, "does not fit: no recursion over the chain fits the cap");
    if (line->size) {
        status = pbi_plan_give_up(
            plan, "a chain of %" PRIu32 " nodes needs %" PRIu32 " values in memory, and the cap has room for %" PRIu64,
            line->count, pbi_slopes_min_pebbles(line->count), line->budget / line->size);
    } else {
        status = pbi_plan_give_up(plan, "the cap has no room for the workspace of a step");
    }
    if (p->k->counts)
        plan->outcome = PB_INFEASIBLE;
    return status;
}

static pb_status measure(const planner *p, uint64_t memory, pbi_figures *figures, bool *plays)
{
    pb_arena scratch;
    pbi_reversible r;
    pb_arena_init(&scratch, p->ctx);
    pb_status status = pbi_reversible_init(&r, p->ctx, p->game, NULL, p->limit, &scratch);
    if (status == PB_OK)
        status = pbi_best_cuts_play(p->k, &r, memory, &scratch);
    pb_arena_release(&scratch);
    bool too_long = status == PB_ELIMIT && r.step > p->limit;
    *figures = r.f;
    *plays = status == PB_OK && !r.stuck && r.f.fits && !r.f.overflow;
    return too_long ? PB_OK : status;
}

/* Weights on peak or flux: using less than the cap may be better. The work saved by each further unit of memory
 * shrinks, so the candidates near the minimum are tried one by one. */
static pb_status choose_memory(const planner *p, uint64_t *memory)
{
    pbi_figures min = {0}, now;
    bool any = false, plays;
    uint64_t stride = 1, at = *memory;
    pb_status status = PB_OK;
    for (uint64_t seen = 0; at != UINT64_MAX && status == PB_OK; seen++) {
        uint64_t moves = pbi_best_cuts_moves(p->k, at);
        if (moves == UINT64_MAX || moves <= p->limit) {
            status = measure(p, at, &now, &plays);
            if (status == PB_OK && plays && (!any || pbi_figures_better(p->game, &now, &min))) {
                any = true;
                min = now;
                *memory = at;
            }
        }
        stride = seen < CLOSE_CANDIDATES ? 1 : stride + (stride + 1) / 2;
        for (uint64_t i = 0; i < stride && at != UINT64_MAX; i++)
            at = pbi_best_cuts_next_memory(p->k, at);
    }
    return status;
}

static pb_status play_cuts(const planner *p, uint64_t memory, pb_arena *scratch, pbi_plan *plan)
{
    const pb_weights *w = &p->game->weights;
    pbi_reversible r;
    uint64_t moves = pbi_best_cuts_moves(p->k, memory);
    if (moves != UINT64_MAX && moves > p->limit)
        return pbi_fail(p->ctx, PB_ELIMIT,
                        "limit hit: the plan has %" PRIu64 " moves, more than its limit of %" PRIu64
                        "; raise its option limit",
                        moves, p->limit);
    pb_status status = pbi_reversible_init(&r, p->ctx, p->game, plan, p->limit, scratch);
    if (status == PB_OK)
        status = pbi_best_cuts_play(p->k, &r, memory, scratch);
    if (status != PB_OK)
        return status;
    if (r.f.overflow)
        return pbi_fail(p->ctx, PB_ERANGE, "the work of the plan exceeds 2^64; use a coarser cost unit");
    pbi_reversible_finish(&r);
    if (plan->outcome == PB_FOUND && p->k->proved && !w->alpha && !w->beta)
        plan->outcome = PB_OPTIMAL;
    return PB_OK;
}

static pb_status plan_line(planner *p, uint64_t effort, pb_arena *scratch, pbi_plan *plan)
{
    pbi_best_cuts k;
    pb_status status = pbi_best_cuts_init(p->ctx, &k, p->line, effort, scratch);
    if (status != PB_OK)
        return status;
    p->k = &k;
    uint64_t memory = pbi_best_cuts_min_memory(&k);
    if (memory == UINT64_MAX)
        return report_no_fit(p, plan);
    if (p->game->weights.alpha || p->game->weights.beta)
        status = choose_memory(p, &memory);
    else
        memory = p->line->budget;
    return status == PB_OK ? play_cuts(p, memory, scratch, plan) : status;
}

pb_status pbi_plan_knill(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_line line;
    bool is_line;
    uint64_t effort = 100000000;
    planner p = {.ctx = ctx, .game = game, .line = &line};
    pb_status status = pbi_option_limit(ctx, options, game->graph, &p.limit);
    if (status == PB_OK)
        status = pbi_option_number(ctx, options, "effort", 1, UINT64_MAX, &effort);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_line_read(game, &scratch, plan, &line, &is_line);
    if (status == PB_OK && is_line) {
        if (line.count)
            status = plan_line(&p, effort, &scratch, plan);
        else
            plan->outcome = PB_FOUND;
    }
    pb_arena_release(&scratch);
    if (status == PB_OK && is_line)
        status = pbi_plan_record_number(plan, "limit", p.limit);
    return status == PB_OK && is_line ? pbi_plan_record_number(plan, "effort", effort) : status;
}
