/* test_graph_csv.c -- graphs as comma-separated records: edge lists, described nodes, errors at their places. */
#define READER_FORMAT PB_FORMAT_CSV
#include "unit/reader_fixture.h"

static void edge_lists_make_nodes_on_first_mention(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t nodes, edges;
        const char *first; /* name of node 0 */
    } cases[] = {
        {"", 0, 0, NULL},
        {"\n# nothing\n", 0, 0, NULL},
        {"a,b\nb,c\na,b\n", 3, 2, "a"},
        {"a,b", 2, 1, "a"},
        {"a,b\r\nc,d\r\n", 4, 2, "a"},
        {"from,to\na,b\n", 2, 1, "a"},
        {"Source,TARGET\na,b\n", 2, 1, "a"},
        {"# x\n\nfrom,to\na,b\n", 2, 1, "a"},
        {"a,b\nfrom,to\n", 4, 2, "a"},
        {" a , b \n", 2, 1, "a"},
        {"\" a \",b\n", 2, 1, " a "},
        {"\"x \"\"y\"\",\nz\", b\n", 2, 1, "x \"y\",\nz"},
        {"\"\",b\n", 2, 1, ""},
        {"node,edge\nedge,graph\n", 3, 2, "node"},
        {"edge,a,b\n", 2, 1, "a"},
        {"node,a,1\n", 1, 0, "a"},
        {"\xef\xbb\xbf"
         "a,b\n",
         2, 1, "a"},
    };
    static const size_t chunks[] = {SIZE_MAX, 1, 5};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t c = 0; c < COUNT(chunks); c++) {
            desk d;
            must_open(&d, cases[i].text, chunks[c]);
            assert_int_equal(d.g->node_count, cases[i].nodes);
            assert_int_equal(d.g->edge_count, cases[i].edges);
            if (cases[i].first) {
                assert_string_equal(pb_graph_name(d.g, 0), cases[i].first);
                assert_int_equal(d.g->cost[0], 1);
                assert_int_equal(d.g->size[0], 1);
            }
            shut(&d);
        }
}

static void decimal_costs_scale_the_default_too(void **state)
{
    (void)state;
    desk d;
    must_open(&d, "a,b\nnode,c,0.25\nedge,b,c\nnode,w,,,byproduct_of=c\n", SIZE_MAX);
    assert_string_equal(d.g->cost_unit, "0.01 step");
    assert_int_equal(d.g->cost[0], 100);
    assert_int_equal(d.g->cost[1], 100);
    assert_int_equal(d.g->cost[2], 25);
    assert_int_equal(d.g->cost[3], 0);
    shut(&d);
}

static void records_fill_every_field(void **state)
{
    (void)state;
    desk d;
    must_open(
        &d,
        "graph,name,\"my, graph\"\ngraph,cost_unit,ns\ngraph,size_unit,byte\ngraph,fixed_size,5\n"
        "edge,x,y\nnode,y,3,8,workspace=2,once=true,keep=true,target=true,\"inplace=x s\",\"group=a, \"\"b\"\"\"\n"
        "node,x,0,9,given=true\nnode,s,,4,given=slow\nedge,s,y\nnode,w,,,byproduct_of=y\ngraph,order,x y\n",
        SIZE_MAX);
    const pb_graph *g = d.g;
    assert_string_equal(g->name, "my, graph");
    assert_string_equal(g->cost_unit, "ns");
    assert_string_equal(g->size_unit, "byte");
    assert_int_equal(g->fixed_size, 5);
    pb_node x = 0, y = 1, s = 2, w = 3;
    assert_string_equal(pb_graph_name(g, s), "s");
    assert_int_equal(g->size[x], 9);
    assert_int_equal(g->cost[x], 0);
    assert_int_equal(g->cost[y], 3);
    assert_int_equal(g->workspace[y], 2);
    assert_int_equal(g->flags[y] & (PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET),
                     PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET);
    assert_int_equal(g->flags[s] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW), PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    assert_int_equal(g->inplace_start[y + 1] - g->inplace_start[y], 2);
    assert_string_equal(g->group_names[g->group[y]], "a, \"b\"");
    assert_int_equal(g->owner[w], y);
    assert_int_equal(g->cost[w], 0);
    assert_true(g->order_named);
    shut(&d);
}

