/* search.c -- see placed.h: plays a script by many rules, then changes the rules of parts of it.
 *
 * The script is divided into stretches. The best plan so far is a list of rules, one for each stretch, with the state
 * of the block before it. A change plays one stretch by random rules, from the state before it, and the rest by the
 * same rules as before; it is kept if the plan costs less.
 */
#include "plan/placed/placed.h"

#include "base/context.h"
#include "base/rng.h"
#include "plan/placed/emit.h"

#include <string.h>

enum {
    STEPS_A_TICK = 16,
    STRETCH = 24,    /* events of a stretch, or more */
    STRETCHES = 100, /* at most */
    STALE = 4000     /* changes without a better plan before the search ends */
};
#define SIZE_LIMIT (UINT64_C(1) << 62)
#define STATE_BYTES (UINT64_C(1) << 27) /* memory for the states of a plan */

/* The rules of each stretch, and the state before it. */
typedef struct path {
    pbi_rules rules[STRETCHES];
    pbi_placer_state before[STRETCHES];
} path;

typedef struct finder {
    pb_context *ctx;
    const pb_game *game;
    const pbi_placed_options *o;
    pb_arena arena;
    pbi_script script;
    pbi_placer placer;
    pbi_emitter emitter;
    path *best, *next;
    uint32_t stretches;
    uint64_t best_work; /* UINT64_MAX: none */
    bool any;
    pbi_rng rng;
    uint64_t steps; /* of the placer that are already counted */
} finder;

bool pbi_placed_applies(const pb_game *game)
{
    return game->kind == PB_GAME_REMAT && !game->borrow && !game->graph->recipe_start;
}

static uint32_t end_of(const finder *f, uint32_t stretch)
{
    return (uint32_t)((uint64_t)f->script.count * (stretch + 1) / f->stretches);
}

static pb_status count_steps(finder *f)
{
    uint64_t steps = f->placer.steps - f->steps;
    f->steps = f->placer.steps;
    return pbi_tick(f->ctx, steps / STEPS_A_TICK);
}

/* Plays `next` from this stretch on, and keeps it as the best if it costs less. */
static pb_status play_from(finder *f, uint32_t stretch)
{
    pb_status status = PB_OK;
    bool fits = true;
    f->placer.steps += f->script.count / 16 + 1;
    for (uint32_t k = stretch; k < f->stretches && fits && status == PB_OK; k++) {
        if (k > stretch || !k)
            pbi_placer_save(&f->next->before[k], &f->placer);
        fits = pbi_placer_play(&f->placer, &f->next->rules[k], end_of(f, k)) && f->placer.work < f->best_work;
        status = count_steps(f);
    }
    if (fits && status == PB_OK) {
        path *old = f->best;
        for (uint32_t k = 0; k <= stretch; k++) { /* these states are the same */
            pbi_placer_state same = f->next->before[k];
            if (!k && !stretch)
                break;
            f->next->before[k] = old->before[k];
            old->before[k] = same;
        }
        f->best = f->next;
        f->next = old;
        f->best_work = f->placer.work;
        f->any = true;
    }
    return status;
}

static pb_status try_rules(finder *f)
{
    static const uint8_t far[] = {2, 3, 4, 1};
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < 4 * 4 * PBI_FIT_COUNT && status == PB_OK && f->placer.steps < f->o->effort; i++) {
        pbi_rules rules = {.fit = (uint8_t)(i / 4 % PBI_FIT_COUNT),
                           .far = far[i / 4 / PBI_FIT_COUNT],
                           .lazy = i & 1,
                           .tidy = !(i & 2),
                           .hold = true};
        for (uint32_t k = 0; k < f->stretches; k++)
            f->next->rules[k] = rules;
        if (!pbi_placer_begin(&f->placer))
            return PB_OK;
        status = play_from(f, 0);
    }
    return status;
}

