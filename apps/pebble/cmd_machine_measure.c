/* cmd_machine_measure.c -- pebble machine measure, rescale and fit: files about this computer. */
#define _DEFAULT_SOURCE
#include "commands.h"
#include "common/json_print.h"
#include "files.h"
#include "machine_print.h"
#include "plain_print.h"
#include "settings.h"
#include "table.h"
#include "workload_spec.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static exit_code write_machine(app *a, const pb_machine *m)
{
    file_out out;
    return file_create(a, app_option(a, OPT_OUTPUT), &out)
               ? file_finish(a, &out, pb_machine_write(&a->ctx, m, file_sink(&out)))
               : EXIT_FAILED;
}

static bool has_output(app *a, const char *what)
{
    const char *path = app_option(a, OPT_OUTPUT);
    if (!path)
        app_usage(a, "-o is missing: the file to write, as in pebble machine %s -o here.json", what);
    else if (strcmp(path, "-") == 0)
        app_usage(a, "-o needs a file name: standard output is already used for the table");
    return path && strcmp(path, "-") != 0;
}

/* "12.3 %", or "-" if there were too few sizes to tell. */
static void error_text(const pb_machine_fitted *f, char text[FIGURE_ROOM])
{
    if (f->error < 0)
        snprintf(text, FIGURE_ROOM, "-");
    else
        percent_text(f->error, text);
}

static bool print_models(app *a, const pb_machine_processor *p, const pb_machine_fitted *fitted)
{
    static const table_column columns[] = {{"operation", false, 0}, {"type", false, 0},  {"sizes", true, 0},
                                           {"model by", false, 0},  {"curves", true, 2}, {"error", true, 0},
                                           {"flop/s", true, 1},     {"bytes/s", true, 1}};
    table t;
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < p->model_count; i++) {
        const pb_machine_model *m = &p->models[i];
        char sizes[FIGURE_ROOM], curves[FIGURE_ROOM], error[FIGURE_ROOM], rate[FIGURE_ROOM], bandwidth[FIGURE_ROOM];
        snprintf(sizes, sizeof sizes, "%u", (unsigned)fitted[i].samples);
        snprintf(curves, sizeof curves, "%u", (unsigned)m->curve_count);
        error_text(&fitted[i], error);
        rate_text(m->rate, rate);
        rate_text(m->bandwidth, bandwidth);
        const char *cells[] = {m->op,    m->dtype ? m->dtype : "-", sizes, pb_model_by_name(m->by), curves, error, rate,
                               bandwidth};
        if (!table_row(&t, cells, NULL))
            return false;
    }
    table_print(&t, stdout);
    puts("\nerror: how far the time of a computation is from its model, if the model is made without it, on average.");
    return true;
}

static void print_json(const pb_machine *m, const pb_machine_fitted *fitted)
{
    const pb_machine_processor *p = &m->processors[0];
    fputs("{\"machine\":", stdout);
    json_text(stdout, m->name);
    fputs(",\"models\":[", stdout);
    for (uint32_t i = 0; i < p->model_count; i++) {
        fputs(i ? ",\n{\"op\":" : "\n{\"op\":", stdout);
        json_text(stdout, p->models[i].op);
        fputs(",\"dtype\":", stdout);
        p->models[i].dtype ? json_text(stdout, p->models[i].dtype) : (void)fputs("null", stdout);
        printf(",\"sizes\":%u,\"by\":\"%s\",\"curves\":%u,\"error\":", (unsigned)fitted[i].samples,
               pb_model_by_name(p->models[i].by), (unsigned)p->models[i].curve_count);
        if (fitted[i].error < 0)
            fputs("null}", stdout);
        else
            printf("%.4f}", fitted[i].error);
    }
    puts("]}");
}

static exit_code show_models(app *a, const pb_machine *m, const pb_machine_fitted *fitted)
{
    exit_code code = write_machine(a, m);
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_JSON))
        print_json(m, fitted);
    else if (!app_option(a, OPT_QUIET) && !print_models(a, &m->processors[0], fitted))
        return app_status(a, PB_ENOMEM);
    return EXIT_DONE;
}

static uint64_t physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : PB_UNLIMITED;
}

/* Times by the processor's clock: other programs run too. */
static void by_processor_time(app *a, bool begins)
{
    progress_planning(&a->progress, begins);
    progress_cpu_clock(&a->progress, begins);
}

