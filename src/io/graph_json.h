/* graph_json.h -- the parts of the reader of pebble-graph/1. */
#ifndef PBI_GRAPH_JSON_H
#define PBI_GRAPH_JSON_H

#include "io/json_read.h"
#include "io/node_work.h"

/* A node: its index, or PBI_NAMED and the offset of its name in reader.names. */
typedef uint64_t pbi_reference;
#define PBI_NAMED (UINT64_C(1) << 63)

typedef enum pbi_reference_use {
    PBI_USE_EDGE,
    PBI_USE_INPLACE,
    PBI_USE_BYPRODUCT,
    PBI_USE_TARGET,
    PBI_USE_ORDER,
    PBI_USE_RECIPE, /* b is an input of recipe a */
    PBI_USE_RECIPE_INPLACE,
} pbi_reference_use;

/* A reference that waits for a name: an edge a -> b, `inplace` or `byproduct_of` b of node a, a target or next in
 * order b. */
typedef struct pbi_waiting_reference {
    pbi_reference a, b;
    uint32_t line, column;
    pbi_reference_use use;
} pbi_waiting_reference;

typedef struct pbi_placed_reference {
    pbi_reference node;
    pbi_place place;
} pbi_placed_reference;

typedef struct pbi_graph_reader {
    pb_context *ctx;
    pb_arena *scratch, *result;
    pb_arena waits; /* waiting references, released before the graph is built */
    pb_builder *builder;
    pbi_json json;
    uint32_t seen;
    bool nodes_known, order_waits;
    uint64_t max_index; /* the largest index read before the nodes were known, plus 1 */
    pbi_place max_index_place;
    pbi_waiting_reference *wait;
    size_t wait_count, wait_room;
    pb_buffer names; /* of waiting references, NUL-terminated */
    pb_buffer graph_extra, node_extra, node_name, node_group;
    pbi_placed_reference *inplace; /* of the node being read */
    size_t inplace_count, inplace_room;
    pbi_keys graph_keys, node_keys;
    pbi_work_reader work; /* of the node being read */
    pbi_work_reader recipe_work;
    pb_buffer recipe_name, recipe_extra;
    pbi_keys recipe_keys;
} pbi_graph_reader;

/* Adds the position to an error of the builder, unless memory is exhausted. */
pb_status pbi_graph_placed(pbi_graph_reader *r, pb_status status, pbi_place place);
pb_status pbi_graph_too_large(pbi_graph_reader *r, uint64_t index, pbi_place place);
/* Reads the next value as a node. */
pb_status pbi_graph_reference(pbi_graph_reader *r, pbi_field field, pbi_reference *out);
/* Passes a pair to the builder, or stores it until its names are known. */
pb_status pbi_graph_relate(pbi_graph_reader *r, pbi_reference_use use, pbi_reference a, pbi_reference b,
                           pbi_place place);
/* The document is complete: resolves all waiting names. */
pb_status pbi_graph_resolve(pbi_graph_reader *r);

/* graph_json_recipe.c: before its fields are read, and the value of the field `recipes` of node v. */
void pbi_graph_recipes_init(pbi_graph_reader *r, pb_arena *arena);
pb_status pbi_graph_read_recipes(pbi_graph_reader *r, pbi_field field, pb_node v);
/* The same from a text of DOT or CSV, after all nodes were added to the builder. */
pb_status pbi_recipes_parse(pb_builder *b, pb_arena *scratch, pb_node v, const char *text);

/* graph_json_write.c: the recipes of v as an array. */
void pbi_recipes_write(pbi_out *out, const pb_graph *g, pb_node v);

#endif
