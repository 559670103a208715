/* prop_chain.c -- the chain strategy equals exhaustive search on small adjoint chains of every form. */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/pebble.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct chance {
    char text[6][16];
    pb_option params[8];
    uint32_t count;
    uint64_t cap, store, load;
    pb_game_kind kind;
} chance;

static uint64_t below(pbi_rng *rng, uint64_t bound) { return pbi_rng_below(rng, bound); }

static void draw(pbi_rng *rng, chance *c)
{
    static const char *const keys[] = {"steps", "grad-size", "step-size", "step-cost", "grad-cost"};
    bool tiered = below(rng, 2);
    uint64_t steps = 2 + below(rng, tiered ? 3 : 4), size = 1 + below(rng, 3);
    uint64_t values[] = {steps, below(rng, 4), size, below(rng, 5) ? 1 + below(rng, 4) : 0, below(rng, 3)};
    c->count = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(c->text[i], sizeof c->text[i], "%" PRIu64, values[i]);
        c->params[c->count++] = (pb_option){keys[i], c->text[i]};
    }
    c->params[c->count++] = (pb_option){"form", below(rng, 2) ? "inputs" : "inputs-outputs"};
    c->params[c->count++] = (pb_option){"inplace", below(rng, 3) ? "no" : "yes"};
    c->kind = tiered ? PB_GAME_TIERED : PB_GAME_REMAT;
    c->cap = below(rng, size * (steps + 4) + 6);
    c->store = below(rng, 6);
    c->load = below(rng, 6);
}

static bool differs(const chance *c, bf_space *space, uint64_t *judged, uint64_t *optimal)
{
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    bf_problem problem;
    bf_answer best;
    pb_planned p;
    bool bad = false;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pb_generate(&ctx, "adjoint-chain", c->params, c->count, &arena, &g) != PB_OK)
        abort();
    pb_game game = {.graph = g, .kind = c->kind, .cap = c->cap, .weights = PB_WEIGHTS_DEFAULT};
    if (c->kind == PB_GAME_TIERED) {
        game.tier_count = 1;
        game.tiers[0] = (pb_tier){.store_cost = c->store, .load_cost = c->load, .cap = PB_UNLIMITED};
    }
    if (bf_from_game(&game, &problem) && bf_least_makespan(space, &problem, &best)) {
        ++*judged;
        pb_status status = pb_plan(&ctx, &game, &(pb_request){.strategy = "chain", .seed = 1}, &arena, &p);
        pb_outcome outcome = status == PB_OK ? p.schedule.outcome : PB_GAVE_UP;
        bool exact = c->kind == PB_GAME_REMAT || c->params[6].value[0] == 'n';
        *optimal += outcome == PB_OPTIMAL;
        bad = status != PB_OK || (outcome == PB_INFEASIBLE && best.feasible) || (p.certificate && !best.feasible) ||
              (p.certificate && p.schedule.metrics.makespan < best.value) ||
              (outcome == PB_OPTIMAL && p.schedule.metrics.makespan != best.value) ||
              (exact && best.feasible && outcome != PB_OPTIMAL) ||
              (exact && !best.feasible && outcome != PB_INFEASIBLE);
        if (bad) {
            printf("%s: %s cap %" PRIu64 " store %" PRIu64 " load %" PRIu64 ": ", g->name, pb_game_kind_name(c->kind),
                   c->cap, c->store, c->load);
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
    uint64_t cases = law_cases(argc, argv, 6000), failed = 0, judged = 0, optimal = 0;
    bf_space *space = bf_space_new();
    bf_space_limit(space, 200000);
    for (uint64_t seed = 1; seed <= cases && failed < 5; seed++) {
        pbi_rng rng = {seed};
        chance c;
        draw(&rng, &c);
        if (differs(&c, space, &judged, &optimal)) {
            printf("seed %" PRIu64 "\n", seed);
            failed++;
        }
    }
    bf_space_free(space);
    if (judged * 5 < cases * 4 || optimal * 10 < judged) { /* the chances must not leave the test idle */
        printf("only %" PRIu64 " of %" PRIu64 " chains were judged, %" PRIu64 " optimal\n", judged, cases, optimal);
        failed++;
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", judged - failed, failed);
    return failed ? 1 : 0;
}
