/* node_table.h -- nodes that are created when first mentioned, for formats in which their fields may follow later. */
#ifndef PBI_NODE_TABLE_H
#define PBI_NODE_TABLE_H

#include "base/decimal.h"
#include "base/name_index.h"
#include "io/node_work.h"
#include "io/text_source.h"
#include "pebble/graph.h"

/* The fields of a node so far. Texts are offsets into pbi_node_table.text, 0 for none. */
typedef struct pbi_node_row {
    pbi_decimal cost;
    uint64_t size, workspace, priority;
    uint64_t group, inplace, owner; /* inplace: a list of names, owner: one name */
    uint64_t recipes;               /* JSON */
    uint64_t line, column;          /* of the first mention */
    uint64_t work[PBI_WORK_FIELDS]; /* flops and bytes; texts */
    uint16_t flags;
    bool has_flops, has_bytes;
    bool cost_stated; /* a by-product has no cost unless one is stated */
    bool described;   /* has a record, for formats that allow at most one */
} pbi_node_row;
#define PBI_NODE_STANDARD ((pbi_node_row){.cost = {1, 0}, .size = 1})

typedef struct pbi_node_table {
    pb_context *ctx;
    pb_arena *arena;
    pb_builder *builder; /* takes edges at once, nodes at the end */
    pb_buffer text;
    uint64_t *start; /* of the names in text */
    size_t start_room;
    pbi_node_row *row;
    size_t row_room;
    uint32_t count;
    pbi_name_index index;
    uint64_t order, targets; /* lists of names, offsets into text */
    uint64_t fixed, machine; /* texts */
    pbi_place order_place, targets_place, fixed_place, machine_place;
} pbi_node_table;

pb_status pbi_node_table_init(pbi_node_table *table, pb_context *ctx, pb_arena *arena);
void pbi_node_table_release(pbi_node_table *table);

/* The node of this name; a new one starts as a copy of `defaults`. The name must not contain NUL. */
pb_status pbi_node_table_get(pbi_node_table *table, const char *name, size_t length, const pbi_node_row *defaults,
                             pbi_place place, pb_node *out);
/* PB_NO_NODE if no node has this name. */
pb_node pbi_node_table_find(const pbi_node_table *table, const char *name, size_t length);
/* Stores a text; *out is its offset, never 0. */
pb_status pbi_node_table_keep(pbi_node_table *table, const char *text, size_t length, uint64_t *out);

/* A field of a node as text: cost, size, workspace, given, once, keep, target, inplace, byproduct_of, group,
 * recipes, or one of pbi_work_names. *known false: it is none of these. `place` is that of the value. */
pb_status pbi_node_table_set(pbi_node_table *table, pbi_node_row *row, pbi_slice key, pbi_slice value, pbi_place place,
                             bool *known);
/* A field of the graph as text: name, cost_unit, size_unit, fixed_size, order, targets, fixed or machine. */
pb_status pbi_node_table_set_graph(pbi_node_table *table, pbi_slice key, pbi_slice value, pbi_place place, bool *known);

/* Lists of names, separated by blanks; a backslash escapes the next byte; \e is empty, so that an empty name can be
 * written. The next name of *list is decoded into `name`; *more false at the end. */
pb_status pbi_name_list_next(const char **list, pb_buffer *name, bool *more);
/* Appends a name to such a list. */
bool pbi_name_list_add(pb_buffer *list, const char *name);

/* Everything was read: adds the nodes to the builder, resolves the names in `inplace` and `owner`, freezes the
 * graph. */
pb_status pbi_node_table_freeze(pbi_node_table *table, pb_arena *result, const pb_graph **out);

#endif
