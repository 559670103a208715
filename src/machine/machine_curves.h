/* machine_curves.h -- the points of one operation as a formula, and as curves by size and intensity. */
#ifndef PBI_MACHINE_CURVES_H
#define PBI_MACHINE_CURVES_H

#include "machine/machine_model.h"

/* The form of a model before it is fitted. */
typedef struct pbi_model_form {
    pb_model_by by;
    double width; /* logarithm of the largest ratio of intensities on a curve; 0: one curve */
} pbi_model_form;

/* The formula with the least mean of |ln(predicted / measured)| that a pattern search finds. */
pbi_formula pbi_fit_formula(const pb_machine_point *points, uint32_t count);
/* Fills by, curves and curve_count of *m. At least one point; all have a time, and operations or bytes. */
pb_status pbi_fit_curves(const pb_machine_point *points, uint32_t count, pbi_model_form form, pb_arena *result,
                         pb_machine_model *m);

#endif
