/* workload_synthetic.c -- a chain of steps and its gradients, with arithmetic that keeps a processor busy: an
 * example of a workload, with adjustable size and work.
 *
 * Step i computes x_i from x_{i-1} and its parameter; gradient i reads x_i and gradient i+1, the last one x_n alone.
 * Gradient 0 is kept, and changes the parameters after each run. Everything is in 64-bit integers, so that results have
 * the same bits on every machine.
 */
#include "base/checked.h"
#include "base/context.h"
#include "graph/emit.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_STEPS = 100000,
    KINDS = 3, /* of steps, with once, twice and three times the work */
    ROUND = 4  /* operations of a round */
};

enum { STEPS, BATCH, BYTES, WORK, UNSAID, UNSTEADY };

typedef struct synthetic {
    uint64_t steps, words, rounds;
    uint64_t unsaid, unsteady, calls;
    uint64_t step; /* of the next run */
    uint64_t sum;  /* of gradient 0 of the last run */
} synthetic;

static const pb_workload_option option_list[] = {
    {"steps", "20", "steps of the chain"},
    {"batch", "16", "number of examples in a value"},
    {"bytes", "4096", "bytes of one example, a multiple of 64"},
    {"work", "8", "rounds of arithmetic per word; some steps have two or three times as many"},
    {"unsaid", "0", "bytes of workspace that the middle step needs but does not declare"},
    {"unsteady", "0", "the step whose result changes from call to call, to try --check; 0: none"},
};

static uint64_t mix(uint64_t x) { return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9); }

static uint64_t rounds_of(const synthetic *s, uint64_t step) { return s->rounds * (1 + step % KINDS); }

static uint64_t turn(uint64_t x, uint64_t parameter, uint64_t rounds)
{
    for (uint64_t r = 0; r < rounds; r++)
        x = (x ^ x >> 17) * UINT64_C(0x9e3779b97f4a7c15) + parameter;
    return x;
}

/* Nodes 0 .. n are x_0 .. x_n, and n + 1 .. 2 n + 1 are the gradients n .. 0. */
static pb_status forward(void *state, pb_context *ctx, const pb_call *call)
{
    synthetic *s = state;
    const uint64_t *x = call->value[call->node - 1], *parameter = call->fixed;
    uint64_t *y = call->value[call->node], rounds = rounds_of(s, call->node);
    (void)ctx;
    if (s->unsaid && call->node == s->steps / 2 + 1) {
        void *more;
        pb_status status = pb_call_more(call, s->unsaid, &more);
        if (status != PB_OK)
            return status;
        memset(more, 1, s->unsaid);
    }
    for (uint64_t i = 0; i < s->words; i++)
        y[i] = turn(x[i], parameter[call->node - 1], rounds);
    if (s->unsteady == call->node)
        y[0] += s->calls++;
    return PB_OK;
}

static pb_status backward(void *state, pb_context *ctx, const pb_call *call)
{
    const synthetic *s = state;
    uint64_t at = 2 * s->steps + 1 - call->node, rounds = rounds_of(s, at);
    const uint64_t *x = call->value[at], *after = at < s->steps ? call->value[call->node - 1] : NULL;
    uint64_t *y = call->value[call->node];
    (void)ctx;
    for (uint64_t i = 0; i < s->words; i++)
        y[i] = turn(x[i] + (after ? after[i] : 1), at, 2 * rounds);
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    const synthetic *s = state;
    uint64_t *x = bytes;
    (void)ctx;
    (void)v;
    for (uint64_t i = 0; i < s->words; i++)
        x[i] = mix(i + (s->step << 40));
    return PB_OK;
}

static pb_status add_nodes(const synthetic *s, pb_builder *b)
{
    pb_status status = PB_OK;
    uint64_t last = 2 * s->steps + 1;
    for (uint64_t v = 0; v <= last && status == PB_OK; v++) {
        bool gradient = v > s->steps;
        uint64_t at = gradient ? last - v : v;
        char name[32], group[32];
        snprintf(name, sizeof name, gradient ? "g%" PRIu64 : "x%" PRIu64, at);
        snprintf(group, sizeof group, "step %" PRIu64, at);
        pb_node_spec spec = {.name = name, .group = group, .size = s->words * sizeof(uint64_t)};
        if (v && !pbi_mul(rounds_of(s, at) * (gradient ? 2 : 1), s->words, &spec.cost))
            spec.cost = UINT64_MAX; /* so that the sum is refused */
        if (v) {
            uint64_t reads = gradient && at < s->steps ? 2 : 1;
            spec.work = (pb_work){.op = "other", .dtype = "int64", .has_flops = true, .has_bytes = true};
            spec.work.flops = pbi_times(ROUND, spec.cost);
            spec.work.bytes = (reads + 1) * spec.size;
        }
        spec.flags = v == 0 ? PB_NODE_GIVEN : v == last ? PB_NODE_KEEP : 0;
        status = pb_builder_add_node(b, &spec, NULL);
        if (status == PB_OK && v && v != s->steps + 1)
            status = pb_builder_add_edge(b, (pb_node)v - 1, (pb_node)v);
        if (status == PB_OK && gradient)
            status = pb_builder_add_edge(b, (pb_node)at, (pb_node)v);
        if (status == PB_OK && v)
            status = pb_builder_add_order(b, (pb_node)v);
    }
    return status;
}

