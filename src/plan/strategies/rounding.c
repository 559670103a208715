/* rounding.c -- the relaxation of Checkmate's program, rounded.
 *
 * Problem     a plan near the least work in program order, when proving the least takes too long.
 * Idea        Checkmate's two phases. The program of milp/staged is solved for any numbers instead of whole ones;
 *             values are kept if their number is above a threshold; whatever is then read and not resident is
 *             computed. The rounded plan may exceed the cap, so the program is given less of it, in steps, until a
 *             plan fits.
 * Invariants  a rounded plan is legal except for its memory, which is counted exactly; a plan above the cap is
 *             dropped.
 * Cost        a linear program of about 9/2 entries for each stage and edge at each step.
 * Source      P. Jain et al., "Checkmate" (MLSys 2020), section 5.
 * Limits      the order is not changed; no bound on the distance from the least work.
 */
#include "base/context.h"
#include "plan/milp/staged.h"

#include <inttypes.h>
#include <math.h>

enum {
    POLL_TICKS = 15, /* ticks per row for a batch of simplex steps */
    FIRST = 6,       /* ticks per entry that the solution is likely to take */
    MAX_ENTRIES = 3000000,
    LARGE = 100000,           /* entries above which it takes more than that */
    DRAWS = 20,               /* random roundings */
    DEFAULT_TICKS = 10000000, /* ticks, if neither ticks nor time are limited */
};

typedef struct job {
    pb_context *ctx;
    const pb_game *game;
    pb_arena scratch;
    pbi_staged_best best;
    pbi_rng rng;
    uint64_t limit;  /* ticks, 0: none */
    uint64_t end_ns; /* of the time, 0: none */
    bool infeasible; /* not even the relaxation fits */
} job;

static pb_status round_all(job *w, const pbi_staged *m, const double *x)
{
    static const double thresholds[] = {0.5, 0.3, 0.7, 0.1, 0.9, 0.999, 0.001};
    enum { FIXED = sizeof thresholds / sizeof *thresholds };
    pbi_sequence s;
    bool fits;
    pb_status status = PB_OK;
    pbi_sequence_init(&s, m->arena);
    for (size_t i = 0; i < FIXED + DRAWS && status == PB_OK; i++) {
        status = pbi_staged_round(m, x, i < FIXED ? thresholds[i] : 0, i < FIXED ? NULL : &w->rng, &s);
        if (status == PB_OK)
            status = pbi_staged_consider(&w->best, &s, &fits);
    }
    return status;
}

static pb_status try_cap(job *w, double cap, pbi_program_end *end)
{
    pb_arena arena;
    pbi_staged m;
    pbi_program_answer answer = {.end = PBI_UNSOLVED};
    pb_arena_init(&arena, w->ctx);
    pb_status status = pbi_staged_init(&m, w->ctx, w->game, cap, &arena);
    if (status == PB_OK)
        status = pbi_staged_memory(w->ctx, &m);
    if (status == PB_OK) {
        uint64_t left = !w->limit ? 0 : w->ctx->ticks < w->limit ? w->limit - w->ctx->ticks : 1;
        pbi_program_limits limits = {HUGE_VAL, false, left, POLL_TICKS * (uint64_t)m.program.rows, w->end_ns, 0};
        status = pbi_program_relax(w->ctx, &m.program, &limits, &arena, &answer);
        w->ctx->ticks += answer.ticks <= left || !left ? answer.ticks : left;
    }
    if (status == PB_OK && answer.found)
        status = round_all(w, &m, answer.x);
    *end = answer.end;
    pb_arena_release(&arena);
    return status;
}

/* Tries smaller and smaller caps for the program: up to the first that gives a plan, and two more, because a smaller
 * cap may be rounded better. */
static pb_status all_caps(job *w, pbi_program_end *end)
{
    static const double less[] = {0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5};
    double fixed = (double)w->game->graph->fixed_size, room = (double)w->game->cap - fixed;
    uint32_t more = 0;
    pb_status status = PB_OK;
    for (size_t i = 0; i < sizeof less / sizeof *less && more < 3 && status == PB_OK; i++) {
        status = try_cap(w, fixed + room * (1 - less[i]), end);
        if (*end != PBI_SOLVED) {
            w->infeasible = i == 0 && *end == PBI_NO_ANSWER;
            break;
        }
        more += w->best.work != UINT64_MAX;
        pbi_progress(w->ctx, "lp-rounding", i + 1, sizeof less / sizeof *less);
    }
    return status;
}

static pb_status conclude(job *w, pbi_program_end end, pbi_plan *plan)
{
    if (w->best.work != UINT64_MAX) {
        pbi_held held = pbi_hold(w->ctx);
        pb_status status = pbi_sequence_emit(w->ctx, w->game, &w->best.sequence, plan, NULL);
        pbi_resume(w->ctx, held);
        return status;
    }
    if (w->infeasible)
        return pbi_plan_give_up(plan, "does not fit: no plan in stages over the program order fits the cap");
    if (end == PBI_STOPPED)
        return PB_ECANCELLED;
    if (end == PBI_OUT_OF_TICKS)
        return pbi_plan_give_up(plan, "limit hit: the linear program was not solved; allow more time or ticks");
    return pbi_plan_give_up(plan, end == PBI_UNSOLVED ? "the solver gave no answer"
                                                      : "does not fit: the rounded plan exceeds the cap");
}

pb_status pbi_plan_rounding(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    job w = {.ctx = ctx, .game = game, .rng = {options->seed}, .end_ns = options->end_ns};
    bool open;
    pbi_program_end end = PBI_SOLVED;
    if (!pb_solver_version())
        return pbi_plan_give_up(plan, "does not apply: Cbc is " PB_NOT_BUILT_IN(PB_PACKAGE_CBC));
    pb_status status = pbi_staged_gate(ctx, game, options, MAX_ENTRIES, plan, &open);
    if (status != PB_OK || !open)
        return status;
    uint64_t entries = pbi_staged_entries(game->graph), first = FIRST * (entries + entries * entries / LARGE);
    w.limit = ctx->tick_limit ? ctx->tick_limit : options->patient ? 0 : DEFAULT_TICKS;
    pb_arena_init(&w.scratch, ctx);
    pbi_staged_best_init(&w.best, game, &w.scratch);
    status = pbi_staged_program(&w.best, &w.scratch);
    if (status == PB_OK && w.best.work == UINT64_MAX && w.limit && first > w.limit) {
        status = pbi_plan_give_up(
            plan, "limit hit: a program of about %" PRIu64 " matrix entries needs more time or ticks", entries);
    } else if (status == PB_OK) {
        if (w.best.work == UINT64_MAX)
            status = all_caps(&w, &end);
        if ((status == PB_ECANCELLED || status == PB_ELIMIT) && w.best.work != UINT64_MAX)
            status = PB_OK;
        status = status == PB_OK ? conclude(&w, end, plan) : status;
    }
    pb_arena_release(&w.scratch);
    return status;
}
