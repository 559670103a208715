/* degenerate.c -- every strategy, in every game it plays, ends on games where nothing costs anything: no costs, no sizes,
 * weights of zero, only by-products, everything kept, everything given, nothing at all. A search that goes on until its
 * effort is spent must spend it there too: with few ticks it ends by itself, and without a limit of ticks it ends soon after
 * it was asked to stop.
 *
 * A strategy that neither counts nor asks would run for ever. Each run may take so many seconds of this process's own time
 * that no machine needs them; then the game is printed and the test fails. */
#include "base/rng.h"
#include "pebble/api.h"
#include "support/cases.h"
#include "support/outside.h"
#include "support/plan_check.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    A_HANG = 10,      /* seconds of processor time for what takes milliseconds */
    AFTER_STOP = 2000 /* polls that may still come after the stop: none answers "go on" any more */
};

static unsigned long passed, failed;

/* ---- a run that must end ---- */

static const small_game *at_work; /* for the handler */
static char at_work_text[160];

static void hangs(int signal)
{
    (void)signal; /* printing from a handler: the process ends here, and what it was doing is a plain loop */
    printf("FAILED %s: does not end\n", at_work_text);
    small_game_print(at_work, stdout);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

static void watch(int seconds)
{
    struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

typedef struct effort {
    uint64_t ticks, stop_at; /* 0: none */
    bool patient;
} effort;

static bool run(const pb_strategy *row, const char *name, const small_game *s, effort e)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result planned;
    char why[PLAN_WHY] = "";
    outside o = {.stop_at = e.stop_at};
    pb_request request = {.strategy = row->name, .seed = 1, .patient = e.patient};
    snprintf(at_work_text, sizeof at_work_text, "%s, %s, %" PRIu64 " ticks, stop at poll %" PRIu64 "%s", row->name,
             name, e.ticks, e.stop_at, e.patient ? ", patient" : "");
    at_work = s;
    outside_context(&ctx, &o);
    pb_arena_init(&arena, &ctx);
    bool ok = small_game_build(&ctx, s, &arena, &game);
    if (ok) {
        ctx.tick_limit = e.ticks;
        watch(A_HANG);
        pb_status status = pb_plan(&ctx, &game, &request, &arena, &planned);
        watch(0);
        ok = status == PB_OK ? plan_is_honest(&game, &planned, why) : status == PB_ECANCELLED && e.stop_at;
        if (ok && e.stop_at && o.polls > e.stop_at + AFTER_STOP) {
            snprintf(why, sizeof why, "%" PRIu64 " polls after the stop", o.polls - e.stop_at);
            ok = false;
        }
        if (!ok && !why[0])
            snprintf(why, sizeof why, "%s: %.300s", pb_status_text(status), ctx.error.message);
    } else {
        snprintf(why, sizeof why, "the game cannot be built: %.300s", ctx.error.message);
    }
    pb_arena_release(&arena);
    if (!ok) {
        printf("FAILED %s: %s\n", at_work_text, why);
        small_game_print(s, stdout);
    }
    ok ? passed++ : failed++;
    return ok;
}

/* ---- games where something is missing ---- */

static uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

static void nothing(small_game *s) { (void)s; }
static void one_free(small_game *s) { small_game_add(s, 0, 1, 0); }
static void one_weightless(small_game *s) { small_game_add(s, 1, 0, 0); }
static void one_of_neither(small_game *s) { small_game_add(s, 0, 0, 0); }
static void kept_part(small_game *s) /* a node without cost and a by-product of it that is kept */
{
    small_game_add(s, 0, 1, 0);
    small_game_add(s, 0, 2, 0);
    s->owner[1] = 0;
    s->flags[1] = PB_NODE_KEEP;
}
static void only_parts(small_game *s) /* by-products that are read, dropped and kept */
{
    small_game_add(s, 0, 1, 0);
    for (unsigned k = 1; k <= 3; k++) {
        small_game_add(s, 0, k, 0);
        s->owner[k] = 0;
    }
    s->flags[3] = PB_NODE_KEEP;
    small_game_add(s, 1, 1, bit(1));
    small_game_add(s, 0, 2, 0);
    s->owner[5] = 4;
    small_game_add(s, 0, 1, bit(2) | bit(5));
}
static void mesh(small_game *s)
{
    small_game_add(s, 1, 2, 0);
    small_game_add(s, 2, 1, bit(0));
    small_game_add(s, 1, 3, bit(0));
    small_game_add(s, 1, 1, bit(1) | bit(2));
    small_game_add(s, 3, 2, bit(1) | bit(3));
    small_game_add(s, 1, 1, bit(0) | bit(4));
}
static void free_mesh(small_game *s)
{
    mesh(s);
    memset(s->cost, 0, sizeof s->cost);
}
static void weightless_mesh(small_game *s)
{
    mesh(s);
    memset(s->size, 0, sizeof s->size);
}
static void empty_mesh(small_game *s)
{
    free_mesh(s);
    memset(s->size, 0, sizeof s->size);
}
static void half_free(small_game *s) /* every other node costs nothing, every third has no size */
{
    mesh(s);
    for (unsigned v = 0; v < s->node_count; v++) {
        s->cost[v] *= v % 2;
        s->size[v] *= v % 3 != 0;
    }
}
static void all_kept(small_game *s)
{
    free_mesh(s);
    for (unsigned v = 0; v < s->node_count; v++)
        s->flags[v] = PB_NODE_KEEP;
}
static void all_once(small_game *s)
{
    free_mesh(s);
    for (unsigned v = 0; v < s->node_count; v++)
        s->flags[v] = PB_NODE_ONCE;
}
static void all_given(small_game *s)
{
    for (unsigned v = 0; v < 4; v++) {
        small_game_add(s, 0, v, 0);
        s->flags[v] = v % 2 ? PB_NODE_GIVEN : PB_NODE_GIVEN | PB_NODE_KEEP;
    }
}
static void given_to_read(small_game *s)
{
    all_given(s);
    small_game_add(s, 0, 1, bit(1) | bit(3));
    small_game_add(s, 0, 0, bit(4));
}
static void free_chain(small_game *s)
{
    for (unsigned v = 0; v < 7; v++)
        small_game_add(s, 0, 1, v ? bit(v - 1) : 0);
}
static void free_adjoint(small_game *s) /* a given state, four more, and gradients that read them backwards */
{
    small_game_add(s, 0, 1, 0);
    s->flags[0] = PB_NODE_GIVEN;
    for (unsigned v = 1; v <= 4; v++)
        small_game_add(s, 0, 1, bit(v - 1));
    for (unsigned i = 4; i > 0; i--)
        small_game_add(s, 0, 1, bit(i - 1) | bit(i) | (i < 4 ? bit(s->node_count - 1) : 0));
}
static void free_tree(small_game *s)
{
    for (int i = 0; i < 4; i++)
        small_game_add(s, 0, 1, 0);
    small_game_add(s, 0, 1, bit(0) | bit(1));
    small_game_add(s, 0, 1, bit(2) | bit(3));
    small_game_add(s, 0, 0, bit(4) | bit(5));
}

static const struct {
    const char *name;
    void (*make)(small_game *);
} games[] = {
    {"nothing", nothing},
    {"one free", one_free},
    {"one weightless", one_weightless},
    {"one of neither", one_of_neither},
    {"a kept by-product", kept_part},
    {"by-products", only_parts},
    {"free mesh", free_mesh},
    {"weightless mesh", weightless_mesh},
    {"empty mesh", empty_mesh},
    {"half free", half_free},
    {"all kept", all_kept},
    {"all once", all_once},
    {"all given", all_given},
    {"given to read", given_to_read},
    {"free chain", free_chain},
    {"free adjoint chain", free_adjoint},
    {"free tree", free_tree},
};

static const pb_weights weights[] = {
    {.gamma = 1}, {.alpha = 1}, {.beta = 1}, {.alpha = 0}, {.alpha = 1, .beta = 1}, {.alpha = 1, .gamma = 1},
};

/* ---- all of them ---- */

/* By the exhaustive search: the least cap of all, where there is one. */
static uint64_t least_cap(bf_space *space, const small_game *s)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    bf_problem p;
    bf_answer least = {0};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (small_game_build(&ctx, s, &arena, &game) && bf_from_game(&game, &p))
        bf_least_peak(space, &p, &least);
    pb_arena_release(&arena);
    return least.feasible ? least.value : 3;
}

