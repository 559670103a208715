/* main.c -- `pebble`: finds the command, reads its options, runs it. */
#define _XOPEN_SOURCE 700
#include "app.h"
#include "commands.h"
#include "common/output.h"
#ifdef PEBBLE_WITH_SERVER
#include "server/page_files.h"
#include "server/server.h"
#endif

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 100, MIN_WIDTH = 60, MAX_WIDTH = 160 };

/* True if the locale's character set has block characters and stars. */
static bool has_unicode(void)
{
    const char *charset = setlocale(LC_CTYPE, "") ? nl_langinfo(CODESET) : "";
    bool utf8 = strcmp(charset, "UTF-8") == 0 || strcmp(charset, "utf8") == 0;
    setlocale(LC_CTYPE, "C");
    return utf8;
}

static int screen_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int width = DEFAULT_WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns && atoi(columns) > 0)
        width = atoi(columns);
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* False if --color has an unknown word. */
static bool choose_style(app *a)
{
    const char *when = app_option(a, OPT_COLOR), *term = getenv("TERM"), *refused = getenv("NO_COLOR");
    a->terminal = isatty(STDOUT_FILENO) != 0;
    a->unicode = has_unicode();
    a->width = screen_width();
    if (!when || strcmp(when, "auto") == 0)
        a->color = a->terminal && !(refused && refused[0]) && term && strcmp(term, "dumb") != 0;
    else if (strcmp(when, "always") == 0)
        a->color = true;
    else if (strcmp(when, "never") != 0)
        return false;
    return true;
}

static void print_server_version(void)
{
#ifdef PEBBLE_WITH_SERVER
    printf("with %s for pebble ui\n", server_libraries());
    puts(page_file_count ? "with the page" : "page of pebble ui: " PB_NOT_BUILT_IN(PB_PACKAGE_PAGE));
#else
    puts("pebble ui: " PB_NOT_BUILT_IN(PB_PACKAGE_SERVER));
#endif
}

static exit_code run_command(app *a, int count, char **words)
{
    char why[512];
    if (!options_read(&a->opts, a->command->bit, count, words, why, sizeof why))
        return app_usage(a, "%s", why);
    if (app_option(a, OPT_VERSION)) {
        puts("pebble " PB_VERSION);
        if (pb_solver_version())
            printf("with Cbc %s for the strategies milp and lp-rounding\n", pb_solver_version());
        else
            puts("milp, lp-rounding: " PB_NOT_BUILT_IN(PB_PACKAGE_CBC));
        if (pb_sat_version())
            printf("with CaDiCaL %s for the strategy sat\n", pb_sat_version());
        else
            puts("sat: " PB_NOT_BUILT_IN(PB_PACKAGE_CADICAL));
        if (pb_train_library())
            printf("with oneDNN %s for the workload train\n", pb_train_library());
        else
            puts("workload train: " PB_NOT_BUILT_IN(PB_PACKAGE_DNNL));
        print_server_version();
        return EXIT_DONE;
    }
    if (!choose_style(a))
        return app_usage(a, "--color: expected auto, always or never, not `%s`", app_option(a, OPT_COLOR));
    progress_begin(&a->progress, &a->ctx, !app_option(a, OPT_QUIET));
    if (app_option(a, OPT_HELP)) {
        help_command(a, a->command->bit == ON_HELP ? NULL : a->command);
        return EXIT_DONE;
    }
    exit_code code = a->command->run(a);
    progress_clear(&a->progress);
    return code;
}

int main(int count, char **words)
{
    app a;
    exit_code code;
    output_begin();
    memset(&a, 0, sizeof a);
    pb_context_init(&a.ctx);
    pb_arena_init(&a.arena, &a.ctx);
    if (count < 2) {
        choose_style(&a);
        help_command(&a, NULL);
        code = EXIT_USAGE;
    } else if (words[1][0] == '-' && words[1][1]) { /* pebble --help, pebble --version */
        a.command = command_find("help");
        code = run_command(&a, count - 1, words + 1);
    } else {
        a.command = command_find(words[1]);
        code = a.command ? run_command(&a, count - 2, words + 2) : unknown_command(&a, words[1]);
    }
    code = app_finish_output(&a, a.exhausted ? EXIT_FAILED : code);
    pb_arena_release(&a.arena);
    return code;
}
