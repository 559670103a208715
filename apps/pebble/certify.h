/* certify.h -- a graph and a schedule from files, replayed: what verify, explain, export and run --plan begin with. */
#ifndef PEBBLE_APP_CERTIFY_H
#define PEBBLE_APP_CERTIFY_H

#include "app.h"

typedef struct certified {
    const pb_graph *graph;
    pb_schedule schedule;
    pb_judgement judged;
    bool has_verdict; /* `judged` is set */
} certified;

/* Reads both files and replays the schedule. EXIT_DONE: it is legal. EXIT_ILLEGAL with a verdict: the message of the
 * judgement, not printed yet, says what is wrong. Any other code, or no verdict: failed, and the error is printed. */
exit_code certify(app *a, const char *graph_path, const char *schedule_path, certified *out);

/* The same for a graph and a schedule that were read already: hash, rules, addresses and figures. */
exit_code certify_schedule(app *a, certified *c);

#endif
