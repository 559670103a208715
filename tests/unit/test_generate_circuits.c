/* test_generate_circuits.c -- adders add and multipliers multiply, gate by gate; counts of gates and outputs. */
#include "unit/test_generate.h"

#include <stdlib.h>

/* The value of gate v from those it reads, by the operation in its name. */
static bool evaluate(const pb_graph *g, pb_node v, const bool *value)
{
    const char *operation = strrchr(pb_graph_name(g, v), '.');
    unsigned count = g->in_start[v + 1] - g->in_start[v], ones = 0;
    assert_non_null(operation);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        ones += value[g->in[k]];
    if (strcmp(operation, ".xor") == 0)
        return ones % 2;
    if (strcmp(operation, ".and") == 0)
        return ones == count;
    if (strcmp(operation, ".or") == 0)
        return ones > 0;
    assert_string_equal(operation, ".maj");
    assert_int_equal(count, 3);
    return ones >= 2;
}

/* Runs the circuit on two numbers and a carry; the inputs are given nodes. */
static void run(const pb_graph *g, uint64_t a, uint64_t b, uint64_t carry, bool *value)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        const char *name = pb_graph_name(g, v);
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        uint64_t number = name[0] == 'a' ? a : name[0] == 'b' ? b : carry;
        value[v] = number >> atoi(name + strcspn(name, "0123456789")) & 1;
    }
    for (uint32_t i = 0; i < g->order_count; i++)
        value[g->order[i]] = evaluate(g, g->order[i], value);
}

static uint64_t bit(const pb_graph *g, const bool *value, const char *name)
{
    pb_node v = pb_graph_find(g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no %s", name);
    assert_true(g->flags[v] & PB_NODE_TARGET);
    return value[v];
}

static uint64_t sum_of(const pb_graph *g, const bool *value, unsigned bits, bool majority)
{
    char name[40];
    uint64_t total = 0;
    for (unsigned i = 0; i < bits; i++) {
        snprintf(name, sizeof name, "s%u.xor", i);
        total |= bit(g, value, name) << i;
    }
    snprintf(name, sizeof name, "c%u.%s", bits - 1, majority ? "maj" : "or");
    return total | bit(g, value, name) << bits;
}

static void adders_add(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 4; bits++)
        for (int majority = 0; majority < 2; majority++) {
            char words[80];
            snprintf(words, sizeof words, "bits=%u inputs=given gates=%s", bits, majority ? "majority" : "basic");
            made m;
            const pb_graph *g = make_sound(&m, "adder", words);
            bool value[64];
            assert_int_equal(g->target_count, bits + 1);
            assert_int_equal(g->order_count, (majority ? 3 : 5) * bits);
            for (uint64_t a = 0; a < 1u << bits; a++)
                for (uint64_t b = 0; b < 1u << bits; b++)
                    for (uint64_t carry = 0; carry < 2; carry++) {
                        run(g, a, b, carry, value);
                        assert_int_equal(sum_of(g, value, bits, majority), a + b + carry);
                    }
            unmake(&m);
        }
}

static uint64_t product_of(const pb_graph *g, const bool *value, unsigned bits, bool majority)
{
    char name[40];
    uint64_t total = bit(g, value, "p0_0.and");
    for (unsigned i = 1; i < bits; i++) {
        snprintf(name, sizeof name, "s%u_0.xor", i);
        total |= bit(g, value, name) << i;
    }
    for (unsigned k = 1; bits > 1 && k < bits; k++) {
        snprintf(name, sizeof name, "s%u_%u.xor", bits - 1, k);
        total |= bit(g, value, name) << (bits - 1 + k);
    }
    if (bits == 1)
        return total;
    snprintf(name, sizeof name, "c%u_%u.%s", bits - 1, bits - 1, bits == 2 ? "and" : majority ? "maj" : "or");
    return total | bit(g, value, name) << (2 * bits - 1);
}

static void multipliers_multiply(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 5; bits++)
        for (int majority = 0; majority < 2; majority++) {
            char words[80];
            snprintf(words, sizeof words, "bits=%u inputs=given gates=%s", bits, majority ? "majority" : "basic");
            made m;
            const pb_graph *g = make_sound(&m, "multiplier", words);
            bool *value = malloc(g->node_count);
            assert_int_equal(g->target_count, bits == 1 ? 1 : 2 * bits);
            for (uint64_t a = 0; a < 1u << bits; a++)
                for (uint64_t b = 0; b < 1u << bits; b++) {
                    run(g, a, b, 0, value);
                    assert_int_equal(product_of(g, value, bits, majority), a * b);
                }
            free(value);
            unmake(&m);
        }
}

static void inputs_are_nodes_when_they_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *family, *words;
        uint32_t nodes, edges, sources;
        uint64_t cost;
    } cases[] = {
        {"adder", "bits=4", 20, 22, 8, 20},
        {"adder", "bits=4 inputs=given", 29, 40, 9, 20},
        {"adder", "bits=4 inputs=computed", 29, 40, 9, 29},
        {"multiplier", "bits=4", 64, 96, 16, 64},
        {"multiplier", "bits=4 inputs=given", 72, 128, 8, 64},
        {"multiplier", "bits=4 inputs=computed", 72, 128, 8, 72},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m;
        const pb_graph *g = make_sound(&m, cases[i].family, cases[i].words);
        uint32_t sources = 0;
        for (pb_node v = 0; v < g->node_count; v++)
            sources += g->in_start[v] == g->in_start[v + 1];
        assert_int_equal(g->node_count, cases[i].nodes);
        assert_int_equal(g->edge_count, cases[i].edges);
        assert_int_equal(sources, cases[i].sources);
        assert_int_equal(g->needed_cost, cases[i].cost);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adders_add),
        cmocka_unit_test(multipliers_multiply),
        cmocka_unit_test(inputs_are_nodes_when_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
