/* test_graph_json.c -- pebble-graph/1: every field, every error at its place, and back to the same bytes. */
#define READER_FORMAT PB_FORMAT_JSON
#include "unit/reader_fixture.h"

#define FORMAT "\"format\":\"pebble-graph/1\""
#define MACHINE_HASH "dcd3fef5613d8a925c6a447ba80bbfa8beef90aea589bc7a4d1ac1778b10d916"

static const char every_field[] =
    "{" FORMAT ",\"name\":\"all\",\"cost_unit\":\"ns\",\"size_unit\":\"byte\",\"fixed_size\":7,\n"
    "\"nodes\":[{\"name\":\"x\",\"size\":8,\"given\":true},\n"
    "{\"name\":\"s\",\"size\":\"4\",\"given\":\"slow\"},\n"
    "{\"name\":\"y\",\"cost\":2,\"size\":8,\"workspace\":3,\"once\":true,\"keep\":true,\"inplace\":[\"x\",1],"
    "\"group\":\"layer 1\"},\n"
    "{\"name\":\"w\",\"size\":1,\"byproduct_of\":\"y\",\"once\":false},\n"
    "{\"cost\":\"18446744073709551613\",\"size\":0,\"given\":false,\"group\":\"layer 1\"}],\n"
    "\"edges\":[[\"x\",\"y\"],[1,2],[\"y\",4],[2,4]],\"targets\":[\"w\",4],\"order\":[0,\"y\",\"4\"]}";

static void reader_takes_every_field(void **state)
{
    (void)state;
    desk d;
    must_open(&d, every_field, SIZE_MAX);
    const pb_graph *g = d.g;
    assert_string_equal(g->name, "all");
    assert_string_equal(g->cost_unit, "ns");
    assert_string_equal(g->size_unit, "byte");
    assert_int_equal(g->fixed_size, 7);
    assert_int_equal(g->node_count, 5);
    assert_int_equal(g->edge_count, 3); /* repeated edges merge */
    assert_string_equal(pb_graph_name(g, 2), "y");
    assert_string_equal(pb_graph_name(g, 4), "4");
    assert_int_equal(g->cost[0], 0);
    assert_int_equal(g->cost[2], 2);
    assert_true(g->cost[4] == UINT64_C(18446744073709551613));
    assert_int_equal(g->size[1], 4);
    assert_int_equal(g->workspace[2], 3);
    assert_int_equal(g->flags[0] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW), PB_NODE_GIVEN);
    assert_int_equal(g->flags[1] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW), PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    assert_int_equal(g->flags[2] & (PB_NODE_ONCE | PB_NODE_KEEP), PB_NODE_ONCE | PB_NODE_KEEP);
    assert_int_equal(g->flags[3] & (PB_NODE_ONCE | PB_NODE_KEEP), 0);
    assert_int_equal(g->inplace_start[3] - g->inplace_start[2], 2);
    assert_int_equal(g->owner[3], 2);
    assert_string_equal(g->group_names[g->group[2]], "layer 1");
    assert_int_equal(g->group[2], g->group[4]);
    assert_true(g->targets_named);
    assert_int_equal(g->target_count, 2);
    assert_true(g->order_named);
    assert_int_equal(g->order_count, 2);
    shut(&d);
}

