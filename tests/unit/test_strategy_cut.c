/* test_strategy_cut.c -- cuts of training steps against the proved bound, at caps that need anchors and caps that do not;
 * that a choice is the cheapest for its price; what may not be recomputed; how it refuses. */
#include "api_fixture.h"
#include "pebble/generate.h"
#include "plan/cut/cut.h"
#include "support/plan_check.h"

#include <math.h>

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
} desk;

static void open_family(desk *d, const char *family, const pb_option *params, uint32_t count)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    if (pb_generate(&d->ctx, family, params, count, &d->arena, &d->game.graph) != PB_OK)
        fail_msg("%s", d->ctx.error.message);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static const pb_schedule *plan_at(desk *d, unsigned percent)
{
    char why[PLAN_WHY];
    uint64_t peak;
    pb_request request = {.strategy = "cut", .seed = 1};
    assert_int_equal(pb_graph_program_peak(&d->ctx, d->game.graph, &peak), PB_OK);
    d->game.cap = (peak / 100) * percent;
    if (pb_plan(&d->ctx, &d->game, &request, &d->arena, &d->p) != PB_OK)
        fail_msg("%u %%: %s", percent, d->ctx.error.message);
    if (!plan_is_honest(&d->game, &d->p, why))
        fail_msg("%u %%: %s", percent, why);
    return &d->p.schedule;
}

/* Large batches: nearly all memory is activations. At 16 % not even the values between layers can all be kept. */
static void transformers_are_planned_near_the_bound(void **state)
{
    (void)state;
    static const struct {
        unsigned percent;
        double gap;
    } caps[] = {{50, 0.0005}, {30, 0.001}, {16, 0.003}};
    pb_option params[] = {{"blocks", "40"}, {"batch", "256"}};
    desk d;
    open_family(&d, "transformer", params, 2);
    for (unsigned i = 0; i < sizeof caps / sizeof *caps; i++) {
        const pb_schedule *s = plan_at(&d, caps[i].percent);
        assert_true(s->has_metrics);
        if (!(s->metrics.gap <= caps[i].gap))
            fail_msg("%u %%: gap %g", caps[i].percent, s->metrics.gap);
    }
    shut(&d);
}

static void what_fits_as_written_is_left_alone(void **state)
{
    (void)state;
    pb_option params[] = {{"blocks", "3"}};
    desk d;
    open_family(&d, "transformer", params, 1);
    const pb_schedule *s = plan_at(&d, 101);
    assert_int_equal(s->outcome, PB_OPTIMAL);
    assert_int_equal(s->metrics.recompute, 0);
    shut(&d);
}

/* Dropped masks cannot be drawn again: dropout nodes that save a mask are computed once only. */
static void once_only_values_are_kept(void **state)
{
    (void)state;
    pb_option params[] = {{"blocks", "12"}, {"dropout", "0.1"}, {"batch", "64"}, {"vocabulary", "1000"}};
    desk d;
    open_family(&d, "transformer", params, 4);
    const pb_schedule *s = plan_at(&d, 50);
    assert_true(s->has_metrics && s->metrics.recompute > 0);
    shut(&d);
}

/* ---- recipes ---- */

/* Work that the plan at this cap adds, in percent. */
static double overhead_at(const char *family, const pb_option *params, uint32_t count, uint64_t cap)
{
    char why[PLAN_WHY];
    desk d;
    open_family(&d, family, params, count);
    d.game.cap = cap;
    d.ctx.tick_limit = 300000; /* enough for the cuts; bounds are tested elsewhere */
    assert_int_equal(pb_plan(&d.ctx, &d.game, &(pb_request){.strategy = "cut", .seed = 1}, &d.arena, &d.p), PB_OK);
    if (!plan_is_honest(&d.game, &d.p, why))
        fail_msg("%s", why);
    double overhead = d.p.certificate ? 100 * d.p.schedule.metrics.overhead : -1;
    shut(&d);
    return overhead;
}

/* Memory for activations that does not depend on the depth. Without recipes it does. */
static void invertible_blocks_take_the_same_memory_at_any_depth(void **state)
{
    (void)state;
    static const char *const depths[] = {"8", "24", "64"};
    enum { ACTIVATIONS = 12 << 20 };
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        pb_option params[] = {{"depth", depths[i]}, {"inverse", "yes"}};
        desk d;
        open_family(&d, "revnet", params, 2);
        uint64_t cap = d.game.graph->fixed_size + ACTIVATIONS;
        shut(&d);
        double overhead = overhead_at("revnet", params, 2, cap);
        assert_true(overhead > 0 && overhead < 70);
        params[1].value = "no";
        assert_true(overhead_at("revnet", params, 2, cap) < 0 || i == 0);
    }
}

static void masks_are_drawn_again(void **state)
{
    (void)state;
    pb_option params[] = {
        {"blocks", "12"}, {"dropout", "0.1"}, {"batch", "64"}, {"vocabulary", "1000"}, {"dropout-state", "mask"}};
    desk d;
    uint64_t peak;
    open_family(&d, "transformer", params, 4);
    assert_int_equal(pb_graph_program_peak(&d.ctx, d.game.graph, &peak), PB_OK);
    shut(&d);
    double kept = overhead_at("transformer", params, 5, peak / 2);
    params[4].value = "either";
    double drawn = overhead_at("transformer", params, 5, peak / 2);
    assert_true(drawn > 0 && drawn < 0.7 * kept);
}

