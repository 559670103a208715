/* conformance.c -- every strategy, in every game it claims, on the awkward small games: legal or an honest refusal,
 * equal when run again, clean when interrupted at any poll and when any allocation is refused.
 *   conformance [STRATEGY]    one strategy only */
#include "pebble/api.h"
#include "support/cases.h"
#include "support/outside.h"
#include "support/plan_check.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 100000, MOST_POLLS = 60 };

static unsigned long passed, failed;

/* ---- the games ---- */

static uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

static void empty(small_game *s) { (void)s; }
static void one_node(small_game *s) { small_game_add(s, 3, 2, 0); }
static void one_given(small_game *s)
{
    small_game_add(s, 0, 2, 0);
    s->flags[0] = PB_NODE_GIVEN | PB_NODE_KEEP;
}
static void all_given(small_game *s)
{
    for (int i = 0; i < 3; i++) {
        pb_node v = small_game_add(s, 0, 2, 0);
        s->flags[v] = PB_NODE_GIVEN;
    }
}
static void apart(small_game *s) /* a chain of three, a lone node, a pair */
{
    small_game_add(s, 1, 2, 0);
    small_game_add(s, 2, 1, bit(0));
    small_game_add(s, 1, 3, bit(1));
    small_game_add(s, 4, 1, 0);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 2, bit(4));
}
static void no_sizes(small_game *s)
{
    apart(s);
    memset(s->size, 0, sizeof s->size);
}
static void no_costs(small_game *s)
{
    apart(s);
    memset(s->cost, 0, sizeof s->cost);
}
static void huge_sizes(small_game *s) /* together just below 2^64 */
{
    small_game_add(s, 1, UINT64_C(1) << 62, 0);
    small_game_add(s, 1, UINT64_C(1) << 62, bit(0));
    small_game_add(s, 1, (UINT64_C(1) << 62) - 1, bit(1));
    small_game_add(s, 1, UINT64_C(1) << 61, bit(0) | bit(2));
}
static void huge_costs(small_game *s)
{
    small_game_add(s, UINT64_C(1) << 62, 1, 0);
    small_game_add(s, UINT64_C(1) << 61, 1, bit(0));
    small_game_add(s, UINT64_C(1) << 61, 1, bit(1));
    small_game_add(s, 1, 1, bit(0) | bit(2));
}
static void chain(small_game *s)
{
    for (unsigned v = 0; v < 9; v++)
        small_game_add(s, 1 + v % 3, 1 + v % 2, v ? bit(v - 1) : 0);
}
static void adjoint(small_game *s) /* five states, five gradients that read them backwards */
{
    small_game_add(s, 0, 1, 0);
    s->flags[0] = PB_NODE_GIVEN;
    for (unsigned v = 1; v <= 5; v++)
        small_game_add(s, 1, 1, bit(v - 1));
    for (unsigned i = 5; i > 0; i--)
        small_game_add(s, 2, 1, bit(i - 1) | bit(i) | (i < 5 ? bit(s->node_count - 1) : 0));
}
static void tree(small_game *s)
{
    for (int i = 0; i < 4; i++)
        small_game_add(s, 1, 2, 0);
    small_game_add(s, 1, 1, bit(0) | bit(1));
    small_game_add(s, 1, 1, bit(2) | bit(3));
    small_game_add(s, 1, 1, bit(4) | bit(5));
}
static void rich(small_game *s) /* given, workspace, in place, by-products that are read, once, keep, fixed size */
{
    small_game_add(s, 0, 2, 0);
    s->flags[0] = PB_NODE_GIVEN;
    small_game_add(s, 2, 1, bit(0));
    s->workspace[1] = 1;
    small_game_add(s, 0, 1, 0);
    s->owner[2] = 1;
    small_game_add(s, 1, 2, bit(1) | bit(2));
    s->flags[3] = PB_NODE_ONCE;
    s->inplace[3] = bit(1);
    small_game_add(s, 1, 1, bit(0));
    s->flags[4] = PB_NODE_KEEP;
    small_game_add(s, 0, 1, 0);
    s->owner[5] = 4;
    small_game_add(s, 2, 1, bit(3) | bit(5));
    s->inplace[6] = bit(3);
    s->fixed_size = 3;
}
static void slow_inputs(small_game *s) /* values that start in slow memory */
{
    rich(s);
    s->flags[0] |= PB_NODE_GIVEN_SLOW;
}
static void named_targets(small_game *s) /* most of it is not needed */
{
    apart(s);
    s->targets = bit(1);
    s->order_named = true;
}

