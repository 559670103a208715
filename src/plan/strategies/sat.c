/* sat.c -- plans of the reversible game as answers to a formula.
 *
 * Problem     a plan within a tight cap, for graphs that are too large to search all states.
 * Idea        bounded model checking by CaDiCaL: is there a plan of T steps, in each of which nodes that do not read
 *             one another may change together (reversible/sat/formula)? T grows until there is one. Then the formula
 *             gets a limit on the work, which falls from answer to answer; then more steps are tried, which may take
 *             less work.
 * Invariants  the work W of a plan limits its number of moves; if a formula with that many steps has no answer, this
 *             proves that no plan has less work. If the end cannot be reached by T + 1 steps without repetition, and
 *             no plan has T steps, there is no plan at all.
 * Cost        formulas of about nodes x steps x cap clauses; conflicts, each some ten microseconds up to a
 *             millisecond.
 * Source      Meuli, Soeken, Roetteler, Bjorner, De Micheli: Reversible pebbling game for quantum memory management,
 *             2019. Totalizers: Bailleux, Boufkhad 2003, for weights Joshi, Martins, Manquinho 2015. Induction:
 *             Sheeran, Singh, Stalmarck 2000.
 * Limits      proofs only for small graphs; no in-place moves or by-products; no weights on memory; sizes that add up
 *             to many different sums make the formulas too large.
 */
#include "plan/reversible/exact/exact.h"
#include "plan/reversible/sat/formula.h"

#include "base/arena.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

enum {
    DEFAULT_SIZE = 3000000,  /* max literals of a formula */
    SMALL = 64,              /* nodes up to which a conflict is quick */
    SMALL_CONFLICTS = 20000, /* conflicts for each question, up to that size and above it */
    LARGE_CONFLICTS = 3000,
    FIRST_CONFLICTS = 1000, /* conflicts for each question in the first round */
    MAX_STEPS = 100000,     /* longer formulas are hopeless */
    PROOF = 4000,           /* nodes x steps up to which a proof is feasible */
    PATH_NODES = 16,        /* max nodes and steps of formulas that prove that there is no plan */
    PATH_STEPS = 40,
    QUICK_NODES = 16,       /* nodes up to which little effort is enough */
    LITTLE_EFFORT = 1000000 /* ticks */
};

typedef struct sat_search {
    pb_context *ctx;
    const pb_game *game;
    const pbi_plan_options *options;
    pb_arena *scratch;
    uint64_t size, conflicts, steps;
    bool least_memory;
    pb_game now; /* the game with the cap that is tried now */
    pbi_rev_game r;
    pb_moves best;
    uint64_t best_work, best_peak; /* PBI_REV_NEVER: none */
    uint32_t best_steps;
    bool own; /* the best plan is in `best`; else it is the plan to start from */
    bool optimal, infeasible, full;
    uint64_t conflict_limit; /* conflicts for each question to the solver */
    uint32_t tried;          /* steps of the last formula */
} sat_search;

/* The largest number of steps that a plan with less work than the best can need: one move in each. */
static uint64_t enough_steps(const sat_search *s)
{
    if (s->best_work == PBI_REV_NEVER || !s->r.min_cost)
        return UINT64_MAX;
    return s->best_work ? (s->best_work - 1) / s->r.min_cost : 0;
}

static pb_status keep_plan(sat_search *s, const pbi_rev_formula *f)
{
    pb_moves_init(&s->best, s->scratch);
    pb_status status = pbi_rev_formula_plan(f, &s->best, &s->best_work, &s->best_peak);
    s->own = status == PB_OK;
    s->best_steps = f->steps;
    if (s->own && s->options->better)
        s->options->better(s->options->better_state, s->best_peak, s->best_work);
    return status;
}

static pb_status solve_formula(sat_search *s, pbi_rev_formula *f, pbi_sat_answer *answer)
{
    uint64_t given = s->conflict_limit < s->conflicts ? s->conflict_limit : s->conflicts, left = given;
    *answer = PBI_SAT_UNKNOWN;
    if (f->halted != PB_OK)
        return f->halted;
    if (pbi_sat_full(&f->sat)) {
        s->full = true;
        return PB_OK;
    }
    pb_status status = pbi_sat_solve(&f->sat, &left, answer);
    s->conflicts -= given - left;
    return status;
}

