/* test_verify.c -- the verifier against hand-made schedules, and against a second replay on thousands of broken ones.
 */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/verify.h"
#include "support/cases.h"
#include "support/move_text.h"
#include "support/reference.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NONE PB_NO_NODE

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    pb_verdict verdict;
} bench;

static void open_bench(bench *b)
{
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    pb_moves_init(&b->moves, &b->arena);
}

static void close_bench(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static void run(bench *b, const small_game *s, const char *moves)
{
    open_bench(b);
    assert_true(small_game_build(&b->ctx, s, &b->arena, &b->game));
    moves_from_text(moves, &b->moves);
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &b->verdict), PB_OK);
}

/* ---- games ---- */

/* a -> b, a -> c, b -> c: costs 1, 1, 3, sizes 1, 1, 2. */
static void tiny(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 3, 2, 3);
}

/* 0 given; 1 reads 0, may overwrite it, has workspace and by-product 2; 3 reads 1 and 2, once, may overwrite 1;
 * 4 reads 0, kept, with by-product 5. */
static void rich(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 0, 2, 0);
    s->flags[0] = PB_NODE_GIVEN;
    small_game_add(s, 2, 1, 1);
    s->workspace[1] = 1;
    s->inplace[1] = 1;
    small_game_add(s, 0, 1, 0);
    s->owner[2] = 1;
    small_game_add(s, 1, 2, 2 | 4);
    s->flags[3] = PB_NODE_ONCE;
    s->inplace[3] = 2;
    small_game_add(s, 1, 1, 1);
    s->flags[4] = PB_NODE_KEEP;
    small_game_add(s, 0, 1, 0);
    s->owner[5] = 4;
}

/* As rich; 0 comes back from 1 or from nothing, 3 from 1 and in its memory, by-product 2 from 3. */
static void rich_recipes(small_game *s)
{
    rich(s);
    s->recipe_count[0] = 2;
    s->recipe[0][0] = (small_recipe){.in = 2, .cost = 3, .workspace = 5};
    s->recipe[0][1] = (small_recipe){.cost = 4};
    s->recipe_count[3] = 1;
    s->recipe[3][0] = (small_recipe){.in = 2, .inplace = 2, .cost = 2, .workspace = 1};
    s->recipe_count[2] = 1;
    s->recipe[2][0] = (small_recipe){.in = 8, .cost = 1};
}
static void reversible_recipes(small_game *s)
{
    tiny(s);
    s->kind = PB_GAME_REVERSIBLE;
    s->recipe_count[0] = 1;
    s->recipe[0][0] = (small_recipe){.cost = 1};
}
static void recipes_cap_9(small_game *s)
{
    rich_recipes(s);
    s->cap = 9;
}
static void tiny_capped(small_game *s)
{
    tiny(s);
    s->cap = 4;
}
static void tiny_tight(small_game *s)
{
    tiny(s);
    s->cap = 3;
}
static void tiny_reversible(small_game *s)
{
    tiny(s);
    s->kind = PB_GAME_REVERSIBLE;
}
static void tiny_borrow(small_game *s)
{
    tiny(s);
    s->borrow = 1;
    s->inplace[2] = 2;
}
static void tiny_borrow_reversible(small_game *s)
{
    tiny_reversible(s);
    s->borrow = 2;
}
static void tiny_once_reversible(small_game *s)
{
    tiny_reversible(s);
    s->flags[1] = PB_NODE_ONCE;
}
static void tiny_tiered(small_game *s)
{
    tiny(s);
    s->kind = PB_GAME_TIERED;
    s->tier_count = 2;
    s->tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 2, .store_per_unit = 3, .load_per_unit = 4, .cap = 2};
    s->tiers[1] = (pb_tier){.store_cost = 10, .load_cost = 20, .cap = PB_UNLIMITED};
}
static void tiny_tiered_tight(small_game *s)
{
    tiny_tiered(s);
    s->cap = 2;
}
static void rich_small_cap(small_game *s)
{
    rich(s);
    s->cap = 1;
}
static void rich_cap_3(small_game *s)
{
    rich(s);
    s->cap = 3;
}
static void rich_reversible(small_game *s)
{
    rich(s);
    s->kind = PB_GAME_REVERSIBLE;
}
/* 0; 1 reads 0, with by-product 2; the target is 0. */
static void part_reversible(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 2, 1, 1);
    small_game_add(s, 0, 3, 0);
    s->owner[2] = 1;
    s->targets = 1;
    s->kind = PB_GAME_REVERSIBLE;
}
/* The same with workspace 5 for node 1, a node 3 of size 3 next to it, and a cap of 7. */
static void part_reversible_tight(small_game *s)
{
    part_reversible(s);
    small_game_add(s, 1, 3, 1);
    s->workspace[1] = 5;
    s->cap = 7;
}
static void rich_slow(small_game *s)
{
    rich(s);
    s->flags[0] |= PB_NODE_GIVEN_SLOW;
    s->kind = PB_GAME_TIERED;
    s->tier_count = 1;
    s->tiers[0] = (pb_tier){.load_cost = 1, .cap = 1};
}
static void slow_reversible(small_game *s)
{
    rich(s);
    s->flags[0] |= PB_NODE_GIVEN_SLOW;
    s->kind = PB_GAME_REVERSIBLE;
    s->targets = 1;
    s->flags[4] = 0;
}
static void no_tiers(small_game *s)
{
    tiny(s);
    s->kind = PB_GAME_TIERED;
}
/* Node 0 of size 2 and node 1 of size 3 do not fit together. */
static void wide_tiered(small_game *s)
{
    tiny_tiered(s);
    s->in[1] = 0;
    s->in[2] = 0;
    s->size[0] = 2;
    s->size[1] = 3;
    s->targets = 2;
    s->cap = 4;
}

