/* shrunken.c -- games that once broke a strategy, planned by every strategy and policy: the texts in regress/games, in
 * the form that the tests over random games print. */
#define _POSIX_C_SOURCE 200809L

#include "oracle/brute_force.h"
#include "pebble/api.h"
#include "pebble/io.h"
#include "support/plan_check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 100000, FILE_ROOM = 1 << 16 };

static unsigned passed, failed;

typedef struct shrunken {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    const char *file;
} shrunken;

static void report(const shrunken *s, const char *what, const char *why)
{
    failed++;
    printf("FAILED %s: %s: %s\n", s->file, what, why);
}

/* ---- the game line ---- */

/* The number behind `key` in this part of the line, up to ';'. */
static uint64_t number_of(const char *part, const char *key)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s ", key);
    const char *at = strstr(part, wanted);
    if (!at)
        return 0;
    at += strlen(wanted);
    return strncmp(at, "unlimited", 9) == 0 ? PB_UNLIMITED : strtoull(at, NULL, 10);
}

static bool read_game(const char *line, pb_game *game)
{
    char kind[20];
    pb_weights w = {0};
    const char *weights = strstr(line, "weights ");
    if (sscanf(line, "game %19s", kind) != 1 || !pb_game_kind_parse(kind, &game->kind) || !weights ||
        sscanf(weights, "weights %" SCNu64 ",%" SCNu64 ",%" SCNu64 " / 10^%" SCNu32, &w.alpha, &w.beta, &w.gamma,
               &w.digits) != 4)
        return false;
    game->weights = w;
    game->cap = number_of(line, "cap");
    for (const char *at = strstr(line, "; tier "); at; at = strstr(at + 1, "; tier "))
        game->tiers[game->tier_count++] = (pb_tier){.store_cost = number_of(at, "store-cost"),
                                                    .load_cost = number_of(at, "load-cost"),
                                                    .store_per_unit = number_of(at, "store-per-unit"),
                                                    .load_per_unit = number_of(at, "load-per-unit"),
                                                    .digits = (uint32_t)number_of(at, "price-digits"),
                                                    .cap = number_of(at, "cap")};
    return true;
}

static bool read_shrunken(shrunken *s, const char *path)
{
    static char text[FILE_ROOM];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    char *line = strstr(text, "\ngame ");
    s->game = (pb_game){0};
    if (!line || !read_game(line + 1, &s->game))
        return false;
    pb_memory memory = {.bytes = text, .length = (size_t)(line - text)};
    const pb_graph *graph;
    if (pb_graph_read(&s->ctx, pb_source_memory(&memory), PB_FORMAT_JSON, NULL, &s->arena, &graph) != PB_OK)
        return false;
    s->game.graph = graph;
    return true;
}

/* ---- planning ---- */

static void plan(shrunken *s, const char *strategy, const char *policy, const bf_answer *work, const bf_answer *cost)
{
    char why[PLAN_WHY];
    pb_plan_result planned;
    pb_request request = {.strategy = strategy, .policy = policy, .seed = 1};
    s->ctx.tick_limit = TICKS;
    s->ctx.ticks = 0;
    if (pb_plan(&s->ctx, &s->game, &request, &s->arena, &planned) != PB_OK)
        report(s, strategy, s->ctx.error.message);
    else if (!plan_is_honest(&s->game, &planned, why) || (work && !plan_keeps_to_optimum(&planned, work, cost, why)))
        report(s, strategy, why);
    else
        passed++;
}

static void plan_all(shrunken *s)
{
    bf_space *space = bf_space_new(), *other = bf_space_new();
    bf_problem p;
    bf_answer work, cost;
    bf_space_limit(space, 200000);
    bf_space_limit(other, 200000);
    bool known = bf_from_game(&s->game, &p) && bf_least_makespan(space, &p, &work) && bf_least_cost(other, &p, &cost);
    uint32_t rows, policies;
    const pb_strategy *row = pb_strategies(&rows);
    const pb_policy *policy = pb_policies(&policies);
    for (uint32_t i = 0; i < rows; i++) {
        if (!(row[i].games & s->game.kind))
            continue;
        plan(s, row[i].name, NULL, known ? &work : NULL, &cost);
        for (uint32_t k = 0; row[i].takes_policy && k < policies; k++)
            plan(s, row[i].name, policy[k].name, known ? &work : NULL, &cost);
    }
    bf_space_free(space);
    bf_space_free(other);
}

static int is_game(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

int main(void)
{
    struct dirent **names;
    int count = scandir(TEST_DIR "/regress/games", &names, is_game, alphasort);
    for (int i = 0; i < count; i++) {
        char path[1000];
        shrunken s = {.file = names[i]->d_name};
        snprintf(path, sizeof path, "%s/regress/games/%s", TEST_DIR, names[i]->d_name);
        pb_context_init(&s.ctx);
        pb_arena_init(&s.arena, &s.ctx);
        if (read_shrunken(&s, path))
            plan_all(&s);
        else
            report(&s, "reading", s.ctx.error.message);
        pb_arena_release(&s.arena);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