/* Less and less work in as many steps as the formula has. */
static pb_status lower_work(sat_search *s, pbi_rev_formula *f, pbi_sat_answer *answer)
{
    pb_status status = PB_OK;
    while (status == PB_OK && *answer == PBI_SAT_YES) {
        status = keep_plan(s, f);
        if (status != PB_OK || s->best_work == s->r.min_work)
            return status;
        if (!pbi_rev_formula_less_work(f, s->best_work))
            return PB_ENOMEM;
        status = solve_formula(s, f, answer);
    }
    return status;
}

/* One formula: finds a plan of `steps` steps that is better than the best; with `only_find` any plan is accepted. */
static pb_status try_steps(sat_search *s, uint32_t steps, bool only_find, pbi_sat_answer *first)
{
    pbi_rev_formula f;
    pb_arena arena;
    pb_arena_init(&arena, s->ctx);
    s->tried = steps;
    bool made = pbi_rev_formula_open(&f, s->ctx, &s->r, steps, s->size, &arena);
    if (made && !only_find && s->best_work != PBI_REV_NEVER && !pbi_sat_full(&f.sat))
        made = pbi_rev_formula_less_work(&f, s->best_work);
    pb_status status = made ? solve_formula(s, &f, first) : PB_ENOMEM;
    pbi_sat_answer answer = *first;
    if (status == PB_OK && answer == PBI_SAT_YES)
        status = only_find ? keep_plan(s, &f) : lower_work(s, &f, &answer);
    if (status == PB_OK && answer == PBI_SAT_NO && !f.restricted && !only_find && steps >= enough_steps(s))
        s->optimal = s->best_work != PBI_REV_NEVER;
    pbi_rev_formula_close(&f);
    pb_arena_release(&arena);
    return status;
}

/* After the answer that no plan has this many steps: does any path to the end take longer? */
static pb_status prove_none(sat_search *s, uint32_t steps)
{
    pbi_rev_formula f;
    pbi_sat_answer answer;
    pb_arena arena;
    for (uint32_t i = 0; i < s->r.count; i++)
        if (s->game->graph->flags[s->r.node[i]] & PB_NODE_ONCE)
            return PB_OK; /* the end depends on what was computed, not only on what is resident */
    if (s->r.count > PATH_NODES || steps > PATH_STEPS)
        return PB_OK;
    pb_arena_init(&arena, s->ctx);
    bool made = pbi_rev_formula_open_path(&f, s->ctx, &s->r, steps + 1, s->size, &arena);
    pb_status status = made ? solve_formula(s, &f, &answer) : PB_ENOMEM;
    s->infeasible = status == PB_OK && answer == PBI_SAT_NO;
    pbi_rev_formula_close(&f);
    pb_arena_release(&arena);
    return status;
}

/* Numbers of steps for the formulas, from few to as many as are likely to be useful; 0: no more. */
static uint32_t more_steps(const sat_search *s, uint32_t steps, uint64_t max)
{
    uint64_t next = steps ? (uint64_t)steps + steps / 4 + 1 : s->steps ? s->steps : s->r.min_steps;
    if ((s->steps && steps) || (steps && steps >= max))
        return 0;
    if (steps && next > max)
        next = max;
    return next <= MAX_STEPS ? (uint32_t)next : 0;
}

