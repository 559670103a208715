/* train_params.h -- the parameters of a network: their places, and the nodes with their gradients. */
#ifndef PBI_TRAIN_PARAMS_H
#define PBI_TRAIN_PARAMS_H

#include "pebble/workload.h"

/* Numbers (float) in fixed memory, in the layout that the forward kernel reads. */
typedef struct pbi_param {
    uint64_t at, momentum_at; /* bytes from the start of fixed memory */
    uint64_t count;
    uint64_t lead;   /* of them: the others start as zeros */
    float deviation; /* of the first `lead` at the start; 0: they are ones */
    pb_node grad;    /* a kept node, `count` floats in the same layout */
} pbi_param;

/* The parameters of a workload `train`; none if it was built without oneDNN. */
const pbi_param *pbi_train_params(const pb_workload *w, uint32_t *count);
/* How many of its library calls use slow reference kernels. */
uint32_t pbi_train_slow_calls(const pb_workload *w);

#endif
