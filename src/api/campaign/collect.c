/* collect.c -- from the rows of a store to a sweep: the last pass, in which cells share plans and bounds. */
#include "api/campaign/campaign.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

/* Removes a row that cannot be read. Its cell is to be planned again. */
static pb_status drop_row(pb_context *ctx, const pb_store *store, const pbi_campaign *c, const pbi_cell *row,
                          uint32_t index)
{
    char name[PBI_PATH_ROOM];
    pbi_cell again = {.state = PBI_CELL_TODO, .index = index};
    memcpy(again.key, row->key, sizeof again.key);
    memcpy(again.sweep, c->id, sizeof again.sweep);
    pbi_cell_name(row, name);
    pbi_folder_remove(&store->folder, name);
    if (ctx->log)
        ctx->log(ctx->callback_state, ctx->error.message);
    return pbi_cell_add(ctx, &store->folder, &again);
}

static pb_status read_row(pb_context *ctx, const pb_store *store, pbi_campaign *c, const pbi_cell *row, uint32_t index)
{
    char name[PBI_PATH_ROOM];
    pb_arena scratch;
    pbi_bytes bytes;
    pbi_finding *f = &c->state.found[index];
    pb_arena_init(&scratch, ctx);
    pbi_cell_name(row, name);
    pb_status status = pbi_folder_read(ctx, &store->folder, name, &scratch, &bytes);
    if (status == PB_OK)
        status = pbi_row_read(ctx, bytes, c->base.graph, c->state.result, &f->schedule);
    pb_arena_release(&scratch);
    if (status == PB_EFORMAT)
        return drop_row(ctx, store, c, row, index);
    if (status != PB_OK)
        return status;
    f->tried = true;
    f->plan = f->schedule.has_metrics;
    if (f->schedule.game == PB_GAME_TIMED)
        f->schedule.machine = NULL; /* the cell has its own */
    return PB_OK;
}

static pb_status read_rows(pb_context *ctx, const pb_store *store, pbi_campaign *c, pb_arena *scratch)
{
    pbi_cell_key *keys = NULL;
    pbi_cell *list = NULL;
    uint32_t count = 0, shard = PBI_SHARDS;
    pb_arena listing;
    pb_arena_init(&listing, ctx);
    pb_status status = pbi_campaign_keys(ctx, c, scratch, &keys);
    for (uint32_t i = 0; i < c->sweep.cell_count && status == PB_OK; i++) {
        if (pbi_shard_of(keys[i].key) != shard) {
            shard = pbi_shard_of(keys[i].key);
            pb_arena_release(&listing);
            pb_arena_init(&listing, ctx);
            status = pbi_cells_list(ctx, &store->folder, shard, &listing, &list, &count);
        }
        const pbi_cell *cell = status == PB_OK ? pbi_cells_find(list, count, keys[i].key) : NULL;
        if (cell && cell->state == PBI_CELL_ROW)
            status = read_row(ctx, store, c, cell, keys[i].index);
    }
    pb_arena_release(&listing);
    return status;
}

pb_status pb_store_collect(pb_context *ctx, pb_store *store, const char *id, pb_arena *result, pb_sweep *out,
                           uint64_t *missing)
{
    pb_arena scratch;
    pbi_campaign *c = NULL;
    ctx->stopped = PB_GO_ON;
    pb_arena_init(&scratch, ctx);
    pb_status status =
        pbi_campaign_there(store, id)
            ? pbi_campaign_read(ctx, store, id, result, &c)
            : pbi_fail(ctx, PB_EUNKNOWN, "the store has no sweep %.40s; `pebble store status` lists them", id);
    if (status == PB_OK)
        status = pbi_campaign_known(ctx, store, c, result);
    if (status == PB_OK)
        status = pbi_sweep_state_init(&c->state, &scratch);
    if (status == PB_OK)
        status = read_rows(ctx, store, c, &scratch);
    if (status == PB_OK)
        status = pbi_sweep_prove_least(&c->state);
    uint64_t lost = 0;
    for (uint32_t i = 0; status == PB_OK && i < c->sweep.cell_count; i++)
        lost += !c->state.found[i].tried;
    if (status == PB_OK) {
        c->sweep.stopped = lost ? PB_STOP_INTERRUPT : PB_GO_ON;
        status = pbi_sweep_end(&c->state);
    }
    if (status == PB_OK) {
        *out = c->sweep;
        *missing = lost;
    }
    pb_arena_release(&scratch);
    return status;
}

/* ---- all sweeps ---- */

typedef struct id_list {
    pb_arena *arena;
    void *ids;
    size_t room, count;
} id_list;

static pb_status add_id(void *state, const char *name)
{
    id_list *l = state;
    size_t length = strlen(name);
    const size_t digits = PBI_KEY_TEXT - 1;
    if (length != digits + 6 || strcmp(name + digits, ".sweep") != 0)
        return PB_OK;
    if (!pbi_arena_reserve(l->arena, &l->ids, &l->room, l->count + 1, sizeof(const char *)))
        return PB_ENOMEM;
    const char **ids = l->ids;
    ids[l->count] = pb_arena_text(l->arena, name, digits);
    return ids[l->count++] ? PB_OK : PB_ENOMEM;
}

static void sort_ids(const char **ids, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const char *one = ids[i];
        size_t at = i;
        for (; at && strcmp(ids[at - 1], one) > 0; at--)
            ids[at] = ids[at - 1];
        ids[at] = one;
    }
}

pb_status pb_store_sweeps(pb_context *ctx, pb_store *store, pb_arena *arena, const char *const **out, uint32_t *count)
{
    pb_status status = PB_OK;
    id_list l = {.arena = arena};
    for (unsigned k = 0; k < PBI_SHARDS && status == PB_OK; k++) {
        char name[PBI_PATH_ROOM];
        size_t before = l.count;
        snprintf(name, sizeof name, "sweeps/%02x", k);
        status = pbi_folder_list(ctx, &store->folder, name, add_id, &l);
        if (l.count > before)
            sort_ids((const char **)l.ids + before, l.count - before);
    }
    *out = (const char *const *)l.ids;
    *count = (uint32_t)l.count;
    return status;
}
