/* workload_runs.h -- a workload, planned and run at many caps: equal bits, and the plan's peak to the byte. */
#ifndef WORKLOAD_RUNS_H
#define WORKLOAD_RUNS_H

#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MOST_OPTIONS = 12 };

typedef struct runs {
    pb_context ctx;
    pb_arena arena;
    pb_workload *w;
    bool loose; /* the block may be twice the peak: addresses are found at once */
    char text[400];
} runs;

/* "height=5,leaf=64"; what it returns is the status of opening. */
static inline pb_status runs_open_with(runs *r, const char *name, const char *options)
{
    pb_option option[MOST_OPTIONS];
    uint32_t count = 0;
    r->ctx.tick_limit = 50000;
    pb_arena_init(&r->arena, &r->ctx);
    r->w = NULL;
    r->loose = false;
    snprintf(r->text, sizeof r->text, "%s", options);
    for (char *at = r->text; *at && count < MOST_OPTIONS;) {
        char *value = strchr(at, '='), *end = at + strcspn(at, ",");
        *value = '\0';
        option[count++] = (pb_option){at, value + 1};
        at = *end ? end + 1 : end;
        *end = '\0';
    }
    return pb_workload_open(&r->ctx, name, option, count, &r->w);
}

static inline pb_status runs_try(runs *r, const char *name, const char *options)
{
    pb_context_init(&r->ctx);
    return runs_open_with(r, name, options);
}

static inline void runs_open(runs *r, const char *name, const char *options)
{
    pb_status status = runs_try(r, name, options);
    if (status != PB_OK)
        fail_msg("%s", r->ctx.error.message);
    assert_int_equal(pb_graph_check(&r->ctx, pb_workload_graph(r->w)), PB_OK);
}

static inline void runs_close(runs *r)
{
    pb_workload_close(r->w);
    pb_arena_release(&r->arena);
}

/* Opening fails with this status and a sentence that has this text. */
static inline void runs_refuse(const char *name, const char *options, pb_status status, const char *text)
{
    runs r;
    assert_int_equal(runs_try(&r, name, options), status);
    if (!strstr(r.ctx.error.message, text))
        fail_msg("'%s' is not in: %s", text, r.ctx.error.message);
    pb_arena_release(&r.arena);
    assert_int_equal(r.ctx.memory_used, 0);
}

/* An allocator that gives *state times memory, then never. */
static inline void *runs_scarce(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    uint64_t *left = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return *left ? --*left, realloc(block, new_bytes) : NULL;
}

/* With the k-th allocation refused opening fails, for every k, and leaves nothing behind. */
static inline void runs_starve(const char *name, const char *options)
{
    pb_status status = PB_ENOMEM;
    for (uint64_t k = 0; status != PB_OK; k++) {
        uint64_t left = k;
        runs r;
        pb_context_init(&r.ctx);
        r.ctx.resize = runs_scarce;
        r.ctx.allocator_state = &left;
        status = runs_open_with(&r, name, options);
        if (status == PB_OK)
            pb_workload_close(r.w);
        else
            assert_int_equal(status, PB_ENOMEM);
        pb_arena_release(&r.arena);
        assert_int_equal(r.ctx.memory_used, 0);
        assert_true(k < 1000);
    }
}