/* Every row that plays the game. */
static void by_all(const char *name, const small_game *s, const effort *efforts, size_t count)
{
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t r = 0; r < rows; r++) {
        bool ok = row[r].games & (unsigned)s->kind;
        for (size_t i = 0; i < count && ok; i++)
            ok = run(&row[r], name, s, efforts[i]);
    }
}

typedef enum question { COMPARE, LEAST_CAP, SWEEP, QUESTIONS } question;

/* What asks many strategies, or for many caps, ends as well. */
static void ask(const char *name, const small_game *s, question what, effort e)
{
    static const char *const words[] = {"compare", "least cap", "sweep"};
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_comparison comparison;
    pb_plan_result planned;
    pb_sweep sweep;
    uint64_t caps[] = {s->cap, s->cap / 2, 0};
    outside o = {.stop_at = e.stop_at};
    pb_request request = {.seed = 1, .patient = e.patient};
    pb_compare_request rows = {.games = s->kind, .plan = request};
    pb_sweep_request cells = {.strategies = "all", .game = s->kind, .caps = caps, .cap_count = 3, .plan = request};
    snprintf(at_work_text, sizeof at_work_text, "%s, %s, %" PRIu64 " ticks, stop at poll %" PRIu64, words[what], name,
             e.ticks, e.stop_at);
    at_work = s;
    outside_context(&ctx, &o);
    pb_arena_init(&arena, &ctx);
    bool ok = small_game_build(&ctx, s, &arena, &game);
    pb_status status = PB_OK;
    ctx.tick_limit = e.ticks;
    watch(A_HANG);
    if (ok)
        status = what == COMPARE     ? pb_compare(&ctx, &game, &rows, &arena, &comparison)
                 : what == LEAST_CAP ? pb_least_cap(&ctx, &game, &request, &arena, &planned)
                                     : pb_sweep_make(&ctx, &game, &cells, &arena, &sweep);
    watch(0);
    ok = ok && (status == PB_OK || (status == PB_ECANCELLED && e.stop_at));
    if (!ok) {
        printf("FAILED %s: %s: %s\n", at_work_text, pb_status_text(status), ctx.error.message);
        small_game_print(s, stdout);
    }
    pb_arena_release(&arena);
    ok ? passed++ : failed++;
}

