/* burgers.c -- see burgers.h.
 *
 * With f(u) = -D(u^2)/2 + nu L u a step is  m = u + dt/2 f(u),  u' = u + dt f(m),  and its adjoint
 *     p = dt f'(m)^T g',   g = g' + p + dt/2 f'(u)^T p,   dJ/dnu += dt <g', L m> + dt/2 <p, L u>.
 * The last sum of each reads g' and u only at its own point, so results may overwrite their inputs.
 */
#include "workloads/burgers.h"

#include <math.h>
#include <string.h>

void pbi_burgers_init(pbi_burgers *b, uint32_t n)
{
    double h = 1.0 / n, nu = 0.005 + 0.5 * h; /* a cell is not wider than the layers that form */
    double dt = 0.2 * h * h / nu;
    *b = (pbi_burgers){.n = n, .h = h, .nu = nu, .dt = dt < 0.2 * h ? dt : 0.2 * h};
}

/* The points around a row of points: this row and the adjacent rows. */
typedef struct rows {
    const double *mid, *up, *down;
} rows;

static rows rows_at(const pbi_burgers *b, const double *field, uint32_t y)
{
    size_t n = b->n;
    return (rows){field + y * n, field + (y + 1 < n ? y + 1 : 0) * n, field + (y ? y - 1 : n - 1) * n};
}

typedef struct weights {
    double advect, diffuse;
} weights;

/* f at a point with neighbours left and right of it. */
static inline double rate(const rows *r, uint32_t x, uint32_t left, uint32_t right, weights k)
{
    double e = r->mid[right], w = r->mid[left], n = r->up[x], s = r->down[x];
    return k.diffuse * (e + w + n + s - 4 * r->mid[x]) - k.advect * (e * e - w * w + n * n - s * s);
}

/* out = base + scale * f(u). */
static void advance(const pbi_burgers *b, const double *base, double scale, const double *u, double *out)
{
    weights k = {scale / (4 * b->h), scale * b->nu / (b->h * b->h)};
    uint32_t n = b->n;
    for (uint32_t y = 0; y < n; y++) {
        rows r = rows_at(b, u, y);
        const double *from = base + (size_t)y * n;
        double *to = out + (size_t)y * n;
        to[0] = from[0] + rate(&r, 0, n - 1, 1, k);
        for (uint32_t x = 1; x + 1 < n; x++)
            to[x] = from[x] + rate(&r, x, x - 1, x + 1, k);
        to[n - 1] = from[n - 1] + rate(&r, n - 1, n - 2, 0, k);
    }
}

void pbi_burgers_step(const pbi_burgers *b, const double *u, double *next, double *mid)
{
    advance(b, u, 0.5 * b->dt, u, mid);
    advance(b, u, b->dt, mid, next);
}

/* f'(u)^T g at a point. */
static inline double pull(const rows *g, double u, uint32_t x, uint32_t left, uint32_t right, weights k)
{
    double e = g->mid[right], w = g->mid[left], n = g->up[x], s = g->down[x];
    return k.diffuse * (e + w + n + s - 4 * g->mid[x]) + k.advect * u * (e - w + n - s);
}

/* out = scale * f'(u)^T g. */
static void pull_back(const pbi_burgers *b, double scale, const double *u, const double *g, double *out)
{
    weights k = {scale / (2 * b->h), scale * b->nu / (b->h * b->h)};
    uint32_t n = b->n;
    for (uint32_t y = 0; y < n; y++) {
        rows r = rows_at(b, g, y);
        const double *at = u + (size_t)y * n;
        double *to = out + (size_t)y * n;
        to[0] = pull(&r, at[0], 0, n - 1, 1, k);
        for (uint32_t x = 1; x + 1 < n; x++)
            to[x] = pull(&r, at[x], x, x - 1, x + 1, k);
        to[n - 1] = pull(&r, at[n - 1], n - 1, n - 2, 0, k);
    }
}

