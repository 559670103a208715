/* app.h -- what every command has at hand: the context, memory, the options, how to speak. */
#ifndef PEBBLE_APP_H
#define PEBBLE_APP_H

#include "options.h"
#include "progress.h"

typedef enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INFEASIBLE = 3,
    EXIT_NOTHING = 4,
    EXIT_INPUT = 5,
    EXIT_ILLEGAL = 6,
    EXIT_INTERRUPTED = 130
} exit_code;

typedef struct app {
    pb_context ctx;
    pb_arena arena;
    options opts;
    progress progress;
    const struct command *command;
    bool color, unicode, terminal; /* of standard output */
    int width;                     /* of the terminal; 100 elsewhere */
    bool output_reported;          /* the failure of standard output was printed */
    bool exhausted;                /* memory was out: nothing else may be the answer */
} app;

/* "pebble: sentence" on standard error; returns `code`. */
exit_code app_fail(app *a, exit_code code, const char *format, ...);
/* The same for a usage error, with a hint at the help. */
exit_code app_usage(app *a, const char *format, ...);
/* A note or warning on standard error; silent under --quiet. */
void app_note(app *a, const char *format, ...);
/* The exit code for a call of the library that failed, its sentence told. */
exit_code app_status(app *a, pb_status status);

/* At the end of a command: `code`, or EXIT_FAILED after printing, once, why not all of standard output was written. */
exit_code app_finish_output(app *a, exit_code code);

/* Was this option given? Its text, or NULL. */
static inline const char *app_option(const app *a, option_id id) { return a->opts.value[id]; }

/* A whole number from an option, or its default when it is not given. False after telling. */
bool app_number(app *a, option_id id, uint64_t standard, uint64_t *out);

#endif
