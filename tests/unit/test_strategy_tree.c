/* test_strategy_tree.c -- the least peak of trees: figures from outside, every order of small forests, exhaustive search
 * with recomputation, paths and stars of a million nodes, hash trees in place, and what is refused. */
#include "strategy_fixture.h"

#include "base/rng.h"
#include "bound/tree_order.h"
#include "support/cases.h"
#include "tree_tables.h"

/* Nodes of a small game read lower ones: parents of the table come first, so numbers are turned round. */
static void fact_game(const tree_fact *f, small_game *s)
{
    small_game_init(s);
    for (int v = f->count - 1; v >= 0; v--) {
        uint32_t in = 0;
        for (int u = v + 1; u < f->count; u++)
            if (f->parent[u] == v)
                in |= bit((unsigned)(f->count - 1 - u));
        small_game_add(s, 1, (uint64_t)f->memory[v], in);
    }
}

static void facts_from_outside_are_met(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tree_facts / sizeof *tree_facts; i++) {
        const tree_fact *f = &tree_facts[i];
        small_game small;
        desk d;
        fact_game(f, &small);
        desk_open(&d, &small);
        assert_int_equal(desk_plan(&d, "tree:order=liu")->metrics.peak, f->least);
        assert_int_equal(desk_plan(&d, "tree:order=postorder")->metrics.peak, f->postorder);
        assert_int_equal(desk_plan(&d, "tree:peak=least")->metrics.peak, f->least);
        d.game.cap = (uint64_t)f->least;
        assert_int_equal(desk_plan(&d, "tree")->outcome, PB_OPTIMAL);
        assert_int_equal(desk_plan(&d, "auto")->outcome, PB_OPTIMAL);
        d.game.cap--;
        assert_int_equal(desk_plan(&d, "tree")->outcome, PB_INFEASIBLE);
        assert_int_equal(desk_plan(&d, "last-use")->outcome, PB_INFEASIBLE);
        desk_shut(&d);
    }
}

/* A forest with everything that a forest may have. */
static void random_forest(uint64_t seed, uint32_t most, small_game *s)
{
    pbi_rng rng = {seed};
    small_game_init(s);
    uint32_t count = 1 + (uint32_t)pbi_rng_below(&rng, most), parent[SMALL_MAX];
    for (uint32_t v = 0; v < count; v++) /* the last node is a root; some others are too */
        parent[v] = v + 1 == count || pbi_rng_below(&rng, 8) == 0
                        ? UINT32_MAX
                        : v + 1 + (uint32_t)pbi_rng_below(&rng, pbi_rng_below(&rng, 2) ? 1 : count - v - 1);
    bool any_given = pbi_rng_below(&rng, 2), any_inplace = pbi_rng_below(&rng, 2), any_keep = pbi_rng_below(&rng, 2);
    for (uint32_t v = 0; v < count; v++) {
        uint32_t in = 0;
        for (uint32_t u = 0; u < v; u++)
            in |= parent[u] == v ? bit(u) : 0;
        static const uint64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 20};
        small_game_add(s, 1 + pbi_rng_below(&rng, 3), sizes[pbi_rng_below(&rng, 8)], in);
        s->workspace[v] = pbi_rng_below(&rng, 4) ? 0 : pbi_rng_below(&rng, 10);
        if (any_inplace && in)
            s->inplace[v] = in & (uint32_t)pbi_rng_below(&rng, UINT64_C(1) << count);
        if (any_given && !in && pbi_rng_below(&rng, 2))
            s->flags[v] = PB_NODE_GIVEN;
        if (any_keep && pbi_rng_below(&rng, 4) == 0)
            s->flags[v] |= PB_NODE_KEEP;
    }
    s->fixed_size = pbi_rng_below(&rng, 3);
    s->seed = seed;
}

/* Memory before and while v is computed after the nodes of `done`: values go after their only reader. */
typedef struct memory {
    uint64_t before, during;
} memory;

