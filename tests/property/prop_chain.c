/* prop_chain.c -- the chain strategy against exhaustive search on small adjoint chains of every form: equal steps are
 * planned exactly, unequal ones nearly always. */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/full.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct chance {
    char text[7][16];
    pb_option params[10];
    uint32_t count;
    uint64_t cap;
    pb_tier tiers[2];
    uint32_t tier_count;
    pb_game_kind kind;
    bool uneven, exact; /* exact: the strategy must find the optimum */
    bool proved;        /* and must claim it */
} chance;

static uint64_t below(pbi_rng *rng, uint64_t bound) { return pbi_rng_below(rng, bound); }

static void draw(pbi_rng *rng, chance *c)
{
    static const char *const keys[] = {"steps", "grad-size", "step-size", "step-cost", "grad-cost"};
    bool tiered = below(rng, 2);
    uint64_t steps = 2 + below(rng, tiered ? 3 : 4), size = 1 + below(rng, below(rng, 2) ? 3 : 6);
    uint64_t values[] = {steps, below(rng, 4), size, below(rng, 5) ? 1 + below(rng, 4) : 0, below(rng, 3)};
    c->count = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(c->text[i], sizeof c->text[i], "%" PRIu64, values[i]);
        c->params[c->count++] = (pb_option){keys[i], c->text[i]};
    }
    c->params[c->count++] = (pb_option){"form", below(rng, 2) ? "inputs" : "inputs-outputs"};
    c->params[c->count++] = (pb_option){"inplace", below(rng, 3) ? "no" : "yes"};
    c->uneven = below(rng, 3) == 0;
    if (c->uneven) {
        snprintf(c->text[5], sizeof c->text[5], "%" PRIu64, below(rng, 1000));
        c->params[c->count++] = (pb_option){"profile", "random"};
        c->params[c->count++] = (pb_option){"seed", c->text[5]};
    }
    c->kind = tiered ? PB_GAME_TIERED : PB_GAME_REMAT;
    c->cap = below(rng, (size * (steps + 4) + 6) * (c->uneven ? 5 : 1));
    bool by_size = below(rng, 3) == 0;
    c->tier_count = !tiered ? 0 : below(rng, 4) ? 1 : 2;
    for (uint32_t i = 0; i < c->tier_count; i++) {
        c->tiers[i] = (pb_tier){.store_cost = below(rng, 6),
                                .load_cost = below(rng, 6),
                                .store_per_unit = by_size ? below(rng, 3) : 0,
                                .load_per_unit = by_size ? below(rng, 3) : 0,
                                .cap = PB_UNLIMITED};
        if (below(rng, 2))
            c->tiers[i].cap = size * below(rng, 4) + below(rng, size);
    }
    bool one_tier = c->tier_count == 1 && c->tiers[0].cap >= size, open = c->tiers[0].cap == PB_UNLIMITED;
    bool grads_stay = values[1] == 0 || values[1] == size || (!by_size && open && values[1] < size);
    c->exact = !c->uneven && (!tiered || (one_tier && grads_stay));
    uint64_t load = c->tiers[0].load_cost + c->tiers[0].load_per_unit * size;
    c->proved = c->exact && (!tiered || (open && load <= values[3]));
}

typedef struct tally {
    uint64_t judged, optimal, uneven, uneven_best, tiers, tiers_best; /* tiers: equal steps and two of them */
} tally;

static bool differs(const chance *c, bf_space *space, tally *t)
{
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    bf_problem problem;
    bf_answer best;
    pb_plan_result p;
    bool bad = false;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pb_generate(&ctx, "adjoint-chain", c->params, c->count, &arena, &g) != PB_OK)
        abort();
    pb_game game = {.graph = g, .kind = c->kind, .cap = c->cap, .weights = PB_WEIGHTS_DEFAULT};
    game.tier_count = c->tier_count;
    for (uint32_t i = 0; i < c->tier_count; i++)
        game.tiers[i] = c->tiers[i];
    if (bf_from_game(&game, &problem) && bf_least_makespan(space, &problem, &best)) {
        t->judged++;
        pb_status status = pb_plan(&ctx, &game, &(pb_request){.strategy = "chain", .seed = 1}, &arena, &p);
        pb_outcome outcome = status == PB_OK ? p.schedule.outcome : PB_GAVE_UP;
        bool exact = c->exact;
        t->optimal += outcome == PB_OPTIMAL;
        if (c->uneven && c->kind == PB_GAME_REMAT && best.feasible && status == PB_OK) {
            t->uneven++;
            t->uneven_best += p.certificate && p.schedule.metrics.makespan == best.value;
        }
        if (!c->uneven && c->tier_count == 2 && best.feasible && status == PB_OK) {
            t->tiers++;
            t->tiers_best += p.certificate && p.schedule.metrics.makespan == best.value;
        }
        bad = status != PB_OK || (outcome == PB_INFEASIBLE && best.feasible) || (p.certificate && !best.feasible) ||
              (p.certificate && p.schedule.metrics.makespan < best.value) ||
              (outcome == PB_OPTIMAL && p.schedule.metrics.makespan != best.value) ||
              (exact && best.feasible && (!p.certificate || p.schedule.metrics.makespan != best.value)) ||
              (c->proved && outcome != (best.feasible ? PB_OPTIMAL : PB_INFEASIBLE));
        if (bad) {
            printf("%s: %s cap %" PRIu64, g->name, pb_game_kind_name(c->kind), c->cap);
            for (uint32_t i = 0; i < c->tier_count; i++)
                printf(" tier %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " cap %" PRIu64, c->tiers[i].store_cost,
                       c->tiers[i].load_cost, c->tiers[i].store_per_unit, c->tiers[i].load_per_unit, c->tiers[i].cap);
            printf(": ");
            printf("search %s %" PRIu64 ", chain %s %" PRIu64 " %s\n", best.feasible ? "finds" : "fails", best.value,
                   status == PB_OK ? pb_outcome_name(outcome) : ctx.error.message,
                   status == PB_OK && p.certificate ? p.schedule.metrics.makespan : 0,
                   status == PB_OK && p.schedule.reason ? p.schedule.reason : "");
        }
    }
    pb_arena_release(&arena);
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 6000), failed = 0;
    tally t = {0};
    bf_space *space = bf_space_new();
    bf_space_limit(space, 200000);
    for (uint64_t seed = 1; seed <= cases && failed < 5; seed++) {
        pbi_rng rng = {seed};
        chance c;
        draw(&rng, &c);
        if (differs(&c, space, &t)) {
            printf("seed %" PRIu64 "\n", seed);
            failed++;
        }
    }
    bf_space_free(space);
    /* The chances must not leave the test idle; unequal steps and two tiers are planned best in all but a few. */
    if (t.judged * 5 < cases * 4 || t.optimal * 10 < t.judged || t.uneven_best * 100 < t.uneven * 97 ||
        t.tiers_best * 100 < t.tiers * 97) {
        printf("%" PRIu64 " of %" PRIu64 " chains judged, %" PRIu64 " optimal; %" PRIu64 " of %" PRIu64
               " unequal ones best, %" PRIu64 " of %" PRIu64 " with two tiers\n",
               t.judged, cases, t.optimal, t.uneven_best, t.uneven, t.tiers_best, t.tiers);
        failed++;
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", t.judged - failed, failed);
    return failed ? 1 : 0;
}
