/* family_circuit.c -- adders and multipliers, gate by gate.
 *
 * A gate is named by the value and its operation, as in `s3.xor`. The inputs are not nodes unless this is requested.
 */
#include "generate/families.h"
#include "graph/emit.h"

#define NOTHING PB_NO_NODE

typedef struct circuit {
    pbi_emit e;
    bool majority;
    bool inputs, given; /* inputs are nodes; they are given */
} circuit;

/* The place of a gate in its circuit: its row and column, or its column alone. */
typedef struct place {
    bool rows;
    uint64_t row, column;
} place;

static void circuit_init(circuit *c, pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pbi_emit_init(&c->e, ctx, params->family->name, builder);
    pbi_emit_units(&c->e, "step", "pebble");
    c->majority = pbi_param_is(params, "gates", "majority");
    c->given = pbi_param_is(params, "inputs", "given");
    c->inputs = !pbi_param_is(params, "inputs", "free");
}

static pb_node input(circuit *c, const char *name, uint64_t number)
{
    if (!c->inputs)
        return NOTHING;
    pbi_label label;
    pbi_label_set(&label, name);
    pbi_label_number(&label, number);
    pb_node_spec spec = {.name = label.text, .name_length = label.length, .size = 1, .cost = !c->given};
    if (!c->given)
        return pbi_emit_step(&c->e, &spec);
    spec.flags = PB_NODE_GIVEN;
    return pbi_emit_node(&c->e, &spec);
}

static pb_node gate(circuit *c, const char *value, place at, const char *operation, const pb_node *reads, int count)
{
    pbi_label label;
    if (at.rows) {
        pbi_label_pair(&label, value, at.row, at.column);
    } else {
        pbi_label_set(&label, value);
        pbi_label_number(&label, at.column);
    }
    pbi_label_text(&label, operation);
    pb_node v = pbi_emit_step(&c->e, &(pb_node_spec){label.text, label.length, .cost = 1, .size = 1});
    for (int i = 0; i < count; i++)
        if (reads[i] != NOTHING)
            pbi_emit_edge(&c->e, reads[i], v);
    return v;
}

static pb_node gate2(circuit *c, const char *value, place at, const char *operation, pb_node a, pb_node b)
{
    return gate(c, value, at, operation, (pb_node[]){a, b}, 2);
}

/* The sum of two bits, and its carry. */
static pb_node half_adder(circuit *c, place at, pb_node a, pb_node b, pb_node *carry)
{
    pb_node sum = gate2(c, "s", at, ".xor", a, b);
    *carry = gate2(c, "c", at, ".and", a, b);
    return sum;
}

/* The sum of two bits and the carry in *carry, which becomes that of the sum. */
static pb_node full_adder(circuit *c, place at, pb_node a, pb_node b, pb_node *carry)
{
    pb_node in = *carry, half = gate2(c, "x", at, ".xor", a, b);
    pb_node sum = gate2(c, "s", at, ".xor", half, in);
    if (c->majority) {
        *carry = gate(c, "c", at, ".maj", (pb_node[]){a, b, in}, 3);
        return sum;
    }
    pb_node made = gate2(c, "g", at, ".and", a, b), passed = gate2(c, "t", at, ".and", half, in);
    *carry = gate2(c, "c", at, ".or", made, passed);
    return sum;
}

pb_status pbi_generate_adder(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t bits = pbi_param_integer(params, "bits");
    circuit c;
    circuit_init(&c, ctx, params, builder);
    if (pbi_emit_budget(&c.e, 7 * bits + 1, 10 * bits) != PB_OK)
        return c.e.status;
    pb_node carry = input(&c, "in", 0);
    for (uint64_t i = 0; i < bits && c.e.status == PB_OK; i++) {
        pb_node a = input(&c, "a", i), b = input(&c, "b", i);
        full_adder(&c, (place){.column = i}, a, b, &carry);
    }
    return c.e.status;
}

/* One row of the array: adds row `i` of the partial products to the upper bits of the sum so far; sum[0..n-1] has
 * them from its second lowest bit on, and the highest may be missing. */
static void add_row(circuit *c, uint64_t i, uint64_t bits, const pb_node *product, pb_node *sum)
{
    pb_node carry = NOTHING, low;
    for (uint64_t k = 0; k < bits && c->e.status == PB_OK; k++) {
        place at = {.rows = true, .row = i, .column = k};
        if (k == 0)
            low = half_adder(c, at, product[k], sum[k], &carry);
        else if (i == 1 && k == bits - 1) /* the first row has no highest bit yet */
            low = half_adder(c, at, product[k], carry, &carry);
        else
            low = full_adder(c, at, product[k], sum[k], &carry);
        if (k > 0)
            sum[k - 1] = low;
    }
    sum[bits - 1] = carry;
}

pb_status pbi_generate_multiplier(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    enum { MAX_BITS = 1024 };
    uint64_t bits = pbi_param_integer(params, "bits");
    pb_node a[MAX_BITS], b[MAX_BITS], product[MAX_BITS], sum[MAX_BITS];
    circuit c;
    circuit_init(&c, ctx, params, builder);
    if (pbi_emit_budget(&c.e, 6 * bits * bits + 2 * bits, 12 * bits * bits) != PB_OK)
        return c.e.status;
    for (uint64_t i = 0; i < bits; i++)
        a[i] = input(&c, "a", i);
    for (uint64_t i = 0; i < bits; i++)
        b[i] = input(&c, "b", i);
    for (uint64_t i = 0; i < bits && c.e.status == PB_OK; i++) {
        for (uint64_t k = 0; k < bits; k++)
            product[k] = gate2(&c, "p", (place){true, i, k}, ".and", a[k], b[i]);
        if (i > 0) {
            add_row(&c, i, bits, product, sum);
            continue;
        }
        for (uint64_t k = 1; k < bits; k++)
            sum[k - 1] = product[k];
        sum[bits - 1] = NOTHING;
    }
    return c.e.status;
}
