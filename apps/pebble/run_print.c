/* run_print.c -- see run_print.h. */
#include "run_print.h"

#include "common/json_print.h"
#include "least_line.h"
#include "plain_print.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

static bool row(table *t, const char *name, const char *predicted, const char *measured, const char *note)
{
    const char *cells[] = {name, predicted, measured, note};
    return table_row(t, cells, NULL);
}

/* If kernels needed more memory than they declared, the run's peak differs from the plan's. */
static const char *peak_text(const run_report *r)
{
    if (r->measured.peak == r->planned.schedule.metrics.peak)
        return "exactly equal";
    return r->measured.replanned || r->measured.more_bytes ? "kernels needed more" : "NOT EQUAL";
}

static bool size_rows(table *t, const run_report *r)
{
    const pb_run_figures *m = &r->measured;
    uint64_t peak = r->planned.schedule.metrics.peak;
    char one[FIGURE_ROOM], two[FIGURE_ROOM], note[2 * FIGURE_ROOM];
    pb_quantity_text(peak, "byte", one, sizeof one);
    pb_quantity_text(m->peak, "byte", two, sizeof two);
    if (!row(t, "peak", one, two, peak_text(r)))
        return false;
    pb_quantity_text(m->block, "byte", two, sizeof two);
    change_text((double)m->peak, (double)m->block, one);
    snprintf(note, sizeof note, "%s compared with the peak", one);
    if (!row(t, "memory block", "", two, m->block == m->peak ? "equal to the peak" : note))
        return false;
    pb_quantity_text(r->resident_growth, "byte", two, sizeof two);
    uint64_t grown = r->resident_growth;
    pb_quantity_text(grown > m->block ? grown - m->block : m->block - grown, "byte", one, sizeof one);
    snprintf(note, sizeof note, "%s %s than the block", one, grown > m->block ? "more" : "less");
    return !r->resident_before || row(t, "process grew", "", two, note);
}

static bool time_row(table *t, const char *name, uint64_t predicted, uint64_t measured, const char *more)
{
    char one[FIGURE_ROOM], two[FIGURE_ROOM], change[FIGURE_ROOM], note[5 * FIGURE_ROOM];
    duration_text(predicted, one);
    duration_text(measured, two);
    change_text((double)predicted, (double)measured, change);
    snprintf(note, sizeof note, "%s%s", change, more);
    return row(t, name, one, two, note);
}

/* Of the timed game: how long the processor waited, by cause. */
static bool stall_rows(table *t, const run_report *r)
{
    const pb_run_figures *m = &r->measured;
    const uint64_t *stall = pb_certificate_totals(r->planned.certificate)->timed.lanes[0].stall;
    char one[FIGURE_ROOM], two[FIGURE_ROOM];
    duration_text(stall[PB_STALL_COPY], one);
    duration_text(m->stall_copy_ns, two);
    if (!row(t, "waiting for copies", one, two, ""))
        return false;
    duration_text(stall[PB_STALL_MEMORY], one);
    duration_text(m->stall_memory_ns, two);
    return row(t, "waiting for room", one, two, "");
}

static bool time_rows(table *t, const run_report *r)
{
    const pb_metrics *p = &r->planned.schedule.metrics;
    const pb_run_figures *m = &r->measured;
    char low[FIGURE_ROOM], high[FIGURE_ROOM], more[3 * FIGURE_ROOM], flux[2][FIGURE_ROOM], change[FIGURE_ROOM];
    duration_text(m->time.low, low);
    duration_text(m->time.high, high);
    snprintf(more, sizeof more, "; half of the steps took from %s to %s", low, high);
    bool overlaps = r->planned.schedule.game == PB_GAME_TIMED;
    if (!time_row(t, overlaps ? "makespan" : "time", p->makespan, overlaps ? m->makespan_ns : m->time.median,
                  m->steps > 2 ? more : ""))
        return false;
    snprintf(more, sizeof more, ", in %llu computation%s", (unsigned long long)m->recomputed,
             m->recomputed == 1 ? "" : "s");
    if (!(p->recompute_count || m->recomputed ? time_row(t, "recompute", p->recompute, m->recompute_ns, more)
                                              : row(t, "recompute", "none", "none", "")))
        return false;
    duration_text(m->io_wait_ns, low);
    pb_quantity_text(m->stored_bytes, "byte", high, sizeof high);
    snprintf(more, sizeof more, ", %s stored; the run waited %s for transfers", high, low);
    if ((overlaps || r->planned.schedule.game == PB_GAME_TIERED) &&
        !time_row(t, "transfers", p->io, m->io_busy_ns, more))
        return false;
    if (overlaps && !stall_rows(t, r))
        return false;
    snprintf(flux[0], FIGURE_ROOM, "%.3g MiB s", pb_u128_double(p->flux) / 1048576e9);
    snprintf(flux[1], FIGURE_ROOM, "%.3g MiB s", m->flux / 1048576e9);
    change_text(pb_u128_double(p->flux), m->flux, change);
    return row(t, "flux", flux[0], flux[1], change);
}

