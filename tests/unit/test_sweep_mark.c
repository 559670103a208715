/* test_sweep_mark.c -- winners, flips, front and knee of sweeps that are written down by hand. */
#include "pebble/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { CAPS = 5, LINES = 2, CELLS = CAPS * LINES };

typedef struct hand_made {
    pb_context ctx;
    pb_arena arena;
    uint64_t caps[CAPS];
    pb_sweep_line lines[LINES];
    pb_weights weights[2];
    pb_sweep_cell cells[2 * CELLS];
    pb_sweep s;
} hand_made;

/* Two strategies a and b under the caps 50, 40, ... 10. */
static void open_by_hand(hand_made *h, uint32_t weights)
{
    memset(h, 0, sizeof *h);
    pb_context_init(&h->ctx);
    pb_arena_init(&h->arena, &h->ctx);
    for (uint32_t k = 0; k < CAPS; k++)
        h->caps[k] = 50 - 10 * k;
    h->lines[0] = (pb_sweep_line){"a", PB_GAME_REMAT, false};
    h->lines[1] = (pb_sweep_line){"b", PB_GAME_REMAT, false};
    h->s = (pb_sweep){.caps = h->caps,
                      .cap_count = CAPS,
                      .lines = h->lines,
                      .line_count = LINES,
                      .weights = h->weights,
                      .weights_count = weights,
                      .cells = h->cells,
                      .cell_count = weights * CELLS};
    for (uint32_t i = 0; i < h->s.cell_count; i++)
        h->cells[i] = (pb_sweep_cell){.present = true, .from = i, .schedule = {.game = PB_GAME_REMAT, .strategy = "x"}};
}

/* Nothing looks into a certificate: that it is there is all that counts. */
static void put(hand_made *h, uint32_t cell, uint64_t peak, uint64_t work)
{
    h->cells[cell].certificate = (const pb_certificate *)h;
    h->cells[cell].schedule.metrics = (pb_metrics){.peak = peak, .makespan = work, .cost = {0, work}};
}

static void mark(hand_made *h) { assert_int_equal(pb_sweep_mark(&h->s, &h->arena), PB_OK); }

static void close_by_hand(hand_made *h) { pb_arena_release(&h->arena); }

static void the_winner_flips_where_another_is_cheaper(void **state)
{
    (void)state;
    static const uint64_t a[CAPS] = {10, 11, 15, 30, 0}, b[CAPS] = {12, 12, 14, 14, 0};
    hand_made h;
    open_by_hand(&h, 1);
    for (uint32_t k = 0; k + 1 < CAPS; k++) {
        put(&h, k, h.caps[k], a[k]);
        put(&h, CAPS + k, h.caps[k], b[k]);
    }
    mark(&h);
    assert_int_equal(h.s.winner[1], 1);
    assert_int_equal(h.s.winner[2], CAPS + 2);
    assert_int_equal(h.s.winner[4], PB_NO_CELL);
    assert_int_equal(h.s.flip_count, 1); /* where nothing fits any more is no flip */
    assert_int_equal(h.s.flips[0].cap, 1);
    assert_int_equal(h.s.flips[0].before, 1);
    assert_int_equal(h.s.flips[0].after, CAPS + 2);
    assert_int_equal(h.s.cheapest[0], 0);
    assert_string_equal(pb_sweep_winner_name(&h.s, CAPS + 2), "b");
    close_by_hand(&h);
}

static void a_tie_is_no_flip(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 1);
    for (uint32_t k = 0; k < CAPS; k++) {
        put(&h, k, h.caps[k], 10);
        put(&h, CAPS + k, k ? 5 : h.caps[k] + 1, 10); /* the smaller peak, but not at the first cap */
    }
    mark(&h);
    for (uint32_t k = 0; k < CAPS; k++)
        assert_int_equal(h.s.winner[k], k);
    assert_int_equal(h.s.flip_count, 0);
    close_by_hand(&h);
}

static void a_portfolio_flips_with_the_strategy_it_chooses(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 1);
    h.s.line_count = 1;
    h.s.cell_count = CAPS;
    h.lines[0].portfolio = true;
    for (uint32_t k = 0; k < CAPS; k++) {
        put(&h, k, h.caps[k], 10 + k);
        h.cells[k].schedule.strategy = k < 3 ? "search" : "chain";
    }
    mark(&h);
    assert_int_equal(h.s.flip_count, 1);
    assert_int_equal(h.s.flips[0].cap, 2);
    assert_string_equal(pb_sweep_winner_name(&h.s, 3), "chain");
    close_by_hand(&h);
}

static void weights_flip_the_winner_too(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 2);
    for (uint32_t k = 0; k < CAPS; k++)
        for (uint32_t w = 0; w < 2; w++) {
            put(&h, pb_sweep_at(&h.s, w, 0, k), h.caps[k], 10 + (k == 3 ? 9 * w : 0));
            put(&h, pb_sweep_at(&h.s, w, 1, k), h.caps[k], 12);
        }
    mark(&h);
    uint32_t across = 0;
    for (uint32_t i = 0; i < h.s.flip_count; i++)
        across += h.s.flips[i].across_weights && h.s.flips[i].cap == 3 && h.s.flips[i].weights == 0;
    assert_int_equal(across, 1);
    assert_int_equal(h.s.flip_count, 3); /* and under the second weights there and back */
    close_by_hand(&h);
}

static void the_front_has_what_nothing_beats(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 1);
    put(&h, 0, 40, 10); /* the plan of cell 1, carried to a larger cap */
    h.cells[0].from = 1;
    put(&h, 1, 40, 10);
    put(&h, 2, 30, 11);
    put(&h, 3, 20, 20);
    put(&h, CAPS + 2, 25, 21); /* more memory and more work than cell 3 */
    put(&h, CAPS + 3, 30, 11); /* equal to cell 2 */
    mark(&h);
    assert_int_equal(h.s.front_count, 3);
    assert_int_equal(h.s.front[0], 1);
    assert_int_equal(h.s.front[1], 2);
    assert_int_equal(h.s.front[2], 3);
    assert_int_equal(h.s.knee, 2);
    close_by_hand(&h);
}

static void a_straight_front_has_no_knee(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 1);
    for (uint32_t k = 0; k < CAPS; k++)
        put(&h, k, h.caps[k], 10 + 10 * k);
    mark(&h);
    assert_int_equal(h.s.front_count, CAPS);
    assert_int_equal(h.s.knee, PB_NO_CELL);
    put(&h, 3, 20, 48); /* above the line: still none */
    mark(&h);
    assert_int_equal(h.s.knee, PB_NO_CELL);
    put(&h, 3, 20, 32); /* below it */
    mark(&h);
    assert_int_equal(h.s.knee, 3);
    close_by_hand(&h);
}

static void nothing_at_all_is_marked_as_such(void **state)
{
    (void)state;
    hand_made h;
    open_by_hand(&h, 1);
    mark(&h);
    assert_int_equal(h.s.front_count, 0);
    assert_int_equal(h.s.knee, PB_NO_CELL);
    assert_int_equal(h.s.cheapest[0], PB_NO_CELL);
    assert_int_equal(h.s.flip_count, 0);
    close_by_hand(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_flips_where_another_is_cheaper),
        cmocka_unit_test(a_tie_is_no_flip),
        cmocka_unit_test(a_portfolio_flips_with_the_strategy_it_chooses),
        cmocka_unit_test(weights_flip_the_winner_too),
        cmocka_unit_test(the_front_has_what_nothing_beats),
        cmocka_unit_test(a_straight_front_has_no_knee),
        cmocka_unit_test(nothing_at_all_is_marked_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
