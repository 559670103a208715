/* traversal_measure.c -- replays a stream and counts. It tracks the content of each slot, and does not depend on how
 * the stream is made. */
#include "pebble/hashtree.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>

/* The content of a slot; level EMPTY: nothing. */
typedef struct held {
    uint64_t index;
    uint8_t level;
} held;
enum { EMPTY = 255 };

typedef struct replay {
    pb_context *ctx;
    pb_arena arena;
    uint32_t height;
    pb_traversal_prices prices;
    held *slot;
    size_t room;
    uint64_t stored;
    uint64_t outputs;
    uint64_t leaves, hashes; /* since the last output */
    bool published;
    pb_traversal_figures f;
} replay;

static pb_status wrong(replay *r, const pb_hash_action *a, const char *what)
{
    return pbi_fail(r->ctx, PB_EBUG, "before path %" PRIu64 ": %s (level %u, index %" PRIu64 ", slot %u)", r->outputs,
                    what, (unsigned)a->level, a->index, (unsigned)a->slot);
}

static bool is(const replay *r, uint32_t slot, unsigned level, uint64_t index)
{
    return slot < r->f.slots && r->slot[slot].level == level && r->slot[slot].index == index;
}

static pb_status reserve(replay *r, uint32_t slot)
{
    void *items = r->slot;
    if (!pbi_arena_reserve(&r->arena, &items, &r->room, (size_t)slot + 1, sizeof *r->slot))
        return PB_ENOMEM;
    r->slot = items;
    for (; r->f.slots <= slot; r->f.slots++)
        r->slot[r->f.slots].level = EMPTY;
    return PB_OK;
}

static pb_status write_slot(replay *r, const pb_hash_action *a)
{
    pb_status status = a->slot >= r->f.slots ? reserve(r, a->slot) : PB_OK;
    if (status != PB_OK)
        return status;
    r->stored += r->slot[a->slot].level == EMPTY;
    r->slot[a->slot] = (held){a->index, a->level};
    uint64_t *most = r->outputs ? &r->f.storage : &r->f.setup_storage;
    *most = r->stored > *most ? r->stored : *most;
    return PB_OK;
}

static pb_status hash(replay *r, const pb_hash_action *a)
{
    if (!a->level || !is(r, a->left, a->level - 1u, 2 * a->index) || !is(r, a->right, a->level - 1u, 2 * a->index + 1))
        return wrong(r, a, "a hash of other nodes than its children");
    bool over = a->slot == a->left || a->slot == a->right;
    if (!over && a->slot < r->f.slots && r->slot[a->slot].level != EMPTY)
        return wrong(r, a, "a hash over another that was not freed");
    r->hashes++;
    return write_slot(r, a);
}

static pb_status leaf(replay *r, const pb_hash_action *a)
{
    if (a->index >> r->height)
        return wrong(r, a, "there is no such leaf");
    if (a->slot < r->f.slots && r->slot[a->slot].level != EMPTY)
        return wrong(r, a, "a leaf over a hash that was not freed");
    r->leaves++;
    return write_slot(r, a);
}

static pb_status empty(replay *r, const pb_hash_action *a)
{
    if (a->slot >= r->f.slots || r->slot[a->slot].level == EMPTY)
        return wrong(r, a, "a free slot is freed");
    r->slot[a->slot].level = EMPTY;
    r->stored--;
    return PB_OK;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static pb_status output(replay *r, const pb_hash_action *a, const uint32_t *path)
{
    pb_traversal_figures *f = &r->f;
    uint64_t work, part;
    if (a->index != r->outputs || !r->published)
        return wrong(r, a, "a path out of turn");
    for (uint32_t h = 0; h < r->height; h++)
        if (!is(r, path[h], h, a->index >> h ^ 1))
            return wrong(r, a, "a path with a wrong hash");
    if (r->outputs++ > 0) {
        f->leaves += r->leaves;
        f->hashes += r->hashes;
        f->leaves_max = larger(f->leaves_max, r->leaves);
        f->hashes_max = larger(f->hashes_max, r->hashes);
        f->units_max = larger(f->units_max, r->leaves + r->hashes);
        if (!pbi_mul(r->leaves, r->prices.leaf, &work) || !pbi_mul(r->hashes, r->prices.hash, &part) ||
            !pbi_add(work, part, &work) || !pbi_add(f->work, work, &f->work))
            return pbi_fail(r->ctx, PB_ERANGE, "the work of the traversal exceeds 2^64; use a smaller height");
        f->work_max = larger(f->work_max, work);
    }
    f->storage = larger(f->storage, r->stored);
    r->leaves = r->hashes = 0;
    return r->outputs % 0x4000 ? PB_OK : pbi_poll(r->ctx);
}

static pb_status step(replay *r, const pb_hash_action *a, const uint32_t *path)
{
    switch (a->kind) {
    case PB_HASH_LEAF: return leaf(r, a);
    case PB_HASH_NODE: return hash(r, a);
    case PB_HASH_FREE: return empty(r, a);
    case PB_HASH_PATH: return output(r, a, path);
    case PB_HASH_ROOT:
        r->published = is(r, a->slot, r->height, 0);
        return r->published ? empty(r, a) : wrong(r, a, "the root is not in its slot");
    default: return wrong(r, a, "an unknown action");
    }
}

pb_status pb_traversal_measure(pb_context *ctx, const pb_traversal_spec *spec, pb_traversal_prices prices,
                               pb_traversal_figures *out)
{
    pb_traversal t;
    pb_hash_action a;
    replay r = {.ctx = ctx, .height = spec->height, .prices = prices};
    pb_arena_init(&r.arena, ctx);
    pb_status status = pb_traversal_init(ctx, spec, &r.arena, &t);
    while (status == PB_OK && pb_traversal_next(&t, &a))
        status = step(&r, &a, t.path);
    if (status == PB_OK && r.outputs != UINT64_C(1) << spec->height)
        status = pbi_fail(ctx, PB_EBUG, "the stream ended after %" PRIu64 " paths", r.outputs);
    pb_arena_release(&r.arena);
    r.f.outputs = r.outputs;
    if (status == PB_OK)
        *out = r.f;
    return status;
}
