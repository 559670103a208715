/* tests/unit/circuit_fixture.h -- circuits read from texts, their nodes as lists of names, errors and refused memory. */
#ifndef CIRCUIT_FIXTURE_H
#define CIRCUIT_FIXTURE_H

#include "unit/reader_fixture.h"

static inline void open_bytes(desk *d, const char *bytes, size_t length, pb_format format, pb_inputs inputs)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    slow_memory memory = {bytes, length, 0, SIZE_MAX, SIZE_MAX};
    pb_read_options options = {.format = format, .inputs = inputs};
    if (pb_graph_read_with(&d->ctx, slow_source(&memory), &options, &d->arena, &d->g) != PB_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)d->ctx.error.line, (unsigned long long)d->ctx.error.column,
                 d->ctx.error.message);
    const char *fault = graph_round_trips(&d->ctx, d->g);
    if (fault)
        fail_msg("%s", fault);
}

static inline void open_as(desk *d, const char *text, pb_format format, pb_inputs inputs)
{
    open_bytes(d, text, strlen(text), format, inputs);
}

static inline void open_inputs(desk *d, const char *text, pb_inputs inputs) { open_as(d, text, READER_FORMAT, inputs); }

/* Names with blanks between them. */
static inline const char *list_of(desk *d, const pb_node *nodes, uint32_t count)
{
    char *text = pb_arena_zero(&d->arena, 1, 4096);
    for (uint32_t i = 0; i < count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, pb_graph_name(d->g, nodes ? nodes[i] : i));
    }
    return text;
}

static inline const char *all_of(desk *d) { return list_of(d, NULL, d->g->node_count); }

static inline const char *inputs_of(desk *d, const char *name)
{
    pb_node v = pb_graph_find(d->g, name);
    assert_int_not_equal(v, PB_NO_NODE);
    return list_of(d, d->g->in + d->g->in_start[v], d->g->in_start[v + 1] - d->g->in_start[v]);
}

/* The k-th allocation fails, for every k. */
static inline void expect_clean_refusals(const char *text, size_t length)
{
    const char *fault = graph_refusals_are_clean(text, length, READER_FORMAT);
    if (fault)
        fail_msg("%s", fault);
}

#endif