static void decimal_costs_are_counted_in_a_finer_unit(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *costs[3], *unit;
        uint64_t cost[3];
        uint32_t digits;
    } cases[] = {
        {"", {"1", "2", "3"}, "step", {1, 2, 3}, 0},
        {"", {"1.0", "2e0", "30e-1"}, "step", {1, 2, 3}, 0}, /* whole numbers, however they are written */
        {"", {"1.5e3", "0", "\"7\""}, "step", {1500, 0, 7}, 0},
        {"", {"1", "0.5", "2.50"}, "0.1 step", {10, 5, 25}, 1},
        {"", {"0.5", "0.25", "2"}, "0.01 step", {50, 25, 200}, 2},
        {"\"cost_unit\":\"flop\",", {"2e-1", "0.001", "\"0.5\""}, "0.001 flop", {200, 1, 500}, 3},
        {"\"cost_unit\":\"0.1 step\",", {"0.5", "1", "2"}, "0.01 step", {5, 10, 20}, 1},
        {"\"cost_unit\":\"ms\",", {"0.5", "1", "2"}, "us", {500, 1000, 2000}, 3},
        {"\"cost_unit\":\"s\",", {"0.0005", "1", "2"}, "us", {500, 1000000, 2000000}, 6},
        {"\"cost_unit\":\"\u00b5s\",", {"0.125", "1", "2"}, "ns", {125, 1000, 2000}, 3},
        {"\"cost_unit\":\"ns\",", {"0.5", "1", "2"}, "ps", {500, 1000, 2000}, 3},
        {"\"cost_unit\":\"ps\",", {"0.5", "1", "2"}, "0.1 ps", {5, 10, 20}, 1},
        {"\"cost_unit\":\"ns\",", {"0.0001", "1", "2"}, "0.0001 ns", {1, 10000, 20000}, 4},
        {"\"cost_unit\":\"ms\",", {"0.5", "1e18", "0"}, "0.1 ms", {5, UINT64_C(10000000000000000000), 0}, 1},
        {"", {"0.000000000001", "1", "0"}, "0.000000000001 step", {1, UINT64_C(1000000000000), 0}, 12},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t chunk = 1; chunk < 4; chunk += 2) {
            desk d;
            char text[400];
            snprintf(text, sizeof text,
                     "{" FORMAT
                     ",\"nodes\":[{\"size\":1,\"cost\":%s},{\"cost\":%s,\"size\":1},{\"size\":1,\"cost\":%s}],"
                     "%s\"edges\":[[0,1]]}",
                     cases[i].costs[0], cases[i].costs[1], cases[i].costs[2], cases[i].fields);
            must_open(&d, text, chunk);
            assert_string_equal(d.g->cost_unit, cases[i].unit);
            assert_int_equal(d.g->cost_digits, cases[i].digits);
            for (int v = 0; v < 3; v++)
                assert_true(d.g->cost[v] == cases[i].cost[v]);
            shut(&d);
        }
}

static void fields_come_in_any_order(void **state)
{
    (void)state;
    desk forward, backward;
    must_open(&forward,
              "{" FORMAT ",\"nodes\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\",\"size\":2,\"inplace\":[0]},"
              "{\"name\":\"p\",\"size\":3,\"byproduct_of\":1},{\"name\":\"c\",\"size\":4}],"
              "\"edges\":[[0,1],[1,3],[0,3]],\"targets\":[1,3],\"order\":[0,1,3]}",
              SIZE_MAX);
    must_open(&backward,
              "{\"order\":[0,\"b\",3],\"targets\":[\"c\",1],\"edges\":[[\"a\",\"b\"],[\"b\",3],[0,\"c\"]],"
              "\"nodes\":[{\"size\":1,\"name\":\"a\"},{\"inplace\":[\"a\"],\"size\":2,\"name\":\"b\"},"
              "{\"byproduct_of\":\"b\",\"name\":\"p\",\"size\":3},{\"size\":4,\"name\":\"c\"}]," FORMAT "}",
              SIZE_MAX);
    char one[PB_HASH_TEXT], other[PB_HASH_TEXT];
    assert_int_equal(pb_graph_hash(&forward.ctx, forward.g, one), PB_OK);
    assert_int_equal(pb_graph_hash(&backward.ctx, backward.g, other), PB_OK);
    assert_string_equal(one, other);
    shut(&forward);
    shut(&backward);
}

static void small_graphs_are_graphs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t nodes, edges;
    } cases[] = {
        {"{" FORMAT ",\"nodes\":[]}", 0, 0},
        {"{" FORMAT ",\"nodes\":[],\"edges\":[],\"targets\":[],\"order\":[]}", 0, 0},
        {"{" FORMAT ",\"nodes\":[{\"size\":0}]}", 1, 0},
        {"{" FORMAT ",\"nodes\":[{\"name\":\"\",\"size\":5}]}", 1, 0},
        {"{" FORMAT ",\"nodes\":[{\"size\":1},{\"size\":1},{\"size\":1},{\"size\":1}],\"edges\":[[0,1],[2,3]]}", 4, 2},
        {"\xef\xbb\xbf \n{" FORMAT " , \"nodes\" : [ { \"size\" : 1 } , {\"size\":1} ] ,\t\"edges\":[ [ 0 , 1 ] ]}\n",
         2, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        desk d;
        must_open(&d, cases[i].text, SIZE_MAX);
        assert_int_equal(d.g->node_count, cases[i].nodes);
        assert_int_equal(d.g->edge_count, cases[i].edges);
        shut(&d);
    }
}

