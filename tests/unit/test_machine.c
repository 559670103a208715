/* test_machine.c -- times from rates, bandwidths and links; what a machine must obey; graphs priced by a machine. */
#include "base/checked.h"
#include "game/price.h"
#include "pebble/game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const pb_machine_memory memories[] = {
    {.name = "hbm", .cap = 1000, .reserve = 100}, {.name = "host", .cap = PB_UNLIMITED}, {.name = "disk", .cap = 5000}};
static const pb_machine_rate rates[] = {{"conv/float32", 500}, {"float32", 1000}, {"other", 250}};
static const pb_machine_rate bandwidths[] = {{"norm", 50}};
static const pb_machine_processor processors[] = {
    {.name = "gpu",
     .memory = 0,
     .overhead = 7,
     .bandwidth = 100,
     .rates = rates,
     .rate_count = 3,
     .bandwidths = bandwidths,
     .bandwidth_count = 1},
};
static const pb_machine_link links[] = {
    {.name = "out", .from = 0, .to = 1, .bandwidth = 10, .latency = 3},
    {.name = "in", .from = 1, .to = 0, .bandwidth = 20, .latency = 4, .per_unit = 2},
    {.name = "spill", .from = 1, .to = 2, .bandwidth = 1},
};
static const pb_machine one = {.name = "one",
                               .time_unit = "ms",
                               .per_second = 1000,
                               .memories = memories,
                               .memory_count = 3,
                               .processors = processors,
                               .processor_count = 1,
                               .links = links,
                               .link_count = 3,
                               .extra = ""};

static uint64_t time_of(const pb_machine *m, pb_work work, uint64_t cost)
{
    pb_context ctx;
    uint64_t out = 0;
    pb_context_init(&ctx);
    assert_int_equal(pb_machine_duration(&ctx, m, &m->processors[0], &work, cost, &out), PB_OK);
    return out;
}

static void the_longer_of_operations_and_traffic_counts(void **state)
{
    (void)state;
    pb_work work = {.dtype = "float32", .has_flops = true, .flops = 10, .has_bytes = true, .bytes = 3};
    assert_int_equal(time_of(&one, work, 99), 7 + 30); /* 10 ms against 30 ms */
    work.bytes = 0;
    assert_int_equal(time_of(&one, work, 99), 7 + 10);
    work.op = "conv";
    assert_int_equal(time_of(&one, work, 99), 7 + 20); /* operation and type before the type alone */
    work.dtype = "int8";
    assert_int_equal(time_of(&one, work, 99), 7 + 40); /* neither: other */
    work.op = "norm";
    work.bytes = 3;
    assert_int_equal(time_of(&one, work, 99), 7 + 60); /* bandwidth of the operation */
    work.flops = 1;
    work.bytes = 0;
    assert_int_equal(time_of(&one, work, 99), 7 + 4);
    work.has_flops = false;
    assert_int_equal(time_of(&one, work, 99), 7); /* it states that it moves nothing */
    work.has_bytes = false;
    assert_int_equal(time_of(&one, work, 99), 99); /* it states nothing */
}

static void partial_units_of_time_are_rounded_up(void **state)
{
    (void)state;
    pb_machine coarse = one;
    coarse.time_unit = "s";
    coarse.per_second = 1;
    pb_work work = {.dtype = "float32", .has_flops = true, .flops = 1001};
    assert_int_equal(time_of(&coarse, work, 0), 7 + 2);
    coarse.per_second = 0; /* an abstract clock */
    assert_int_equal(time_of(&coarse, work, 5), 5);
}

static void a_missing_rate_is_named(void **state)
{
    (void)state;
    pb_context ctx;
    uint64_t out = 12;
    pb_context_init(&ctx);
    pb_machine_processor bare = processors[0];
    bare.rate_count = 2;
    pb_work work = {.dtype = "bfloat16", .has_flops = true, .flops = 1};
    assert_int_equal(pb_machine_duration(&ctx, &one, &bare, &work, 0, &out), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "add \"bfloat16\" or \"other\""));
    assert_int_equal(out, 12);
    work.flops = 0; /* nothing to compute */
    assert_int_equal(pb_machine_duration(&ctx, &one, &bare, &work, 0, &out), PB_OK);
    work = (pb_work){.has_bytes = true, .bytes = UINT64_MAX};
    assert_int_equal(pb_machine_duration(&ctx, &one, &bare, &work, 0, &out), PB_ERANGE);
}

