/* test_graph_shape.c -- the shapes that have exact methods, and graphs that only nearly have them. */
#include "graph/graph_parts.h"
#include "graph_fixture.h"
#include "pebble/generate.h"

static pb_shape shape_of(const char *nodes, const char *edges)
{
    bench t;
    bench_open(&t);
    bench_nodes(&t, nodes);
    bench_edges(&t, edges);
    assert_int_equal(bench_freeze(&t), PB_OK);
    pb_shape shape = t.g->shape;
    bench_close(&t);
    return shape;
}

static void shapes_of_small_graphs(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *edges;
        pb_shape shape;
    } cases[] = {
        {"", "", PB_SHAPE_EMPTY},
        {"a", "", PB_SHAPE_CHAIN},
        {"a b", "a>b", PB_SHAPE_CHAIN},
        {"a b c", "c>a a>b", PB_SHAPE_CHAIN}, /* in any numbering */
        {"a b", "", PB_SHAPE_GENERAL},        /* two parts */
        {"a b c d", "a>b c>d", PB_SHAPE_GENERAL},
        {"a b c", "a>c b>c", PB_SHAPE_IN_TREE},
        {"a b c d e", "b>a c>b d>b e>a", PB_SHAPE_IN_TREE},
        {"a b c", "a>b a>c", PB_SHAPE_GENERAL},           /* an out-tree */
        {"a b c d", "a>b a>c b>d c>d", PB_SHAPE_GENERAL}, /* a diamond */
        {"a b c d", "a>c b>c", PB_SHAPE_GENERAL},         /* a tree and a lone node */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (shape_of(cases[i].nodes, cases[i].edges) != cases[i].shape)
            fail_msg("%s with %s is %s", cases[i].nodes, cases[i].edges,
                     pb_shape_name(shape_of(cases[i].nodes, cases[i].edges)));
}

static void adjoint_chains_and_their_near_misses(void **state)
{
    (void)state;
    static const struct {
        const char *edges;
        pb_shape shape;
    } cases[] = {
        {"a>b b>c c>x b>x x>y b>y a>y", PB_SHAPE_ADJOINT_CHAIN}, /* x reads b and c, y reads a, b and x */
        {"a>b b>c c>x x>y b>y", PB_SHAPE_ADJOINT_CHAIN},         /* inputs alone */
        {"a>b b>c c>x x>y a>y", PB_SHAPE_ADJOINT_CHAIN},         /* steps may be left out */
        {"a>b b>c c>x a>x x>y b>y", PB_SHAPE_GENERAL},           /* forwards again */
        {"a>b b>c c>x b>x x>y", PB_SHAPE_GENERAL},               /* a gradient that reads no state */
        {"a>b b>c c>x b>x b>y a>y", PB_SHAPE_GENERAL},           /* gradients that are no path */
        {"a>b b>c c>x x>y", PB_SHAPE_CHAIN},
        {"a>b a>c b>x c>x x>y a>y", PB_SHAPE_GENERAL}, /* states that are no path */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (shape_of("a b c x y", cases[i].edges) != cases[i].shape)
            fail_msg("%s is %s", cases[i].edges, pb_shape_name(shape_of("a b c x y", cases[i].edges)));
    assert_int_equal(shape_of("y x c b a", cases[0].edges), PB_SHAPE_ADJOINT_CHAIN); /* in any numbering */
}

static void a_gradient_that_skips_a_gradient_is_general(void **state)
{
    (void)state;
    static const char sound[] = "a>b b>c c>d d>x c>x x>y b>y c>y y>z a>z b>z";
    char text[100];
    assert_int_equal(shape_of("a b c d x y z", sound), PB_SHAPE_ADJOINT_CHAIN);
    snprintf(text, sizeof text, "%s x>z", sound);
    assert_int_equal(shape_of("a b c d x y z", text), PB_SHAPE_GENERAL);
}

/* The latest state that a gradient reads must not come after what the gradient before it read. */
static void gradients_go_backwards_at_both_ends(void **state)
{
    (void)state;
    assert_int_equal(shape_of("a b c d x y z", "a>b b>c c>d d>x c>x x>y b>y y>z a>z"), PB_SHAPE_ADJOINT_CHAIN);
    assert_int_equal(shape_of("a b c d x y z", "a>b b>c c>d d>x c>x x>y b>y y>z a>z c>z"), PB_SHAPE_GENERAL);
}

static void byproducts_make_any_graph_general(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b");
    bench_node(&t, "w", 0, 1, 0);
    bench_edges(&t, "a>b");
    pb_builder_set_byproduct(t.b, 2, 0);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->shape, PB_SHAPE_GENERAL);
    bench_close(&t);
}

