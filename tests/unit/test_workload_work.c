/* Claims about what the nodes of workloads state for machines: the work of the kernels that really run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pebble/workload.h"

typedef struct opened {
    pb_context ctx;
    pb_workload *w;
    const pb_graph *g;
} opened;

static const pb_graph *open_workload(opened *o, const char *name, const pb_option *options, uint32_t count)
{
    pb_context_init(&o->ctx);
    if (pb_workload_open(&o->ctx, name, options, count, &o->w) != PB_OK)
        fail_msg("%s: %s", name, o->ctx.error.message);
    o->g = pb_workload_graph(o->w);
    return o->g;
}

static const char *word_of(const pb_graph *g, uint32_t word) { return word == PB_NO_WORD ? "" : g->words[word]; }

static void expect_work(const pb_graph *g, const char *name, const char *op, uint64_t flops, uint64_t bytes)
{
    pb_node v = pb_graph_find(g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no node '%s'", name);
    const pb_node_work *w = &g->work[v];
    if (w->flops != flops || w->bytes != bytes || strcmp(word_of(g, w->op), op) != 0)
        fail_msg("%s is %s of %llu flop and %llu bytes, not %s of %llu and %llu", name, word_of(g, w->op),
                 (unsigned long long)w->flops, (unsigned long long)w->bytes, op, (unsigned long long)flops,
                 (unsigned long long)bytes);
}

/* Values are padded to cache lines, which kernels do not read: 64 bytes each. */
static void expect_sound_work(const pb_graph *g)
{
    assert_non_null(g->work);
    for (pb_node v = 0; v < g->node_count; v++) {
        const pb_node_work *w = &g->work[v];
        const char *op = word_of(g, w->op);
        assert_int_equal(w->has_bytes && *op, pb_graph_is_computed(g, v));
        bool reads_a_part = !strcmp(op, "copy") || !strcmp(op, "filter") || !strcmp(op, "hash");
        if (!pb_graph_is_computed(g, v) || reads_a_part)
            continue;
        uint64_t values = g->size[v], count = 1;
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++, count++)
            values += g->size[g->in[i]];
        if (w->bytes + 64 * count < values)
            fail_msg("%s moves %llu bytes, but reads and writes values of %llu", pb_graph_name(g, v),
                     (unsigned long long)w->bytes, (unsigned long long)values);
        if (!strcmp(op, "matmul") || !strncmp(op, "conv", 4) || !strcmp(op, "step"))
            assert_int_equal(w->flops, g->cost[v]);
    }
}

static void every_workload_states_its_work(void **state)
{
    (void)state;
    static const struct {
        const char *name, *key, *value;
    } workloads[] = {
        {"synthetic", "steps", "4"}, {"adjoint", "steps", "4"}, {"pipeline", "tile", "64"},
        {"pipeline", "halo", "own"}, {"merkle", "height", "8"}, {"merkle", "mode", "traversal"},
    };
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        opened o;
        pb_option option = {workloads[i].key, workloads[i].value};
        expect_sound_work(open_workload(&o, workloads[i].name, &option, 1));
        pb_workload_close(o.w);
    }
}

static void small_kernels_are_counted_by_hand(void **state)
{
    (void)state;
    opened o;
    const pb_graph *g = open_workload(&o, "merkle", (pb_option[]){{"height", "6"}, {"leaf", "64"}, {"grain", "2"}}, 3);
    /* Four leaves of two blocks each, three hashes above them, two blocks each. */
    expect_work(g, "h2_0", "hash", 0, 64 * (4 * 2 + 3 * 2));
    expect_work(g, "root", "hash", 0, 64 * 2);
    pb_workload_close(o.w);
    g = open_workload(&o, "adjoint", (pb_option[]){{"steps", "3"}, {"size", "8"}}, 2);
    expect_work(g, "x_1", "step", 32 * 64, 5 * 64 * 8);
    expect_work(g, "g_0", "step", 60 * 64, 13 * 64 * 8);
    pb_workload_close(o.w);
}

static void training_steps_state_the_work_of_their_kernels(void **state)
{
    (void)state;
    static const char *const models[] = {"mlp", "resnet", "unet", "transformer"};
    if (!pb_train_library())
        skip();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        opened o;
        expect_sound_work(open_workload(&o, "train", (pb_option[]){{"model", models[i]}, {"batch", "2"}}, 2));
        pb_workload_close(o.w);
    }
    opened o;
    pb_option options[] = {{"model", "transformer"}, {"batch", "2"}, {"depth", "1"},    {"width", "32"},
                           {"sequence", "16"},       {"heads", "2"}, {"classes", "64"}, {"dropout", "0.1"}};
    const pb_graph *g = open_workload(&o, "train", options, 8);
    uint64_t rows = 32, x = rows * 32 * 4, square = 2 * 2 * 16 * 16 * 4, table = (64 + 16) * 32 * 4;
    /* The bias is written, then the product is added to it. */
    expect_work(g, "block0.q", "matmul", 2 * rows * 32 * 32, x + (32 * 32 + 32) * 4 + 3 * x);
    expect_work(g, "block0.scores", "matmul", 2 * rows * 16 * 32, 2 * x + square + square / 2);
    expect_work(g, "embedding.embed", "embed", rows * 32, rows * 4 + x + 16 * 32 * 4 + x);
    expect_work(g, "embedding.embed.dw", "embed.dw", 2 * rows * 32, rows * 4 + x + 2 * (x + 16 * 32 * 4) + table);
    pb_workload_close(o.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_states_its_work),
        cmocka_unit_test(small_kernels_are_counted_by_hand),
        cmocka_unit_test(training_steps_state_the_work_of_their_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
