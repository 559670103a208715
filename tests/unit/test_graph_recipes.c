/* test_graph_recipes.c -- recipes in files: every field, every error at its place, hash, prices, and moves that use them. */
#define READER_FORMAT PB_FORMAT_JSON
#include "unit/reader_fixture.h"

#include "support/move_text.h"

#define FORMAT "\"format\":\"pebble-graph/1\""
#define NODE(recipes) "{" FORMAT ",\n\"nodes\":[{\"name\":\"a\",\"size\":1},{\"size\":1,\"recipes\":" recipes "}]}"

/* a -> b -> c; b comes back from c, which is named before it exists, or from nothing. */
static const char three[] =
    "{" FORMAT ",\"name\":\"three\",\"nodes\":[{\"name\":\"a\",\"size\":2,\"given\":true,\n"
    "\"recipes\":[{\"inputs\":[],\"cost\":7,\"times\":{\"gpu\":3,\"cpu\":90}}]},\n"
    "{\"name\":\"b\",\"size\":1,\"cost\":4,\"once\":true,\"recipes\":[\n"
    "{\"name\":\"inverse\",\"inputs\":[\"c\",\"a\",\"c\"],\"cost\":1,\"workspace\":3,\"inplace\":[\"c\"],\"seen\":[1, "
    "2]},\n"
    "{\"name\":\"seed\",\"inputs\":[],\"flops\":10,\"bytes\":20,\"op\":\"random\",\"dtype\":\"float32\"}]},\n"
    "{\"name\":\"c\",\"size\":1,\"cost\":2}],\"edges\":[[0,1],[\"b\",\"c\"]]}";

static void reader_takes_every_field(void **state)
{
    (void)state;
    desk d;
    must_open(&d, three, SIZE_MAX);
    const pb_graph *g = d.g;
    assert_int_equal(pb_graph_recipes(g, 0), 1);
    assert_int_equal(pb_graph_recipes(g, 1), 2);
    assert_int_equal(pb_graph_recipes(g, 2), 0);
    const pb_recipe *inverse = &g->recipe[g->recipe_start[1]], *seed = inverse + 1;
    assert_string_equal(inverse->name, "inverse");
    assert_int_equal(inverse->in_count, 2);
    assert_int_equal(inverse->in[0], 0);
    assert_int_equal(inverse->in[1], 2);
    assert_int_equal(inverse->inplace_count, 1);
    assert_int_equal(inverse->inplace[0], 2);
    assert_int_equal(inverse->cost, 1);
    assert_int_equal(inverse->workspace, 3);
    assert_string_equal(inverse->extra, "\"seen\":[1, 2]");
    assert_int_equal(seed->in_count, 0);
    assert_int_equal(seed->cost, 0);
    pb_work work = pb_graph_work_of(g, &seed->work);
    assert_true(work.has_flops && work.has_bytes && work.flops == 10 && work.bytes == 20);
    assert_string_equal(work.op, "random");
    assert_string_equal(work.dtype, "float32");
    pb_way way = pb_graph_way(g, 0, 1), own = pb_graph_way(g, 2, 0);
    assert_int_equal(way.cost, 7);
    assert_int_equal(own.in_count, 1);
    assert_int_equal(own.in[0], 1);
    shut(&d);
}

/* Worked out from docs/formats.md with another SHA-256. */
static void recipes_have_lines_of_their_own_in_the_hash(void **state)
{
    (void)state;
    desk d;
    char hash[PB_HASH_TEXT], form[PB_HASH_TEXT];
    must_open(&d, three, SIZE_MAX);
    assert_int_equal(pb_graph_hash(&d.ctx, d.g, hash), PB_OK);
    assert_string_equal(hash, "ac82f9117f560f8dcad7fc77b3d26129537099b48c98639860ffd2f219fdfa49");
    assert_int_equal(pb_graph_form_hash(&d.ctx, d.g, form), PB_OK);
    assert_string_equal(form, "a4fc82c3f793d2c28a9b4b5e573e539483b99e6b8b37ca0664ed28926d3a6545");
    shut(&d);
}

static void decimal_costs_count_in_recipes_too(void **state)
{
    (void)state;
    desk d;
    must_open(&d, NODE("[{\"inputs\":[0],\"cost\":2},{\"inputs\":[\"a\"],\"cost\":0.25}]"), SIZE_MAX);
    assert_int_equal(d.g->cost_digits, 2);
    assert_int_equal(pb_graph_way(d.g, 1, 1).cost, 200);
    assert_int_equal(pb_graph_way(d.g, 1, 2).cost, 25);
    shut(&d);
}

