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
        cmocka_unit_test(a_cap_out_of_reach_is_refused),
        cmocka_unit_test(a_cut_is_the_cheapest_choice),
        cmocka_unit_test(anchors_are_what_alone_crosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
