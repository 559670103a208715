/* tests/unit/graph_fixture.h -- graphs built from short texts, for tests of the builder and of what freezing works out.
 *
 *     bench t;
 *     bench_open(&t);
 *     bench_nodes(&t, "a b c");
 *     bench_edges(&t, "a>b b>c a>c");
 *     assert_int_equal(bench_freeze(&t), PB_OK);
 *     ... t.g ...
 *     bench_close(&t);
 */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#include "pebble/graph.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_builder *b;
    const pb_graph *g;
} bench;

static inline void bench_open(bench *t)
{
    pb_context_init(&t->ctx);
    pb_arena_init(&t->arena, &t->ctx);
    t->g = NULL;
    assert_int_equal(pb_builder_new(&t->ctx, &t->b), PB_OK);
}

static inline void bench_close(bench *t)
{
    pb_builder_free(t->b);
    pb_arena_release(&t->arena);
    assert_int_equal(t->ctx.memory_used, 0);
}

static inline pb_node bench_node(bench *t, const char *name, uint64_t cost, uint64_t size, uint16_t flags)
{
    pb_node v = PB_NO_NODE;
    assert_int_equal(
        pb_builder_add_node(t->b, &(pb_node_spec){.name = name, .cost = cost, .size = size, .flags = flags}, &v),
        PB_OK);
    return v;
}

/* Nodes of cost and size 1, names separated by blanks. */
static inline void bench_nodes(bench *t, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        if (length) {
            pb_node_spec spec = {.name = names, .name_length = length, .cost = 1, .size = 1};
            assert_int_equal(pb_builder_add_node(t->b, &spec, NULL), PB_OK);
        }
        names += length + (names[length] == ' ');
    }
}

static inline pb_node bench_find(const bench *t, const char *name, size_t length)
{
    pb_node v = pb_builder_find(t->b, name, length);
    assert_int_not_equal(v, PB_NO_NODE);
    return v;
}

/* "a>b c>d". */
static inline void bench_edges(bench *t, const char *edges)
{
    for (const char *arrow = strchr(edges, '>'); arrow; arrow = strchr(edges, '>')) {
        size_t to = strcspn(arrow + 1, " ");
        pb_node from = bench_find(t, edges, (size_t)(arrow - edges));
        assert_int_equal(pb_builder_add_edge(t->b, from, bench_find(t, arrow + 1, to)), PB_OK);
        edges = arrow + 1 + to;
        edges += *edges == ' ';
    }
}

/* Names of the order, separated by blanks. */
static inline void bench_order(bench *t, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        assert_int_equal(pb_builder_add_order(t->b, bench_find(t, names, length)), PB_OK);
        names += length + (names[length] == ' ');
    }
}

/* Freezes, and audits what comes out. */
static inline pb_status bench_freeze(bench *t)
{
    pb_status status = pb_builder_freeze(t->b, &t->arena, &t->g);
    if (status == PB_OK && pb_graph_check(&t->ctx, t->g) != PB_OK)
        fail_msg("%s", t->ctx.error.message);
    return status;
}

/* Freezing must be refused with a sentence that has this piece. */
static inline void bench_refused(bench *t, pb_status status, const char *piece)
{
    size_t used = t->ctx.memory_used;
    t->g = NULL;
    assert_int_equal(pb_builder_freeze(t->b, &t->arena, &t->g), status);
    assert_null(t->g);
    assert_int_equal(t->ctx.memory_used, used); /* the result arena is as it was */
    if (!strstr(t->ctx.error.message, piece))
        fail_msg("no `%s` in `%s`", piece, t->ctx.error.message);
}

/* A row of nodes as "1 2 3". */
static inline void expect_row(const pb_node *row, uint32_t from, uint32_t to, const char *expected)
{
    char text[400] = "";
    size_t used = 0;
    for (uint32_t k = from; k < to && used < 380; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, k > from ? " " : "", row[k]);
    assert_string_equal(text, expected);
}

static inline void expect_inputs(const pb_graph *g, pb_node v, const char *expected)
{
    expect_row(g->in, g->in_start[v], g->in_start[v + 1], expected);
}

static inline void expect_readers(const pb_graph *g, pb_node v, const char *expected)
{
    expect_row(g->out, g->out_start[v], g->out_start[v + 1], expected);
}

static inline void expect_order(const pb_graph *g, const char *expected)
{
    expect_row(g->order, 0, g->order_count, expected);
}

#endif
