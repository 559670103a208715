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

static pb_tier priced(const char *store, const char *load)
{
    pb_context ctx;
    pb_tier tier = {.store_cost = 7, .load_cost = 0, .cap = PB_UNLIMITED};
    pb_context_init(&ctx);
    assert_int_equal(pb_tier_prices_parse(&ctx, store, load, &tier), PB_OK);
    return tier;
}

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

static void prices_are_refused_with_a_sentence(void **state)
{
    (void)state;
    pb_context ctx;
    pb_tier tier = {.store_cost = 4711};
    pb_context_init(&ctx);
    assert_int_equal(pb_tier_prices_parse(&ctx, "x", NULL, &tier), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "not \"x\""));
    assert_int_equal(pb_tier_prices_parse(&ctx, NULL, "-1", &tier), PB_EINVAL);
    assert_int_equal(pb_tier_prices_parse(&ctx, "1e-10", NULL, &tier), PB_ERANGE);
    assert_non_null(strstr(ctx.error.message, "at most 9 behind the point"));
    assert_int_equal(pb_tier_prices_parse(&ctx, "18446744073709551615", "0.1", &tier), PB_ERANGE);
    assert_int_equal(tier.store_cost, 4711);
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

static void links_cost_what_the_prices_say(void **state)
{
    (void)state;
    static const char *const prices[] = {"0.04", "0.03", "0.15", "12.5", "0.125", "0.999", "1.01", "0.000001"};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_buffer text;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        pb_buffer_init(&text, &arena);
        pb_schedule s = {.graph_name = "", .strategy = "", .version = "", .game = PB_GAME_TIERED, .tier_count = 1};
        s.weights = PB_WEIGHTS_DEFAULT;
        s.tiers[0] = priced(prices[i], "2");
        s.largest = 100000;
        assert_int_equal(pb_schedule_write(&ctx, &s, PB_FORMAT_JSON, pb_sink_buffer(&text)), PB_OK);
        const char *store = strstr(text.bytes, "{\"name\":\"store1\""),
                   *load = strstr(text.bytes, "{\"name\":\"load1\"");
        assert_non_null(store);
        assert_non_null(load);
        assert_non_null(strstr(text.bytes, prices[i]));
        for (uint64_t size = 0; size <= s.largest; size += 1 + size / 300) {
            assert_int_equal(link_price(store, size), pb_tier_store_price(&s.tiers[0], size));
            assert_int_equal(link_price(load, size), pb_tier_load_price(&s.tiers[0], size));
        }
        pb_arena_release(&arena);
    }
}

static void a_machine_is_written_only_where_it_says_the_same(void **state)
{
    (void)state;
    pb_schedule s = {.game = PB_GAME_TIERED, .tier_count = 1};
    s.tiers[0] = priced("3", "2");
    assert_false(pbi_schedule_needs_machine(&s)); /* whole prices need none */
    s.tiers[0] = priced("0.04", "0");
    assert_true(pbi_schedule_needs_machine(&s)); /* a 25th: for every size */
    s.tiers[0] = priced("0.123456789", "0");
    assert_false(pbi_schedule_needs_machine(&s)); /* sizes are not known */
    s.largest = 60;
    assert_true(pbi_schedule_needs_machine(&s));
    s.largest = 70;
    assert_false(pbi_schedule_needs_machine(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_are_rounded_up_one_by_one),
        cmocka_unit_test(prices_are_refused_with_a_sentence),
        cmocka_unit_test(links_cost_what_the_prices_say),
        cmocka_unit_test(a_machine_is_written_only_where_it_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
