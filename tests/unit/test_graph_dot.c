/* test_graph_dot.c -- graphs in DOT: statements, sets, clusters, attributes, errors at their places. */
#define READER_FORMAT PB_FORMAT_DOT
#include "unit/reader_fixture.h"

/* Edges as "a>b a>c", nodes in the order of their index in front: "a b c: a>b a>c". */
static void describe(const pb_graph *g, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (pb_node v = 0; v < g->node_count; v++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", v ? " " : "", pb_graph_name(g, v));
    used += (size_t)snprintf(text + used, room - used, ":");
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            used +=
                (size_t)snprintf(text + used, room - used, " %s>%s", pb_graph_name(g, v), pb_graph_name(g, g->out[k]));
}

static void statements_make_nodes_and_edges(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"digraph {}", ":"},
        {"digraph { a }", "a:"},
        {"strict digraph G { a -> b -> c; a -> c a -> b }", "a b c: a>b a>c b>c"},
        {"DiGraph { x; y, }", NULL},
        {"digraph { a -> b c -> d }", "a b c d: a>b c>d"},
        {"digraph { {a b} -> c -> {d e} }", "a b c d e: a>c b>c c>d c>e"},
        {"digraph { a -> subgraph { b -> c } -> d }", "a b c d: a>b a>c b>c b>d c>d"},
        {"digraph { {{a} {b}} -> {c {d}} }", "a b c d: a>c a>d b>c b>d"},
        {"digraph { {} -> a -> {} }", "a:"},
        {"digraph { a:n -> b:p:se -> c }", "a b c: a>b b>c"},
        {"digraph { 1 -> 2.5 -> -.5 -> -3. }", "1 2.5 -.5 -3.: 1>2.5 2.5>-.5 -.5>-3."},
        {"digraph { \"a b\" -> \"c\" + /* x */ \"d\" -> \"e\\\nf\" }", "a b cd ef: a b>cd cd>ef"},
        {"digraph { \"q\\\"\" -> \"s\\\\\" -> \"n\\n\" }", "q\" s\\ n\\n: q\">s\\ s\\>n\\n"},
        {"// one\n# two\ndigraph /* three\n */ { a // four\n -> b }", "a b: a>b"},
        {"\xef\xbb\xbf"
         "digraph { \xc3\xa9 -> \"\xe6\x97\xa5\" }",
         "\xc3\xa9 \xe6\x97\xa5: \xc3\xa9>\xe6\x97\xa5"},
        {"digraph { a -> b [label=<x <b>y</b> - \">, w=2]; a [label=\"]\"] }", "a b: a>b"},
        {"digraph { node [shape=box] edge [x=y]; graph [rankdir=LR] rank=same; a -> b }", "a b: a>b"},
    };
    static const size_t chunks[] = {SIZE_MAX, 1, 7};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t c = 0; c < COUNT(chunks); c++) {
            desk d;
            if (!cases[i][1]) {
                assert_int_equal(open_text(&d, cases[i][0], chunks[c]), PB_EFORMAT);
                shut(&d);
                continue;
            }
            must_open(&d, cases[i][0], chunks[c]);
            char text[256];
            describe(d.g, text, sizeof text);
            assert_string_equal(text, cases[i][1]);
            shut(&d);
        }
}

