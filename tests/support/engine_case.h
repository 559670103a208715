/* engine_case.h -- synthetic kernels for any graph: every byte of a value depends on every byte of its inputs, and every kernel
 * compares what it is given with what keeping everything would give.
 *
 *     engine_case c;
 *     engine_case_open(&c, ctx, game, exclusive);
 *     ... pb_engine_new(ctx, certificate, &c.kernels, ...); pb_engine_run ...
 *     if (c.faults) puts(c.why);
 *     engine_case_close(&c);
 */
#ifndef ENGINE_CASE_H
#define ENGINE_CASE_H

#include "pebble/engine.h"

typedef struct engine_case {
    const pb_graph *g;
    unsigned char **right; /* by node: its bytes */
    pb_kernel *kernel;
    uint8_t *kinds;
    pb_kernels kernels;
    const unsigned char *lent, *before; /* borrowed memory, and what was in it */
    uint64_t lent_bytes;
    unsigned faults;
    char why[200];

    /* Failures to be caused. */
    pb_node more_node;    /* asks for more workspace; PB_NO_NODE: none does */
    uint64_t more_bytes;  /* so much, in two pieces */
    pb_engine *engine;    /* its cap is lowered ... */
    uint64_t lower_to;    /* ... to this ... */
    uint64_t lower_after; /* ... by that computation; UINT64_MAX: never */
    uint64_t calls;
} engine_case;

/* Aborts the test where memory is out. `exclusive`: kernels are exclusive ors. */
void engine_case_open(engine_case *c, const pb_graph *g, bool exclusive);
void engine_case_close(engine_case *c);

/* Values that are resident at the end have the right bytes. */
bool engine_case_right(engine_case *c, pb_engine *e);

/* A random legal schedule that ends as the game wants, with all kinds of moves; no cap is kept to. */
void random_schedule(const pb_game *game, uint64_t seed, pb_moves *moves);

#endif
