/* app.h -- what every command uses: the context, memory, the options, messages and exit codes. */
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
    bool exhausted;                /* an allocation failed: the exit code is EXIT_FAILED */
} app;

/* Prints "pebble: sentence" on standard error; returns `code`. */
exit_code app_fail(app *a, exit_code code, const char *format, ...);
/* The same for a usage error, with a hint at the help. */
exit_code app_usage(app *a, const char *format, ...);
/* A note or warning on standard error; silent under --quiet. */
void app_note(app *a, const char *format, ...);
/* Prints the message of a library call that failed; returns the exit code. */
exit_code app_status(app *a, pb_status status);

/* At the end of a command: `code`, or EXIT_FAILED after printing, once, why not all of standard output was written. */
exit_code app_finish_output(app *a, exit_code code);

/* The text of an option, or NULL if it was not given. */
static inline const char *app_option(const app *a, option_id id) { return a->opts.value[id]; }

/* A whole number from an option, or its default if it was not given. False after printing an error. */
bool app_number(app *a, option_id id, uint64_t default_value, uint64_t *out);

#endif
