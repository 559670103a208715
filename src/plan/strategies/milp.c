/* milp.c -- the least work in program order, by mixed-integer programming.
 *
 * Problem     least work under the cap, if first computations keep program order.
 * Idea        Checkmate's stages as a mixed-integer program (milp/staged), solved by Cbc or HiGHS. Quick planners
 *             that follow the order and, with time, the rounded relaxation give a plan to start with: only better
 *             ones are searched for.
 * Invariants  the solver counts in floating point, so its answer is only a list of computations, whose moves, memory
 *             and work are then counted exactly. A plan that exceeds the cap is not returned.
 * Cost        the program has about 9/2 entries for each stage and edge; solving it is exponential.
 * Source      P. Jain et al., "Checkmate" (MLSys 2020); the rows for what is resident between two reads are ours.
 * Limits      the proof covers this order only, in stages that compute a node at most once each. Another order may
 *             need less, so `optimal` comes from the bound alone.
 */
#include "base/context.h"
#include "plan/evict/demand.h"
#include "plan/milp/highs.h"
#include "plan/milp/staged.h"
#include "plan/sequence/window.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    FIRST_TICKS = 60,        /* ticks an entry: reducing the program and solving its relaxation */
    PART_TICKS = 3,          /* ticks an entry: a part of the search */
    MAX_ENTRIES = 250000,    /* above, Cbc would not notice a stop for minutes, unless it watches the time */
    MAX_IN_TIME = 8000000,   /* with a time limit: a gigabyte or two */
    LARGE = 100000,          /* entries above which the first part takes more than its share */
    DEFAULT_TICKS = 10000000 /* ticks, if neither ticks nor time are limited */
};

typedef struct job {
    pb_context *ctx;
    const pb_game *game;
    const pbi_plan_options *options;
    pb_arena scratch;
    pbi_staged m;
    pbi_staged_best best;
    bool highs;          /* solved by HiGHS */
    bool proved, passed; /* the best plan is the least; the solver's plan exceeded the cap */
} job;

static uint64_t first_ticks(uint64_t entries)
{
    return FIRST_TICKS * entries + FIRST_TICKS * (entries * entries / LARGE);
}

/* Takes the plan of another planner if it follows the order. */
static pb_status adopt_moves(job *w, const pb_moves *moves)
{
    pbi_sequence s;
    bool fits;
    for (pb_step k = 0; k < moves->count; k++) /* its stages have no recipes */
        if (moves->move[k].by)
            return PB_OK;
    pbi_sequence_init(&s, &w->scratch);
    pb_status status = pbi_staged_adopt(&w->m, moves, &s, &fits);
    return status == PB_OK && fits ? pbi_staged_consider(&w->best, &s, &fits) : status;
}

/* Takes a planner's plan, if it has one. A planner that hits a limit is no error: any plan of the others is enough. */
static pb_status adopt_answer(job *w, pb_status status, const pbi_plan *plan)
{
    if (status == PB_OK && plan->outcome != PB_GAVE_UP)
        return adopt_moves(w, &plan->moves);
    return status == PB_ELIMIT || status == PB_ERANGE ? PB_OK : status;
}

static pb_status find_starts(job *w)
{
    static const pbi_policy policies[] = {PBI_PRIORITY, PBI_LARGEST, PBI_LEAST_RECENT};
    uint64_t limit = 100 * (uint64_t)w->m.stages, ticks = w->ctx->ticks;
    pb_status status = w->options->start ? adopt_moves(w, w->options->start) : PB_OK;
    pbi_plan plan;
    for (size_t i = 0; i < sizeof policies / sizeof *policies && status == PB_OK; i++) {
        pbi_plan_reset(&plan, &w->scratch);
        pbi_demand_options demand = {.policy = policies[i], .seed = w->options->seed, .limit = limit};
        status = pbi_demand_forward(w->ctx, w->game, &demand, &plan);
        status = adopt_answer(w, status, &plan);
    }
    for (uint64_t k = 2; k < w->m.stages && k <= 64 && status == PB_OK; k *= 2) {
        pbi_plan_reset(&plan, &w->scratch);
        status = pbi_window_one(w->ctx, w->game, pbi_window_periodic, k, limit, &plan);
        status = adopt_answer(w, status, &plan);
    }
    if (w->ctx->tick_limit && w->ctx->ticks > w->ctx->tick_limit)
        w->ctx->ticks = ticks; /* planning for a start is optional: it must not use up the ticks of the solver */
    return status;
}

/* Only plans better than the best one have an objective value below this. */
static double better_value(const job *w)
{
    if (w->best.work == UINT64_MAX)
        return HUGE_VAL;
    double margin = w->m.step > 1e-5 ? 0.9 * w->m.step : 1e-6;
    return ((double)w->best.work - (double)w->game->graph->needed_cost) / w->m.price - margin;
}

