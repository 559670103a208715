/* test_train_plans.c -- networks under caps: bits as when everything is kept, the peak as planned. */
#include "train_fixture.h"

#include <stdlib.h>

enum { STEPS = 2 };

static void digest_of(bench *b, char hash[PB_HASH_TEXT])
{
    bench_steps(b, STEPS);
    assert_int_equal(pb_workload_digest(b->w, b->e, hash), PB_OK);
}

/* From the peak in program order down until a search finds nothing, then a few caps between. */
static void walk_down(bench *b, const network *net, const char *all)
{
    enum { HALVINGS = 2 };
    uint64_t good = b->written, bad = 0, found = 0, recomputing = 0;
    char hash[PB_HASH_TEXT];
    for (int halvings = 0; halvings <= HALVINGS;) {
        uint64_t cap = !found ? good : bad ? (good + bad) / 2 : good / 100 * 85;
        halvings += bad > 0;
        if (!bench_plan(b, "search", cap)) {
            bad = cap;
            continue;
        }
        good = cap;
        digest_of(b, hash);
        if (strcmp(all, hash) != 0)
            fail_msg("%s: other results under a cap of %llu", net->name, (unsigned long long)cap);
        assert_true(b->m.peak <= cap);
        found++;
        recomputing += b->m.recomputed > 0;
    }
    print_message("%s: from %llu down to %llu bytes, %u plans, %u of them recompute\n", net->name,
                  (unsigned long long)b->written, (unsigned long long)good, (unsigned)found, (unsigned)recomputing);
    assert_true(found >= 3 && recomputing >= 2);
}

static void any_plan_gives_the_bits_of_keeping_everything(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++) {
        bench b;
        char all[PB_HASH_TEXT], again[PB_HASH_TEXT];
        bench_open_wide(&b, &tiny[i]);
        assert_int_equal(pb_graph_check(&b.ctx, b.game.graph), PB_OK);
        assert_true(bench_plan(&b, "cache-all", PB_UNLIMITED));
        digest_of(&b, all);
        assert_int_equal(b.m.recomputed, 0);
        digest_of(&b, again); /* from the start once more, in the same memory */
        assert_string_equal(all, again);
        walk_down(&b, &tiny[i], all);
        bench_close(&b);
    }
}

/* ---- kernels write what is theirs, all of it, and look at nothing else ---- */

typedef struct guard {
    const pb_kernels *inner;
    const pb_graph *g;
    uint64_t *sum; /* by node */
} guard;

static uint64_t sum_of(const void *bytes, uint64_t size)
{
    const uint64_t *word = bytes;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size / sizeof *word; i++)
        sum = sum * 31 + word[i];
    return sum;
}

static bool is_made(const guard *w, const pb_call *call, pb_node v)
{
    return v == call->node || (w->g->owner && w->g->owner[v] == call->node);
}

static bool is_input(const guard *w, pb_node u, pb_node v)
{
    for (uint32_t i = w->g->in_start[v]; i < w->g->in_start[v + 1]; i++)
        if (w->g->in[i] == u)
            return true;
    return false;
}

/* Garbage, not numbers among it, where results go; a value made over an input is left as it is. */
static void spoil(const guard *w, const pb_call *call)
{
    bool over = false;
    for (pb_node v = 0; v < w->g->node_count; v++)
        over |= v != call->node && call->value[v] == call->value[call->node] && is_input(w, v, call->node);
    for (pb_node v = 0; v < w->g->node_count; v++)
        if (is_made(w, call, v) && call->value[v] && !(over && v == call->node))
            memset(call->value[v], 0xff, w->g->size[v]);
    if (w->g->workspace[call->node])
        memset(call->workspace, 0xff, w->g->workspace[call->node]);
}

/* A value's last word is written by its kernel: not a number was there before. */
static void check_tail(const guard *w, const pb_call *call)
{
    for (pb_node v = 0; v < w->g->node_count; v++) {
        if (!is_made(w, call, v) || !call->value[v])
            continue;
        uint32_t last;
        memcpy(&last, (unsigned char *)call->value[v] + w->g->size[v] - sizeof last, sizeof last);
        if (last == UINT32_MAX)
            fail_msg("%s did not write all of %s", pb_graph_name(w->g, call->node), pb_graph_name(w->g, v));
    }
}

