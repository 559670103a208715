/* test_graph_bench.c -- ISCAS circuits: which gates become nodes, what is free, errors at their places. */
#define READER_FORMAT PB_FORMAT_BENCH
#include "unit/circuit_fixture.h"

static const char c17[] = "# c17\nINPUT(1)\nINPUT(2)\nINPUT(3)\nINPUT(6)\nINPUT(7)\n\nOUTPUT(22)\nOUTPUT(23)\n\n"
                          "10 = NAND(1, 3)\n11 = NAND(3, 6)\n16 = NAND(2, 11)\n19 = NAND(11, 7)\n"
                          "22 = NAND(10, 16)\n23 = NAND(16, 19)\n";

static void c17_has_six_gates(void **state)
{
    (void)state;
    static const size_t chunks[] = {SIZE_MAX, 1, 5};
    for (size_t i = 0; i < COUNT(chunks); i++) {
        desk d;
        must_open(&d, c17, chunks[i]);
        assert_int_equal(d.g->node_count, 6);
        assert_int_equal(d.g->edge_count, 6);
        assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "22 23");
        assert_string_equal(inputs_of(&d, "22"), "10 16");
        assert_string_equal(inputs_of(&d, "19"), "11");
        assert_string_equal(d.g->size_unit, "pebble");
        for (pb_node v = 0; v < 6; v++)
            assert_true(d.g->cost[v] == 1 && d.g->size[v] == 1 && !(d.g->flags[v] & PB_NODE_GIVEN));
        shut(&d);
    }
}

static void inputs_are_free_given_or_computed(void **state)
{
    (void)state;
    desk d;
    open_inputs(&d, c17, PB_INPUTS_GIVEN);
    assert_int_equal(d.g->node_count, 11);
    assert_int_equal(d.g->edge_count, 12);
    assert_int_equal(d.g->needed_cost, 6);
    assert_string_equal(inputs_of(&d, "16"), "2 11");
    assert_true(d.g->flags[pb_graph_find(d.g, "2")] & PB_NODE_GIVEN);
    assert_int_equal(d.g->target_count, 2);
    shut(&d);
    open_inputs(&d, c17, PB_INPUTS_COMPUTED);
    assert_int_equal(d.g->node_count, 11);
    assert_int_equal(d.g->needed_cost, 11);
    shut(&d);
    /* Nobody reads b: it is no node, counted or not. */
    open_inputs(&d, "INPUT(a)\nINPUT(b)\nz = AND(a, a)\n", PB_INPUTS_COMPUTED);
    assert_string_equal(all_of(&d), "a z");
    shut(&d);
}

static void graphs_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *nodes, *of, *inputs, *targets;
    } cases[] = {
        {"", "", NULL, NULL, ""},
        {"# nothing\n\n", "", NULL, NULL, ""},
        /* Used before it is defined; lower case; blanks; a list over several lines. */
        {"OUTPUT(z)\nz = nand ( y ,\n  x )\ny=and(a,b)\r\nx = OR2(a, b)\nINPUT( a )\nINPUT(b)", "z y x", "z", "y x",
         "z"},
        /* Buffers, inverters and gates of one input are wires. */
        {"INPUT(a)\nINPUT(b)\ng = XOR(a, b)\nh = NOT(g)\ni = BUFF(h)\nj = AND(i)\nk = j\nOUTPUT(z)\nz = OR(k, a)\n",
         "g z", "z", "g", "z"},
        /* The table dialect: constants are no nodes, outputs that are wires mean what they stand for. */
        {"INPUT(n1)\nINPUT(n2)\nOUTPUT(po0)\nn0 = gnd\nn6 = LUT 0xb2 (n0, n1, n2)\nn7 = LUT 0x8e (n0, n6, n2)\n"
         "po0 = LUT 0x2 (n7)\n",
         "n6 n7", "n7", "n6", "n7"},
        {"INPUT(a)\nz = MAJ(a, v, w)\nv = VDD()\nw = one\n", "z", "z", "", "z"},
        {"INPUT(s)\nINPUT(a)\nINPUT(b)\nx = XNOR(a, b)\nz = MUX(s, x, b)\n", "x z", "z", "x", "z"},
        /* A register is cut: one clock step, from what it holds to what it will hold. */
        {"INPUT(a)\nOUTPUT(z)\nq = DFF(d)\nd = XOR(a, q)\nz = AND(q, d)\n", "d z", "z", "d", "d z"},
        /* Outputs that are inputs or constants are no targets; two that are one value are one target. */
        {"INPUT(a)\nOUTPUT(a)\nOUTPUT(v)\nOUTPUT(z)\nOUTPUT(y)\nv = GND\nz = AND(a, a)\ny = NOT(z)\n", "z", "z", "",
         "z"},
        {"INPUT(a)\ninput = AND(a, a)\noutput = OR(input, a)\n", "input output", "output", "input", "output"},
        /* A gate that reads one value twice has one edge. */
        {"INPUT(a)\nb = AND(a, a)\nc = NOT(b)\nd = XOR(b, c)\n", "b d", "d", "b", "d"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t chunk = 1; chunk < 1000; chunk += 998) {
            desk d;
            must_open(&d, cases[i].text, chunk);
            assert_string_equal(all_of(&d), cases[i].nodes);
            if (cases[i].of)
                assert_string_equal(inputs_of(&d, cases[i].of), cases[i].inputs);
            assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), cases[i].targets);
            shut(&d);
        }
}

