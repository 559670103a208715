/* cmd_merkle.c -- pebble merkle: memory and work of the traversals of a hash tree, and the cheapest under a cap. */
#include "commands.h"
#include "common/json_print.h"
#include "files.h"
#include "merkle_layers.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MOVES_HEIGHT = 16, CELL = 64 };

typedef struct task {
    pb_traversal_request request;
    pb_traversal_spec only;
    pb_traversal_choice choice;
} task;

static bool read_task(app *a, task *t)
{
    uint64_t height;
    pb_traversal_request *r = &t->request;
    const char *by = app_option(a, OPT_BY), *name = app_option(a, OPT_ALGORITHM);
    if (!app_option(a, OPT_HEIGHT)) {
        app_usage(a, "--height is missing, as in pebble merkle --height 16");
        return false;
    }
    if (!app_number(a, OPT_HEIGHT, 0, &height) || !app_number(a, OPT_HASHES, UINT64_MAX, &r->cap) ||
        !app_number(a, OPT_LEAF_COST, 1, &r->prices.leaf) || !app_number(a, OPT_HASH_COST, 1, &r->prices.hash))
        return false;
    if (height > 24) {
        app_usage(a, "--height: a tree of 2^%llu leaves is too large to simulate; use at most 24",
                  (unsigned long long)height);
        return false;
    }
    r->height = (uint32_t)height;
    if (by && strcmp(by, "worst") != 0 && strcmp(by, "average") != 0) {
        app_usage(a, "--by: expected worst or average, not `%s`", by);
        return false;
    }
    r->by_average = by && strcmp(by, "average") == 0;
    r->setup_apart = app_option(a, OPT_NO_SETUP) != NULL;
    if (name && pb_traversal_parse(&a->ctx, name, r->height, &t->only) != PB_OK) {
        app_usage(a, "--algorithm: %s", a->ctx.error.message);
        return false;
    }
    r->only = name ? &t->only : NULL;
    return true;
}

/* Per output, without the first. */
static double average(uint64_t sum, const pb_traversal_figures *f)
{
    return f->outputs > 1 ? (double)sum / (double)(f->outputs - 1) : 0;
}

static void number_text(uint64_t value, char text[CELL]) { short_number((pb_u128){0, value}, 9, text); }

static void average_text(double value, char text[CELL])
{
    if (value < 1000)
        snprintf(text, CELL, "%.2f", value);
    else
        number_text((uint64_t)(value + 0.5), text);
}

static void published_text(const pb_traversal_spec *spec, char text[CELL])
{
    pb_traversal_promise p;
    pb_traversal_published(spec, &p);
    if (p.leaves > 0)
        snprintf(text, CELL, "%g stored, %g + %g", p.storage, p.leaves, p.hashes);
    else if (p.units > 0)
        snprintf(text, CELL, "%.4g stored, %.4g in total", p.storage, p.units);
    else
        snprintf(text, CELL, "-");
}

static bool add_row(table *tab, const app *a, const task *t, uint32_t i)
{
    const pb_traversal_row *row = &t->choice.row[i];
    const pb_traversal_figures *f = &row->figures;
    char name[PB_TRAVERSAL_TEXT], cell[8][CELL], published[CELL];
    pb_traversal_text(&row->spec, name);
    number_text(f->storage, cell[0]);
    number_text(f->setup_storage, cell[1]);
    number_text(f->leaves_max, cell[2]);
    average_text(average(f->leaves, f), cell[3]);
    number_text(f->hashes_max, cell[4]);
    average_text(average(f->hashes, f), cell[5]);
    number_text(f->work_max, cell[6]);
    average_text(average(f->work, f), cell[7]);
    published_text(&row->spec, published);
    const char *mark = i == t->choice.winner ? (a->unicode ? "★" : "*") : row->fits ? "" : a->unicode ? "✗" : "x";
    const char *cells[] = {mark,    name,    cell[0], cell[1], cell[2],  cell[3],
                           cell[4], cell[5], cell[6], cell[7], published};
    return table_row(tab, cells, i == t->choice.winner ? "1" : row->fits ? NULL : "2");
}