static void print_reference(const app *a, const run_report *r)
{
    const pb_run_figures *m = &r->measured, *all = &r->reference;
    char text[1024], peak[FIGURE_ROOM], time[FIGURE_ROOM], share[FIGURE_ROOM], more[FIGURE_ROOM], speed[FIGURE_ROOM];
    if (!all->steps)
        return;
    pb_quantity_text(all->peak, "byte", peak, sizeof peak);
    duration_text(all->time.median, time);
    percent_text(all->peak ? (double)m->peak / (double)all->peak : 1, share);
    change_text((double)all->time.median, (double)m->time.median, more);
    change_text((double)r->game.graph->needed_cost, (double)all->time.median, speed);
    snprintf(text, sizeof text,
             "keeping everything takes %s and %s (%s compared with the costs): the plan takes %s of that memory, and "
             "%s time",
             peak, time, speed, share, more);
    putchar('\n');
    print_wrapped(stdout, text, 0, 2, a->width);
    if (r->differs == UINT64_MAX)
        printf("the results are equal bit for bit after each of %llu step%s: %.16s...\n",
               (unsigned long long)all->steps, all->steps == 1 ? "" : "s", m->digest[all->steps - 1]);
    else
        printf("the results are not equal bit for bit; that of the run that keeps everything: %s\n", all->text);
}

void run_print_checked(const run_report *r)
{
    const pb_run_checked *c = &r->checked;
    enum { SHOWN = 10 };
    if (!r->was_checked)
        return;
    printf("checked: %llu computation%s ran twice", (unsigned long long)(c->computed - c->once),
           c->computed - c->once == 1 ? "" : "s");
    if (c->once)
        printf(" (%u of nodes that are computed once ran once)", (unsigned)c->once);
    if (!c->differs_count) {
        puts("; every result has the same bits");
        return;
    }
    printf("; %u kernel%s not give the same bits again:", (unsigned)c->differs_count,
           c->differs_count == 1 ? " does" : "s do");
    for (uint32_t i = 0; i < c->differs_count && i < SHOWN; i++) {
        fputs(i ? ", " : " ", stdout);
        print_plain(stdout, pb_graph_name(r->game.graph, c->differs[i]));
    }
    puts(c->differs_count > SHOWN ? ", ..." : "");
}

void run_json_checked(const run_report *r)
{
    const pb_run_checked *c = &r->checked;
    if (!r->was_checked)
        return;
    printf(",\n\"checked\":{\"computed\":%llu,\"once\":%u,\"differs\":[", (unsigned long long)c->computed,
           (unsigned)c->once);
    for (uint32_t i = 0; i < c->differs_count; i++) {
        fputs(i ? "," : "", stdout);
        json_text(stdout, pb_graph_name(r->game.graph, c->differs[i]));
    }
    fputs("]}", stdout);
}

bool run_print_text(app *a, const run_report *r)
{
    static const table_column columns[] = {
        {"", false, 0}, {"predicted", true, 0}, {"measured", true, 0}, {"", false, 0}};
    const pb_schedule *s = &r->planned.schedule;
    char cap[FIGURE_ROOM], strategy[FIGURE_ROOM], text[4 * FIGURE_ROOM + 512];
    table t;
    pb_quantity_text(r->game.cap, "byte", cap, sizeof cap);
    strategy_text(s, strategy);
    snprintf(text, sizeof text, "%.400s under a cap of %s: %s by %s in the %s game, %llu step%s", r->spec.text,
             r->game.cap == PB_UNLIMITED ? "none" : cap, pb_outcome_name(s->outcome), strategy,
             pb_game_kind_name(s->game), (unsigned long long)r->measured.steps, r->measured.steps == 1 ? "" : "s");
    print_wrapped(stdout, text, 0, 2, a->width);
    putchar('\n');
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    if (!size_rows(&t, r) || !time_rows(&t, r))
        return false;
    table_print(&t, stdout);
    print_reference(a, r);
    if (r->measured.replanned)
        printf("kernels needed more memory than they declared: the remaining steps were planned again %llu time%s\n",
               (unsigned long long)r->measured.replanned, r->measured.replanned == 1 ? "" : "s");
    if (r->measured.text[0])
        print_line(stdout, "%s", r->measured.text);
    run_print_checked(r);
    return true;
}

void run_print_missing(app *a, const run_report *r)
{
    char reason[512], strategy[FIGURE_ROOM];
    pb_result_reason(&r->planned, r->planned.game, reason, sizeof reason);
    strategy_text(&r->planned.schedule, strategy);
    if (r->planned.schedule.outcome == PB_INFEASIBLE)
        print_line(stdout, "infeasible: %s", reason);
    else
        print_line(stdout, "no plan found (%s): %s", strategy, reason);
    print_least(a, stdout, r->planned.least, &r->game);
}