/* ---- legal schedules ---- */

typedef struct legal {
    void (*game)(small_game *);
    const char *moves;
    uint64_t peak, peak_step, compute, uncompute, io, flux, computes, start, end;
} legal;

static const legal legal_cases[] = {
    {tiny_capped, "c0 c1 c2 f0", 4, 2, 5, 0, 0, 15, 3, 0, 3},
    {tiny, "c0 c1 f0 f1 c0 c1 c2 f2", 4, 6, 7, 0, 0, 18, 5, 0, 2},
    {rich, "c1+2 c3/1 f2 c4", 5, 0, 4, 0, 0, 20, 3, 2, 5},
    {rich, "c1 c1+2 c3 c4", 7, 3, 6, 0, 0, 31, 4, 2, 7},
    {rich, "c4+5 c1/0+2 c3/1 f2", 6, 1, 4, 0, 0, 21, 3, 2, 4},
    {tiny_reversible, "c0 c1 c2 u1 u0", 4, 2, 5, 2, 0, 22, 3, 0, 2},
    {tiny_borrow, "c0 b1 c2 u1 f0", 3, 2, 5, 1, 0, 14, 3, 0, 2},
    {tiny_borrow_reversible, "b0 b1 c2 u1 u0", 2, 2, 5, 2, 0, 10, 3, 0, 2},
    {part_reversible, "c0 c1+2 u2 u1", 5, 1, 3, 2, 0, 15, 2, 0, 1},
    {tiny_tiered, "c0 s0:1 f0 l0:1 d0:1 c1 s1:2 f1 l1:2 c2", 4, 9, 5, 0, 40, 85, 3, 0, 4},
};

static void verify_sums_legal_schedules_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(legal_cases); i++) {
        const legal *c = &legal_cases[i];
        small_game s;
        bench b;
        c->game(&s);
        run(&b, &s, c->moves);
        assert_non_null(b.verdict.certificate);
        assert_int_equal(b.verdict.rule, PB_RULE_NONE);
        const pb_totals *t = pb_certificate_totals(b.verdict.certificate);
        assert_ptr_equal(pb_certificate_game(b.verdict.certificate), &b.game);
        assert_ptr_equal(pb_certificate_moves(b.verdict.certificate), &b.moves);
        assert_int_equal(t->peak, c->peak);
        assert_int_equal(t->peak_step, c->peak_step);
        assert_int_equal(t->compute_work, c->compute);
        assert_int_equal(t->uncompute_work, c->uncompute);
        assert_int_equal(t->io, c->io);
        assert_int_equal(t->flux.high, 0);
        assert_int_equal(t->flux.low, c->flux);
        assert_int_equal(t->compute_count, c->computes);
        assert_int_equal(t->start_memory, c->start);
        assert_int_equal(t->end_memory, c->end);
        char text[64];
        pb_verdict_text(&b.game, &b.moves, &b.verdict, text, sizeof text);
        assert_string_equal(text, "legal");
        close_bench(&b);
    }
}

