/* pack.c -- see pack.h: quick packings first, then a search for smaller ones.
 *
 * The largest sum of sizes at any time is a lower bound. If quick packings do not reach it, the search tries this size,
 * and then sizes between the largest one proved too small and the best one found.
 */
#include "pebble/pack.h"

#include "base/context.h"
#include "pack/pack_parts.h"

#include <string.h>

enum { FEW = 4000, /* places that greedy methods may compare pairwise */ SEARCHED = 4000 };
#define EFFORT 2000000000u

static bool is_capped(const pb_pack_options *o) { return o->cap && o->cap != PB_UNLIMITED; }

static bool enough(const pb_pack_options *o, uint64_t size, uint64_t least)
{
    return size <= least || (is_capped(o) && size <= o->cap);
}

static uint64_t size_of(const pbi_places *p, const uint64_t *offset)
{
    uint64_t size = 0;
    for (uint32_t v = 0; v < p->count; v++)
        size = offset[v] + p->size[v] > size ? offset[v] + p->size[v] : size;
    return size;
}

/* Between *least, the lower bound, and the current size. First tries the cap or the lower bound itself, then the
 * middle between `hope`, for which nothing was found, and the size. */
static pb_status search_smaller(pb_context *ctx, const pbi_places *p, const pb_pack_options *o, uint64_t unit,
                                uint64_t *offset, uint64_t *size, uint64_t *least)
{
    uint64_t effort = o->effort ? o->effort : EFFORT, hope = *least;
    uint64_t target = is_capped(o) && o->cap > hope ? o->cap / unit * unit : hope;
    pb_status status = PB_OK;
    while (status == PB_OK && effort && hope < *size && !enough(o, *size, *least)) {
        pbi_packed found;
        uint64_t share = is_capped(o) ? effort : effort / 2 + 1, left = share;
        status = pbi_pack_search(ctx, p, target, o->seed, &left, offset, &found);
        effort -= share - left < effort ? share - left : effort;
        if (status != PB_OK)
            break;
        if (found == PBI_PACKED)
            *size = size_of(p, offset);
        else
            hope = target + unit;
        if (found == PBI_PACK_NONE)
            *least = target + unit;
        if (is_capped(o) && target >= o->cap / unit * unit)
            break; /* the cap was the only question */
        target = hope < *size ? hope + (*size - hope) / 2 / unit * unit : hope;
    }
    return status;
}

static pb_status pack_places(pb_context *ctx, const pbi_places *p, const pb_pack_options *o, uint64_t unit,
                             uint64_t *offset, uint64_t *size, uint64_t *least)
{
    *size = UINT64_MAX;
    *least = p->most_load;
    pb_status status = pbi_pack_along(ctx, p, offset, size);
    if (status == PB_OK && p->count <= FEW && !enough(o, *size, *least))
        status = pbi_pack_greedy(ctx, p, offset, size);
    if (status == PB_OK && p->count <= SEARCHED && !enough(o, *size, *least))
        status = search_smaller(ctx, p, o, unit, offset, size, least);
    return *size < UINT64_MAX && status == PB_ECANCELLED ? PB_OK : status;
}

/* What is in use at all times can be below everything else. */
static void put_first_lowest(const pb_lifetimes *lives, uint64_t *offset)
{
    const pb_lifetime *life = lives->life;
    uint64_t from = life[0].from, to = life[0].to, at = offset[0];
    for (uint32_t i = 1; i < lives->count; i++)
        if (life[i].from < from || life[i].to > to || life[i].place == life[0].place)
            return;
    for (uint32_t i = 0; i < lives->count; i++)
        if (offset[i] < at)
            offset[i] += life[0].size;
    offset[0] = 0;
}

pb_status pb_pack(pb_context *ctx, const pb_lifetimes *lives, const pb_pack_options *options, pb_arena *result,
                  pb_packing *out)
{
    pb_arena scratch;
    pbi_places p;
    uint64_t size = 0, least = 0;
    pb_arena_init(&scratch, ctx);
    uint64_t *offset = pb_arena_zero(result, lives->count, sizeof *offset);
    uint64_t *by_place = pb_arena_zero(&scratch, lives->place_count, sizeof *by_place);
    pb_status status = offset && by_place ? pbi_places_make(ctx, lives, &scratch, &p) : PB_ENOMEM;
    if (status == PB_OK && lives->count)
        status = pack_places(ctx, &p, options, lives->align ? lives->align : 1, by_place, &size, &least);
    for (uint32_t i = 0; i < lives->count && status == PB_OK; i++)
        offset[i] = by_place[lives->life[i].place];
    if (status == PB_OK && lives->count)
        put_first_lowest(lives, offset);
    if (status == PB_OK)
        *out = (pb_packing){offset, size, p.most_load, size <= least};
    pb_arena_release(&scratch);
    return status;
}
