/* cmd_fit.c -- pebble fit: the largest batch of a workload under a cap, with and without a plan. */
#include "commands.h"
#include "common/json_print.h"
#include "fit_sizes.h"
#include "option_hint.h"
#include "plain_print.h"
#include "settings.h"
#include "table.h"
#include "workload_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct task {
    workload_spec spec;
    pb_fit_request request;
    pb_fit fit;
} task;

bool read_overhead(app *a, double *out)
{
    const char *text = app_option(a, OPT_MAX_OVERHEAD);
    char *end;
    *out = 0.1;
    if (!text)
        return true;
    *out = PB_FIT_FORWARD;
    if (strcmp(text, "forward") == 0)
        return true;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    if (value < 0 || strcmp(end, "%") != 0 || value > 1e6) {
        app_usage(a, "--max-overhead: expected a percentage such as 10%%, or forward, not `%.40s`", text);
        return false;
    }
    *out = value / 100;
    return true;
}

/* False after printing the options of the workload, which must be in the table. */
static bool check_option(app *a, const char *workload, const char *key)
{
    pb_workload_row row = {0};
    char list[300] = "";
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row_of(i, &row);
        if (strcmp(row.name, workload) == 0)
            break;
    }
    for (uint32_t k = 0, used = 0; k < row.option_count; k++) {
        if (strcmp(row.options[k].key, key) == 0)
            return true;
        int more = snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", row.options[k].key);
        used += used + (uint32_t)more < sizeof list ? (uint32_t)more : 0;
    }
    app_usage(a, "the workload %s has no option %.40s; --option must be one of %s", workload, key, list);
    return false;
}

/* A cap in percent refers to the program order peak of the workload with its given options. */
static exit_code read_cap(app *a, task *t)
{
    pb_workload *w = NULL;
    exit_code code = workload_open(a, &t->spec, &w);
    if (code != EXIT_DONE)
        return code;
    bool read = setting_size(a, OPT_CAP, pb_workload_graph(w), &t->request.cap);
    pb_workload_close(w);
    if (!read)
        return EXIT_USAGE;
    return t->request.cap == PB_UNLIMITED
               ? app_usage(a, "--cap: expected a limit; without one, every size fits. Try --cap 64MiB")
               : EXIT_DONE;
}

/* False after printing an error if there are options of networks, which a workload takes after a colon. */
static bool refuse_network_options(app *a)
{
    static const option_id of_networks[] = {OPT_BATCH, OPT_GRADS, OPT_OPTIMIZER, OPT_DIM};
    const char *key = a->opts.param_count ? a->opts.params[0].key : NULL;
    char why[300];
    for (int i = 0; i < 4; i++)
        key = app_option(a, of_networks[i]) ? option_specs[of_networks[i]].name : key;
    if (!key)
        return true;
    option_hint(key, ON_FIT, a->opts.positional[0], why, sizeof why);
    app_usage(a, "%s", why);
    return false;
}

static exit_code read_task(app *a, task *t)
{
    pb_fit_request *r = &t->request;
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one workload, as in pebble fit synthetic:steps=20 --cap 64MiB");
    if (!app_option(a, OPT_CAP))
        return app_usage(a, "--cap is missing; try --cap 64MiB");
    if (!refuse_network_options(a))
        return EXIT_USAGE;
    *r = (pb_fit_request){.plan = PB_REQUEST_DEFAULT, .vary = vary_option(a)};
    if (!workload_parse(a, a->opts.positional[0], &t->spec) || !read_overhead(a, &r->max_overhead) ||
        !clock_option(a) || !setting_request(a, &r->plan))
        return EXIT_USAGE;
    r->plan.patient = false; /* --time is for all plans together, and a dozen of them should not take long */
    if (!app_option(a, OPT_TICKS))
        a->ctx.tick_limit = FIT_TICKS;
    r->workload = t->spec.name;
    r->options = t->spec.options;
    r->option_count = t->spec.option_count;
    return check_option(a, t->spec.name, r->vary) ? read_cap(a, t) : EXIT_USAGE;
}

static const char *way_text(pb_fit_way way)
{
    static const char *const texts[] = {"keep everything", "free after the last use", "best order", "planned"};
    return texts[way];
}

static bool add_row(table *tab, const task *t, pb_fit_way way)
{
    const pb_fit_row *row = &t->fit.row[way], *written = &t->fit.row[PB_FIT_PROGRAM_ORDER];
    char value[FIGURE_ROOM], times[FIGURE_ROOM] = "", size[FIGURE_ROOM] = "-", each[FIGURE_ROOM] = "-";
    char predicted[FIGURE_ROOM] = "-", measured[FIGURE_ROOM] = "-", passes[FIGURE_ROOM] = "-";
    if (row->value)
        snprintf(value, sizeof value, "%llu%s", (unsigned long long)row->value, row->bounded ? "" : "+");
    else
        snprintf(value, sizeof value, t->fit.stopped ? "-" : "none");
    if (row->value && written->value)
        snprintf(times, sizeof times, "%.2f x", (double)row->value / (double)written->value);
    if (row->ran) {
        pb_quantity_text(row->measured.block, "byte", size, sizeof size);
        duration_text(row->measured.time.median / row->value, each);
        percent_text(row->measured_overhead, measured);
        snprintf(passes, sizeof passes, "%.2f", row->forward_passes);
    }
    if (row->overhead > 0)
        percent_text(row->overhead, predicted);
    else if (row->value)
        snprintf(predicted, sizeof predicted, "none");
    const char *cells[] = {way_text(way), value, times, size, each, predicted, measured, passes};
    return table_row(tab, cells, way == PB_FIT_PLAN ? "1" : NULL);
}