static void verify_accepts_nothing_to_do(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIERED; kind *= 2) {
        s.kind = (pb_game_kind)kind;
        s.cap = 0;
        run(&b, &s, "");
        assert_non_null(b.verdict.certificate);
        assert_int_equal(pb_certificate_totals(b.verdict.certificate)->peak, 0);
        assert_true(pb_certificate_totals(b.verdict.certificate)->peak_step == UINT64_MAX);
        close_bench(&b);
    }
}

/* ---- broken schedules ---- */

#define ANY UINT64_MAX

typedef struct broken {
    void (*game)(small_game *);
    const char *moves;
    pb_rule rule;
    pb_step step;
    pb_node node, other;
    uint64_t amount; /* ANY: not looked at */
} broken;

static const broken broken_cases[] = {
    {rich_small_cap, "", PB_RULE_START_CAP, 0, NONE, NONE, 2},
    {rich_small_cap, "c1", PB_RULE_START_CAP, 0, NONE, NONE, 2},
    {rich_slow, "", PB_RULE_START_TIER, 0, NONE, NONE, 2},
    {tiny, "c0 c9", PB_RULE_NODE, 1, NONE, 9, ANY},
    {tiny, "f3", PB_RULE_NODE, 0, NONE, 3, ANY},
    {rich, "c1+2+9", PB_RULE_NODE, 0, 1, 9, ANY},
    {rich, "c1/77", PB_RULE_NODE, 0, 1, 77, ANY},
    {tiny, "c0 u0", PB_RULE_MOVE, 1, 0, NONE, ANY},
    {tiny_tiered, "c0 u0", PB_RULE_MOVE, 1, 0, NONE, ANY},
    {tiny_reversible, "c0 f0", PB_RULE_MOVE, 1, 0, NONE, ANY},
    {tiny, "c0 s0:1", PB_RULE_MOVE, 1, 0, NONE, ANY},
    {tiny_reversible, "l0:1", PB_RULE_MOVE, 0, 0, NONE, ANY},
    {tiny, "d2:1", PB_RULE_MOVE, 0, 2, NONE, ANY},
    {rich, "f0 c0", PB_RULE_GIVEN, 1, 0, NONE, ANY},
    {rich_reversible, "u0", PB_RULE_GIVEN, 0, 0, NONE, ANY},
    {rich, "c1 c2", PB_RULE_BYPRODUCT, 1, 2, 1, ANY},
    {tiny, "c0 c0@1", PB_RULE_RECIPE, 1, 0, NONE, 1},
    {rich_recipes, "f0 c0@3", PB_RULE_RECIPE, 1, 0, NONE, 3},
    {reversible_recipes, "c0 u0 c0@1", PB_RULE_RECIPE, 2, 0, NONE, ANY},
    {rich_recipes, "c1+2 c3@1+2", PB_RULE_RECIPE_ALSO, 1, 3, NONE, ANY},
    {rich_recipes, "c1 c3@1", PB_RULE_RECIPE_EARLY, 1, 3, NONE, ANY},
    {rich_recipes, "c1 c2@1", PB_RULE_RECIPE_EARLY, 1, 2, NONE, ANY},
    {rich_recipes, "c0@2", PB_RULE_RESIDENT, 0, 0, NONE, ANY},
    {rich_recipes, "f0 c0@1", PB_RULE_INPUT, 1, 0, 1, ANY},
    {rich_recipes, "c1+2 c3 f3 c3@1 f3 c3", PB_RULE_ONCE, 5, 3, NONE, ANY},
    {rich_recipes, "c1 f0 c0@1/1", PB_RULE_OVER, 2, 0, 1, ANY},
    {recipes_cap_9, "c1+2 c3 f0 c4", PB_RULE_INPUT, 3, 4, 0, ANY},
    {recipes_cap_9, "c1+2 f0 c3 c0@1", PB_RULE_CAP, 3, 0, NONE, 11},
    {tiny, "c0 c0", PB_RULE_RESIDENT, 1, 0, NONE, ANY},
    {tiny, "c0 c2", PB_RULE_INPUT, 1, 2, 1, ANY},
    {tiny, "c1", PB_RULE_INPUT, 0, 1, 0, ANY},
    {tiny_reversible, "c0 c1 u0 u1", PB_RULE_INPUT, 3, 1, 0, ANY},
    {part_reversible, "c0 c1+2 u0 u2", PB_RULE_INPUT, 3, 2, 0, ANY},
    {tiny_tiered, "c0 s0:1 f0 c1", PB_RULE_INPUT, 3, 1, 0, ANY},
    {rich, "c1+2 c3 f3 c3", PB_RULE_ONCE, 3, 3, NONE, ANY},
    {tiny_once_reversible, "c0 c1 u1 c1", PB_RULE_ONCE, 3, 1, NONE, ANY},
    {tiny, "c0 c1/0", PB_RULE_OVER, 1, 1, 0, ANY},
    {rich, "c1+2 c3/2", PB_RULE_OVER, 1, 3, 2, ANY},
    {rich, "c1+2 c4/2", PB_RULE_OVER, 1, 4, 2, ANY},
    {rich, "c1 c1/0+2", PB_RULE_OVER_RESIDENT, 1, 1, 0, ANY},
    {tiny_borrow, "c0 b1 c2/1", PB_RULE_OVER_BORROWED, 2, 2, 1, ANY},
    {tiny_borrow, "b0 b1", PB_RULE_BORROW, 1, 1, NONE, 2},
    {tiny, "b0", PB_RULE_BORROW, 0, 0, NONE, 1},
    {tiny_borrow_reversible, "c0 c1 b2 u1 u0", PB_RULE_BORROW_LEFT, 5, 2, NONE, ANY},
    {tiny_borrow, "b0 c1 c2", PB_RULE_BORROW_LEFT, 3, 0, NONE, ANY},
    {tiny_borrow, "c0 b1 c2 f1", PB_RULE_FREE_BORROWED, 3, 1, NONE, ANY},
    {tiny_borrow, "c0 b1 c2 f0 u1", PB_RULE_INPUT, 4, 1, 0, ANY},
    {tiny_borrow, "b0 b0", PB_RULE_RESIDENT, 1, 0, NONE, ANY},
    {rich, "c4+2", PB_RULE_ALSO, 0, 4, 2, ANY},
    {rich, "c1+2+4", PB_RULE_ALSO, 0, 1, 4, ANY},
    {tiny, "c0+1", PB_RULE_ALSO, 0, 0, 1, ANY},
    {rich, "c1+2 f1 c1+2", PB_RULE_ALSO_RESIDENT, 2, 1, 2, ANY},
    {rich, "c1+2+2", PB_RULE_ALSO_RESIDENT, 0, 1, 2, ANY},
    {tiny, "f0", PB_RULE_FREE, 0, 0, NONE, ANY},
    {rich, "f0 f0", PB_RULE_FREE, 1, 0, NONE, ANY},
    {rich, "c1/0 f0", PB_RULE_FREE, 1, 0, NONE, ANY},
    {tiny_reversible, "c0 u1", PB_RULE_UNCOMPUTE, 1, 1, NONE, ANY},
    {tiny_tiered, "c0 s0:3", PB_RULE_TIER, 1, 0, NONE, 3},
    {tiny_tiered, "c0 s0:0", PB_RULE_TIER, 1, 0, NONE, 0},
    {no_tiers, "c0 s0:1", PB_RULE_TIER, 1, 0, NONE, 1},
    {tiny_tiered, "s0:1", PB_RULE_STORE, 0, 0, NONE, ANY},
    {tiny_tiered, "c0 s0:1 s0:2 s0:1", PB_RULE_STORE_AGAIN, 3, 0, NONE, ANY},
    {tiny_tiered, "c0 c1 c2 s2:1 s0:1", PB_RULE_TIER_CAP, 4, 0, NONE, 3},
    {tiny_tiered, "c0 s0:1 f0 l0:2", PB_RULE_LOAD, 3, 0, NONE, ANY},
    {tiny_tiered, "c0 s0:1 d0:1 f0 l0:1", PB_RULE_LOAD, 4, 0, NONE, ANY},
    {tiny_tiered, "c0 s0:1 l0:1", PB_RULE_LOAD_RESIDENT, 2, 0, NONE, ANY},
    {tiny_tiered, "c0 d0:1", PB_RULE_DROP, 1, 0, NONE, ANY},
    {tiny_tight, "c0 c1 c2", PB_RULE_CAP, 2, 2, NONE, 4},
    {rich_cap_3, "c1", PB_RULE_CAP, 0, 1, NONE, 4},
    {tiny_tiered_tight, "c0 s0:1 c1 f0 l0:1 c2", PB_RULE_CAP, 5, 2, NONE, 4},
    {wide_tiered, "c0 s0:2 f0 c1 l0:2", PB_RULE_CAP, 4, 0, NONE, 5},
    {part_reversible_tight, "c0 c1+2", PB_RULE_CAP, 1, 1, NONE, 10},
    {part_reversible_tight, "c0 c1 c3 u1", PB_RULE_CAP, 3, 1, NONE, 10},
    {tiny, "", PB_RULE_TARGET, 0, 2, NONE, ANY},
    {tiny, "c0 c1", PB_RULE_TARGET, 2, 2, NONE, ANY},
    {rich, "c1+2 c3 c4 f4", PB_RULE_KEEP, 4, 4, NONE, ANY},
    {tiny_reversible, "c0 c1 c2 u1", PB_RULE_LEFT, 4, 0, NONE, ANY},
    {tiny_reversible, "c0 c1 c2 u2 u1 u0", PB_RULE_GONE, 6, 2, NONE, ANY},
    {slow_reversible, "", PB_RULE_GONE, 0, 0, NONE, ANY},
};