static void attributes_fill_every_field(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "digraph \"my graph\" {\n"
              "  cost_unit=ns; graph [size_unit=\"byte\", fixed_size=12; order=\"y z\"]\n"
              "  a -> y; s -> y; y -> z\n"
              "  a [given=true, size=3]; s [given=slow]\n"
              "  y [cost=7 size=9, workspace=2; once=true][keep=true, target, inplace=\"a s\", group=g1]\n"
              "  w [byproduct_of=y]\n"
              "}",
              SIZE_MAX);
    const pb_graph *g = d.g;
    assert_string_equal(g->name, "my graph");
    assert_string_equal(g->cost_unit, "ns");
    assert_string_equal(g->size_unit, "byte");
    assert_int_equal(g->fixed_size, 12);
    assert_int_equal(g->node_count, 5);
    pb_node a = pb_graph_find(g, "a"), s = pb_graph_find(g, "s"), y = pb_graph_find(g, "y");
    pb_node z = pb_graph_find(g, "z"), w = pb_graph_find(g, "w");
    assert_int_equal(g->size[a], 3);
    assert_int_equal(g->flags[a] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW), PB_NODE_GIVEN);
    assert_int_equal(g->flags[s] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW), PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    assert_int_equal(g->cost[y], 7);
    assert_int_equal(g->size[y], 9);
    assert_int_equal(g->workspace[y], 2);
    assert_int_equal(g->flags[y] & (PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET),
                     PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET);
    assert_int_equal(g->flags[z] & PB_NODE_TARGET, 0);
    assert_int_equal(g->inplace_start[y + 1] - g->inplace_start[y], 2);
    assert_string_equal(g->group_names[g->group[y]], "g1");
    assert_int_equal(g->owner[w], y);
    assert_int_equal(g->cost[w], 0); /* the default 1 is not for by-products */
    assert_int_equal(g->cost[z], 1);
    assert_int_equal(g->size[z], 1);
    assert_true(g->order_named);
    shut(&d);
}

static void defaults_hold_in_their_braces(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "digraph { a; node [cost=5]; b; { node [cost=7, size=2]; c; subgraph cluster_in { d } } e;"
              " subgraph cluster { f } subgraph plain { g [group=mine]; h } }",
              SIZE_MAX);
    static const uint64_t costs[] = {1, 5, 7, 7, 5, 5, 5, 5}, sizes[] = {1, 1, 2, 2, 1, 1, 1, 1};
    static const char *const groups[] = {NULL, NULL, NULL, "in", NULL, "cluster", "mine", "plain"};
    for (pb_node v = 0; v < 8; v++) {
        assert_int_equal(d.g->cost[v], costs[v]);
        assert_int_equal(d.g->size[v], sizes[v]);
        if (groups[v])
            assert_string_equal(d.g->group_names[d.g->group[v]], groups[v]);
        else
            assert_int_equal(d.g->group[v], UINT32_MAX);
    }
    shut(&d);
}

static void lists_name_any_node(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "digraph { \"a b\" -> z; \"c\\\\\" -> z; \"\" -> z; e -> z;"
              " z [inplace=\"a\\\\ b  c\\\\\\\\ \\\\e e\"]; targets=\"z \\\\e\" }",
              SIZE_MAX);
    pb_node z = pb_graph_find(d.g, "z");
    assert_int_equal(d.g->inplace_start[z + 1] - d.g->inplace_start[z], 4);
    assert_int_equal(d.g->target_count, 2);
    shut(&d);
}

static void decimal_costs_scale_defaults_too(void **state)
{
    (void)state;
    desk d;
    must_open(&d, "digraph { a; node [cost=0.5]; b; c [cost=\"2e-2\"]; cost_unit=ms; a -> b -> c }", SIZE_MAX);
    assert_string_equal(d.g->cost_unit, "us");
    assert_int_equal(d.g->cost[0], 1000);
    assert_int_equal(d.g->cost[1], 500);
    assert_int_equal(d.g->cost[2], 20);
    shut(&d);
}

