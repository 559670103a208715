/* test_oracle_tables.c -- the exhaustive search is itself judged by figures from outside. */
#include "oracle/brute_force.h"
#include "oracle/oracle_tables.h"
#include "support/reference.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

/* The least makespan (SIZE_MAX: infeasible) or peak of a small game; its schedule must replay to the same figures. */
static uint64_t solve(bf_space *space, const small_game *s, bool peak)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pb_game game;
    bf_problem p;
    bf_answer a;
    assert_true(small_game_build(&ctx, s, &arena, &game));
    assert_true(bf_from_game(&game, &p));
    assert_true(peak ? bf_least_peak(space, &p, &a) : bf_least_makespan(space, &p, &a));
    if (a.feasible) {
        pb_moves moves;
        pb_moves_init(&moves, &arena);
        assert_int_equal(bf_to_moves(&a, &moves), PB_OK);
        reference r;
        reference_replay(&game, &moves, &r);
        assert_true(r.legal);
        assert_true(r.peak == a.peak);
        assert_true((peak ? r.peak : r.compute_work + r.uncompute_work + r.io) == a.value);
    }
    pb_arena_release(&arena);
    return a.feasible ? a.value : UINT64_MAX;
}

/* ---- pebbling fronts ---- */

static void make_chain(small_game *s, unsigned length)
{
    for (unsigned v = 0; v < length; v++)
        small_game_add(s, 1, 1, v ? bit(v - 1) : 0);
}

/* Leaves first, then each level above. */
static void make_tree(small_game *s, unsigned height)
{
    unsigned below = 0, width = 1u << height;
    for (unsigned i = 0; i < width; i++)
        small_game_add(s, 1, 1, 0);
    for (width /= 2; width; width /= 2) {
        unsigned level = s->node_count;
        for (unsigned i = 0; i < width; i++)
            small_game_add(s, 1, 1, bit(below + 2 * i) | bit(below + 2 * i + 1));
        below = level;
    }
}

static void make_pyramid(small_game *s, unsigned height)
{
    unsigned below = 0;
    for (unsigned i = 0; i <= height; i++)
        small_game_add(s, 1, 1, 0);
    for (unsigned width = height; width; width--) {
        unsigned level = s->node_count;
        for (unsigned i = 0; i < width; i++)
            small_game_add(s, 1, 1, bit(below + i) | bit(below + i + 1));
        below = level;
    }
}

static void check_front(bf_space *space, const pebbling_front *f)
{
    small_game s;
    small_game_init(&s);
    switch (f->family) {
    case 'c': make_chain(&s, f->size); break;
    case 't': make_tree(&s, f->size); break;
    default: make_pyramid(&s, f->size);
    }
    s.kind = f->game == 'r' ? PB_GAME_REVERSIBLE : PB_GAME_REMAT;
    for (unsigned v = 0; v < s.node_count && f->game == 's'; v++)
        s.inplace[v] = s.in[v];
    assert_int_equal(solve(space, &s, true), f->front[0].pebbles);
    s.cap = f->front[0].pebbles - 1u;
    assert_true(solve(space, &s, false) == UINT64_MAX);
    for (unsigned i = 0; i < f->count; i++) {
        s.cap = f->front[i].pebbles;
        assert_int_equal(solve(space, &s, false), f->front[i].cost);
        if (i + 1 < f->count && f->front[i + 1].pebbles > s.cap + 1) {
            s.cap = f->front[i + 1].pebbles - 1u;
            assert_int_equal(solve(space, &s, false), f->front[i].cost);
        }
    }
    s.cap = PB_UNLIMITED;
    assert_int_equal(solve(space, &s, false), f->front[f->count - 1].cost);
}

static void search_gives_known_pebbling_fronts(void **state)
{
    for (size_t i = 0; i < COUNT(pebbling_fronts); i++)
        check_front(*state, &pebbling_fronts[i]);
}

/* ---- red-blue ---- */

/* Outputs are sinks, so each is stored exactly once, right when it is made: our game ends there, one store earlier. */
static void search_gives_known_red_blue_io(void **state)
{
    for (size_t i = 0; i < COUNT(redblue_fronts); i++) {
        const redblue_front *f = &redblue_fronts[i];
        small_game s;
        small_game_init(&s);
        s.kind = PB_GAME_TIERED;
        s.tier_count = 1;
        s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
        for (unsigned v = 0; v < f->vertices; v++) {
            uint32_t in = 0;
            for (unsigned e = 0; e < f->edge_count; e++)
                in |= f->edges[e][1] == v ? bit(f->edges[e][0]) : 0;
            small_game_add(&s, 0, 1, in);
            s.flags[v] = in ? f->one_shot ? PB_NODE_ONCE : 0 : PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
        }
        s.cap = f->front[0].red - 1u;
        assert_true(solve(*state, &s, false) == UINT64_MAX);
        for (unsigned k = 0; k < f->count; k++) {
            s.cap = f->front[k].red;
            assert_int_equal(solve(*state, &s, false) + f->outputs, f->front[k].io);
        }
    }
}

