/* tests/unit/test_sequence.c -- sequences of computations as moves, to the letter. */
#include "plan/sequence/sequence.h"
#include "plan_fixture.h"
#include "support/io_case.h"

/* Events as "0 1 l0:1 2": nodes to compute, values to load from a tier. */
static void read_events(bench *b, const char *text, pbi_sequence *s)
{
    pbi_sequence_init(s, &b->arena);
    while (*text) {
        char *end;
        bool load = *text == 'l';
        pb_node v = (pb_node)strtoul(text + load, &end, 10);
        if (load) {
            if (!s->tier)
                s->tier = pb_arena_zero(&b->arena, b->game.graph->node_count, 1);
            s->tier[v] = (uint8_t)strtoul(end + 1, &end, 10);
        }
        assert_int_equal(pbi_sequence_add(s, load ? v | PBI_LOAD_EVENT : v), PB_OK);
        text = end + (*end == ' ');
    }
}

static void emits(const small_game *small, const char *events, const char *moves)
{
    bench b;
    pbi_sequence s;
    pbi_figures f, measured;
    bench_open(&b, small);
    read_events(&b, events, &s);
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, &f), PB_OK);
    bench_moves(&b, moves);
    pb_totals totals = bench_totals(&b); /* the figures are those of the replay */
    assert_int_equal(f.peak, totals.peak);
    assert_int_equal(f.time, totals.compute_work + totals.io);
    assert_int_equal(pb_u128_compare(f.flux, totals.flux), 0);
    assert_true(f.fits && !f.overflow);
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, NULL, &measured), PB_OK); /* measuring alone agrees */
    assert_int_equal(measured.peak, f.peak);
    assert_int_equal(measured.time, f.time);
    bench_close(&b);
}

static void values_go_after_their_last_use(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 4);
    emits(&s, "0 1 2 3", "c0 c1 f0 c2 f1 c3"); /* frees behind the last computation are left out */
    s.in[3] |= bit(0);
    emits(&s, "0 1 2 3", "c0 c1 c2 f1 c3");
    emits(&s, "0 1 2 0 3", "c0 c1 f0 c2 f1 c0 c3"); /* recomputed: not in memory in between */
    s.flags[1] = PB_NODE_KEEP;
    emits(&s, "0 1 2 0 3", "c0 c1 f0 c2 c0 c3");
}

static void nothing_and_one_node_are_sequences_too(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    emits(&s, "", "");
    small_game_add(&s, 1, 1, 0);
    emits(&s, "0", "c0");
    small_game_add(&s, 1, 1, 0); /* apart from the other */
    emits(&s, "0 1", "c0 f0 c1");
}

static void an_unread_instance_goes_at_once(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 3);
    emits(&s, "0 0 1 2", "c0 f0 c0 c1 f0 c2");
    s.flags[2] = PB_NODE_KEEP;
    emits(&s, "0 1 2 0", "c0 c1 f0 c2 f1 c0");
}

static void given_values_go_after_their_last_use(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 3);
    s.flags[0] = PB_NODE_GIVEN;
    emits(&s, "1 2", "c1 f0 c2");
    s.flags[small_game_add(&s, 0, 7, 0)] = PB_NODE_GIVEN; /* nobody reads it */
    s.targets = bit(2);
    emits(&s, "1 2", "f3 c1 f0 c2");
    s.flags[3] |= PB_NODE_KEEP;
    s.flags[0] |= PB_NODE_KEEP;
    emits(&s, "1 2", "c1 c2");
    s.targets = bit(3);
    emits(&s, "", ""); /* nothing to do frees nothing */
}

static void in_place_where_the_input_would_go_anyway(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 3);
    s.inplace[1] = bit(0);
    s.inplace[2] = bit(1);
    emits(&s, "0 1 2", "c0 c1/0 c2/1");
    s.in[2] |= bit(0); /* still needed: not overwritten by 1 */
    emits(&s, "0 1 2", "c0 c1 c2/1");
    s.flags[1] = PB_NODE_KEEP;
    emits(&s, "0 1 2", "c0 c1 c2");
}

static void the_largest_input_is_taken_over(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 3, 0);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 4, 3);
    s.inplace[2] = 3;
    small_game_add(&s, 1, 1, 4);
    emits(&s, "0 1 2 3", "c0 c1 c2/1 f0 c3");
}

/* 1 comes with 0; 2 reads 0, 3 reads 1. */
static void parts(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 0, 2, 0);
    s->owner[1] = 0;
    small_game_add(s, 1, 1, bit(0));
    small_game_add(s, 1, 1, bit(1));
}

