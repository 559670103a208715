/* name_index.c -- see name_index.h. */
#include "io/name_index.h"

#include "base/arena.h"

#include <string.h>

static size_t first_slot(const pbi_name_index *index, const char *name, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u ^ length;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(h ^ h >> 29) & (index->slot_count - 1);
}

uint32_t pbi_name_index_find(const pbi_name_index *index, const char *text, const uint64_t *start, const char *name,
                             size_t length)
{
    if (!index->slot_count)
        return UINT32_MAX;
    for (size_t at = first_slot(index, name, length);; at = (at + 1) & (index->slot_count - 1)) {
        uint32_t entry = index->slot[at];
        if (!entry)
            return UINT32_MAX;
        const char *known = text + start[entry - 1];
        if (strncmp(known, name, length) == 0 && known[length] == '\0')
            return entry - 1;
    }
}

static void put(pbi_name_index *index, const char *name, uint32_t number)
{
    size_t at = first_slot(index, name, strlen(name));
    while (index->slot[at])
        at = (at + 1) & (index->slot_count - 1);
    index->slot[at] = number + 1;
}

/* Room for `need` names at half load, all slots empty. */
static bool resize(pbi_name_index *index, pb_arena *arena, size_t need)
{
    size_t count = index->slot_count ? index->slot_count : 64;
    while (count / 2 < need)
        count *= 2;
    uint32_t *slot = index->slot;
    slot = pbi_arena_grow(arena, slot, index->slot_count * sizeof *slot, count * sizeof *slot);
    if (!slot)
        return false;
    memset(slot, 0, count * sizeof *slot);
    index->slot = slot;
    index->slot_count = count;
    return true;
}

bool pbi_name_index_build(pbi_name_index *index, pb_arena *arena, const char *text, const uint64_t *start,
                          uint32_t count)
{
    if (!resize(index, arena, (size_t)count + 1))
        return false;
    for (uint32_t i = 0; i < count; i++)
        put(index, text + start[i], i);
    return true;
}

bool pbi_name_index_add(pbi_name_index *index, pb_arena *arena, const char *text, const uint64_t *start, uint32_t count)
{
    if (index->slot_count / 2 <= count && !pbi_name_index_build(index, arena, text, start, count))
        return false;
    put(index, text + start[count], count);
    return true;
}