static bool print_text(app *a, const task *t)
{
    static const table_column columns[] = {{"", false, 0},      {"algorithm", false, 0}, {"stored", true, 0},
                                           {"set-up", true, 1}, {"leaves", true, 0},     {"mean", true, 3},
                                           {"hashes", true, 0}, {"mean", true, 4},       {"work", true, 0},
                                           {"mean", true, 0},   {"published", false, 2}};
    const pb_traversal_request *r = &t->request;
    char leaves[CELL], price[2][CELL], cap[CELL];
    table tab;
    number_text(UINT64_C(1) << r->height, leaves);
    number_text(r->prices.leaf, price[0]);
    number_text(r->prices.hash, price[1]);
    number_text(r->cap, cap);
    printf("a hash tree of height %u: %s %s, paths of %u %s", (unsigned)r->height, leaves,
           r->height ? "leaves" : "leaf", (unsigned)r->height, r->height == 1 ? "hash" : "hashes");
    if (r->cap != UINT64_MAX)
        printf(", at most %s stored", cap);
    printf("\nleaves, hashes and work of the most expensive output, and the mean; a leaf costs %s, a hash %s\n\n",
           price[0], price[1]);
    table_init(&tab, &a->arena, columns, sizeof columns / sizeof *columns);
    tab.color = a->color;
    tab.width = a->width;
    tab.fit = true;
    for (uint32_t i = 0; i < t->choice.row_count; i++)
        if (!add_row(&tab, a, t, i))
            return false;
    table_print(&tab, stdout);
    return true;
}

static void print_verdict(const app *a, const task *t)
{
    const pb_traversal_request *r = &t->request;
    char name[PB_TRAVERSAL_TEXT];
    (void)a;
    if (t->choice.infeasible && r->setup_apart)
        printf("\ninfeasible: a path alone has %u hashes. Try --cap %u\n", (unsigned)r->height, (unsigned)r->height);
    else if (t->choice.infeasible)
        printf("\ninfeasible: computing the root of this tree needs %u hashes at a time, in any order. Try --cap %u\n",
               (unsigned)r->height + 1, (unsigned)r->height + 1);
    else if (t->choice.winner == UINT32_MAX)
        printf("\nnone of these algorithms fits the cap; run without --cap to see what they store\n");
    if (t->choice.winner == UINT32_MAX)
        return;
    pb_traversal_text(&t->choice.row[t->choice.winner].spec, name);
    if (!r->only)
        printf("\nbest: %s, with the least %s\n", name,
               r->by_average ? "total work" : "work for the most expensive output");
}

static void json_number(const char *key, double value, bool there)
{
    printf(",\"%s\":", key);
    if (there)
        json_double(stdout, value);
    else
        fputs("null", stdout);
}

static void json_count(const char *key, uint64_t value)
{
    printf(",\"%s\":", key);
    json_u64(stdout, value);
}

static void print_json_row(const pb_traversal_row *row)
{
    const pb_traversal_figures *f = &row->figures;
    char name[PB_TRAVERSAL_TEXT];
    pb_traversal_promise p;
    pb_traversal_text(&row->spec, name);
    pb_traversal_published(&row->spec, &p);
    fputs("{\"algorithm\":", stdout);
    json_text(stdout, name);
    printf(",\"fits\":%s", row->fits ? "true" : "false");
    json_count("slots", f->slots);
    json_count("stored", f->storage);
    json_count("setup_stored", f->setup_storage);
    json_count("leaves_max", f->leaves_max);
    json_number("leaves_average", average(f->leaves, f), true);
    json_count("hashes_max", f->hashes_max);
    json_number("hashes_average", average(f->hashes, f), true);
    json_count("units_max", f->units_max);
    json_count("work_max", f->work_max);
    json_number("work_average", average(f->work, f), true);
    fputs(",\"published\":", stdout);
    if (!p.source) {
        fputs("null}", stdout);
        return;
    }
    fputs("{\"source\":", stdout);
    json_text(stdout, p.source);
    json_number("stored", p.storage, true);
    json_number("leaves", p.leaves, p.leaves > 0);
    json_number("hashes", p.hashes, p.hashes > 0);
    json_number("units", p.units, p.units > 0);
    fputs("}}", stdout);
}

