/* machine_model.c -- times between measured points: piecewise linear in logarithms of size, intensity and time.
 *
 * Kernels of one operation differ by a factor of ten in operations per second: small ones do not fill the processor,
 * and those with few operations per byte wait for memory. Size and intensity explain most of it. A curve has the
 * measured points of one class of intensity; at a given size, a computation between two curves is between their times.
 */
#include "machine/machine_model.h"

#include <math.h>
#include <string.h>

/* Intensities that differ by less than a factor of 2, as a logarithm. */
static const double similar = 0.7;

const char *pb_model_by_name(pb_model_by by)
{
    static const char *const names[] = {"formula", "bytes", "flops"};
    return names[by];
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

const pb_machine_model *pb_machine_model_of(const pb_machine_processor *p, const pb_work *work)
{
    const pb_machine_model *any = NULL;
    for (uint32_t i = 0; work->op && i < p->model_count; i++) {
        const pb_machine_model *m = &p->models[i];
        if (strcmp(m->op, work->op) != 0)
            continue;
        if (same_text(m->dtype, work->dtype))
            return m;
        if (!m->dtype)
            any = m;
    }
    return any;
}

static double log_of(uint64_t value) { return log(value ? (double)value : 1.0); }

double pbi_point_intensity(const pb_machine_point *at) { return log_of(at->flops) - log_of(at->bytes); }

uint64_t pbi_point_size(pb_model_by by, const pb_machine_point *at)
{
    return by == PB_BY_FLOPS ? at->flops : at->bytes;
}

double pbi_formula_time(const pbi_formula *f, const pb_machine_point *at)
{
    double computing = f->rate > 0 ? (double)at->flops / f->rate : 0;
    double moving = f->bandwidth > 0 ? (double)at->bytes / f->bandwidth : 0;
    return f->overhead + (computing > moving ? computing : moving);
}

/* Where a computation is on a curve. */
typedef struct spot {
    double time;      /* logarithm */
    double intensity; /* logarithm, of the curve at this size */
    double beyond;    /* logarithm of the factor by which the size is outside; 0: inside */
} spot;

/* In proportion to the size, except for the overhead. `shift`: logarithm of size / the point's size. */
static spot outside(const pb_machine_model *m, const pb_machine_point *end, double shift)
{
    double fixed = (double)m->overhead < (double)end->time ? (double)m->overhead : 0;
    double time = fixed + ((double)end->time - fixed) * exp(shift);
    return (spot){log(time > 1e-3 ? time : 1e-3), pbi_point_intensity(end), fabs(shift)};
}

static spot spot_on(const pb_machine_model *m, const pb_machine_curve *c, double size)
{
    const pb_machine_point *p = c->points;
    uint32_t low = 0, high = c->count - 1;
    double first = log_of(pbi_point_size(m->by, &p[low])), last = log_of(pbi_point_size(m->by, &p[high]));
    if (size <= first)
        return outside(m, &p[low], size - first);
    if (size >= last)
        return outside(m, &p[high], size - last);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (log_of(pbi_point_size(m->by, &p[middle])) <= size)
            low = middle;
        else
            high = middle;
    }
    double a = log_of(pbi_point_size(m->by, &p[low])), b = log_of(pbi_point_size(m->by, &p[high]));
    double share = (size - a) / (b - a);
    return (spot){(1 - share) * log_of(p[low].time) + share * log_of(p[high].time),
                  (1 - share) * pbi_point_intensity(&p[low]) + share * pbi_point_intensity(&p[high]), 0};
}

/* How far the size is outside of all curves of similar intensity: many curves have few points each. */
static double near_beyond(const pb_machine_model *m, double size, double intensity)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < m->curve_count; i++) {
        spot s = spot_on(m, &m->curves[i], size);
        if (fabs(s.intensity - intensity) < similar)
            least = fmin(least, s.beyond);
    }
    return least;
}

