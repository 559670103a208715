/* plain_loops.h -- what networks need in addition to a library, in plain C. Each number is computed from numbers at
 * its own place or from sums in a fixed order: the same bits at any address. Results may overwrite an input of the
 * same shape: y may be x, dx may be dy. */
#ifndef PBI_PLAIN_LOOPS_H
#define PBI_PLAIN_LOOPS_H

#include <stdint.h>

void pbi_loop_relu(const float *x, float *y, uint64_t count);
void pbi_loop_relu_back(const float *y, const float *dy, float *dx, uint64_t count);
void pbi_loop_add(const float *a, const float *b, float *y, uint64_t count);
typedef struct pbi_mask {
    uint64_t seed, step, layer;
    float rate;
} pbi_mask;
/* Also its own gradient. */
void pbi_loop_dropout(const pbi_mask *mask, const float *x, float *y, uint64_t count);
void pbi_loop_softmax_back(const float *y, const float *dy, float *dx, uint64_t rows, uint64_t columns);
void pbi_loop_column_sums(const float *x, float *sum, uint64_t rows, uint64_t columns);
double pbi_loop_loss(const float *logits, const int32_t *label, uint64_t rows, uint64_t classes);
void pbi_loop_loss_back(const float *logits, const int32_t *label, float *dx, uint64_t rows, uint64_t classes);
void pbi_loop_momentum(float *w, float *momentum, const float *grad, uint64_t count, float rate, float keep);

#endif