static void products_are_divided_exactly(void **state)
{
    (void)state;
    uint64_t out;
    assert_true(pbi_mul_div_up(UINT64_MAX, UINT64_MAX, UINT64_MAX, &out));
    assert_true(out == UINT64_MAX);
    assert_true(pbi_mul_div_up(UINT64_MAX, 1000000000, 1000000001, &out));
    assert_true(out == 18446744055262807560u); /* rounded up */
    assert_true(pbi_mul_div_up(0, UINT64_MAX, 3, &out));
    assert_int_equal(out, 0);
    assert_false(pbi_mul_div_up(UINT64_MAX, 3, 2, &out));
    assert_true(pbi_mul_div_up((uint64_t)1 << 63, 6, (uint64_t)1 << 62, &out));
    assert_int_equal(out, 12);
}

static pb_status check(pb_machine m, const char *sentence)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_status status = pb_machine_check(&ctx, &m);
    if (sentence)
        assert_non_null(strstr(ctx.error.message, sentence));
    return status;
}

static void broken_machines_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check(one, NULL), PB_OK);
    pb_machine m = one;
    m.processor_count = 0;
    assert_int_equal(check(m, "has no processors"), PB_EFORMAT);
    pb_machine_memory twins[] = {{.name = "a", .cap = 1}, {.name = "a", .cap = 1}, {.name = "b", .cap = 1}};
    m = one;
    m.memories = twins;
    assert_int_equal(check(m, "memory \"a\" appears twice"), PB_EFORMAT);
    twins[1] = (pb_machine_memory){.name = "c", .cap = 1, .reserve = 2};
    assert_int_equal(check(m, "reserves more than its cap"), PB_EFORMAT);
    pb_machine_processor p = processors[0];
    p.memory = 3;
    m = one;
    m.processors = &p;
    assert_int_equal(check(m, "processor \"gpu\" uses a memory"), PB_EFORMAT);
    static const pb_machine_rate zero[] = {{"float32", 0}};
    p.memory = 0;
    p.rates = zero;
    p.rate_count = 1;
    assert_int_equal(check(m, "not from 1 to 2^63 per second"), PB_EFORMAT);
    static const pb_machine_rate many[PB_MACHINE_MAX_PARTS + 1];
    p.rates = many;
    p.rate_count = PB_MACHINE_MAX_PARTS + 1;
    assert_int_equal(check(m, "has more than 1024 rates, bandwidths or models"), PB_EFORMAT);
    static const pb_machine_model models[PB_MACHINE_MAX_PARTS + 1];
    p = processors[0];
    p.models = models;
    p.model_count = PB_MACHINE_MAX_PARTS + 1;
    assert_int_equal(check(m, "has more than 1024 rates, bandwidths or models"), PB_EFORMAT);
    const pb_machine_point points[] = {{1, 1, 1}};
    pb_machine_curve *curves = calloc(PB_MACHINE_MAX_POINTS + 1, sizeof *curves);
    assert_non_null(curves);
    for (uint32_t i = 0; i <= PB_MACHINE_MAX_POINTS; i++)
        curves[i] = (pb_machine_curve){points, 1};
    pb_machine_model model = {.op = "conv", .by = PB_BY_FLOPS, .curves = curves};
    model.curve_count = PB_MACHINE_MAX_POINTS + 1;
    p.models = &model;
    p.model_count = 1;
    assert_int_equal(check(m, "has more than 1048576 points in its models"), PB_EFORMAT);
    free(curves);
    pb_machine_link l = links[0];
    m = one;
    m.links = &l;
    m.link_count = 1;
    l.to = 0;
    assert_int_equal(check(m, "from a memory to itself"), PB_EFORMAT);
    l.to = 9;
    assert_int_equal(check(m, "joins a memory"), PB_EFORMAT);
}

static void slow_memories_with_links_both_ways_are_tiers(void **state)
{
    (void)state;
    pb_tier tiers[PB_MAX_TIERS];
    uint32_t count;
    assert_int_equal(pb_machine_tiers(&one, tiers, &count), 1); /* disk has no links with hbm */
    assert_int_equal(count, 1);
    assert_string_equal(tiers[0].store_link, "out");
    assert_string_equal(tiers[0].load_link, "in");
    for (uint64_t size = 0; size < 50; size++) {
        assert_int_equal(pb_tier_store_price(&tiers[0], size), pb_machine_copy_time(&one, &links[0], size));
        assert_int_equal(pb_tier_load_price(&tiers[0], size), pb_machine_copy_time(&one, &links[1], size));
    }
    assert_int_equal(pb_tier_store_price(&tiers[0], 7), 3 + 700);
    assert_int_equal(pb_tier_load_price(&tiers[0], 7), 4 + 14 + 350);
    assert_true(pb_tier_store_price(&tiers[0], UINT64_MAX) == UINT64_MAX);
}

