/* traversal.c -- the stream: the whole tree once, then outputs and the work between them, piece by piece.
 *
 * The set-up goes from right to left: node 1 of the top level, then of the next, down to leaf 1; then leaf 0, and
 * from it up to the root. What is computed last is small, so that the first path, which is kept, and the work on it
 * take H + 1 slots.
 */
#include "hashtree/traversal_state.h"

#include "base/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const pbi_algorithm *algorithm;
    bool takes_k;
} kinds[PB_TRAVERSAL_COUNT] = {
    [PB_TRAVERSAL_DIRECT] = {"direct", &pbi_traversal_direct, false},
    [PB_TRAVERSAL_CLASSIC] = {"classic", &pbi_traversal_classic, false},
    [PB_TRAVERSAL_SZYDLO] = {"szydlo", &pbi_traversal_szydlo, false},
    [PB_TRAVERSAL_LAZY] = {"lazy", &pbi_traversal_lazy, true},
    [PB_TRAVERSAL_BDS] = {"bds", &pbi_traversal_bds, true},
    [PB_TRAVERSAL_FRACTAL] = {"fractal", &pbi_traversal_fractal, true},
};

const char *pb_traversal_name(pb_traversal_kind kind)
{
    return (unsigned)kind < PB_TRAVERSAL_COUNT ? kinds[kind].name : "unknown";
}

bool pb_traversal_takes_k(pb_traversal_kind kind) { return (unsigned)kind < PB_TRAVERSAL_COUNT && kinds[kind].takes_k; }

void pb_traversal_text(const pb_traversal_spec *spec, char text[PB_TRAVERSAL_TEXT])
{
    if (pb_traversal_takes_k(spec->kind))
        snprintf(text, PB_TRAVERSAL_TEXT, "%s:k=%u", pb_traversal_name(spec->kind), (unsigned)spec->k);
    else
        snprintf(text, PB_TRAVERSAL_TEXT, "%s", pb_traversal_name(spec->kind));
}

static uint32_t standard_k(uint32_t height) { return height % 2 ? 1 : height ? 2 : 0; }

pb_status pb_traversal_parse(pb_context *ctx, const char *text, uint32_t height, pb_traversal_spec *out)
{
    size_t length = strcspn(text, ":");
    int kind = 0;
    while (kind < PB_TRAVERSAL_COUNT && (strncmp(kinds[kind].name, text, length) != 0 || kinds[kind].name[length]))
        kind++;
    if (kind == PB_TRAVERSAL_COUNT)
        return pbi_fail(ctx, PB_EUNKNOWN,
                        "there is no traversal \"%.40s\"; choose direct, classic, szydlo, lazy, bds or fractal", text);
    pb_traversal_spec spec = {(pb_traversal_kind)kind, height, 0};
    if (kinds[kind].takes_k)
        spec.k = kind == PB_TRAVERSAL_FRACTAL ? pbi_fractal_usual_k(height) : standard_k(height);
    if (text[length]) {
        char *end = NULL;
        bool is_k = strncmp(text + length, ":k=", 3) == 0 && text[length + 3] >= '0' && text[length + 3] <= '9';
        unsigned long k = is_k ? strtoul(text + length + 3, &end, 10) : 0;
        if (!is_k || *end || !kinds[kind].takes_k || k > height)
            return pbi_fail(ctx, PB_EINVAL,
                            "\"%.40s\": only lazy, bds and fractal take k, as in bds:k=4, and at most the height",
                            text);
        spec.k = (uint32_t)k;
    }
    *out = spec;
    return PB_OK;
}

static pb_status check_spec(pb_context *ctx, const pb_traversal_spec *spec)
{
    if ((unsigned)spec->kind >= PB_TRAVERSAL_COUNT)
        return pbi_fail(ctx, PB_EINVAL, "there is no traversal number %d; use a pb_traversal_kind", (int)spec->kind);
    if (spec->height > PB_TRAVERSAL_MAX_HEIGHT)
        return pbi_fail(ctx, PB_ERANGE, "the tree has a height of %u; use at most %d", (unsigned)spec->height,
                        PB_TRAVERSAL_MAX_HEIGHT);
    if (spec->k > spec->height || spec->k > PB_TRAVERSAL_MAX_K || (spec->k && !pb_traversal_takes_k(spec->kind)))
        return pbi_fail(ctx, PB_ERANGE, "k is %u; only lazy, bds and fractal take it, up to the height and at most %d",
                        (unsigned)spec->k, PB_TRAVERSAL_MAX_K);
    return PB_OK;
}

