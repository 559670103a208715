/* machine_model.h -- parts of models that fitting and checking share. */
#ifndef PBI_MACHINE_MODEL_H
#define PBI_MACHINE_MODEL_H

#include "pebble/machine.h"

/* overhead + the longer of operations and traffic; rates are per time unit, 0: takes no time. */
typedef struct pbi_formula {
    double overhead, rate, bandwidth;
} pbi_formula;
double pbi_formula_time(const pbi_formula *f, const pb_machine_point *at);

/* Logarithm of operations per byte. */
double pbi_point_intensity(const pb_machine_point *at);
uint64_t pbi_point_size(pb_model_by by, const pb_machine_point *at);
/* As pb_machine_model_time; `f` replaces the model's whole numbers. */
double pbi_model_time(const pb_machine_model *m, const pbi_formula *f, const pb_machine_point *at, double *beyond);

/* The rules of a processor's models; NULL, or what is wrong with one of them. */
const char *pbi_model_wrong(const pb_machine_processor *p, uint32_t model);

#endif
