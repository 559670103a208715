/* families.c -- every strategy on every graph family, from the whole peak in program order down to the proven smallest cap: a legal
 * plan or an honest refusal. `--long`, or a scale above 100 percent, takes larger graphs and more caps. */
#include "pebble/api.h"
#include "pebble/generate.h"
#include "support/cases.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 32, TICKS = 4000 };

static unsigned long passed, failed, plans, refusals;

typedef struct family_case {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *graph;
    uint64_t program_peak;
    char name[200];
} family_case;

static void report(const family_case *f, const pb_game *game, const char *strategy, const char *why)
{
    failed++;
    printf("FAILED %s on %s, %s, cap %" PRIu64 ": %s\n", strategy, f->name, pb_game_kind_name(game->kind), game->cap,
           why);
}

static void plan_once(family_case *f, const pb_game *game, const char *strategy, uint64_t ticks)
{
    char why[PLAN_WHY];
    pb_arena arena;
    pb_plan_result planned;
    pb_request request = {.strategy = strategy, .seed = 1};
    pb_arena_init(&arena, &f->ctx);
    f->ctx.tick_limit = ticks;
    f->ctx.ticks = 0;
    size_t before = f->ctx.memory_used;
    pb_status status = pb_plan(&f->ctx, game, &request, &arena, &planned);
    if (status != PB_OK) {
        report(f, game, strategy, f->ctx.error.message);
    } else if (!plan_is_honest(game, &planned, why)) {
        report(f, game, strategy, why);
    } else {
        passed++;
        planned.certificate ? plans++ : refusals++;
    }
    pb_arena_release(&arena);
    if (f->ctx.memory_used != before)
        report(f, game, strategy, "memory was not given back");
}

/* Caps in equal steps from the proven smallest one to `most`. */
static void every_cap(family_case *f, pb_game game, uint32_t steps, const char *strategy)
{
    pb_bounds bounds;
    if (pb_bounds_make(&f->ctx, &game, &bounds) != PB_OK) {
        report(f, &game, "bounds", f->ctx.error.message);
        return;
    }
    uint64_t most = game.kind == PB_GAME_REVERSIBLE ? f->graph->total_size : f->program_peak;
    uint64_t range = most > bounds.least_cap ? most - bounds.least_cap : 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i <= steps; i++) {
        game.cap = bounds.least_cap + range / steps * i + range % steps * i / steps;
        if (game.cap != last)
            plan_once(f, &game, strategy, TICKS);
        last = game.cap;
    }
}

static void every_strategy(family_case *f, uint32_t steps)
{
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t r = 0; r < rows; r++)
        for (unsigned k = 0; k < 3; k++) {
            if (!(row[r].games & kinds[k]))
                continue;
            pb_game game = {.graph = f->graph, .kind = kinds[k], .weights = PB_WEIGHTS_DEFAULT};
            if (kinds[k] == PB_GAME_TIERED) {
                game.tier_count = 1;
                game.tiers[0] = (pb_tier){
                    .store_cost = 1, .load_cost = 1, .store_per_unit = 1, .load_per_unit = 1, .cap = PB_UNLIMITED};
            }
            every_cap(f, game, steps, row[r].name);
        }
}

/* ---- graphs ---- */

static void name_case(family_case *f, const char *family, const pb_option *params, uint32_t count)
{
    int used = snprintf(f->name, sizeof f->name, "%s", family);
    for (uint32_t i = 0; i < count && used > 0 && (size_t)used < sizeof f->name; i++)
        used += snprintf(f->name + used, sizeof f->name - (size_t)used, " --%s %s", params[i].key, params[i].value);
}

static bool open_case(family_case *f, const char *family, const pb_option *params, uint32_t count)
{
    pb_context_init(&f->ctx);
    pb_arena_init(&f->arena, &f->ctx);
    name_case(f, family, params, count);
    if (pb_generate(&f->ctx, family, params, count, &f->arena, &f->graph) == PB_OK &&
        pb_graph_program_peak(&f->ctx, f->graph, &f->program_peak) == PB_OK)
        return true;
    printf("FAILED %s: %s\n", f->name, f->ctx.error.message);
    failed++;
    pb_arena_release(&f->arena);
    return false;
}

