/* row_json.h -- the JSON of compare and info, for the command and for the server: one code, so equal figures. */
#ifndef PEBBLE_APP_ROW_JSON_H
#define PEBBLE_APP_ROW_JSON_H

#include "pebble/pebble.h"

#include <stdio.h>

/* The fields of one row of `pebble compare --json`, without the braces. `base` is the game where the row has none. */
void json_row_fields(FILE *out, const pb_planned *p, const pb_game *base);

/* What is known of one game's least cap. */
typedef struct least_fact {
    pb_game_kind kind;
    pb_bounds bounds;
    bool known; /* some plan shows a cap that works */
    uint64_t cap;
    const char *strategy;
    const char *reason; /* why none is known */
} least_fact;

/* What `pebble info` tells of a graph. */
typedef struct graph_facts {
    const pb_graph *g;
    uint64_t written_peak, largest;
    pb_node largest_at;
    uint32_t given, byproducts, once, keep;
    least_fact games[3];
    int game_count;
} graph_facts;

/* Counts what one look at the nodes tells; `g` is set. */
void facts_gather(const pb_graph *g, graph_facts *f);
/* The fields of `pebble info --json`, without the braces. */
void json_info_fields(FILE *out, const graph_facts *f);

#endif