pb_status pb_traversal_init(pb_context *ctx, const pb_traversal_spec *spec, pb_arena *arena, pb_traversal *out)
{
    pb_status status = check_spec(ctx, spec);
    if (status != PB_OK)
        return status;
    pbi_bands bands;
    pbi_fractal_divide(spec->height, spec->k, &bands);
    bool fractal = spec->kind == PB_TRAVERSAL_FRACTAL;
    size_t levels = (size_t)spec->height + 4, retained = fractal ? bands.stored + 1 : (size_t)1 << spec->k;
    pbi_traversal *s = pb_arena_zero(arena, 1, sizeof *s);
    uint32_t *free = pb_arena_alloc(arena, levels * levels + retained, sizeof *free);
    uint32_t *retain = pb_arena_alloc(arena, retained, sizeof *retain);
    if (!s || !free || !retain)
        return PB_ENOMEM;
    s->spec = *spec;
    s->height = spec->height;
    s->leaves = UINT64_C(1) << spec->height;
    s->free = free;
    s->retain = retain;
    s->bands = bands;
    for (uint32_t h = spec->height - spec->k, start = 0; h + 1 < spec->height; h++) {
        s->retain_start[h] = start;
        start += (UINT32_C(1) << (spec->height - h - 1)) - 1;
    }
    memset(s->keep, 0xff, sizeof s->keep);
    if (spec->height)
        pbi_treehash_begin(s, &s->build, (uint8_t)(spec->height - 1), 1);
    out->at = out->count = 0;
    out->state = s;
    out->path = s->auth;
    return PB_OK;
}

/* The node of two hashes in the set-up. Nodes that the traversal starts with are kept. Returns its slot. */
static uint32_t build_node(pbi_traversal *s, const pbi_algorithm *a, uint8_t level, uint64_t index, uint32_t left,
                           uint32_t right)
{
    bool left_stays = a->keeps(s, (uint8_t)(level - 1), 2 * index, left);
    bool right_stays = a->keeps(s, (uint8_t)(level - 1), 2 * index + 1, right);
    uint32_t slot = !left_stays ? left : !right_stays ? right : pbi_slot_take(s);
    pbi_put(s, (pb_hash_action){
                   .kind = PB_HASH_NODE, .level = level, .index = index, .slot = slot, .left = left, .right = right});
    if (!right_stays && slot != right)
        pbi_slot_free(s, right);
    return slot;
}

/* One leaf of the subtree that is built, and the hashes that follow from it. */
static void build_leaf(pbi_traversal *s, const pbi_algorithm *a)
{
    pbi_treehash *b = &s->build;
    pbi_tail top = {pbi_slot_take(s), 0};
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_LEAF, .slot = top.slot, .index = b->leaf++});
    for (; b->count && b->tail[b->count - 1].level == top.level; b->count--) {
        top.level++;
        top.slot = build_node(s, a, top.level, (b->leaf >> top.level) - 1, b->tail[b->count - 1].slot, top.slot);
    }
    b->tail[b->count++] = top;
    if (top.level < b->target)
        return;
    a->keeps(s, b->target, 1, top.slot);
    if (b->target)
        pbi_treehash_begin(s, b, (uint8_t)(b->target - 1), 1);
    else
        b->busy = false;
}

/* Node 1 of every level is computed: leaf 0, and up to the root. */
static void build_spine(pbi_traversal *s, const pbi_algorithm *a)
{
    uint32_t slot = pbi_slot_take(s);
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_LEAF, .slot = slot, .index = 0});
    for (uint32_t h = 0; h < s->height; h++)
        slot = build_node(s, a, (uint8_t)(h + 1), 0, slot, s->auth[h]);
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_ROOT, .slot = slot, .level = (uint8_t)s->height});
    s->free[s->free_count++] = slot;
    s->phase = PBI_OUTPUT;
}

static void output(pbi_traversal *s)
{
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_PATH, .index = s->next++});
    s->phase = s->next < s->leaves ? PBI_UPDATE : PBI_OVER;
}

bool pb_traversal_fill(pb_traversal *t)
{
    pbi_traversal *s = t->state;
    const pbi_algorithm *a = kinds[s->spec.kind].algorithm;
    t->at = t->count = 0;
    s->t = t; /* the caller may have moved it */
    switch (s->phase) {
    case PBI_BUILD:
        if (s->build.busy)
            build_leaf(s, a);
        else
            build_spine(s, a);
        return true;
    case PBI_UPDATE:
        a->update(s);
        s->phase = PBI_WORK;
        return true;
    case PBI_WORK:
        if (s->todo) {
            s->todo--;
            a->work(s);
        } else {
            output(s);
        }
        return true;
    case PBI_OUTPUT: output(s); return true;
    default: return false;
    }
}
