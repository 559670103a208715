/* tests/unit/strategy_fixture.h -- a generated or small game, planned through the public call, for tests of strategies.
 *
 *     desk d;
 *     desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "100"}});
 *     const pb_schedule *s = desk_plan(&d, "chen:b=%d", 7);
 *     desk_shut(&d);
 */
#ifndef STRATEGY_FIXTURE_H
#define STRATEGY_FIXTURE_H

#include "api/pipeline/pipeline.h"
#include "api_fixture.h"
#include "pebble/generate.h"
#include "support/cases.h"
#include "support/plan_check.h"

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
} desk;

static inline void desk_open(desk *d, const small_game *s)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_true(small_game_build(&d->ctx, s, &d->arena, &d->game));
}

static inline void desk_generate(desk *d, const char *family, uint32_t count, const pb_option *params)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_generate(&d->ctx, family, params, count, &d->arena, &d->game.graph), PB_OK);
}

static inline void desk_shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

/* Samples spend little on bounds of large graphs: they would take most of the time, and have tests of their own. */
static inline const pb_schedule *desk_plan(desk *d, const char *format, ...)
{
    char spec[120], why[PLAN_WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(spec, sizeof spec, format, args);
    va_end(args);
    pb_request request = {.strategy = spec, .seed = 1, .bound_effort = test_is_sample() ? 1000000 : 0};
    if (pbi_plan_as_made(&d->ctx, &d->game, &request, &d->arena, &d->p) != PB_OK)
        fail_msg("%s: %s", spec, d->ctx.error.message);
    if (!plan_is_honest(&d->game, &d->p, why))
        fail_msg("%s: %s", spec, why);
    return &d->p.schedule;
}

/* A percentage of the peak in program order. */
static inline void desk_cap(desk *d, uint64_t percent)
{
    assert_int_equal(pb_graph_program_peak(&d->ctx, d->game.graph, &d->game.cap), PB_OK);
    d->game.cap = d->game.cap / 100 * percent + d->game.cap % 100 * percent / 100;
}

static inline const char *desk_option(const desk *d, const char *key)
{
    const pb_schedule *s = &d->p.schedule;
    for (uint32_t i = 0; i < s->option_count; i++)
        if (strcmp(s->options[i].key, key) == 0)
            return s->options[i].value;
    return NULL;
}

/* How often the plan computes a node. */
static inline uint32_t desk_computations(const desk *d, pb_node v)
{
    const pb_moves *moves = &d->p.schedule.moves;
    uint32_t count = 0;
    for (pb_step k = 0; k < moves->count; k++)
        count += moves->move[k].op == PB_COMPUTE && moves->move[k].node == v;
    return count;
}

#endif
