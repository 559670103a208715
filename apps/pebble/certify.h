/* certify.h -- a graph and a schedule from files, replayed: what verify, explain and export begin with. */
#ifndef PEBBLE_APP_CERTIFY_H
#define PEBBLE_APP_CERTIFY_H

#include "app.h"

typedef struct certified {
    const pb_graph *graph;
    pb_schedule schedule;
    pb_game game;
    pb_verdict verdict;
    pb_metrics metrics; /* when legal */
    bool same_graph;    /* the schedule's hash is the graph's, or it has none */
    char message[640];  /* what is wrong; "" when nothing is */
} certified;

/* Reads both files and replays. EXIT_DONE: all is well. EXIT_ILLEGAL: read, but `message` says what is wrong (not
 * told yet). Anything else: failed, told. */
exit_code certify(app *a, const char *graph_path, const char *schedule_path, certified *out);

#endif
