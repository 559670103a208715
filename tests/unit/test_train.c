/* test_train.c -- networks learn, options are read, and what a node may be is said in the graph. */
#include "support/io_case.h"
#include "train_fixture.h"

#include <dlfcn.h>

/* The mean loss of some steps from `from` on. */
static double mean_loss(bench *b, uint64_t from, uint64_t count)
{
    double sum = 0;
    for (uint64_t step = from; step < from + count; step++) {
        assert_int_equal(pb_workload_begin(b->w, step, b->e), PB_OK);
        bench_run(b);
        assert_int_equal(pb_workload_end(b->w, step, b->e), PB_OK);
        sum += bench_loss(b);
    }
    return sum / (double)count;
}

static void steps_lower_the_loss(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++) {
        bench b;
        char text[80];
        bench_open(&b, &tiny[i]);
        assert_true(bench_plan(&b, "last-use", PB_UNLIMITED));
        double first = mean_loss(&b, 0, 4);
        mean_loss(&b, 4, 52);
        double last = mean_loss(&b, 56, 4);
        pb_workload_text(b.w, text, sizeof text);
        print_message("%s: loss %.3f, then %.3f (%s)\n", tiny[i].name, first, last, text);
        assert_true(last < 0.8 * first);
        assert_int_equal(strncmp(text, "loss ", 5), 0);
        bench_close(&b);
    }
}

static void other_seeds_are_other_data(void **state)
{
    (void)state;
    need_library();
    network net = tiny[0];
    char hash[2][PB_HASH_TEXT];
    for (int i = 0; i < 2; i++) {
        bench b;
        net.option[net.count] = (pb_option){"seed", i ? "2" : "1"};
        net.count++;
        bench_open(&b, &net);
        net.count--;
        assert_true(bench_plan(&b, "last-use", PB_UNLIMITED));
        bench_steps(&b, 1);
        assert_int_equal(pb_workload_digest(b.w, b.e, hash[i]), PB_OK);
        bench_close(&b);
    }
    assert_string_not_equal(hash[0], hash[1]);
}

/* OpenMP's functions are there with oneDNN only, so they are looked up. */
static void *function_of(const char *name)
{
    void *program = dlopen(NULL, RTLD_NOW), *found = dlsym(program, name);
    assert_non_null(found);
    dlclose(program);
    return found;
}

static void threads_of_the_caller_change_nothing(void **state)
{
    (void)state;
    need_library();
    char hash[2][PB_HASH_TEXT];
    void (*set_threads)(int);
    int (*threads)(void);
    *(void **)&set_threads = function_of("omp_set_num_threads");
    *(void **)&threads = function_of("omp_get_max_threads");
    int before = threads();
    for (int i = 0; i < 2; i++) {
        bench b;
        set_threads(i ? 3 : 1);
        bench_open_wide(&b, &tiny[2]);
        assert_true(bench_plan(&b, "last-use", PB_UNLIMITED));
        bench_steps(&b, 1);
        assert_int_equal(pb_workload_digest(b.w, b.e, hash[i]), PB_OK);
        bench_close(&b);
        assert_int_equal(threads(), i ? 3 : 1);
    }
    set_threads(before);
    assert_string_equal(hash[0], hash[1]);
}

/* ---- the graph ---- */

static bool is_over(const pb_graph *g, pb_node v, pb_node u)
{
    for (uint32_t i = g->inplace_start[v]; i < g->inplace_start[v + 1]; i++)
        if (g->inplace[i] == u)
            return true;
    return false;
}