static void verify_names_rule_move_and_node_of_broken_schedules(void **state)
{
    (void)state;
    bool seen[PB_RULE_COUNT] = {[PB_RULE_NONE] = true};
    for (size_t i = 0; i < COUNT(broken_cases); i++) {
        const broken *c = &broken_cases[i];
        small_game s;
        bench b;
        c->game(&s);
        run(&b, &s, c->moves);
        if (b.verdict.rule != c->rule || b.verdict.step != c->step || b.verdict.node != c->node ||
            b.verdict.other != c->other || (c->amount != ANY && b.verdict.amount != c->amount))
            fail_msg("case %zu \"%s\": %s at move %" PRIu64 " node %d other %d amount %" PRIu64 ", expected %s", i,
                     c->moves, pb_rule_name(b.verdict.rule), b.verdict.step, (int)b.verdict.node, (int)b.verdict.other,
                     b.verdict.amount, pb_rule_name(c->rule));
        assert_null(b.verdict.certificate);
        char text[300];
        size_t need = pb_verdict_text(&b.game, &b.moves, &b.verdict, text, sizeof text);
        assert_int_equal(need, strlen(text));
        assert_true(need > 0);
        seen[c->rule] = true;
        close_bench(&b);
    }
    for (unsigned rule = 0; rule < PB_RULE_LANE; rule++) /* test_verify_timed.c has the others */
        if (!seen[rule])
            fail_msg("no broken schedule for rule %s", pb_rule_name((pb_rule)rule));
}