static const char *name_of(const app *a)
{
    return app_option(a, OPT_MACHINE_NAME) ? app_option(a, OPT_MACHINE_NAME) : "this-computer";
}

exit_code machine_measure(app *a)
{
    const char *disk = app_option(a, OPT_DISK);
    pb_measure_options how = {.name = name_of(a),
                              .memory = physical_memory(),
                              .slow_path = !disk                       ? "."
                                           : strcmp(disk, "none") == 0 ? NULL
                                                                       : disk,
                              .quick = app_option(a, OPT_QUICK) != NULL,
                              .wall_ns = a->ctx.clock_ns};
    pb_machine_measured measured;
    if (a->opts.positional_count != 1)
        return app_usage(a, "`pebble machine measure` takes no names; it measures this computer");
    if (!has_output(a, "measure"))
        return EXIT_USAGE;
    by_processor_time(a, true);
    pb_status status = pb_machine_measure(&a->ctx, &how, &a->arena, &measured);
    by_processor_time(a, false);
    if (status != PB_OK)
        return status == PB_ECANCELLED ? app_fail(a, EXIT_INTERRUPTED, "interrupted before there was a result")
                                       : app_status(a, status);
    exit_code code = show_models(a, measured.machine, measured.fitted);
    if (measured.missing)
        app_note(a, "the kernels of networks were not measured: %s", measured.missing);
    if (code == EXIT_DONE && progress_interrupted()) {
        app_note(a, "interrupted: these are the models of what was measured by then");
        return EXIT_INTERRUPTED;
    }
    return code;
}

exit_code machine_rescale(app *a)
{
    const pb_machine *m, *scaled;
    pb_settings s = {.wrong = PB_SETTING_COUNT};
    double ratio = 1;
    if (a->opts.positional_count != 2)
        return app_usage(a, "expected one machine file, as in pebble machine rescale here.json -o now.json");
    if (!has_output(a, "rescale here.json"))
        return EXIT_USAGE;
    exit_code code = setting_code(a, &s, pb_machine_find(&a->ctx, a->opts.positional[1], false, &a->arena, &m));
    if (code != EXIT_DONE)
        return code;
    by_processor_time(a, true);
    pb_status status = pb_machine_reference_ratio(&a->ctx, m, &ratio);
    by_processor_time(a, false);
    if (status == PB_OK)
        status = pb_machine_rescale(&a->ctx, m, ratio, &a->arena, &scaled);
    if (status == PB_EINVAL)
        return app_usage(a, "%s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    code = write_machine(a, scaled);
    if (code == EXIT_DONE && !app_option(a, OPT_QUIET))
        print_line(stdout,
                   "%s: its reference, %s, takes %.3f times as long as in the file; all times are multiplied by it",
                   m->name, m->reference.what, ratio);
    return code;
}

/* ---- fit ---- */

static bool is_csv(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

static exit_code add_samples(app *a, const char *path, pb_machine_sample **samples, uint32_t *count)
{
    const pb_graph *g;
    if (is_csv(path))
        return read_samples(a, path, samples, count);
    exit_code code = read_graph(a, path, &g);
    return code == EXIT_DONE ? app_status(a, pb_machine_samples(&a->ctx, g, "cpu", &a->arena, samples, count)) : code;
}

exit_code machine_fit(app *a)
{
    pb_machine_sample *samples = NULL;
    uint32_t count = 0;
    const pb_machine_fitted *fitted;
    pb_machine_memory host = {.name = "host", .cap = PB_UNLIMITED};
    pb_machine_processor cpu = {.name = "cpu"};
    pb_machine m = {.name = name_of(a),
                    .time_unit = "ns",
                    .per_second = 1000000000,
                    .memories = &host,
                    .memory_count = 1,
                    .processors = &cpu,
                    .processor_count = 1};
    if (a->opts.positional_count < 2)
        return app_usage(a, "expected profiles, as in pebble machine fit p8.json p32.json -o mine.json");
    if (!has_output(a, "fit p.json"))
        return EXIT_USAGE;
    exit_code code = EXIT_DONE;
    for (int i = 1; i < a->opts.positional_count && code == EXIT_DONE; i++)
        code = add_samples(a, a->opts.positional[i], &samples, &count);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_machine_fit(&a->ctx, samples, count, &a->arena, &cpu, &fitted);
    if (status == PB_OK)
        status = pb_machine_check(&a->ctx, &m);
    if (status == PB_EINVAL || status == PB_EFORMAT)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? show_models(a, &m, fitted) : app_status(a, status);
}
