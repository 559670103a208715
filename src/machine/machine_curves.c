/* machine_curves.c -- see machine_curves.h. */
#include "machine/machine_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points on a curve whose sizes differ by less are one. */
static const double same_size = 1.02;

/* ---- the formula ---- */

static double formula_error(const pbi_formula *f, const pb_machine_point *points, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += fabs(log(pbi_formula_time(f, &points[i]) / (double)points[i].time));
    return sum / count;
}

/* Multiplies and divides one number at a time while that helps, by ever smaller factors. */
static double descend(pbi_formula *f, const pb_machine_point *points, uint32_t count)
{
    double *number[] = {&f->overhead, &f->rate, &f->bandwidth};
    double best = formula_error(f, points, count);
    for (double factor = 4; factor > 1.005;) {
        bool better = false;
        for (size_t i = 0; i < 2 * sizeof number / sizeof *number; i++) {
            double *n = number[i / 2], old = *n;
            *n = i % 2 ? old * factor : old / factor;
            double error = formula_error(f, points, count);
            if (error < best) {
                best = error;
                better = true;
            } else {
                *n = old;
            }
        }
        if (!better)
            factor = sqrt(factor);
    }
    return best;
}

pbi_formula pbi_fit_formula(const pb_machine_point *points, uint32_t count)
{
    pbi_formula most = {.overhead = (double)points[0].time}, best = most;
    for (uint32_t i = 0; i < count; i++) {
        double time = (double)points[i].time;
        most.overhead = time < most.overhead ? time : most.overhead;
        most.rate = fmax(most.rate, (double)points[i].flops / time);
        most.bandwidth = fmax(most.bandwidth, (double)points[i].bytes / time);
    }
    double least = INFINITY;
    for (int start = 0; start < 3; start++) { /* both sides from their best; or one of them out of the way */
        pbi_formula f = {most.overhead / 2, most.rate * (start == 1 ? 4 : 1), most.bandwidth * (start == 2 ? 4 : 1)};
        double error = descend(&f, points, count);
        if (error < least) {
            least = error;
            best = f;
        }
    }
    return best;
}

/* ---- curves ---- */

static int by_intensity(const void *a, const void *b)
{
    double x = pbi_point_intensity(a), y = pbi_point_intensity(b);
    return (x > y) - (x < y);
}

static int by_flops(const void *a, const void *b)
{
    const pb_machine_point *x = a, *y = b;
    return (x->flops > y->flops) - (x->flops < y->flops);
}

static int by_bytes(const void *a, const void *b)
{
    const pb_machine_point *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The one in the middle, with the geometric mean of all times. */
static pb_machine_point mean_of(const pb_machine_point *points, uint32_t count)
{
    pb_machine_point mean = points[count / 2];
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += log((double)points[i].time);
    mean.time = (uint64_t)llround(exp(sum / count));
    return mean;
}

/* Of points in the order of their sizes: joins those of nearly the same size. Returns how many remain. */
static uint32_t join_equal(pb_model_by by, pb_machine_point *points, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        double first = (double)pbi_point_size(by, &points[i]);
        for (end = i + 1; end < count && (double)pbi_point_size(by, &points[end]) <= first * same_size; end++)
            ;
        points[kept++] = end - i > 1 ? mean_of(points + i, end - i) : points[i];
    }
    return kept;
}

/* Times never fall with the size: a run of points that would is replaced by its mean (pool adjacent violators). */
static pb_status make_monotone(pb_machine_point *points, uint32_t count, pb_arena *scratch)
{
    struct pool {
        double sum;
        uint32_t count;
    } *pool = pb_arena_alloc(scratch, count, sizeof *pool);
    uint32_t top = 0;
    if (!pool)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        pool[top++] = (struct pool){log((double)points[i].time), 1};
        while (top > 1 && pool[top - 2].sum / pool[top - 2].count > pool[top - 1].sum / pool[top - 1].count) {
            pool[top - 2].sum += pool[top - 1].sum;
            pool[top - 2].count += pool[top - 1].count;
            top--;
        }
    }
    for (uint32_t k = 0, i = 0; k < top; k++)
        for (uint32_t n = 0; n < pool[k].count; n++, i++)
            if (pool[k].count > 1)
                points[i].time = (uint64_t)llround(exp(pool[k].sum / pool[k].count));
    return PB_OK;
}

static pb_status make_curve(pb_model_by by, pb_machine_point *points, uint32_t count, pb_arena *scratch,
                            pb_machine_curve *out)
{
    qsort(points, count, sizeof *points, by == PB_BY_FLOPS ? by_flops : by_bytes);
    count = join_equal(by, points, count);
    *out = (pb_machine_curve){points, count};
    return make_monotone(points, count, scratch);
}

pb_status pbi_fit_curves(const pb_machine_point *points, uint32_t count, pbi_model_form form, pb_arena *result,
                         pb_machine_model *m)
{
    pb_machine_point *own = pb_arena_alloc(result, count, sizeof *own);
    pb_machine_curve *curves = pb_arena_alloc(result, count, sizeof *curves);
    uint32_t made = 0;
    pb_status status = own && curves ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        memcpy(own, points, count * sizeof *own);
        qsort(own, count, sizeof *own, by_intensity);
    }
    for (uint32_t i = 0, end; i < count && status == PB_OK; i = end) {
        double first = pbi_point_intensity(&own[i]), width = form.width > 0 ? form.width : INFINITY;
        for (end = i + 1; end < count && pbi_point_intensity(&own[end]) <= first + width; end++)
            ;
        status = make_curve(form.by, own + i, end - i, result, &curves[made++]);
    }
    if (status == PB_OK) {
        m->by = form.by;
        m->curves = curves;
        m->curve_count = made;
    }
    return status;
}
