/* progress.h -- Ctrl-C, the time limit, and a line that shows what takes long. */
#ifndef PEBBLE_APP_PROGRESS_H
#define PEBBLE_APP_PROGRESS_H

#include "pebble/base.h"

typedef struct progress {
    double begin, deadline; /* seconds of a monotonic clock; deadline 0: none */
    double shown_at;
    bool show, visible;
    pb_context *ctx;
    uint64_t tick_limit;
    pb_stop stopped; /* why the planning stopped */
} progress;

double seconds_now(void);

/* Hooks the callbacks into ctx and catches Ctrl-C: while planning the first one asks the planners to stop; any
 * other ends the program. `show` allows the line, which appears after a second, on a terminal only. */
void progress_begin(progress *p, pb_context *ctx, bool show);
/* Stop `seconds` after the program began; if reading took more than half of that, half of it from now. */
void progress_limit(progress *p, double seconds);
/* The time that is left; 0 if there is no limit. */
uint64_t progress_left_ns(const progress *p);
/* Erase the line, if there is one. */
void progress_clear(progress *p);
/* Planning starts or ends: while it lasts, the first Ctrl-C stops the planners and keeps the best plan. */
void progress_planning(progress *p, bool begins);
/* Measure by the processor time of this process, or by the wall clock again. */
void progress_cpu_clock(progress *p, bool begins);
/* Has Ctrl-C been pressed? */
bool progress_interrupted(void);

/* A file to remove if a second Ctrl-C ends the program; NULL: none. The text must stay valid. */
void progress_guard_file(const char *path);

#endif
