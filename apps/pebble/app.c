/* app.c -- see app.h. */
#include "app.h"

#include "commands.h"
#include "common/output.h"
#include "plain_print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_message(app *a, const char *format, va_list args)
{
    progress_clear(&a->progress);
    output_flush();
    fputs("pebble: ", stderr);
    print_line_args(stderr, format, args);
}

exit_code app_fail(app *a, exit_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(a, format, args);
    va_end(args);
    return code;
}

exit_code app_usage(app *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(a, format, args);
    va_end(args);
    if (a->command)
        fprintf(stderr, "Try `pebble %s --help`.\n", a->command->name);
    else
        fputs("Try `pebble help`.\n", stderr);
    return EXIT_USAGE;
}

void app_note(app *a, const char *format, ...)
{
    if (app_option(a, OPT_QUIET))
        return;
    va_list args;
    va_start(args, format);
    print_message(a, format, args);
    va_end(args);
}

exit_code app_finish_output(app *a, exit_code code)
{
    const char *failure = output_failure();
    if (!failure)
        return code;
    if (!a->output_reported)
        app_fail(a, EXIT_FAILED,
                 "standard output: cannot be written: %s; check the free space, or the program that reads it", failure);
    a->output_reported = true;
    return EXIT_FAILED;
}

exit_code app_status(app *a, pb_status status)
{
    a->exhausted |= status == PB_ENOMEM;
    const char *sentence = a->ctx.error.message[0] ? a->ctx.error.message : pb_status_text(status);
    switch (status) {
    case PB_OK: return EXIT_DONE;
    case PB_ECANCELLED:
        if (a->progress.stopped == PB_STOP_TIME)
            return app_fail(a, EXIT_NOTHING, "the time was up before anything was found; try a longer --time");
        return app_fail(a, EXIT_INTERRUPTED, "interrupted before there was a result");
    case PB_EBUG: return app_fail(a, EXIT_ILLEGAL, "%s", sentence);
    case PB_ELIMIT: return app_fail(a, EXIT_NOTHING, "%s", sentence);
    case PB_EUNKNOWN:
    case PB_EINVAL: return app_usage(a, "%s", sentence);
    default: return app_fail(a, EXIT_FAILED, "%s", sentence);
    }
}

bool app_number(app *a, option_id id, uint64_t default_value, uint64_t *out)
{
    const char *text = app_option(a, id);
    *out = default_value;
    if (!text || pb_number_read(&a->ctx, text, UINT64_MAX, out) == PB_OK)
        return true;
    app_usage(a, "--%s: %s", option_specs[id].name, a->ctx.error.message);
    return false;
}
