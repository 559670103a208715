/* emit.h -- how code builds a graph: a builder that keeps its first failure, and labels for names.
 *
 *     pbi_emit e;
 *     pbi_emit_init(&e, ctx, "chain", builder);
 *     if (pbi_emit_budget(&e, nodes, edges) != PB_OK)
 *         return e.status;
 *     pb_node v = pbi_emit_step(&e, &(pb_node_spec){...});
 *     pbi_emit_edge(&e, u, v);
 *     return e.status;
 *
 * After a failure every call does nothing, so loops need to check e.status only now and then. A cost or size of
 * UINT64_MAX, which the saturating pbi_times returns on overflow, is refused with the node's name.
 */
#ifndef PBI_EMIT_H
#define PBI_EMIT_H

#include "base/checked.h"
#include "pebble/graph.h"

/* More than any planner handles, and easily reached by a typing error. */
#define PBI_GENERATED_NODES 200000000u
#define PBI_GENERATED_EDGES 1000000000u

typedef struct pbi_emit {
    pb_context *ctx;
    pb_builder *builder;
    const char *maker; /* for messages: the family, the model */
    pb_status status;
    uint32_t since_poll;
} pbi_emit;

void pbi_emit_init(pbi_emit *e, pb_context *ctx, const char *maker, pb_builder *builder);

/* Refuses counts that are too large, before anything is built. */
pb_status pbi_emit_budget(pbi_emit *e, uint64_t nodes, uint64_t edges);

/* A node; a node that is also the next in the named order; a by-product of `owner`. */
pb_node pbi_emit_node(pbi_emit *e, const pb_node_spec *spec);
pb_node pbi_emit_step(pbi_emit *e, const pb_node_spec *spec);
pb_node pbi_emit_part(pbi_emit *e, const pb_node_spec *spec, pb_node owner);
void pbi_emit_order(pbi_emit *e, pb_node v);
void pbi_emit_edge(pbi_emit *e, pb_node from, pb_node to);
void pbi_emit_inplace(pbi_emit *e, pb_node v, pb_node input);
void pbi_emit_target(pbi_emit *e, pb_node v);
/* A recipe of v; its number is for pbi_emit_recipe_input. */
uint32_t pbi_emit_recipe(pbi_emit *e, pb_node v, const pb_recipe_spec *spec);
void pbi_emit_recipe_input(pbi_emit *e, uint32_t number, pb_node input, bool inplace);
void pbi_emit_units(pbi_emit *e, const char *cost_unit, const char *size_unit);

/* A short text built without printf, for the names of a million nodes. */
typedef struct pbi_label {
    char text[120];
    size_t length;
} pbi_label;

void pbi_label_set(pbi_label *label, const char *text);
void pbi_label_text(pbi_label *label, const char *text);
void pbi_label_number(pbi_label *label, uint64_t number);
/* "p3_14" from "p", 3, 14. */
void pbi_label_pair(pbi_label *label, const char *prefix, uint64_t a, uint64_t b);

/* a * b, or UINT64_MAX on overflow; such values never enter a graph. */
static inline uint64_t pbi_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return pbi_mul(a, b, &product) ? product : UINT64_MAX;
}

static inline uint64_t pbi_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#endif
