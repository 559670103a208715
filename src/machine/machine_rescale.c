/* machine_rescale.c -- the same machine, faster or slower. */
#include "base/context.h"
#include "pebble/machine.h"

#include <math.h>

static uint64_t times(uint64_t value, double factor)
{
    double product = (double)value * factor;
    return product < 0x1p63 ? (uint64_t)llround(product) : UINT64_C(1) << 63;
}

/* Rates and times are above 0. */
static uint64_t times_above_0(uint64_t value, double factor)
{
    uint64_t product = times(value, factor);
    return product || !value ? product : 1;
}

static const pb_machine_rate *rates_times(const pb_machine_rate *old, uint32_t count, double factor, pb_arena *result)
{
    pb_machine_rate *rates = pb_arena_alloc(result, (size_t)count + 1, sizeof *rates);
    for (uint32_t i = 0; rates && i < count; i++)
        rates[i] = (pb_machine_rate){old[i].key, times_above_0(old[i].per_second, factor)};
    return rates;
}

static pb_status rescale_curves(pb_machine_model *m, double factor, pb_arena *result)
{
    pb_machine_curve *curves = pb_arena_alloc(result, m->curve_count, sizeof *curves);
    for (uint32_t i = 0; curves && i < m->curve_count; i++) {
        pb_machine_point *points = pb_arena_alloc(result, m->curves[i].count, sizeof *points);
        if (!points)
            return PB_ENOMEM;
        for (uint32_t k = 0; k < m->curves[i].count; k++) {
            points[k] = m->curves[i].points[k];
            points[k].time = times_above_0(points[k].time, factor);
        }
        curves[i] = (pb_machine_curve){points, m->curves[i].count};
    }
    m->curves = curves;
    return curves ? PB_OK : PB_ENOMEM;
}

static pb_status rescale_processor(pb_machine_processor *p, double factor, pb_arena *result)
{
    pb_machine_model *models = pb_arena_alloc(result, (size_t)p->model_count + 1, sizeof *models);
    pb_status status = models ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < p->model_count && status == PB_OK; i++) {
        models[i] = p->models[i];
        models[i].overhead = times(models[i].overhead, factor);
        models[i].rate = times_above_0(models[i].rate, 1 / factor);
        models[i].bandwidth = times_above_0(models[i].bandwidth, 1 / factor);
        status = rescale_curves(&models[i], factor, result);
    }
    p->models = models;
    p->overhead = times(p->overhead, factor);
    p->bandwidth = times_above_0(p->bandwidth, 1 / factor);
    p->rates = rates_times(p->rates, p->rate_count, 1 / factor, result);
    p->bandwidths = rates_times(p->bandwidths, p->bandwidth_count, 1 / factor, result);
    return p->rates && p->bandwidths ? status : PB_ENOMEM;
}

pb_status pb_machine_rescale(pb_context *ctx, const pb_machine *m, double factor, pb_arena *result,
                             const pb_machine **out)
{
    if (!(factor > 0 && isfinite(factor)))
        return pbi_fail(ctx, PB_EINVAL, "a machine is rescaled by a number above 0");
    pb_machine *scaled = pb_arena_alloc(result, 1, sizeof *scaled);
    pb_machine_processor *p = pb_arena_alloc(result, m->processor_count, sizeof *p);
    pb_status status = scaled && p ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < m->processor_count && status == PB_OK; i++) {
        p[i] = m->processors[i];
        status = rescale_processor(&p[i], factor, result);
    }
    if (status != PB_OK)
        return status;
    *scaled = *m;
    scaled->processors = p;
    scaled->reference.time = times_above_0(m->reference.time, factor);
    *out = scaled;
    return PB_OK;
}
