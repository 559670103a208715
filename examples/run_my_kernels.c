/* run_my_kernels.c -- your own kernels under a plan: in one block of memory, measured against the plan.
 *
 * The computation is y = a chain of layers, x[i+1] = tanh(w[i] x[i]), and its gradient by the weights. The graph states
 * sizes in bytes; each node has a kernel. The engine runs the plan, and the gradients have the same bits as those of
 * plain loops that keep everything. `run_my_kernels check` runs every kernel twice, to find errors in kernels.
 */
#include <pebble/full.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LAYERS = 24, WIDTH = 4096, BYTES = WIDTH * sizeof(double) };

/* Nodes: x 0 .. LAYERS, then g LAYERS-1 .. 0, the gradient of the loss by x[i]. Weights are fixed memory, and so are
 * their gradients, which the kernel of g[i] adds up: an effect that must happen once, so g[i] is computed once. */
static pb_node x(int i) { return (pb_node)i; }
static pb_node g(int i) { return (pb_node)(2 * LAYERS - i); }

static double start(int k) { return 0.5 + 0.4 * sin(0.01 * k); }
static double weight(int i) { return 0.8 + 0.05 * (i % 7); }

/* ---- kernels ---- */

static pb_status layer(void *state, pb_context *ctx, const pb_call *call)
{
    const double *in = call->value[call->node - 1], *w = call->fixed;
    double *out = call->value[call->node];
    (void)state;
    (void)ctx;
    for (int k = 0; k < WIDTH; k++)
        out[k] = tanh(w[call->node - 1] * in[k]);
    return PB_OK;
}

/* From x[i], x[i+1] and the gradient by x[i+1], which is 1 for the last. */
static pb_status gradient(void *state, pb_context *ctx, const pb_call *call)
{
    int i = 2 * LAYERS - (int)call->node;
    const double *in = call->value[x(i)], *out = call->value[x(i + 1)];
    const double *after = i + 1 < LAYERS ? call->value[g(i + 1)] : NULL;
    double *own = call->value[call->node], *w = call->fixed, sum = 0;
    (void)state;
    (void)ctx;
    for (int k = 0; k < WIDTH; k++) {
        double inner = (after ? after[k] : 1) * (1 - out[k] * out[k]);
        sum += inner * in[k];
        own[k] = inner * w[i];
    }
    w[LAYERS + i] = sum;
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node given, void *bytes)
{
    double *first = bytes;
    (void)state;
    (void)ctx;
    (void)given;
    for (int k = 0; k < WIDTH; k++)
        first[k] = start(k);
    return PB_OK;
}

/* ---- the graph ---- */

static pb_status add_node(pb_builder *b, const char *kind, int i, unsigned flags, uint64_t cost)
{
    char name[16];
    snprintf(name, sizeof name, "%s%d", kind, i);
    pb_node_spec spec = {.name = name, .size = BYTES, .cost = cost, .flags = (uint16_t)flags};
    return pb_builder_add_node(b, &spec, NULL);
}

static pb_status make_graph(pb_context *ctx, pb_arena *arena, const pb_graph **out)
{
    pb_builder *b;
    pb_status status = pb_builder_new(ctx, &b);
    if (status != PB_OK)
        return status;
    status = pb_builder_set_texts(b, "my layers", "step", "byte");
    pb_builder_set_fixed_size(b, 2 * LAYERS * sizeof(double));
    for (int i = 0; i <= LAYERS && status == PB_OK; i++)
        status = add_node(b, "x", i, i ? 0 : PB_NODE_GIVEN, 3);
    for (int i = LAYERS - 1; i >= 0 && status == PB_OK; i--)
        status = add_node(b, "g", i, PB_NODE_ONCE | (i ? 0 : PB_NODE_KEEP), 2);
    for (int i = 0; i < LAYERS && status == PB_OK; i++) {
        status = pb_builder_add_edge(b, x(i), x(i + 1));
        if (status == PB_OK)
            status = pb_builder_add_edge(b, x(i), g(i));
        if (status == PB_OK)
            status = pb_builder_add_edge(b, x(i + 1), g(i));
        if (status == PB_OK && i + 1 < LAYERS)
            status = pb_builder_add_edge(b, g(i + 1), g(i));
    }
    if (status == PB_OK)
        status = pb_builder_freeze(b, arena, out);
    pb_builder_free(b);
    return status;
}

