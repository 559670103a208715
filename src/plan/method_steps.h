/* method_steps.h -- costs as functions of memory: step functions that fall as memory grows.
 *
 * A function is a list of (need, cost) with rising need and falling cost: with `need` or more memory it costs `cost`;
 * below the first need it is impossible. Exact in whatever unit memory has.
 */
#ifndef PBI_METHOD_STEPS_H
#define PBI_METHOD_STEPS_H

#include "pebble/base.h"

typedef struct pbi_step {
    uint64_t need, cost;
} pbi_step;

typedef struct pbi_steps {
    pbi_step *step;
    uint32_t count;
} pbi_steps;

#define PBI_STEPS_NEVER UINT64_MAX

/* The cost at this much memory, PBI_STEPS_NEVER when it is too little. */
uint64_t pbi_steps_at(const pbi_steps *f, uint64_t memory);

/* A function being put together as the least of several; two buffers that swap. */
typedef struct pbi_steps_sum {
    pb_arena *arena;
    pbi_step *step, *spare;
    size_t count, room, spare_room;
    uint64_t most; /* needs above it are left out */
    uint64_t work; /* steps walked over so far */
} pbi_steps_sum;

void pbi_steps_sum_init(pbi_steps_sum *sum, pb_arena *arena, uint64_t most);
void pbi_steps_sum_clear(pbi_steps_sum *sum);

/* sum = least(sum, fixed + a(memory - held) + b(memory)) where memory is at least `run`; b NULL counts as 0.
 * False when memory is exhausted. */
bool pbi_steps_add(pbi_steps_sum *sum, uint64_t run, uint64_t fixed, const pbi_steps *a, uint64_t held,
                   const pbi_steps *b);

/* A copy of what was put together. */
bool pbi_steps_copy(const pbi_steps_sum *sum, pb_arena *result, pbi_steps *out);

#endif