static pb_node node_of(const pb_graph *g, const char *name)
{
    pb_node v = pb_graph_find(g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no node %s", name);
    return v;
}

static void policies_are_in_the_graph(void **state)
{
    (void)state;
    need_library();
    bench b;
    bench_open(&b, &tiny[1]);
    const pb_graph *g = b.game.graph;
    pb_node norm = node_of(g, "block0.norm1"), stats = node_of(g, "block0.norm1.stats");
    assert_int_equal(g->owner[stats], norm);
    assert_true(is_over(g, node_of(g, "block0.relu1"), norm));
    assert_true(g->flags[node_of(g, "block0.conv1.dw")] & PB_NODE_KEEP);
    assert_true(g->flags[node_of(g, "images")] & PB_NODE_GIVEN);
    for (pb_node v = 0; v < g->node_count; v++) {
        assert_int_equal(g->size[v] % 64, 0);
        assert_int_equal(g->workspace[v] % 64, 0);
    }
    bench_close(&b);
    bench_open(&b, &tiny[3]);
    g = b.game.graph;
    pb_node seed = node_of(g, "seed"), drop = node_of(g, "block0.fc2_drop");
    assert_int_equal(g->size[seed], 64);
    assert_int_equal(g->in_start[drop + 1] - g->in_start[drop], 2); /* what it drops from, and the seed; no mask */
    assert_true(is_over(g, node_of(g, "block0.probs"), node_of(g, "block0.scores")));
    bench_close(&b);
}

static void no_call_of_usual_sizes_is_slow(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++) {
        bench b;
        network net = {.name = tiny[i].name, .option = {{"model", tiny[i].name}}, .count = 1};
        bench_open(&b, &net);
        assert_int_equal(pbi_train_slow_calls(b.w), 0);
        bench_close(&b);
    }
}

/* ---- options ---- */

static void refuse(const char *key, const char *value, pb_status expected, const char *reason)
{
    pb_context ctx;
    pb_workload *w = NULL;
    pb_option option[] = {{"model", "unet"}, {key, value}};
    pb_context_init(&ctx);
    assert_int_equal(pb_workload_open(&ctx, "train", option, 2, &w), expected);
    assert_null(w);
    if (!strstr(ctx.error.message, reason))
        fail_msg("%s=%s: %s", key, value, ctx.error.message);
    assert_int_equal(ctx.memory_used, 0);
}

static void values_that_cannot_be_are_refused(void **state)
{
    (void)state;
    need_library();
    refuse("model", "gpt", PB_EINVAL, "expected mlp, resnet");
    refuse("batch", "0", PB_EINVAL, "batch=0");
    refuse("batch", "4x", PB_EINVAL, "expected a whole number");
    refuse("batch", "-4", PB_EINVAL, "expected a whole number");
    refuse("classes", "1", PB_EINVAL, "whole number from 2");
    refuse("dropout", "1", PB_EINVAL, "less than 1");
    refuse("dropout", "nan", PB_EINVAL, "less than 1");
    refuse("dropout", "0.99999999999", PB_EINVAL, "less than 1");
    refuse("image", "100", PB_EINVAL, "multiple of 2^depth");
    refuse("layers", "3", PB_EUNKNOWN, "no option layers");
    pb_option uneven[] = {{"model", "transformer"}, {"heads", "3"}};
    pb_context ctx;
    pb_workload *w = NULL;
    pb_context_init(&ctx);
    assert_int_equal(pb_workload_open(&ctx, "train", uneven, 2, &w), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "must divide"));
}

static void refused_memory_is_a_clean_failure(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++)
        for (uint64_t k = 1;; k++) {
            pb_context ctx;
            failing_allocator allocator = {.refuse = k};
            pb_workload *w = NULL;
            failing_context(&ctx, &allocator);
            pb_status status = pb_workload_open(&ctx, "train", tiny[i].option, tiny[i].count, &w);
            pb_workload_close(w);
            assert_int_equal(allocator.blocks, 0);
            if (status == PB_OK && allocator.requests < k)
                break;
            assert_int_equal(status, PB_ENOMEM);
        }
}

static void without_the_library_it_says_so(void **state)
{
    (void)state;
    if (pb_train_library()) {
        assert_true(pb_train_library()[0] == '2');
        return;
    }
    pb_context ctx;
    pb_workload *w = NULL;
    pb_context_init(&ctx);
    assert_int_equal(pb_workload_open(&ctx, "train", NULL, 0, &w), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "oneDNN"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_lower_the_loss),
                                       cmocka_unit_test(other_seeds_are_other_data),
                                       cmocka_unit_test(threads_of_the_caller_change_nothing),
                                       cmocka_unit_test(policies_are_in_the_graph),
                                       cmocka_unit_test(no_call_of_usual_sizes_is_slow),
                                       cmocka_unit_test(values_that_cannot_be_are_refused),
                                       cmocka_unit_test(refused_memory_is_a_clean_failure),
                                       cmocka_unit_test(without_the_library_it_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