static void verify_refuses_unknown_moves_and_empty_byproduct_lists(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    run(&b, &s, "c0 c0");
    b.moves.move[1].op = 77;
    assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &b.verdict), PB_OK);
    assert_int_equal(b.verdict.rule, PB_RULE_MOVE);
    assert_int_equal(b.verdict.step, 1);
    close_bench(&b);
    /* A list without entries is no reason to compute a resident value again. */
    rich(&s);
    run(&b, &s, "c1 c1+2");
    b.moves.extra[1] = 0;
    assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &b.verdict), PB_OK);
    assert_int_equal(b.verdict.rule, PB_RULE_RESIDENT);
    assert_int_equal(b.verdict.step, 1);
    close_bench(&b);
}

static void verify_says_when_work_or_io_passes_64_bits(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    s.cost[0] = UINT64_MAX / 2;
    run(&b, &s, "c0 c1 f1 c1 c2");
    assert_non_null(b.verdict.certificate);
    moves_from_text("f0 c0 f0 c0", &b.moves);
    pb_verdict before = b.verdict;
    assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &b.verdict), PB_ERANGE);
    assert_memory_equal(&before, &b.verdict, sizeof before);
    assert_true(strlen(b.ctx.error.message) > 0);
    close_bench(&b);
    tiny_tiered(&s);
    s.tiers[0].store_per_unit = UINT64_MAX;
    open_bench(&b);
    assert_true(small_game_build(&b.ctx, &s, &b.arena, &b.game));
    moves_from_text("c0 s0:1 c1 c2", &b.moves);
    assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &b.verdict), PB_ERANGE);
    close_bench(&b);
}

