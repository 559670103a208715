/* least_line.h -- what to try if no plan was found. */
#ifndef LEAST_LINE_H
#define LEAST_LINE_H

#include "app.h"

#include <stdio.h>

/* "no plan found for 33 %; the smallest cap with a known plan is 38 % (8.3 GiB). Try --time 60s or --cap 38%".
 * Prints nothing if `l` is NULL. */
void print_least(app *a, FILE *out, const pb_least_fact *l, const pb_game *game);

#endif