/* A step that costs much is read from a copy of a quarter of its size, by a recipe that costs little. */
static void compressed_copies_are_unpacked(void **state)
{
    (void)state;
    pb_option params[] = {{"depth", "24"}, {"batch", "4096"}, {"activation", "gelu"}, {"compress", "0"}};
    desk d;
    uint64_t peak;
    open_family(&d, "mlp", params, 4);
    assert_int_equal(pb_graph_program_peak(&d.ctx, d.game.graph, &peak), PB_OK);
    uint64_t cap = d.game.graph->fixed_size + (peak - d.game.graph->fixed_size) / 10 * 4;
    shut(&d);
    double kept = overhead_at("mlp", params, 4, cap);
    params[3].value = "4";
    double packed = overhead_at("mlp", params, 4, cap);
    assert_true(packed > 0 && packed < 0.5 * kept);
}

static void a_batch_is_read_again(void **state)
{
    (void)state;
    pb_option params[] = {{"depth", "6"}, {"batch", "512"}, {"inputs", "100000"}, {"reread", "1000"}};
    desk d;
    uint64_t peak;
    open_family(&d, "mlp", params, 4);
    assert_int_equal(pb_graph_program_peak(&d.ctx, d.game.graph, &peak), PB_OK);
    double share = 100.0 * 1000 / (double)d.game.graph->needed_cost;
    shut(&d);
    double overhead = overhead_at("mlp", params, 4, peak - 512 * 1024 * 4);
    assert_true(overhead >= 0 && overhead <= 2 * share);
    params[3].value = "0";
    double without = overhead_at("mlp", params, 4, peak - 512 * 1024 * 4);
    assert_true(without < 0 || without > overhead);
}

static void a_cap_out_of_reach_is_refused(void **state)
{
    (void)state;
    pb_option params[] = {{"nodes", "300"}, {"seed", "3"}};
    desk d;
    open_family(&d, "layered", params, 2);
    const pb_schedule *s = plan_at(&d, 40);
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_non_null(strstr(s->reason, "does not fit: the smallest peak of all cuts tried is"));
    shut(&d);
}

/* ---- the cut itself ---- */

/* Price of a choice: what it keeps, and each maker that it recomputes. */
static double price_of(const pbi_cutter *c, const uint8_t *kept, double price)
{
    const pb_graph *g = c->game->graph;
    uint8_t wanted[64] = {0}, again[64] = {0};
    double sum = 0;
    for (uint32_t i = c->split; i-- > 0;) {
        pb_node v = g->order[i];
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            wanted[v] |= c->place[g->out[k]] >= c->split || again[g->out[k]];
        again[v] = wanted[v] && !kept[v];
        if (wanted[v] && kept[v] && !c->at_peak[v])
            sum += price * (double)g->size[v];
        if (again[v])
            sum += (double)g->cost[v];
    }
    return sum;
}

/* Every choice for a small adjoint chain with random sizes and costs, at several prices. */
static void a_cut_is_the_cheapest_choice(void **state)
{
    (void)state;
    char seed[8];
    for (int round = 0; round < 10; round++) {
        snprintf(seed, sizeof seed, "%d", round);
        pb_option params[] = {{"steps", "9"}, {"profile", "random"}, {"seed", seed}};
        desk d;
        open_family(&d, "adjoint-chain", params, 3);
        pbi_cutter c;
        assert_int_equal(pbi_cutter_init(&d.ctx, &c, &d.game, &d.arena), PB_OK);
        assert_int_equal(pbi_cutter_use(&c, PBI_CUTTER_ALL_RECIPES), PB_OK);
        for (double price = 0.05; price < 20; price *= 2.3) {
            bool done;
            assert_int_equal(pbi_cutter_run(&c, price, 0, &done), PB_OK);
            assert_true(done);
            double got = price_of(&c, c.kept, price), least = INFINITY;
            uint8_t kept[64] = {0};
            for (unsigned mask = 0; mask < 1u << c.split; mask++) {
                for (uint32_t i = 0; i < c.split; i++)
                    kept[d.game.graph->order[i]] = mask >> i & 1;
                double now = price_of(&c, kept, price);
                least = now < least ? now : least;
            }
            if (fabs(got - least) > 1e-6 * least)
                fail_msg("seed %d, price %g: %g instead of %g", round, price, got, least);
        }
        shut(&d);
    }
}

static void anchors_are_what_alone_crosses(void **state)
{
    (void)state;
    pb_option params[] = {{"blocks", "5"}};
    desk d;
    open_family(&d, "transformer", params, 1);
    const pb_graph *g = d.game.graph;
    pbi_cutter c;
    assert_int_equal(pbi_cutter_init(&d.ctx, &c, &d.game, &d.arena), PB_OK);
    assert_int_equal(pbi_cutter_use(&c, PBI_CUTTER_ALL_RECIPES), PB_OK);
    unsigned sums = 0, fixed = 0;
    for (uint32_t i = 0; i < c.anchor_count; i++) {
        const char *name = pb_graph_name(g, c.anchor[i]);
        sums += strstr(name, "add") != NULL;
        assert_null(strstr(name, "norm1")); /* the value that goes around it crosses too */
    }
    assert_int_equal(sums, 10);
    pbi_cutter_anchor(&c, 4);
    for (pb_node v = 0; v < g->node_count; v++)
        fixed += c.fixed[v];
    assert_int_equal(fixed, (c.anchor_count + 3) / 4);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformers_are_planned_near_the_bound),
        cmocka_unit_test(what_fits_as_written_is_left_alone),
        cmocka_unit_test(once_only_values_are_kept),
        cmocka_unit_test(invertible_blocks_take_the_same_memory_at_any_depth),
        cmocka_unit_test(masks_are_drawn_again),
        cmocka_unit_test(compressed_copies_are_unpacked),
        cmocka_unit_test(a_batch_is_read_again),
        cmocka_unit_test(a_cap_out_of_reach_is_refused),
        cmocka_unit_test(a_cut_is_the_cheapest_choice),
        cmocka_unit_test(anchors_are_what_alone_crosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