static void unknown_fields_are_kept_as_written(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "{" FORMAT
              ",\"source\":{\"a\": [1, 2.50]},\"nodes\":[{\"size\":1,\"pos\":[ 1e3, -2 ],\"c\\n\":\"\\u00e9\"},"
              "{\"size\":1},{\"z\":null,\"size\":1}],\"license\":\"MIT\"}",
              SIZE_MAX);
    assert_string_equal(d.g->extra, "\"source\":{\"a\": [1, 2.50]},\"license\":\"MIT\"");
    assert_int_equal(d.g->extra_count, 2);
    assert_string_equal(d.g->extra_text[0], "\"pos\":[ 1e3, -2 ],\"c\\u000a\":\"\\u00e9\"");
    assert_int_equal(d.g->extra_node[1], 2);
    pb_buffer bytes;
    assert_int_equal(graph_bytes(&d.ctx, d.g, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_non_null(strstr(bytes.bytes, "{\"size\":1,\"pos\":[ 1e3, -2 ],\"c\\u000a\":\"\\u00e9\"}"));
    shut(&d);
}

static void many_unknown_fields_stay_linear(void **state)
{
    (void)state;
    enum { FIELDS = 200000 };
    char *text = malloc((size_t)FIELDS * 16 + 100);
    size_t length = (size_t)sprintf(text, "{" FORMAT ",\"nodes\":[{\"size\":1");
    for (int i = 0; i < FIELDS; i++)
        length += (size_t)sprintf(text + length, ",\"k%d\":%d", i, i % 10);
    sprintf(text + length, "}]}");
    desk d;
    assert_int_equal(open_text(&d, text, SIZE_MAX), PB_OK);
    shut(&d);
    sprintf(text + length, ",\"k77\":1}]}");
    assert_int_equal(open_text(&d, text, SIZE_MAX), PB_EFORMAT);
    assert_non_null(strstr(d.ctx.error.message, "\"k77\" appears twice"));
    assert_int_equal(d.ctx.error.column, length + 2);
    shut(&d);
    free(text);
}

#define MACHINE                                                                                            \
    "\"machine\":{\"time_unit\":\"us\",\"memories\":[{\"name\":\"hbm\",\"speed\":3},{\"name\":\"host\"}]," \
    "\"processors\":[{\"name\":\"gpu\",\"memory\":\"hbm\",\"rates\":{\"other\":5}}]}"

static const char for_machines[] =
    "{" FORMAT ",\"fixed\":{\"host\":\"6\",\"h b\\\"m\":0}," MACHINE ",\"nodes\":[\n"
    "{\"name\":\"x\",\"size\":3,\"given\":\"slow\",\"in\":\"host\"},\n"
    "{\"name\":\"a\",\"size\":2,\"flops\":0,\"bytes\":\"18446744073709551615\",\"op\":\"conv\",\"dtype\":\"float32\","
    "\"on\":\"gpu\"},\n"
    "{\"name\":\"b\",\"size\":2,\"times\":{\"gpu\":12,\"c p=u\":3},\"on\":[\"cpu\",\"c "
    "p=u\",\"gpu\"],\"keep\":\"host\"},\n"
    "{\"name\":\"c\",\"size\":1,\"keep\":true,\"op\":\"add\",\"times\":{}}],\"edges\":[[0,1],[1,2],[2,3]]}";

static const char *word_at(const pb_graph *g, uint32_t word) { return word == PB_NO_WORD ? "-" : g->words[word]; }

static void reader_takes_what_is_for_machines(void **state)
{
    (void)state;
    desk d;
    must_open(&d, for_machines, SIZE_MAX);
    const pb_graph *g = d.g;
    assert_int_equal(g->fixed_count, 2);
    assert_string_equal(word_at(g, g->fixed[1].word), "h b\"m");
    assert_int_equal(g->fixed[0].value, 6);
    assert_string_equal(g->machine->time_unit, "us");
    assert_string_equal(g->machine->memories[0].extra, "\"speed\":3");
    pb_work work = pb_graph_work(g, 1);
    assert_true(work.has_flops && work.flops == 0 && work.has_bytes && work.bytes == UINT64_MAX);
    assert_string_equal(work.op, "conv");
    assert_string_equal(work.dtype, "float32");
    assert_false(pb_graph_work(g, 3).has_flops);
    assert_null(pb_graph_work(g, 3).dtype);
    assert_null(pb_graph_work(g, 0).op);
    static const pb_note expected[] = {{PB_NOTE_IN, 0, 0},   {PB_NOTE_ON, 0, 0},  {PB_NOTE_TIME, 0, 12},
                                       {PB_NOTE_TIME, 0, 3}, {PB_NOTE_ON, 0, 0},  {PB_NOTE_ON, 0, 0},
                                       {PB_NOTE_ON, 0, 0},   {PB_NOTE_KEEP, 0, 0}};
    static const char *const names[] = {"host", "gpu", "gpu", "c p=u", "cpu", "c p=u", "gpu", "host"};
    assert_int_equal(g->note_start[g->node_count], COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(g->note[i].kind, expected[i].kind);
        assert_int_equal(g->note[i].value, expected[i].value);
        assert_string_equal(word_at(g, g->note[i].word), names[i]);
    }
    assert_true(g->flags[2] & PB_NODE_KEEP);
    shut(&d);
}

/* Each change of a field changes the hash; the order of nodes' members and unknown members of the machine do not. */
static void the_hash_covers_what_is_for_machines(void **state)
{
    (void)state;
#define ONE(graph, node) "{" FORMAT graph ",\"nodes\":[{\"size\":1" node "}]}"
    static const char *const texts[] = {
        ONE("", ""),
        ONE("", ",\"flops\":0"),
        ONE("", ",\"bytes\":0"),
        ONE("", ",\"flops\":1"),
        ONE("", ",\"op\":\"a\""),
        ONE("", ",\"dtype\":\"a\""),
        ONE("", ",\"times\":{\"a\":1}"),
        ONE("", ",\"times\":{\"a\":2}"),
        ONE("", ",\"on\":\"a\""),
        ONE("", ",\"on\":[\"a\",\"b\"]"),
        ONE("", ",\"keep\":true"),
        ONE("", ",\"keep\":\"a\""),
        ONE("", ",\"given\":true"),
        ONE("", ",\"given\":true,\"in\":\"a\""),
        ONE(",\"fixed\":{\"a\":1}", ""),
        ONE(",\"fixed\":{\"a\":2}", ""),
        ONE("," MACHINE, ""),
    };
    char hash[COUNT(texts)][PB_HASH_TEXT];
    desk d;
    for (size_t i = 0; i < COUNT(texts); i++) {
        must_open(&d, texts[i], SIZE_MAX);
        assert_int_equal(pb_graph_hash(&d.ctx, d.g, hash[i]), PB_OK);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(hash[i], hash[k]);
        shut(&d);
    }
    char again[PB_HASH_TEXT];
    must_open(&d, "{" MACHINE "," FORMAT ",\"nodes\":[{\"size\":1}]}", SIZE_MAX);
    assert_int_equal(pb_graph_hash(&d.ctx, d.g, again), PB_OK);
    assert_string_equal(again, hash[COUNT(texts) - 1]);
    shut(&d);
    /* docs/formats.md: the line of the machine */
    must_open(
        &d,
        ONE(",\"machine\":{\"memories\":[{\"name\":\"m\"}],\"processors\":[{\"name\":\"p\",\"memory\":\"m\"}]}", ""),
        SIZE_MAX);
    assert_int_equal(pb_graph_hash(&d.ctx, d.g, again), PB_OK);
    assert_string_equal(again, MACHINE_HASH);
    shut(&d);
}

#define NODES(text) "{" FORMAT ",\n\"nodes\":[" text "]}"
#define EDGES(text) "{" FORMAT ",\"nodes\":[{\"name\":\"a\",\"size\":1},{\"size\":1}],\n\"edges\":" text "}"

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"[1]", PB_EFORMAT, 1, 1, "expected a graph, which is an object, not an array"},
        {"{\"nodes\":[]}", PB_EFORMAT, 1, 1, "no field \"format\""},
        {"{" FORMAT "}", PB_EFORMAT, 1, 1, "no field \"nodes\""},
        {"{\"format\":\"pebble-graph/2\"}", PB_EFORMAT, 1, 11, "must be \"pebble-graph/1\""},
        {"{" FORMAT ",\"nodes\":[],\"nodes\":[]}", PB_EFORMAT, 1, 39, "\"nodes\" appears twice"},
        {"{" FORMAT ",\"nodes\":{}}", PB_EFORMAT, 1, 36, "\"nodes\" must be an array, not an object"},
        {"{" FORMAT ",\"nodes\":[],\"name\":3}", PB_EFORMAT, 1, 46, "\"name\" must be a string, not a number"},
        {"{" FORMAT ",\"nodes\":[],\"fixed_size\":-1}", PB_EFORMAT, 1, 52, "\"fixed_size\" must be a whole number"},
        {NODES("7"), PB_EFORMAT, 2, 10, "item 0 of \"nodes\" must be an object, not a number"},
        {NODES("{\"name\":\"a\"}"), PB_EFORMAT, 2, 18, "\"size\" of node 0 is missing"},
        {NODES("{\"size\":1},{}"), PB_EFORMAT, 2, 21, "\"size\" of node 1 is missing"},
        {NODES("{\"size\":1.0}"), PB_EFORMAT, 2, 18, "\"size\" of node 0 must be a whole number"},
        {NODES("{\"size\":1.0}"), PB_EFORMAT, 2, 18, "in digits, not 1.0; write 1"},
        {NODES("{\"size\":1.25}"), PB_EFORMAT, 2, 18,
         "not 1.25; count in a finer size_unit: multiply every size by 100"},
        {NODES("{\"cost\":-0.5}"), PB_EFORMAT, 2, 18, "must be a number of 0 or more, as in 3 or 0.25, not -0.5"},
        {NODES("{\"cost\":\"1x\"}"), PB_EFORMAT, 2, 18, "must be a number of 0 or more"},
        {NODES("{\"cost\":0.30000000000000004}"), PB_EFORMAT, 2, 18,
         "at most 12 decimals, not 0.30000000000000004; round it"},
        {NODES("{\"cost\":1e300}"), PB_EFORMAT, 2, 18, "below 2^64"},
        {NODES("{\"cost\":18446744073709551615,\"size\":1},{\"cost\":0.1}"), PB_ERANGE, 2, 57,
         "costs with decimals are counted in 10^-1 of their unit, and then one of them exceeds 2^64; round the costs"},
        {NODES("{\"cost\":0.1,\"size\":1},{\"cost\":18446744073709551615}"), PB_ERANGE, 2, 40, "exceeds 2^64"},
        {NODES("{\"cost\":1e18,\"size\":1},{\"cost\":1e18,\"size\":1},{\"cost\":0.1,\"size\":1}"), PB_ERANGE, 0, 0,
         "exceeds 2^64; use coarser units, or round costs to fewer decimals"},
        {NODES("{\"size\":1e3}"), PB_EFORMAT, 2, 18, "not 1e3"},
        {NODES("{\"size\":-1}"), PB_EFORMAT, 2, 18, "not -1"},
        {NODES("{\"size\":\"\"}"), PB_EFORMAT, 2, 18, "must be a whole number"},
        {NODES("{\"size\":\"1x\"}"), PB_EFORMAT, 2, 18, "not 1x"},
        {NODES("{\"size\":18446744073709551616}"), PB_EFORMAT, 2, 18, "to 2^64-1"},
        {NODES("{\"size\":null}"), PB_EFORMAT, 2, 18, "must be a whole number, not null"},
        {NODES("{\"size\":1,\"cost\":[]}"), PB_EFORMAT, 2, 27, "\"cost\" of node 0 must be a number, not an array"},
        {NODES("{\"size\":1,\"once\":1}"), PB_EFORMAT, 2, 27, "\"once\" of node 0 must be a boolean"},
        {NODES("{\"size\":1,\"given\":\"fast\"}"), PB_EFORMAT, 2, 28, "must be true, false or \"slow\""},
        {NODES("{\"size\":1,\"given\":2}"), PB_EFORMAT, 2, 28, "must be true, false or \"slow\""},
        {NODES("{\"size\":1,\"group\":2}"), PB_EFORMAT, 2, 28, "\"group\" of node 0 must be a string"},
        {NODES("{\"size\":1,\"name\":\"a\\u0000\"}"), PB_EFORMAT, 2, 27, "NUL"},
        {NODES("{\"size\":1,\"inplace\":0}"), PB_EFORMAT, 2, 30, "\"inplace\" of node 0 must be an array"},
        {NODES("{\"size\":1,\"inplace\":[true]}"), PB_EFORMAT, 2, 31, "by its index or its name"},
        {NODES("{\"size\":1,\"inplace\":[7]}"), PB_EGRAPH, 2, 31, "no node 7: the graph has 1 nodes"},
        {NODES("{\"size\":1,\"byproduct_of\":\"z\"}"), PB_EGRAPH, 2, 35, "no node is named \"z\"; check the spelling"},
        {NODES("{\"size\":1,\"size\":1}"), PB_EFORMAT, 2, 20, "\"size\" of node 0 appears twice"},
        {NODES("{\"name\":\"a\",\"size\":1},\n{\"name\":\"a\",\"size\":1}"), PB_EGRAPH, 3, 9,
         "two nodes are named \"a\""},
        {NODES("{\"name\":\"1\",\"size\":1},\n{\"size\":1}"), PB_EGRAPH, 3, 1, "two nodes are named \"1\""},
        {NODES("{\"size\":1,\"flops\":1.5}"), PB_EFORMAT, 2, 28, "\"flops\" of node 0 must be a whole number"},
        {NODES("{\"size\":1,\"bytes\":-1}"), PB_EFORMAT, 2, 28, "\"bytes\" of node 0 must be a whole number"},
        {NODES("{\"size\":1,\"op\":\"\"}"), PB_EFORMAT, 2, 25, "\"op\" of node 0 must not be empty"},
        {NODES("{\"size\":1,\"dtype\":4}"), PB_EFORMAT, 2, 28, "\"dtype\" of node 0 must be a string"},
        {NODES("{\"size\":1,\"times\":[]}"), PB_EFORMAT, 2, 28, "\"times\" of node 0 must be an object"},
        {NODES("{\"size\":1,\"times\":{\"\":1}}"), PB_EFORMAT, 2, 29, "has a name that is empty"},
        {NODES("{\"size\":1,\"times\":{\"a\":-1}}"), PB_EFORMAT, 2, 33, "\"times\" of node 0 must be a whole number"},
        {NODES("{\"size\":1,\"times\":{\"a\":1,\"a\":1}}"), PB_EGRAPH, 0, 0,
         "node \"0\": the field \"times\" names a part of the machine twice; remove one"},
        {NODES("{\"size\":1,\"given\":true,\"times\":{\"a\":1}}"), PB_EGRAPH, 0, 0,
         "the field \"times\" is for computed nodes only"},
        {NODES("{\"size\":1,\"on\":[]}"), PB_EFORMAT, 2, 25, "\"on\" of node 0 must name at least one processor"},
        {NODES("{\"size\":1,\"on\":{}}"), PB_EFORMAT, 2, 25, "must be the name of a processor or a list of names"},
        {NODES("{\"size\":1,\"on\":[1]}"), PB_EFORMAT, 2, 26, "\"on\" of node 0 must be a string, not a number"},
        {NODES("{\"size\":1,\"on\":[\"a\",\"a\"]}"), PB_EGRAPH, 0, 0, "the field \"on\" names a part"},
        {NODES("{\"size\":1,\"in\":\"m\"}"), PB_EGRAPH, 0, 0, "the field \"in\" is for given values only"},
        {NODES("{\"size\":1,\"keep\":\"true\"}"), PB_EGRAPH, 2, 10,
         "\"true\" is not the name of a processor or memory"},
        {NODES("{\"size\":1,\"keep\":1}"), PB_EFORMAT, 2, 27, "\"keep\" of node 0 must be a boolean"},
        {"{" FORMAT ",\"fixed\":[]}", PB_EFORMAT, 1, 36, "\"fixed\" must be an object"},
        {"{" FORMAT ",\"fixed\":{\"a\":1,\"a\":2},\"nodes\":[]}", PB_EGRAPH, 0, 0, "the memory \"a\" twice"},
        {"{" FORMAT ",\"machine\":\"a100\"}", PB_EFORMAT, 1, 38, "expected a machine, which is an object"},
        {"{" FORMAT ",\n\"machine\":{\"memories\":[]}}", PB_EFORMAT, 2, 11, "has no memories; add at least one"},
        {EDGES("7"), PB_EFORMAT, 2, 9, "\"edges\" must be an array"},
        {EDGES("[[0,1],7]"), PB_EFORMAT, 2, 16, "item 1 of \"edges\" must be an array"},
        {EDGES("[[0]]"), PB_EFORMAT, 2, 10, "exactly two nodes"},
        {EDGES("[[]]"), PB_EFORMAT, 2, 10, "exactly two nodes"},
        {EDGES("[[0,1,1]]"), PB_EFORMAT, 2, 10, "exactly two nodes"},
        {EDGES("[[0,1],[0,2]]"), PB_EGRAPH, 2, 19, "no node 2"},
        {EDGES("[[0, 2]]"), PB_EGRAPH, 2, 14, "no node 2"},
        {EDGES("[[0,-1]]"), PB_EFORMAT, 2, 13, "item 0 of \"edges\" must be a whole number"},
        {EDGES("[[0,01]]"), PB_EFORMAT, 2, 13, "not a JSON number"},
        {EDGES("[[0,\"b\"]]"), PB_EGRAPH, 2, 13, "no node is named \"b\"; check the spelling"},
        {EDGES("[[0,null]]"), PB_EFORMAT, 2, 13, "not by null"},
        {EDGES("[[0,0]]"), PB_EGRAPH, 2, 10, "to itself"},
        {EDGES("[[0,1],[1,0]]"), PB_EGRAPH, 0, 0, "cycle"},
        {EDGES("[],\"targets\":[5]"), PB_EGRAPH, 2, 23, "no node 5"},
        {EDGES("[],\"order\":[{}]"), PB_EFORMAT, 2, 21, "item 0 of \"order\""},
        {"{\"edges\":[[0,1],\n[0,9],[3,1]],\"nodes\":[{\"size\":1}]," FORMAT "}", PB_EGRAPH, 2, 4, "no node 9"},
        {"{\"edges\":[[0,4000000000]]}", PB_EGRAPH, 1, 14, "at most"},
        {"{\"order\":[\"a\",\n \"b\"],\"nodes\":[{\"name\":\"a\",\"size\":1}]," FORMAT "}", PB_EGRAPH, 2, 2,
         "no node is named \"b\"; check the spelling"},
        {"{" FORMAT ",\"nodes\":[]}\n]", PB_EFORMAT, 2, 1, "nothing after"},
    };
    EXPECT_ERRORS(cases);
}

