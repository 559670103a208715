/* graph_builder.h -- the builder's content, for freeze. */
#ifndef PBI_GRAPH_BUILDER_H
#define PBI_GRAPH_BUILDER_H

#include "base/decimal.h"
#include "base/name_index.h"
#include "pebble/graph.h"

/* Texts with an index: node names, group names. Entry i is text + start[i], NUL-terminated. */
typedef struct pbi_names {
    char *text;
    size_t text_used, text_room;
    uint64_t *start;
    size_t count, start_room;
    pbi_name_index index;
} pbi_names;

typedef struct pbi_pair {
    pb_node a, b;
} pbi_pair;

/* A growing list of pairs. */
typedef struct pbi_pairs {
    pbi_pair *item;
    size_t count, room;
} pbi_pairs;

typedef struct pbi_nodes {
    pb_node *item;
    size_t count, room;
} pbi_nodes;

typedef struct pbi_record {
    uint64_t cost, size, workspace;
    uint32_t group; /* UINT32_MAX: none */
    uint16_t flags;
    uint64_t priority;
} pbi_record;

/* A note of a node; PB_NO_NODE: memory in use by the graph. */
typedef struct pbi_noted {
    pb_node node;
    pb_note note;
} pbi_noted;

typedef struct pbi_extra {
    pb_node node;
    char *text;
} pbi_extra;

/* A recipe and its node; rows and times follow in lists by number. */
typedef struct pbi_recipe_record {
    pb_node node;
    char *name, *extra;
    uint64_t cost, workspace;
    pb_node_work work;
} pbi_recipe_record;

/* A measured duration of a recipe. */
typedef struct pbi_recipe_time {
    uint32_t recipe;
    pb_note note;
} pbi_recipe_time;

struct pb_builder {
    pb_context *ctx;
    pb_arena arena; /* has everything below; the builder itself is in `home` */
    pb_arena home;
    pbi_names names, groups;
    pbi_record *record;
    size_t record_room;
    pbi_pairs edges;     /* from, to */
    pbi_pairs inplace;   /* node, input */
    pbi_pairs byproduct; /* by-product, owner */
    pbi_nodes targets, order;
    pbi_names words;    /* of work and notes */
    pb_node_work *work; /* by node, as far as the last node with one; NULL: none */
    size_t work_count, work_room;
    pbi_noted *notes;
    size_t note_count, note_room;
    pbi_recipe_record *recipes;
    size_t recipe_count, recipe_room;
    pbi_pairs recipe_in, recipe_inplace; /* recipe, input */
    pbi_recipe_time *recipe_times;
    size_t recipe_time_count, recipe_time_room;
    const pb_machine *machine;
    pbi_extra *extras;
    size_t extra_count, extra_room;
    char *extra; /* of the graph */
    char *name, *cost_unit, *size_unit;
    uint64_t fixed_size;
    bool forward_only;
    uint32_t cost_digits; /* costs are in 10^-cost_digits of the file's unit */
};

/* The number of a text, which is added if it is new. */
pb_status pbi_names_number(pb_builder *b, pbi_names *names, const char *text, size_t length, uint32_t *out);

pb_status pbi_pairs_add(pb_builder *b, pbi_pairs *pairs, pb_node x, pb_node y);

/* graph_notes.c: the number of a word, PB_NO_WORD for an empty one; the work of node `v`, the last one so far; and
 * everything that is for machines in the graph. */
pb_status pbi_word_number(pb_builder *b, const char *word, uint32_t *out);
pb_status pbi_builder_take_work(pb_builder *b, pb_node v, const pb_work *spec);
pb_status pbi_freeze_notes(pb_builder *b, pb_graph *g, pb_arena *result);

/* graph_recipes.c: after the words. */
pb_status pbi_freeze_recipes(pb_builder *b, pb_graph *g, pb_arena *result, pb_arena *scratch);

/* Decimals that a cost may have. */
#define PBI_COST_DIGITS 12

/* A cost as read: *out is the node's cost in the unit of all costs; if the unit becomes finer, earlier costs are
 * scaled.
 *   returns PB_ERANGE a cost then passes 64 bits */
pb_status pbi_builder_take_cost(pb_builder *b, pbi_decimal value, uint64_t *out);
/* After the last cost: names their unit, "us" for 0.001 ms, "0.1 step" for 0.1 step. */
pb_status pbi_builder_name_cost_unit(pb_builder *b);

#endif