static void the_first_slow_memories_are_tiers(void **state)
{
    (void)state;
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    pb_machine_memory many[10];
    pb_machine_link both[18];
    for (uint32_t i = 0; i < 10; i++)
        many[i] = (pb_machine_memory){.name = names[i], .cap = PB_UNLIMITED};
    for (uint32_t i = 0; i < 9; i++) {
        both[2 * i] = (pb_machine_link){.name = names[i + 1], .to = i + 1, .latency = i};
        both[2 * i + 1] = (pb_machine_link){.name = names[i + 1], .from = i + 1};
    }
    pb_machine m = one;
    m.memories = many;
    m.memory_count = 10;
    m.links = both;
    m.link_count = 18;
    pb_tier tiers[PB_MAX_TIERS];
    uint32_t count;
    assert_int_equal(pb_machine_tiers(&m, tiers, &count), 9);
    assert_int_equal(count, PB_MAX_TIERS);
    assert_string_equal(tiers[PB_MAX_TIERS - 1].store_link, "8");
}

static void graphs_are_priced_and_keep_their_hash(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_builder *b;
    pb_node v[3];
    const pb_graph *g, *priced;
    char before[PB_HASH_TEXT], after[PB_HASH_TEXT];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_builder_new(&ctx, &b), PB_OK);
    pb_node_spec specs[] = {
        {.name = "plain", .cost = 5, .size = 1},
        {.name = "conv",
         .cost = 1000,
         .size = 1,
         .work = {.op = "conv", .dtype = "float32", .has_flops = true, .flops = 1000}},
        {.name = "measured", .cost = 6, .size = 1, .work = {.has_bytes = true, .bytes = 1}},
    };
    for (int i = 0; i < 3; i++)
        assert_int_equal(pb_builder_add_node(b, &specs[i], &v[i]), PB_OK);
    assert_int_equal(pb_builder_add_note(b, v[2], PB_NOTE_TIME, "cpu", 77), PB_OK);
    assert_int_equal(pb_builder_add_note(b, v[2], PB_NOTE_TIME, "gpu", 78), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &arena, &g), PB_OK);
    assert_int_equal(pb_graph_price(&ctx, g, &one, &arena, &priced), PB_OK);
    assert_int_equal(priced->cost[0], 5);
    assert_int_equal(priced->cost[1], 7 + 2000);
    assert_int_equal(priced->cost[2], 78);
    assert_int_equal(priced->needed_cost, 5 + 2007 + 78);
    assert_string_equal(priced->cost_unit, "ms");
    assert_ptr_equal(priced->priced_by, &one);
    assert_int_equal(pb_graph_hash(&ctx, g, before), PB_OK);
    assert_int_equal(pb_graph_hash(&ctx, priced, after), PB_OK);
    assert_string_equal(before, after);
    const pb_graph *twice;
    assert_int_equal(pb_graph_price(&ctx, priced, &one, &arena, &twice), PB_OK); /* from the graph, not from times */
    assert_int_equal(twice->cost[0], 5);
    assert_ptr_equal(twice->unpriced, g);
    pb_builder_free(b);
    pb_arena_release(&arena);
}

/* One node of size 10 in a graph with this much always in use, priced by `one` with a second tier. */
static pb_status price_fixed(uint64_t hbm, uint64_t disk, pb_tier tiers[PB_MAX_TIERS], uint64_t figures[2])
{
    pb_machine_link both[4] = {links[0], links[1], links[2], links[1]};
    both[2].from = 0;
    both[3].from = 2;
    both[3].name = "back";
    pb_machine m = one;
    m.links = both;
    m.link_count = 4;
    pb_context ctx;
    pb_arena arena;
    pb_builder *b;
    const pb_graph *g, *priced;
    uint32_t count;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_builder_new(&ctx, &b), PB_OK);
    assert_int_equal(pb_builder_add_node(b, &(pb_node_spec){.name = "x", .size = 10}, NULL), PB_OK);
    pb_builder_set_fixed_size(b, 5);
    assert_int_equal(pb_builder_add_note(b, PB_NO_NODE, PB_NOTE_TIME, "disk", disk), PB_OK);
    if (hbm)
        assert_int_equal(pb_builder_add_note(b, PB_NO_NODE, PB_NOTE_TIME, "hbm", hbm), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &arena, &g), PB_OK);
    assert_int_equal(g->fixed_size, 5);
    pb_status status = pb_graph_price(&ctx, g, &m, &arena, &priced);
    if (status == PB_OK) {
        assert_int_equal(pb_graph_tiers(priced, tiers, &count), 2);
        figures[0] = priced->fixed_size;
        figures[1] = priced->total_size;
    }
    pb_builder_free(b);
    pb_arena_release(&arena);
    return status;
}

