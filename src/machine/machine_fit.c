/* machine_fit.c -- models from measurements: for each operation and type the form that predicts best what it has not
 * seen, and the rates and bandwidths of the plain formula. */
#include "base/arena.h"
#include "base/context.h"
#include "machine/machine_curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 10, LEAST_SAMPLES = 4 };

/* In the order of preference: a later form must predict better by some percent. */
static const double better = 0.97;
static const pbi_model_form forms[] = {{PB_BY_BYTES, 0},    {PB_BY_FLOPS, 0},    {PB_BY_FORMULA, 0},
                                       {PB_BY_FLOPS, 2},    {PB_BY_FLOPS, 1},    {PB_BY_FLOPS, 0.5},
                                       {PB_BY_FLOPS, 0.25}, {PB_BY_FLOPS, 0.12}, {PB_BY_FLOPS, 0.06}};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- the samples in order, equal sizes merged ---- */

static int compare_texts(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static bool same_model(const pb_machine_sample *a, const pb_machine_sample *b)
{
    return compare_texts(a->op, b->op) == 0 && compare_texts(a->dtype, b->dtype) == 0;
}

static int by_model_and_size(const void *a, const void *b)
{
    const pb_machine_sample *x = a, *y = b;
    int texts = compare_texts(x->op, y->op);
    texts = texts ? texts : compare_texts(x->dtype, y->dtype);
    if (texts)
        return texts;
    const uint64_t pairs[][2] = {{x->at.flops, y->at.flops}, {x->at.bytes, y->at.bytes}, {x->at.time, y->at.time}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] > pairs[i][1] ? 1 : -1;
    return 0;
}

static pb_status check_samples(pb_context *ctx, const pb_machine_sample *samples, uint32_t count)
{
    if (!count)
        return pbi_fail(ctx, PB_EINVAL,
                        "there are no measurements to fit models to: no computation states its "
                        "operation, its flops or bytes, and its time");
    for (uint32_t i = 0; i < count; i++) {
        const pb_machine_sample *s = &samples[i];
        if (!s->op || !*s->op)
            return pbi_fail(ctx, PB_EINVAL, "measurement %u names no operation", (unsigned)i + 1);
        if (!s->at.time || (!s->at.flops && !s->at.bytes))
            return pbi_fail(ctx, PB_EINVAL, "measurement %u (%.60s) %s", (unsigned)i + 1, s->op,
                            s->at.time ? "states neither flops nor bytes" : "takes no time");
    }
    return PB_OK;
}

/* The points of the samples from *at on that have one operation and type; the median time of each size. */
static uint32_t next_points(const pb_machine_sample *sorted, uint32_t count, uint32_t *at, pb_machine_point *out)
{
    uint32_t made = 0, i = *at;
    const pb_machine_sample *first = &sorted[i];
    while (i < count && same_model(first, &sorted[i])) {
        uint32_t end = i;
        while (end < count && same_model(first, &sorted[end]) && sorted[end].at.flops == sorted[i].at.flops &&
               sorted[end].at.bytes == sorted[i].at.bytes)
            end++;
        out[made++] = sorted[i + (end - i) / 2].at;
        i = end;
    }
    *at = i;
    return made;
}

/* ---- the best form ---- */

static pb_status fit_form(const pb_machine_point *points, uint32_t count, pbi_model_form form, pb_arena *result,
                          pb_machine_model *m, pbi_formula *f)
{
    *f = pbi_fit_formula(points, count);
    m->overhead = (uint64_t)llround(f->overhead);
    return pbi_fit_curves(points, count, form, result, m);
}

/* Splits the points into those of one fold, at the end, and the others. Returns how many others there are. */
static uint32_t split(const pb_machine_point *points, uint32_t count, uint32_t fold, uint32_t folds,
                      pb_machine_point *out)
{
    uint32_t others = 0, held = count;
    for (uint32_t i = 0; i < count; i++)
        if (i % folds == fold)
            out[--held] = points[i];
        else
            out[others++] = points[i];
    return others;
}

/* Whether every point has what the form goes by. */
static bool form_applies(pbi_model_form form, const pb_machine_point *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if ((form.by == PB_BY_FLOPS && !points[i].flops) || (form.by == PB_BY_BYTES && !points[i].bytes))
            return false;
    return true;
}

/* Predicts each point from the points of other folds. */
static pb_status form_errors(const pb_machine_point *points, uint32_t count, double error[FORMS], pb_arena *scratch)
{
    uint32_t folds = count < FOLDS ? count : FOLDS;
    pb_machine_point *parts = pb_arena_alloc(scratch, count, sizeof *parts);
    pb_status status = parts ? PB_OK : PB_ENOMEM;
    for (uint32_t fold = 0; fold < folds && status == PB_OK; fold++) {
        uint32_t others = split(points, count, fold, folds, parts);
        pbi_formula f = pbi_fit_formula(parts, others);
        for (int k = 0; k < FORMS && status == PB_OK; k++) {
            pbi_mark mark = pbi_arena_mark(scratch);
            pb_machine_model m = {.overhead = (uint64_t)llround(f.overhead)};
            status = pbi_fit_curves(parts, others, forms[k], scratch, &m);
            for (uint32_t i = others; i < count && status == PB_OK; i++)
                error[k] += fabs(log(pbi_model_time(&m, &f, &parts[i], NULL) / (double)parts[i].time)) / count;
            pbi_arena_rewind(scratch, mark);
        }
    }
    return status;
}

static pb_status fit_model(pb_context *ctx, const pb_machine_point *points, uint32_t count, pb_arena *result,
                           pb_machine_model *m, pb_machine_fitted *fitted)
{
    double error[FORMS] = {0};
    int best = 0;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = count < LEAST_SAMPLES ? PB_OK : form_errors(points, count, error, &scratch);
    pb_arena_release(&scratch);
    if (count < LEAST_SAMPLES) /* memory is the limit below some ten operations per byte */
        best = pbi_point_intensity(&points[count / 2]) > log(10.0);
    if (!form_applies(forms[best], points, count))
        best = 1 - best;
    for (int k = 0; k < FORMS && count >= LEAST_SAMPLES; k++)
        if (form_applies(forms[k], points, count) && error[k] < better * error[best])
            best = k;
    pbi_formula f;
    if (status == PB_OK)
        status = fit_form(points, count, forms[best], result, m, &f);
    if (status != PB_OK)
        return status;
    m->rate = (uint64_t)llround(1e9 * f.rate);
    m->bandwidth = (uint64_t)llround(1e9 * f.bandwidth);
    *fitted = (pb_machine_fitted){m, count, count < LEAST_SAMPLES ? -1 : error[best]};
    return PB_OK;
}

/* ---- the plain formula ---- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static const char *rate_key(pb_arena *result, const pb_machine_model *m)
{
    char key[PB_MACHINE_KEY];
    int length = snprintf(key, sizeof key, "%s%s%s", m->op, m->dtype ? "/" : "", m->dtype ? m->dtype : "");
    return length < (int)sizeof key ? pb_arena_text(result, key, (size_t)length) : "";
}

/* Whose rate and bandwidth hold for operations that were not measured: those named first, if they are there. */
static const pb_machine_model *typical(const pb_machine_processor *p, const char *const names[2], const char *dtype)
{
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < p->model_count; i++)
            if (strcmp(p->models[i].op, names[k]) == 0 && (!dtype || compare_texts(p->models[i].dtype, dtype) == 0))
                return &p->models[i];
    return NULL;
}