static memory memory_at(const small_game *s, uint32_t done, uint32_t v)
{
    memory m = {s->fixed_size, 0};
    uint64_t saved = 0;
    for (uint32_t u = 0; u < s->node_count; u++) {
        bool read = false, used = false;
        for (uint32_t p = 0; p < s->node_count; p++)
            if (s->in[p] & bit(u)) {
                read = true;
                used = done & bit(p);
            }
        bool there = (s->flags[u] & PB_NODE_GIVEN) || (done & bit(u));
        bool stays = (s->flags[u] & PB_NODE_KEEP) || (read && !used);
        m.before += there && stays ? s->size[u] : 0;
        if (v < s->node_count && (s->inplace[v] & bit(u)) && !(s->flags[u] & PB_NODE_KEEP)) {
            uint64_t less = s->size[u] < s->size[v] ? s->size[u] : s->size[v];
            saved = less > saved ? less : saved;
        }
    }
    if (v < s->node_count)
        m.during = m.before + s->size[v] - saved + s->workspace[v];
    return m;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Over sets of computed nodes. */
static uint64_t least_of_orders(const small_game *s)
{
    static uint64_t best[1u << 12];
    uint32_t all = 0;
    uint64_t start = s->fixed_size;
    for (uint32_t v = 0; v < s->node_count; v++) {
        all |= s->flags[v] & PB_NODE_GIVEN ? 0 : bit(v);
        start += s->flags[v] & PB_NODE_GIVEN ? s->size[v] : 0;
    }
    for (uint32_t set = 0; set <= all; set++)
        best[set] = UINT64_MAX;
    best[0] = start;
    for (uint32_t set = 0; set <= all; set++)
        for (uint32_t v = 0; best[set] != UINT64_MAX && v < s->node_count; v++) {
            bool ready = (all & bit(v)) && !(set & bit(v)) && !(s->in[v] & all & ~set);
            uint64_t peak = ready ? larger(best[set], memory_at(s, set, v).during) : UINT64_MAX;
            if (ready && peak < best[set | bit(v)])
                best[set | bit(v)] = peak;
        }
    return best[all];
}

static void every_order_of_small_forests_is_beaten_or_met(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(20000); seed++) {
        small_game s;
        desk d;
        pbi_tree_found liu, postorder;
        pb_node order[SMALL_MAX];
        random_forest(seed, 11, &s);
        desk_open(&d, &s);
        assert_int_equal(pbi_tree_order(&d.ctx, &d.game, PBI_TREE_LEAST, order, &liu), PB_OK);
        assert_int_equal(pbi_tree_order(&d.ctx, &d.game, PBI_TREE_POSTORDER, order, &postorder), PB_OK);
        assert_true(liu.is_forest && postorder.is_forest && postorder.peak >= liu.peak);
        uint64_t least = least_of_orders(&s);
        if (liu.peak != least)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " for %" PRIu64, seed, liu.peak, least);
        if (seed % 8 == 0) { /* the moves have the peaks that were worked out */
            assert_int_equal(desk_plan(&d, "tree:order=liu")->metrics.peak, liu.peak);
            assert_int_equal(desk_plan(&d, "tree:order=postorder")->metrics.peak, postorder.peak);
        }
        desk_shut(&d);
    }
}

static void recomputing_does_not_help_where_that_is_said(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    uint32_t helped = 0, judged = 0;
    for (uint64_t seed = 1; seed <= test_cases(4000); seed++) {
        small_game s;
        desk d;
        pbi_tree_found found;
        pb_bounds bounds;
        bf_problem problem;
        bf_answer answer;
        random_forest(seed, 8, &s);
        desk_open(&d, &s);
        assert_int_equal(pbi_tree_order(&d.ctx, &d.game, PBI_TREE_LEAST, NULL, &found), PB_OK);
        assert_int_equal(pb_bounds_make(&d.ctx, &d.game, &bounds), PB_OK);
        if (bf_from_game(&d.game, &problem) && bf_least_peak(space, &problem, &answer)) {
            judged++;
            assert_true(answer.feasible && bounds.least_cap <= answer.value && answer.value <= found.peak);
            assert_int_equal(bounds.attained, !found.recomputing_helps);
            if (!found.recomputing_helps && answer.value != found.peak)
                fail_msg("seed %" PRIu64 ": %" PRIu64 " for %" PRIu64, seed, found.peak, answer.value);
            helped += answer.value < found.peak;
        }
        desk_shut(&d);
    }
    bf_space_free(space);
    assert_true(judged > 0);
    if (test_cases(100) >= 100)
        assert_true(helped > 0); /* the flag is not idle */
}

