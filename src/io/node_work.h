/* node_work.h -- what nodes say for machines: in JSON, until the node is complete, and as text in DOT and CSV. */
#ifndef PBI_NODE_WORK_H
#define PBI_NODE_WORK_H

#include "base/out.h"
#include "io/json_read.h"
#include "pebble/graph.h"

typedef enum pbi_work_field {
    PBI_WORK_FLOPS,
    PBI_WORK_BYTES,
    PBI_WORK_OP,
    PBI_WORK_DTYPE,
    PBI_WORK_TIMES,
    PBI_WORK_ON,
    PBI_WORK_IN,
    PBI_WORK_KEEP, /* in DOT and CSV also `true` and `false`, which are not for machines */
    PBI_WORK_FIELDS
} pbi_work_field;

extern const pbi_slice pbi_work_names[PBI_WORK_FIELDS];

/* The notes of node v of this kind, which are next to each other. */
const pb_note *pbi_notes_of(const pb_graph *g, pb_node v, pb_note_kind kind, uint32_t *count);

/* ---- DOT and CSV: `times` is a list of names as "gpu=12345 cpu=67890", `on` as "gpu cpu" ---- */

/* The value of a field as text, in `room` or in the graph; NULL: the node does not state it. False: out of memory. */
bool pbi_work_text(const pb_graph *g, pb_node v, pbi_work_field which, pb_buffer *room, const char **text);
/* The same for the graph's fields `fixed` and `machine`, which is its canonical text. */
bool pbi_graph_fixed_text(const pb_graph *g, pb_buffer *room, const char **text);
bool pbi_graph_machine_text(pb_context *ctx, const pb_graph *g, pb_buffer *room, const char **text);
/* The same for the recipes of a node, which are JSON in those formats. */
bool pbi_recipes_text(pb_context *ctx, const pb_graph *g, pb_node v, pb_buffer *room, const char **text);
/* Adds the notes of such a list: PB_NOTE_TIME with numbers (v PB_NO_NODE: `fixed`), PB_NOTE_ON without. */
pb_status pbi_add_note_list(pb_builder *b, pb_node v, pb_note_kind kind, const char *list, pb_buffer *name);

/* ---- JSON ---- */

/* A note that waits for its node: the name is at `at` of pbi_work_reader.text. */
typedef struct pbi_waiting_note {
    pb_note_kind kind;
    size_t at;
    uint64_t value;
} pbi_waiting_note;

typedef struct pbi_work_reader {
    pb_arena *arena;
    pb_work work;     /* without texts */
    size_t op, dtype; /* in `text`; 0: not stated */
    pb_buffer text;
    pbi_waiting_note *note;
    size_t count, room;
} pbi_work_reader;

void pbi_work_init(pbi_work_reader *w, pb_arena *arena);
void pbi_work_clear(pbi_work_reader *w);
/* The value of a field of the node. */
pb_status pbi_work_read(pbi_work_reader *w, pbi_json *json, pbi_field field, pbi_work_field which);
/* The node's work; its texts live until the next call. */
pb_work pbi_work_of(const pbi_work_reader *w);
/* Passes the notes to the builder. */
pb_status pbi_work_note(const pbi_work_reader *w, pb_builder *b, pb_node v);
/* The graph's field `fixed`, between nodes. */
pb_status pbi_work_read_fixed(pbi_work_reader *w, pbi_json *json, pbi_field field, pb_builder *b);

#endif
