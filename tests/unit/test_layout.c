/* test_layout.c -- where nodes are drawn: kinds, lanes, trees, boxes, and what it costs to fail. */
#include "graph_fixture.h"
#include "pebble/generate.h"
#include "pebble/layout.h"
#include "support/layout_check.h"
#include "support/outside.h"

typedef struct drawing {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_layout l;
} drawing;

/* A family with up to two parameters, drawn and checked. */
static void draw(drawing *d, const char *family, pb_option one, pb_option two, pb_layout_options options)
{
    pb_option params[] = {one, two};
    char why[300];
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_generate(&d->ctx, family, params, one.key ? two.key ? 2 : 1 : 0, &d->arena, &d->g), PB_OK);
    assert_int_equal(pb_layout_make(&d->ctx, d->g, &options, &d->arena, &d->l), PB_OK);
    if (!layout_is_right(d->g, &d->l, why, sizeof why))
        fail_msg("%s: %s", family, why);
}

static void erase(drawing *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static const pb_option none = {NULL, NULL};

static void every_family_is_drawn_as_promised(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++)
        for (int form = 0; form < 2; form++) {
            drawing d;
            draw(&d, families[i].name, none, none, (pb_layout_options){.lanes = form ? PB_LANES_NEVER : PB_LANES_AUTO});
            erase(&d);
        }
}

