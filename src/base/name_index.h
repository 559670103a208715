/* name_index.h -- maps names to numbers; the names are in one text, each ended by NUL. */
#ifndef PBI_NAME_INDEX_H
#define PBI_NAME_INDEX_H

#include "pebble/base.h"

typedef struct pbi_name_slot {
    uint32_t entry; /* number + 1, 0 is empty */
    uint32_t hash;
} pbi_name_slot;

/* Name i is text + start[i]; the owner of the names may move them, so every call takes their address. */
typedef struct pbi_name_index {
    pbi_name_slot *slot; /* open addressing */
    size_t slot_count;
} pbi_name_index;

/* UINT32_MAX if there is no such name; `name` must not contain NUL. */
uint32_t pbi_name_index_find(const pbi_name_index *index, const char *text, const uint64_t *start, const char *name,
                             size_t length);
/* Indexes the first `count` names. They are not compared: of equal names the first is found. */
bool pbi_name_index_build(pbi_name_index *index, pb_arena *arena, const char *text, const uint64_t *start,
                          uint32_t count);
/* Adds name number `count`, which is not in the index yet, to an index of the first `count` names. */
bool pbi_name_index_add(pbi_name_index *index, pb_arena *arena, const char *text, const uint64_t *start,
                        uint32_t count);

#endif