static void bad_recipes_are_refused_at_their_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {NODE("{}"), PB_EFORMAT, 2, 52, "\"recipes\" of node 1 must be an array"},
        {NODE("[7]"), PB_EFORMAT, 2, 53, "must be an object"},
        {NODE("[{\"cost\":1}]"), PB_EFORMAT, 2, 53, "\"inputs\" of recipe 1 is missing"},
        {NODE("[{\"inputs\":[9]}]"), PB_EGRAPH, 2, 64, "no node 9"},
        {NODE("[{\"inputs\":[\"z\"]}]"), PB_EGRAPH, 2, 64, "no node is named \"z\""},
        {NODE("[{\"inputs\":[1]}]"), PB_EGRAPH, 0, 0, "a recipe of node \"1\" reads that node itself"},
        {NODE("[{\"name\":\"r\",\"inputs\":[],\"inplace\":[0]}]"), PB_EGRAPH, 0, 0,
         "a recipe r of node \"1\" lists a node in `inplace` that is not one of its inputs"},
        {NODE("[{\"inputs\":[],\"inputs\":[]}]"), PB_EFORMAT, 2, 66, "\"inputs\" of recipe 1 appears twice"},
        {NODE("[{\"inputs\":[],\"cost\":-1}]"), PB_EFORMAT, 2, 73, "\"cost\" of recipe 1 must"},
        {NODE("[{\"inputs\":[]},{\"inputs\":[],\"workspace\":1.5}]"), PB_EFORMAT, 2, 92,
         "\"workspace\" of recipe 2 must"},
        {NODE("[{\"inputs\":[],\"times\":{\"a\":1,\"a\":2}}]"), PB_EGRAPH, 0, 0, "names a processor twice"},
        {NODE("[{\"inputs\":[],\"cost\":\"18446744073709551615\"},{\"inputs\":[],\"cost\":1}]"), PB_ERANGE, 0, 0,
         "exceeds 2^64"},
        {NODE("[{\"inputs\":[],\"workspace\":\"18446744073709551615\"}]"), PB_ERANGE, 0, 0, "exceeds 2^64"},
    };
    EXPECT_ERRORS(cases);
}

static void a_node_has_at_most_255_recipes(void **state)
{
    (void)state;
    for (int count = 255; count <= 256; count++) {
        char *text = malloc(256 * 20 + 200);
        size_t length = (size_t)sprintf(text, "{" FORMAT ",\"nodes\":[{\"size\":1,\"recipes\":[");
        for (int i = 0; i < count; i++)
            length += (size_t)sprintf(text + length, "%s{\"inputs\":[]}", i ? "," : "");
        sprintf(text + length, "]}]}");
        desk d;
        assert_int_equal(open_text(&d, text, SIZE_MAX), count == 255 ? PB_OK : PB_EGRAPH);
        shut(&d);
        free(text);
    }
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { NODE_COUNT = 2000 }; /* long enough for every list to grow */
    char *text = malloc((size_t)NODE_COUNT * 120);
    size_t length = (size_t)sprintf(text, "{" FORMAT ",\"nodes\":[");
    for (int i = 0; i < NODE_COUNT; i++)
        length +=
            (size_t)sprintf(text + length,
                            "%s{\"size\":1,\"recipes\":[{\"name\":\"r%d\",\"inputs\":[\"%d\"],\"op\":\"o%d\",\"x\":1,"
                            "\"inplace\":[%d],\"times\":{\"p\":1}}]}",
                            i ? "," : "", i, NODE_COUNT - 1 - i, i, NODE_COUNT - 1 - i);
    length += (size_t)sprintf(text + length, "]}");
    const char *fault = graph_refusals_are_clean(text, length, PB_FORMAT_JSON);
    free(text);
    if (fault)
        fail_msg("%s", fault);
}

