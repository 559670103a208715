/* repair.c -- copies one store into another, and cleans one up. */
#define _XOPEN_SOURCE 700
#include "api/campaign/campaign.h"
#include "store/worker.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- merge ---- */

typedef struct merge {
    pb_context *ctx;
    pb_store *to, *from;
    pb_store_repair *out;
    const char *part; /* the folder that is copied */
    uint64_t *copied;
} merge;

static pb_status copy_file(void *state, const char *file)
{
    merge *m = state;
    char name[PBI_PATH_ROOM];
    pb_arena scratch;
    pbi_bytes bytes;
    const char *end = strrchr(file, '.');
    if (end && strcmp(end, ".new") == 0)
        return PB_OK;
    snprintf(name, sizeof name, "%s/%.100s", m->part, file);
    if (pbi_folder_has(&m->to->folder, name))
        return PB_OK;
    pb_arena_init(&scratch, m->ctx);
    pb_status status = pbi_folder_add(m->ctx, &m->to->folder, m->part);
    if (status == PB_OK)
        status = pbi_folder_read(m->ctx, &m->from->folder, name, &scratch, &bytes);
    if (status == PB_OK)
        status = pbi_folder_write(m->ctx, &m->to->folder, name, NULL, bytes);
    *m->copied += status == PB_OK && (!end || strcmp(end, ".sweep") == 0 || strcmp(end, ".json") == 0);
    pb_arena_release(&scratch);
    return status;
}

static pb_status copy_parts(merge *m, const char *part, uint64_t *copied)
{
    pb_status status = PB_OK;
    m->copied = copied;
    for (unsigned k = 0; k < PBI_SHARDS && status == PB_OK; k++) {
        char folder[PBI_PATH_ROOM];
        snprintf(folder, sizeof folder, "%s/%02x", part, k);
        m->part = folder;
        status = pbi_folder_list(m->ctx, &m->from->folder, folder, copy_file, m);
    }
    return status;
}

/* A row that the other store has, too, must be the same. */
static pb_status copy_row(merge *m, const pbi_cell *row, const pbi_cell *there)
{
    char name[PBI_PATH_ROOM], old[PBI_PATH_ROOM];
    pb_arena scratch;
    pbi_bytes bytes, own;
    pb_arena_init(&scratch, m->ctx);
    pbi_cell_name(row, name);
    pb_status status = pbi_folder_read(m->ctx, &m->from->folder, name, &scratch, &bytes);
    if (status == PB_EFORMAT) { /* damaged: it is planned again */
        m->out->damaged++;
        pb_arena_release(&scratch);
        return PB_OK;
    }
    if (there)
        pbi_cell_name(there, old);
    if (status == PB_OK && there && there->state == PBI_CELL_ROW) {
        status = pbi_folder_read(m->ctx, &m->to->folder, old, &scratch, &own);
        bool same = status == PB_OK && own.length == bytes.length && memcmp(own.bytes, bytes.bytes, own.length) == 0;
        if (status == PB_OK && !same)
            status = pbi_fail(m->ctx, PB_EFORMAT,
                              "the cell %s has different rows in both stores, although equal input gives equal plans; "
                              "please report it",
                              row->key);
    } else if (status == PB_OK) {
        status = pbi_folder_write(m->ctx, &m->to->folder, name, NULL, bytes);
        m->out->rows += status == PB_OK;
        if (status == PB_OK && there)
            pbi_folder_remove(&m->to->folder, old);
    }
    pb_arena_release(&scratch);
    return status;
}

