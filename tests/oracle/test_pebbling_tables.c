/* test_pebbling_tables.c -- the strategy exact gives every known table of least moves: the black game and the one with
 * sliding in `remat` (sliding is an in-place move), the reversible game as it is. */
#include "oracle/pebbling_tables.h"
#include "pebble/api.h"
#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_builder *builder;
    pb_game game;
    bool slides;
} desk;

static pb_node add(desk *d, const pb_node *in, unsigned count)
{
    pb_node v;
    assert_int_equal(pb_builder_add_node(d->builder, &(pb_node_spec){.cost = 1, .size = 1}, &v), PB_OK);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pb_builder_add_edge(d->builder, in[i], v), PB_OK);
        if (d->slides)
            assert_int_equal(pb_builder_add_inplace(d->builder, v, in[i]), PB_OK);
    }
    return v;
}

static void add_rows(desk *d, unsigned width, bool halves)
{
    pb_node row[32];
    for (unsigned i = 0; i < width; i++)
        row[i] = add(d, NULL, 0);
    while (width > 1) {
        width = halves ? width / 2 : width - 1;
        for (unsigned i = 0; i < width; i++) {
            unsigned k = halves ? 2 * i : i;
            row[i] = add(d, (pb_node[]){row[k], row[k + 1]}, 2);
        }
    }
}

static void build(desk *d, const pebbling_table *t)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_builder_new(&d->ctx, &d->builder), PB_OK);
    d->slides = t->game == 's';
    if (t->family == 'c')
        for (unsigned v = 0; v < t->size; v++)
            add(d, (pb_node[]){v - 1u}, v > 0);
    else
        add_rows(d, t->family == 't' ? 1u << t->size : t->size + 1u, t->family == 't');
    d->game = (pb_game){.kind = t->game == 'r' ? PB_GAME_REVERSIBLE : PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_builder_freeze(d->builder, &d->arena, &d->game.graph), PB_OK);
    pb_builder_free(d->builder);
}

/* The black games of the largest trees and pyramids have too many states below their least cap for a proof there: no
 * plan may be found, that is all. */
static bool is_beyond_proof(const desk *d) { return d->game.kind == PB_GAME_REMAT && d->game.graph->node_count > 24; }

/* 0: infeasible. */
static uint64_t least(desk *d, uint64_t cap)
{
    pb_plan_result p;
    pb_arena result;
    pb_arena_init(&result, &d->ctx);
    d->game.cap = cap;
    pb_request request = {.strategy = "exact", .seed = 1};
    assert_int_equal(pb_plan(&d->ctx, &d->game, &request, &result, &p), PB_OK);
    bool proved = p.schedule.outcome == PB_INFEASIBLE || p.schedule.outcome == PB_OPTIMAL;
    if (!proved && !(p.schedule.outcome == PB_GAVE_UP && is_beyond_proof(d)))
        fail_msg("cap %" PRIu64 ": %s", cap, p.schedule.reason ? p.schedule.reason : "not proved");
    uint64_t work = p.schedule.outcome == PB_OPTIMAL ? p.schedule.metrics.work : 0;
    pb_arena_release(&result);
    return work;
}

static void check(const pebbling_table *t)
{
    desk d;
    build(&d, t);
    if (d.game.graph->node_count > 24 && test_cases(100) < 100) { /* a sample: these take seconds */
        pb_arena_release(&d.arena);
        return;
    }
    unsigned last = t->front[t->count - 1].pebbles, up_to = t->up_to ? t->up_to : last + 1u, at = 0;
    for (unsigned cap = t->front[0].pebbles - 1u; cap <= up_to; cap++) {
        while (at < t->count && t->front[at].pebbles <= cap)
            at++;
        uint64_t wanted = at ? t->front[at - 1].cost : 0, found = least(&d, cap);
        if (found != wanted)
            fail_msg("%c%u in game %c at cap %u: %" PRIu64 ", not %" PRIu64, t->family, t->size, t->game, cap, found,
                     wanted);
    }
    pb_arena_release(&d.arena);
    assert_int_equal(d.ctx.memory_used, 0);
}

static void check_game(char game)
{
    for (size_t i = 0; i < COUNT(pebbling_tables); i++)
        if (pebbling_tables[i].game == game)
            check(&pebbling_tables[i]);
}

static void exact_gives_the_reversible_tables(void **state)
{
    (void)state;
    check_game('r');
}
static void exact_gives_the_black_tables(void **state)
{
    (void)state;
    check_game('b');
}
static void exact_gives_the_sliding_tables(void **state)
{
    (void)state;
    check_game('s');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_gives_the_reversible_tables),
        cmocka_unit_test(exact_gives_the_black_tables),
        cmocka_unit_test(exact_gives_the_sliding_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