static const pb_graph *generated(bench *t, const char *family, const char *key, const char *value, const char *form)
{
    pb_option options[] = {{key, value}, {"form", form}};
    pb_context_init(&t->ctx);
    pb_arena_init(&t->arena, &t->ctx);
    t->b = NULL;
    assert_int_equal(pb_generate(&t->ctx, family, options, form ? 2 : 1, &t->arena, &t->g), PB_OK);
    return t->g;
}

static void generated_families_have_their_shape(void **state)
{
    (void)state;
    static const struct {
        const char *family, *key, *value, *form;
        pb_shape shape;
    } cases[] = {
        {"chain", "nodes", "1", NULL, PB_SHAPE_CHAIN},
        {"chain", "nodes", "50", NULL, PB_SHAPE_CHAIN},
        {"adjoint-chain", "steps", "1", "inputs-outputs", PB_SHAPE_ADJOINT_CHAIN},
        {"adjoint-chain", "steps", "2", "inputs-outputs", PB_SHAPE_ADJOINT_CHAIN},
        {"adjoint-chain", "steps", "40", "inputs-outputs", PB_SHAPE_ADJOINT_CHAIN},
        {"adjoint-chain", "steps", "2", "inputs", PB_SHAPE_ADJOINT_CHAIN},
        {"adjoint-chain", "steps", "40", "inputs", PB_SHAPE_ADJOINT_CHAIN},
        {"tree", "height", "4", NULL, PB_SHAPE_IN_TREE},
        {"pyramid", "height", "3", NULL, PB_SHAPE_GENERAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        const pb_graph *g = generated(&t, cases[i].family, cases[i].key, cases[i].value, cases[i].form);
        if (g->shape != cases[i].shape)
            fail_msg("%s of %s is %s", cases[i].family, cases[i].value, pb_shape_name(g->shape));
        bench_close(&t);
    }
}

static void an_adjoint_chain_is_taken_apart(void **state)
{
    (void)state;
    bench t;
    pbi_adjoint parts;
    pb_status status;
    const pb_graph *g = generated(&t, "adjoint-chain", "steps", "3", "inputs-outputs");
    assert_true(pbi_graph_adjoint(g, &t.arena, &parts, &status)); /* x_0 .. x_3, then g_2, g_1, g_0 */
    assert_int_equal(status, PB_OK);
    expect_row(parts.forward, 0, parts.forward_count, "0 1 2 3");
    expect_row(parts.gradient, 0, parts.gradient_count, "4 5 6");
    t.ctx.memory_limit = 1;
    pb_arena none;
    pb_arena_init(&none, &t.ctx);
    assert_false(pbi_graph_adjoint(g, &none, &parts, &status));
    assert_int_equal(status, PB_ENOMEM);
    bench_close(&t);
}

static void shapes_have_names(void **state)
{
    (void)state;
    assert_string_equal(pb_shape_name(PB_SHAPE_EMPTY), "empty");
    assert_string_equal(pb_shape_name(PB_SHAPE_CHAIN), "chain");
    assert_string_equal(pb_shape_name(PB_SHAPE_ADJOINT_CHAIN), "adjoint-chain");
    assert_string_equal(pb_shape_name(PB_SHAPE_IN_TREE), "in-tree");
    assert_string_equal(pb_shape_name(PB_SHAPE_GENERAL), "general");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_small_graphs),
        cmocka_unit_test(adjoint_chains_and_their_near_misses),
        cmocka_unit_test(a_gradient_that_skips_a_gradient_is_general),
        cmocka_unit_test(gradients_go_backwards_at_both_ends),
        cmocka_unit_test(byproducts_make_any_graph_general),
        cmocka_unit_test(generated_families_have_their_shape),
        cmocka_unit_test(an_adjoint_chain_is_taken_apart),
        cmocka_unit_test(shapes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