static void fixed_memory_counts_where_it_is(void **state)
{
    (void)state;
    pb_tier tiers[PB_MAX_TIERS];
    uint64_t figures[2];
    assert_int_equal(price_fixed(300, 4000, tiers, figures), PB_OK);
    assert_int_equal(figures[0], 300);
    assert_int_equal(figures[1], 310);
    assert_true(tiers[0].cap == PB_UNLIMITED);
    assert_int_equal(tiers[1].cap, 1000);
    assert_int_equal(price_fixed(0, 5000, tiers, figures), PB_OK);
    assert_int_equal(figures[0], 0); /* nothing is in use in the first memory, whatever fixed_size is */
    assert_int_equal(tiers[1].cap, 0);
    assert_int_equal(price_fixed(0, 5001, tiers, figures), PB_EINVAL);
    assert_int_equal(price_fixed(UINT64_MAX - 11, 0, tiers, figures), PB_OK);
    assert_int_equal(price_fixed(UINT64_MAX - 10, 0, tiers, figures), PB_ERANGE);
}

static void notes_go_where_they_mean_something(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_builder *b;
    const pb_graph *g;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_builder_new(&ctx, &b), PB_OK);
    assert_int_equal(pb_builder_add_node(b, &(pb_node_spec){.name = "x", .size = 1}, NULL), PB_OK);
    assert_int_equal(pb_builder_add_node(b, &(pb_node_spec){.name = "y", .size = 1, .flags = PB_NODE_GIVEN}, NULL),
                     PB_OK);
    assert_int_equal(pb_builder_add_note(b, 1, PB_NOTE_IN, "host", 0), PB_OK);
    assert_int_equal(pb_builder_add_note(b, 0, PB_NOTE_ON, "b", 0), PB_OK);
    assert_int_equal(pb_builder_add_note(b, 0, PB_NOTE_ON, "a", 0), PB_OK);
    assert_int_equal(pb_builder_add_note(b, 0, PB_NOTE_TIME, "a", 3), PB_OK);
    assert_int_equal(pb_builder_add_note(b, PB_NO_NODE, PB_NOTE_IN, "host", 9), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &arena, &g), PB_OK);
    assert_int_equal(g->note_start[0], 0);
    assert_int_equal(g->note_start[1], 3);
    assert_int_equal(g->note_start[2], 4);
    assert_int_equal(g->note[0].kind, PB_NOTE_TIME);
    assert_string_equal(g->words[g->note[1].word], "b"); /* in the order of the file */
    assert_string_equal(g->words[g->note[2].word], "a");
    assert_string_equal(g->words[g->note[3].word], "host");
    assert_int_equal(g->fixed_count, 1);
    assert_int_equal(g->fixed[0].value, 9);
    assert_int_equal(pb_builder_add_note(b, 0, PB_NOTE_IN, "host", 0), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &arena, &g), PB_EGRAPH);
    assert_non_null(strstr(ctx.error.message, "node \"x\": the field \"in\""));
    pb_builder_free(b);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longer_of_operations_and_traffic_counts),
        cmocka_unit_test(partial_units_of_time_are_rounded_up),
        cmocka_unit_test(a_missing_rate_is_named),
        cmocka_unit_test(products_are_divided_exactly),
        cmocka_unit_test(broken_machines_are_refused),
        cmocka_unit_test(slow_memories_with_links_both_ways_are_tiers),
        cmocka_unit_test(the_first_slow_memories_are_tiers),
        cmocka_unit_test(graphs_are_priced_and_keep_their_hash),
        cmocka_unit_test(fixed_memory_counts_where_it_is),
        cmocka_unit_test(notes_go_where_they_mean_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
