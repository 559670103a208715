/* sweep_store.c -- see sweep_store.h. */
#include "sweep_store.h"

#include "commands.h"
#include "common/output.h"
#include "files.h"
#include "settings.h"
#include "slurm.h"
#include "store_app.h"
#include "sweep_files.h"
#include "sweep_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sweep_of_store(const app *a) { return app_option(a, OPT_STORE_FOLDER) != NULL; }

static bool word_is(const app *a, option_id id, const char *word)
{
    const char *text = app_option(a, id);
    return text && strcmp(text, word) == 0;
}

/* The number of this process among those that a launcher started together: Open MPI, MPICH and others, Slurm. */
static long launched(const char *const names[3])
{
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]))
            return strtol(getenv(names[i]), NULL, 10);
    return -1;
}

static long rank_of(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    return launched(names);
}

exit_code sweep_store_check(app *a)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    static const option_id needs[] = {OPT_ON_ENGINE, OPT_CELL_MEMORY, OPT_LEASE_TIMEOUT, OPT_TASKS,
                                      OPT_SLURM,     OPT_WAIT,        OPT_STATUS,        OPT_CANCEL};
    bool here = !app_option(a, OPT_ON_ENGINE) || word_is(a, OPT_ON_ENGINE, "here");
    for (size_t i = 0; i < sizeof needs / sizeof *needs && !sweep_of_store(a); i++)
        if (app_option(a, needs[i]))
            return app_usage(a, "--%s needs --store DIR", option_specs[needs[i]].name);
    if (!sweep_of_store(a) && launched(sizes) > 1)
        return app_usage(a, "each of the %ld processes would plan every cell; let them share cells with --store DIR",
                         launched(sizes));
    if (!sweep_of_store(a))
        return EXIT_DONE;
    if (app_option(a, OPT_TIME))
        return app_usage(
            a, "--time: plans that a time limit ends differ from one computer to the next, so they cannot be in "
               "a store; limit the effort of each plan with --ticks");
    if (!here && !word_is(a, OPT_ON_ENGINE, "slurm") && !word_is(a, OPT_ON_ENGINE, "later"))
        return app_usage(a, "--on: expected here, later or slurm, not `%.60s`", app_option(a, OPT_ON_ENGINE));
    if (!word_is(a, OPT_ON_ENGINE, "slurm"))
        for (size_t i = 3; i < sizeof needs / sizeof *needs; i++)
            if (app_option(a, needs[i]))
                return app_usage(a, "--%s needs --on slurm", option_specs[needs[i]].name);
    return EXIT_DONE;
}

/* ---- the cells ---- */

static exit_code add_graph(app *a, pb_store *store, const char *path, const char *strategies, pb_store_sweep *out)
{
    char memory[24];
    uint64_t bytes = 0;
    const pb_graph *g;
    exit_code code = read_graph(a, path, &g);
    if (code == EXIT_DONE)
        code = store_bytes(a, OPT_CELL_MEMORY, &bytes);
    if (code != EXIT_DONE)
        return code;
    pb_settings s = settings_of(a);
    snprintf(memory, sizeof memory, "%" PRIu64, bytes);
    s.text[PB_SET_memory] = bytes ? memory : NULL;
    s.text[PB_SET_strategy] = strategies;
    uint64_t limit = a->ctx.tick_limit;
    progress_planning(&a->progress, true);
    pb_status status = pb_store_add(&a->ctx, store, g, &s, out);
    progress_planning(&a->progress, false);
    a->ctx.tick_limit = limit;
    if (status == PB_ECANCELLED)
        return EXIT_INTERRUPTED;
    if (status == PB_EFORMAT)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return setting_code(a, &s, status);
}

static exit_code add_graphs(app *a, pb_store *store, const char *strategies, pb_store_sweep *added)
{
    exit_code code = EXIT_DONE;
    uint64_t cells = 0, fresh = 0;
    for (int i = 0; i < a->opts.positional_count && code == EXIT_DONE; i++) {
        code = add_graph(a, store, a->opts.positional[i], strategies, &added[i]);
        cells += code == EXIT_DONE ? added[i].cells : 0;
        fresh += code == EXIT_DONE ? added[i].added : 0;
    }
    if (code == EXIT_DONE)
        app_note(a, "%" PRIu64 " cells, %" PRIu64 " of them new in %s", cells, fresh, pb_store_path(store));
    return code;
}