static pbi_rules random_rules(finder *f)
{
    uint32_t fit = (uint32_t)pbi_rng_below(&f->rng, 2 * PBI_FIT_COUNT);
    return (pbi_rules){.fit = (uint8_t)(fit < PBI_FIT_COUNT ? fit : PBI_FIT_COUNT),
                       .far = (uint8_t)pbi_rng_below(&f->rng, PBI_FAR_COUNT),
                       .lazy = pbi_rng_below(&f->rng, 2),
                       .tidy = pbi_rng_below(&f->rng, 4) != 0,
                       .hold = pbi_rng_below(&f->rng, 8) != 0,
                       .mix = (uint32_t)pbi_rng_next(&f->rng)};
}

static pb_status climb(finder *f)
{
    pb_status status = PB_OK;
    for (uint32_t stale = 0; stale < STALE && status == PB_OK && f->placer.steps < f->o->effort; stale++) {
        uint32_t k = (uint32_t)pbi_rng_below(&f->rng, f->stretches), more = (uint32_t)pbi_rng_below(&f->rng, 3);
        uint64_t before = f->best_work;
        memcpy(f->next->rules, f->best->rules, sizeof f->next->rules);
        f->next->rules[k] = random_rules(f);
        for (uint32_t i = 1; i <= more && k + i < f->stretches; i++)
            f->next->rules[k + i] = f->next->rules[k];
        pbi_placer_restore(&f->placer, &f->best->before[k]);
        status = play_from(f, k);
        stale = f->best_work < before ? 0 : stale;
    }
    return status;
}

static pb_status open_paths(finder *f)
{
    uint64_t state = 16 * (uint64_t)f->game->graph->node_count + 100;
    uint32_t most = (uint32_t)(STATE_BYTES / 2 / state), want = f->script.count / STRETCH + 1;
    most = most < 1 ? 1 : most < STRETCHES ? most : STRETCHES;
    f->stretches = want < most ? want : most;
    path *both = pb_arena_zero(&f->arena, 2, sizeof *both);
    pb_status status = both ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < 2 * f->stretches && status == PB_OK; i++)
        status = pbi_placer_state_init(&both[i % 2].before[i / 2], &f->placer, &f->arena);
    f->best = both;
    f->next = both + 1;
    return status;
}

static pb_status open(finder *f, const pb_moves *start)
{
    uint64_t size = f->game->cap < SIZE_LIMIT ? f->game->cap & ~(f->o->align - 1) : SIZE_LIMIT;
    pb_status status = pbi_script_make(f->ctx, f->game->graph, start, f->o->align, &f->arena, &f->script);
    if (status == PB_OK)
        status = pbi_placer_init(&f->placer, &f->script, size, &f->arena);
    if (status == PB_OK)
        status = pbi_emitter_init(&f->emitter, &f->placer, &f->arena);
    return status == PB_OK ? open_paths(f) : status;
}

/* Plays the best plan from its start, with all entries, and writes it. */
static pb_status write_best(finder *f, pb_arena *result, pbi_placed *out)
{
    bool fits = pbi_placer_begin(&f->placer);
    for (uint32_t k = 0; k < f->stretches && fits; k++)
        fits = pbi_placer_play(&f->placer, &f->best->rules[k], end_of(f, k));
    return fits ? pbi_emitter_write(f->ctx, &f->emitter, &f->placer, result, out) : PB_OK;
}

pb_status pbi_placed_search(pb_context *ctx, const pb_game *game, const pb_moves *start,
                            const pbi_placed_options *options, pb_arena *result, pbi_placed *out)
{
    finder f = {.ctx = ctx, .game = game, .o = options, .best_work = options->below, .rng = {options->seed}};
    pb_arena_init(&f.arena, ctx);
    *out = (pbi_placed){.any = false};
    pb_status status = open(&f, start);
    if (status == PB_OK && f.script.count)
        status = try_rules(&f);
    if (status == PB_OK && f.any)
        status = climb(&f);
    bool stopped = status == PB_ELIMIT || status == PB_ECANCELLED;
    if ((status == PB_OK || stopped) && f.any)
        status = write_best(&f, result, out);
    pb_arena_release(&f.arena);
    return status == PB_ELIMIT || status == PB_ECANCELLED ? PB_OK : status;
}
