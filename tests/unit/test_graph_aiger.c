/* test_graph_aiger.c -- And-Inverter Graphs in text and in bytes: the same circuit either way, and no trust in counts. */
#define READER_FORMAT PB_FORMAT_AIGER
#include "unit/circuit_fixture.h"

static void graphs_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *nodes, *of, *inputs, *targets;
    } cases[] = {
        {"aag 0 0 0 0 0\n", "", NULL, NULL, ""},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n", "n3", "n3", "", "n3"},
        /* Inverters are free; gates in any order; names of outputs go to the gates that drive them. */
        {"aag 7 2 0 2 3\n2\n4\n6\n13\n6 13 15\n12 2 4\n14 3 5\ni0 x\ni1 y\no0 sum of it\no1 carry\nc\nfree text\n",
         "sum of it carry n7", "sum of it", "carry n7", "sum of it carry"},
        /* Twins and numbers are not taken for names. */
        {"aag 4 2 0 2 2\n2\n4\n6\n8\n6 2 4\n8 3 5\no0 z\no1 z\n", "z n4", NULL, NULL, "z n4"},
        {"aag 4 2 0 1 2\n2\n4\n8\n6 2 4\n8 6 5\no0 n3\n", "n3 n4", "n4", "n3", "n4"},
        /* Constants are no nodes, and outputs that are constants or inputs no targets. */
        {"aag 2 1 0 3 1\n2\n4\n1\n2\n4 2 1\n", "n2", "n2", "", "n2"},
        /* A latch is a cut. */
        {"aag 7 2 1 2 4\n2\n4\n6 8 1\n6\n7\n8 4 10\n10 13 15\n12 2 6\n14 3 7\nl0 state\n", "n4 n5 n6 n7", "n4", "n5",
         "n4"},
        /* Bad states and constraints are outputs. */
        {"aag 4 2 0 0 2 1 1\n2\n4\n6\n9\n6 2 4\n8 3 4\nb0 bad\nc0 fine\nc\n", "n3 n4", NULL, NULL, "n3 n4"},
        {"aag 4 2 0 1 1\n2\n8\n6\n6 2 8", "n3", "n3", "", "n3"},
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

static size_t put_delta(char *bytes, uint32_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (char)((value & 127) | 128);
    bytes[n++] = (char)value;
    return n;
}

/* A random circuit in both forms. */
static void make_twins(uint64_t seed, char *text, char *bytes, size_t *length)
{
    uint32_t state = (uint32_t)seed * 2654435761u + 1, inputs = 3, latches = 2, gates = 40;
    uint32_t all = inputs + latches + gates, lit = 0;
    size_t n = (size_t)sprintf(text, "aag %u %u %u 2 %u\n", all, inputs, latches, gates);
    size_t m = (size_t)sprintf(bytes, "aig %u %u %u 2 %u\n", all, inputs, latches, gates);
    for (uint32_t i = 1; i <= inputs; i++)
        n += (size_t)sprintf(text + n, "%u\n", 2 * i);
    for (uint32_t i = 0; i < latches + 2; i++) {
        state = state * 1664525u + 1013904223u;
        lit = (state >> 8) % (2 * all + 2);
        if (i >= latches)
            lit = 2 * (all - i);
        n += (size_t)(i < latches ? sprintf(text + n, "%u %u\n", 2 * (inputs + i + 1), lit)
                                  : sprintf(text + n, "%u\n", lit));
        m += (size_t)sprintf(bytes + m, "%u\n", lit);
    }
    for (uint32_t g = 0; g < gates; g++) {
        uint32_t lhs = 2 * (inputs + latches + g + 1), rhs[2];
        for (int k = 0; k < 2; k++) {
            state = state * 1664525u + 1013904223u;
            rhs[k] = (state >> 8) % lhs;
        }
        uint32_t high = rhs[0] > rhs[1] ? rhs[0] : rhs[1], low = rhs[0] > rhs[1] ? rhs[1] : rhs[0];
        n += (size_t)sprintf(text + n, "%u %u %u\n", lhs, high, low);
        m += put_delta(bytes + m, lhs - high);
        m += put_delta(bytes + m, high - low);
    }
    sprintf(text + n, "i1 in\nl0 held\no0 out\nc\nx\n");
    m += (size_t)sprintf(bytes + m, "i1 in\nl0 held\no0 out\nc\nx\n");
    *length = m;
}

static void both_forms_are_the_same_circuit(void **state)
{
    (void)state;
    static char text[8192], bytes[8192];
    for (uint64_t seed = 1; seed <= 50; seed++)
        for (pb_inputs inputs = PB_INPUTS_FREE; inputs <= PB_INPUTS_COMPUTED; inputs++) {
            size_t length;
            desk a, b;
            make_twins(seed, text, bytes, &length);
            open_inputs(&a, text, inputs);
            open_bytes(&b, bytes, length, PB_FORMAT_AIGER, inputs);
            assert_int_equal(a.g->node_count, b.g->node_count);
            assert_int_equal(a.g->edge_count, b.g->edge_count);
            for (pb_node v = 0; v < a.g->node_count; v++) {
                const char *name = pb_graph_name(a.g, v);
                pb_node w = pb_graph_find(b.g, name);
                assert_int_not_equal(w, PB_NO_NODE);
                assert_int_equal(a.g->flags[v] & PB_NODE_TARGET, b.g->flags[w] & PB_NODE_TARGET);
                assert_int_equal(a.g->in_start[v + 1] - a.g->in_start[v], b.g->in_start[w + 1] - b.g->in_start[w]);
            }
            shut(&a);
            shut(&b);
        }
}

static void counts_of_the_header_allocate_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "aig 2000000000 2000000000 0 1 0\n3000000001\nc\n",
        "aag 2147483647 2 0 1 1\n2\n4\n4294967294\n4294967294 2 4\n",
        "aag 2000000000 1000000000 0 0 0\n",
        "aag 2000000000 0 1000000000 0 0\n2 3\n",
        "aig 2000000000 0 0 0 2000000000\n\x02",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        pb_context ctx;
        pb_context_init(&ctx);
        ctx.memory_limit = 1 << 20;
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        const pb_graph *g;
        pb_status status = graph_from(&ctx, texts[i], strlen(texts[i]), SIZE_MAX, PB_FORMAT_AIGER, &arena, &g);
        if (status == PB_ENOMEM)
            fail_msg("%s: %s", texts[i], ctx.error.message);
        pb_arena_release(&arena);
    }
}

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"agg 1 1 0 0 0\n", PB_EFORMAT, 1, 1, "expected aag or aig"},
        {"aag 3 2 0\n", PB_EFORMAT, 1, 10, "a count of the header, not the end of the line"},
        {"aag 3 2 0 1 x\n", PB_EFORMAT, 1, 13, "a count of the header"},
        {"aag 1 0 0 0 0 0 0 0 0 0\n", PB_EFORMAT, 1, 23, "the end of the line"},
        {"aag 2 2 0 1 1\n", PB_EFORMAT, 1, 1, "has 2 variables at most, but there are 3 inputs, latches and gates"},
        {"aig 4 2 0 1 1\n", PB_EFORMAT, 1, 1, "has 4 variables, but"},
        {"aag 4294967296 2 0 1 1\n", PB_EFORMAT, 1, 5, "of at most 2147483647, not 4294967296"},
        {"aag 1 1 0 0 0 0 0 1\n2\n1\n2\n", PB_EFORMAT, 1, 1, "justice and fairness"},
        {"aag 3 2 0 1 1\n3\n4\n6\n6 2 4\n", PB_EFORMAT, 2, 1, "even literal of at least 2"},
        {"aag 3 2 0 1 1\n2\n4\n8\n6 2 4\n", PB_EFORMAT, 4, 1, "expected a literal of at most 7, not 8"},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2\n", PB_EFORMAT, 5, 4, "a literal, not the end of the line"},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 4 2\n", PB_EFORMAT, 5, 7, "the end of the line"},
        {"aag 3 2 0 1 1\n2\n4\n", PB_EFORMAT, 4, 1, "a literal, not the end of the file"},
        {"aag 3 2 0 1 1\n2\n4\n6\n2 2 4\n", PB_EGRAPH, 5, 1, "\"n1\" is also defined in line"},
        {"aag 4 2 0 1 1\n2\n4\n6\n6 2 8\n", PB_EGRAPH, 5, 1, "\"n4\" is used, but no"},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 7\n", PB_EGRAPH, 5, 1, "reads its own value"},
        {"aag 4 2 0 1 2\n2\n4\n6\n6 2 8\n8 2 6\n", PB_EGRAPH, 0, 0, "cycle"},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 4\nx0 a\n", PB_EFORMAT, 6, 1, "a symbol such as i0"},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 4\ni2 a\n", PB_EFORMAT, 6, 1, "there is no i2, because the header counts 2"},
        {"aig 5 2 0 1 3\n10\n\x02\x02\x03", PB_EFORMAT, 3, 4, "the file ends inside gate 2 of 3"},
        {"aig 5 2 0 1 3\n10\n\x7f\x02\x03", PB_EFORMAT, 3, 3, "does not come before it"},
        {"aig 5 2 0 1 3\n10\n\xff\xff\xff\xff\xff\x01", PB_EFORMAT, 3, 6, "more than 32 bits"},
    };
    EXPECT_ERRORS(cases);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { GATES = 2000 };
    char *text = malloc((size_t)GATES * 60);
    size_t length = (size_t)sprintf(text, "aag %d 1 0 0 %d\n2\n", GATES + 1, GATES);
    for (int i = 0; i < GATES; i++)
        length += (size_t)sprintf(text + length, "%d %d 2\n", 2 * i + 4, 2 * i + 3);
    expect_clean_refusals(text, length);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_come_out),
        cmocka_unit_test(both_forms_are_the_same_circuit),
        cmocka_unit_test(counts_of_the_header_allocate_nothing),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