static void an_output_that_is_an_input_is_a_target_when_inputs_are_computed(void **state)
{
    (void)state;
    static const char text[] = "INPUT(a)\nINPUT(b)\nOUTPUT(c)\nOUTPUT(z)\nc = NOT(b)\nz = AND(a, a)\n";
    desk d;
    open_inputs(&d, text, PB_INPUTS_COMPUTED);
    assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "b z");
    shut(&d);
    open_inputs(&d, text, PB_INPUTS_GIVEN);
    assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "z");
    assert_string_equal(all_of(&d), "a z");
    shut(&d);
}

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"INPUT(a)\nz = AND(a, b)\n", PB_EGRAPH, 2, 12, "\"b\" is used, but no input"},
        {"OUTPUT(z)\n", PB_EGRAPH, 1, 8, "\"z\" is used"},
        {"INPUT(a)\n INPUT(a)\n", PB_EGRAPH, 2, 8, "\"a\" is also defined in line 1; remove one"},
        {"INPUT(a)\na = AND(a, a)\n", PB_EGRAPH, 2, 1, "also defined in line 1"},
        {"INPUT(a)\nz = AND(z, a)\n", PB_EGRAPH, 2, 1, "\"z\" reads its own value"},
        {"INPUT(a)\ny = NOT(z)\nz = AND(y, a)\n", PB_EGRAPH, 3, 1, "\"z\" reads its own value"},
        {"INPUT(a)\ny = OR(z, a)\nz = AND(y, a)\n", PB_EGRAPH, 0, 0, "cycle"},
        {"y = NOT(z)\nz = BUF(y)\n", PB_EGRAPH, 1, 1, "cycle of buffers"},
        {"INPUT(a)\nOUTPUT(a)\n", PB_EGRAPH, 0, 0, "nothing to compute"},
        {"INPUT(a)\nz = AND(a", PB_EFORMAT, 2, 10, "expected ',' or ')', not the end of the file"},
        {"INPUT(a)\nz = AND(a,", PB_EFORMAT, 2, 11, "name of a signal"},
        {"INPUT(a", PB_EFORMAT, 1, 8, "expected ')'"},
        {"INPUT(a)\nz = AND(a a)\n", PB_EFORMAT, 2, 11, "expected ',' or ')', not \"a\""},
        {"INPUT(a)\nz = FROB(a, a)\n", PB_EFORMAT, 2, 5, "there is no gate \"FROB\""},
        {"INPUT(a)\nz = NOT(a, a)\n", PB_EFORMAT, 2, 5, "not takes 1 input, not 2"},
        {"INPUT(a)\nz = MUX(a, a)\n", PB_EFORMAT, 2, 5, "mux takes 3 inputs, not 2"},
        {"INPUT(a)\nz = AND()\n", PB_EFORMAT, 2, 5, "and takes 1 input, not 0"},
        {"z = AND\n", PB_EFORMAT, 1, 8, "expected '(' and the inputs"},
        {"z\n", PB_EFORMAT, 1, 2, "expected '='"},
        {"INPUT a\n", PB_EFORMAT, 1, 7, "expected '('"},
        {"= AND(a)\n", PB_EFORMAT, 1, 1, "expected INPUT"},
        {"\xc3\xa9 = \xff\n", PB_EFORMAT, 1, 5, "not UTF-8"},
        {"INPUT(\x01)\n", PB_EFORMAT, 1, 7, "control character"},
    };
    EXPECT_ERRORS(cases);
}

