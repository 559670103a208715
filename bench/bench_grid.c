/* bench_grid.c -- plan quality: every strategy of pb_strategies() in every game it plays, on small instances of all
 * kinds and at several caps. PEBBLE_DATA may name a folder of graph files that join the instances.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const instances[] = {
    "chain:100",
    "adjoint-chain:100",
    "tree:height=7",
    "pyramid:height=12",
    "grid:rows=16,cols=16",
    "layered:nodes=200,seed=1",
    "unet",
    "transformer",
};
static const unsigned percents[] = {20, 35, 50, 70, 90};

static void grid_row(const bench *b, table *t, const char *instance, const pb_game *game, const char *strategy,
                     unsigned percent)
{
    plan_run best = {0};
    pb_metrics metrics = {0};
    uint64_t bound = 0;
    char cost[PB_COST_TEXT] = "", gap[32] = "", numbers[160] = "||||", outcome[16] = "gave_up";
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        plan_run one;
        plan_once(b, game, strategy, &ctx, &arena, &one);
        if (i == 0 || one.seconds < best.seconds)
            best = one;
        if (one.status == PB_OK)
            snprintf(outcome, sizeof outcome, "%s", pb_outcome_name(one.planned.schedule.outcome));
        if (one.status == PB_OK && one.planned.schedule.has_metrics) {
            metrics = one.planned.schedule.metrics;
            bound = one.planned.schedule.lower_bound;
            pb_cost_text(metrics.cost, &game->weights, cost);
            if (metrics.gap >= 0)
                snprintf(gap, sizeof gap, "%.4f", metrics.gap);
            snprintf(numbers, sizeof numbers, "%s|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%s", cost, metrics.peak,
                     metrics.makespan, bound, gap);
        }
        pb_arena_release(&arena);
        if (best.seconds > 0.5)
            break; /* slow enough to be timed once */
    }
    table_row(t, "%s|%s|%s|%u%%|%" PRIu64 "|%s|%s|%" PRIu64 "|%.5f", instance, pb_game_kind_name(game->kind), strategy,
              percent, game->cap, outcome, numbers, best.ticks, best.seconds);
}

static void grid_instance(const bench *b, table *t, pb_context *ctx, const char *name, const pb_graph *g)
{
    uint32_t count;
    const pb_strategy *strategies = pb_strategies(&count);
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIERED; kind *= 2)
        for (unsigned p = 0; p < (b->smoke ? 1 : sizeof percents / sizeof *percents); p++)
            for (uint32_t s = 0; s < count; s++) {
                if (!(strategies[s].games & kind))
                    continue;
                pb_game game = {.graph = g, .kind = (pb_game_kind)kind, .weights = PB_WEIGHTS_DEFAULT};
                /* Percents of the peak in program order are out of reach where nothing is freed: there of all values. */
                game.cap = kind == PB_GAME_REVERSIBLE ? percent_of(g->total_size, percents[p])
                                                      : percent_cap(ctx, g, percents[p]);
                if (kind == PB_GAME_TIERED) {
                    game.tier_count = 1;
                    game.tiers[0] = (pb_tier){.store_cost = 2, .load_cost = 2, .cap = PB_UNLIMITED};
                }
                grid_row(b, t, name, &game, strategies[s].name, percents[p]);
            }
}

static void grid_file(const bench *b, table *t, const char *folder, const char *name)
{
    char path[4096];
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pb_graph_read(&ctx, file_source(file), PB_FORMAT_AUTO, path, &arena, &g) == PB_OK)
        grid_instance(b, t, &ctx, name, g);
    else
        fprintf(stderr, "bench: %s is passed over: %s\n", name, ctx.error.message);
    pb_arena_release(&arena);
    fclose(file);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void grid_folder(const bench *b, table *t, const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory) {
        perror(folder);
        exit(1);
    }
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    char *names[1024];
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) && count < sizeof names / sizeof *names)
        if (pb_format_of_path(entry->d_name) != PB_FORMAT_AUTO && instance_wanted(b, entry->d_name))
            names[count++] = pb_arena_text(&arena, entry->d_name, strlen(entry->d_name));
    closedir(directory);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        grid_file(b, t, folder, names[i]);
    pb_arena_release(&arena);
}

void bench_grid(const bench *b)
{
    table t;
    table_open(&t, b, "grid",
               "instance:26|game:10|strategy:16|percent:7|cap:12|outcome:10|cost:14|peak:12|makespan:14|"
               "lower bound:14|gap:8|ticks:11|seconds:9");
    for (unsigned i = 0; i < (b->smoke ? 1 : sizeof instances / sizeof *instances); i++) {
        if (!instance_wanted(b, instances[i]))
            continue;
        pb_context ctx;
        pb_arena arena;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        grid_instance(b, &t, &ctx, instances[i], instance_make(&ctx, &arena, b->smoke ? "chain:12" : instances[i]));
        pb_arena_release(&arena);
    }
    const char *folder = getenv("PEBBLE_DATA");
    if (folder && *folder && !b->smoke)
        grid_folder(b, &t, folder);
    table_close(&t);
}
