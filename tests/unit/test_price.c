/* test_price.c -- decimal prices of transfers: exact, rounded up once a transfer, and the same as links of a machine. */
#include "game/price.h"
#include "io/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pb_tier fully_priced(const char *store, const char *load, const char *store_unit, const char *load_unit)
{
    pb_context ctx;
    pb_tier tier = {.cap = PB_UNLIMITED};
    pb_context_init(&ctx);
    assert_int_equal(pb_tier_prices_parse(&ctx, NULL, (const char *[]){store, load, store_unit, load_unit}, &tier),
                     PB_OK);
    return tier;
}

static pb_tier priced(const char *store, const char *load) { return fully_priced("7", NULL, store, load); }

static void transfers_are_rounded_up_one_by_one(void **state)
{
    (void)state;
    pb_tier tier = priced("0.04", "2.5");
    assert_int_equal(tier.digits, 2);
    assert_int_equal(pb_tier_store_price(&tier, 0), 7);
    assert_int_equal(pb_tier_store_price(&tier, 1), 8);
    assert_int_equal(pb_tier_store_price(&tier, 25), 8);
    assert_int_equal(pb_tier_store_price(&tier, 26), 9);
    assert_int_equal(pb_tier_load_price(&tier, 3), 8);
    assert_int_equal(pb_tier_load_price(&tier, 4), 10);
    assert_int_equal(pb_tier_load_price(&tier, UINT64_MAX), UINT64_MAX); /* as much as there is */
    assert_int_equal(pb_tier_store_price(&tier, UINT64_MAX), UINT64_MAX / 25 + 1 + 7);
    tier = priced("3", NULL);
    assert_int_equal(tier.digits, 0);
    assert_int_equal(pb_tier_store_price(&tier, 5), 22);
    assert_int_equal(pb_tier_load_price(&tier, 5), 0);
}

static void fixed_parts_are_decimals_too(void **state)
{
    (void)state;
    pb_tier tier = fully_priced("0.5", "1.25e1", NULL, "0.2");
    assert_int_equal(tier.digits, 1);
    assert_int_equal(pb_tier_store_price(&tier, 0), 1);
    assert_int_equal(pb_tier_store_price(&tier, 1000), 1);
    assert_int_equal(pb_tier_load_price(&tier, 0), 13);
    assert_int_equal(pb_tier_load_price(&tier, 2), 13); /* 12.9: rounded once, not part by part */
    assert_int_equal(pb_tier_load_price(&tier, 3), 14);
    char text[32];
    pb_tier_price_text(&tier, PB_STORE_COST, text);
    assert_string_equal(text, "0.5");
    pb_tier_price_text(&tier, PB_LOAD_COST, text);
    assert_string_equal(text, "12.5");
    tier = fully_priced("1844674407370955161.5", NULL, "0.1", NULL);
    assert_int_equal(pb_tier_store_price(&tier, UINT64_MAX), UINT64_C(3689348814741910323)); /* (2^64-1) / 5 */
    tier = fully_priced("1844674407370955161.5", NULL, "1.0", NULL);
    assert_int_equal(pb_tier_store_price(&tier, UINT64_MAX), UINT64_MAX);
}

static void prices_are_in_the_unit_of_the_file(void **state)
{
    (void)state;
    pb_context ctx;
    pb_tier tier = {.cap = PB_UNLIMITED};
    pb_graph g = {.cost_unit = "0.01 step", .cost_digits = 2};
    pb_context_init(&ctx);
    assert_int_equal(pb_tier_prices_parse(&ctx, &g, (const char *[]){"0.5", "3", NULL, "0.125"}, &tier), PB_OK);
    assert_int_equal(tier.digits, 1);
    assert_int_equal(pb_tier_store_price(&tier, 9), 50);
    assert_int_equal(pb_tier_load_price(&tier, 1), 313); /* 312.5 */
    assert_int_equal(pb_tier_load_price(&tier, 2), 325);
    const char *large[PB_PRICE_COUNT] = {"18446744073709551615", NULL, NULL, NULL};
    assert_int_equal(pb_tier_prices_parse(&ctx, &g, large, &tier), PB_ERANGE);
    assert_non_null(strstr(ctx.error.message, "in 0.01 step it exceeds 2^64"));
}

static void prices_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text[PB_PRICE_COUNT];
        pb_status status;
        const char *says;
    } cases[] = {
        {{NULL, NULL, "x", NULL}, PB_EINVAL, "not \"x\""},
        {{NULL, NULL, NULL, "-1"}, PB_EINVAL, "not \"-1\""},
        {{"", NULL, NULL, NULL}, PB_EINVAL, "not \"\""},
        {{NULL, NULL, "1e-10", NULL}, PB_ERANGE, "at most 9 after the point"},
        {{NULL, "1e-10", NULL, NULL}, PB_ERANGE, "at most 9 after the point"},
        {{NULL, NULL, "18446744073709551615", "0.1"},
         PB_ERANGE,
         "with as many decimals as the other prices it exceeds 2^64"},
        {{"18446744073709551615", "0.1", NULL, NULL}, PB_ERANGE, "the price 18446744073709551615 is too large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_tier tier = {.store_cost = 4711};
        pb_context_init(&ctx);
        assert_int_equal(pb_tier_prices_parse(&ctx, NULL, cases[i].text, &tier), cases[i].status);
        assert_non_null(strstr(ctx.error.message, cases[i].says));
        assert_int_equal(tier.store_cost, 4711);
    }
}