static inline pb_game runs_game(const runs *r, uint64_t cap)
{
    return (pb_game){
        .graph = pb_workload_graph(r->w), .kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
}

/* Runs a certified plan; *result, when not NULL, gets the value of the last kept node. */
static inline void runs_run(runs *r, const pb_certificate *plan, char digest[PB_HASH_TEXT], pb_measured *m,
                            void *result)
{
    pb_engine *e;
    const pb_graph *g = pb_workload_graph(r->w);
    pb_engine_options how = {.max_bytes = r->loose ? 2 * pb_certificate_totals(plan)->peak : 0, .slow_path = {"."}};
    if (pb_engine_new(&r->ctx, plan, pb_workload_kernels(r->w), &how, &e) != PB_OK)
        fail_msg("%s", r->ctx.error.message);
    assert_int_equal(pb_workload_begin(r->w, 0, e), PB_OK);
    if (pb_engine_run(e, m) != PB_OK)
        fail_msg("%s", r->ctx.error.message);
    assert_int_equal(m->peak, pb_certificate_totals(plan)->peak);
    assert_int_equal(pb_workload_end(r->w, 0, e), PB_OK);
    assert_int_equal(pb_workload_digest(r->w, e, digest), PB_OK);
    for (pb_node v = 0; result && v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_KEEP)
            memcpy(result, pb_engine_value(e, v), g->size[v]);
    pb_engine_free(e);
}

/* The same with an engine that looks for errors of kernels: bytes that they must not write or read. */
static inline void runs_check(runs *r, const pb_certificate *plan, const char *digest)
{
    pb_engine *e;
    pb_measured m;
    char again[PB_HASH_TEXT];
    pb_engine_options how = {.check = true, .slow_path = {"."}};
    how.max_bytes = r->loose ? 3 * pb_certificate_totals(plan)->peak : 0;
    if (pb_engine_new(&r->ctx, plan, pb_workload_kernels(r->w), &how, &e) != PB_OK)
        fail_msg("%s", r->ctx.error.message);
    assert_int_equal(pb_workload_begin(r->w, 0, e), PB_OK);
    if (pb_engine_run(e, &m) != PB_OK)
        fail_msg("%s", r->ctx.error.message);
    assert_int_equal(pb_workload_end(r->w, 0, e), PB_OK);
    assert_int_equal(pb_workload_digest(r->w, e, again), PB_OK);
    assert_string_equal(digest, again);
    pb_engine_free(e);
}

static inline void runs_plan(runs *r, const pb_game *game, const char *strategy, pb_plan_result *planned)
{
    pb_request request = PB_REQUEST_DEFAULT;
    request.strategy = strategy;
    clock_t t0 = clock();
    assert_int_equal(pb_plan(&r->ctx, game, &request, &r->arena, planned), PB_OK);
    if (getenv("RUNS_SHOW"))
        fprintf(stderr, "%s by %s: planned in %.2f s\n", strategy, planned->schedule.strategy,
                (double)(clock() - t0) / CLOCKS_PER_SEC);
    if (!planned->certificate)
        fail_msg("no plan under %llu: %s", (unsigned long long)game->cap, planned->schedule.reason);
}

/* False: nothing was found under this cap with so little effort. */
static inline bool runs_tried(runs *r, uint64_t cap, const char *strategy, pb_plan_result *planned)
{
    pb_game game = runs_game(r, cap);
    pb_request request = PB_REQUEST_DEFAULT;
    request.strategy = strategy;
    assert_int_equal(pb_plan(&r->ctx, &game, &request, &r->arena, planned), PB_OK);
    return planned->certificate;
}

static inline pb_measured runs_at(runs *r, uint64_t cap, const char *strategy, char digest[PB_HASH_TEXT])
{
    pb_plan_result planned;
    pb_measured m;
    pb_game game = runs_game(r, cap);
    runs_plan(r, &game, strategy, &planned);
    runs_run(r, planned.certificate, digest, &m, NULL);
    assert_true(m.peak <= cap);
    return m;
}

static inline uint64_t runs_least(runs *r, pb_plan_result *planned)
{
    pb_game game = runs_game(r, PB_UNLIMITED);
    clock_t t0 = clock();
    assert_int_equal(pb_least_cap(&r->ctx, &game, &PB_REQUEST_DEFAULT, &r->arena, planned), PB_OK);
    if (getenv("RUNS_SHOW"))
        fprintf(stderr, "least cap in %.2f s\n", (double)(clock() - t0) / CLOCKS_PER_SEC);
    assert_non_null(planned->certificate);
    return pb_certificate_totals(planned->certificate)->peak;
}

static inline void runs_show(uint64_t cap, const pb_measured *m)
{
    if (getenv("RUNS_SHOW"))
        fprintf(stderr, "cap %llu: peak %llu, block %llu, %llu computed, %llu again\n", (unsigned long long)cap,
                (unsigned long long)m->peak, (unsigned long long)m->block, (unsigned long long)m->computed,
                (unsigned long long)m->recomputed);
}

/* From 100 % down, in so many caps, and at the least cap that is known: the digest of storing everything each time. */
static inline void runs_down(runs *r, uint32_t caps, const char *strategy, char digest[PB_HASH_TEXT])
{
    pb_plan_result least;
    uint64_t high, low = runs_least(r, &least);
    char again[PB_HASH_TEXT];
    pb_measured m = runs_at(r, PB_UNLIMITED, "cache-all", digest);
    assert_int_equal(m.recomputed, 0);
    assert_int_equal(pb_graph_program_peak(&r->ctx, pb_workload_graph(r->w), &high), PB_OK);
    assert_true(low <= high);
    for (uint32_t i = 0; i < caps; i++) {
        uint64_t cap = high - (high - low) / caps * i;
        pb_plan_result planned;
        if (!runs_tried(r, cap, strategy, &planned))
            continue;
        runs_run(r, planned.certificate, again, &m, NULL);
        assert_true(m.peak <= cap);
        assert_string_equal(digest, again);
        runs_show(cap, &m);
    }
    runs_run(r, least.certificate, again, &m, NULL);
    assert_string_equal(digest, again);
    runs_show(low, &m);
    runs_check(r, least.certificate, digest);
}

#endif