static void byproducts_are_made_only_where_they_are_read(void **state)
{
    (void)state;
    small_game s;
    parts(&s);
    emits(&s, "0 2 3", "c0+1 c2 f0 f2 c3");
    emits(&s, "0 2 0 3", "c0 c2 f0 f2 c0+1 f0 c3"); /* by the second run alone */
    emits(&s, "0 3 0 2", "c0+1 f0 c3 f1 f3 c0 c2");
    s.targets = bit(2);
    emits(&s, "0 2", "c0 c2"); /* nobody wants it */
    s.targets = bit(1) | bit(2);
    emits(&s, "0 2", "c0+1 f1 c2"); /* a target that nobody reads is made and let go */
    s.flags[1] = PB_NODE_KEEP;
    emits(&s, "0 2 0", "c0 c2 f0 f2 c0+1");
}

static void tiered(small_game *s, uint64_t slow_cap)
{
    small_chain(s, 4);
    s->in[3] |= bit(0);
    s->kind = PB_GAME_TIERED;
    s->tier_count = 2;
    s->tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 2, .store_per_unit = 3, .load_per_unit = 4, .cap = slow_cap};
    s->tiers[1] = (pb_tier){.cap = PB_UNLIMITED};
}

static void values_are_stored_before_their_first_load(void **state)
{
    (void)state;
    small_game s;
    tiered(&s, PB_UNLIMITED);
    emits(&s, "0 1 2 l0:1 3", "c0 c1 s0:1 f0 c2 f1 l0:1 c3");
    emits(&s, "0 1 2 l0:2 3", "c0 c1 s0:2 f0 c2 f1 l0:2 c3");
    s.in[2] |= bit(0);
    emits(&s, "0 1 l0:1 2 l0:1 3", "c0 c1 s0:1 f0 l0:1 c2 f0 f1 l0:1 c3"); /* stored once */
    s.inplace[1] = bit(0);
    emits(&s, "0 1 l0:1 2 3", "c0 s0:1 c1/0 l0:1 c2 f1 c3"); /* also before it is overwritten */
}

static void a_capped_tier_is_given_back(void **state)
{
    (void)state;
    small_game s;
    tiered(&s, 1);
    emits(&s, "0 1 2 l0:1 3", "c0 c1 s0:1 f0 c2 f1 l0:1 d0:1 c3");
    s.in[2] |= bit(0);
    emits(&s, "0 1 l0:1 2 l0:1 3", "c0 c1 s0:1 f0 l0:1 c2 f0 f1 l0:1 d0:1 c3");
}

static void given_values_in_slow_memory_are_loaded_for_their_first_reader(void **state)
{
    (void)state;
    small_game s;
    tiered(&s, PB_UNLIMITED);
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    emits(&s, "1 2 3", "l0:1 c1 c2 f1 c3"); /* without a load of the planner's own */
    emits(&s, "l0:1 1 2 l0:1 3", "l0:1 c1 f0 c2 f1 l0:1 c3");
    s.flags[small_game_add(&s, 0, 1, 0)] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW | PB_NODE_KEEP;
    emits(&s, "1 2 3", "l0:1 c1 c2 f1 c3 f0 f2 f3 l4:1"); /* kept ones come last */
    s.tiers[0].cap = 2;
    emits(&s, "1 2 3", "l0:1 d0:1 c1 c2 f1 c3 f0 f2 f3 l4:1 d4:1");
}

static void byproducts_are_stored_where_they_are_made(void **state)
{
    (void)state;
    small_game s;
    parts(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0].cap = PB_UNLIMITED;
    emits(&s, "0 2 l1:1 3", "c0+1 s1:1 f1 c2 f0 f2 l1:1 c3");
}

static void the_first_move_over_the_cap_is_named(void **state)
{
    (void)state;
    small_game small;
    bench b;
    pbi_sequence s;
    pbi_figures f;
    small_chain(&small, 3);
    small.size[1] = 5;
    small.cap = 4;
    bench_open(&b, &small);
    read_events(&b, "0 1 2", &s);
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, &f), PB_OK);
    bench_gave_up(&b, "does not fit: move 1 (compute 1) needs 6 unit, 2 over the cap of 4 unit");
    assert_int_equal(b.plan.failed_step, 1);
    assert_int_equal(b.plan.failed_node, 1);
    assert_int_equal(b.plan.failed_need, 6);
    assert_false(f.fits);
    assert_int_equal(f.peak, 6);
    bench_close(&b);
    tiered(&small, PB_UNLIMITED);
    small.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    small.size[0] = 9;
    small.cap = 8;
    bench_open(&b, &small);
    read_events(&b, "1 2 3", &s);
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, &f), PB_OK);
    bench_gave_up(&b, "does not fit: move 0 (load 0) needs 9 unit, 1 over the cap of 8 unit");
    bench_close(&b);
}

