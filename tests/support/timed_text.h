/* timed_text.h -- graphs and timed schedules written as short JSON texts. */
#ifndef TIMED_TEXT_H
#define TIMED_TEXT_H

#include "pebble/api.h"
#include "pebble/io.h"

typedef struct timed_text {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *graph;
    pb_schedule schedule;
    pb_judgement judged;
} timed_text;

/* A machine with the memories hbm (cap 10) and host, the processors gpu and gpu2, and links out, in and bus. */
extern const char timed_machine[];

/* Fills in the documents around `nodes` and `edges` (members of a graph without the brackets) and around the moves, and
 * judges the schedule. `machine` NULL: timed_machine; `more`: members of the schedule, "" for none. */
pb_status timed_text_judge(timed_text *t, const char *nodes, const char *edges, const char *moves, const char *machine,
                           const char *more);
void timed_text_close(timed_text *t);

#endif