static void attributes_take_what_is_for_machines(void **state)
{
    (void)state;
    static const char text[] =
        "digraph { fixed=\"m=5 h\\\\ m=6\";\n"
        "machine=\"{\\\"format\\\":\\\"pebble-machine/1\\\",\\\"name\\\":\\\"a \\\\\\\"b\\\\\\\"\\\","
        "\\\"memories\\\":[{\\\"name\\\":\\\"m\\\"}],"
        "\\\"processors\\\":[{\\\"name\\\":\\\"p\\\",\\\"memory\\\":\\\"m\\\"}]}\";\n"
        "x [given=true,in=\"h m\"];\n"
        "node [op=conv]; a [flops=7,bytes=0,dtype=float32]; node [op=\"\"];\n"
        "b [times=\"gpu=12 c\\\\ p=u=3\",on=\"gpu c\\\\ p=u\",keep=\"h m\"]; x -> a -> b }";
    desk d;
    must_open(&d, text, SIZE_MAX);
    const pb_graph *g = d.g;
    assert_string_equal(g->machine->name, "a \"b\"");
    assert_int_equal(g->fixed_count, 2);
    assert_string_equal(g->words[g->fixed[1].word], "h m");
    assert_int_equal(g->fixed[1].value, 6);
    pb_work work = pb_graph_work(g, 1);
    assert_true(work.has_flops && work.flops == 7 && work.has_bytes && work.bytes == 0);
    assert_string_equal(work.op, "conv");
    assert_string_equal(work.dtype, "float32");
    assert_int_equal(g->note_start[3] - g->note_start[2], 5);
    assert_int_equal(g->note[g->note_start[2] + 1].value, 3);
    assert_string_equal(g->words[g->note[g->note_start[2] + 1].word], "c p=u");
    assert_string_equal(g->words[g->note[g->note_start[2] + 4].word], "h m");
    assert_true(g->flags[2] & PB_NODE_KEEP);
    assert_int_equal(g->note[0].kind, PB_NOTE_IN);
    shut(&d);
}

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"", PB_EFORMAT, 1, 1, "expected digraph, found the end"},
        {"graph { a -- b }", PB_EFORMAT, 1, 1, "undirected"},
        {"strict graph {}", PB_EFORMAT, 1, 8, "undirected"},
        {"digraph { a -- b }", PB_EFORMAT, 1, 13, "has no direction"},
        {"digraph {\n  a -> ", PB_EFORMAT, 2, 8, "a node or subgraph after '->'"},
        {"digraph { a -> }", PB_EFORMAT, 1, 16, "found '}'"},
        {"digraph { a -> -> b }", PB_EFORMAT, 1, 16, "found '->'"},
        {"digraph { a -> ; }", PB_EFORMAT, 1, 16, "found ';'"},
        {"digraph { a -> node }", PB_EFORMAT, 1, 16, "found \"node\""},
        {"digraph { -> a }", PB_EFORMAT, 1, 11, "a statement"},
        {"digraph { node -> a }", PB_EFORMAT, 1, 16, "'[' after node"},
        {"digraph { a", PB_EFORMAT, 1, 12, "a statement or '}'"},
        {"digraph a b {}", PB_EFORMAT, 1, 11, "expected '{'"},
        {"digraph {} {", PB_EFORMAT, 1, 12, "nothing after"},
        {"digraph { a [cost] }", PB_EFORMAT, 1, 14, "cost must be a number of 0 or more"},
        {"digraph { a [size=1.5] }", PB_EFORMAT, 1, 19, "not \"1.5\""},
        {"digraph { a [cost=-1.5] }", PB_EFORMAT, 1, 19, "number of 0 or more, as in 3 or 0.25, not -1.5"},
        {"digraph { a [size=-1] }", PB_EFORMAT, 1, 19, "not \"-1\""},
        {"digraph { a [size=18446744073709551616] }", PB_EFORMAT, 1, 19, "size must be"},
        {"digraph { a [given=maybe] }", PB_EFORMAT, 1, 20, "true, false or slow"},
        {"digraph { a [once=slow] }", PB_EFORMAT, 1, 19, "true or false"},
        {"digraph { a [=] }", PB_EFORMAT, 1, 14, "an attribute or ']'"},
        {"digraph { a [x=] }", PB_EFORMAT, 1, 16, "a value after '='"},
        {"digraph { a [x", PB_EFORMAT, 1, 15, "an attribute or ']'"},
        {"digraph { x= }", PB_EFORMAT, 1, 14, "a value after '='"},
        {"digraph { fixed_size=many }", PB_EFORMAT, 1, 22, "fixed_size must be"},
        {"digraph { {a b} [cost=1] }", PB_EFORMAT, 1, 17, "do not follow a subgraph"},
        {"digraph { subgraph x }", PB_EFORMAT, 1, 22, "'{' after subgraph"},
        {"digraph { a: }", PB_EFORMAT, 1, 14, "a port"},
        {"digraph { 1a }", PB_EFORMAT, 1, 11, "begins with a digit"},
        {"digraph { \n\"a", PB_EFORMAT, 2, 1, "never closed"},
        {"digraph { /* a *", PB_EFORMAT, 1, 11, "never closed"},
        {"digraph { a [l=<b", PB_EFORMAT, 1, 16, "never closed"},
        {"digraph { \"a\" + b }", PB_EFORMAT, 1, 17, "another quoted text"},
        {"digraph { <b> }", PB_EFORMAT, 1, 11, "found an HTML text"},
        {"digraph { a @ }", PB_EFORMAT, 1, 13, "'@' has no meaning"},
        {"digraph { \"\xc3\xa9\" \xff }", PB_EFORMAT, 1, 15, "not UTF-8"},
        {"digraph { a -> b -> a }", PB_EGRAPH, 0, 0, "cycle"},
        {"digraph { b; a -> a }", PB_EGRAPH, 1, 19, "\"a\" to itself"},
        {"digraph { a;\n b [inplace=\"z\"] }", PB_EGRAPH, 2, 2, "inplace names \"z\""},
        {"digraph { a [byproduct_of=\"\"] }", PB_EGRAPH, 1, 11, "byproduct_of names \"\""},
        {"digraph { order=\"a z\"; a }", PB_EGRAPH, 1, 17, "order names \"z\""},
    };
    EXPECT_ERRORS(cases);
}

