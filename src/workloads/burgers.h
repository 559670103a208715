/* burgers.h -- a time-stepping solver and its adjoint: Burgers' equation on a square with periodic boundaries.
 *
 *     u_t + (u^2/2)_x + (u^2/2)_y = nu (u_xx + u_yy)
 *
 * by central differences on n x n points and the midpoint rule (second order). The objective is the misfit of the final
 * state, J = h^2/2 sum (u - d)^2 with observations d; its gradient is with respect to the initial state and to nu.
 * Advection is nonlinear, so the adjoint of a step needs the state before it.
 */
#ifndef PBI_BURGERS_H
#define PBI_BURGERS_H

#include "pebble/base.h"

typedef struct pbi_burgers {
    uint32_t n;       /* points in a row; a multiple of 8 */
    double h, dt, nu; /* set by init so that the scheme is stable */
} pbi_burgers;

/* Fields are n * n numbers, row by row. A gradient is a field followed by: */
enum { PBI_BURGERS_BY_NU, PBI_BURGERS_OBJECTIVE, PBI_BURGERS_TAIL = 8 };

void pbi_burgers_init(pbi_burgers *b, uint32_t n);
static inline size_t pbi_burgers_points(const pbi_burgers *b) { return (size_t)b->n * b->n; }
static inline size_t pbi_burgers_state_bytes(const pbi_burgers *b) { return pbi_burgers_points(b) * sizeof(double); }
static inline size_t pbi_burgers_gradient_bytes(const pbi_burgers *b)
{
    return (pbi_burgers_points(b) + PBI_BURGERS_TAIL) * sizeof(double);
}

void pbi_burgers_begin(const pbi_burgers *b, double *u);
/* `next` may be `u`; `mid` is a scratch field. */
void pbi_burgers_step(const pbi_burgers *b, const double *u, double *next, double *mid);
double pbi_burgers_objective(const pbi_burgers *b, const double *u);
/* The gradient of the objective at the final state u. */
void pbi_burgers_turn(const pbi_burgers *b, const double *u, double *gradient);
/* The adjoint of the step that started at u: from the gradient after it to the one before it, which may be the same
 * memory; `work` has two fields. */
void pbi_burgers_reverse(const pbi_burgers *b, const double *u, const double *after, double *before, double *work);

/* Operations of a step and of its adjoint. */
uint64_t pbi_burgers_step_cost(const pbi_burgers *b);
uint64_t pbi_burgers_reverse_cost(const pbi_burgers *b);

#endif