/* A graph by hand: node i of size size(i) is read by reader(i), PB_NO_NODE for a root, which may overwrite it on wish. */
static void open_shape(desk *d, uint32_t count, pb_node (*reader)(uint32_t i, uint32_t count),
                       uint64_t (*size)(uint32_t), bool inplace)
{
    pb_builder *b;
    pb_node v;
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_builder_new(&d->ctx, &b), PB_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pb_builder_add_node(b, &(pb_node_spec){.cost = 1, .size = size(i)}, &v), PB_OK);
    for (uint32_t i = 0; i < count; i++)
        if (reader(i, count) != PB_NO_NODE) {
            assert_int_equal(pb_builder_add_edge(b, i, reader(i, count)), PB_OK);
            if (inplace)
                assert_int_equal(pb_builder_add_inplace(b, reader(i, count), i), PB_OK);
        }
    d->game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = {1, 0, 1, 0}};
    assert_int_equal(pb_builder_freeze(b, &d->arena, &d->game.graph), PB_OK);
    pb_builder_free(b);
}

static void open_wide(desk *d, uint32_t count, pb_node (*reader)(uint32_t i, uint32_t count),
                      uint64_t (*size)(uint32_t))
{
    open_shape(d, count, reader, size, false);
}

static uint64_t one(uint32_t i) { return i < UINT32_MAX; }
static uint64_t some(uint32_t i) { return 1 + i * UINT64_C(2654435761) % 1000; }
static uint64_t rising(uint32_t i) { return UINT64_C(1) + i; }
static pb_node path(uint32_t i, uint32_t n) { return i + 1 < n ? i + 1 : PB_NO_NODE; }
static pb_node star(uint32_t i, uint32_t n) { return i + 1 < n ? n - 1 : PB_NO_NODE; }
/* Even nodes are the spine, odd ones leaves of the next. */
static pb_node caterpillar(uint32_t i, uint32_t n)
{
    return i + 2 < n ? i + 2 - i % 2 : i + 1 < n ? n - 1 : PB_NO_NODE;
}
static pb_node alone(uint32_t i, uint32_t n)
{
    (void)n;
    return i == UINT32_MAX ? i : PB_NO_NODE;
}

static void a_million_nodes_do_not_recurse(void **state)
{
    (void)state;
    const uint32_t n = test_stride() > 1 ? 200000 : 1000000; /* frames of a sanitizer are larger */
    const struct {
        pb_node (*reader)(uint32_t, uint32_t);
        uint64_t peak;
    } shapes[] = {{path, 2}, {star, n}, {caterpillar, 3}, {alone, 1}};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned postorder = 0; postorder < 2; postorder++) {
            desk d;
            open_wide(&d, n, shapes[i].reader, one);
            assert_int_equal(desk_plan(&d, postorder ? "tree:order=postorder" : "tree")->metrics.peak, shapes[i].peak);
            assert_int_equal(d.p.schedule.outcome, PB_OPTIMAL);
            desk_shut(&d);
        }
    desk d;
    open_wide(&d, n, caterpillar, some);
    assert_int_equal(desk_plan(&d, "tree")->outcome, PB_OPTIMAL);
    desk_shut(&d);
    open_shape(&d, n, star, rising,
               true); /* each input larger than all before it: looking for each of them would take minutes */
    assert_int_equal(desk_plan(&d, "tree")->metrics.peak, (uint64_t)n * (n + 1) / 2 - (n - 1));
    desk_shut(&d);
}

/* Sethi and Ullman: a complete binary tree of height h needs h + 2 registers, h + 1 where a parent takes a child's place. */
static void hash_trees_need_a_value_for_each_level_and_one(void **state)
{
    (void)state;
    char height[8];
    for (uint64_t h = 0; h <= 12; h++) {
        desk d;
        snprintf(height, sizeof height, "%" PRIu64, h);
        desk_generate(&d, "merkle", 2, (pb_option[]){{"height", height}, {"hash-size", "1"}});
        d.game.cap = h + 1;
        assert_int_equal(desk_plan(&d, "tree")->outcome, PB_OPTIMAL);
        d.game.cap = h;
        assert_int_equal(desk_plan(&d, "tree")->outcome, PB_INFEASIBLE);
        desk_shut(&d);
        desk_generate(&d, "tree", 1, (pb_option[]){{"height", height}});
        d.game.cap = h ? h + 2 : 1;
        assert_int_equal(desk_plan(&d, "tree:order=postorder")->outcome, PB_OPTIMAL);
        d.game.cap--;
        assert_int_equal(desk_plan(&d, "tree")->outcome, PB_INFEASIBLE);
        desk_shut(&d);
    }
}