/* Text of an array multiplier of `bits` by `bits`, 6 gates a full adder. */
static size_t multiplier(char *text, int bits)
{
    size_t n = 0;
    for (int i = 0; i < bits; i++)
        n += (size_t)sprintf(text + n, "INPUT(a%d)\nINPUT(b%d)\n", i, i);
    for (int i = 0; i < bits; i++)
        for (int k = 0; k < bits; k++)
            n += (size_t)sprintf(text + n, "p%d_%d = AND(a%d, b%d)\n", i, k, i, k);
    for (int i = 0; i < bits; i++)
        n += (size_t)sprintf(text + n, "s0_%d = BUFF(p0_%d)\n", i, i);
    n += (size_t)sprintf(text + n, "s0_%d = GND\n", bits);
    for (int i = 1; i < bits; i++) {
        n += (size_t)sprintf(text + n, "c%d_0 = GND\n", i);
        for (int k = 0; k < bits; k++)
            n += (size_t)sprintf(text + n,
                                 "x%d_%d = XOR(p%d_%d, s%d_%d)\ns%d_%d = XOR(x%d_%d, c%d_%d)\n"
                                 "c%d_%d = MAJ(p%d_%d, s%d_%d, c%d_%d)\n",
                                 i, k, i, k, i - 1, k + 1, i, k, i, k, i, k, i, k + 1, i, k, i - 1, k + 1, i, k);
        n += (size_t)sprintf(text + n, "s%d_%d = BUFF(c%d_%d)\n", i, bits, i, bits);
    }
    for (int i = 0; i < bits; i++)
        n += (size_t)sprintf(text + n, "OUTPUT(s%d_0)\n", i);
    for (int k = 1; k <= bits; k++)
        n += (size_t)sprintf(text + n, "OUTPUT(s%d_%d)\n", bits - 1, k);
    return n;
}

static void a_multiplier_crosses_the_buffer(void **state)
{
    (void)state;
    enum { BITS = 60 };
    char *text = malloc((size_t)BITS * BITS * 200 + 100);
    multiplier(text, BITS);
    desk d;
    must_open(&d, text, SIZE_MAX);
    assert_int_equal(d.g->node_count, BITS * BITS + 3 * BITS * (BITS - 1));
    assert_int_equal(d.g->target_count, 2 * BITS);
    assert_int_equal(d.g->needed_count, d.g->node_count);
    shut(&d);
    free(text);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    char *text = malloc(400000);
    size_t length = multiplier(text, 24);
    expect_clean_refusals(text, length);
    free(text);
}

static void given_values_of_other_graphs_can_be_turned(void **state)
{
    (void)state;
    static const char json[] = "{\"format\":\"pebble-graph/"
                               "1\",\"name\":\"t\",\"note\":7,\"nodes\":[{\"name\":\"a\",\"size\":3,\"given\":true},"
                               "{\"name\":\"b\",\"cost\":2,\"size\":5,\"inplace\":[0],\"group\":\"g\",\"x\":1},"
                               "{\"name\":\"w\",\"size\":1,\"byproduct_of\":1}],\"edges\":[[0,1]],\"order\":[1]}";
    static const struct {
        pb_inputs inputs;
        uint64_t size, cost;
        bool given;
    } cases[] = {{PB_INPUTS_AUTO, 3, 0, true},
                 {PB_INPUTS_GIVEN, 3, 0, true},
                 {PB_INPUTS_FREE, 0, 0, true},
                 {PB_INPUTS_COMPUTED, 3, 1, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        desk d;
        open_as(&d, json, PB_FORMAT_JSON, cases[i].inputs);
        assert_int_equal(d.g->size[0], cases[i].size);
        assert_int_equal(d.g->cost[0], cases[i].cost);
        assert_int_equal((d.g->flags[0] & PB_NODE_GIVEN) != 0, cases[i].given);
        assert_int_equal(d.g->order_count, cases[i].given ? 1 : 2);
        assert_int_equal(d.g->owner[2], 1);
        assert_int_equal(d.g->inplace[0], 0);
        assert_string_equal(d.g->extra, "\"note\":7");
        assert_int_equal(d.g->extra_count, 1);
        shut(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c17_has_six_gates),
        cmocka_unit_test(inputs_are_free_given_or_computed),
        cmocka_unit_test(graphs_come_out),
        cmocka_unit_test(an_output_that_is_an_input_is_a_target_when_inputs_are_computed),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(a_multiplier_crosses_the_buffer),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
        cmocka_unit_test(given_values_of_other_graphs_can_be_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
