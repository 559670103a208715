/* plan_print.h -- what plan, compare and sweep print alike: flux and cost, a plot, a note on the policy. */
#ifndef PEBBLE_APP_PLAN_PRINT_H
#define PEBBLE_APP_PLAN_PRINT_H

#include "app.h"
#include "common/figures.h"

/* True if memory over time should be plotted. */
bool wants_plot(const app *a);
pb_status print_plot(app *a, const pb_certificate *c, int height);

/* "12.34 GiB·s"; 649 if neither sizes nor costs have units that people scale, with at most `digits` digits. */
void flux_text(pb_u128 flux, const pb_graph *g, int digits, char text[FIGURE_ROOM]);
/* The cost under the weights: "12.34 ms" if costs are times, else exact if it is short. */
void weighted_text(const pb_schedule *s, const pb_graph *g, int digits, char text[FIGURE_ROOM]);

/* A portfolio passes a policy on, and may choose a plan by a strategy that takes none: that is reported. */
void note_policy(app *a, const pb_schedule *s);

#endif
