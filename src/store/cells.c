/* cells.c -- see cells.h. */
#define _XOPEN_SOURCE 700
#include "store/cells.h"

#include "base/arena.h"
#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const words[] = {"row", "lease", "todo", "fail"};

void pbi_cell_name(const pbi_cell *c, char name[PBI_PATH_ROOM])
{
    int used = snprintf(name, PBI_PATH_ROOM, "cells/%.2s/%s.%s.", c->key, c->key, words[c->state]);
    if (c->state == PBI_CELL_ROW)
        snprintf(name + used, (size_t)(PBI_PATH_ROOM - used), "%s", c->outcome);
    else
        snprintf(name + used, (size_t)(PBI_PATH_ROOM - used), "%s.%" PRIu32 ".%" PRIu32 "%s%s", c->sweep, c->index,
                 c->tries, c->state == PBI_CELL_LEASE ? "." : "", c->state == PBI_CELL_LEASE ? c->worker : "");
}

/* The text up to the next point, at most room - 1 characters; NULL if there is none. */
static const char *take_part(const char *at, char *text, size_t room)
{
    size_t length = at ? strcspn(at, ".") : 0;
    if (!length || length >= room || (at[length] && !at[length + 1]))
        return NULL;
    memcpy(text, at, length);
    text[length] = '\0';
    return at[length] ? at + length + 1 : at + length;
}

static const char *take_number(const char *at, uint32_t *out)
{
    char text[12], *end;
    at = take_part(at, text, sizeof text);
    if (!at || text[0] < '0' || text[0] > '9')
        return NULL;
    unsigned long long value = strtoull(text, &end, 10);
    *out = (uint32_t)value;
    return *end || value > UINT32_MAX ? NULL : at;
}

static bool is_key(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

bool pbi_cell_parse(const char *name, pbi_cell *c)
{
    char word[8];
    *c = (pbi_cell){.state = PBI_CELL_OTHER};
    const char *at = take_part(name, c->key, sizeof c->key);
    at = take_part(at, word, sizeof word);
    for (int i = 0; at && i < PBI_CELL_OTHER; i++)
        if (strcmp(word, words[i]) == 0)
            c->state = (pbi_cell_state)i;
    if (!at || c->state == PBI_CELL_OTHER || !is_key(c->key, PBI_KEY_TEXT - 1))
        return false;
    if (c->state == PBI_CELL_ROW)
        return (at = take_part(at, c->outcome, sizeof c->outcome)) && !*at;
    at = take_part(at, c->sweep, sizeof c->sweep);
    at = at && is_key(c->sweep, PBI_KEY_TEXT - 1) ? take_number(at, &c->index) : NULL;
    at = take_number(at, &c->tries);
    if (at && c->state == PBI_CELL_LEASE)
        at = take_part(at, c->worker, sizeof c->worker);
    return at && !*at;
}

/* ---- lists ---- */

typedef struct listing {
    pb_arena *arena;
    void *cells;
    size_t room, count;
} listing;

static pb_status add_name(void *state, const char *name)
{
    listing *l = state;
    pbi_cell cell;
    if (!pbi_cell_parse(name, &cell))
        return PB_OK;
    if (!pbi_arena_reserve(l->arena, &l->cells, &l->room, l->count + 1, sizeof cell))
        return PB_ENOMEM;
    ((pbi_cell *)l->cells)[l->count++] = cell;
    return PB_OK;
}

static int by_key(const void *left, const void *right)
{
    const pbi_cell *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : (int)a->state - (int)b->state;
}

/* All names, the one that counts of each cell first. */
static pb_status list_all(pb_context *ctx, const pbi_folder *folder, uint32_t shard, listing *l)
{
    char name[PBI_PATH_ROOM];
    snprintf(name, sizeof name, "cells/%02x", (unsigned)shard);
    pb_status status = pbi_folder_list(ctx, folder, name, add_name, l);
    if (status == PB_OK && l->count)
        qsort(l->cells, l->count, sizeof(pbi_cell), by_key);
    return status;
}

pb_status pbi_cells_list(pb_context *ctx, const pbi_folder *folder, uint32_t shard, pb_arena *arena, pbi_cell **out,
                         uint32_t *count)
{
    listing l = {.arena = arena};
    pb_status status = list_all(ctx, folder, shard, &l);
    pbi_cell *list = l.cells;
    uint32_t kept = 0;
    if (status != PB_OK)
        return status;
    for (size_t i = 0; i < l.count; i++)
        if (!kept || strcmp(list[kept - 1].key, list[i].key) != 0)
            list[kept++] = list[i];
    *out = list;
    *count = kept;
    return PB_OK;
}

pb_status pbi_cells_prune(pb_context *ctx, const pbi_folder *folder, uint32_t shard, uint64_t *removed)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    listing l = {.arena = &scratch};
    pb_status status = list_all(ctx, folder, shard, &l);
    const pbi_cell *list = l.cells;
    for (size_t i = 1; i < l.count && status == PB_OK; i++) {
        char name[PBI_PATH_ROOM];
        size_t row = i;
        while (row && strcmp(list[row - 1].key, list[i].key) == 0)
            row--;
        pbi_cell_name(&list[i], name);
        if (row < i && list[row].state == PBI_CELL_ROW && list[i].state != PBI_CELL_ROW)
            *removed += pbi_folder_remove(folder, name);
    }
    pb_arena_release(&scratch);
    return status;
}

const pbi_cell *pbi_cells_find(const pbi_cell *list, uint32_t count, const char *key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(list[middle].key, key);
        if (order == 0)
            return &list[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- changes ---- */

pb_status pbi_cell_add(pb_context *ctx, const pbi_folder *folder, const pbi_cell *cell)
{
    char name[PBI_PATH_ROOM];
    pbi_cell_name(cell, name);
    int file = openat(folder->file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return pbi_folder_fail(ctx, folder, name, "written", errno);
    close(file);
    return PB_OK;
}

bool pbi_cell_move(const pbi_folder *folder, const pbi_cell *from, const pbi_cell *to)
{
    char old[PBI_PATH_ROOM], new[PBI_PATH_ROOM];
    pbi_cell_name(from, old);
    pbi_cell_name(to, new);
    if (renameat(folder->file, old, folder->file, new) == 0)
        return true;
    /* Over a network the answer of a rename that succeeded may be lost, and its repetition fails. The new name has the
     * worker in it, so nobody else makes it. */
    return errno == ENOENT && to->state == PBI_CELL_LEASE && pbi_folder_has(folder, new);
}

pb_status pbi_cell_finish(pb_context *ctx, const pbi_folder *folder, const pbi_cell *lease, const char *outcome,
                          pbi_bytes row)
{
    pbi_cell done = *lease;
    char name[PBI_PATH_ROOM], temporary[PBI_PATH_ROOM], old[PBI_PATH_ROOM];
    done.state = PBI_CELL_ROW;
    snprintf(done.outcome, sizeof done.outcome, "%s", outcome);
    pbi_cell_name(&done, name);
    pbi_cell_name(lease, old);
    snprintf(temporary, sizeof temporary, "cells/%.2s/%s.new.%s", lease->key, lease->key, lease->worker);
    pb_status status = pbi_folder_write(ctx, folder, name, temporary, row);
    if (status == PB_OK)
        pbi_folder_remove(folder, old); /* it may be gone: another worker has taken it over */
    return status;
}
