/* name_index.c -- see name_index.h.
 *
 * Files that name nodes by number (n17, n18, ...) read them in sequence, so the hash sends names that differ in
 * their last character to neighbouring slots: ten of them cost one or two cache misses, not ten.
 */
#include "base/name_index.h"

#include "base/arena.h"

#include <string.h>

static uint32_t hash_of(const char *name, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u ^ length;
    for (size_t i = 0; i + 1 < length; i++)
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    uint32_t last = length ? (unsigned char)name[length - 1] : 0;
    return ((uint32_t)(h >> 32) & ~15u) + last;
}

uint32_t pbi_name_index_find(const pbi_name_index *index, const char *text, const uint64_t *start, const char *name,
                             size_t length)
{
    if (!index->slot_count)
        return UINT32_MAX;
    uint32_t hash = hash_of(name, length);
    for (size_t at = hash & (index->slot_count - 1);; at = (at + 1) & (index->slot_count - 1)) {
        pbi_name_slot slot = index->slot[at];
        if (!slot.entry)
            return UINT32_MAX;
        if (slot.hash != hash)
            continue;
        const char *known = text + start[slot.entry - 1];
        if (strncmp(known, name, length) == 0 && known[length] == '\0')
            return slot.entry - 1;
    }
}

static void put(pbi_name_index *index, const char *name, uint32_t number)
{
    uint32_t hash = hash_of(name, strlen(name));
    size_t at = hash & (index->slot_count - 1);
    while (index->slot[at].entry)
        at = (at + 1) & (index->slot_count - 1);
    index->slot[at] = (pbi_name_slot){number + 1, hash};
}

/* Room for `need` names at half load, all slots empty. */
static bool resize(pbi_name_index *index, pb_arena *arena, size_t need)
{
    size_t count = index->slot_count ? index->slot_count : 64;
    while (count / 2 < need)
        count *= 2;
    pbi_name_slot *slot = index->slot;
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
