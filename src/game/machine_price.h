/* machine_price.h -- what a node says about its time. */
#ifndef PBI_MACHINE_PRICE_H
#define PBI_MACHINE_PRICE_H

#include "pebble/game.h"

/* Whether v states a time for this processor. */
bool pbi_measured_time(const pb_graph *g, pb_node v, const char *processor, uint64_t *out);
/* pb_machine_duration of v, whose name is in the error. */
pb_status pbi_formula_duration(pb_context *ctx, const pb_graph *g, const pb_machine *m, const pb_machine_processor *p,
                               pb_node v, uint64_t *out);
/* Like that of a node, with the recipe's own fields. */
pb_status pbi_recipe_duration(pb_context *ctx, const pb_graph *g, const pb_machine *m, const pb_machine_processor *p,
                              const pb_recipe *r, uint64_t *out);

#endif