static void records_take_what_is_for_machines(void **state)
{
    (void)state;
    static const char text[] = "graph,fixed,\"m=5 h\\ m=6\"\n"
                               "graph,machine,\"{\"\"format\"\":\"\"pebble-machine/1\"\",\"\"name\"\":\"\"a "
                               "\\\"\"b\\\"\"\"\",\"\"memories\"\":[{\"\"name\"\":\"\"m\"\"}],"
                               "\"\"processors\"\":[{\"\"name\"\":\"\"p\"\",\"\"memory\"\":\"\"m\"\"}]}\"\n"
                               "node,x,,1,given=true,in=h m\n"
                               "node,a,,1,flops=7,bytes=0,op=conv,dtype=float32\n"
                               "node,b,,1,times=gpu=12 c\\ p=u=3,on=gpu c\\ p=u,keep=h m\nx,a\na,b\n";
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
        {"a\n", PB_EFORMAT, 1, 1, "expected an edge"},
        {"a,b\n\nx,y,z\n", PB_EFORMAT, 3, 1, "expected an edge"},
        {"edge,a,b,c\n", PB_EFORMAT, 1, 1, "expected an edge"},
        {",b\n", PB_EFORMAT, 1, 1, "name of a node is missing"},
        {"a,\n", PB_EFORMAT, 1, 3, "name of a node is missing"},
        {"node,,1,1\n", PB_EFORMAT, 1, 6, "name of a node is missing"},
        {"node,a,x,1\n", PB_EFORMAT, 1, 8, "cost must be a number of 0 or more, as in 3 or 0.25, not x"},
        {"node,a,1,0.5\n", PB_EFORMAT, 1, 10, "not \"0.5\"; count in a finer size_unit: multiply every size by 10"},
        {"node,a,1e-13,1\n", PB_EFORMAT, 1, 8, "at most 12 decimals, not 1e-13"},
        {"node,a,18446744073709551615\nnode,b,0.5\n", PB_ERANGE, 2, 6, "exceeds 2^64"},
        {"node,a,1,-1\n", PB_EFORMAT, 1, 10, "size must be a whole number"},
        {"node,a,1,18446744073709551616\n", PB_EFORMAT, 1, 10, "size must be"},
        {"node,a,1,1,red\n", PB_EFORMAT, 1, 12, "key=value"},
        {"node,a,1,1,color=red\n", PB_EFORMAT, 1, 12, "a node has no such field"},
        {"node,a,1,1,once=1\n", PB_EFORMAT, 1, 12, "true or false"},
        {"node,a,1,1,flops=x\n", PB_EFORMAT, 1, 12, "flops must be a whole number"},
        {"a,b\nnode,b,1,1,times=gpu\n", PB_EFORMAT, 1, 3, "times must be a list of name=number"},
        {"node,a,1,1,times=gpu=x\n", PB_EFORMAT, 1, 6, "not \"gpu=x\""},
        {"node,a,1,1,times==1\n", PB_EGRAPH, 1, 6, "\"\" is not the name of a processor or memory"},
        {"node,a,1,1,keep=\n", PB_EGRAPH, 1, 6, "\"\" is not the name of a processor or memory"},
        {"graph,fixed,m\n", PB_EFORMAT, 1, 13, "fixed must be a list of name=number"},
        {"graph,machine,x\n", PB_EFORMAT, 1, 15, "expected a value"},
        {"graph,color,red\n", PB_EFORMAT, 1, 7, "a graph has no such field"},
        {"graph,fixed_size,x\n", PB_EFORMAT, 1, 18, "fixed_size must be"},
        {"a,\"b\nc", PB_EFORMAT, 1, 3, "never closed"},
        {"\"a\"b,c\n", PB_EFORMAT, 1, 4, "must be followed by ','"},
        {"a\"b,c\n", PB_EFORMAT, 1, 2, "quotation mark"},
        {"\xc3\xa9\xc3\xa9,\xc3", PB_EFORMAT, 1, 4, "not UTF-8"},
        {"# \xff\n", PB_EFORMAT, 1, 3, "not UTF-8"},
        {"node,a,1,1\n node,a,1,1\n", PB_EGRAPH, 2, 7, "described twice"},
        {"x,y\na,a\n", PB_EGRAPH, 2, 1, "\"a\" to itself"},
        {"a,b\nb,a\n", PB_EGRAPH, 0, 0, "cycle"},
        {"a,b\nnode,b,1,1,inplace=z\n", PB_EGRAPH, 1, 3, "inplace names \"z\""},
        {"graph,order,a z\na,b\n", PB_EGRAPH, 1, 13, "order names \"z\""},
    };
    EXPECT_ERRORS(cases);
}

static void reader_refuses_nul(void **state)
{
    (void)state;
    static const char *const texts[] = {"a,\0\n", "#\0 \n", "\"\0\",b"};
    static const size_t lengths[] = {4, 4, 5};
    for (size_t i = 0; i < COUNT(texts); i++) {
        desk d;
        pb_context_init(&d.ctx);
        pb_arena_init(&d.arena, &d.ctx);
        assert_int_equal(graph_from(&d.ctx, texts[i], lengths[i], SIZE_MAX, PB_FORMAT_CSV, &d.arena, &d.g), PB_EFORMAT);
        assert_non_null(strstr(d.ctx.error.message, "NUL"));
        shut(&d);
    }
}

static void long_lists_cross_the_buffer(void **state)
{
    (void)state;
    enum { EDGES = 20000 };
    char *text = malloc((size_t)EDGES * 40);
    size_t length = 0;
    for (int i = 0; i < EDGES; i++)
        length += (size_t)sprintf(text + length, "\"node \"\"%d\"\"\", \xc3\xa9%d\n", i, i);
    desk d;
    must_open(&d, text, SIZE_MAX);
    assert_int_equal(d.g->node_count, 2 * EDGES);
    assert_string_equal(pb_graph_name(d.g, 2 * EDGES - 2), "node \"19999\"");
    assert_string_equal(pb_graph_name(d.g, 2 * EDGES - 1), "\xc3\xa9"
                                                           "19999");
    shut(&d);
    free(text);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { NODE_COUNT = 2000 };
    char *text = malloc((size_t)NODE_COUNT * 60);
    size_t length = 0;
    for (int i = 1; i < NODE_COUNT; i++)
        length += (size_t)sprintf(text + length, "n%d,n%d\nnode,n%d,1,1,group=g%d\n", i - 1, i, i, i);
    const char *wrong = graph_refusals_are_clean(text, length, PB_FORMAT_CSV);
    if (wrong)
        fail_msg("%s", wrong);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_lists_make_nodes_on_first_mention),
        cmocka_unit_test(decimal_costs_scale_the_default_too),
        cmocka_unit_test(records_fill_every_field),
        cmocka_unit_test(records_take_what_is_for_machines),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(reader_refuses_nul),
        cmocka_unit_test(long_lists_cross_the_buffer),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
