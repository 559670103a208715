/* cmd_work.c -- pebble work: plans cells of a store until none is left. */
#include "commands.h"
#include "store_app.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const ends[] = {[PB_WORK_NONE_LEFT] = "none is left",
                                   [PB_WORK_TIME] = "the time was up",
                                   [PB_WORK_INTERRUPT] = "interrupted",
                                   [PB_WORK_CELLS] = "that many were asked for"};

static void print_report(const app *a, const pb_work_report *r)
{
    if (app_option(a, OPT_JSON)) {
        static const char *const words[] = {"none left", "time", "interrupt", "cells"};
        printf("{\"end\":\"%s\",\"done\":%" PRIu64 ",\"returned\":%" PRIu64 ",\"taken_over\":%" PRIu64
               ",\"failed\":%" PRIu64 ",\"seconds\":%.6f,\"planning\":%.6f}\n",
               words[r->end], r->done, r->returned, r->taken_over, r->given_up, r->seconds, r->planning);
        return;
    }
    printf("%" PRIu64 " cells planned, then %s", r->done, ends[r->end]);
    if (r->done)
        printf(" (%.3g ms for a cell, %.3g of them planning)", 1e3 * r->seconds / (double)r->done,
               1e3 * r->planning / (double)r->done);
    putchar('\n');
    if (r->returned)
        printf("%" PRIu64 " put back unfinished\n", r->returned);
    if (r->taken_over)
        printf("%" PRIu64 " taken over from workers that died\n", r->taken_over);
    if (r->given_up)
        printf("%" PRIu64 " given up: too many workers died with them\n", r->given_up);
}

exit_code cmd_work(app *a)
{
    pb_store *store;
    pb_work_options how;
    pb_work_report report;
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected the folder of a store, as in pebble work DIR");
    exit_code code = store_work_options(a, &how);
    if (code == EXIT_DONE)
        code = store_open(a, a->opts.positional[0], false, &store);
    if (code != EXIT_DONE)
        return code;
    how.only = app_option(a, OPT_ONLY);
    how.wait = app_option(a, OPT_WAIT) != NULL;
    code = store_work(a, store, &how, &report);
    if (code == EXIT_DONE)
        print_report(a, &report);
    pb_store_close(store);
    return code == EXIT_DONE && report.end == PB_WORK_INTERRUPT ? EXIT_INTERRUPTED : code;
}
