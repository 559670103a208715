/* measure.c -- clock, machine, instances and tables. */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void must(const pb_context *ctx, pb_status status, const char *what)
{
    if (status == PB_OK)
        return;
    fprintf(stderr, "bench: %s: %s (%s)\n", what, ctx->error.message, pb_status_text(status));
    exit(1);
}

static const char *positional_key(const pb_family *family)
{
    for (uint32_t i = 0; family && i < family->param_count; i++)
        if (family->params[i].positional)
            return family->params[i].key;
    return "";
}

const pb_graph *instance_make(pb_context *ctx, pb_arena *arena, const char *spec)
{
    char *text = pb_arena_text(arena, spec, strlen(spec));
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = 0;
    pb_option params[8];
    uint32_t count = 0;
    while (rest && *rest && count < 8) {
        char *part = rest;
        rest = strchr(part, ',');
        if (rest)
            *rest++ = 0;
        char *value = strchr(part, '=');
        if (value) {
            *value++ = 0;
            params[count++] = (pb_option){part, value};
        } else {
            params[count++] = (pb_option){positional_key(pb_family_find(text)), part};
        }
    }
    const pb_graph *g = NULL;
    must(ctx, pb_generate(ctx, text, params, count, arena, &g), spec);
    return g;
}

bool instance_wanted(const bench *b, const char *name) { return !b->only || strstr(name, b->only); }

uint64_t percent_of(uint64_t whole, unsigned percent)
{
    return whole / 100 * percent + (whole % 100 * percent + 99) / 100;
}

uint64_t percent_cap(pb_context *ctx, const pb_graph *g, unsigned percent)
{
    uint64_t peak = 0;
    must(ctx, pb_graph_program_peak(ctx, g, &peak), "written peak");
    return percent_of(peak, percent);
}

static pb_stop stop_at(void *state) { return now_seconds() > *(double *)state ? PB_STOP_TIME : PB_GO_ON; }

void plan_once(const bench *b, const pb_game *game, const char *strategy, pb_context *ctx, pb_arena *arena,
               plan_run *out)
{
    double begin = now_seconds(), deadline = begin + b->seconds;
    *out = (plan_run){0};
    pb_context_init(ctx);
    pb_arena_init(arena, ctx);
    ctx->tick_limit = b->ticks;
    ctx->stop = stop_at;
    ctx->callback_state = &deadline;
    pb_request request = {.strategy = strategy, .seed = 1, .threads = 1};
    out->status = pb_plan(ctx, game, &request, arena, &out->planned);
    out->seconds = now_seconds() - begin;
    out->ticks = ctx->ticks;
    out->memory_peak = ctx->memory_peak;
    out->stopped = ctx->stopped != PB_GO_ON;
    ctx->callback_state = NULL;
    ctx->stop = NULL;
    const char *why = out->status != PB_OK ? ctx->error.message : out->planned.schedule.reason;
    if (out->status != PB_OK || !out->planned.schedule.has_metrics)
        snprintf(out->message, sizeof out->message, "%.150s", why ? why : "");
}

static pb_status file_write(void *state, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, state) == length ? PB_OK : PB_EIO;
}

static pb_status file_read(void *state, char *bytes, size_t room, size_t *got)
{
    *got = fread(bytes, 1, room, state);
    return ferror((FILE *)state) ? PB_EIO : PB_OK;
}

pb_sink file_sink(FILE *file) { return (pb_sink){file_write, file}; }
pb_source file_source(FILE *file) { return (pb_source){file_read, file}; }

static void processor_name(char *name, size_t room)
{
    snprintf(name, room, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(name, room, "%s", strchr(line, ':') + 2);
            name[strcspn(name, "\n")] = 0;
            break;
        }
    if (file)
        fclose(file);
}

static void describe(FILE *file, const bench *b)
{
    char processor[256], date[32];
    struct utsname system = {0};
    time_t now = time(NULL);
    processor_name(processor, sizeof processor);
    uname(&system);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(file, "# pebble %s, %s\n# cpu: %s, %ld cores; %s %s %s\n# compiler: %s; flags: %s\n", PB_VERSION, date,
            processor, sysconf(_SC_NPROCESSORS_ONLN), system.sysname, system.release, system.machine, BENCH_COMPILER,
            BENCH_FLAGS);
    fprintf(file, "# best of %u; limit of one plan: %g s, %" PRIu64 " ticks (0: none)\n", b->repeat, b->seconds,
            b->ticks);
}

void table_open(table *t, const bench *b, const char *part, const char *columns)
{
    *t = (table){0};
    char path[4096], line[1024] = "";
    if (b->results) {
        snprintf(path, sizeof path, "%s-%s.csv", b->results, part);
        t->csv = fopen(path, "w");
        if (!t->csv) {
            perror(path);
            exit(1);
        }
        describe(t->csv, b);
    }
    size_t used = 0;
    for (const char *at = columns; *at; t->columns++) {
        size_t name = strcspn(at, ":"), all = strcspn(at, "|");
        t->width[t->columns] = atoi(at + name + 1);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%.*s", used ? "|" : "", (int)name, at);
        at += all + (at[all] == '|');
    }
    printf("\n%s\n", part);
    table_row(t, "%s", line);
}

void table_row(table *t, const char *format, ...)
{
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    char *at = line;
    for (unsigned i = 0; i < t->columns; i++) {
        size_t length = strcspn(at, "|");
        bool last = at[length] == 0;
        at[length] = 0;
        printf(i == 0 ? "%-*s" : "  %*s", t->width[i], at);
        if (t->csv)
            fprintf(t->csv, strpbrk(at, ",\"") ? "%s\"%s\"" : "%s%s", i ? "," : "", at);
        at += length + !last;
    }
    printf("\n");
    fflush(stdout);
    if (t->csv)
        fprintf(t->csv, "\n");
}

void table_close(table *t)
{
    if (t->csv && fclose(t->csv) != 0) {
        perror("bench");
        exit(1);
    }
}