/* ---- the results ---- */

static exit_code show_all(app *a, pb_store *store, const pb_store_sweep *added, pb_sweep *sweeps, const pb_sweep **list)
{
    exit_code code = EXIT_DONE, worst = EXIT_DONE;
    uint64_t missing = 0, some;
    for (int i = 0; i < a->opts.positional_count; i++) {
        code = store_collect(a, store, added[i].id, &sweeps[i], &some);
        if (code != EXIT_DONE)
            return code;
        list[i] = &sweeps[i];
        missing += some;
        worst = sweep_judge(&sweeps[i]) != EXIT_DONE ? sweep_judge(&sweeps[i]) : worst;
        if (i && sweep_shows_text(a))
            putchar('\n');
        pb_status status = sweep_shows_text(a) ? print_sweep(a, &sweeps[i]) : PB_OK;
        output_flush();
        if (status != PB_OK)
            return app_status(a, status);
    }
    code = sweep_write_files(a, list, (uint32_t)a->opts.positional_count);
    if (missing)
        app_note(a, "%" PRIu64 " cells are not planned yet: these are the results so far; the same command continues",
                 missing);
    if (code == EXIT_DONE && progress_interrupted())
        return EXIT_INTERRUPTED;
    return code != EXIT_DONE ? code : missing ? EXIT_NOTHING : worst;
}

static exit_code plan_here(app *a, pb_store *store)
{
    pb_work_options how;
    pb_work_report report;
    exit_code code = store_work_options(a, &how);
    how.wait = true;
    if (code == EXIT_DONE)
        code = store_work(a, store, &how, &report);
    if (code == EXIT_DONE && report.end != PB_WORK_INTERRUPT)
        app_note(a, "%" PRIu64 " cells planned, %.1f s", report.done, report.seconds);
    return code;
}

/* A damaged row is found when the rows are read: its cell is planned again. */
static exit_code plan_and_show(app *a, pb_store *store, const pb_store_sweep *added, pb_sweep *sweeps,
                               const pb_sweep **list)
{
    exit_code code = plan_here(a, store);
    for (int i = 0; i < a->opts.positional_count && code == EXIT_DONE && !progress_interrupted(); i++) {
        pb_sweep probe;
        uint64_t missing = 0;
        code = store_collect(a, store, added[i].id, &probe, &missing);
        if (code == EXIT_DONE && missing)
            code = plan_here(a, store);
    }
    return code == EXIT_DONE ? show_all(a, store, added, sweeps, list) : code;
}

exit_code sweep_store_run(app *a, const char *strategies, pb_sweep *sweeps, const pb_sweep **list)
{
    pb_store *store;
    pb_store_sweep *added = pb_arena_zero(&a->arena, MAX_POSITIONALS, sizeof *added);
    if (!added)
        return app_status(a, PB_ENOMEM);
    exit_code code = store_open(a, app_option(a, OPT_STORE_FOLDER), true, &store);
    if (code != EXIT_DONE)
        return code;
    code = add_graphs(a, store, strategies, added);
    if (code == EXIT_DONE && rank_of() > 0) { /* the first of them shows the results */
        code = plan_here(a, store);
        pb_store_close(store);
        return code;
    }
    if (code == EXIT_DONE && word_is(a, OPT_ON_ENGINE, "slurm")) {
        code = slurm_submit(a, store);
        if (code == EXIT_DONE && app_option(a, OPT_WAIT)) {
            code = slurm_wait(a, store);
            code = code == EXIT_DONE ? show_all(a, store, added, sweeps, list) : code;
        }
    } else if (code == EXIT_DONE && !word_is(a, OPT_ON_ENGINE, "later")) {
        code = plan_and_show(a, store, added, sweeps, list);
    }
    pb_store_close(store);
    return code;
}

exit_code sweep_store_jobs(app *a)
{
    pb_store *store;
    if (!app_option(a, OPT_STATUS) && !app_option(a, OPT_CANCEL) && !app_option(a, OPT_WAIT))
        return app_usage(a, "expected one or more graph files, as in pebble sweep g.json --store DIR");
    exit_code code = store_open(a, app_option(a, OPT_STORE_FOLDER), false, &store);
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_CANCEL))
        code = slurm_cancel(a, store);
    else if (app_option(a, OPT_STATUS))
        code = slurm_status(a, store);
    else
        code = slurm_wait(a, store);
    pb_store_close(store);
    return code;
}