static pb_status solve(job *w, uint64_t ticks, pbi_program_end *end)
{
    pbi_program_answer answer;
    pbi_program_limits limits = {better_value(w),
                                 w->best.work != UINT64_MAX,
                                 ticks,
                                 PART_TICKS * (uint64_t)w->m.program.entries,
                                 w->options->end_ns,
                                 0};
    limits.gap = w->options->gap * (double)w->game->graph->needed_cost / w->m.price;
    pbi_sequence s;
    bool fits = true;
    pbi_sequence_init(&s, &w->scratch);
    pb_status status =
        (w->highs ? pbi_highs_solve : pbi_program_solve)(w->ctx, &w->m.program, &limits, &w->scratch, &answer);
    if (status == PB_OK && answer.found)
        status = pbi_staged_sequence(&w->m, answer.x, &s);
    if (status == PB_OK && answer.found)
        status = pbi_staged_consider(&w->best, &s, &fits);
    *end = answer.end;
    w->ctx->ticks += answer.ticks;
    w->passed = !fits;
    w->proved = fits && (answer.end == PBI_SOLVED || answer.end == PBI_NO_ANSWER);
    return status;
}

static pb_status conclude(job *w, pbi_program_end end, pbi_plan *plan)
{
    if (w->best.work != UINT64_MAX) {
        pbi_held held = pbi_hold(w->ctx);
        pb_status status = pbi_sequence_emit(w->ctx, w->game, &w->best.sequence, plan, NULL);
        pbi_resume(w->ctx, held);
        if (status == PB_OK && w->proved)
            status =
                w->options->gap > 0
                    ? pbi_plan_note(plan, "within %g %% of the least work in Checkmate's stages over the program order",
                                    100 * w->options->gap)
                    : pbi_plan_note(plan,
                                    "the least work in Checkmate's stages over the program order, to %s's precision",
                                    w->highs ? "HiGHS" : "Cbc");
        return status;
    }
    if (w->passed)
        return pbi_plan_give_up(plan, "the solver's plan exceeds the cap because of rounding");
    if (w->proved)
        return pbi_plan_give_up(plan, "does not fit: no plan in stages over the program order fits the cap");
    if (end == PBI_STOPPED)
        return PB_ECANCELLED;
    return pbi_plan_give_up(plan, end == PBI_UNSOLVED ? "the solver gave no answer" : "limit hit: no plan was found");
}

static pb_status plan_by_program(job *w, uint64_t ticks, pbi_plan *plan)
{
    pbi_program_end end = PBI_SOLVED;
    pb_status status = pbi_staged_init(&w->m, w->ctx, w->game, (double)w->game->cap, &w->scratch);
    if (status == PB_OK)
        status = pbi_staged_memory(w->ctx, &w->m);
    if (status == PB_OK)
        status = find_starts(w);
    w->proved = w->best.work <= w->options->bounds->makespan; /* in any order */
    if (status == PB_OK && !w->proved)
        status = solve(w, ticks, &end);
    if ((status == PB_ECANCELLED || status == PB_ELIMIT) && w->best.work != UINT64_MAX)
        status = PB_OK;
    return status == PB_OK ? conclude(w, end, plan) : status;
}

/* Which solver; *open false: there is none, and the plan has given up. */
static pb_status choose_solver(job *w, pbi_plan *plan, bool *open)
{
    const char *name = pbi_option_find(w->options, "solver");
    bool any = !name || strcmp(name, "auto") == 0, cbc = any || strcmp(name, "cbc") == 0;
    bool highs = any || strcmp(name, "highs") == 0;
    *open = false;
    if (!cbc && !highs)
        return pbi_fail(w->ctx, PB_EINVAL, "solver must be auto, cbc or highs, not \"%.40s\"", name);
    cbc = cbc && pb_solver_version();
    w->highs = !cbc && highs && pbi_highs_found();
    *open = cbc || w->highs;
    if (*open)
        return PB_OK;
    if (!any && highs)
        return pbi_plan_give_up(plan,
                                "does not apply: libhighs.so.1 was not found; pip install highspy, and name its folder "
                                "in LD_LIBRARY_PATH");
    return pbi_plan_give_up(plan, "does not apply: Cbc is " PB_NOT_BUILT_IN(PB_PACKAGE_CBC));
}

pb_status pbi_plan_milp(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    job w = {.ctx = ctx, .game = game, .options = options};
    bool open;
    pb_status status = choose_solver(&w, plan, &open);
    if (status == PB_OK && open)
        status = pbi_staged_gate(ctx, game, options, options->end_ns ? MAX_IN_TIME : MAX_ENTRIES, plan, &open);
    if (status != PB_OK || !open)
        return status;
    uint64_t limit = ctx->tick_limit ? ctx->tick_limit : options->patient ? 0 : DEFAULT_TICKS;
    uint64_t entries = pbi_staged_entries(game->graph), first = first_ticks(entries);
    pb_arena_init(&w.scratch, ctx);
    pbi_staged_best_init(&w.best, game, &w.scratch);
    status = pbi_staged_program(&w.best, &w.scratch);
    if (status == PB_OK && w.best.work != UINT64_MAX)
        status = pbi_sequence_emit(ctx, game, &w.best.sequence, plan, NULL);
    else if (status == PB_OK && limit && first > limit)
        status = pbi_plan_give_up(
            plan, "limit hit: a program of about %" PRIu64 " matrix entries needs more time or ticks", entries);
    else if (status == PB_OK)
        status = plan_by_program(&w, limit ? limit - first : 0, plan);
    pb_arena_release(&w.scratch);
    return status;
}