/* ---- JSON ---- */

static void field(const char *key, uint64_t value)
{
    printf("\"%s\":", key);
    json_u64(stdout, value);
    putchar(',');
}

static void print_figures(const char *key, const pb_run_figures *f)
{
    printf(",\n\"%s\":{", key);
    field("steps", f->steps);
    field("peak", f->peak);
    field("block", f->block);
    field("time_ns", f->time.median);
    field("time_low_ns", f->time.low);
    field("time_high_ns", f->time.high);
    field("fill_ns", f->fill_ns);
    field("kernel_ns", f->kernel_ns);
    field("computed", f->computed);
    field("recompute_count", f->recomputed);
    field("recompute_ns", f->recompute_ns);
    field("stored_bytes", f->stored_bytes);
    field("loaded_bytes", f->loaded_bytes);
    field("io_wait_ns", f->io_wait_ns);
    field("io_busy_ns", f->io_busy_ns);
    field("makespan_ns", f->makespan_ns);
    field("stall_copy_ns", f->stall_copy_ns);
    field("stall_memory_ns", f->stall_memory_ns);
    field("more_bytes", f->more_bytes);
    field("replanned", f->replanned);
    fputs("\"flux\":", stdout);
    json_double(stdout, f->flux);
    fputs(",\"digest\":", stdout);
    json_text(stdout, f->digest[f->steps - 1]);
    putchar('}');
}

static void print_predicted(const run_report *r)
{
    const pb_metrics *m = &r->planned.schedule.metrics;
    fputs(",\n\"predicted\":{", stdout);
    field("peak", m->peak);
    field("time_ns", m->makespan);
    field("io_ns", m->io);
    field("reference_ns", r->game.graph->needed_cost);
    field("recompute_ns", m->recompute);
    field("recompute_count", m->recompute_count);
    if (r->planned.schedule.game == PB_GAME_TIMED) {
        const pb_timed_totals *timed = &pb_certificate_totals(r->planned.certificate)->timed;
        field("stall_copy_ns", timed->lanes[0].stall[PB_STALL_COPY]);
        field("stall_memory_ns", timed->lanes[0].stall[PB_STALL_MEMORY]);
    }
    fputs("\"overhead\":", stdout);
    json_double(stdout, m->overhead);
    fputs(",\"flux\":", stdout);
    json_u128(stdout, m->flux);
    putchar('}');
}

static void print_run(const run_report *r)
{
    print_predicted(r);
    print_figures("measured", &r->measured);
    if (r->reference.steps)
        print_figures("reference", &r->reference);
    else
        fputs(",\n\"reference\":null", stdout);
    fputs(",\n\"resident_growth\":", stdout);
    if (r->resident_before)
        json_u64(stdout, r->resident_growth);
    else
        fputs("null", stdout);
    const char *equal = !r->reference.steps ? "null" : r->differs == UINT64_MAX ? "true" : "false";
    bool peak = r->measured.peak == r->planned.schedule.metrics.peak;
    printf(",\"peak_equal\":%s,\"results_equal\":%s,\"text\":", peak ? "true" : "false", equal);
    json_text(stdout, r->measured.text);
    run_json_checked(r);
    puts("}");
}

void run_print_json(const run_report *r)
{
    const pb_schedule *s = &r->planned.schedule;
    fputs("{\"workload\":", stdout);
    json_text(stdout, r->spec.name);
    fputs(",\"options\":", stdout);
    workload_print_options(&r->spec);
    fputs(",\"game\":", stdout);
    json_text(stdout, pb_game_kind_name(s->game));
    fputs(",\"cap\":", stdout);
    json_cap(stdout, r->game.cap);
    fputs(",\"strategy\":", stdout);
    json_text(stdout, s->strategy);
    fputs(",\"outcome\":", stdout);
    json_text(stdout, pb_outcome_name(s->outcome));
    printf(",\"repeats\":%u,\"seconds\":", (unsigned)r->profiled.repeats);
    json_double(stdout, r->planning_seconds);
    if (!r->measured.steps) {
        char reason[512];
        pb_result_reason(&r->planned, r->planned.game, reason, sizeof reason);
        fputs(",\"reason\":", stdout);
        json_text(stdout, reason);
        if (r->planned.least) {
            fputs(",\"least_proved_cap\":", stdout);
            json_cap(stdout, r->planned.least->bounds.least_cap);
            fputs(",\"least_known_cap\":", stdout);
            json_cap(stdout, r->planned.least->known ? r->planned.least->cap : PB_UNLIMITED);
        }
        puts(",\n\"predicted\":null,\"measured\":null,\"reference\":null}");
        return;
    }
    print_run(r);
}