/* Closed groups are nodes, and a graph of them is drawn by the same rules. */
static void groups_close_and_open(void **state)
{
    (void)state;
    static const char *const families[] = {"unet", "transformer", "resnet", "mlp", "chain"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (int form = 0; form < 3; form++) {
            drawing d;
            pb_layout l;
            pb_layout_groups c;
            char why[300];
            draw(&d, families[i], none, none, (pb_layout_options){0});
            bool *open = pb_arena_zero(&d.arena, (size_t)d.g->group_count + 1, sizeof *open);
            for (uint32_t k = 0; k < d.g->group_count && form == 1; k += 2)
                open[k] = true;
            for (uint32_t k = 0; k < d.g->group_count && form == 2; k++)
                open[k] = true;
            assert_int_equal(pb_layout_close(&d.ctx, d.g, PB_LANES_AUTO, form ? open : NULL, &d.arena, &c), PB_OK);
            pb_layout_options options = {.lanes = PB_LANES_NEVER, .lane = c.lane};
            assert_int_equal(pb_layout_make(&d.ctx, c.graph, &options, &d.arena, &l), PB_OK);
            if (!layout_groups_are_right(d.g, &c, open, why, sizeof why) ||
                !layout_is_right(c.graph, &l, why, sizeof why))
                fail_msg("%s, form %d: %s", families[i], form, why);
            assert_true(c.graph->node_count <= d.g->node_count);
            if (form == 2 || !d.g->group_count)
                assert_int_equal(c.graph->node_count, d.g->node_count);
            else
                assert_true(2 * c.graph->node_count < 3 * d.g->node_count);
            erase(&d);
        }
}

/* The encoder goes down and the decoder up, in both passes, with groups open and closed. */
static void a_unet_looks_like_a_u(void **state)
{
    (void)state;
    drawing d;
    pb_layout_groups c;
    pb_layout l;
    draw(&d, "unet", (pb_option){"depth", "4"}, none, (pb_layout_options){.fold = true});
    pb_node down0 = pb_graph_find(d.g, "down0.conv1"), down2 = pb_graph_find(d.g, "down2.conv1");
    pb_node bottom = pb_graph_find(d.g, "bottom.conv1"), up2 = pb_graph_find(d.g, "up2.conv1");
    pb_node up0 = pb_graph_find(d.g, "up0.conv1");
    assert_true(down0 != PB_NO_NODE && down2 != PB_NO_NODE && bottom != PB_NO_NODE);
    assert_true(up2 != PB_NO_NODE && up0 != PB_NO_NODE);
    const float *y = d.l.y;
    assert_true(y[down0] + 2 < y[down2] && y[down2] + 2 < y[bottom] && y[bottom] > y[up2] + 2 && y[up2] > y[up0] + 2);
    assert_int_equal(pb_layout_close(&d.ctx, d.g, PB_LANES_AUTO, NULL, &d.arena, &c), PB_OK);
    assert_int_equal(pb_layout_make(&d.ctx, c.graph, &(pb_layout_options){.lane = c.lane}, &d.arena, &l), PB_OK);
    y = l.y;
    assert_true(y[c.item[down0]] + 1 < y[c.item[down2]] && y[c.item[down2]] + 1 < y[c.item[bottom]]);
    assert_true(y[c.item[bottom]] > y[c.item[up2]] + 1 && y[c.item[up2]] > y[c.item[up0]] + 1);
    erase(&d);
    draw(&d, "resnet", (pb_option){"blocks", "6"}, none,
         (pb_layout_options){0}); /* its skips do not contain one another */
    float most = 0;
    for (pb_node v = 0; v < d.g->node_count; v++)
        most = !d.l.lane[v] && d.l.y[v] > most ? d.l.y[v] : most;
    assert_true(most < 6);
    erase(&d);
}

/* Long layouts in rows: nothing overlaps, boxes stay whole, and the whole can be seen at once. */
static void long_layouts_are_folded(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        pb_option size;
    } cases[] = {{"chain", {"nodes", "3000"}},
                 {"adjoint-chain", {"steps", "500"}},
                 {"transformer", {"blocks", "40"}},
                 {"resnet", {"blocks", "12"}},
                 {"mlp", {"depth", "300"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        drawing d;
        pb_layout l;
        char why[300];
        pb_layout_options options = {.fold = false};
        draw(&d, cases[i].family, cases[i].size, none, options);
        options.fold = true;
        assert_int_equal(pb_layout_make(&d.ctx, d.g, &options, &d.arena, &l), PB_OK);
        assert_true(l.width < d.l.width && l.height > d.l.height);
        assert_true(l.width / l.height < 8 && l.width / l.height > 0.5f);
        if (!layout_places_are_right(d.g, &l, why, sizeof why))
            fail_msg("%s: %s", cases[i].family, why);
        erase(&d);
    }
    drawing d;
    pb_layout l;
    draw(&d, "layered", none, none, (pb_layout_options){0});
    assert_int_equal(pb_layout_make(&d.ctx, d.g, &(pb_layout_options){.fold = true}, &d.arena, &l), PB_OK);
    assert_true(l.width == d.l.width && l.height == d.l.height); /* not long */
    erase(&d);
}

static void training_steps_have_two_lanes(void **state)
{
    (void)state;
    static const char *const families[] = {"adjoint-chain", "mlp", "resnet", "unet", "transformer"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        drawing d;
        draw(&d, families[i], none, none, (pb_layout_options){0});
        assert_int_equal(d.l.kind, PB_LAYOUT_LANES);
        for (pb_node v = 0; v < d.g->node_count; v++) {
            const char *name = pb_graph_name(d.g, v), *dot = strrchr(name, '.');
            bool back = (dot && (strcmp(dot, ".dx") == 0 || strcmp(dot, ".dw") == 0)) || strncmp(name, "g_", 2) == 0;
            if (back)
                assert_int_equal(d.l.lane[v], 1);
            if (strncmp(name, "x_", 2) == 0 || (dot && strncmp(dot, ".conv", 5) == 0))
                assert_int_equal(d.l.lane[v], 0);
        }
        erase(&d);
    }
}

/* The backward pass is below the forward pass, and a gradient near the step that it belongs to. */
static void lanes_face_one_another(void **state)
{
    (void)state;
    drawing d;
    draw(&d, "adjoint-chain", (pb_option){"steps", "10"}, none, (pb_layout_options){0});
    pb_node last = pb_graph_find(d.g, "x_10"), first = pb_graph_find(d.g, "x_1");
    pb_node begin = pb_graph_find(d.g, "g_9"), end = pb_graph_find(d.g, "g_0");
    assert_true(begin != PB_NO_NODE && end != PB_NO_NODE && last != PB_NO_NODE && first != PB_NO_NODE);
    assert_true(d.l.x[last] > d.l.x[first]);
    assert_true(d.l.x[begin] > d.l.x[end]);
    assert_true(d.l.y[begin] > d.l.y[last]);
    assert_true(d.l.x[begin] - d.l.x[last] < 2 && d.l.x[last] - d.l.x[begin] < 2);
    erase(&d);
}

static void others_have_one_lane(void **state)
{
    (void)state;
    static const char *const families[] = {"chain", "grid", "pyramid", "butterfly", "layered", "pipeline"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        drawing d;
        draw(&d, families[i], none, none, (pb_layout_options){0});
        assert_int_equal(d.l.kind, PB_LAYOUT_LAYERED);
        for (pb_node v = 0; v < d.g->node_count; v++)
            assert_int_equal(d.l.lane[v], 0);
        erase(&d);
    }
}

/* Without telling names, a graph whose order turns back is known by that. */
static void a_turn_is_found_without_names(void **state)
{
    (void)state;
    bench t;
    char name[16];
    uint8_t lane[16];
    bool found = false;
    bench_open(&t);
    for (int i = 0; i < 14; i++) {
        snprintf(name, sizeof name, "n%d", i);
        bench_node(&t, name, 1, 1, 0);
    }
    for (pb_node i = 1; i < 14; i++)
        assert_int_equal(pb_builder_add_edge(t.b, i - 1, i), PB_OK);
    for (pb_node i = 0; i < 7; i++) /* and one edge across that makes it no adjoint chain */
        assert_int_equal(pb_builder_add_edge(t.b, i, 13 - i), PB_OK);
    assert_int_equal(pb_builder_add_edge(t.b, 2, 5), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->shape, PB_SHAPE_GENERAL);
    assert_int_equal(pb_layout_backward(&t.ctx, t.g, lane, &found), PB_OK);
    assert_true(found);
    assert_int_equal(lane[3], 0);
    assert_int_equal(lane[10], 1);
    bench_close(&t);
}

/* A decoder reads what the encoder left, last first, but most of it reads nothing from there. */
static void skips_are_no_turn(void **state)
{
    (void)state;
    enum { LEVELS = 6 };
    bench t;
    uint8_t lane[64];
    bool found = true;
    pb_node skip[LEVELS], last, next;
    bench_open(&t);
    assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.cost = 1, .size = 1}, &last), PB_OK);
    for (int i = 0; i < 5 * LEVELS; i++) { /* two nodes down a level, three up: the second of these reads the skip */
        assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.cost = 1, .size = 1}, &next), PB_OK);
        assert_int_equal(pb_builder_add_edge(t.b, last, next), PB_OK);
        last = next;
        if (i < 2 * LEVELS && i % 2 == 0)
            skip[i / 2] = next;
        if (i >= 2 * LEVELS && i % 3 == 1)
            assert_int_equal(pb_builder_add_edge(t.b, skip[LEVELS - 1 - (i - 2 * LEVELS) / 3], next), PB_OK);
    }
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->shape, PB_SHAPE_GENERAL);
    assert_int_equal(pb_layout_backward(&t.ctx, t.g, lane, &found), PB_OK);
    assert_false(found);
    bench_close(&t);
}

