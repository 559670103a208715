/* sweep_files.c -- see sweep_files.h. */
#define _XOPEN_SOURCE 700
#include "sweep_files.h"

#include "common/output.h"
#include "files.h"
#include "pictures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 1024 };

static exit_code write_csv(app *a, const pb_sweep *const *sweeps, uint32_t count)
{
    const char *path = app_option(a, OPT_CSV);
    file_out out;
    pb_status status = PB_OK;
    if (!path)
        return EXIT_DONE;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        status = pb_sweep_csv_write(&a->ctx, sweeps[i], i == 0, file_sink(&out));
    return file_finish(a, &out, status);
}

/* Letters, digits and a few signs of a name, others as _. */
static void plain_name(const char *name, char *text, size_t room)
{
    size_t used = 0;
    for (; *name && used + 1 < room; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '-' || *name == '.' || *name == '_';
        text[used++] = plain ? *name : '_';
    }
    text[used] = '\0';
}

/* FOLDER/GRAPH-STRATEGY[-WEIGHTS]-CAP.json */
static exit_code write_plan(app *a, const char *folder, int index, const pb_sweep *s, uint32_t cell)
{
    char path[PATH_ROOM], graph[100], line[100], weights[24] = "";
    uint32_t w = pb_sweep_weights_of(s, cell);
    file_out out;
    plain_name(s->graph->name[0] ? s->graph->name : "graph", graph, sizeof graph);
    plain_name(s->lines[pb_sweep_line_of(s, cell)].spec, line, sizeof line);
    if (s->weights_count > 1)
        snprintf(weights, sizeof weights, "-w%u", (unsigned)w + 1);
    if (a->opts.positional_count > 1) /* graphs may have the same name */
        snprintf(graph + strlen(graph), sizeof graph - strlen(graph), "-%d", index + 1);
    snprintf(path, sizeof path, "%.700s/%s-%s%s-%llu.json", folder, graph, line, weights,
             (unsigned long long)s->caps[pb_sweep_cap_of(s, cell)]);
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_schedule_write(&a->ctx, &s->cells[cell].schedule, PB_FORMAT_JSON, file_sink(&out)));
}

static exit_code write_plans(app *a, int index, const pb_sweep *s)
{
    const char *folder = app_option(a, OPT_PLANS);
    exit_code code = EXIT_DONE;
    if (!folder)
        return EXIT_DONE;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return app_fail(a, EXIT_FAILED, "%s: cannot be created: %s; check the path and its permissions", folder,
                        strerror(errno));
    for (uint32_t i = 0; i < s->cell_count && code == EXIT_DONE; i++)
        if (s->cells[i].certificate)
            code = write_plan(a, folder, index, s, i);
    return code;
}

/* The exit code of a sweep: done if any cap has a plan; infeasible if it is proved that none has. */
exit_code sweep_judge(const pb_sweep *s)
{
    exit_code code = EXIT_INFEASIBLE;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        if (s->cells[i].certificate)
            return EXIT_DONE;
        if (!s->cells[i].present || s->cells[i].schedule.outcome != PB_INFEASIBLE)
            code = EXIT_NOTHING;
    }
    return code;
}

bool sweep_shows_text(const app *a)
{
    const char *csv = app_option(a, OPT_CSV);
    return !app_option(a, OPT_JSON) && !(csv && strcmp(csv, "-") == 0);
}

exit_code sweep_write_files(app *a, const pb_sweep *const *sweeps, uint32_t count)
{
    exit_code code = write_csv(a, sweeps, count);
    if (code == EXIT_DONE)
        code = sweep_pictures(a, sweeps, count);
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++)
        code = write_plans(a, (int)i, sweeps[i]);
    if (code != EXIT_DONE || !app_option(a, OPT_JSON))
        return code;
    pb_status status = pb_sweep_json_write(&a->ctx, sweeps, count, stream_sink(stdout));
    return status == PB_OK || status == PB_EIO ? EXIT_DONE : app_status(a, status);
}
