/* test_workload_adjoint.c -- one gradient, to the last bit: by plans at every cap, with a slow tier, and by streams of actions. */
#include "workload_runs.h"
#include "workloads/adjoint_run.h"

enum { STEPS = 30, SIZE = 16 };
static const char options[] = "steps=30,size=16";

static void the_gradient_has_the_same_bits_at_every_cap(void **state)
{
    (void)state;
    char digest[PB_HASH_TEXT], text[200];
    runs r;
    runs_open(&r, "adjoint", options);
    runs_down(&r, 8, "chain", digest);
    assert_true(pb_workload_text(r.w, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "misfit "));
    runs_close(&r);
    runs_open(&r, "adjoint", "steps=1,size=8");
    runs_down(&r, 3, "auto", digest);
    runs_close(&r);
}

/* Half of the states are recomputed at a third of the memory, not all. */
static void little_memory_costs_little_work(void **state)
{
    (void)state;
    runs r;
    uint64_t peak;
    char digest[PB_HASH_TEXT];
    runs_open(&r, "adjoint", options);
    assert_int_equal(pb_graph_program_peak(&r.ctx, pb_workload_graph(r.w), &peak), PB_OK);
    pb_measured m = runs_at(&r, peak / 3, "chain", digest);
    assert_true(m.recomputed > 0 && m.recomputed <= 2 * STEPS);
    runs_close(&r);
}

static void snapshots_on_a_slow_tier_change_nothing(void **state)
{
    (void)state;
    runs r;
    char digest[PB_HASH_TEXT], again[PB_HASH_TEXT];
    pb_plan_result planned;
    pb_measured m;
    runs_open(&r, "adjoint", options);
    runs_at(&r, PB_UNLIMITED, "cache-all", digest);
    pb_game game = runs_game(&r, 0);
    uint64_t state_bytes = pb_workload_graph(r.w)->size[0], stores = 0;
    game.cap = 8 * state_bytes;
    game.kind = PB_GAME_TIERED;
    game.tier_count = 1;
    game.tiers[0] = (pb_tier){.store_cost = 1000, .load_cost = 1000, .cap = PB_UNLIMITED};
    runs_plan(&r, &game, "auto", &planned);
    for (pb_step k = 0; k < planned.schedule.moves.count; k++)
        stores += planned.schedule.moves.move[k].op == PB_STORE;
    assert_true(stores > 0);
    runs_run(&r, planned.certificate, again, &m, NULL);
    assert_string_equal(digest, again);
    assert_int_equal(m.stored_bytes, stores * state_bytes);
    assert_true(m.loaded_bytes >= m.stored_bytes);
    runs_close(&r);
}

/* ---- streams ---- */

typedef struct stream_case {
    runs r;
    pbi_burgers model;
    pbi_adjoint_run run;
    double *expected;
} stream_case;

static void open_streams(stream_case *c, uint32_t slots, const char *path)
{
    pb_plan_result planned;
    char digest[PB_HASH_TEXT];
    pb_measured m;
    runs_open(&c->r, "adjoint", options);
    pbi_burgers_init(&c->model, SIZE);
    c->expected = pb_arena_alloc(&c->r.arena, 1, pbi_burgers_gradient_bytes(&c->model));
    assert_non_null(c->expected);
    pb_game game = runs_game(&c->r, PB_UNLIMITED);
    runs_plan(&c->r, &game, "cache-all", &planned);
    runs_run(&c->r, planned.certificate, digest, &m, c->expected);
    if (pbi_adjoint_run_open(&c->r.ctx, &c->model, slots, path, &c->r.arena, &c->run) != PB_OK)
        fail_msg("%s", c->r.ctx.error.message);
}

static void close_streams(stream_case *c)
{
    assert_memory_equal(c->run.gradient, c->expected, pbi_burgers_gradient_bytes(&c->model));
    pbi_adjoint_run_close(&c->run);
    runs_close(&c->r);
}