/* What to try if nothing fits. */
static void print_fit_least(app *a, const task *t)
{
    char cap[FIGURE_ROOM], least[FIGURE_ROOM], text[3 * FIGURE_ROOM];
    if (!t->fit.least_cap)
        return;
    pb_quantity_text(t->request.cap, "byte", cap, sizeof cap);
    pb_quantity_text(t->fit.least_cap, "byte", least, sizeof least);
    snprintf(text, sizeof text, "no %s fits %s; the smallest cap with a known plan for %s=1 is %s. Try --cap %llu",
             t->request.vary, cap, t->request.vary, least, (unsigned long long)t->fit.least_cap);
    putchar('\n');
    print_wrapped(stdout, text, 0, 2, a->width);
}

static bool print_text(app *a, const task *t)
{
    const pb_fit_request *r = &t->request;
    table_column columns[] = {{"", false, 0},
                              {r->vary, true, 0},
                              {"", true, 0},
                              {"memory block", true, 0},
                              {"time for one", true, 0},
                              {"overhead", true, 0},
                              {"measured", true, 0},
                              {"forward passes", true, 0}};
    char cap[FIGURE_ROOM], most[FIGURE_ROOM];
    table tab;
    pb_quantity_text(r->cap, "byte", cap, sizeof cap);
    percent_text(r->max_overhead, most);
    print_line(stdout, "%s: the largest %s in %s, with at most %s%s for recomputation", t->spec.text, r->vary, cap,
               r->max_overhead < 0 ? "the time of one forward pass" : most, r->max_overhead < 0 ? "" : " extra time");
    putchar('\n');
    table_init(&tab, &a->arena, columns, sizeof columns / sizeof *columns);
    tab.color = a->color;
    tab.width = a->width;
    for (int way = 0; way < PB_FIT_WAYS; way++)
        if (!add_row(&tab, t, (pb_fit_way)way))
            return false;
    table_print(&tab, stdout);
    if (t->fit.profiled_each)
        printf("\ncosts were measured for every planned %s; the measured figures are those of one step\n", r->vary);
    else if (t->fit.profile_value)
        printf("\ncosts were measured at %s=%llu and scaled; the measured figures are those of one step\n", r->vary,
               (unsigned long long)t->fit.profile_value);
    print_fit_least(a, t);
    return true;
}

static void number(const char *key, double value)
{
    printf(",\"%s\":", key);
    json_double(stdout, value);
}

static void count(const char *key, uint64_t value)
{
    printf(",\"%s\":", key);
    json_u64(stdout, value);
}

static void print_json_row(const pb_fit_row *row, pb_fit_way way)
{
    printf("%s\n{\"way\":\"%s\",\"value\":", way ? "," : "", pb_fit_way_name(way));
    json_u64(stdout, row->value);
    printf(",\"bounded\":%s,\"ran\":%s,\"strategy\":", row->bounded ? "true" : "false", row->ran ? "true" : "false");
    json_text(stdout, row->strategy);
    number("overhead", row->overhead);
    number("forward_passes", row->forward_passes);
    if (row->ran) {
        count("peak", row->measured.peak);
        count("block", row->measured.block);
        count("time_ns", row->measured.time.median);
        count("recompute_ns", row->measured.recompute_ns);
        number("measured_overhead", row->measured_overhead);
    }
    putchar('}');
}

static void print_json(const task *t)
{
    const pb_fit_request *r = &t->request;
    fputs("{\"workload\":", stdout);
    json_text(stdout, t->spec.name);
    fputs(",\"options\":", stdout);
    workload_print_options(&t->spec);
    fputs(",\"option\":", stdout);
    json_text(stdout, r->vary);
    count("cap", r->cap);
    if (r->max_overhead < 0)
        fputs(",\"max_overhead\":\"forward\"", stdout);
    else
        number("max_overhead", r->max_overhead);
    if (t->fit.profiled_each)
        fputs(",\"profile_value\":null", stdout);
    else
        count("profile_value", t->fit.profile_value);
    count("plans", t->fit.plans);
    if (t->fit.least_cap)
        count("least_known_cap", t->fit.least_cap);
    else
        fputs(",\"least_known_cap\":null", stdout);
    printf(",\"stopped\":%s,\"rows\":[", t->fit.stopped ? "true" : "false");
    for (int way = 0; way < PB_FIT_WAYS; way++)
        print_json_row(&t->fit.row[way], (pb_fit_way)way);
    puts("]}");
}

const char *vary_option(const app *a)
{
    const char *vary = app_option(a, OPT_VARY), *option = app_option(a, OPT_VARY_OPTION);
    return vary ? vary : option ? option : "batch";
}

exit_code cmd_fit(app *a)
{
    task t = {0};
    if (a->opts.positional_count && fits_sizes(a))
        return fit_sizes(a);
    exit_code code = read_task(a, &t);
    if (code != EXIT_DONE)
        return code;
    measuring(a, true);
    pb_status status = pb_fit_find(&a->ctx, &t.request, &a->arena, &t.fit);
    measuring(a, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        print_json(&t);
    else if (!print_text(a, &t))
        return app_status(a, PB_ENOMEM);
    if (t.fit.stopped) {
        app_note(a, "stopped before the end: larger values may fit; allow a longer --time");
        if (progress_interrupted())
            return EXIT_INTERRUPTED;
    }
    return t.fit.row[PB_FIT_PLAN].value ? EXIT_DONE : EXIT_NOTHING;
}