static void a_machine_prices_recipes_like_nodes(void **state)
{
    (void)state;
    desk d;
    must_open(&d, three, SIZE_MAX);
    static const pb_machine_rate rates[] = {{"other", 1000000000}};
    pb_machine_processor gpu = {.name = "gpu", .overhead = 5, .bandwidth = 1000000000, .rates = rates, .rate_count = 1};
    pb_machine_memory memory = {.name = "m", .cap = PB_UNLIMITED};
    pb_machine m = {.name = "m",
                    .time_unit = "ns",
                    .per_second = 1000000000,
                    .memories = &memory,
                    .memory_count = 1,
                    .processors = &gpu,
                    .processor_count = 1};
    const pb_graph *priced;
    assert_int_equal(pb_graph_price(&d.ctx, d.g, &m, &d.arena, &priced), PB_OK);
    assert_int_equal(pb_graph_way(priced, 0, 1).cost, 3);      /* measured */
    assert_int_equal(pb_graph_way(priced, 1, 1).cost, 1);      /* its cost */
    assert_int_equal(pb_graph_way(priced, 1, 2).cost, 5 + 20); /* by the roofline */
    char before[PB_HASH_TEXT], after[PB_HASH_TEXT];
    assert_int_equal(pb_graph_hash(&d.ctx, d.g, before), PB_OK);
    assert_int_equal(pb_graph_hash(&d.ctx, priced, after), PB_OK);
    assert_string_equal(before, after);
    shut(&d);
}

static pb_schedule schedule_of(desk *d, const char *moves)
{
    pb_schedule s = {.graph_name = "three",
                     .game = PB_GAME_REMAT,
                     .cap = 9,
                     .strategy = "s",
                     .version = "0",
                     .weights = PB_WEIGHTS_DEFAULT,
                     .threads = 1,
                     .outcome = PB_FOUND};
    pb_moves_init(&s.moves, &d->arena);
    moves_from_text(moves, &s.moves);
    return s;
}

static void moves_by_recipe_are_written_and_read(void **state)
{
    (void)state;
    desk d;
    must_open(&d, three, SIZE_MAX);
    pb_schedule s = schedule_of(&d, "c1 c2 f1 c1@1/2 f1 c1@2");
    const char *fault = schedule_round_trips(&d.ctx, &s, d.g);
    if (fault)
        fail_msg("%s", fault);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_non_null(strstr(bytes.bytes, "[\"compute\",1,{\"over\":2,\"by\":1}]"));
    assert_non_null(strstr(bytes.bytes, "[\"compute\",1,{\"by\":2}]"));
    for (int binary = 0; binary < 2; binary++) {
        pb_schedule back;
        pb_format format = binary ? PB_FORMAT_BINARY : PB_FORMAT_JSON;
        assert_int_equal(schedule_bytes(&d.ctx, &s, format, &d.arena, &bytes), PB_OK);
        assert_int_equal(schedule_from(&d.ctx, bytes.bytes, bytes.length, 1, format, d.g, &d.arena, &back), PB_OK);
        assert_int_equal(back.moves.move[3].by, 1);
        assert_int_equal(pb_moves_over(&back.moves, 3), 2);
        assert_int_equal(back.moves.move[5].by, 2);
    }
    shut(&d);
}

static void moves_by_impossible_recipes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *move, *words;
    } cases[] = {
        {"[\"compute\",1,{\"by\":0}]", "must be from 1 to 255, not 0"},
        {"[\"compute\",1,{\"by\":256}]", "must be from 1 to 255, not 256"},
        {"[\"compute\",1,{\"by\":1,\"also\":[2]}]", "a recipe produces no by-products"},
        {"[\"compute\",1,{\"by\":1,\"in\":\"borrow\"}]", "no recipe is used"},
        {"[\"compute\",1,{\"recipe\":1}]", "unknown word \"recipe\""},
    };
    desk d;
    must_open(&d, three, SIZE_MAX);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        pb_schedule s;
        int length = snprintf(text, sizeof text, "{\"format\":\"pebble-schedule/1\",\"game\":\"remat\",\"moves\":[%s]}",
                              cases[i].move);
        assert_int_equal(schedule_from(&d.ctx, text, (size_t)length, SIZE_MAX, PB_FORMAT_JSON, d.g, &d.arena, &s),
                         PB_EFORMAT);
        if (!strstr(d.ctx.error.message, cases[i].words))
            fail_msg("%s: %s", cases[i].move, d.ctx.error.message);
    }
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_takes_every_field),
        cmocka_unit_test(recipes_have_lines_of_their_own_in_the_hash),
        cmocka_unit_test(decimal_costs_count_in_recipes_too),
        cmocka_unit_test(bad_recipes_are_refused_at_their_place),
        cmocka_unit_test(a_node_has_at_most_255_recipes),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
        cmocka_unit_test(a_machine_prices_recipes_like_nodes),
        cmocka_unit_test(moves_by_recipe_are_written_and_read),
        cmocka_unit_test(moves_by_impossible_recipes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
