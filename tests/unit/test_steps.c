/* test_steps.c -- the moves as CSV and JSON. */
#include "unit/report_bench.h"

static void csv_has_a_row_for_each_move(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    s.cap = 4;
    bench_open(&b, &s, "c0 c1 c2 f0");
    assert_int_equal(pb_steps_csv_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    assert_string_equal(bench_text(&b), "step,op,node,name,tier,cost,memory_during,memory_after,work,flux\n"
                                        "0,compute,0,0,,1,1,1,1,1\n"
                                        "1,compute,1,1,,1,2,2,2,3\n"
                                        "2,compute,2,2,,3,4,4,5,15\n"
                                        "3,free,0,0,,0,4,3,5,15\n");
    bench_close(&b);
}

static void csv_quotes_names_that_need_it(void **state)
{
    (void)state;
    bench b;
    pb_builder *builder;
    pb_node v;
    pb_context_init(&b.ctx);
    pb_arena_init(&b.arena, &b.ctx);
    pb_moves_init(&b.moves, &b.arena);
    pb_buffer_init(&b.text, &b.arena);
    assert_int_equal(pb_builder_new(&b.ctx, &builder), PB_OK);
    assert_int_equal(pb_builder_add_node(builder, &(pb_node_spec){.name = "a,\"b\"", .cost = 1, .size = 1}, &v), PB_OK);
    b.game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_builder_freeze(builder, &b.arena, &b.game.graph), PB_OK);
    pb_builder_free(builder);
    moves_from_text("c0", &b.moves);
    bench_certify(&b);
    assert_int_equal(pb_steps_csv_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "\n0,compute,0,\"a,\"\"b\"\"\",,1,1,1,1,1\n");
    bench_empty(&b);
    assert_int_equal(pb_steps_json_write(&b.ctx, b.certificate, NULL, bench_sink(&b)), PB_OK);
    has(&b, "\"name\":\"a,\\\"b\\\"\"");
    bench_close(&b);
}

static void what_is_borrowed_is_told(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    s.borrow = 1;
    bench_open(&b, &s, "c0 b1 c2 u1");
    assert_int_equal(pb_steps_csv_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "\n1,compute,1,1,borrow,1,1,1,");
    bench_empty(&b);
    assert_int_equal(pb_steps_json_write(&b.ctx, b.certificate, NULL, bench_sink(&b)), PB_OK);
    has(&b, "\"name\":\"1\",\"in\":\"borrow\",\"cost\":1,");
    bench_close(&b);
}

static void json_names_overwriting_and_byproducts(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 3, 2, 1);
    small_game_add(&s, 0, 1, 0);
    s.inplace[1] = 1;
    s.owner[2] = 1;
    bench_open(&b, &s, "c0 c1/0+2");
    assert_int_equal(pb_steps_json_write(&b.ctx, b.certificate, NULL, bench_sink(&b)), PB_OK);
    has(&b, "\"cap\":null");
    has(&b, "{\"step\":1,\"op\":\"compute\",\"node\":1,\"name\":\"1\",\"over\":\"0\",\"also\":[\"2\"],\"cost\":3,"
            "\"memory_during\":3,\"memory_after\":3,\"work\":4,\"flux\":11}\n]}\n");
    bench_close(&b);
}

static void an_empty_schedule_is_an_empty_list(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pb_steps_json_write(&b.ctx, b.certificate, NULL, bench_sink(&b)), PB_OK);
    has(&b, "\"steps\":[]}\n");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_row_for_each_move),        cmocka_unit_test(csv_quotes_names_that_need_it),
        cmocka_unit_test(what_is_borrowed_is_told),           cmocka_unit_test(json_names_overwriting_and_byproducts),
        cmocka_unit_test(an_empty_schedule_is_an_empty_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
