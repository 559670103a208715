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

typedef struct packer {
    pb_context *ctx;
    const pbi_places *p;
    const pb_pack_options *o;
    uint64_t unit;        /* sizes are multiples of it */
    uint64_t *offset;     /* by place: the best packing so far */
    uint64_t size, least; /* of the best packing, and its lower bound */
} packer;

static bool is_capped(const pb_pack_options *o) { return o->cap && o->cap != PB_UNLIMITED; }

static bool enough(const packer *k) { return k->size <= k->least || (is_capped(k->o) && k->size <= k->o->cap); }

static uint64_t size_of(const pbi_places *p, const uint64_t *offset)
{
    uint64_t size = 0;
    for (uint32_t v = 0; v < p->count; v++)
        size = offset[v] + p->size[v] > size ? offset[v] + p->size[v] : size;
    return size;
}

/* Between the lower bound and the current size. First tries the cap or the lower bound itself, then the middle between
 * `hope`, for which nothing was found, and the size. */
static pb_status search_smaller(packer *k)
{
    const pb_pack_options *o = k->o;
    uint64_t unit = k->unit, effort = o->effort ? o->effort : EFFORT, hope = k->least;
    uint64_t target = is_capped(o) && o->cap > hope ? o->cap / unit * unit : hope;
    pb_status status = PB_OK;
    while (status == PB_OK && effort && hope < k->size && !enough(k)) {
        pbi_packed found;
        uint64_t share = is_capped(o) ? effort : effort / 2 + 1;
        pbi_pack_goal goal = {.cap = target, .seed = o->seed, .effort = share};
        status = pbi_pack_search(k->ctx, k->p, &goal, k->offset, &found);
        effort -= share - goal.effort < effort ? share - goal.effort : effort;
        if (status != PB_OK)
            break;
        if (found == PBI_PACKED)
            k->size = size_of(k->p, k->offset);
        else
            hope = target + unit;
        if (found == PBI_PACK_NONE)
            k->least = target + unit;
        if (is_capped(o) && target >= o->cap / unit * unit)
            break; /* the cap was the only question */
        target = hope < k->size ? hope + (k->size - hope) / 2 / unit * unit : hope;
    }
    return status;
}

static pb_status pack_places(packer *k)
{
    k->size = UINT64_MAX;
    k->least = k->p->most_load;
    pb_status status = pbi_pack_along(k->ctx, k->p, k->offset, &k->size);
    if (status == PB_OK && k->p->count <= FEW && !enough(k))
        status = pbi_pack_greedy(k->ctx, k->p, k->offset, &k->size);
    if (status == PB_OK && k->p->count <= SEARCHED && !enough(k))
        status = search_smaller(k);
    return k->size < UINT64_MAX && status == PB_ECANCELLED ? PB_OK : status;
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
    packer k = {.ctx = ctx, .p = &p, .o = options, .unit = lives->align ? lives->align : 1};
    pb_arena_init(&scratch, ctx);
    uint64_t *offset = pb_arena_zero(result, lives->count, sizeof *offset);
    k.offset = pb_arena_zero(&scratch, lives->place_count, sizeof *k.offset);
    pb_status status = offset && k.offset ? pbi_places_make(ctx, lives, &scratch, &p) : PB_ENOMEM;
    if (status == PB_OK && lives->count)
        status = pack_places(&k);
    for (uint32_t i = 0; i < lives->count && status == PB_OK; i++)
        offset[i] = k.offset[lives->life[i].place];
    if (status == PB_OK && lives->count)
        put_first_lowest(lives, offset);
    if (status == PB_OK)
        *out = (pb_packing){offset, k.size, p.most_load, k.size <= k.least};
    pb_arena_release(&scratch);
    return status;
}
