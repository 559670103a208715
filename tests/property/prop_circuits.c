/* prop_circuits.c -- exact on random reversible circuits of up to a dozen nodes, at every cap, against exhaustive search:
 * larger and plainer than the games of the other laws, so that the bound on what the cap costs has something to say. */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/api.h"
#include "support/cases.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long judged, failed;

static void make(uint64_t seed, small_game *s)
{
    pbi_rng rng = {seed};
    unsigned nodes = 6 + (unsigned)pbi_rng_below(&rng, 6), reach = 2 + (unsigned)pbi_rng_below(&rng, nodes);
    bool equal = pbi_rng_below(&rng, 2), named = pbi_rng_below(&rng, 3) == 0;
    small_game_init(s);
    for (unsigned v = 0; v < nodes; v++) {
        uint32_t in = 0;
        for (unsigned k = (unsigned)pbi_rng_below(&rng, 4); v && k > 0; k--) {
            unsigned back = 1 + (unsigned)pbi_rng_below(&rng, reach < v ? reach : v);
            in |= UINT32_C(1) << (v - back);
        }
        small_game_add(s, equal ? 1 : 1 + pbi_rng_below(&rng, 4), equal ? 1 : pbi_rng_below(&rng, 4), in);
        s->workspace[v] = !equal && pbi_rng_below(&rng, 4) == 0;
        s->flags[v] = pbi_rng_below(&rng, 8) == 0 ? PB_NODE_KEEP : 0;
        if (!equal && pbi_rng_below(&rng, 10) == 0)
            s->flags[v] |= PB_NODE_ONCE;
        if (!in && pbi_rng_below(&rng, 4) == 0)
            s->flags[v] = PB_NODE_GIVEN;
        if (named && pbi_rng_below(&rng, 4) == 0)
            s->targets |= UINT32_C(1) << v;
    }
    s->kind = PB_GAME_REVERSIBLE;
    s->seed = seed;
}

static void judge(bf_space *space, small_game *s, uint64_t cap)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
    bf_problem problem;
    bf_answer best;
    s->cap = cap;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (small_game_build(&ctx, s, &arena, &game) && bf_from_game(&game, &problem) &&
        bf_least_makespan(space, &problem, &best)) {
        pb_request request = {.strategy = "exact", .seed = 1};
        bool answered = pb_plan(&ctx, &game, &request, &arena, &p) == PB_OK;
        pb_outcome outcome = answered ? p.schedule.outcome : PB_GAVE_UP;
        bool right =
            best.feasible ? outcome == PB_OPTIMAL && p.schedule.metrics.work == best.value : outcome == PB_INFEASIBLE;
        judged++;
        if (!right) {
            failed++;
            printf("FAILED seed %" PRIu64 " cap %" PRIu64 ": %s, but the least work is %" PRIu64 "\n", s->seed, cap,
                   pb_outcome_name(outcome), best.feasible ? best.value : 0);
            small_game_print(s, stdout);
        }
    }
    pb_arena_release(&arena);
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : test_cases(2000);
    bf_space *space = bf_space_new();
    bf_space_limit(space, 200000);
    for (uint64_t seed = 1; seed <= cases && failed < 3; seed++) {
        small_game s;
        make(seed, &s);
        uint64_t all = 1;
        for (unsigned v = 0; v < s.node_count; v++)
            all += s.size[v];
        for (uint64_t cap = 0; cap <= all; cap++)
            judge(space, &s, cap);
    }
    bf_space_free(space);
    printf("%lu judged, %lu failed\n", judged, failed);
    return failed || !judged ? EXIT_FAILURE : EXIT_SUCCESS;
}
