/* training.h -- shared by the families of training steps: their common parameters and a tape.
 *
 *     pbi_training s;
 *     pbi_training_start(&s, ctx, params, builder, &arena);
 *     if (pbi_emit_budget(&s.emit, nodes, edges) != PB_OK) ...
 *     ... operations on &s.tape ...
 *     return pbi_training_finish(&s, params);
 */
#ifndef PBI_TRAINING_H
#define PBI_TRAINING_H

#include "generate/params.h"
#include "tape/tape.h"

#define PBI_INDEX ((pbi_type){"int32", 4}) /* the type of labels and tokens */

typedef struct pbi_training {
    pbi_emit emit;
    pbi_tape tape;
} pbi_training;

/* `s` must not be moved: its tape points at its emit. */
void pbi_training_start(pbi_training *s, pb_context *ctx, const pbi_params *params, pb_builder *builder,
                        pb_arena *arena);
/* The backward pass, and the recipes that the parameters ask for. */
pb_status pbi_training_finish(pbi_training *s, const pbi_params *params);

#endif
