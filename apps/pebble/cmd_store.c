/* cmd_store.c -- pebble store: how far a store is, its results, merging and cleaning. */
#include "commands.h"
#include "common/output.h"
#include "plain_print.h"
#include "store_app.h"
#include "store_print.h"
#include "sweep_files.h"
#include "sweep_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Every sweep, or the one of --only. */
static exit_code export_all(app *a, pb_store *store)
{
    const char *const *ids = NULL, *only = app_option(a, OPT_ONLY);
    uint32_t count = 0, used = 0;
    uint64_t missing = 0, some = 0;
    pb_status status = pb_store_sweeps(&a->ctx, store, &a->arena, &ids, &count);
    pb_sweep *sweeps = pb_arena_zero(&a->arena, count, sizeof *sweeps);
    const pb_sweep **list = pb_arena_zero(&a->arena, count, sizeof *list);
    if (status != PB_OK || !sweeps || !list)
        return app_status(a, status == PB_OK ? PB_ENOMEM : status);
    for (uint32_t i = 0; i < count; i++) {
        if (only && strcmp(only, ids[i]) != 0)
            continue;
        exit_code code = store_collect(a, store, ids[i], &sweeps[used], &some);
        if (code != EXIT_DONE)
            return code;
        missing += some;
        list[used] = &sweeps[used];
        bool shown = sweep_shows_text(a) && !app_option(a, OPT_CSV);
        if (used++ && shown)
            putchar('\n');
        if (shown)
            status = print_sweep(a, list[used - 1]);
        output_flush();
        if (status != PB_OK)
            return app_status(a, status);
    }
    if (!used)
        return only ? app_fail(a, EXIT_INPUT, "the store has no sweep %s", only)
                    : app_fail(a, EXIT_INPUT, "the store has no sweeps; pebble sweep --store adds some");
    a->opts.positional_count = (int)used; /* names of files: graphs may have the same name */
    exit_code code = sweep_write_files(a, list, used);
    if (missing)
        app_note(a, "%" PRIu64 " cells are not planned yet: these are the results so far", missing);
    return code != EXIT_DONE ? code : missing ? EXIT_NOTHING : EXIT_DONE;
}

static exit_code repair_code(app *a, pb_status status)
{
    if (status == PB_EFORMAT || status == PB_EIO)
        return app_fail(a, status == PB_EIO ? EXIT_FAILED : EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

static exit_code merge_all(app *a, pb_store *store)
{
    if (a->opts.positional_count < 3)
        return app_usage(a, "expected the stores to merge, as in pebble store merge DIR OTHER...");
    for (int i = 2; i < a->opts.positional_count; i++) {
        pb_store *from;
        pb_store_repair r;
        exit_code code = store_open(a, a->opts.positional[i], false, &from);
        if (code != EXIT_DONE)
            return code;
        code = repair_code(a, pb_store_merge(&a->ctx, store, from, &r));
        pb_store_close(from);
        if (code != EXIT_DONE)
            return code;
        print_line(stdout,
                   "%s: %" PRIu64 " rows, %" PRIu64 " sweeps and %" PRIu64 " graphs copied; %" PRIu64
                   " cells to be planned",
                   a->opts.positional[i], r.rows, r.sweeps, r.graphs, r.cells);
        if (r.damaged)
            printf("%" PRIu64 " damaged rows were left out\n", r.damaged);
    }
    return EXIT_DONE;
}

static exit_code clean(app *a, pb_store *store)
{
    pb_store_repair r;
    uint64_t timeout = 0;
    exit_code code = store_nanoseconds(a, OPT_LEASE_TIMEOUT, &timeout);
    if (code == EXIT_DONE)
        code = repair_code(a, pb_store_clean(&a->ctx, store, timeout, &r));
    if (code == EXIT_DONE)
        printf("%" PRIu64 " temporary files, %" PRIu64 " dead workers and %" PRIu64 " damaged rows removed; %" PRIu64
               " cells put back\n",
               r.temporary, r.workers, r.damaged, r.returned + r.cells);
    return code;
}

exit_code cmd_store(app *a)
{
    static const char *const verbs[] = {"status", "export", "merge", "gc"};
    const char *verb = a->opts.positional_count ? a->opts.positional[0] : "";
    const char *near = nearest_name(verb, verbs, 4);
    size_t which = 0;
    pb_store *store;
    while (which < 4 && strcmp(verb, verbs[which]) != 0)
        which++;
    if (which == 4)
        return near && *verb ? app_usage(a, "there is no `store %s`; did you mean %s?", verb, near)
                             : app_usage(a, "expected status, export, merge or gc, as in pebble store status DIR");
    if (a->opts.positional_count < 2 || (a->opts.positional_count > 2 && which != 2))
        return app_usage(a, "expected the folder of one store, as in pebble store %s DIR", verb);
    exit_code code = store_open(a, a->opts.positional[1], which == 2, &store);
    if (code != EXIT_DONE)
        return code;
    code = which == 0   ? store_print_state(a, store)
           : which == 1 ? export_all(a, store)
           : which == 2 ? merge_all(a, store)
                        : clean(a, store);
    pb_store_close(store);
    return code;
}