static void make(small_game *s, pb_game_kind kind, void (*fill)(small_game *))
{
    small_game_init(s);
    fill(s);
    s->kind = kind;
    if (kind == PB_GAME_TIERED) {
        s->tier_count = 1;
        s->tiers[0] = (pb_tier){.cap = PB_UNLIMITED}; /* moving costs nothing either */
    }
}

static void named_games(bf_space *space)
{
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    static const effort efforts[] = {{.ticks = 10, .patient = true}, {.stop_at = 20, .patient = true}, {.ticks = 2000}};
    for (size_t g = 0; g < sizeof games / sizeof *games; g++)
        for (size_t k = 0; k < 3; k++) {
            small_game s;
            make(&s, kinds[k], games[g].make);
            uint64_t least = least_cap(space, &s), caps[] = {least, least + 1, PB_UNLIMITED};
            for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
                s.weights = weights[w];
                s.cap = caps[w % 3];
                by_all(games[g].name, &s, efforts, 3);
                s.cap = caps[(w + 1) % 3];
                by_all(games[g].name, &s, efforts, 2);
                for (question what = 0; what < QUESTIONS; what++)
                    for (int i = 0; i < 2; i++)
                        ask(games[g].name, &s, what, efforts[i]);
            }
        }
}

static uint64_t mostly_zero(pbi_rng *rng, uint64_t value) { return pbi_rng_below(rng, 3) ? 0 : value; }

/* A random game from which most of what makes progress has been taken. */
static void random_game(bf_space *space, uint64_t seed, small_game *s)
{
    pbi_rng rng = {seed ^ 0xdead};
    small_game_random(seed, PB_GAME_ALL, s);
    unsigned without = (unsigned)pbi_rng_below(&rng, 8);
    for (unsigned v = 0; v < s->node_count; v++) {
        s->cost[v] = without & 1 ? 0 : mostly_zero(&rng, s->cost[v]);
        s->size[v] = without & 2 ? 0 : mostly_zero(&rng, s->size[v]);
        s->workspace[v] = mostly_zero(&rng, s->workspace[v]);
        if ((without & 4) && pbi_rng_below(&rng, 2))
            s->flags[v] |= PB_NODE_KEEP;
    }
    s->fixed_size = mostly_zero(&rng, s->fixed_size);
    s->weights = weights[pbi_rng_below(&rng, sizeof weights / sizeof *weights)];
    for (uint32_t t = 0; t < s->tier_count; t++) {
        pb_tier *tier = &s->tiers[t];
        tier->store_cost = mostly_zero(&rng, tier->store_cost);
        tier->load_cost = mostly_zero(&rng, tier->load_cost);
        tier->store_per_unit = mostly_zero(&rng, tier->store_per_unit);
        tier->load_per_unit = mostly_zero(&rng, tier->load_per_unit);
    }
    s->cap = least_cap(space, s) + pbi_rng_below(&rng, 3) / 2;
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : test_cases(4000);
    bf_space *space = bf_space_new();
    bf_space_limit(space, 20000);
    signal(SIGPROF, hangs);
    named_games(space);
    for (uint64_t seed = 1; seed <= cases && !failed; seed++) {
        small_game s;
        char name[40];
        effort e = seed % 2 ? (effort){.ticks = 1 + seed % 300, .patient = true}
                            : (effort){.stop_at = 1 + seed % 9, .patient = seed % 4 == 0};
        random_game(space, seed, &s);
        snprintf(name, sizeof name, "random game %" PRIu64, seed);
        by_all(name, &s, &e, 1);
    }
    bf_space_free(space);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed || !passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