static pb_status build(pb_workload *w, synthetic *s)
{
    pb_builder *b;
    pb_status status = pb_builder_new(w->ctx, &b);
    if (status != PB_OK)
        return status;
    status = pb_builder_set_texts(b, "synthetic", "round", "byte");
    pb_builder_set_fixed_size(b, s->steps * sizeof(uint64_t));
    if (status == PB_OK)
        status = add_nodes(s, b);
    if (status == PB_OK)
        status = pb_builder_freeze(b, &w->arena, &w->graph);
    pb_builder_free(b);
    return status;
}

static pb_status read_number(pb_workload *w, unsigned option, const char *text, uint64_t most, uint64_t *out)
{
    uint64_t least = option < UNSAID;
    if (pbi_u64_parse(text, strlen(text), out) && *out >= least && *out <= most)
        return PB_OK;
    return pbi_fail(w->ctx, PB_EINVAL, "%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", not `%.40s`",
                    option_list[option].key, least, most, text);
}

static pb_status open(pb_workload *w, const char *const *values)
{
    synthetic *s = pb_arena_zero(&w->arena, 1, sizeof *s);
    uint64_t batch = 0, bytes = 0;
    if (!s)
        return PB_ENOMEM;
    pb_status status = read_number(w, STEPS, values[STEPS], MAX_STEPS, &s->steps);
    if (status == PB_OK)
        status = read_number(w, BATCH, values[BATCH], 1 << 24, &batch);
    if (status == PB_OK)
        status = read_number(w, BYTES, values[BYTES], 1 << 24, &bytes);
    if (status == PB_OK)
        status = read_number(w, WORK, values[WORK], 1000000, &s->rounds);
    if (status == PB_OK)
        status = read_number(w, UNSAID, values[UNSAID], 1 << 30, &s->unsaid);
    if (status == PB_OK)
        status = read_number(w, UNSTEADY, values[UNSTEADY], s->steps, &s->unsteady);
    if (status == PB_OK && bytes % 64)
        status = pbi_fail(w->ctx, PB_EINVAL, "bytes: expected a multiple of 64, not %" PRIu64, bytes);
    if (status != PB_OK)
        return status;
    s->words = batch * bytes / sizeof(uint64_t);
    size_t nodes = (size_t)(2 * s->steps + 2);
    pb_kernel *of = pb_arena_zero(&w->arena, nodes, sizeof *of);
    if (!of)
        return PB_ENOMEM;
    for (size_t v = 1; v < nodes; v++)
        of[v] = v <= s->steps ? forward : backward;
    w->kernels = (pb_kernels){.of = of, .state = s, .fill = fill};
    return build(w, s);
}

static pb_status begin(pb_workload *w, uint64_t step, pb_engine *e)
{
    synthetic *s = w->kernels.state;
    uint64_t *parameter = pb_engine_fixed(e);
    s->step = step;
    for (uint64_t i = 0; step == 0 && i < s->steps; i++)
        parameter[i] = mix(i + 1) | 1;
    return PB_OK;
}

static pb_status end(pb_workload *w, uint64_t step, pb_engine *e)
{
    synthetic *s = w->kernels.state;
    uint64_t *parameter = pb_engine_fixed(e);
    const uint64_t *gradient = pb_engine_value(e, (pb_node)(2 * s->steps + 1));
    (void)step;
    s->sum = 0;
    for (uint64_t i = 0; i < s->words; i++)
        s->sum += gradient[i];
    for (uint64_t i = 0; i < s->steps; i++)
        parameter[i] += mix(s->sum + i) & ~UINT64_C(1);
    return PB_OK;
}

static size_t text(pb_workload *w, char *text, size_t room)
{
    const synthetic *s = w->kernels.state;
    return (size_t)snprintf(text, room, "sum of the gradient %016" PRIx64, s->sum);
}

const pbi_workload_kind pbi_workload_synthetic = {.options = option_list,
                                                  .option_count = sizeof option_list / sizeof *option_list,
                                                  .open = open,
                                                  .begin = begin,
                                                  .end = end,
                                                  .text = text};