static bool has_key(const pb_machine_rate *rates, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rates[i].key, key) == 0)
            return true;
    return false;
}

static void add_rate(pb_machine_rate *rates, uint32_t *count, const char *key, uint64_t per_second)
{
    if (*key && per_second && !has_key(rates, *count, key))
        rates[(*count)++] = (pb_machine_rate){key, per_second};
}

static pb_status fill_rates(pb_machine_processor *p, pb_arena *result)
{
    static const char *const computing[] = {"matmul", "conv"}, *const moving[] = {"elementwise", "copy"};
    uint32_t n = p->model_count, rates = 0, bandwidths = 0;
    pb_machine_rate *rate = pb_arena_alloc(result, 2 * (size_t)n + 1, sizeof *rate);
    pb_machine_rate *bandwidth = pb_arena_alloc(result, n, sizeof *bandwidth);
    uint64_t *overhead = pb_arena_alloc(result, n, sizeof *overhead);
    if (!rate || !bandwidth || !overhead)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const pb_machine_model *m = &p->models[i];
        const char *key = rate_key(result, m);
        if (!key)
            return PB_ENOMEM;
        overhead[i] = m->overhead;
        if (m->dtype)
            add_rate(rate, &rates, key, m->rate);
        if (strlen(m->op) < PB_MACHINE_KEY) /* longer keys are never found */
            add_rate(bandwidth, &bandwidths, m->op, m->bandwidth);
    }
    for (uint32_t i = 0; i < n; i++) {
        const pb_machine_model *m = p->models[i].dtype ? typical(p, computing, p->models[i].dtype) : NULL;
        if (m)
            add_rate(rate, &rates, m->dtype, m->rate);
    }
    const pb_machine_model *all = typical(p, computing, NULL), *memory = typical(p, moving, NULL);
    uint64_t any = 0;
    for (uint32_t i = 0; i < n; i++)
        any = p->models[i].rate > any ? p->models[i].rate : any;
    add_rate(rate, &rates, "other", all && all->rate ? all->rate : any ? any : 1);
    qsort(overhead, n, sizeof *overhead, by_number);
    p->overhead = overhead[n / 2];
    p->bandwidth = memory ? memory->bandwidth : p->models[0].bandwidth;
    p->rates = rate;
    p->rate_count = rates;
    p->bandwidths = bandwidth;
    p->bandwidth_count = bandwidths;
    return PB_OK;
}

