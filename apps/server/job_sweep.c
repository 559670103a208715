/* job_sweep.c -- a sweep over caps as a job. */
#define _XOPEN_SOURCE 700
#include "job.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CAPS = 2000, CAP_TEXT = 128 };

typedef struct range {
    uint64_t caps[MAX_CAPS];
    uint32_t count;
    pb_plan_result known; /* the plan with the smallest known cap */
    bool least_known;
} range;

/* The two ends of an item of `caps`: the same text if it is a single cap. */
typedef struct cap_ends {
    char high[CAP_TEXT], low[CAP_TEXT];
    bool many;
} cap_ends;

static pb_status fail(job *j, const char *sentence)
{
    snprintf(j->ctx.error.message, sizeof j->ctx.error.message, "%s", sentence);
    return PB_EINVAL;
}

static pb_status find_least(job *j, range *r, uint64_t *cap)
{
    job_spec *spec = j->spec;
    pb_bounds bounds;
    if (!r->least_known) {
        pb_request request = spec->request;
        request.handler = NULL;
        pb_status status = pb_least_cap(&j->ctx, &spec->base, &request, &j->arena, &r->known);
        if (status != PB_OK)
            return status;
        r->least_known = true;
    }
    if (r->known.certificate) {
        *cap = r->known.schedule.metrics.peak;
        return PB_OK;
    }
    pb_status status = pb_least_bound(&j->ctx, &spec->base, &bounds);
    if (status == PB_OK)
        *cap = bounds.least_cap;
    return status;
}

/* PB_EINVAL with a message if it is not a size. */
static pb_status read_cap(job *j, const char *text, uint64_t *cap)
{
    char why[256], sentence[300];
    if (pb_size_parse(text, j->graph->g->size_unit, j->graph->facts.program_peak, cap, why, sizeof why))
        return PB_OK;
    snprintf(sentence, sizeof sentence, "caps: %.200s; or least, or a range such as 100%%..30%%", why);
    return fail(j, sentence);
}

static pb_status one_cap(job *j, range *r, const char *text, uint64_t *cap)
{
    return strcmp(text, "least") == 0 ? find_least(j, r, cap) : read_cap(j, text, cap);
}

static pb_status split_cap(job *j, const char *text, cap_ends *ends)
{
    const char *dots = strstr(text, "..");
    size_t first = dots ? (size_t)(dots - text) : strlen(text);
    const char *last = dots ? dots + 2 : text;
    if (first >= CAP_TEXT || strlen(last) >= CAP_TEXT)
        return fail(j, "caps: a size or range is too long; write one such as 8GiB or 100%..30%");
    snprintf(ends->high, sizeof ends->high, "%.*s", (int)first, text);
    snprintf(ends->low, sizeof ends->low, "%s", last);
    ends->many = dots != NULL;
    return PB_OK;
}

bool job_check_caps(job *j)
{
    const job_spec *spec = j->spec;
    pb_status status = PB_OK;
    uint64_t count = 0;
    for (uint32_t i = 0; i < spec->cap_count && status == PB_OK; i++) {
        cap_ends ends = {.many = false};
        uint64_t high = 0, low = 0;
        status = split_cap(j, spec->caps[i], &ends);
        if (status == PB_OK && strcmp(ends.high, "least") != 0)
            status = read_cap(j, ends.high, &high);
        if (status == PB_OK && strcmp(ends.low, "least") != 0)
            status = read_cap(j, ends.low, &low);
        if (status == PB_OK && ends.many && (high == PB_UNLIMITED) != (low == PB_UNLIMITED))
            status = fail(j, "caps: a range cannot begin with none; begin with a size, such as 100%..30%");
        count += ends.many ? spec->points : 1;
    }
    if (status == PB_OK && count > MAX_CAPS)
        status = fail(j, "caps: too many; use fewer ranges or points");
    return status == PB_OK;
}

static pb_status add_range(job *j, range *r, uint64_t high, uint64_t low, uint32_t points)
{
    uint64_t *caps, swap = high;
    uint32_t count;
    high = high < low ? low : high;
    low = swap < low ? swap : low;
    if (high == PB_UNLIMITED && low != high)
        return fail(j, "caps: a range cannot begin with none; begin with a size, such as 100%..30%");
    pb_status status = pb_sweep_caps(&j->arena, high, low, points, &caps, &count);
    if (status != PB_OK)
        return status;
    if (r->count + count > MAX_CAPS)
        return fail(j, "caps: too many; use fewer ranges or points");
    memcpy(r->caps + r->count, caps, count * sizeof *caps);
    r->count += count;
    return PB_OK;
}

