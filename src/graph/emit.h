/* emit.h -- how code writes a graph: a builder whose first failure sticks, and labels for names.
 *
 *     pbi_emit e;
 *     pbi_emit_init(&e, ctx, "chain", builder);
 *     if (pbi_emit_budget(&e, nodes, edges) != PB_OK)
 *         return e.status;
 *     pb_node v = pbi_emit_step(&e, &(pb_node_spec){...});
 *     pbi_emit_edge(&e, u, v);
 *     return e.status;
 *
 * After a failure every call does nothing, so loops need only look at e.status now and then. A cost or size of
 * UINT64_MAX, which the saturating pbi_times gives on overflow, is refused by name.
 */
#ifndef PBI_EMIT_H
#define PBI_EMIT_H

#include "base/checked.h"
#include "pebble/graph.h"

/* More than any planner takes, and a slip of the keyboard away from a useful number. */
#define PBI_GENERATED_NODES 200000000u
#define PBI_GENERATED_EDGES 1000000000u

typedef struct pbi_emit {
    pb_context *ctx;
    pb_builder *builder;
    const char *maker; /* begins sentences: the family, the model */
    pb_status status;
    uint32_t since_poll;
} pbi_emit;

void pbi_emit_init(pbi_emit *e, pb_context *ctx, const char *maker, pb_builder *builder);

/* Refuse counts that are too large, before anything is built. */
pb_status pbi_emit_budget(pbi_emit *e, uint64_t nodes, uint64_t edges);

/* A node alone; a node that is also the next of the named order; a by-product of `owner`. */
pb_node pbi_emit_node(pbi_emit *e, const pb_node_spec *spec);
pb_node pbi_emit_step(pbi_emit *e, const pb_node_spec *spec);
pb_node pbi_emit_part(pbi_emit *e, const pb_node_spec *spec, pb_node owner);
void pbi_emit_order(pbi_emit *e, pb_node v);
void pbi_emit_edge(pbi_emit *e, pb_node from, pb_node to);
void pbi_emit_inplace(pbi_emit *e, pb_node v, pb_node input);
void pbi_emit_target(pbi_emit *e, pb_node v);
void pbi_emit_units(pbi_emit *e, const char *cost_unit, const char *size_unit);

/* A short text put together without printf: names of a million nodes are made this way. */
typedef struct pbi_label {
    char text[120];
    size_t length;
} pbi_label;

void pbi_label_set(pbi_label *label, const char *text);
void pbi_label_text(pbi_label *label, const char *text);
void pbi_label_number(pbi_label *label, uint64_t number);
/* "p3_14" from "p", 3, 14. */
void pbi_label_pair(pbi_label *label, const char *prefix, uint64_t a, uint64_t b);

/* a * b, or UINT64_MAX where that overflows; such values never enter a graph. */
static inline uint64_t pbi_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return pbi_mul(a, b, &product) ? product : UINT64_MAX;
}

static inline uint64_t pbi_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#endif