static void trees_are_drawn_as_trees(void **state)
{
    (void)state;
    drawing d;
    draw(&d, "tree", (pb_option){"height", "4"}, none, (pb_layout_options){0});
    assert_int_equal(d.l.kind, PB_LAYOUT_TREE);
    assert_true(d.l.width == 5 && d.l.height == 16);
    for (pb_node v = 0; v < d.g->node_count; v++) {
        uint32_t begin = d.g->in_start[v], end = d.g->in_start[v + 1];
        if (begin == end)
            continue;
        assert_int_equal(end - begin, 2);
        float middle = (d.l.y[d.g->in[begin]] + d.l.y[d.g->in[begin + 1]]) / 2;
        assert_true(d.l.y[v] == middle && d.l.x[v] == d.l.x[d.g->in[begin]] + 1);
    }
    erase(&d);
}

/* A chain of values with another value next to each is straight: what ends there makes way. */
static void a_trunk_is_straight(void **state)
{
    (void)state;
    drawing d;
    draw(&d, "mlp", (pb_option){"depth", "20"}, none, (pb_layout_options){0});
    float least = 1e9f, most = 0;
    for (pb_node v = 0; v < d.g->node_count; v++)
        if (strstr(pb_graph_name(d.g, v), ".dx")) {
            least = d.l.y[v] < least ? d.l.y[v] : least;
            most = d.l.y[v] > most ? d.l.y[v] : most;
        }
    assert_true(most - least < 3);
    erase(&d);
}

