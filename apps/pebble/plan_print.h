/* plan_print.h -- what plan and compare print next to the figures: a plot, and a note on the policy. */
#ifndef PEBBLE_APP_PLAN_PRINT_H
#define PEBBLE_APP_PLAN_PRINT_H

#include "app.h"

/* True if memory over time should be plotted. */
bool wants_plot(const app *a);
pb_status print_plot(app *a, const pb_certificate *c, int height);

/* A portfolio passes a policy on, and may choose a plan by a strategy that takes none: that is reported. */
void note_policy(app *a, const pb_schedule *s);

#endif