static const struct {
    const char *name;
    void (*make)(small_game *);
} games[] = {
    {"empty", empty},         {"one-node", one_node},       {"one-given", one_given},
    {"all-given", all_given}, {"disconnected", apart},      {"no-sizes", no_sizes},
    {"no-costs", no_costs},   {"huge-sizes", huge_sizes},   {"huge-costs", huge_costs},
    {"chain", chain},         {"adjoint", adjoint},         {"tree", tree},
    {"rich", rich},           {"slow-inputs", slow_inputs}, {"named-targets", named_targets},
};

/* ---- one case ---- */

typedef struct trial {
    const pb_strategy *row;
    const char *policy, *game_name;
    const small_game *small;
    outside out;
    pb_context ctx;
    pb_arena graph_arena, arena;
    pb_game game;
    pb_plan_result planned;
    pb_status status;
} trial;

static void report(const trial *t, const char *what, const char *why)
{
    failed++;
    printf("FAILED %s%s%s, %s, %s: %s\n", t->row->name, t->policy ? " with " : "", t->policy ? t->policy : "",
           t->game_name, what, why);
    small_game_print(t->small, stdout);
}

static bool open_trial(trial *t, const trial *like)
{
    *t = *like;
    t->out = (outside){0};
    outside_context(&t->ctx, &t->out);
    t->ctx.tick_limit = TICKS;
    pb_arena_init(&t->graph_arena, &t->ctx);
    pb_arena_init(&t->arena, &t->ctx);
    return small_game_build(&t->ctx, t->small, &t->graph_arena, &t->game);
}

static void plan(trial *t)
{
    pb_request request = {.strategy = t->row->name, .policy = t->policy, .seed = 1};
    t->out.requests = t->out.polls = 0;
    t->ctx.ticks = 0;
    t->status = pb_plan(&t->ctx, &t->game, &request, &t->arena, &t->planned);
}

/* Everything must be given back; false with a report when it is not. */
static bool close_trial(trial *t, size_t before, const char *what)
{
    pb_arena_release(&t->arena);
    bool clean = t->ctx.memory_used == before;
    pb_arena_release(&t->graph_arena);
    clean = clean && t->ctx.memory_used == 0 && t->out.live_blocks == 0 && t->out.live_bytes == 0;
    if (!clean)
        report(t, what, "memory was not given back");
    return clean;
}

/* A status that a plan may end with; huge costs may pass 64 bits when anything is done twice. */
static bool status_allowed(const trial *t, pb_status extra, char why[PLAN_WHY])
{
    if (t->status == PB_OK)
        return plan_is_honest(&t->game, &t->planned, why);
    if (t->status == extra || (t->status == PB_ERANGE && strcmp(t->game_name, "huge-costs") == 0)) {
        snprintf(why, PLAN_WHY, "no sentence with the status");
        return t->ctx.error.message[0] != '\0';
    }
    snprintf(why, PLAN_WHY, "%s: %.300s", pb_status_text(t->status), t->ctx.error.message);
    return false;
}

/* Plans twice: honest and equal. Answers how many polls and allocation requests one run has. */
static bool plain_runs(const trial *like, uint64_t *polls, uint64_t *requests)
{
    trial one, two;
    char why[PLAN_WHY];
    if (!open_trial(&one, like) || !open_trial(&two, like)) {
        report(like, "plan", "the game cannot be built");
        return false;
    }
    size_t before = one.ctx.memory_used;
    plan(&one);
    plan(&two);
    *polls = one.out.polls;
    *requests = one.out.requests;
    bool ok = status_allowed(&one, PB_OK, why);
    if (!ok)
        report(&one, "plan", why);
    else if (one.status != two.status || (one.status == PB_OK && !plans_are_equal(&one.planned, &two.planned, why))) {
        report(&one, "second run", why);
        ok = false;
    }
    ok = close_trial(&one, before, "plan") && ok;
    return close_trial(&two, before, "second run") && ok;
}

