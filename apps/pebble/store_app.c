/* store_app.c -- see store_app.h. */
#include "store_app.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

exit_code store_open(app *a, const char *path, bool create, pb_store **out)
{
    pb_status status = pb_store_open(&a->ctx, path, create, &a->arena, out);
    if (status == PB_EFORMAT || (status == PB_EIO && !create))
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

exit_code store_bytes(app *a, option_id id, uint64_t *out)
{
    char why[256];
    const char *text = app_option(a, id);
    if (!text || pb_size_parse(text, "byte", 0, out, why, sizeof why))
        return EXIT_DONE;
    return app_usage(a, "--%s: %s", option_specs[id].name, why);
}

exit_code store_nanoseconds(app *a, option_id id, uint64_t *out)
{
    const char *text = app_option(a, id);
    double seconds;
    if (!text)
        return EXIT_DONE;
    if (!pb_time_parse(text, &seconds) || seconds <= 0 || seconds > 1e9)
        return app_usage(a, "--%s: expected a time such as 60s, 5m or 1h, not `%.60s`", option_specs[id].name, text);
    *out = (uint64_t)(seconds * 1e9) + 1;
    return EXIT_DONE;
}

exit_code store_work_options(app *a, pb_work_options *out)
{
    uint64_t threads;
    *out = (pb_work_options){.threads = 1};
    if (!app_number(a, OPT_THREADS, 1, &threads))
        return EXIT_USAGE;
    out->threads = threads < 1024 ? (uint32_t)threads : 1024;
    exit_code code = store_nanoseconds(a, OPT_LEASE_TIMEOUT, &out->timeout_ns);
    if (code == EXIT_DONE && (a->command->bit & ON_WORK))
        code = store_nanoseconds(a, OPT_TIME, &out->time_ns);
    if (code == EXIT_DONE && (a->command->bit & ON_WORK))
        code = store_bytes(a, OPT_CELL_MEMORY, &out->memory);
    return code;
}

exit_code store_work(app *a, pb_store *store, const pb_work_options *how, pb_work_report *report)
{
    *report = (pb_work_report){.end = PB_WORK_NONE_LEFT};
    progress_planning(&a->progress, true);
    pb_status status = pb_store_work(&a->ctx, store, how, report);
    progress_planning(&a->progress, false);
    a->ctx.tick_limit = 0;
    if (status == PB_EFORMAT)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

exit_code store_collect(app *a, pb_store *store, const char *id, pb_sweep *out, uint64_t *missing)
{
    pb_status status = pb_store_collect(&a->ctx, store, id, &a->arena, out, missing);
    a->ctx.stopped = PB_GO_ON;
    if (status == PB_EFORMAT || status == PB_EUNKNOWN)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}
