/* tests/unit/test_intervals.c -- fronts of work against memory on lines of different steps. */
#include "plan/reversible/line/intervals.h"
#include "unit/chain_fixture.h"

typedef struct fixture {
    chain_bench t;
    pb_arena arena;
    pbi_plan plan;
    pbi_line line;
    pbi_intervals s;
} fixture;

static void open_line(fixture *f, const small_game *small)
{
    bool is_line;
    chain_open_small(&f->t, small);
    pb_arena_init(&f->arena, &f->t.ctx);
    pbi_plan_reset(&f->plan, &f->arena);
    assert_int_equal(pbi_line_read(&f->t.game, &f->arena, &f->plan, &f->line, &is_line), PB_OK);
    assert_true(is_line);
    f->s = (pbi_intervals){.line = &f->line, .length = f->line.count, .budget = f->line.budget, .effort = 1000000};
    assert_int_equal(pbi_intervals_init(&f->t.ctx, &f->s, &f->arena), PB_OK);
}

static void close_line(fixture *f)
{
    pb_arena_release(&f->arena);
    chain_close(&f->t);
}

static void make_chain(small_game *s, uint32_t count, uint64_t seed)
{
    pbi_rng rng = {seed};
    small_game_init(s);
    s->kind = PB_GAME_REVERSIBLE;
    for (uint32_t v = 0; v < count; v++)
        small_game_add(s, 1 + pbi_rng_below(&rng, 20), 1 + pbi_rng_below(&rng, 9), v ? UINT32_C(1) << (v - 1) : 0);
}

/* The recursion as it is written, without fronts. */
static uint64_t least_work(const fixture *f, uint32_t from, uint32_t to, uint64_t memory)
{
    const pb_graph *g = f->t.game.graph;
    pb_node end = f->line.node[to - 1];
    if (g->size[end] > memory)
        return UINT64_MAX;
    uint64_t best = to == from + 1 ? g->cost[end] : UINT64_MAX;
    for (uint32_t m = from + 1; m < to; m++) {
        uint64_t size = g->size[f->line.node[m - 1]];
        uint64_t make = least_work(f, from, m, memory);
        uint64_t reach = size <= memory && make != UINT64_MAX ? least_work(f, m, to, memory - size) : UINT64_MAX;
        uint64_t back = reach != UINT64_MAX ? least_work(f, from, m, memory - g->size[end]) : UINT64_MAX;
        if (back != UINT64_MAX && make + reach + back < best)
            best = make + reach + back;
    }
    return best;
}

static void fronts_are_the_recursion_at_every_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        small_game small;
        fixture f;
        make_chain(&small, 6, seed);
        small.cap = PB_UNLIMITED;
        open_line(&f, &small);
        assert_true(f.s.complete && !f.s.overflow);
        for (uint64_t memory = 0; memory <= f.t.game.graph->total_size; memory++) {
            const pbi_point *p = pbi_intervals_point(&f.s, 0, 6, memory);
            assert_int_equal(p ? p->work : UINT64_MAX, least_work(&f, 0, 6, memory));
        }
        close_line(&f);
    }
}

static void fronts_rise_in_memory_and_fall_in_work(void **state)
{
    small_game small;
    fixture f;
    (void)state;
    make_chain(&small, 14, 3);
    small.cap = 50;
    open_line(&f, &small);
    for (uint32_t i = 0; i < 14; i++)
        for (uint32_t j = i + 1; j <= 14; j++) {
            const pbi_front *front = pbi_intervals_front(&f.s, i, j);
            for (uint32_t p = 0; p < front->count; p++) {
                assert_true(front->point[p].memory <= 50);
                assert_true(j == i + 1 || (front->point[p].cut > i && front->point[p].cut < j));
                if (p)
                    assert_true(front->point[p].memory > front->point[p - 1].memory &&
                                front->point[p].work < front->point[p - 1].work);
            }
        }
    close_line(&f);
}

static void thin_fronts_keep_their_ends(void **state)
{
    small_game small;
    fixture f;
    pbi_intervals thin;
    (void)state;
    make_chain(&small, 20, 5);
    small.cap = PB_UNLIMITED;
    open_line(&f, &small);
    thin = (pbi_intervals){.line = &f.line, .length = 20, .budget = f.line.budget, .effort = 40000, .thin = true};
    assert_int_equal(pbi_intervals_init(&f.t.ctx, &thin, &f.arena), PB_OK);
    assert_true(thin.complete);
    const pbi_front *all = pbi_intervals_front(&f.s, 0, 20), *few = pbi_intervals_front(&thin, 0, 20);
    assert_true(few->count < all->count && few->count > 1);
    assert_true(few->point[0].memory >= all->point[0].memory);
    assert_int_equal(few->point[few->count - 1].work, all->point[all->count - 1].work); /* everything once each way */
    close_line(&f);
}

static void effort_that_runs_out_is_told(void **state)
{
    small_game small;
    fixture f;
    (void)state;
    make_chain(&small, 20, 5);
    small.cap = PB_UNLIMITED;
    open_line(&f, &small);
    for (uint64_t effort = 1; effort < 100000; effort *= 10) {
        pbi_intervals s = {.line = &f.line, .length = 20, .budget = f.line.budget, .effort = effort};
        assert_int_equal(pbi_intervals_init(&f.t.ctx, &s, &f.arena), PB_OK);
        assert_false(s.complete);
    }
    close_line(&f);
}

static void work_past_64_bits_is_left_out_and_told(void **state)
{
    small_game small;
    fixture f;
    (void)state;
    make_chain(&small, 3, 1);
    for (unsigned v = 0; v < 3; v++)
        small.cost[v] = UINT64_C(1) << 62;
    small.cap = PB_UNLIMITED;
    open_line(&f, &small);
    assert_true(f.s.complete && f.s.overflow);
    assert_int_equal(pbi_intervals_front(&f.s, 0, 3)->count, 0);
    close_line(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_are_the_recursion_at_every_memory),
        cmocka_unit_test(fronts_rise_in_memory_and_fall_in_work),
        cmocka_unit_test(thin_fronts_keep_their_ends),
        cmocka_unit_test(effort_that_runs_out_is_told),
        cmocka_unit_test(work_past_64_bits_is_left_out_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