static bool interrupted_run(const trial *like, uint64_t at)
{
    trial t;
    char why[PLAN_WHY], what[60];
    open_trial(&t, like);
    t.out.stop_at = at;
    size_t before = t.ctx.memory_used;
    plan(&t);
    snprintf(what, sizeof what, "interrupted before there was a plan at poll %" PRIu64, at);
    bool ok = status_allowed(&t, PB_ECANCELLED, why);
    if (ok && t.out.polls >= at && t.ctx.stopped != PB_STOP_INTERRUPT) {
        snprintf(why, sizeof why, "the interruption is not told");
        ok = false;
    }
    if (!ok)
        report(&t, what, why);
    return close_trial(&t, before, what) && ok;
}

static bool starved_run(const trial *like, uint64_t at)
{
    trial t;
    char why[PLAN_WHY], what[60];
    open_trial(&t, like);
    size_t before = t.ctx.memory_used;
    t.out.refuse_at = at;
    plan(&t);
    snprintf(what, sizeof what, "allocation %" PRIu64 " refused", at);
    bool ok = status_allowed(&t, PB_ENOMEM, why);
    if (!ok)
        report(&t, what, why);
    return close_trial(&t, before, what) && ok;
}

/* In a sample each game takes every third poll and allocation, the next game the ones after those. */
static void conform(const trial *like, bool faults)
{
    static uint64_t turn;
    uint64_t polls = 0, requests = 0, step = test_stride() > 1 ? 3 : 1, first = 1 + turn++ % step;
    bool ok = plain_runs(like, &polls, &requests);
    for (uint64_t k = first; faults && ok && k <= polls; k += k < MOST_POLLS ? step : k / 2)
        ok = interrupted_run(like, k);
    for (uint64_t k = first; faults && ok && k <= requests; k += k < MOST_POLLS ? step : k / 2)
        ok = starved_run(like, k);
    passed += ok;
}

/* ---- all of them ---- */

static void with_policies(trial *like)
{
    uint32_t policies;
    const pb_policy *policy = pb_policies(&policies);
    like->policy = NULL;
    conform(like, true);
    for (uint32_t i = 0; like->row->takes_policy && i < policies; i++) {
        like->policy = policy[i].name;
        conform(like, false);
    }
    if (like->row->takes_policy)
        return;
    /* The others only need it where their plan does not fit: one policy in turn, now and then with faults. */
    static unsigned turn;
    like->policy = policy[turn % policies].name;
    conform(like, turn++ % 8 == 0);
}

/* Caps: nothing, a little, around the bound, all of it, none. */
static uint32_t choose_caps(const small_game *s, uint64_t caps[8])
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds bounds = {0};
    uint64_t all = 0;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (small_game_build(&ctx, s, &arena, &game)) {
        all = game.graph->total_size;
        pb_bounds_make(&ctx, &game, &bounds);
    }
    pb_arena_release(&arena);
    uint64_t least = bounds.least_cap, middle = least + (all > least ? (all - least) / 2 : 0);
    uint64_t wanted[8] = {0, least - (least > 0), least, least + 1, middle, all, all + 1, PB_UNLIMITED};
    uint32_t count = 0;
    for (int i = 0; i < 8; i++)
        if (i == 0 || wanted[i] > caps[count - 1])
            caps[count++] = wanted[i];
    return count;
}

static void every_cap(const pb_strategy *row, const char *name, small_game *s)
{
    uint64_t caps[8];
    uint32_t count = choose_caps(s, caps);
    for (uint32_t i = 0; i < count; i++) {
        s->cap = caps[i];
        trial like = {.row = row, .game_name = name, .small = s};
        with_policies(&like);
    }
}

int main(int argc, char **argv)
{
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t r = 0; r < rows; r++) {
        bool asked = argc < 2 || strcmp(argv[1], row[r].name) == 0;
        for (unsigned k = 0; k < 3 && asked; k++)
            for (size_t g = 0; g < sizeof games / sizeof *games && (row[r].games & kinds[k]); g++) {
                small_game s;
                small_game_init(&s);
                games[g].make(&s);
                s.kind = kinds[k];
                if (kinds[k] == PB_GAME_TIERED) {
                    s.tier_count = 1;
                    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
                }
                every_cap(&row[r], games[g].name, &s);
            }
    }
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed || !passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
