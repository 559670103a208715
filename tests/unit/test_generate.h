/* test_generate.h -- what the tests of generators share: making a graph, asking who reads what. */
#ifndef TEST_GENERATE_H
#define TEST_GENERATE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "pebble/generate.h"

typedef struct made {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_status status;
} made;

/* `words`: "key=value key=value". */
static inline void make(made *m, const char *family, const char *words)
{
    char text[256];
    pb_option options[16];
    uint32_t count = 0;
    assert_true(strlen(words) < sizeof text);
    memcpy(text, words, strlen(words) + 1);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        char *value = strchr(at, '=');
        assert_non_null(value);
        *value = 0;
        options[count++] = (pb_option){at, value + 1};
    }
    pb_context_init(&m->ctx);
    pb_arena_init(&m->arena, &m->ctx);
    m->g = NULL;
    m->status = pb_generate(&m->ctx, family, options, count, &m->arena, &m->g);
}

static inline void unmake(made *m)
{
    pb_arena_release(&m->arena);
    assert_int_equal(m->ctx.memory_used, 0);
}

/* Makes a graph that must be sound: frozen, audited, with a named order that puts inputs first. */
static inline const pb_graph *make_sound(made *m, const char *family, const char *words)
{
    make(m, family, words);
    if (m->status != PB_OK)
        print_error("%s %s: %s\n", family, words, m->ctx.error.message);
    assert_int_equal(m->status, PB_OK);
    if (pb_graph_check(&m->ctx, m->g) != PB_OK)
        fail_msg("%s %s: %s", family, words, m->ctx.error.message);
    return m->g;
}

static inline void expect_hash(const char *family, const char *words, char hash[PB_HASH_TEXT])
{
    made m;
    make_sound(&m, family, words);
    assert_int_equal(pb_graph_hash(&m.ctx, m.g, hash), PB_OK);
    unmake(&m);
}

static inline void expect_refusal(const char *family, const char *words, pb_status status, const char *sentence)
{
    made m;
    make(&m, family, words);
    assert_int_equal(m.status, status);
    assert_string_equal(m.ctx.error.message, sentence);
    assert_null(m.g);
    unmake(&m);
}

static inline pb_node node_of(const pb_graph *g, const char *name)
{
    pb_node v = pb_graph_find(g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no node '%s'", name);
    return v;
}

/* Exactly these inputs: "a b c", in any order; "" for none. */
static inline void expect_reads(const pb_graph *g, const char *name, const char *inputs)
{
    pb_node v = node_of(g, name);
    char text[256];
    uint32_t count = 0;
    memcpy(text, inputs, strlen(inputs) + 1);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " "), count++) {
        pb_node u = node_of(g, at);
        bool found = false;
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            found |= g->in[i] == u;
        if (!found)
            fail_msg("'%s' does not read '%s'", name, at);
    }
    if (g->in_start[v + 1] - g->in_start[v] != count)
        fail_msg("'%s' reads %u values, not %u", name, g->in_start[v + 1] - g->in_start[v], count);
}

static inline bool may_overwrite(const pb_graph *g, const char *name, const char *input)
{
    pb_node v = node_of(g, name), u = node_of(g, input);
    for (uint32_t i = g->inplace_start ? g->inplace_start[v] : 0; g->inplace_start && i < g->inplace_start[v + 1]; i++)
        if (g->inplace[i] == u)
            return true;
    return false;
}

static inline uint64_t cost_of(const pb_graph *g, const char *name) { return g->cost[node_of(g, name)]; }
static inline uint64_t size_of(const pb_graph *g, const char *name) { return g->size[node_of(g, name)]; }

#endif