static pb_stop stop_at_once(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void verify_stops_when_asked(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    run(&b, &s, "c0 c1 c2");
    b.ctx.stop = stop_at_once;
    pb_verdict before = b.verdict;
    assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &b.verdict), PB_ECANCELLED);
    assert_memory_equal(&before, &b.verdict, sizeof before);
    close_bench(&b);
}

/* ---- against the second replay ---- */

static void copy_move(const pb_moves *from, pb_step k, pb_moves *to)
{
    assert_int_equal(pb_moves_add_copy(to, from, k), PB_OK);
}

enum { DELETE, DUPLICATE, SWAP, OTHER_NODE, OTHER_KIND, INSERT, OTHER_PLACE, OTHER_WAY, WAYS };

/* Move k of `from` changed in one of these ways. */
static void change_move(pbi_rng *rng, const pb_moves *from, pb_step k, uint32_t nodes, pb_moves *to)
{
    unsigned way = (unsigned)pbi_rng_below(rng, WAYS);
    pb_node other = (pb_node)pbi_rng_below(rng, nodes), part = (pb_node)pbi_rng_below(rng, nodes);
    pb_op op = (pb_op)pbi_rng_below(rng, PB_OP_COUNT);
    uint8_t tier = (uint8_t)pbi_rng_below(rng, 3);
    if (way == DELETE)
        return;
    if (way == OTHER_PLACE && from->move[k].op == PB_COMPUTE) {
        pb_node over = pbi_rng_below(rng, 2) ? other : PB_NO_NODE;
        assert_int_equal(pb_moves_add_compute(to, from->move[k].node, over, &part, (uint32_t)pbi_rng_below(rng, 2)),
                         PB_OK);
        return;
    }
    copy_move(from, k, to);
    pb_move *last = &to->move[to->count - 1];
    switch (way) {
    case DUPLICATE: copy_move(from, k, to); break;
    case SWAP:
        if (k) { /* with the move before it */
            pb_move before = to->move[to->count - 2];
            to->move[to->count - 2] = *last;
            *last = before;
        }
        break;
    case OTHER_WAY: last->by = tier; break;
    case OTHER_NODE: last->node = other; break;
    case OTHER_PLACE: last->tier = tier; break;
    case OTHER_KIND: *last = (pb_move){.node = last->node, .arg = PB_NO_NODE, .op = (uint8_t)op, .tier = tier}; break;
    default: assert_int_equal(pb_moves_add(to, op, other, tier), PB_OK);
    }
}

