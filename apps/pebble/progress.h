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
/* Stop `seconds` after the program began; where reading took more than half of that, half of it from now. */
void progress_limit(progress *p, double seconds);
/* Time until then, 0 where there is no limit. */
uint64_t progress_left_ns(const progress *p);
/* Erase the line, if there is one. */
void progress_clear(progress *p);
/* From here on (or no more) there may be a plan worth waiting for after Ctrl-C. */
void progress_planning(progress *p, bool begins);
/* Measure by the processor time of this process, or by the clock on the wall again. */
void progress_cpu_clock(progress *p, bool begins);
/* Has Ctrl-C been pressed? */
bool progress_interrupted(void);

/* A file to remove should a second Ctrl-C end the program; NULL for none. The text must stay. */
void progress_guard_file(const char *path);

#endif