static void the_binomial_stream_gives_the_same_bits(void **state)
{
    (void)state;
    for (uint32_t slots = 1; slots <= 9; slots += 4) {
        stream_case c;
        pb_revolve stream;
        pb_revolve_cost cost;
        pb_action a;
        open_streams(&c, slots, NULL);
        assert_int_equal(pb_revolve_init(&c.r.ctx, STEPS, slots, &c.r.arena, &stream), PB_OK);
        while (pb_revolve_next(&stream, &a))
            assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_OK);
        assert_int_equal(pb_revolve_count(&c.r.ctx, STEPS, slots, &cost), PB_OK);
        assert_int_equal(c.run.steps, cost.forward_steps.low);
        close_streams(&c);
    }
}

static void the_stream_over_memory_and_disk_gives_the_same_bits(void **state)
{
    (void)state;
    stream_case c;
    pb_multilevel stream;
    pb_action a;
    pb_multilevel_spec spec = {.steps = STEPS, .forward_cost = 1, .reverse_cost = 2, .level_count = 2};
    spec.level[0] = (pb_level){.slots = 2};
    spec.level[1] = (pb_level){.slots = 4, .write_cost = 2, .read_cost = 2};
    open_streams(&c, 2, "test_workload_adjoint.snapshots");
    assert_int_equal(pb_multilevel_init(&c.r.ctx, &spec, &c.r.arena, &stream), PB_OK);
    while (pb_multilevel_next(&stream, &a))
        assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_OK);
    assert_true(c.run.writes > 0 && c.run.reads >= c.run.writes);
    assert_null(fopen("test_workload_adjoint.snapshots", "rb"));
    close_streams(&c);
}

static void a_stream_that_does_not_know_its_end_gives_the_same_bits(void **state)
{
    (void)state;
    stream_case c;
    pb_online stream;
    pb_action a;
    open_streams(&c, 5, NULL);
    assert_int_equal(pb_online_init(&c.r.ctx, 5, &c.r.arena, &stream), PB_OK);
    while (c.run.steps < STEPS && pb_online_step(&stream, &a))
        assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_OK);
    for (pb_online_end(&stream); pb_online_next(&stream, &a);)
        assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_OK);
    close_streams(&c);
}

static void a_snapshot_without_a_place_is_refused(void **state)
{
    (void)state;
    stream_case c;
    open_streams(&c, 1, NULL);
    pb_action a = {.kind = PB_ACTION_FORWARD, .flags = PB_WRITE_RESTART, .n1 = 1, .to = PB_STORAGE_RAM, .slot = 1};
    assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_EINVAL);
    a.to = PB_STORAGE_DISK;
    assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_EINVAL);
    assert_non_null(strstr(c.r.ctx.error.message, "storage DISK"));
    a = (pb_action){.kind = PB_ACTION_COPY, .from = PB_STORAGE_DISK};
    assert_int_equal(pbi_adjoint_run_do(&c.run, &a), PB_EINVAL);
    pbi_adjoint_run_close(&c.run);
    runs_close(&c.r);
}

static void opening_fails_cleanly_without_memory(void **state)
{
    (void)state;
    runs_starve("adjoint", "steps=9,size=8");
}

static void bad_options_are_refused_with_a_sentence(void **state)
{
    (void)state;
    runs_refuse("adjoint", "steps=0", PB_EINVAL, "steps must be a whole number between 1 and 10000000, not '0'");
    runs_refuse("adjoint", "size=4", PB_EINVAL, "size must be");
    runs_refuse("adjoint", "size=20", PB_EINVAL, "a multiple of 8, not 20");
    runs_refuse("adjoint", "size=-8", PB_EINVAL, "not '-8'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_has_the_same_bits_at_every_cap),
        cmocka_unit_test(little_memory_costs_little_work),
        cmocka_unit_test(snapshots_on_a_slow_tier_change_nothing),
        cmocka_unit_test(the_binomial_stream_gives_the_same_bits),
        cmocka_unit_test(the_stream_over_memory_and_disk_gives_the_same_bits),
        cmocka_unit_test(a_stream_that_does_not_know_its_end_gives_the_same_bits),
        cmocka_unit_test(a_snapshot_without_a_place_is_refused),
        cmocka_unit_test(opening_fails_cleanly_without_memory),
        cmocka_unit_test(bad_options_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
