/* slurm.c -- see slurm.h. Slurm's own commands do the work; nothing of it is linked.
 *
 * An array has few, long tasks, each a worker of the store: schedulers dislike thousands of small jobs. A task that is
 * warned of its time limit puts its cells back and asks to be queued again.
 */
#define _XOPEN_SOURCE 700
#include "slurm.h"

#include "commands.h"
#include "plain_print.h"
#include "program.h"
#include "store_app.h"
#include "store_print.h"
#include "sweep_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { ANSWER_ROOM = 1 << 16, MAX_WORDS = 64, WARNING_SECONDS = 60, DEFAULT_ARRAY = 1000, POLL_SECONDS = 2 };

/* Runs one of Slurm's commands; its standard output is in `answer`. */
static exit_code ask(app *a, const char *const words[], char *answer)
{
    int code = program_run(words, answer, ANSWER_ROOM);
    if (code < 0)
        return app_fail(a, EXIT_FAILED, "%s cannot be started: %s; run this where Slurm's commands are installed",
                        words[0], strerror(errno));
    if (code > 0)
        return app_fail(a, EXIT_FAILED, "%s failed with exit code %d; see its message above", words[0], code);
    return EXIT_DONE;
}

/* ---- submit ---- */

/* Processors of the cluster that jobs may use: of "%C", allocated/idle/other/total, the first two. */
static exit_code count_processors(app *a, char *answer, uint64_t *out)
{
    const char *const words[] = {"sinfo", "--noheader", "--format=%C", NULL};
    exit_code code = ask(a, words, answer);
    uint64_t most = 0;
    for (char *line = answer; code == EXIT_DONE && *line;) {
        uint64_t busy = 0, idle = 0;
        if (sscanf(line, "%" SCNu64 "/%" SCNu64, &busy, &idle) == 2 && busy + idle > most)
            most = busy + idle;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    *out = most ? most : 1;
    return code;
}

static uint64_t array_limit(char *answer)
{
    const char *const words[] = {"scontrol", "show", "config", NULL};
    const char *at = program_run(words, answer, ANSWER_ROOM) == 0 ? strstr(answer, "MaxArraySize") : NULL;
    at = at ? strchr(at, '=') : NULL;
    uint64_t limit = at ? strtoull(at + 1, NULL, 10) : 0;
    return limit ? limit : DEFAULT_ARRAY;
}

/* One task for each group of processors, but not more than cells; --tasks N or N%AT_ONCE overrides. */
static exit_code size_array(app *a, uint64_t cells, uint64_t threads, char *answer, char array[64])
{
    uint64_t processors, limit = array_limit(answer), tasks, at_once;
    const char *asked = app_option(a, OPT_TASKS);
    exit_code code = count_processors(a, answer, &processors);
    if (code != EXIT_DONE)
        return code;
    tasks = (processors + threads - 1) / threads;
    tasks = tasks < cells ? tasks : cells;
    at_once = tasks;
    if (asked) {
        int read = sscanf(asked, "%" SCNu64 "%%%" SCNu64, &tasks, &at_once);
        if (read < 1 || !tasks || (read == 2 && !at_once))
            return app_usage(a, "--tasks: expected a number, or 100%%20 for 20 at a time, not `%.40s`", asked);
        at_once = read == 2 ? at_once : tasks;
    }
    if (tasks > limit)
        app_note(a, "this cluster allows arrays of %" PRIu64 " tasks", limit);
    tasks = tasks > limit ? limit : tasks;
    snprintf(array, 64, "--array=0-%" PRIu64 "%%%" PRIu64, tasks - 1, at_once);
    app_note(a, "%" PRIu64 " tasks, %" PRIu64 " at a time, %" PRIu64 " threads each", tasks, at_once, threads);
    return EXIT_DONE;
}

/* In single quotes for the shell. */
static bool quoted(const char *text, char *out, size_t room)
{
    size_t used = 0;
    if (room < 3)
        return false;
    out[used++] = '\'';
    for (; *text && used + 6 < room; text++) {
        if (*text == '\'')
            used += (size_t)snprintf(out + used, room - used, "'\\''");
        else
            out[used++] = *text;
    }
    out[used++] = '\'';
    out[used] = '\0';
    return !*text;
}

/* What every task runs. */
static exit_code write_script(app *a, pb_store *store, uint64_t threads, char *script, size_t room)
{
    char self[PATH_MAX], folder[PATH_MAX], quoted_self[PATH_MAX + 64], quoted_folder[PATH_MAX + 64], more[64] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *name = length > 0 ? self : "pebble";
    const char *timeout = app_option(a, OPT_LEASE_TIMEOUT);
    if (!realpath(pb_store_path(store), folder) || !quoted(name, quoted_self, sizeof quoted_self) ||
        !quoted(folder, quoted_folder, sizeof quoted_folder))
        return app_fail(a, EXIT_FAILED, "%s: cannot be found: %s; check the path", pb_store_path(store),
                        strerror(errno));
    if (timeout)
        snprintf(more, sizeof more, " --timeout %.20s", timeout);
    snprintf(script, room,
             "#!/bin/sh\n"
             "near=\n"
             "%s work %s --threads %" PRIu64 "%s &\n"
             "worker=$!\n"
             "trap 'near=1; kill -TERM $worker' USR1\n"
             "trap 'kill -TERM $worker' TERM\n"
             "wait $worker; code=$?\n"
             "while kill -0 $worker 2>/dev/null; do wait $worker; code=$?; done\n"
             "if [ -n \"$near\" ]; then scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"; fi\n"
             "exit $code\n",
             quoted_self, quoted_folder, threads, more);
    return EXIT_DONE;
}

static bool job_path(pb_store *store, const char *job, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/jobs/%s", pb_store_path(store), job) < PATH_MAX;
}

static exit_code note_job(app *a, pb_store *store, char *answer)
{
    char path[PATH_MAX];
    answer[strspn(answer, "0123456789")] = '\0'; /* --parsable: number;cluster */
    FILE *file = *answer && job_path(store, answer, path) ? fopen(path, "w") : NULL;
    if (!file || fclose(file) != 0)
        return app_fail(a, EXIT_FAILED,
                        "the job %s was submitted but cannot be noted in the store: %s; note its number", answer,
                        strerror(errno));
    print_line(sweep_shows_text(a) ? stdout : stderr, "job %s", answer);
    return EXIT_DONE;
}

exit_code slurm_submit(app *a, pb_store *store)
{
    char array[64], cpus[48], output[PATH_MAX + 32], signal[32], path[PATH_MAX], extra[1024];
    const char *words[MAX_WORDS] = {
        "sbatch", "--parsable", "--requeue", "--job-name=pebble", "--ntasks=1", "--open-mode=append", array,
        cpus,     signal,       output};
    int count = 10;
    uint64_t threads;
    pb_store_state *state = pb_arena_zero(&a->arena, 1, sizeof *state);
    char *answer = pb_arena_alloc(&a->arena, ANSWER_ROOM, 1), *script = pb_arena_alloc(&a->arena, ANSWER_ROOM, 1);
    if (!state || !answer || !script)
        return app_status(a, PB_ENOMEM);
    if (!app_number(a, OPT_THREADS, 1, &threads) || !threads)
        return EXIT_USAGE;
    pb_status status = pb_store_look(&a->ctx, store, state);
    if (status != PB_OK)
        return app_status(a, status);
    if (!state->todo && !state->leased) {
        app_note(a, "every cell is planned: nothing was submitted");
        return EXIT_DONE;
    }
    exit_code code = size_array(a, state->todo + state->leased, threads, answer, array);
    if (code == EXIT_DONE)
        code = write_script(a, store, threads, script, ANSWER_ROOM);
    if (code != EXIT_DONE)
        return code;
    snprintf(cpus, sizeof cpus, "--cpus-per-task=%" PRIu64, threads);
    snprintf(signal, sizeof signal, "--signal=B:USR1@%d", WARNING_SECONDS);
    if (!realpath(pb_store_path(store), path))
        path[0] = '\0';
    snprintf(output, sizeof output, "--output=%s/jobs/out-%%A_%%a", path);
    snprintf(extra, sizeof extra, "%s", app_option(a, OPT_SLURM) ? app_option(a, OPT_SLURM) : "");
    for (char *at = extra, *word; count + 1 < MAX_WORDS && (word = strtok_r(at, " ", &at));)
        words[count++] = word;
    code = program_feed(words, script, answer, ANSWER_ROOM) == 0
               ? EXIT_DONE
               : app_fail(a, EXIT_FAILED,
                          "sbatch did not take the job; see its message above, and --slurm for its options");
    return code == EXIT_DONE ? note_job(a, store, answer) : code;
}

/* ---- jobs of a store ---- */

/* Calls `each` with every job that the store knows. */
static exit_code each_job(app *a, pb_store *store, exit_code (*each)(app *, pb_store *, const char *, void *),
                          void *state)
{
    char path[PATH_MAX];
    exit_code code = EXIT_DONE;
    DIR *folder = job_path(store, "", path) ? opendir(path) : NULL;
    if (!folder)
        return app_fail(a, EXIT_FAILED, "%s/jobs: cannot be read: %s; check its permissions", pb_store_path(store),
                        strerror(errno));
    for (struct dirent *entry; code == EXIT_DONE && (entry = readdir(folder));)
        if (entry->d_name[0] && strspn(entry->d_name, "0123456789") == strlen(entry->d_name))
            code = each(a, store, entry->d_name, state);
    closedir(folder);
    return code;
}

typedef struct queue {
    char *answer;
    uint64_t pending, running, other;
} queue;

static exit_code count_job(app *a, pb_store *store, const char *job, void *state)
{
    queue *q = state;
    char option[64];
    const char *const words[] = {"squeue", "--noheader", "--array", "--format=%T", option, NULL};
    (void)store;
    snprintf(option, sizeof option, "--jobs=%.40s", job);
    int code = program_quiet(words, q->answer, ANSWER_ROOM);
    if (code < 0)
        return app_fail(a, EXIT_FAILED, "squeue cannot be started: %s; run this where Slurm's commands are installed",
                        strerror(errno));
    if (code > 0) /* Slurm forgets jobs that have ended */
        return EXIT_DONE;
    for (char *line = q->answer; *line;) {
        size_t length = strcspn(line, "\n");
        if (length == 7 && strncmp(line, "PENDING", 7) == 0)
            q->pending++;
        else if (length == 7 && strncmp(line, "RUNNING", 7) == 0)
            q->running++;
        else if (length)
            q->other++;
        line += length;
        line += *line == '\n';
    }
    return EXIT_DONE;
}

static exit_code look_at_queue(app *a, pb_store *store, queue *q)
{
    *q = (queue){.answer = q->answer};
    if (!q->answer)
        q->answer = pb_arena_alloc(&a->arena, ANSWER_ROOM, 1);
    return q->answer ? each_job(a, store, count_job, q) : app_status(a, PB_ENOMEM);
}

exit_code slurm_wait(app *a, pb_store *store)
{
    queue q = {.answer = NULL};
    exit_code code;
    progress_planning(&a->progress, true); /* Ctrl-C ends the waiting, not the jobs */
    while ((code = look_at_queue(a, store, &q)) == EXIT_DONE && q.pending + q.running + q.other &&
           !progress_interrupted()) {
        struct timespec pause = {.tv_sec = POLL_SECONDS};
        nanosleep(&pause, NULL);
    }
    progress_planning(&a->progress, false);
    if (progress_interrupted()) {
        app_note(a, "interrupted: the jobs go on; --cancel ends them");
        return EXIT_INTERRUPTED;
    }
    return code;
}

exit_code slurm_status(app *a, pb_store *store)
{
    queue q = {.answer = NULL};
    exit_code code = look_at_queue(a, store, &q);
    if (code == EXIT_DONE && !app_option(a, OPT_JSON))
        printf("tasks: %" PRIu64 " running, %" PRIu64 " pending, %" PRIu64 " other\n", q.running, q.pending, q.other);
    return code == EXIT_DONE ? store_print_state(a, store) : code;
}

static exit_code cancel_job(app *a, pb_store *store, const char *job, void *state)
{
    char path[PATH_MAX];
    const char *const words[] = {"scancel", job, NULL};
    exit_code code = ask(a, words, state);
    if (code == EXIT_DONE && job_path(store, job, path))
        unlink(path);
    return code;
}

exit_code slurm_cancel(app *a, pb_store *store)
{
    char *answer = pb_arena_alloc(&a->arena, ANSWER_ROOM, 1);
    return answer ? each_job(a, store, cancel_job, answer) : app_status(a, PB_ENOMEM);
}
