/* test_graph_blif.c -- circuits in BLIF: tables, latches, joined lines, and what is refused. */
#define READER_FORMAT PB_FORMAT_BLIF
#include "unit/circuit_fixture.h"

#define ADDER                                                                                                        \
    ".model fa # a full adder\n.inputs a b \\\n c\n.outputs s co\n.names a b x\n01 1\n10 1\n.names x c s\n01 1\n10 " \
    "1\n"                                                                                                            \
    ".names a b c co\n11- 1\n1-1 1\n-11 1\n.end\n"

static void a_full_adder_has_three_gates(void **state)
{
    (void)state;
    static const size_t chunks[] = {SIZE_MAX, 1, 5};
    for (size_t i = 0; i < COUNT(chunks); i++) {
        desk d;
        must_open(&d, ADDER, chunks[i]);
        assert_string_equal(d.g->name, "fa");
        assert_string_equal(all_of(&d), "x s co");
        assert_string_equal(inputs_of(&d, "s"), "x");
        assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "s co");
        shut(&d);
    }
    desk d;
    open_inputs(&d, ADDER, PB_INPUTS_GIVEN);
    assert_string_equal(all_of(&d), "a b c x s co");
    assert_string_equal(inputs_of(&d, "co"), "a b c");
    assert_int_equal(d.g->needed_cost, 3);
    shut(&d);
}

static void graphs_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *nodes, *of, *inputs, *targets;
    } cases[] = {
        {"", "", NULL, NULL, ""},
        {".model m\n.end\n", "", NULL, NULL, ""},
        /* Only the first model counts. */
        {".model a\n.inputs x y\n.outputs z\n.names x y z\n11 1\n.model b\n.names x y z z\n.end\n", "z", "z", "", "z"},
        {".model a\n.inputs x y\n.outputs z\n.names x y z\n11 1\n.end\n.model b\n.rubbish\n", "z", "z", "", "z"},
        /* Used before it is defined; rows that make 0; no .end; several lines of inputs; carriage returns. */
        {".inputs a\r\n.inputs b\r\n.outputs z\r\n.names y a z\r\n11 0\r\n00 0\r\n.names a b y\r\n-1 1", "z y", "z",
         "y", "z"},
        /* Buffers and inverters, also as connections, are wires. */
        {".inputs a b\n.outputs z\n.names a b g\n11 1\n.names g h\n0 1\n.conn h i\n.names i a z\n11 1\n", "g z", "z",
         "g", "z"},
        /* Constants: no inputs, or no rows. */
        {".inputs a b\n.outputs z\n.names one\n1\n.names zero\n.names a b never\n.names one zero never a z\n1111 1\n",
         "z", "z", "", "z"},
        /* A latch is a cut, whatever its clock. */
        {".inputs a\n.outputs o\n.clock clk\n.latch d q re clk 2\n.names a q d\n11 1\n.names q d o\n11 1\n", "d o", "o",
         "d", "d o"},
        /* Without .inputs, what nothing defines is an input; without .outputs every sink is a target. */
        {".model m\n.names x y z\n11 1\n.names z y w\n11 1\n", "z w", "w", "z", "w"},
        /* Backslashes inside names stay. */
        {".inputs a\\b[3] c\n.names a\\b[3] c \\z\n11 1\n", "\\z", "\\z", "", "\\z"},
        {".inputs a b\n.outputs z\n.area 3\n.default_input_arrival 0 0\n.names a b z\n11 1\n.exdc\n.names z\n", "z",
         "z", "", "z"},
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

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {".model m\n.inputs x\n.subckt add a=x b=y\n", PB_EFORMAT, 3, 1, ".subckt uses another model"},
        {".inputs x\n.gate nand2 A=x B=x O=z\n", PB_EFORMAT, 2, 1, "flatten the circuit"},
        {".frob\n", PB_EFORMAT, 1, 1, "a word of BLIF"},
        {"model m\n", PB_EFORMAT, 1, 1, "begins with a point"},
        {".names\n", PB_EFORMAT, 1, 7, "the signals of the table"},
        {".inputs a b\n.names a b z\n1 1\n", PB_EFORMAT, 3, 1, "one of 0, 1 and - for each of 2 inputs"},
        {".inputs a b\n.names a b z\n12 1\n", PB_EFORMAT, 3, 1, "one of 0, 1 and -"},
        {".inputs a b\n.names a b z\n11 -\n", PB_EFORMAT, 3, 4, "0 or 1 at the end of the row"},
        {".inputs a b\n.names a b z\n11", PB_EFORMAT, 3, 3, "not the end of the file"},
        {".inputs a b\n.names a b z\n11 1 1\n", PB_EFORMAT, 3, 6, "the end of the row"},
        {".names z\n11\n", PB_EFORMAT, 2, 1, "0 or 1"},
        {".inputs a\n.outputs z\n.names a b z\n11 1\n", PB_EGRAPH, 3, 10, "\"b\" is used, but no"},
        {".inputs a a\n", PB_EGRAPH, 1, 11, "also defined in line 1"},
        {".inputs a b\n.names a b z\n11 1\n.names b a z\n00 1\n", PB_EGRAPH, 4, 12, "also defined in line 2"},
        {".inputs a\n.names a z z\n11 1\n", PB_EGRAPH, 2, 1, "reads its own value"},
        {".inputs a\n.names a y z\n11 1\n.names a z y\n11 1\n", PB_EGRAPH, 0, 0, "cycle"},
        {".latch a\n", PB_EFORMAT, 1, 9, "the name of a signal"},
        {".inputs \xff\n", PB_EFORMAT, 1, 9, "not UTF-8"},
    };
    EXPECT_ERRORS(cases);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { GATES = 2000 };
    char *text = malloc((size_t)GATES * 60);
    size_t length = (size_t)sprintf(text, ".model m\n.inputs g0 i\n");
    for (int i = 1; i < GATES; i++)
        length += (size_t)sprintf(text + length, ".names g%d i g%d\n11 1\n", i - 1, i);
    expect_clean_refusals(text, length);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_adder_has_three_gates),
        cmocka_unit_test(graphs_come_out),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