/* ---- the reference: plain loops ---- */

static void plain_loops(double sums[LAYERS])
{
    static double value[LAYERS + 1][WIDTH], own[WIDTH];
    for (int k = 0; k < WIDTH; k++) {
        value[0][k] = start(k);
        own[k] = 1;
    }
    for (int i = 0; i < LAYERS; i++)
        for (int k = 0; k < WIDTH; k++)
            value[i + 1][k] = tanh(weight(i) * value[i][k]);
    for (int i = LAYERS - 1; i >= 0; i--) {
        sums[i] = 0;
        for (int k = 0; k < WIDTH; k++) {
            double inner = own[k] * (1 - value[i + 1][k] * value[i + 1][k]);
            sums[i] += inner * value[i][k];
            own[k] = inner * weight(i);
        }
    }
}

static uint64_t now(void *state)
{
    struct timespec t;
    (void)state;
    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- plan, run, compare ---- */

static pb_status run(pb_context *ctx, const pb_certificate *plan, bool check, pb_measured *m, double sums[LAYERS])
{
    pb_kernel of[2 * LAYERS + 1] = {NULL};
    pb_engine *e;
    for (int i = 0; i < LAYERS; i++) {
        of[x(i + 1)] = layer;
        of[g(i)] = gradient;
    }
    pb_kernels kernels = {.of = of, .fill = fill};
    pb_status status = pb_engine_new(ctx, plan, &kernels, &(pb_engine_options){.check = check}, &e);
    if (status != PB_OK)
        return status;
    double *fixed = pb_engine_fixed(e);
    for (int i = 0; i < LAYERS; i++)
        fixed[i] = weight(i);
    status = pb_engine_run(e, m);
    if (status == PB_OK)
        memcpy(sums, fixed + LAYERS, LAYERS * sizeof *sums);
    pb_engine_free(e);
    return status;
}

static pb_status plan_and_run(pb_context *ctx, pb_arena *arena, bool check, bool *good)
{
    pb_game game = {.kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    pb_plan_result planned;
    pb_measured m;
    double sums[LAYERS], expected[LAYERS];
    pb_status status = make_graph(ctx, arena, &game.graph);
    if (status == PB_OK)
        status = pb_size_read(ctx, game.graph, "40%", &game.cap);
    if (status == PB_OK)
        status = pb_plan(ctx, &game, &PB_REQUEST_DEFAULT, arena, &planned);
    if (status == PB_OK && planned.certificate)
        status = run(ctx, planned.certificate, check, &m, sums);
    if (status != PB_OK || !planned.certificate)
        return status;
    plain_loops(expected);
    bool equal = memcmp(sums, expected, sizeof sums) == 0;
    uint64_t peak = planned.schedule.metrics.peak;
    printf("planned peak %llu bytes, measured %llu, in a block of %llu; keeping everything takes %llu\n",
           (unsigned long long)peak, (unsigned long long)m.peak, (unsigned long long)m.block,
           (unsigned long long)game.graph->total_size);
    printf("%llu computations, %llu of them recomputed; %.2f ms in kernels, %.2f ms of it recomputing\n",
           (unsigned long long)m.computed, (unsigned long long)m.recomputed, 1e-6 * (double)m.kernel_ns,
           1e-6 * (double)m.recompute_ns);
    printf("the gradients are %s to those of plain loops\n", equal ? "equal bit for bit" : "NOT EQUAL");
    *good = equal && m.peak == peak;
    return PB_OK;
}

int main(int count, char **words)
{
    pb_context ctx;
    pb_arena arena;
    bool good = false;
    pb_context_init(&ctx);
    ctx.clock_ns = now;
    pb_arena_init(&arena, &ctx);
    pb_status status = plan_and_run(&ctx, &arena, count > 1 && strcmp(words[1], "check") == 0, &good);
    if (status != PB_OK)
        fprintf(stderr, "%s\n", ctx.error.message);
    pb_arena_release(&arena);
    return good ? 0 : 1;
}
