/* bench_plan.c -- how fast each strategy plans as graphs grow: nodes a second at 10^4, 10^5 and 10^6 nodes, with the
 * growth of the time per node from one size to the next (1.0 is linear).
 *
 * A strategy that gives up, or takes a fifth of the limit, is not asked for the next size.
 */
#include "measure.h"

#include <inttypes.h>
#include <string.h>

typedef struct family {
    const char *name, *spec[3];
    unsigned percent; /* of the peak in program order: as tight as most strategies can take */
} family;

static const family families[] = {
    {"chain", {"chain:10000", "chain:100000", "chain:1000000"}, 100},
    {"tree", {"tree:height=12", "tree:height=16", "tree:height=19"}, 100},
    {"transformer", {"transformer:blocks=200", "transformer:blocks=2000", "transformer:blocks=20000"}, 50},
    {"layered", {"layered:nodes=10000,seed=1", "layered:nodes=100000,seed=1", "layered:nodes=1000000,seed=1"}, 100},
};

/* One size of one family for one strategy: seconds per node, or 0 when it is not worth going on. */
static double plan_row(const bench *b, table *t, const char *strategy, pb_game *game, const char *spec, double before)
{
    const pb_graph *g = game->graph;
    plan_run best = {0};
    for (unsigned i = 0; i < (b->repeat < 3 ? b->repeat : 3); i++) {
        pb_context ctx;
        pb_arena arena;
        plan_run one;
        plan_once(b, game, strategy, &ctx, &arena, &one);
        pb_arena_release(&arena);
        if (i == 0 || one.seconds < best.seconds)
            best = one;
        if (best.seconds > 1)
            break;
    }
    bool have = best.status == PB_OK && best.planned.schedule.has_metrics;
    double per_node = best.seconds / (g->node_count ? g->node_count : 1);
    char growth[32] = "", overhead[32] = "";
    if (have)
        snprintf(overhead, sizeof overhead, "%.4f", best.planned.schedule.metrics.overhead);
    if (have && before > 0)
        snprintf(growth, sizeof growth, "%.2f", per_node / before);
    table_row(t, "%s|%s|%s|%" PRIu32 "|%" PRIu32 "|%.4f|%.0f|%s|%.0f|%" PRIu64 "|%s|%s%s", strategy,
              pb_game_kind_name(game->kind), spec, g->node_count, g->edge_count, best.seconds,
              have ? 1e-3 / per_node : 0.0, growth, 1e-6 * (double)best.memory_peak, best.ticks, overhead,
              have ? pb_outcome_name(best.planned.schedule.outcome) : "none: ", best.message);
    return have && best.seconds < b->seconds / 5 ? per_node : 0;
}

static pb_game_kind first_game(unsigned games)
{
    return games & PB_GAME_REMAT ? PB_GAME_REMAT : games & PB_GAME_REVERSIBLE ? PB_GAME_REVERSIBLE : PB_GAME_TIERED;
}

static void plan_family(const bench *b, table *t, const family *f)
{
    uint32_t count;
    const pb_strategy *strategies = pb_strategies(&count);
    double before[64] = {0};
    for (unsigned size = 0; size < (b->smoke ? 1u : b->full ? 3u : 2u); size++) {
        pb_context ctx;
        pb_arena arena;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        const pb_graph *g = instance_make(&ctx, &arena, b->smoke ? "chain:50" : f->spec[size]);
        for (uint32_t s = 0; s < count && s < 64; s++) {
            if (size > 0 && before[s] == 0)
                continue;
            pb_game game = {.graph = g, .kind = first_game(strategies[s].games), .weights = PB_WEIGHTS_DEFAULT};
            game.cap = percent_cap(&ctx, g, f->percent);
            if (game.kind == PB_GAME_REVERSIBLE)
                game.cap = g->total_size; /* percent caps are of another game: too tight to plan in here */
            if (game.kind == PB_GAME_TIERED) {
                game.tier_count = 1;
                game.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
            }
            before[s] = plan_row(b, t, strategies[s].name, &game, f->spec[size], before[s]);
        }
        pb_arena_release(&arena);
    }
}

void bench_plan(const bench *b)
{
    table t;
    table_open(&t, b, "plan",
               "strategy:16|game:10|instance:28|nodes:8|edges:8|seconds:8|knodes/s:8|time per node x:15|arena MB:8|"
               "ticks:12|overhead:9|outcome:8");
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
        if (instance_wanted(b, families[i].name))
            plan_family(b, &t, &families[i]);
    table_close(&t);
}