/* More and more steps until there is a plan within the cap that is tried now; in rounds, with more effort each. */
static pb_status find_plan(sat_search *s, bool *found)
{
    uint64_t max = (uint64_t)s->r.min_steps + 2 * (uint64_t)s->r.count;
    uint32_t none = 0; /* no plan has this many steps or fewer */
    pb_status status = PB_OK;
    bool open = true; /* some question has no answer yet */
    *found = false;
    for (; status == PB_OK && s->conflicts && open; s->conflict_limit *= 4) {
        open = false;
        for (uint32_t steps = 0; (steps = more_steps(s, steps, max)) != 0 && s->conflicts;) {
            pbi_sat_answer answer;
            if (steps <= none)
                continue;
            s->full = false;
            status = try_steps(s, steps, true, &answer);
            *found = status == PB_OK && answer == PBI_SAT_YES;
            if (*found || status != PB_OK)
                return status;
            if (s->full)
                break;
            none = answer == PBI_SAT_NO ? steps : none;
            open = open || answer == PBI_SAT_UNKNOWN;
            if (answer == PBI_SAT_NO)
                status = prove_none(s, steps);
            if (status != PB_OK || s->infeasible)
                return status;
        }
    }
    return status;
}

/* Less work than the best, with more and more steps, as far as that may help. */
static pb_status add_steps(sat_search *s)
{
    pb_status status = PB_OK;
    bool open = true; /* some question has no answer yet */
    for (; status == PB_OK && s->conflicts && open && !s->optimal; s->conflict_limit *= 4) {
        open = false;
        for (uint32_t steps = 0; status == PB_OK && s->conflicts && !s->optimal && !s->full;) {
            pbi_sat_answer answer;
            uint64_t enough = enough_steps(s), likely = (uint64_t)s->r.min_steps + s->r.count;
            uint64_t max = enough < PROOF / (s->r.count + 1) || enough < likely ? enough : likely;
            steps = more_steps(s, steps, max);
            if (!steps)
                break;
            status = try_steps(s, steps, false, &answer);
            if (s->best_work == s->r.min_work)
                return status;
            open = open || answer == PBI_SAT_UNKNOWN;
        }
    }
    return status;
}

static pb_status set_cap(sat_search *s, uint64_t cap)
{
    s->now.cap = cap;
    return pbi_rev_game_init(&s->r, &s->now, s->scratch) ? PB_OK : PB_ENOMEM;
}

/* The fewest values at a time that it finds a plan for; the game is left at that cap. */
static pb_status lower_memory(sat_search *s)
{
    bool found = true;
    pb_status status = PB_OK;
    uint64_t min = s->options->bounds->least_cap;
    while (status == PB_OK && found && s->own && s->best_peak > min) {
        status = set_cap(s, s->best_peak - 1);
        if (status == PB_OK)
            status = find_plan(s, &found);
    }
    s->infeasible = false; /* that proof was for a smaller cap */
    return status == PB_OK && s->own ? set_cap(s, s->best_peak) : status;
}

static pb_status search(sat_search *s)
{
    bool found = false;
    pb_status status = set_cap(s, s->game->cap);
    if (status == PB_OK && s->best_work == PBI_REV_NEVER)
        status = find_plan(s, &found);
    if (status == PB_OK && found && s->least_memory)
        status = lower_memory(s);
    if (status == PB_OK && s->best_work != PBI_REV_NEVER && s->best_work > s->r.min_work)
        status = add_steps(s);
    return status;
}

static pb_status conclude(sat_search *s, pb_status status, pbi_plan *plan)
{
    const pb_weights *w = &s->game->weights;
    if (s->infeasible) {
        status = pbi_plan_give_up(
            plan, "no plan of %" PRIu32 " steps exists, and no plan needs more steps (proved by CaDiCaL)", s->tried);
        plan->outcome = PB_INFEASIBLE;
        return status;
    }
    bool stopped = status == PB_ELIMIT || status == PB_ECANCELLED;
    if (status != PB_OK && !stopped)
        return status;
    if (s->best_work == PBI_REV_NEVER) {
        if (stopped)
            return status;
        if (s->full)
            return pbi_plan_give_up(plan,
                                    "too large: the formula of %" PRIu32 " steps has more than %" PRIu64
                                    " literals; raise its option size",
                                    s->tried, s->size);
        return pbi_plan_give_up(plan, "limit hit: no plan found with up to %" PRIu32 " steps", s->tried);
    }
    status = pbi_rev_copy(s->own ? &s->best : s->options->start, &plan->moves);
    plan->outcome = s->optimal && !w->alpha && !w->beta && s->now.cap == s->game->cap ? PB_OPTIMAL : PB_FOUND;
    if (status == PB_OK && plan->outcome == PB_OPTIMAL)
        return pbi_plan_note(plan, "no plan with %" PRIu32 " parallel steps has less work", s->tried);
    if (status == PB_OK && s->own)
        return pbi_plan_note(plan, "the plan has %" PRIu32 " parallel steps", s->best_steps);
    return status == PB_OK ? pbi_plan_note(plan, "it found nothing better than the plan it started from") : status;
}

