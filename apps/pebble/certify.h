/* certify.h -- a graph and a schedule from files, replayed: what verify, explain, export and run --plan begin with. */
#ifndef PEBBLE_APP_CERTIFY_H
#define PEBBLE_APP_CERTIFY_H

#include "app.h"

typedef struct certified {
    const pb_graph *graph;
    pb_schedule schedule;
    pb_judgement judged;
    bool has_verdict; /* judged is there */
} certified;

/* Reads both files and replays. EXIT_DONE: all is well. EXIT_ILLEGAL with a verdict: read, but the judgement's message says what
 * is wrong (not told yet). Anything else, and every code without a verdict: failed, told. */
exit_code certify(app *a, const char *graph_path, const char *schedule_path, certified *out);

/* The same for a graph and a schedule that were read already: hash, rules, addresses and figures. */
exit_code certify_schedule(app *a, certified *c);

#endif