static void compare(const small_game *s, bench *b, const pb_moves *moves, uint64_t *broken_count)
{
    reference r;
    char text[1000];
    reference_replay(&b->game, moves, &r);
    assert_int_equal(pb_verify(&b->ctx, &b->game, moves, &b->arena, &b->verdict), PB_OK);
    bool fine = b->verdict.certificate != NULL;
    bool same = fine == r.legal;
    if (same && !fine) {
        ++*broken_count;
        same = b->verdict.step == r.step && b->verdict.rule == r.rule && b->verdict.node == r.node &&
               b->verdict.other == r.other;
    } else if (same) {
        const pb_totals *t = pb_certificate_totals(b->verdict.certificate);
        same = t->peak == r.peak && t->peak_step == r.peak_step && t->compute_work == r.compute_work &&
               t->uncompute_work == r.uncompute_work && t->io == r.io && t->compute_count == r.compute_count &&
               t->start_memory == r.start_memory && t->end_memory == r.end_memory && same_wide(r.flux, t->flux);
    }
    if (!same) {
        small_game_print(s, stderr);
        moves_to_text(moves, text, sizeof text);
        fail_msg("%s\nverify: %s at move %" PRIu64 " node %d other %d; second replay: %s at move %" PRIu64
                 " node %d other %d",
                 text, pb_rule_name(b->verdict.rule), b->verdict.step, (int)b->verdict.node, (int)b->verdict.other,
                 pb_rule_name(r.rule), r.step, (int)r.node, (int)r.other);
    }
}

static void verify_agrees_with_second_replay_on_random_schedules(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    bf_space_limit(space, 20000);
    uint64_t legal_count = 0, broken_count = 0, cases = test_cases(3000);
    for (uint64_t seed = 1; seed <= cases; seed++) {
        pbi_rng rng = {seed * 977};
        small_game s;
        bench b;
        bf_problem p;
        bf_answer a;
        small_game_random(seed, PB_GAME_ALL, &s);
        if (seed % 2)
            small_game_add_recipes(&s);
        open_bench(&b);
        assert_true(small_game_build(&b.ctx, &s, &b.arena, &b.game));
        assert_true(bf_from_game(&b.game, &p));
        if (bf_random_schedule(space, &p, seed, (uint32_t)pbi_rng_below(&rng, 20), &a) && a.feasible) {
            assert_int_equal(bf_to_moves(&a, &b.moves), PB_OK);
            b.game.cap = s.cap = pbi_rng_below(&rng, 4) ? a.peak : pbi_rng_below(&rng, a.peak + 1);
            compare(&s, &b, &b.moves, &broken_count);
            legal_count += b.verdict.certificate != NULL;
            for (int i = 0; i < 8 && b.moves.count; i++) {
                pb_moves changed;
                pb_moves_init(&changed, &b.arena);
                pb_step at = pbi_rng_below(&rng, b.moves.count);
                for (pb_step k = 0; k < b.moves.count; k++)
                    if (k == at)
                        change_move(&rng, &b.moves, k, s.node_count, &changed);
                    else
                        copy_move(&b.moves, k, &changed);
                compare(&s, &b, &changed, &broken_count);
            }
        }
        close_bench(&b);
    }
    bf_space_free(space);
    assert_true(legal_count >= cases / 4);
    assert_true(broken_count >= cases);
}

/* No reader makes such moves, but the list is open to whoever fills it. */
static void what_is_borrowed_is_made_alone(void **state)
{
    (void)state;
    small_game s;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    pb_verdict verdict;
    tiny_borrow(&s);
    s.borrow = 9;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, &s, &arena, &game));
    pb_moves_init(&moves, &arena);
    moves_from_text("c0 c1 c2/1", &moves);
    moves.move[2].flags |= PB_MOVE_BORROW;
    assert_int_equal(pb_verify(&ctx, &game, &moves, &arena, &verdict), PB_OK);
    assert_null(verdict.certificate);
    assert_int_equal(verdict.rule, PB_RULE_MOVE);
    assert_int_equal(verdict.step, 2);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_borrowed_is_made_alone),
        cmocka_unit_test(verify_sums_legal_schedules_exactly),
        cmocka_unit_test(verify_accepts_nothing_to_do),
        cmocka_unit_test(verify_names_rule_move_and_node_of_broken_schedules),
        cmocka_unit_test(verify_refuses_unknown_moves_and_empty_byproduct_lists),
        cmocka_unit_test(verify_says_when_work_or_io_passes_64_bits),
        cmocka_unit_test(verify_stops_when_asked),
        cmocka_unit_test(verify_agrees_with_second_replay_on_random_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