static void empty_and_single(void **state)
{
    (void)state;
    drawing d;
    draw(&d, "chain", (pb_option){"nodes", "0"}, none, (pb_layout_options){0});
    assert_true(d.l.width == 1 && d.l.height == 1);
    erase(&d);
    draw(&d, "chain", (pb_option){"nodes", "1"}, none, (pb_layout_options){0});
    assert_true(d.l.x[0] == 0.5f && d.l.y[0] == 0.5f && d.l.width == 1 && d.l.height == 1);
    erase(&d);
}

static void radius_goes_by_size(void **state)
{
    (void)state;
    bench t;
    pb_layout l;
    bench_open(&t);
    bench_node(&t, "none", 1, 0, 0);
    bench_node(&t, "half", 1, UINT64_MAX / 8, 0);
    bench_node(&t, "most", 1, UINT64_MAX / 2, 0);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(pb_layout_make(&t.ctx, t.g, &(pb_layout_options){0}, &t.arena, &l), PB_OK);
    assert_true(l.radius[0] < l.radius[1] && l.radius[1] < l.radius[2] && l.radius[2] <= 0.46f);
    bench_close(&t);
}

/* With the k-th allocation refused it fails cleanly, for every k. */
static void refused_memory_is_told(void **state)
{
    (void)state;
    static const char *const families[] = {"unet", "merkle", "pipeline"};
    for (size_t i = 0; i < 3; i++)
        for (int closed = 0; closed < 2; closed++) {
            pb_context ctx;
            pb_arena arena;
            const pb_graph *g;
            pb_status status = PB_ENOMEM;
            pb_context_init(&ctx);
            pb_arena_init(&arena, &ctx);
            assert_int_equal(pb_generate(&ctx, families[i], NULL, 0, &arena, &g), PB_OK);
            for (uint64_t k = 1; status != PB_OK && k < 200; k++) {
                outside o = {.refuse_at = k};
                pb_context own;
                pb_arena result;
                pb_layout l;
                outside_context(&own, &o);
                pb_arena_init(&result, &own);
                pb_layout_groups c = {.graph = g};
                status = closed ? pb_layout_close(&own, g, PB_LANES_AUTO, NULL, &result, &c) : PB_OK;
                pb_layout_options options = {.fold = true, .lane = c.lane};
                if (status == PB_OK)
                    status = pb_layout_make(&own, c.graph, &options, &result, &l);
                assert_true(status == PB_OK || status == PB_ENOMEM);
                pb_arena_release(&result);
                assert_int_equal(own.memory_used, 0);
            }
            assert_int_equal(status, PB_OK);
            pb_arena_release(&arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_drawn_as_promised),
        cmocka_unit_test(groups_close_and_open),
        cmocka_unit_test(a_unet_looks_like_a_u),
        cmocka_unit_test(long_layouts_are_folded),
        cmocka_unit_test(training_steps_have_two_lanes),
        cmocka_unit_test(lanes_face_one_another),
        cmocka_unit_test(others_have_one_lane),
        cmocka_unit_test(a_turn_is_found_without_names),
        cmocka_unit_test(skips_are_no_turn),
        cmocka_unit_test(trees_are_drawn_as_trees),
        cmocka_unit_test(a_trunk_is_straight),
        cmocka_unit_test(empty_and_single),
        cmocka_unit_test(radius_goes_by_size),
        cmocka_unit_test(refused_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
