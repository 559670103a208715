/* figures.h -- texts of figures that several commands print. */
#ifndef PEBBLE_COMMON_FIGURES_H
#define PEBBLE_COMMON_FIGURES_H

#include "pebble/full.h"

enum { FIGURE_ROOM = 128 };

/* "12,345 step", "1.5 GiB" */
void amount_text(uint64_t value, const char *unit, char text[FIGURE_ROOM]);
/* A cost for people: "1.160 Tflop", "12.34 ms", "12,345"; above nine digits of another unit "1.23e12". */
void cost_text(uint64_t value, const char *unit, char text[FIGURE_ROOM]);
/* "every-k (k=4)": the strategy with its policy and the options that do not have their default. */
void strategy_text(const pb_schedule *s, char text[FIGURE_ROOM]);
/* "21.3 %"; more digits if it is small. */
void percent_text(double share, char text[FIGURE_ROOM]);
/* "work in flop", "work in ns", "times on a100-40" */
void units_text(const pb_graph *g, char text[FIGURE_ROOM]);
/* "fits in 62 % of the peak in program order, for 21 % extra work", or time, by the graph's unit of costs */
void trade_text(const pb_schedule *s, const pb_graph *g, uint64_t program_peak, char *text, size_t room);

/* "policy oldest: decides what is evicted where ...". `used`: a plan that is shown was made with it.
 * "" if no policy was given. */
void policy_use_text(const char *policy, bool used, char text[2 * FIGURE_ROOM]);

#endif
