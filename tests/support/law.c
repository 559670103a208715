/* law.c -- see law.h. */
#include "support/law.h"

#include "base/rng.h"
#include "pebble/bound.h"
#include "support/cases.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_LIMIT = 60000, MOST_FAILURES = 3 };

static unsigned passed, failed;

typedef struct checker {
    law_check check;
    bf_space *space;
    char why[600];
    bool skipped;
} checker;

bool law_broken(law_bench *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(b->why, sizeof b->why, format, args);
    va_end(args);
    return true;
}

bool law_skip(law_bench *b)
{
    b->skipped = true;
    return false;
}

uint64_t law_cases(int argc, char **argv, uint64_t standard)
{
    uint64_t asked = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    return asked ? asked : test_cases(standard);
}

static bool fails(void *state, const small_game *s)
{
    checker *c = state;
    law_bench b = {.small = s, .space = c->space};
    pb_context_init(&b.ctx);
    pb_arena_init(&b.arena, &b.ctx);
    bool broken = false;
    if (small_game_build(&b.ctx, s, &b.arena, &b.game) && bf_from_game(&b.game, &b.problem))
        broken = c->check(&b);
    pb_arena_release(&b.arena);
    if (!broken && b.ctx.memory_used)
        broken = law_broken(&b, "%zu bytes were not given back", b.ctx.memory_used);
    c->skipped = b.skipped;
    if (broken)
        memcpy(c->why, b.why, sizeof c->why);
    return broken;
}

/* From just below the least cap to none; the interesting ones are near the least. Large games know only the bound. */
static void choose_cap(bf_space *space, bool large, small_game *s)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds bounds;
    bf_problem p;
    bf_answer least;
    pbi_rng rng = {s->seed ^ 0x5eed};
    uint64_t base = 3, all = 3;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (small_game_build(&ctx, s, &arena, &game)) {
        all = game.graph->total_size;
        if (large && pb_bounds_make(&ctx, &game, &bounds) == PB_OK)
            base = bounds.least_cap;
        else if (!large && bf_from_game(&game, &p) && bf_least_peak(space, &p, &least) && least.feasible)
            base = least.value;
    }
    pb_arena_release(&arena);
    uint64_t range = all > base ? all - base : 0;
    switch (pbi_rng_below(&rng, 8)) {
    case 0: s->cap = base ? base - 1 : 0; break;
    case 1: s->cap = large ? base + range / 2 : pbi_rng_below(&rng, base + 1); break;
    case 2: s->cap = PB_UNLIMITED; break;
    case 3: s->cap = base + 2 + pbi_rng_below(&rng, 6); break;
    case 4:
    case 5: s->cap = large ? base + pbi_rng_below(&rng, range / 2 + 1) : base + 1; break;
    default: s->cap = large ? base + pbi_rng_below(&rng, range / 4 + 1) : base;
    }
}

enum { LARGE = 1, RECIPES = 2 };

static void run(const char *law, law_check check, unsigned kinds, uint64_t cases, unsigned which)
{
    bool large = which & LARGE;
    checker c = {.check = check, .space = bf_space_new()};
    unsigned broken = 0;
    uint64_t skipped = 0, seed = 1;
    bf_space_limit(c.space, STATE_LIMIT);
    for (; seed <= cases && broken < MOST_FAILURES; seed++) {
        small_game s;
        (large ? small_game_random_large : small_game_random)(seed, kinds, &s);
        if (which & RECIPES)
            small_game_add_recipes(&s);
        choose_cap(c.space, large, &s);
        if (fails(&c, &s)) {
            broken++;
            small_game_shrink(fails, &c, &s);
            fails(&c, &s); /* the reason of the shrunken game */
            printf("seed %" PRIu64 " breaks \"%s\": %s\n", seed, law, c.why);
            small_game_print(&s, stdout);
        }
        skipped += c.skipped;
    }
    bf_space_free(c.space);
    if (skipped * 5 > cases) {
        printf("\"%s\": only %" PRIu64 " of %" PRIu64 " games were judged\n", law, cases - skipped, cases);
        broken++;
    }
    printf("%s %s: %" PRIu64 " games\n", broken ? "FAILED" : "ok    ", law, seed - 1);
    fflush(stdout);
    broken ? failed++ : passed++;
}

void law_run(const char *law, law_check check, unsigned kinds, uint64_t cases) { run(law, check, kinds, cases, 0); }

void law_run_large(const char *law, law_check check, unsigned kinds, uint64_t cases)
{
    run(law, check, kinds, cases, LARGE);
}

void law_run_recipes(const char *law, law_check check, unsigned kinds, uint64_t cases)
{
    run(law, check, kinds, cases, RECIPES);
}

void law_run_large_recipes(const char *law, law_check check, unsigned kinds, uint64_t cases)
{
    run(law, check, kinds, cases, LARGE | RECIPES);
}

int law_finish(void)
{
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