/* With little effort, as when other strategies are waiting, it finds nothing. */
static bool is_hopeless(const pb_context *ctx, const pb_graph *g)
{
    return g->needed_count > QUICK_NODES && ctx->tick_limit && ctx->tick_limit < LITTLE_EFFORT;
}

/* Why it does not play this game; NULL: it does. */
static const char *refusal(const pb_context *ctx, const pb_game *game, bool least_memory)
{
    const pb_graph *g = game->graph;
    if ((game->weights.alpha || game->weights.beta) && !least_memory)
        return "does not apply: it minimizes work only, not peak or flux";
    if (is_hopeless(ctx, g))
        return "limit hit: the effort is too small for a formula; raise --ticks";
    if (!pb_sat_version())
        return "does not apply: CaDiCaL is " PB_NOT_BUILT_IN(PB_PACKAGE_CADICAL);
    if (g->owner)
        return "does not apply: it does not support by-products";
    return g->inplace_start ? "does not apply: it does not support in-place moves" : NULL;
}

static pb_status read_options(sat_search *s)
{
    const char *memory = pbi_option_find(s->options, "memory");
    bool all = s->options->patient && !s->options->start; /* else other strategies need their share of the time */
    uint64_t some = s->game->graph->needed_count <= SMALL ? SMALL_CONFLICTS : LARGE_CONFLICTS;
    s->steps = 0;
    s->conflicts = all ? UINT64_C(1) << 40 : some;
    s->size = DEFAULT_SIZE;
    pb_status status = pbi_option_number(s->ctx, s->options, "steps", 1, MAX_STEPS, &s->steps);
    if (status == PB_OK)
        status = pbi_option_number(s->ctx, s->options, "conflicts", 1, UINT64_MAX, &s->conflicts);
    if (status == PB_OK)
        status = pbi_option_number(s->ctx, s->options, "size", 1, UINT64_C(1) << 40, &s->size);
    s->least_memory = memory && strcmp(memory, "least") == 0;
    if (status == PB_OK && memory && !s->least_memory && strcmp(memory, "cap") != 0)
        status = pbi_fail(s->ctx, PB_EINVAL, "memory must be cap or least, not \"%.40s\"", memory);
    return status;
}

pb_status pbi_plan_sat(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    sat_search s = {.ctx = ctx, .game = game, .options = options, .scratch = &scratch, .now = *game};
    pb_status status = read_options(&s);
    if (status != PB_OK)
        return status;
    const char *why = refusal(ctx, game, s.least_memory);
    if (why)
        return pbi_plan_give_up(plan, "%s", why);
    pb_arena_init(&scratch, ctx);
    status = pbi_rev_use_start(ctx, game, options->start, &s.best_work);
    if (s.least_memory)
        s.best_work = PBI_REV_NEVER; /* the limit on work must not exclude plans with less memory */
    s.best_peak = PBI_REV_NEVER;
    s.conflict_limit = FIRST_CONFLICTS;
    if (status == PB_OK)
        status = search(&s);
    pbi_held held = pbi_hold(ctx);
    status = conclude(&s, status, plan);
    pbi_resume(ctx, held);
    pb_arena_release(&scratch);
    if (status == PB_OK && s.steps)
        status = pbi_plan_record_number(plan, "steps", s.steps);
    plan->least_memory = s.least_memory;
    return status == PB_OK && s.least_memory ? pbi_plan_record(plan, "memory", "least") : status;
}
