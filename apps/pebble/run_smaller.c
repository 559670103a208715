/* run_smaller.c -- see run_smaller.h. Work is compared as the workload estimates it: nothing is measured for a hint. */
#include "run_smaller.h"

#include <stdio.h>
#include <string.h>

enum { GAPS = 5 };   /* addresses need up to a fifth more than the sizes */
#define NOTABLE 0.05 /* less gain than this is not worth a note */

static const pb_option *smaller_option(const workload_spec *spec)
{
    pb_workload_row row;
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row_of(i, &row);
        if (strcmp(row.name, spec->name) == 0)
            return row.smaller;
    }
    return NULL;
}

/* The same workload with the option; false if it has the option already. */
static bool with_option(const workload_spec *spec, const pb_option *o, workload_spec *out)
{
    *out = *spec;
    for (uint32_t i = 0; i < out->option_count; i++)
        if (strcmp(out->options[i].key, o->key) == 0) {
            bool same = strcmp(out->options[i].value, o->value) == 0;
            out->options[i] = *o;
            return !same;
        }
    if (out->option_count == MAX_WORKLOAD_OPTIONS)
        return false;
    out->options[out->option_count++] = *o;
    return true;
}

/* Peak in program order, and work relative to that of `w` with every value computed once. */
static bool measure(app *a, const workload_spec *spec, const pb_workload *w, uint64_t *peak, double *work)
{
    pb_workload *other;
    if (pb_workload_open(&a->ctx, spec->name, spec->options, spec->option_count, &other) != PB_OK)
        return false;
    const pb_graph *g = pb_workload_graph(other);
    bool fine = pb_graph_program_peak(&a->ctx, g, peak) == PB_OK && pb_workload_graph(w)->needed_cost;
    *work = fine ? (double)g->needed_cost / (double)pb_workload_graph(w)->needed_cost : 0;
    pb_workload_close(other);
    return fine;
}

void suggest_smaller(app *a, const run_report *r, const pb_workload *w)
{
    const pb_option *o = smaller_option(&r->spec);
    workload_spec spec;
    uint64_t peak, cap = r->game.cap;
    double work, now = r->planned.certificate ? 1 + r->planned.schedule.metrics.overhead : 0;
    char need[FIGURE_ROOM], more[FIGURE_ROOM], has[FIGURE_ROOM];
    if (!o || app_option(a, OPT_PLAN) || cap == PB_UNLIMITED || !with_option(&r->spec, o, &spec) ||
        !measure(a, &spec, w, &peak, &work) || peak + peak / GAPS > cap || (now > 0 && work > now - NOTABLE))
        return;
    amount_text(peak, "byte", need);
    percent_text(work - 1, more);
    percent_text(now - 1, has);
    app_note(a, "%s:%s=%s needs only %s, with %s more work than this workload if every value is computed once%s%s%s",
             r->spec.name, o->key, o->value, need, more, now > 0 ? "; this plan has " : "", now > 0 ? has : "",
             now > 0 ? " more" : "");
}