pb_status pb_machine_fit(pb_context *ctx, const pb_machine_sample *samples, uint32_t count, pb_arena *result,
                         pb_machine_processor *p, const pb_machine_fitted **fitted)
{
    pb_status status = check_samples(ctx, samples, count);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_machine_sample *sorted = pb_arena_alloc(&scratch, count, sizeof *sorted);
    pb_machine_point *points = pb_arena_alloc(&scratch, count, sizeof *points);
    pb_machine_model *models = pb_arena_zero(result, count, sizeof *models);
    pb_machine_fitted *errors = pb_arena_alloc(result, count, sizeof *errors);
    pb_machine_processor filled = *p;
    uint32_t made = 0;
    status = sorted && points && models && errors ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        memcpy(sorted, samples, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_model_and_size);
    }
    for (uint32_t at = 0; at < count && status == PB_OK; made++) {
        const pb_machine_sample *first = &sorted[at];
        pb_machine_model *m = &models[made];
        m->op = pb_arena_text(result, first->op, strlen(first->op));
        m->dtype = first->dtype ? pb_arena_text(result, first->dtype, strlen(first->dtype)) : NULL;
        uint32_t sizes = next_points(sorted, count, &at, points);
        status =
            m->op && (m->dtype || !first->dtype) ? fit_model(ctx, points, sizes, result, m, &errors[made]) : PB_ENOMEM;
    }
    pb_arena_release(&scratch);
    filled.models = models;
    filled.model_count = made;
    if (status == PB_OK)
        status = fill_rates(&filled, result);
    if (status != PB_OK)
        return status;
    *p = filled;
    if (fitted)
        *fitted = errors;
    return PB_OK;
}
