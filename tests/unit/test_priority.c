/* test_priority.c -- the node field `priority`: in files, in the eviction policy, in the log. */
#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* a, b and c are alike, and read at the end in turn. */
static const char text[] =
    "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"name\":\"a\",\"cost\":1,\"size\":1%s},"
    "{\"name\":\"b\",\"cost\":1,\"size\":1%s},{\"name\":\"c\",\"cost\":1,\"size\":1%s},"
    "{\"name\":\"d\",\"cost\":1,\"size\":1},{\"name\":\"e\",\"cost\":1,\"size\":1},"
    "{\"name\":\"f\",\"cost\":1,\"size\":1},{\"name\":\"g\",\"cost\":1,\"size\":1}],"
    "\"edges\":[[\"d\",\"e\"],[\"c\",\"e\"],[\"e\",\"f\"],[\"b\",\"f\"],[\"f\",\"g\"],[\"a\",\"g\"]],"
    "\"order\":[0,1,2,3,4,5,6]}";

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_buffer out;
} bench;

static void open_bench(bench *b)
{
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    pb_buffer_init(&b->out, &b->arena);
}

static const pb_graph *read(bench *b, const char *bytes)
{
    const pb_graph *g = NULL;
    pb_memory memory = {.bytes = bytes, .length = strlen(bytes)};
    pb_read_options options = {.path = NULL};
    pb_status status = pb_graph_read_with(&b->ctx, pb_source_memory(&memory), &options, &b->arena, &g);
    if (status != PB_OK)
        fail_msg("%s", b->ctx.error.message);
    return g;
}

static const pb_graph *graph_with(bench *b, const char *first, const char *second, const char *third)
{
    char bytes[sizeof text + 100];
    snprintf(bytes, sizeof bytes, text, first, second, third);
    return read(b, bytes);
}

static void close_bench(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static void every_format_keeps_it(void **state)
{
    (void)state;
    static const pb_format formats[] = {PB_FORMAT_JSON, PB_FORMAT_CSV, PB_FORMAT_DOT};
    bench b;
    open_bench(&b);
    const pb_graph *g = graph_with(&b, "", ",\"priority\":7", ",\"priority\":0");
    assert_int_equal(g->priority[0], 0);
    assert_int_equal(g->priority[1], 7);
    for (int i = 0; i < 3; i++) {
        pb_buffer_init(&b.out, &b.arena);
        assert_int_equal(pb_graph_write(&b.ctx, g, formats[i], pb_sink_buffer(&b.out)), PB_OK);
        const pb_graph *again = read(&b, b.out.bytes);
        assert_int_equal(again->priority[1], 7);
        assert_int_equal(again->priority[2], 0);
        assert_null(strstr(b.out.bytes, "priority=0"));
    }
    assert_null(graph_with(&b, "", "", "")->priority);
    close_bench(&b);
}

static void the_hash_is_that_of_the_graph_without_it(void **state)
{
    (void)state;
    char with[PB_HASH_TEXT], without[PB_HASH_TEXT];
    bench b;
    open_bench(&b);
    assert_int_equal(pb_graph_hash(&b.ctx, graph_with(&b, ",\"priority\":3", "", ""), with), PB_OK);
    assert_int_equal(pb_graph_hash(&b.ctx, graph_with(&b, "", "", ""), without), PB_OK);
    assert_string_equal(with, without);
    close_bench(&b);
}

/* Which of a and b is computed after e, for which one of them has to go under a cap of 4? */
static uint32_t computed_late(bench *b, const pb_graph *g, const char *strategy, pb_plan_result *p)
{
    enum { E = 4 };
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = 4, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = {.strategy = strategy, .policy = "priority"};
    assert_int_equal(pb_plan(&b->ctx, &game, &request, &b->arena, p), PB_OK);
    assert_non_null(p->certificate);
    uint32_t set = 0;
    bool late = false;
    for (pb_step k = 0; k < p->schedule.moves.count; k++) {
        const pb_move *m = &p->schedule.moves.move[k];
        late |= m->op == PB_COMPUTE && m->node == E;
        if (late && m->op == PB_COMPUTE && m->node < 2)
            set |= 1u << m->node;
    }
    return set;
}

static void the_lowest_priority_goes_first(void **state)
{
    (void)state;
    static const char *const strategies[] = {"demand", "last-use", "cache-all"};
    pb_plan_result p;
    for (int i = 0; i < 3; i++) {
        bench b;
        open_bench(&b);
        assert_int_equal(computed_late(&b, graph_with(&b, "", ",\"priority\":2", ""), strategies[i], &p), 1u << 0);
        assert_int_equal(p.schedule.priorities, 1);
        assert_int_equal(computed_late(&b, graph_with(&b, ",\"priority\":2", ",\"priority\":1", ""), strategies[i], &p),
                         1u << 1);
        assert_int_equal(p.schedule.priorities, 2);
        assert_int_equal(pb_schedule_write(&b.ctx, &p.schedule, PB_FORMAT_JSON, pb_sink_buffer(&b.out)), PB_OK);
        assert_non_null(strstr(b.out.bytes, "\"policy\":\"priority\",\"priorities\":2"));
        close_bench(&b);
    }
}

static void uncomputations_follow_it(void **state)
{
    (void)state;
    pb_plan_result p;
    for (int kept = 0; kept < 2; kept++) {
        bench b;
        open_bench(&b);
        const pb_graph *g =
            graph_with(&b, kept ? "" : ",\"priority\":1", kept ? ",\"priority\":1" : "", ",\"priority\":1");
        pb_game game = {.graph = g, .kind = PB_GAME_REVERSIBLE, .cap = 5, .weights = PB_WEIGHTS_DEFAULT};
        pb_request request = {.strategy = "demand", .policy = "priority"};
        assert_int_equal(pb_plan(&b.ctx, &game, &request, &b.arena, &p), PB_OK);
        assert_non_null(p.certificate);
        for (pb_step k = 0; k < p.schedule.moves.count; k++)
            if (p.schedule.moves.move[k].op == PB_UNCOMPUTE) {
                assert_true(p.schedule.moves.move[k].node != (pb_node)kept); /* the first one to go */
                break;
            }
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_keeps_it),
        cmocka_unit_test(the_hash_is_that_of_the_graph_without_it),
        cmocka_unit_test(the_lowest_priority_goes_first),
        cmocka_unit_test(uncomputations_follow_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
