/* emit.h -- a played script as moves with addresses. */
#ifndef PBI_PLAN_PLACED_EMIT_H
#define PBI_PLAN_PLACED_EMIT_H

#include "plan/placed/placed.h"
#include "plan/placed/placer.h"

/* What is used of a replay. */
typedef struct pbi_emitter {
    uint8_t *needed;    /* by node: the copy in memory is read later */
    uint8_t *entry_use; /* by entry: PBI_USED, and PBI_UNREAD if nothing reads its value */
    uint8_t *part_use;  /* likewise by by-product */
    uint32_t *first;    /* by node: its first entry */
    uint64_t work;      /* of the entries in use */
    size_t reads;       /* how many inputs they have */
    uint8_t *last_read; /* NULL, or room for all inputs of all entries: this one is the last read. Filled backwards. */
} pbi_emitter;

enum { PBI_USED = 1, PBI_UNREAD = 2 };

pb_status pbi_emitter_init(pbi_emitter *m, const pbi_placer *r, pb_arena *arena);
/* The moves of the entries whose results are used. */
pb_status pbi_emitter_write(pb_context *ctx, pbi_emitter *m, const pbi_placer *r, pb_arena *result, pbi_placed *out);

#endif