/* Between the curves, at the same number of operations. Less intense than all of them: memory traffic counts, so it is
 * on the first curve at the same number of bytes. */
static double between(const pb_machine_model *m, const pb_machine_point *at, double *beyond)
{
    double size = log_of(at->flops), wanted = pbi_point_intensity(at);
    spot below = {0}, above = spot_on(m, &m->curves[0], size);
    uint32_t i = 0;
    if (wanted <= above.intensity) {
        double less = above.intensity - wanted;
        above = spot_on(m, &m->curves[0], size + less);
        *beyond = above.beyond + less;
        return above.time;
    }
    while (wanted > above.intensity && ++i < m->curve_count) {
        below = above;
        above = spot_on(m, &m->curves[i], size);
    }
    if (i == m->curve_count) {
        *beyond = above.beyond + wanted - above.intensity;
        return above.time;
    }
    double share = (wanted - below.intensity) / (above.intensity - below.intensity);
    *beyond = fmin(fmin(below.beyond, above.beyond), near_beyond(m, size, wanted));
    return (1 - share) * below.time + share * above.time;
}

double pbi_model_time(const pb_machine_model *m, const pbi_formula *f, const pb_machine_point *at, double *beyond)
{
    double outside_by = 0, time;
    if (m->curve_count > 1) {
        time = exp(between(m, at, &outside_by));
    } else {
        spot s = spot_on(m, &m->curves[0], log_of(pbi_point_size(m->by, at)));
        outside_by = s.beyond;
        time = m->by == PB_BY_FORMULA ? pbi_formula_time(f, at) : exp(s.time);
    }
    if (beyond)
        *beyond = exp(outside_by);
    return time;
}

double pb_machine_model_time(const pb_machine *m, const pb_machine_model *model, const pb_work *work, double *beyond)
{
    double unit = (double)m->per_second;
    pbi_formula f = {(double)model->overhead, (double)model->rate / unit, (double)model->bandwidth / unit};
    pb_machine_point at = {work->has_flops ? work->flops : 0, work->has_bytes ? work->bytes : 0, 0};
    return pbi_model_time(model, &f, &at, beyond);
}

/* ---- what a file may contain ---- */

static const char *curve_wrong(pb_model_by by, const pb_machine_curve *c, double above)
{
    if (!c->count)
        return "has a curve without points; remove the curve";
    for (uint32_t i = 0; i < c->count; i++) {
        const pb_machine_point *p = &c->points[i];
        if (!p->time || (!p->flops && !p->bytes))
            return "has a point without a time, or without flops and bytes; each is above 0";
        if (i && pbi_point_size(by, p) <= pbi_point_size(by, p - 1))
            return "has points that are not in ascending order of their size; sort them";
        if (i && p->time < p[-1].time)
            return "has a larger point that takes less time than a smaller one; remove one of them";
        if (pbi_point_intensity(p) <= above)
            return "has curves that are not in ascending order of flops per byte; sort them";
    }
    return NULL;
}

const char *pbi_model_wrong(const pb_machine_processor *p, uint32_t model)
{
    const pb_machine_model *m = &p->models[model];
    double above = -INFINITY;
    if (!*m->op)
        return "has no operation; name it";
    for (uint32_t i = 0; i < model; i++)
        if (strcmp(p->models[i].op, m->op) == 0 && same_text(p->models[i].dtype, m->dtype))
            return "appears twice with the same type; remove one of them";
    if (!m->curve_count)
        return "has no measured points; add a curve";
    if (m->curve_count > 1 && m->by != PB_BY_FLOPS)
        return "has several curves but is not by flops; leave one curve";
    for (uint32_t i = 0; i < m->curve_count; i++) {
        const char *why = curve_wrong(m->by, &m->curves[i], above);
        if (why)
            return why;
        for (uint32_t k = 0; k < m->curves[i].count; k++)
            above = fmax(above, pbi_point_intensity(&m->curves[i].points[k]));
    }
    return NULL;
}
