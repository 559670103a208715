/* prop_borrow.c -- plans with borrowed memory: a second replay and the exhaustive optimum of the sum judge them. */
#include "pebble/api.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>

enum { TICKS = 50000 };

static uint64_t with_borrowed; /* plans that borrow */

static uint64_t with_borrow(const pb_game *game)
{
    return game->cap > UINT64_MAX - game->borrow ? PB_UNLIMITED : game->cap + game->borrow;
}

/* Nothing that is there at the start or at the end is borrowed. */
static bool ends_fit(const bf_problem *p, uint64_t cap)
{
    uint64_t start = p->fixed_size, end = p->fixed_size;
    uint32_t stays = p->kind == PB_GAME_REVERSIBLE ? p->keep | p->targets | p->given : p->keep;
    for (uint32_t v = 0; v < p->node_count; v++) {
        start += p->given >> v & 1 ? p->size[v] : 0;
        end += stays >> v & 1 ? p->size[v] : 0;
    }
    return start <= cap && end <= cap;
}

/* Whoever plays within cap and borrow plays within their sum. */
static bool beats_the_sum(law_bench *b, const pb_planned *p)
{
    bf_problem sum = b->problem;
    bf_answer best;
    const pb_schedule *s = &p->schedule;
    sum.cap = with_borrow(p->game);
    if (!bf_least_makespan(b->space, &sum, &best))
        return law_skip(b);
    if (s->outcome == PB_INFEASIBLE)
        return best.feasible && ends_fit(&b->problem, p->game->cap) &&
               law_broken(b, "infeasible, but there is a plan of makespan %" PRIu64, best.value);
    if (p->certificate && !best.feasible)
        return law_broken(b, "a plan, where the sum has none");
    if (best.feasible && s->lower_bound > best.value && p->game->kind != PB_GAME_REVERSIBLE)
        return law_broken(b, "bound %" PRIu64 " above the optimum %" PRIu64 " of the sum", s->lower_bound, best.value);
    if (!p->certificate)
        return false;
    bool costs_count = p->game->weights.alpha || p->game->weights.beta || !p->game->weights.gamma;
    if (s->metrics.makespan < best.value)
        return law_broken(b, "makespan %" PRIu64 " below %" PRIu64, s->metrics.makespan, best.value);
    if (s->outcome == PB_OPTIMAL && !costs_count && s->metrics.makespan != best.value)
        return law_broken(b, "makespan %" PRIu64 " is called optimal, %" PRIu64 " is possible with all memory our own",
                          s->metrics.makespan, best.value);
    return false;
}

static bool borrowing_fails(law_bench *b)
{
    char why[PLAN_WHY];
    pb_planned p;
    pb_game game = b->game;
    pb_request request = {.seed = b->small->seed};
    game.borrow = 1 + b->small->seed % 5;
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    pb_status status = pb_plan(&b->ctx, &game, &request, &b->arena, &p);
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    if (!plan_is_honest(&game, &p, why))
        return law_broken(b, "borrow %" PRIu64 ": %s", game.borrow, why);
    with_borrowed += p.certificate && p.schedule.metrics.borrowed;
    return beats_the_sum(b, &p);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 5000);
    law_run("what is borrowed comes back, and no plan beats all memory our own", borrowing_fails,
            PB_GAME_REMAT | PB_GAME_REVERSIBLE, cases);
    int code = law_finish();
    return with_borrowed > cases / 50 ? code : 1;
}