static pb_status copy_rows(merge *m)
{
    pb_status status = PB_OK;
    for (uint32_t shard = 0; shard < PBI_SHARDS && status == PB_OK; shard++) {
        pb_arena scratch;
        pbi_cell *rows = NULL, *own = NULL;
        uint32_t row_count = 0, own_count = 0;
        pb_arena_init(&scratch, m->ctx);
        status = pbi_cells_list(m->ctx, &m->from->folder, shard, &scratch, &rows, &row_count);
        if (status == PB_OK)
            status = pbi_cells_list(m->ctx, &m->to->folder, shard, &scratch, &own, &own_count);
        for (uint32_t i = 0; i < row_count && status == PB_OK; i++)
            if (rows[i].state == PBI_CELL_ROW)
                status = copy_row(m, &rows[i], pbi_cells_find(own, own_count, rows[i].key));
        pb_arena_release(&scratch);
    }
    return status;
}

/* Every cell of every sweep that has no file. */
static pb_status fill_all(pb_context *ctx, pb_store *store, uint64_t *added)
{
    pb_arena scratch;
    const char *const *ids = NULL;
    uint32_t count = 0;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_store_sweeps(ctx, store, &scratch, &ids, &count);
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        pb_arena arena;
        pbi_campaign *c = NULL;
        uint64_t some = 0;
        pb_arena_init(&arena, ctx);
        status = pbi_campaign_read(ctx, store, ids[i], &arena, &c);
        if (status == PB_OK)
            status = pbi_campaign_fill(ctx, store, c, &some);
        *added += some;
        pb_arena_release(&arena);
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_store_merge(pb_context *ctx, pb_store *store, pb_store *from, pb_store_repair *out)
{
    merge m = {.ctx = ctx, .to = store, .from = from, .out = out};
    *out = (pb_store_repair){.rows = 0};
    pb_status status = copy_parts(&m, "graphs", &out->graphs);
    if (status == PB_OK)
        status = copy_parts(&m, "sweeps", &out->sweeps);
    if (status == PB_OK)
        status = copy_rows(&m);
    return status == PB_OK ? fill_all(ctx, store, &out->cells) : status;
}

/* ---- clean ---- */

typedef struct broom {
    pb_context *ctx;
    pb_store *store;
    pb_store_repair *out;
    pbi_watch watch;
    uint64_t begin_ns, unknown;
    const char *part;
} broom;

static uint64_t now_of(const pb_context *ctx) { return ctx->clock_ns(ctx->callback_state); }

static bool ends_dead(broom *b, const char *id, pb_status *status)
{
    pbi_life life = PBI_UNKNOWN;
    *status = pbi_watch_look(b->ctx, &b->watch, id, now_of(b->ctx), &life);
    b->unknown += life == PBI_UNKNOWN;
    return life == PBI_DEAD;
}

static pb_status sweep_name(void *state, const char *file)
{
    broom *b = state;
    char name[PBI_PATH_ROOM];
    const char *mark = strstr(file, ".new");
    pb_status status = PB_OK;
    if (!mark)
        return PB_OK;
    const char *worker = mark + strlen(".new");
    if (*worker == '.' && strlen(worker + 1) == PBI_WORKER_TEXT - 1 && !ends_dead(b, worker + 1, &status))
        return status;
    snprintf(name, sizeof name, "%s/%.120s", b->part, file);
    b->out->temporary += pbi_folder_remove(&b->store->folder, name);
    return status;
}

static pb_status check_row(broom *b, const pbi_cell *cell)
{
    char name[PBI_PATH_ROOM];
    pb_arena scratch;
    pbi_bytes bytes;
    pb_arena_init(&scratch, b->ctx);
    pbi_cell_name(cell, name);
    pb_status status = pbi_folder_read(b->ctx, &b->store->folder, name, &scratch, &bytes);
    pb_arena_release(&scratch);
    if (status != PB_EFORMAT)
        return status;
    b->out->damaged += pbi_folder_remove(&b->store->folder, name);
    return PB_OK;
}

static pb_status check_cell(broom *b, const pbi_cell *cell)
{
    pb_status status = PB_OK;
    pbi_cell again = *cell;
    again.state = PBI_CELL_TODO;
    if (cell->state == PBI_CELL_ROW)
        return check_row(b, cell);
    if (cell->state == PBI_CELL_FAIL)
        again.tries = 0;
    bool back = cell->state == PBI_CELL_FAIL || (cell->state == PBI_CELL_LEASE && ends_dead(b, cell->worker, &status));
    if (back && status == PB_OK)
        b->out->returned += pbi_cell_move(&b->store->folder, cell, &again);
    return status;
}

static pb_status clean_shard(broom *b, uint32_t shard)
{
    pb_arena scratch;
    pbi_cell *list = NULL;
    uint32_t count = 0;
    char folder[PBI_PATH_ROOM];
    pb_arena_init(&scratch, b->ctx);
    snprintf(folder, sizeof folder, "cells/%02x", (unsigned)shard);
    b->part = folder;
    pb_status status = pbi_folder_list(b->ctx, &b->store->folder, folder, sweep_name, b);
    if (status == PB_OK)
        status = pbi_cells_prune(b->ctx, &b->store->folder, shard, &b->out->temporary);
    if (status == PB_OK)
        status = pbi_cells_list(b->ctx, &b->store->folder, shard, &scratch, &list, &count);
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        status = check_cell(b, &list[i]);
    pb_arena_release(&scratch);
    return status;
}

static pb_status clean_worker(void *state, const char *id)
{
    broom *b = state;
    char name[PBI_PATH_ROOM];
    pb_status status;
    if (strlen(id) != PBI_WORKER_TEXT - 1 || !ends_dead(b, id, &status))
        return PB_OK;
    snprintf(name, sizeof name, "workers/%s", id);
    b->out->workers += pbi_folder_remove(&b->store->folder, name);
    return PB_OK;
}

/* One round over everything. Workers elsewhere are watched, so a second round may find them dead. */
static pb_status clean_round(broom *b)
{
    static const char *const parts[] = {"graphs", "sweeps"};
    pb_status status = PB_OK;
    b->unknown = 0;
    for (uint32_t shard = 0; shard < PBI_SHARDS && status == PB_OK; shard++) {
        for (int i = 0; i < 2 && status == PB_OK; i++) {
            char folder[PBI_PATH_ROOM];
            snprintf(folder, sizeof folder, "%s/%02x", parts[i], (unsigned)shard);
            b->part = folder;
            status = pbi_folder_list(b->ctx, &b->store->folder, folder, sweep_name, b);
        }
        if (status == PB_OK)
            status = clean_shard(b, shard);
    }
    return status == PB_OK ? pbi_folder_list(b->ctx, &b->store->folder, "workers", clean_worker, b) : status;
}

pb_status pb_store_clean(pb_context *ctx, pb_store *store, uint64_t timeout_ns, pb_store_repair *out)
{
    char process[160];
    pb_arena scratch;
    const uint64_t pause = 200000000;
    *out = (pb_store_repair){.rows = 0};
    if (!ctx->clock_ns)
        return pbi_fail(ctx, PB_EINVAL, "cleaning needs a clock; set ctx->clock_ns");
    pbi_worker_process(process);
    pb_arena_init(&scratch, ctx);
    broom b = {.ctx = ctx, .store = store, .out = out, .begin_ns = now_of(ctx)};
    b.watch = (pbi_watch){.folder = &store->folder,
                          .arena = &scratch,
                          .own_process = process,
                          .timeout_ns = timeout_ns ? timeout_ns : UINT64_C(60000000000)};
    pb_status status = clean_round(&b);
    while (status == PB_OK && b.unknown && now_of(ctx) - b.begin_ns <= 2 * b.watch.timeout_ns + 5 * pause) {
        struct timespec t = {.tv_nsec = (long)pause};
        nanosleep(&t, NULL);
        b.unknown = 0;
        status = pbi_folder_list(ctx, &store->folder, "workers", clean_worker, &b);
    }
    if (status == PB_OK && out->workers)
        status = clean_round(&b);
    pb_arena_release(&scratch);
    return status == PB_OK ? fill_all(ctx, store, &out->cells) : status;
}
