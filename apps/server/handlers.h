/* handlers.h -- the handlers of API requests (docs/server.md). */
#ifndef PEBBLE_SERVER_HANDLERS_H
#define PEBBLE_SERVER_HANDLERS_H

#include "request.h"

void handle_about(request *r);
void handle_health(request *r);
void handle_new_graph(request *r);
void handle_graph(request *r, stored_graph *g, const char *what);
void handle_new_job(request *r, stored_graph *g);
void handle_job(request *r, job *j, const char *what);
void handle_plan(request *r, job *j, const pb_plan_result *p, uint64_t number, const char *what);

/* Computes the facts, hash, bounds and name of a graph that was just read. */
pb_status graph_complete(stored_graph *g, const char *name);
/* Reads a graph file, as the arguments of the request say (NULL: as the options of the server do); on failure NULL,
 * with `error` filled. */
stored_graph *graph_from_bytes(const server *s, const request *r, const char *name, pb_memory bytes, pb_status *status,
                               pb_error *error);
pb_status graph_make(stored_graph *g, const char *family, const pb_option *params, uint32_t count);

/* Binary forms. */
void binary_layout(request *r, const pb_graph *g);
void binary_names(request *r, const pb_graph *g);
void binary_frames(request *r, const pb_plan_result *p);

typedef struct gallery_item {
    const char *id, *title, *text, *family, *parameters; /* "steps=100 grad-size=1" */
    const char *game, *cap, *strategies;                 /* NULL: all games; strategies are separated by blanks */
    const char *prices;                                  /* JSON, or NULL */
    const char *beside; /* rows played next to the winner, as strategy/game; NULL: none */
} gallery_item;
extern const gallery_item gallery[];
extern const size_t gallery_count;
enum { MAX_PARAMETERS = 32 };
/* The parameters of an item; strings are in `arena`. Returns the count, or -1 if out of memory. */
int gallery_parameters(const gallery_item *item, pb_arena *arena, pb_option params[MAX_PARAMETERS]);

#endif