static void try_params(const char *family, const pb_option *params, uint32_t count, uint32_t steps)
{
    family_case f;
    if (!open_case(&f, family, params, count))
        return;
    every_strategy(&f, steps);
    pb_arena_release(&f.arena);
}

/* The sizes of a family are its positional parameters: these, `percent` of their defaults. */
static uint32_t scale_sizes(const pb_family *family, uint64_t percent, pb_option *params, char texts[][24])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < family->param_count && count < MAX_PARAMS; i++) {
        const pb_param_spec *spec = &family->params[i];
        if (!spec->positional || spec->kind != PB_PARAM_INTEGER)
            continue;
        double value = strtod(spec->default_text, NULL) * (double)percent / 100;
        value = value < spec->min ? spec->min : value > spec->max ? spec->max : value;
        snprintf(texts[count], sizeof texts[count], "%" PRIu64, (uint64_t)value);
        params[count] = (pb_option){spec->key, texts[count]};
        count++;
    }
    return count;
}

/* Each word parameter at each of its values, the rest as they are. */
static void every_word(const pb_family *family, pb_option *params, uint32_t count, uint32_t steps)
{
    for (uint32_t i = 0; i < family->param_count; i++) {
        const pb_param_spec *spec = &family->params[i];
        if (spec->kind != PB_PARAM_WORD)
            continue;
        const char *at = spec->words;
        while (at && *at) {
            size_t length = strcspn(at, "|");
            char word[40];
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            at += length + (at[length] == '|');
            if (strcmp(word, spec->default_text) == 0)
                continue;
            params[count] = (pb_option){spec->key, word};
            try_params(family->name, params, count + 1, steps);
        }
    }
}

static void every_family(bool longer)
{
    uint32_t families;
    const pb_family *family = pb_families(&families);
    for (uint32_t i = 0; i < families; i++) {
        pb_option params[MAX_PARAMS + 1];
        char texts[MAX_PARAMS][24];
        bool brief = test_cases(100) < 100;
        uint32_t steps = longer ? 20 : brief ? 1 : 5;
        uint32_t count = scale_sizes(&family[i], 30, params, texts);
        try_params(family[i].name, params, count, steps);
        if (brief)
            continue;
        every_word(&family[i], params, count, longer ? 8 : 2);
        count = scale_sizes(&family[i], 100, params, texts);
        try_params(family[i].name, params, count, steps);
        if (longer) {
            count = scale_sizes(&family[i], 150, params, texts);
            try_params(family[i].name, params, count, steps);
        }
    }
}

/* ---- a million nodes ---- */

static void plan_million(const char *family, const char *key, const char *value)
{
    static const char *const strategies[] = {"last-use", "sqrt"};
    family_case f;
    if (!open_case(&f, family, &(pb_option){key, value}, 1))
        return;
    for (unsigned i = 0; i < 2; i++) {
        pb_game game = {.graph = f.graph, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
        unsigned long before = plans;
        plan_once(&f, &game, strategies[i], 0);
        if (plans == before)
            report(&f, &game, strategies[i], "no plan without a cap");
    }
    pb_arena_release(&f.arena);
}

int main(int argc, char **argv)
{
    bool longer = (argc > 1 && strcmp(argv[1], "--long") == 0) || test_cases(100) > 100;
    if (test_cases(100) == 100 || longer) {
        plan_million("chain", "nodes", "1000000");
        plan_million("tree", "height", "19");
    }
    every_family(longer);
    printf("%lu plans, %lu refusals\n%lu passed, %lu failed\n", plans, refusals, passed, failed);
    return failed || !plans ? EXIT_FAILURE : EXIT_SUCCESS;
}
