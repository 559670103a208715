/* arena.c -- the only place that calls the allocator.
 *
 * Small pieces share chained blocks; a large piece has its own block, so that growing it can resize that block
 * instead of leaving an unused copy behind.
 */
#include "base/arena.h"

#include "base/context.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer a piece ends in bytes that must not be touched. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GUARD_BYTES = 16 };
static void guard(char *piece, size_t bytes, size_t whole)
{
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
    ASAN_POISON_MEMORY_REGION(piece + bytes, whole - bytes);
}
#else
enum { GUARD_BYTES = 0 };
static void guard(char *piece, size_t bytes, size_t whole)
{
    (void)piece;
    (void)bytes;
    (void)whole;
}
#endif

enum { BLOCK_BYTES = 1 << 16, LARGE_BYTES = 1 << 14 };

struct pb_block {
    struct pb_block *older, *newer; /* newer: only valid for neighbours of large blocks */
    size_t bytes;                   /* of the whole block */
    size_t used;                    /* header included */
};

static size_t rounded(size_t bytes) { return (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1); }

#define HEADER_BYTES ((sizeof(struct pb_block) + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1))

static void *standard_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)state;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_bytes);
}

void pb_context_init(pb_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->resize = standard_resize;
}

static struct pb_block *block_resize(pb_context *ctx, struct pb_block *old, size_t bytes)
{
    size_t old_bytes = old ? old->bytes : 0;
    if (bytes > old_bytes && ctx->memory_limit &&
        (ctx->memory_used > ctx->memory_limit || bytes - old_bytes > ctx->memory_limit - ctx->memory_used)) {
        pbi_fail(ctx, PB_ENOMEM, "the memory limit of %zu bytes is reached; raise it, or use a smaller graph",
                 ctx->memory_limit);
        return NULL;
    }
    struct pb_block *block = ctx->resize(ctx->allocator_state, old, old_bytes, bytes);
    if (!block) {
        pbi_fail(ctx, PB_ENOMEM, "out of memory: cannot allocate %zu more bytes" PBI_FREE_MEMORY, bytes - old_bytes);
        return NULL;
    }
    block->bytes = bytes;
    ctx->memory_used += bytes - old_bytes;
    if (ctx->memory_used > ctx->memory_peak)
        ctx->memory_peak = ctx->memory_used;
    return block;
}

static void block_push(pb_arena *arena, struct pb_block *block)
{
    block->older = arena->newest;
    block->newer = NULL;
    if (block->older)
        block->older->newer = block;
    arena->newest = block;
}

static void block_pop(pb_arena *arena)
{
    struct pb_block *block = arena->newest;
    arena->newest = block->older;
    if (block->older)
        block->older->newer = NULL;
    arena->ctx->memory_used -= block->bytes;
    arena->ctx->resize(arena->ctx->allocator_state, block, block->bytes, 0);
}

void pb_arena_init(pb_arena *arena, pb_context *ctx)
{
    arena->ctx = ctx;
    arena->newest = NULL;
}

void pb_arena_release(pb_arena *arena)
{
    while (arena->newest)
        block_pop(arena);
}

static void *alloc_bytes(pb_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * HEADER_BYTES) {
        pbi_fail(arena->ctx, PB_ENOMEM, "out of memory: cannot allocate %zu bytes" PBI_FREE_MEMORY, bytes);
        return NULL;
    }
    size_t asked = bytes;
    bytes = rounded(bytes ? bytes : 1);
    struct pb_block *block = arena->newest;
    bool large = bytes >= LARGE_BYTES;
    bytes += large ? 0 : GUARD_BYTES;
    if (large || !block || block->bytes - block->used < bytes) {
        block = block_resize(arena->ctx, NULL, HEADER_BYTES + (large ? bytes : BLOCK_BYTES - HEADER_BYTES));
        if (!block)
            return NULL;
        block->used = HEADER_BYTES;
        block_push(arena, block);
    }
    char *piece = (char *)block + block->used;
    block->used += bytes;
    if (!large)
        guard(piece, asked, bytes);
    return piece;
}

void *pb_arena_alloc(pb_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        pbi_fail(arena->ctx, PB_ENOMEM, "out of memory: cannot allocate %zu items of %zu bytes" PBI_FREE_MEMORY, count,
                 size);
        return NULL;
    }
    return alloc_bytes(arena, count * size);
}

void *pb_arena_zero(pb_arena *arena, size_t count, size_t size)
{
    void *piece = pb_arena_alloc(arena, count, size);
    if (piece)
        memset(piece, 0, count * size);
    return piece;
}

char *pb_arena_text(pb_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? pb_arena_alloc(arena, length + 1, 1) : NULL;
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

pbi_mark pbi_arena_mark(const pb_arena *arena)
{
    return (pbi_mark){arena->newest, arena->newest ? arena->newest->used : 0};
}

void pbi_arena_rewind(pb_arena *arena, pbi_mark mark)
{
    while (arena->newest != mark.newest)
        block_pop(arena);
    if (mark.newest)
        mark.newest->used = mark.used;
}

void pbi_arena_adopt(pb_arena *to, pb_arena *from)
{
    struct pb_block *oldest = from->newest;
    if (!oldest)
        return;
    while (oldest->older)
        oldest = oldest->older;
    oldest->older = to->newest;
    if (to->newest)
        to->newest->newer = oldest;
    to->newest = from->newest;
    from->newest = NULL;
}

void *pbi_arena_grow(pb_arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    if (!old || rounded(old_bytes) < LARGE_BYTES || new_bytes > SIZE_MAX - 2 * HEADER_BYTES) {
        void *piece = pb_arena_alloc(arena, new_bytes, 1);
        if (piece && old)
            memcpy(piece, old, old_bytes);
        return piece;
    }
    struct pb_block *block = (struct pb_block *)(void *)((char *)old - HEADER_BYTES);
    struct pb_block *moved = block_resize(arena->ctx, block, HEADER_BYTES + rounded(new_bytes));
    if (!moved)
        return NULL;
    moved->used = moved->bytes;
    if (moved->older)
        moved->older->newer = moved;
    if (moved->newer)
        moved->newer->older = moved;
    else
        arena->newest = moved;
    return (char *)moved + HEADER_BYTES;
}

bool pbi_arena_reserve(pb_arena *arena, void **items, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = *room < 8 ? 16 : *room + *room / 2;
    if (more < need)
        more = need;
    if (more > SIZE_MAX / 2 / size) {
        pbi_fail(arena->ctx, PB_ENOMEM, "out of memory: cannot allocate %zu items of %zu bytes" PBI_FREE_MEMORY, more,
                 size);
        return false;
    }
    void *grown = pbi_arena_grow(arena, *items, *room * size, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}
