/* workload_spec.c -- see workload_spec.h. */
#define _DEFAULT_SOURCE
#include "workload_spec.h"

#include "commands.h"
#include "common/json_print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { DEFAULT_SECONDS = 3 };

static bool find_workload(app *a, const char *name)
{
    const char *names[64];
    uint32_t count = pb_workload_count();
    pb_workload_row row;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        pb_workload_row_of(i, &row);
        names[i] = row.name;
        if (strcmp(row.name, name) == 0)
            return true;
    }
    const char *near = nearest_name(name, names, count < 64 ? count : 64);
    if (near)
        app_usage(a, "there is no workload `%.60s`; did you mean %s?", name, near);
    else
        app_usage(a, "there is no workload `%.60s`; `pebble help run` lists them", name);
    return false;
}

bool workload_parse(app *a, const char *text, workload_spec *out)
{
    size_t length = strcspn(text, ":");
    char *rest = pb_arena_text(&a->arena, text + length, strlen(text + length));
    *out = (workload_spec){.text = text, .name = pb_arena_text(&a->arena, text, length)};
    if (!rest || !out->name) {
        app_status(a, PB_ENOMEM);
        return false;
    }
    if (!find_workload(a, out->name))
        return false;
    for (char *at = *rest ? rest + 1 : rest; *at;) {
        char *comma = at + strcspn(at, ","), *equals = at + strcspn(at, "=");
        bool last = *comma == '\0';
        if (equals >= comma || equals == at) {
            app_usage(a, "`%.60s`: expected options as in %s:key=value,key=value", text, out->name);
            return false;
        }
        if (out->option_count == MAX_WORKLOAD_OPTIONS) {
            app_usage(a, "a workload takes at most %d options; leave some out", MAX_WORKLOAD_OPTIONS);
            return false;
        }
        *equals = *comma = '\0';
        out->options[out->option_count++] = (pb_option){at, equals + 1};
        at = last ? comma : comma + 1;
    }
    return true;
}

exit_code workload_open(app *a, const workload_spec *spec, pb_workload **out)
{
    pb_status status = pb_workload_open(&a->ctx, spec->name, spec->options, spec->option_count, out);
    if (status == PB_EIO || status == PB_EFORMAT)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    if (status == PB_ERANGE)
        return app_usage(a, "%s: with these options, %s; change them", spec->name, a->ctx.error.message);
    return app_status(a, status);
}

void workload_print_options(const workload_spec *spec)
{
    putchar('{');
    for (uint32_t i = 0; i < spec->option_count; i++) {
        fputs(i ? "," : "", stdout);
        json_text(stdout, spec->options[i].key);
        putchar(':');
        json_text(stdout, spec->options[i].value);
    }
    putchar('}');
}

void duration_text(uint64_t ns, char text[FIGURE_ROOM])
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"h", 3.6e12}, {"min", 6e10}, {"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double value = (double)ns / units[i].ns;
        if (value >= 1) {
            snprintf(text, FIGURE_ROOM, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i].unit);
            return;
        }
    }
    snprintf(text, FIGURE_ROOM, "%llu ns", (unsigned long long)ns);
}

void change_text(double before, double now, char text[FIGURE_ROOM])
{
    if (before > 0 && now >= 10 * before)
        snprintf(text, FIGURE_ROOM, "%.*f x", now < 99.95 * before ? 1 : 0, now / before);
    else if (before > 0)
        snprintf(text, FIGURE_ROOM, "%+.1f %%", 100 * (now / before - 1));
    else
        snprintf(text, FIGURE_ROOM, "%s", now > 0 ? "-" : "none");
}

uint64_t resident_bytes(bool give_back)
{
    unsigned long long all, resident = 0;
#ifdef __GLIBC__
    if (give_back)
        malloc_trim(0);
#endif
    (void)give_back;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool resident_max_begin(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return false;
    bool done = fputs("5", file) >= 0;
    return fclose(file) == 0 && done;
}

uint64_t resident_max(void)
{
    char line[160];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %llu kB", &kib) != 1)
        ;
    fclose(file);
    return 1024 * (uint64_t)kib;
}

bool clock_option(app *a)
{
    const char *name = app_option(a, OPT_CLOCK);
    if (!name || strcmp(name, "wall") == 0 || strcmp(name, "cpu") == 0)
        return true;
    app_usage(a, "--clock: expected wall or cpu, not `%.40s`", name);
    return false;
}

void measuring(app *a, bool begins)
{
    const char *name = app_option(a, OPT_CLOCK);
    progress_planning(&a->progress, begins);
    progress_cpu_clock(&a->progress, begins && name && strcmp(name, "cpu") == 0);
}

void planning_time(app *a, bool begins)
{
    const char *text = app_option(a, OPT_TIME);
    double seconds = DEFAULT_SECONDS;
    a->progress.deadline = 0;
    if (!begins || (!text && app_option(a, OPT_TICKS)) || (text && !pb_time_parse(text, &seconds)))
        return;
    a->progress.begin = seconds_now();
    progress_limit(&a->progress, seconds);
}
