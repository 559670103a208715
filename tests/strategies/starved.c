/* starved.c -- every strategy on a graph so large that each of its arrays is an allocation of its own, with each one
 * refused in turn, and interrupted at many polls: no crash, nothing lost, an honest answer. */
#include "pebble/api.h"
#include "support/cases.h"
#include "support/outside.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* An array of one byte a node is just larger than what arenas put into shared blocks. */
enum { NODES = 17000, TICKS = 60000 };

static unsigned passed, failed;

/* A path with shortcuts, by-products that are read later, values to overwrite and to keep. */
static pb_status build(pb_context *ctx, pb_arena *arena, const pb_graph **out)
{
    pb_builder *b;
    pb_status status = pb_builder_new(ctx, &b);
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < NODES && status == PB_OK; v++) {
        bool part = v % 8 == 5;
        pb_node got;
        status = pb_builder_add_node(b,
                                     &(pb_node_spec){.cost = part ? 0 : 1 + v % 3,
                                                     .size = 1 + v % 4,
                                                     .workspace = v % 8 == 2,
                                                     .flags = v % 1000 == 7   ? PB_NODE_KEEP
                                                              : v % 1000 == 3 ? PB_NODE_ONCE
                                                                              : 0},
                                     &got);
        if (status == PB_OK && part)
            status = pb_builder_set_byproduct(b, v, v - 1);
        if (part || !v || status != PB_OK)
            continue;
        pb_node before = v % 8 == 6 ? v - 2 : v - 1;
        status = pb_builder_add_edge(b, before, v);
        if (status == PB_OK && v % 8 == 3)
            status = pb_builder_add_inplace(b, v, before);
        if (status == PB_OK && v > 8 && v % 8 == 0)
            status = pb_builder_add_edge(b, v - 8, v);
        if (status == PB_OK && v > 40 && v % 8 == 1)
            status = pb_builder_add_edge(b, v - 12, v); /* reads a by-product */
    }
    if (status == PB_OK)
        status = pb_builder_freeze(b, arena, out);
    pb_builder_free(b);
    return status;
}

/* One run with the k-th request refused or the k-th poll interrupted; false when it is unclean. *seen: how
 * many requests and polls there were. */
static bool run(const pb_strategy *row, pb_game game, outside o, pb_status expected, outside *seen)
{
    char why[PLAN_WHY] = "";
    pb_context ctx;
    pb_arena arena;
    pb_plan_result planned;
    pb_request request = {.strategy = row->name, .seed = 1};
    outside_context(&ctx, &o);
    ctx.tick_limit = TICKS;
    pb_arena_init(&arena, &ctx);
    pb_status status = pb_plan(&ctx, &game, &request, &arena, &planned);
    bool ok = status == PB_OK ? plan_is_honest(&game, &planned, why) : status == expected && ctx.error.message[0];
    pb_arena_release(&arena);
    if (o.live_blocks || o.live_bytes || ctx.memory_used) {
        snprintf(why, sizeof why, "%zu blocks were not given back", o.live_blocks);
        ok = false;
    }
    if (!ok)
        printf("FAILED %s, %s, refused %" PRIu64 ", stopped %" PRIu64 ": %s %s %.200s\n", row->name,
               pb_game_kind_name(game.kind), o.refuse_at, o.stop_at, pb_status_text(status), why, ctx.error.message);
    ok ? passed++ : failed++;
    *seen = o;
    return ok;
}

static void every_fault(const pb_strategy *row, const pb_game *game)
{
    outside plain, seen;
    if (!run(row, *game, (outside){0}, PB_OK, &plain))
        return;
    /* The full tier refuses every request; a sample every few, a small one fewer. */
    uint64_t step = test_stride() > 1 ? 37 : test_is_sample() ? 13 : 1;
    if (row->strength == PB_PORTFOLIO) /* the rows that it asks have their own turn */
        step *= 6;
    for (uint64_t k = 1; k <= plain.requests; k += step)
        run(row, *game, (outside){.refuse_at = k}, PB_ENOMEM, &seen);
    for (uint64_t k = 1; k <= plain.polls; k += k < 8 ? 1 : k / 2)
        run(row, *game, (outside){.stop_at = k}, PB_ECANCELLED, &seen);
}

int main(void)
{
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    pb_context ctx;
    pb_arena arena;
    const pb_graph *graph;
    uint64_t peak;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (build(&ctx, &arena, &graph) != PB_OK || pb_graph_program_peak(&ctx, graph, &peak) != PB_OK) {
        printf("the graph is refused: %s\n", ctx.error.message);
        return EXIT_FAILURE;
    }
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t i = 0; i < rows; i++)
        for (unsigned k = 0; k < 3; k++) {
            pb_game game = {.graph = graph, .kind = kinds[k], .cap = peak, .weights = PB_WEIGHTS_DEFAULT};
            if (!(row[i].games & kinds[k]))
                continue;
            if (kinds[k] == PB_GAME_REVERSIBLE)
                game.cap = graph->total_size;
            if (kinds[k] == PB_GAME_TIERED) {
                game.tier_count = 1;
                game.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
            }
            every_fault(&row[i], &game);
        }
    pb_arena_release(&arena);
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