/* ---- trees ---- */

static void search_gives_known_least_peaks_of_trees(void **state)
{
    for (size_t i = 0; i < COUNT(tree_peaks); i++) {
        const tree_peak *t = &tree_peaks[i];
        small_game s;
        small_game_init(&s);
        for (unsigned v = 0; v < t->count; v++) {
            small_game_add(&s, 1, t->memory[v], 0);
            s.flags[v] = PB_NODE_ONCE;
        }
        for (unsigned v = 1; v < t->count; v++)
            s.in[t->parent[v]] |= bit(v);
        assert_int_equal(solve(*state, &s, true), t->peak);
        s.cap = t->peak;
        assert_int_equal(solve(*state, &s, false), t->count);
        s.cap = t->peak - 1u;
        assert_true(solve(*state, &s, false) == UINT64_MAX);
    }
}

/* ---- adjoint chains ---- */

/* x_0 given, x_1 .. x_{steps-1} each over the one before, then gradients: gradient i runs step i again from x_{i-1}. */
static void make_revolve(small_game *s, unsigned steps, uint64_t uf, uint64_t ub)
{
    small_game_add(s, 0, 1, 0);
    s->flags[0] = PB_NODE_GIVEN;
    for (unsigned v = 1; v < steps; v++) {
        small_game_add(s, uf, 1, bit(v - 1));
        s->inplace[v] = bit(v - 1);
    }
    for (unsigned i = steps; i > 0; i--)
        small_game_add(s, uf + ub, 0, bit(i - 1) | (i < steps ? bit(s->node_count - 1) : 0));
}

static void search_gives_revolve_forward_steps(void **state)
{
    for (size_t i = 0; i < COUNT(revolve_extras); i++) {
        const revolve_extra *r = &revolve_extras[i];
        small_game s;
        small_game_init(&s);
        make_revolve(&s, r->steps, 1, 0);
        s.cap = r->snapshots + 1u;
        assert_int_equal(solve(*state, &s, false), r->steps + r->extra);
    }
}

static void search_gives_two_level_makespans(void **state)
{
    for (size_t i = 0; i < COUNT(two_levels); i++) {
        const two_level *r = &two_levels[i];
        small_game s;
        small_game_init(&s);
        make_revolve(&s, r->steps, r->uf, r->ub);
        s.kind = PB_GAME_TIERED;
        s.cap = r->ram + 1u;
        s.tier_count = 1;
        s.tiers[0] = (pb_tier){.store_cost = r->wd, .load_cost = r->rd, .cap = r->disk};
        for (unsigned v = 0; v < s.node_count; v++)
            if (!s.size[v])
                s.flags[v] |= PB_NODE_ONCE; /* gradients have no size: nothing is won by making one twice */
        assert_int_equal(solve(*state, &s, false), r->makespan);
    }
}

/* Gradient i reads x_i, x_{i+1} and gradient i+1, nothing is overwritten: computations = 1 + the extra steps of Revolve
 * with two values less. */
static void search_gives_adjoint_chains_without_sliding(void **state)
{
    for (size_t i = 0; i < COUNT(revolve_extras); i++) {
        const revolve_extra *r = &revolve_extras[i];
        unsigned n = r->steps, fast = r->snapshots + 2u, first_off = (fast + 1) * fast * (fast - 1) / 6 - (fast - 3);
        if (n >= first_off || n > 7)
            continue;
        small_game s;
        small_game_init(&s);
        small_game_add(&s, 0, 1, 0);
        s.flags[0] = PB_NODE_GIVEN;
        for (unsigned v = 1; v <= n; v++)
            small_game_add(&s, 1, 1, bit(v - 1));
        for (unsigned g = n; g > 0; g--)
            small_game_add(&s, 1, 0, bit(g) | bit(g - 1) | (g < n ? bit(s.node_count - 1) : 0));
        s.cap = fast;
        assert_int_equal(solve(*state, &s, false), n + 1 + r->extra);
    }
}

static int make_space(void **state)
{
    *state = bf_space_new();
    bf_space_limit(*state, 20000000);
    return 0;
}

static int free_space(void **state)
{
    bf_space_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_gives_known_pebbling_fronts),
        cmocka_unit_test(search_gives_known_red_blue_io),
        cmocka_unit_test(search_gives_known_least_peaks_of_trees),
        cmocka_unit_test(search_gives_revolve_forward_steps),
        cmocka_unit_test(search_gives_two_level_makespans),
        cmocka_unit_test(search_gives_adjoint_chains_without_sliding),
    };
    return cmocka_run_group_tests(tests, make_space, free_space);
}