static void nesting_is_limited_without_recursion(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 16);
    size_t length = (size_t)sprintf(text, "digraph ");
    memset(text + length, '{', DEEP);
    text[length + DEEP] = '\0';
    desk d;
    assert_int_equal(open_text(&d, text, SIZE_MAX), PB_EFORMAT);
    assert_non_null(strstr(d.ctx.error.message, "nested more than"));
    shut(&d);
    free(text);
}

static void set_products_respect_the_memory_limit(void **state)
{
    (void)state;
    enum { SIDE = 3000 };
    char *text = malloc(SIDE * 20);
    size_t length = (size_t)sprintf(text, "digraph { {");
    for (int i = 0; i < SIDE; i++)
        length += (size_t)sprintf(text + length, "a%d ", i);
    length += (size_t)sprintf(text + length, "} -> {");
    for (int i = 0; i < SIDE; i++)
        length += (size_t)sprintf(text + length, "b%d ", i);
    length += (size_t)sprintf(text + length, "} }");
    desk d;
    pb_context_init(&d.ctx);
    d.ctx.memory_limit = 16 << 20;
    pb_arena_init(&d.arena, &d.ctx);
    assert_int_equal(graph_from(&d.ctx, text, length, SIZE_MAX, PB_FORMAT_DOT, &d.arena, &d.g), PB_ENOMEM);
    shut(&d);
    free(text);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { NODE_COUNT = 2000 };
    char *text = malloc((size_t)NODE_COUNT * 60);
    size_t length = (size_t)sprintf(text, "digraph { subgraph g { ");
    for (int i = 1; i < NODE_COUNT; i++)
        length += (size_t)sprintf(text + length, "n%d -> n%d [x]; n%d [group=g%d];", i - 1, i, i, i);
    length += (size_t)sprintf(text + length, "} n1 [inplace=n0] }");
    const char *wrong = graph_refusals_are_clean(text, length, PB_FORMAT_DOT);
    if (wrong)
        fail_msg("%s", wrong);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_make_nodes_and_edges),
        cmocka_unit_test(attributes_fill_every_field),
        cmocka_unit_test(defaults_hold_in_their_braces),
        cmocka_unit_test(lists_name_any_node),
        cmocka_unit_test(decimal_costs_scale_defaults_too),
        cmocka_unit_test(attributes_take_what_is_for_machines),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(nesting_is_limited_without_recursion),
        cmocka_unit_test(set_products_respect_the_memory_limit),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