static void faults_of_a_planner_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *events, *message;
    } cases[] = {
        {"1", "a plan reads 0 before it is computed; this is a bug in pebble"},
        {"0 1 l2:1 3", "a plan loads 2 before it is computed; this is a bug in pebble"},
    };
    for (int i = 0; i < 2; i++) {
        small_game small;
        bench b;
        pbi_sequence s;
        tiered(&small, PB_UNLIMITED);
        bench_open(&b, &small);
        read_events(&b, cases[i].events, &s);
        assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, NULL), PB_EBUG);
        assert_non_null(strstr(b.ctx.error.message, cases[i].message));
        bench_close(&b);
    }
}

static void work_beyond_64_bits_gives_up(void **state)
{
    (void)state;
    small_game small;
    bench b;
    pbi_sequence s;
    pbi_figures f;
    small_chain(&small, 2);
    small.cost[0] = UINT64_C(1) << 63;
    bench_open(&b, &small);
    read_events(&b, "0 0 1", &s);
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, &f), PB_OK);
    bench_gave_up(&b, "the work of this plan exceeds 2^64; use a coarser cost unit");
    assert_true(f.overflow);
    bench_close(&b);
}

static void figures_are_compared_under_the_weights(void **state)
{
    (void)state;
    pb_game game = {.weights = PB_WEIGHTS_DEFAULT};
    pbi_figures a = {.peak = 5, .time = 10, .flux = {0, 40}}, b = {.peak = 4, .time = 11, .flux = {0, 30}};
    assert_true(pbi_figures_better(&game, &a, &b)); /* less work */
    assert_false(pbi_figures_better(&game, &b, &a));
    game.weights = (pb_weights){2, 0, 1, 0};
    assert_true(pbi_figures_better(&game, &b, &a)); /* 8 + 11 against 10 + 10 */
    game.weights = (pb_weights){1, 0, 1, 0};
    assert_true(pbi_figures_better(&game, &a, &b)); /* a tie: time decides */
    game.weights = (pb_weights){0, 1, 0, 0};
    assert_true(pbi_figures_better(&game, &b, &a));
    b = a;
    assert_false(pbi_figures_better(&game, &a, &b)); /* equal is not better */
    b.peak = 6;
    assert_true(pbi_figures_better(&game, &a, &b));
    b.flux = (pb_u128){UINT64_MAX, 0};
    game.weights.beta = 1000; /* beyond 128 bits: as bad as can be */
    assert_true(pbi_figures_better(&game, &a, &b));
}

static pb_stop stop_now(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void stops_and_refused_allocations_are_clean(void **state)
{
    (void)state;
    small_game small;
    bench b;
    pbi_sequence s;
    parts(&small);
    bench_open(&b, &small);
    read_events(&b, "0 2 0 3", &s);
    b.ctx.stop = stop_now;
    assert_int_equal(pbi_sequence_emit(&b.ctx, &b.game, &s, NULL, NULL), PB_ECANCELLED);
    pb_context ctx;
    failing_allocator memory = {.refuse = 1};
    failing_context(&ctx, &memory);
    assert_int_equal(pbi_sequence_emit(&ctx, &b.game, &s, NULL, NULL), PB_ENOMEM);
    assert_int_equal(ctx.memory_used, 0);
    b.ctx.stopped = PB_GO_ON;
    b.ctx.stop = NULL;
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_after_their_last_use),
        cmocka_unit_test(nothing_and_one_node_are_sequences_too),
        cmocka_unit_test(an_unread_instance_goes_at_once),
        cmocka_unit_test(given_values_go_after_their_last_use),
        cmocka_unit_test(in_place_where_the_input_would_go_anyway),
        cmocka_unit_test(the_largest_input_is_taken_over),
        cmocka_unit_test(byproducts_are_made_only_where_they_are_read),
        cmocka_unit_test(values_are_stored_before_their_first_load),
        cmocka_unit_test(a_capped_tier_is_given_back),
        cmocka_unit_test(given_values_in_slow_memory_are_loaded_for_their_first_reader),
        cmocka_unit_test(byproducts_are_stored_where_they_are_made),
        cmocka_unit_test(the_first_move_over_the_cap_is_named),
        cmocka_unit_test(faults_of_a_planner_are_named),
        cmocka_unit_test(work_beyond_64_bits_gives_up),
        cmocka_unit_test(figures_are_compared_under_the_weights),
        cmocka_unit_test(stops_and_refused_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
