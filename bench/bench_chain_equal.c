/* bench_chain_equal.c -- equal steps: planning by tables and by closed form, and streaming, with published figures.
 *
 * The published seconds are those of checkpoint_schedules 1.0.4 (Python) on a machine with two cores: `Revolve` plans with
 * a dynamic program and then iterates, `MultistageCheckpointSchedule` iterates. They count the same forward steps.
 */
#include "measure.h"
#include "plan/strategy.h"

#include <inttypes.h>

enum { BATCH = 256, PUBLISHED_STEPS = 5000 };

static const struct {
    uint32_t snapshots;
    uint64_t forward_steps;
    double revolve, multistage; /* seconds for 5000 steps; 0: not published */
} published[] = {
    {2, 333350, 5.8793 + 0.0593, 0.0306},  {3, 114080, 12.7536 + 0.0580, 0.0302},  {5, 52624, 26.0291 + 0.0629, 0.0385},
    {10, 30632, 54.9680 + 0.0553, 0.0303}, {25, 21346, 137.1182 + 0.0576, 0.0306}, {50, 18622, 0, 0.0302},
};

/* A whole stream, from its making to its last action. */
static double stream_seconds(const bench *b, uint64_t steps, uint64_t snapshots, uint64_t *forward)
{
    double best = 1e300;
    for (unsigned i = 0; i < 10 * b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_revolve stream;
        pb_action batch[BATCH];
        double t0 = now_seconds();
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        must(&ctx, pb_revolve_init(&ctx, steps, snapshots, &arena, &stream), "chain-equal");
        uint64_t sum = 0;
        for (size_t got; (got = pb_revolve_next_many(&stream, batch, BATCH)) > 0;)
            for (size_t k = 0; k < got; k++)
                sum += batch[k].kind == PB_ACTION_FORWARD ? batch[k].n1 - batch[k].n0 : 0;
        pb_arena_release(&arena);
        double seconds = now_seconds() - t0;
        best = seconds < best ? seconds : best;
        *forward = sum;
    }
    return best;
}

/* The strategy's own time: from the graph to the list of moves. */
static double strategy_seconds(const bench *b, const pb_game *game)
{
    double best = 1e300;
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pbi_plan plan;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        pbi_plan_reset(&plan, &arena);
        double t0 = now_seconds();
        must(&ctx, pbi_plan_chain(&ctx, game, &(pbi_plan_options){.seed = 1, .threads = 1}, &plan), "chain-equal");
        double seconds = now_seconds() - t0;
        best = seconds < best ? seconds : best;
        pb_arena_release(&arena);
    }
    return best;
}

/* Planning, bounds, verification and metrics: what `pebble plan` does between reading and writing. */
typedef struct whole {
    double seconds;
    uint64_t makespan;
    const char *outcome;
    size_t memory;
} whole;

static whole whole_plan(const bench *b, const pb_game *game)
{
    whole best = {.seconds = 1e300};
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        plan_run run;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        plan_once(b, game, "chain", &ctx, &arena, &run);
        must(&ctx, run.status, "chain-equal");
        best.seconds = run.seconds < best.seconds ? run.seconds : best.seconds;
        best.makespan = run.planned.certificate ? run.planned.schedule.metrics.makespan : 0;
        best.outcome = pb_outcome_name(run.planned.schedule.outcome);
        best.memory = run.memory_peak;
        pb_arena_release(&arena);
    }
    return best;
}

static void ratio(char text[24], double theirs, double ours)
{
    if (theirs > 0)
        snprintf(text, 24, "%.0f", theirs / ours);
    else
        snprintf(text, 24, "-");
}