/* out = base + p + scale * f'(u)^T p. */
static void pull_back_add(const pbi_burgers *b, double scale, const double *u, const double *p, const double *base,
                          double *out)
{
    weights k = {scale / (2 * b->h), scale * b->nu / (b->h * b->h)};
    uint32_t n = b->n;
    for (uint32_t y = 0; y < n; y++) {
        rows r = rows_at(b, p, y);
        const double *at = u + (size_t)y * n, *from = base + (size_t)y * n;
        double *to = out + (size_t)y * n;
        to[0] = from[0] + r.mid[0] + pull(&r, at[0], 0, n - 1, 1, k);
        for (uint32_t x = 1; x + 1 < n; x++)
            to[x] = from[x] + r.mid[x] + pull(&r, at[x], x, x - 1, x + 1, k);
        to[n - 1] = from[n - 1] + r.mid[n - 1] + pull(&r, at[n - 1], n - 1, n - 2, 0, k);
    }
}

/* <g, L u>, summed row by row. */
static double along_nu(const pbi_burgers *b, const double *g, const double *u)
{
    double sum = 0;
    weights k = {0, 1 / (b->h * b->h)};
    uint32_t n = b->n;
    for (uint32_t y = 0; y < n; y++) {
        rows r = rows_at(b, u, y);
        const double *at = g + (size_t)y * n;
        double row = at[0] * rate(&r, 0, n - 1, 1, k) + at[n - 1] * rate(&r, n - 1, n - 2, 0, k);
        for (uint32_t x = 1; x + 1 < n; x++)
            row += at[x] * rate(&r, x, x - 1, x + 1, k);
        sum += row;
    }
    return sum;
}

void pbi_burgers_reverse(const pbi_burgers *b, const double *u, const double *after, double *before, double *work)
{
    size_t points = pbi_burgers_points(b);
    double *mid = work, *p = work + points, tail[PBI_BURGERS_TAIL];
    memcpy(tail, after + points, sizeof tail);
    advance(b, u, 0.5 * b->dt, u, mid);
    pull_back(b, b->dt, mid, after, p);
    tail[PBI_BURGERS_BY_NU] += b->dt * along_nu(b, after, mid) + 0.5 * b->dt * along_nu(b, p, u);
    pull_back_add(b, 0.5 * b->dt, u, p, after, before);
    memcpy(before + points, tail, sizeof tail);
}

static const double tau = 6.283185307179586;

void pbi_burgers_begin(const pbi_burgers *b, double *u)
{
    for (uint32_t y = 0; y < b->n; y++)
        for (uint32_t x = 0; x < b->n; x++)
            *u++ = 0.3 + 0.6 * sin(tau * x * b->h) * cos(tau * y * b->h) + 0.2 * cos(2 * tau * (x + y) * b->h + 0.7);
}

/* The observation at the end: a smooth hill that has moved. */
static double observed(const pbi_burgers *b, uint32_t x, uint32_t y)
{
    return 0.4 + 0.3 * sin(tau * (x * b->h - 0.2)) * cos(tau * (y * b->h - 0.1));
}

double pbi_burgers_objective(const pbi_burgers *b, const double *u)
{
    double sum = 0;
    for (uint32_t y = 0; y < b->n; y++)
        for (uint32_t x = 0; x < b->n; x++, u++)
            sum += (*u - observed(b, x, y)) * (*u - observed(b, x, y));
    return 0.5 * b->h * b->h * sum;
}

void pbi_burgers_turn(const pbi_burgers *b, const double *u, double *gradient)
{
    double *tail = gradient + pbi_burgers_points(b);
    for (uint32_t y = 0; y < b->n; y++)
        for (uint32_t x = 0; x < b->n; x++) {
            size_t at = (size_t)y * b->n + x;
            gradient[at] = b->h * b->h * (u[at] - observed(b, x, y));
        }
    memset(tail, 0, PBI_BURGERS_TAIL * sizeof *tail);
    tail[PBI_BURGERS_OBJECTIVE] = pbi_burgers_objective(b, u);
}

uint64_t pbi_burgers_step_cost(const pbi_burgers *b) { return 2 * 16 * (uint64_t)pbi_burgers_points(b); }
uint64_t pbi_burgers_reverse_cost(const pbi_burgers *b)
{
    return (16 + 2 * 13 + 2 * 9) * (uint64_t)pbi_burgers_points(b);
}