/* The number behind `key` after `from`, 0 when it is not there. */
static uint64_t number_behind(const char *from, const char *key)
{
    const char *end = strchr(from, '}'), *at = strstr(from, key);
    return at && at < end ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* ceil(size * 10^9 / bandwidth) for sizes below 2^34, as a replay of links counts it. */
static uint64_t link_price(const char *link, uint64_t size)
{
    uint64_t bandwidth = number_behind(link, "\"bandwidth\":");
    uint64_t price = number_behind(link, "\"latency\":") + number_behind(link, "\"per_unit\":") * size;
    return bandwidth ? price + (size * 1000000000 + bandwidth - 1) / bandwidth : price;
}

/* A graph of nothing but values of these sizes. */
static pb_graph values(const uint64_t *sizes, uint32_t count)
{
    return (pb_graph){.cost_unit = "step", .node_count = count, .size = sizes};
}

/* A schedule with this tier carries links, and they cost what the tier does for values of these sizes. */
static void check_links(pb_tier tier, const uint64_t *sizes, uint32_t count)
{
    pb_context ctx;
    pb_arena arena;
    pb_buffer text;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_buffer_init(&text, &arena);
    pb_graph g = values(sizes, count);
    pb_schedule s = {.graph_name = "", .strategy = "", .version = "", .game = PB_GAME_TIERED, .tier_count = 1};
    s.weights = PB_WEIGHTS_DEFAULT;
    s.tiers[0] = tier;
    s.linked = pbi_price_links(&g, s.tiers, 1, s.links);
    assert_true(s.linked);
    assert_int_equal(pb_schedule_write(&ctx, &s, PB_FORMAT_JSON, pb_sink_buffer(&text)), PB_OK);
    const char *store = strstr(text.bytes, "{\"name\":\"store1\""), *load = strstr(text.bytes, "{\"name\":\"load1\"");
    assert_non_null(store);
    assert_non_null(load);
    for (uint32_t v = 0; v < count; v++) {
        assert_int_equal(link_price(store, sizes[v]), pb_tier_store_price(&tier, sizes[v]));
        assert_int_equal(link_price(load, sizes[v]), pb_tier_load_price(&tier, sizes[v]));
    }
    pb_arena_release(&arena);
}

static void links_cost_what_the_prices_say(void **state)
{
    (void)state;
    static const char *const prices[] = {"0.04", "0.03", "0.15", "12.5", "0.125", "0.999", "1.01", "0.000001"};
    uint64_t sizes[2000], size = 0;
    for (uint32_t i = 0; i < 2000; i++, size += 1 + size / 300)
        sizes[i] = size;
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        check_links(priced(prices[i], "2"), sizes, 2000);
    check_links(fully_priced("0.5", "2.25", "3", "0"), sizes, 2000);
    check_links(fully_priced("0.5", "2", "3", "0.04"), sizes, 2000);
    check_links(fully_priced("0.5", "1.5", "0.01", "2.05"), sizes,
                11); /* the fixed part takes in what is behind the point */
    check_links(fully_priced("0.5", "1.5", "0.3", "2.3"), sizes + 1, 3); /* 0.8, 1.1 and 1.4 */
    check_links(fully_priced("0.5", "1.5", "0.123", "2.7"), (const uint64_t[]){4096, 4096, 4096}, 3);
}

static void a_machine_is_written_only_where_it_says_the_same(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 3, 59, 70, 1000003};
    pb_price_link links[1][2];
    pb_graph g = values(sizes, 7);
    pb_tier tier = priced("3", "2");
    assert_false(pbi_price_links(&g, &tier, 1, links)); /* whole prices need none */
    tier = priced("0.04", "0");
    assert_true(pbi_price_links(&g, &tier, 1, links)); /* a 25th: for every size */
    assert_true(links[0][0].latency == 7 && links[0][0].bandwidth == UINT64_C(25000000000));
    tier = fully_priced("0.5", "0", "0.01", "0");
    assert_false(pbi_price_links(&g, &tier, 1, links)); /* no link has the steps of 0.5 + 0.01 * size from 0 on */
    g.node_count = 4;
    assert_true(pbi_price_links(&g, &tier, 1, links));
    /* The machine prices nodes by their operations, so these must be the costs. */
    pb_node_work work[4] = {{.has_flops = true, .flops = 6}, {.flops = 1}};
    const uint64_t cost[4] = {6, 5, 4, 3};
    const uint16_t flags[4] = {0};
    g.cost = cost;
    g.flags = flags;
    g.work = work;
    assert_true(pbi_price_links(&g, &tier, 1, links));
    work[1].has_bytes = true;
    assert_false(pbi_price_links(&g, &tier, 1, links));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_are_rounded_up_one_by_one),
        cmocka_unit_test(fixed_parts_are_decimals_too),
        cmocka_unit_test(prices_are_in_the_unit_of_the_file),
        cmocka_unit_test(prices_are_refused_with_a_sentence),
        cmocka_unit_test(links_cost_what_the_prices_say),
        cmocka_unit_test(a_machine_is_written_only_where_it_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