static void published_rows(const bench *b)
{
    pb_context ctx;
    pb_arena arena;
    table t;
    uint64_t steps = b->smoke ? 200 : PUBLISHED_STEPS;
    char spec[96];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    snprintf(spec, sizeof spec, "adjoint-chain:steps=%" PRIu64 ",form=inputs,inplace=yes,grad-size=0", steps);
    const pb_graph *g = instance_make(&ctx, &arena, spec);
    table_open(&t, b, "chain-equal",
               "steps:6|snapshots:9|forward:8|plan ms:8|whole ms:8|stream us:9|Revolve s:9|plan x:8|whole x:8|"
               "Multistage s:12|stream x:8");
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = published[i].snapshots + 1};
        game.weights = PB_WEIGHTS_DEFAULT;
        uint64_t forward = 0;
        char plan_x[24], whole_x[24], stream_x[24];
        double stream = stream_seconds(b, steps, published[i].snapshots, &forward);
        double plan = strategy_seconds(b, &game);
        whole all = whole_plan(b, &game);
        ratio(plan_x, b->smoke ? 0 : published[i].revolve, plan);
        ratio(whole_x, b->smoke ? 0 : published[i].revolve, all.seconds);
        ratio(stream_x, b->smoke ? 0 : published[i].multistage, stream);
        if (!b->smoke && forward != published[i].forward_steps)
            must(&ctx, PB_EBUG, "chain-equal: other forward steps than published");
        table_row(&t, "%" PRIu64 "|%" PRIu32 "|%" PRIu64 "|%.3f|%.3f|%.1f|%.2f|%s|%s|%.4f|%s", steps,
                  published[i].snapshots, forward, 1e3 * plan, 1e3 * all.seconds, 1e6 * stream, published[i].revolve,
                  plan_x, whole_x, published[i].multistage, stream_x);
    }
    table_close(&t);
    pb_arena_release(&arena);
}

/* The tables: other forms, slow memory, and sizes they could not have before. */
static void table_rows(const bench *b)
{
    static const struct {
        const char *form;
        uint32_t steps, values;
        uint64_t price; /* of a store and a load; 0: no slow memory */
        uint64_t slow;  /* values in slow memory; 0: no cap */
        bool full;
    } cases[] = {
        {"form=inputs-outputs,grad-size=1", 5000, 22, 0, 0, false},
        {"form=inputs-outputs,grad-size=1", 5000, 22, 5, 0, false},
        {"form=inputs-outputs,grad-size=1,step-cost=4", 5000, 22, 3, 0, false},
        {"form=inputs,grad-size=0,inplace=yes", 5000, 6, 20, 20, false},
        {"form=inputs-outputs,grad-size=0", 100000, 20, 0, 0, false},
        {"form=inputs-outputs,grad-size=0", 100000, 20, 5, 0, false},
        {"form=inputs-outputs,grad-size=0", 1000000, 10, 0, 0, true},
        {"form=inputs-outputs,grad-size=0", 1000000, 10, 5, 0, true},
    };
    table t;
    table_open(&t, b, "chain-tables",
               "form:44|steps:8|values:6|price:5|slow:4|outcome:8|makespan:12|plan ms:9|whole ms:9|MB:7");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_arena arena;
        char spec[128];
        if (cases[i].full && !b->full)
            continue;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        uint32_t steps = b->smoke ? 100 : cases[i].steps;
        snprintf(spec, sizeof spec, "adjoint-chain:steps=%" PRIu32 ",%s", steps, cases[i].form);
        pb_game game = {.graph = instance_make(&ctx, &arena, spec), .cap = cases[i].values};
        game.kind = cases[i].price ? PB_GAME_TIERED : PB_GAME_REMAT;
        game.weights = PB_WEIGHTS_DEFAULT;
        game.tier_count = cases[i].price != 0;
        game.tiers[0] = (pb_tier){.store_cost = cases[i].price, .load_cost = cases[i].price, .cap = PB_UNLIMITED};
        if (cases[i].slow)
            game.tiers[0].cap = cases[i].slow;
        double plan = strategy_seconds(b, &game);
        whole all = whole_plan(b, &game);
        table_row(&t, "%s|%" PRIu32 "|%" PRIu32 "|%" PRIu64 "|%" PRIu64 "|%s|%" PRIu64 "|%.2f|%.2f|%.0f", cases[i].form,
                  steps, cases[i].values, cases[i].price, cases[i].slow, all.outcome, all.makespan, 1e3 * plan,
                  1e3 * all.seconds, 1e-6 * (double)all.memory);
        pb_arena_release(&arena);
    }
    table_close(&t);
}

void bench_chain_equal(const bench *b)
{
    published_rows(b);
    table_rows(b);
}