static void print_json(const task *t)
{
    const pb_traversal_request *r = &t->request;
    char name[PB_TRAVERSAL_TEXT];
    printf("{\"height\":%u,\"cap\":", (unsigned)r->height);
    json_cap(stdout, r->cap);
    json_count("leaf_cost", r->prices.leaf);
    json_count("hash_cost", r->prices.hash);
    printf(",\"by\":\"%s\",\"setup_counts\":%s,\"infeasible\":%s,\"winner\":", r->by_average ? "average" : "worst",
           r->setup_apart ? "false" : "true", t->choice.infeasible ? "true" : "false");
    if (t->choice.winner != UINT32_MAX)
        pb_traversal_text(&t->choice.row[t->choice.winner].spec, name);
    json_text(stdout, t->choice.winner != UINT32_MAX ? name : NULL);
    fputs(",\"algorithms\":[", stdout);
    for (uint32_t i = 0; i < t->choice.row_count; i++) {
        fputs(i ? "," : "", stdout);
        print_json_row(&t->choice.row[i]);
    }
    puts("]}");
}

/* The winner as a schedule of the graph that `pebble gen merkle-traversal` makes with the same figures. */
static exit_code write_moves(app *a, const task *t, const char *path)
{
    const pb_traversal_row *row = &t->choice.row[t->choice.winner];
    char height[24], leaf[24], hash[24], strategy[80];
    pb_game game = {.kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    pb_plan_result planned;
    game.cap = t->request.cap != UINT64_MAX ? t->request.cap : row->figures.slots;
    snprintf(height, sizeof height, "%u", (unsigned)t->request.height);
    snprintf(leaf, sizeof leaf, "%llu", (unsigned long long)t->request.prices.leaf);
    snprintf(hash, sizeof hash, "%llu", (unsigned long long)t->request.prices.hash);
    snprintf(strategy, sizeof strategy, "merkle:algorithm=%s", pb_traversal_name(row->spec.kind));
    if (pb_traversal_takes_k(row->spec.kind))
        snprintf(strategy + strlen(strategy), sizeof strategy - strlen(strategy), ",k=%u", (unsigned)row->spec.k);
    pb_option params[] = {{"height", height}, {"leaf-cost", leaf}, {"inner-cost", hash}};
    pb_status status = pb_generate(&a->ctx, "merkle-traversal", params, 3, &a->arena, &game.graph);
    if (status == PB_OK)
        status = pb_plan(&a->ctx, &game, &(pb_request){.strategy = strategy, .seed = 1}, &a->arena, &planned);
    if (status != PB_OK)
        return app_status(a, status);
    if (!planned.certificate)
        return app_fail(a, EXIT_NOTHING, "nothing was written to %s: %s; try a larger --cap or another --algorithm",
                        path, planned.schedule.reason);
    return write_schedule(a, &planned.schedule, path);
}

/* --proofs. */
static exit_code keep_layers(app *a, const task *t)
{
    uint64_t queries = 0;
    if (app_option(a, OPT_ALGORITHM) || app_option(a, OPT_BY) || app_option(a, OPT_NO_SETUP) ||
        app_option(a, OPT_OUTPUT))
        return app_usage(a, "--proofs goes with --height, --cap, --leaf-cost, --hash-cost and --json only; for a plan, "
                            "pebble gen merkle-proofs makes the graph");
    if (!app_number(a, OPT_PROOFS, 0, &queries))
        return EXIT_USAGE;
    pb_proof_request r = {t->request.height, queries, t->request.cap, t->request.prices};
    return merkle_layers(a, &r);
}

exit_code cmd_merkle(app *a)
{
    task t = {.request = {.cap = UINT64_MAX}};
    const char *path = app_option(a, OPT_OUTPUT);
    if (a->opts.positional_count)
        return app_usage(a, "merkle takes only options, as in pebble merkle --height 16");
    if (!read_task(a, &t))
        return EXIT_USAGE;
    if (app_option(a, OPT_PROOFS))
        return keep_layers(a, &t);
    if (path && t.request.height > MAX_MOVES_HEIGHT)
        return app_usage(a, "-o: the schedule of all moves can be written for --height %d or less", MAX_MOVES_HEIGHT);
    if (path && strcmp(path, "-") == 0)
        return app_usage(a, "-o needs a file name: standard output is already used for the table");
    progress_planning(&a->progress, true);
    pb_status status = pb_traversal_choose(&a->ctx, &t.request, &a->arena, &t.choice);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        print_json(&t);
    else if (!print_text(a, &t))
        return app_status(a, PB_ENOMEM);
    else
        print_verdict(a, &t);
    if (t.choice.winner == UINT32_MAX)
        return t.choice.infeasible ? EXIT_INFEASIBLE : EXIT_NOTHING;
    return path ? write_moves(a, &t, path) : EXIT_DONE;
}
