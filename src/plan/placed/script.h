/* script.h -- the plan that is played: its computations in order, and what each value is read by. */
#ifndef PBI_PLAN_PLACED_SCRIPT_H
#define PBI_PLAN_PLACED_SCRIPT_H

#include "pebble/schedule.h"

/* A value is read, or computed, by an event. */
typedef struct pbi_touch {
    uint32_t event;
    uint32_t until; /* of a read: the last read before the value is computed again; of a computation: its event */
    bool read;
} pbi_touch;

typedef struct pbi_script {
    const pb_graph *g;
    pb_node *event; /* what is computed */
    uint32_t count;
    uint32_t *touch_start; /* by value, node_count + 1 */
    pbi_touch *touch;      /* ascending by event; kept values are read by the event `count` */
    uint64_t *size;        /* by node: rounded up to the alignment */
    uint64_t *workspace;
    uint64_t fixed, median; /* median: of the sizes of the values computed */
} pbi_script;

pb_status pbi_script_make(pb_context *ctx, const pb_graph *g, const pb_moves *moves, uint64_t align, pb_arena *arena,
                          pbi_script *out);

#endif