static pb_status take_caps(job *j, range *r)
{
    job_spec *spec = j->spec;
    static const char *const default_caps[] = {"100%..least"};
    uint32_t count = spec->cap_count ? spec->cap_count : 1;
    const char *const *list = spec->cap_count ? (const char *const *)spec->caps : default_caps;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        cap_ends ends;
        uint64_t high, low;
        status = split_cap(j, list[i], &ends);
        if (status == PB_OK)
            status = one_cap(j, r, ends.high, &high);
        if (status != PB_OK)
            return status;
        low = high;
        if (ends.many)
            status = one_cap(j, r, ends.low, &low);
        if (status == PB_OK)
            status = add_range(j, r, high, low, ends.many ? spec->points : 1);
    }
    return status;
}

/* Stores the plan of a cell and returns its number; cells that share a plan get different numbers. */
static uint64_t keep_cell(job *j, const pb_sweep *sweep, uint32_t cell)
{
    const pb_sweep_cell *c = &sweep->cells[cell];
    pb_plan_result planned = {.schedule = c->schedule, .game = c->game, .certificate = c->certificate};
    planned.asked = c->schedule.strategy;
    planned.spec = sweep->lines[pb_sweep_line_of(sweep, cell)].spec;
    planned.failed_step = UINT64_MAX;
    planned.failed_node = PB_NO_NODE;
    planned.seconds = c->seconds;
    return c->certificate ? store_add_plan(j->spec->store, j, &planned) : 0;
}

/* The document of `pebble sweep --json`, with the plan of each cell. */
static char *document_of(job *j, const pb_sweep *sweep)
{
    text_out text;
    size_t length;
    FILE *out = text_begin(&text);
    pb_status status = out ? pb_sweep_json_write(&j->ctx, &sweep, 1, text_sink(&text)) : PB_ENOMEM;
    char *bytes = text_end(&text, &length), *result = NULL;
    json_t *document = bytes && status == PB_OK ? json_loadb(bytes, length, 0, NULL) : NULL;
    free(bytes);
    json_t *cells = json_object_get(json_array_get(json_object_get(document, "sweeps"), 0), "cells");
    for (uint32_t i = 0; cells && i < sweep->cell_count; i++) {
        char name[32];
        uint64_t plan = keep_cell(j, sweep, i);
        snprintf(name, sizeof name, "p%llu", (unsigned long long)plan);
        json_object_set_new(json_array_get(cells, i), "plan", plan ? json_string(name) : json_null());
    }
    if (document)
        result = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(document);
    return result;
}

void job_run_sweep(job *j)
{
    job_spec *spec = j->spec;
    pb_sweep sweep;
    pb_sweep_request request = {.strategies = spec->strategies, .game = spec->games, .plan = spec->request};
    range *r = pb_arena_zero(&j->arena, 1, sizeof *r);
    spec->strategy_now = "sweep";
    job_limit(j, spec->time_ms);
    pb_status status = r ? take_caps(j, r) : PB_ENOMEM;
    if (status != PB_OK) {
        job_done(j, status, UINT32_MAX, NULL);
        return;
    }
    uint64_t now = job_clock();
    request.caps = r->caps;
    request.cap_count = r->count;
    request.known = &r->known;
    request.known_count = r->least_known && r->known.certificate;
    request.plan.prove = true;
    request.plan.handler = NULL; /* cells are planned on several threads */
    request.time_ns = !spec->deadline_ns ? 0 : spec->deadline_ns > now ? spec->deadline_ns - now : 1;
    status = pb_sweep_make(&j->ctx, &spec->base, &request, &j->arena, &sweep);
    if (status == PB_OK) {
        j->ctx.stop = NULL;
        j->ctx.stopped = PB_GO_ON; /* the results are sent even after a stop */
        log_add(j->log, "sweep", document_of(j, &sweep), false);
    }
    job_done(j, status, UINT32_MAX, NULL);
}