static void sizes_near_the_largest_number_do_not_overflow(void **state)
{
    (void)state;
    small_game s;
    desk d;
    small_game_init(&s);
    const uint64_t half = UINT64_C(1) << 62;
    small_game_add(&s, 1, half, 0);
    small_game_add(&s, 1, half, 0);
    small_game_add(&s, 1, half, bit(0) | bit(1));
    s.workspace[2] = half - 2; /* all sizes with it: two below 2^64 */
    desk_open(&d, &s);
    d.game.weights = (pb_weights){1, 0, 1, 0};
    assert_true(desk_plan(&d, "tree")->metrics.peak == UINT64_MAX - 1);
    assert_int_equal(d.p.schedule.outcome, PB_OPTIMAL);
    desk_shut(&d);
}

static void what_is_no_forest_is_left_to_others(void **state)
{
    (void)state;
    small_game s;
    desk d;
    small_game_init(&s);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, bit(0));
    small_game_add(&s, 1, 1, bit(0));
    desk_open(&d, &s);
    assert_int_equal(desk_plan(&d, "tree")->outcome, PB_GAVE_UP);
    assert_string_equal(d.p.schedule.reason, "does not apply: not a forest, 0 has several readers");
    desk_shut(&d);
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_KEEP; /* there all the time: then it is one */
    desk_open(&d, &s);
    assert_int_equal(desk_plan(&d, "tree")->outcome, PB_OPTIMAL);
    assert_int_equal(d.p.schedule.metrics.peak, 2);
    desk_shut(&d);
}

/* More nodes than most rows are asked for: the least cap that works is still the proved one. */
static void the_least_cap_of_a_large_tree_is_known(void **state)
{
    (void)state;
    desk d;
    pb_bounds bounds;
    desk_generate(&d, "tree", 3, (pb_option[]){{"shape", "random"}, {"nodes", "30000"}, {"profile", "random"}});
    assert_int_equal(pb_bounds_make(&d.ctx, &d.game, &bounds), PB_OK);
    assert_string_equal(bounds.least_why, "best traversal");
    assert_int_equal(pb_least_cap(&d.ctx, &d.game, &(pb_request){.seed = 1}, &d.arena, &d.p), PB_OK);
    assert_int_equal(d.p.schedule.metrics.peak, bounds.least_cap);
    desk_shut(&d);
}

/* x is kept and read by y: computed, used, freed and recomputed it needs less at a time. */
static void a_kept_value_that_is_read_is_not_called_infeasible(void **state)
{
    (void)state;
    small_game s;
    desk d;
    small_game_init(&s);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 1, bit(0));
    small_game_add(&s, 1, 5, bit(1));
    s.flags[0] = PB_NODE_KEEP;
    s.cap = 6;
    desk_open(&d, &s);
    assert_int_equal(desk_plan(&d, "tree")->outcome, PB_GAVE_UP);
    assert_int_equal(desk_plan(&d, "exact")->outcome, PB_OPTIMAL);
    assert_int_equal(d.p.schedule.metrics.recompute_count, 1);
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_from_outside_are_met),
        cmocka_unit_test(every_order_of_small_forests_is_beaten_or_met),
        cmocka_unit_test(recomputing_does_not_help_where_that_is_said),
        cmocka_unit_test(a_million_nodes_do_not_recurse),
        cmocka_unit_test(hash_trees_need_a_value_for_each_level_and_one),
        cmocka_unit_test(sizes_near_the_largest_number_do_not_overflow),
        cmocka_unit_test(what_is_no_forest_is_left_to_others),
        cmocka_unit_test(the_least_cap_of_a_large_tree_is_known),
        cmocka_unit_test(a_kept_value_that_is_read_is_not_called_infeasible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