static pb_status guarded(void *state, pb_context *ctx, const pb_call *call)
{
    guard *w = state;
    spoil(w, call);
    for (pb_node v = 0; v < w->g->node_count; v++)
        if (call->value[v])
            w->sum[v] = sum_of(call->value[v], w->g->size[v]);
    pb_status status = w->inner->of[call->node](w->inner->state, ctx, call);
    check_tail(w, call);
    for (pb_node v = 0; v < w->g->node_count; v++)
        if (call->value[v] && call->value[v] != call->value[call->node] && !is_made(w, call, v) &&
            w->sum[v] != sum_of(call->value[v], w->g->size[v]))
            fail_msg("%s wrote over %s", pb_graph_name(w->g, call->node), pb_graph_name(w->g, v));
    return status;
}

static pb_status guarded_fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    guard *w = state;
    memset(bytes, 0xff, w->g->size[v]);
    return w->inner->fill(w->inner->state, ctx, v, bytes);
}

static void run_guarded(bench *b, const char *strategy, uint64_t cap, char hash[PB_HASH_TEXT])
{
    const pb_graph *g = b->game.graph;
    guard w = {pb_workload_kernels(b->w), g, calloc(g->node_count, sizeof *w.sum)};
    pb_kernel *of = calloc(g->node_count, sizeof *of);
    pb_plan_result planned;
    pb_request request = PB_REQUEST_DEFAULT;
    assert_true(w.sum && of);
    for (pb_node v = 0; v < g->node_count; v++)
        of[v] = w.inner->of[v] ? guarded : NULL;
    pb_kernels kernels = {.of = of, .state = &w, .fill = guarded_fill};
    request.strategy = strategy;
    b->game.cap = cap;
    assert_int_equal(pb_plan(&b->ctx, &b->game, &request, &b->arena, &planned), PB_OK);
    assert_non_null(planned.certificate);
    b->peak = pb_certificate_totals(planned.certificate)->peak;
    pb_engine_options options = {.max_bytes = b->peak / 4 * 5};
    pb_engine_free(b->e);
    assert_int_equal(pb_engine_new(&b->ctx, planned.certificate, &kernels, &options, &b->e), PB_OK);
    digest_of(b, hash);
    pb_engine_free(b->e);
    b->e = NULL;
    free(of);
    free(w.sum);
}

static void kernels_write_what_is_theirs_and_all_of_it(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++) {
        bench b;
        char all[PB_HASH_TEXT], spoilt[PB_HASH_TEXT];
        bench_open_wide(&b, &tiny[i]);
        assert_true(bench_plan(&b, "cache-all", PB_UNLIMITED));
        digest_of(&b, all);
        run_guarded(&b, "last-use", PB_UNLIMITED, spoilt);
        assert_string_equal(all, spoilt);
        run_guarded(&b, "search", b.written / 100 * 70, spoilt);
        assert_string_equal(all, spoilt);
        bench_close(&b);
    }
}

/* Numbers that no vector, block or cache line is a multiple of. */
static void odd_sizes_are_as_good(void **state)
{
    (void)state;
    need_library();
    static const network odd[] = {
        {"mlp", {{"model", "mlp"}, {"batch", "7"}, {"depth", "2"}, {"width", "17"}, {"image", "5"}}, 5, NULL},
        {"resnet", {{"model", "resnet"}, {"batch", "3"}, {"depth", "1"}, {"width", "20"}, {"image", "9"}}, 5, NULL},
        {"unet", {{"model", "unet"}, {"batch", "1"}, {"depth", "1"}, {"image", "10"}, {"classes", "3"}}, 5, NULL},
        {"narrow unet", {{"model", "unet"}, {"batch", "1"}, {"depth", "2"}, {"width", "12"}, {"image", "12"}}, 5, NULL},
        {"transformer",
         {{"model", "transformer"},
          {"batch", "3"},
          {"depth", "1"},
          {"width", "39"},
          {"sequence", "11"},
          {"heads", "3"},
          {"classes", "37"}},
         7,
         NULL}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bench b;
        char all[PB_HASH_TEXT], spoilt[PB_HASH_TEXT];
        bench_open(&b, &odd[i]);
        assert_true(bench_plan(&b, "cache-all", PB_UNLIMITED));
        digest_of(&b, all);
        run_guarded(&b, "last-use", PB_UNLIMITED, spoilt);
        assert_string_equal(all, spoilt);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_plan_gives_the_bits_of_keeping_everything),
                                       cmocka_unit_test(kernels_write_what_is_theirs_and_all_of_it),
                                       cmocka_unit_test(odd_sizes_are_as_good)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