static void every_cut_of_a_file_is_refused(void **state)
{
    (void)state;
    size_t length = strlen(every_field);
    for (size_t cut = 0; cut < length; cut++) {
        desk d;
        pb_context_init(&d.ctx);
        pb_arena_init(&d.arena, &d.ctx);
        assert_int_equal(graph_from(&d.ctx, every_field, cut, 50, PB_FORMAT_JSON, &d.arena, &d.g), PB_EFORMAT);
        shut(&d);
    }
}

static void writer_leaves_defaults_out(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "{" FORMAT ",\"nodes\":[{\"cost\":0,\"size\":\"9007199254740991\",\"workspace\":0,\"given\":false,"
              "\"inplace\":[]},{\"name\":\"1\",\"cost\":\"9007199254740992\",\"size\":2}],\"edges\":[[0,1],[\"0\",1]]}",
              SIZE_MAX);
    pb_buffer bytes;
    assert_int_equal(graph_bytes(&d.ctx, d.g, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_string_equal(bytes.bytes, "{" FORMAT ",\"cost_unit\":\"step\",\"size_unit\":\"unit\",\n\"nodes\":[\n"
                                     "{\"size\":9007199254740991},\n{\"cost\":\"9007199254740992\",\"size\":2}],\n"
                                     "\"edges\":[\n[0,1]]}\n");
    shut(&d);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    /* Long enough for every list to grow; names before nodes, so that references wait. */
    enum { NODE_COUNT = 3000 };
    char *text = malloc((size_t)NODE_COUNT * 100);
    size_t length = (size_t)sprintf(text, "{\"x\":[1],\"edges\":[");
    for (int i = 1; i < NODE_COUNT; i++)
        length += (size_t)sprintf(text + length, "%s[\"n%d\",%d]", i > 1 ? "," : "", i - 1, i);
    length += (size_t)sprintf(text + length, "],\"order\":[\"n0\"");
    for (int i = 1; i < NODE_COUNT; i++)
        length += (size_t)sprintf(text + length, ",%d", i);
    length += (size_t)sprintf(text + length, "]," FORMAT ",\"nodes\":[");
    for (int i = 0; i < NODE_COUNT; i++)
        length += (size_t)sprintf(text + length, "%s{\"name\":\"n%d\",\"size\":1,\"k\\n\":%d,\"group\":\"g%d\"%s}",
                                  i ? "," : "", i, i, i % 50, i == 1 ? ",\"inplace\":[\"n0\"]" : "");
    length += (size_t)sprintf(text + length, "]}");
    uint64_t refuse = 0;
    pb_status status = PB_ENOMEM;
    while (status == PB_ENOMEM) {
        failing_allocator allocator = {.refuse = ++refuse};
        pb_context ctx;
        failing_context(&ctx, &allocator);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        const pb_graph *g = NULL;
        status = graph_from(&ctx, text, length, 1000, PB_FORMAT_JSON, &arena, &g);
        if (status == PB_ENOMEM) {
            assert_null(g);
            assert_non_null(strstr(ctx.error.message, "memory"));
            assert_int_equal(ctx.error.line, 0);
        }
        pb_arena_release(&arena);
        assert_int_equal(allocator.blocks, 0);
        assert_int_equal(ctx.memory_used, 0);
    }
    assert_int_equal(status, PB_OK);
    assert_true(refuse > 20);
    free(text);
}

static void writer_passes_on_a_failing_sink(void **state)
{
    (void)state;
    desk d;
    must_open(&d, every_field, SIZE_MAX);
    failing_allocator allocator = {.refuse = 1};
    pb_context broken;
    failing_context(&broken, &allocator);
    pb_arena arena;
    pb_arena_init(&arena, &broken);
    pb_buffer bytes;
    for (pb_format format = PB_FORMAT_JSON; format <= PB_FORMAT_CSV; format++)
        assert_int_equal(graph_bytes(&d.ctx, d.g, format, &arena, &bytes), PB_ENOMEM);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_takes_every_field),
        cmocka_unit_test(reader_takes_what_is_for_machines),
        cmocka_unit_test(the_hash_covers_what_is_for_machines),
        cmocka_unit_test(decimal_costs_are_counted_in_a_finer_unit),
        cmocka_unit_test(fields_come_in_any_order),
        cmocka_unit_test(small_graphs_are_graphs),
        cmocka_unit_test(unknown_fields_are_kept_as_written),
        cmocka_unit_test(many_unknown_fields_stay_linear),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(every_cut_of_a_file_is_refused),
        cmocka_unit_test(writer_leaves_defaults_out),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
        cmocka_unit_test(writer_passes_on_a_failing_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
