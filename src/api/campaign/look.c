/* look.c -- how far a store is, from the names of its files alone. */
#define _XOPEN_SOURCE 700
#include "api/campaign/campaign.h"
#include "store/worker.h"

#include "base/context.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_CODES = 256, LIVE_SECONDS = 120 };

/* The kinds of failure by the end of their rows' names. */
typedef struct code {
    char outcome[PBI_OUTCOME_TEXT], sample[PBI_PATH_ROOM];
    uint64_t cells;
} code;

typedef struct survey {
    pb_context *ctx;
    const pb_store *store;
    pb_store_state *out;
    code *codes;
    uint32_t code_count;
    struct timespec now; /* by the clock of the file system */
    char process[160];
    double rate;
} survey;

static void count_failure(survey *v, const pbi_cell *cell)
{
    uint32_t at = 0;
    while (at < v->code_count && strcmp(v->codes[at].outcome, cell->outcome) != 0)
        at++;
    if (at == MAX_CODES)
        return;
    if (at == v->code_count) {
        v->code_count++;
        snprintf(v->codes[at].outcome, sizeof v->codes[at].outcome, "%s", cell->outcome);
        pbi_cell_name(cell, v->codes[at].sample);
    }
    v->codes[at].cells++;
}

static void count_row(survey *v, const pbi_cell *cell)
{
    char word[PBI_OUTCOME_TEXT];
    pb_outcome outcome;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(cell->outcome, "-"), cell->outcome);
    v->out->done++;
    if (!pb_outcome_parse(word, &outcome))
        return;
    v->out->outcomes[outcome]++;
    if (outcome == PB_GAVE_UP)
        count_failure(v, cell);
}

static pb_status count_shard(survey *v, uint32_t shard)
{
    pb_arena listing;
    pbi_cell *list = NULL;
    uint32_t count = 0;
    pb_arena_init(&listing, v->ctx);
    pb_status status = pbi_cells_list(v->ctx, &v->store->folder, shard, &listing, &list, &count);
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        v->out->cells++;
        switch (list[i].state) {
        case PBI_CELL_ROW: count_row(v, &list[i]); break;
        case PBI_CELL_LEASE: v->out->leased++; break;
        case PBI_CELL_TODO: v->out->todo++; break;
        default: v->out->given_up++;
        }
    }
    pb_arena_release(&listing);
    return status;
}

/* ---- workers ---- */

/* The time by the clock of the file system, which also dates the workers' files. */
static void touch_clock(survey *v)
{
    struct stat about;
    const char *name = "workers/.now";
    int file = openat(v->store->folder.file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (futimens(file, NULL) == 0 && fstat(file, &about) == 0)
        v->now = about.st_mtim;
    close(file);
}

static pb_status count_worker(void *state, const char *name)
{
    survey *v = state;
    struct stat about;
    char path[PBI_PATH_ROOM];
    pbi_worker_facts facts;
    snprintf(path, sizeof path, "workers/%.64s", name);
    if (fstatat(v->store->folder.file, path, &about, 0) != 0 || !pbi_worker_read(&v->store->folder, name, &facts))
        return PB_OK;
    bool silent = v->now.tv_sec - about.st_mtim.tv_sec > LIVE_SECONDS;
    if (silent || pbi_worker_ended(&facts, v->process))
        return PB_OK;
    v->out->workers++;
    v->out->threads += facts.threads;
    if (facts.seconds)
        v->rate += (double)facts.cells / (double)facts.seconds;
    return PB_OK;
}

/* ---- reasons ---- */

static pb_status read_reason(survey *v, const code *kind, pb_store_reason *out)
{
    pb_arena scratch;
    pbi_bytes bytes;
    const char *mark = "\"reason\":\"";
    pb_arena_init(&scratch, v->ctx);
    out->cells = kind->cells;
    snprintf(out->text, sizeof out->text, "(its row cannot be read)");
    pb_status status = pbi_folder_read(v->ctx, &v->store->folder, kind->sample, &scratch, &bytes);
    const char *at = status == PB_OK ? strstr(bytes.bytes, mark) : NULL;
    for (size_t used = 0; at; used++) { /* the text of a JSON string, up to its end */
        char c = at[strlen(mark) + used];
        if (!c || c == '"' || used + 1 == sizeof out->text)
            break;
        out->text[used] = c;
        out->text[used + 1] = '\0';
    }
    pb_arena_release(&scratch);
    return status == PB_ENOMEM ? status : PB_OK;
}

static pb_status take_reasons(survey *v)
{
    pb_status status = PB_OK;
    for (uint32_t n = 0; n < v->code_count && n < PB_STORE_REASONS && status == PB_OK; n++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < v->code_count; i++)
            most = v->codes[i].cells > v->codes[most].cells ? i : most;
        if (!v->codes[most].cells)
            break;
        status = read_reason(v, &v->codes[most], &v->out->reasons[v->out->reason_count++]);
        v->codes[most].cells = 0;
    }
    return status;
}

pb_status pb_store_look(pb_context *ctx, pb_store *store, pb_store_state *out)
{
    pb_arena scratch;
    const char *const *ids = NULL;
    uint32_t count = 0;
    survey v = {.ctx = ctx, .store = store, .out = out};
    *out = (pb_store_state){.seconds_left = -1};
    pb_arena_init(&scratch, ctx);
    v.codes = pb_arena_zero(&scratch, MAX_CODES, sizeof *v.codes);
    pb_status status = v.codes ? pb_store_sweeps(ctx, store, &scratch, &ids, &count) : PB_ENOMEM;
    out->sweeps = count;
    for (uint32_t shard = 0; shard < PBI_SHARDS && status == PB_OK; shard++)
        status = count_shard(&v, shard);
    pbi_worker_process(v.process);
    touch_clock(&v);
    if (status == PB_OK)
        status = pbi_folder_list(ctx, &store->folder, "workers", count_worker, &v);
    if (status == PB_OK)
        status = take_reasons(&v);
    out->rate = v.rate;
    if (v.rate > 0)
        out->seconds_left = (double)(out->todo + out->leased) / v.rate;
    pb_arena_release(&scratch);
    return status;
}
