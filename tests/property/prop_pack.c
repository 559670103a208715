/* prop_pack.c -- addresses: the least ones against a search over all offsets, and lifetimes of plans against the verifier. */
#include "pack/pack_search.h"
#include "pebble/api.h"
#include "pebble/pack.h"
#include "support/law.h"
#include "support/life_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned good_sets, bad_sets;

static void complain(uint64_t seed, const char *what, uint64_t is, uint64_t should)
{
    printf("FAILED seed %" PRIu64 ": %s: %" PRIu64 ", not %" PRIu64 "\n", seed, what, is, should);
    bad_sets++;
}

/* NULL, or what is wrong with a packing, whatever it claims. */
static const char *fault(pb_context *ctx, const pb_lifetimes *lives, const pb_packing *packing)
{
    bool good;
    uint32_t a, b;
    if (pb_packing_check(ctx, lives, packing, &good, &a, &b) != PB_OK)
        return "the check failed";
    if (!good)
        return "lifetimes overlap";
    if (packing->lower_bound != life_set_load(lives))
        return "the lower bound is not the largest sum";
    return packing->size < packing->lower_bound ? "the size is below the lower bound" : NULL;
}

/* All sizes below the least one must not be found, and none from there on be called impossible. */
static bool search_is_right(pb_context *ctx, const pb_lifetimes *lives, uint64_t least, pb_arena *arena)
{
    pbi_places p;
    uint64_t offset[LIFE_SET_MAX];
    if (pbi_places_make(ctx, lives, arena, &p) != PB_OK)
        return false;
    for (uint64_t cap = 0; cap < least + 3 * lives->align; cap += lives->align) {
        pbi_packed found;
        pbi_pack_goal goal = {.cap = cap, .seed = cap, .effort = 100000000};
        if (pbi_pack_search(ctx, &p, &goal, offset, &found) != PB_OK)
            return false;
        if (found != (cap < least ? PBI_PACK_NONE : PBI_PACKED))
            return false;
    }
    return true;
}

static void check_set(uint64_t seed)
{
    pb_context ctx;
    pb_arena arena;
    pb_packing packing;
    life_set set;
    life_set_random(seed, 1 + (uint32_t)(seed % 6), 3 + (uint32_t)(seed / 6 % 9), 5, &set);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    uint64_t least = life_set_least(&set.lives);
    pb_status status = pb_pack(&ctx, &set.lives, &(pb_pack_options){.seed = seed}, &arena, &packing);
    const char *wrong = status == PB_OK ? fault(&ctx, &set.lives, &packing) : ctx.error.message;
    if (wrong)
        complain(seed, wrong, (uint64_t)status, 0);
    else if (!packing.minimal || packing.size != least)
        complain(seed, packing.minimal ? "called least" : "not called least", packing.size, least);
    else if (!search_is_right(&ctx, &set.lives, least, &arena))
        complain(seed, "the search is wrong about some size", 0, least);
    else
        good_sets++;
    pb_arena_release(&arena);
}

/* Sets that are too large for the exhaustive search: what is packed is right, and the same again. */
static void check_large_set(uint64_t seed)
{
    pb_context ctx;
    pb_arena arena;
    pb_packing packing, again;
    life_set set;
    pb_pack_options options = {.seed = seed, .effort = 1000000};
    life_set_random(seed, 7 + (uint32_t)(seed % 20), 4 + (uint32_t)(seed / 20 % 30), 40, &set);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_status status = pb_pack(&ctx, &set.lives, &options, &arena, &packing);
    const char *wrong = status == PB_OK ? fault(&ctx, &set.lives, &packing) : ctx.error.message;
    if (!wrong && (pb_pack(&ctx, &set.lives, &options, &arena, &again) != PB_OK ||
                   memcmp(packing.offset, again.offset, set.lives.count * sizeof *again.offset) != 0))
        wrong = "another packing the second time";
    options.cap = packing.size;
    if (!wrong && (pb_pack(&ctx, &set.lives, &options, &arena, &again) != PB_OK || again.size > packing.size))
        wrong = "what was found without a cap is not found with it";
    if (wrong)
        complain(seed, wrong, 0, 0);
    else
        good_sets++;
    pb_arena_release(&arena);
}

/* Sets that were cut from a block fit into it: nothing that is inferred on the way may say otherwise. */
static void check_cut_set(uint64_t seed, unsigned *open)
{
    pb_context ctx;
    pb_arena arena;
    pbi_places p;
    pbi_packed found = PBI_PACK_NONE;
    uint64_t offset[LIFE_SET_MAX], size = 6 + seed / 11 % 20;
    pbi_pack_goal goal = {.cap = size, .seed = seed, .effort = 2000000};
    life_set set;
    life_set_cut(seed, 4 + (uint32_t)(seed % 17), 4 + seed / 7 % 12, size, &set);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pbi_places_make(&ctx, &set.lives, &arena, &p) != PB_OK ||
        pbi_pack_search(&ctx, &p, &goal, offset, &found) != PB_OK)
        complain(seed, ctx.error.message, 0, 0);
    else if (found == PBI_PACK_NONE)
        complain(seed, "what was cut from a block is said not to fit into it", 0, size);
    else
        good_sets++;
    *open += found == PBI_PACK_UNKNOWN;
    pb_arena_release(&arena);
}

typedef struct walk {
    pbi_places p;
    pbi_pack_tables tables;
    uint32_t order[LIFE_SET_MAX], rank[LIFE_SET_MAX];
    uint8_t placed[LIFE_SET_MAX], late[LIFE_SET_MAX];
    uint64_t rest[LIFE_SET_MAX], low[LIFE_SET_MAX], to_come[4 * LIFE_SET_MAX], conflicts[4 * LIFE_SET_MAX];
} walk;

/* The place that comes next in the order of offsets and ranks, or PBI_NO_PLACE. */
static uint32_t next_by_offset(const walk *w, const uint64_t *offset)
{
    uint32_t best = PBI_NO_PLACE;
    for (uint32_t i = 0; i < w->p.count; i++) {
        uint32_t v = w->order[i];
        if (!w->placed[v] && (best == PBI_NO_PLACE || offset[v] < offset[best]))
            best = v;
    }
    return best;
}

static void put(walk *w, uint32_t v, uint64_t at)
{
    const pbi_places *p = &w->p;
    w->placed[v] = true;
    for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++)
        for (uint32_t k = p->piece[i].from; k < p->piece[i].to; k++)
            w->to_come[k] -= p->piece[i].size;
    for (uint32_t k = w->tables.neighbour_start[v]; k < w->tables.neighbour_start[v + 1]; k++) {
        const pbi_neighbour *b = &w->tables.neighbour[k];
        if (!w->placed[b->place] && w->rest[b->place] < at + b->over)
            w->rest[b->place] = at + b->over;
    }
}

/* NULL, or what the search would have cut off on its way to this packing. */
static const char *follow(walk *w, const uint64_t *offset, uint64_t cap)
{
    uint32_t left[LIFE_SET_MAX], v;
    pbi_pack_state s = {.p = &w->p,
                        .t = &w->tables,
                        .cap = cap,
                        .order = w->order,
                        .rank = w->rank,
                        .placed = w->placed,
                        .late = w->late,
                        .support = w->rest,
                        .low = w->low,
                        .to_come = w->to_come,
                        .conflicts = w->conflicts};
    while ((v = next_by_offset(w, offset)) != PBI_NO_PLACE) {
        pbi_pack_part part = {left, 0, 0, w->p.section_count, offset[v], w->rank[v] + 1};
        if (w->rest[v] != offset[v])
            return "the lowest packing has a place that does not rest";
        put(w, v, offset[v]);
        for (uint32_t i = 0; i < w->p.count; i++)
            if (!w->placed[w->order[i]])
                left[part.count++] = w->order[i];
        if (!pbi_pack_can_fit(&s, &part))
            return "the way to the lowest packing is cut off";
    }
    return NULL;
}

/* What is inferred on the way to the packing with the least sum of offsets never rules it out, whatever the order. */
static void check_inference(uint64_t seed)
{
    pb_context ctx;
    pb_arena arena;
    life_set set;
    walk w = {0};
    bool fit = true;
    uint64_t offset[LIFE_SET_MAX];
    pbi_rng rng = {seed};
    life_set_random(seed, 2 + (uint32_t)(seed % 4), 3 + (uint32_t)(seed / 4 % 7), 4, &set);
    uint64_t cap = life_set_least(&set.lives) + seed / 28 % 2 * set.lives.align;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (!life_set_lowest(&set.lives, cap, offset) || pbi_places_make(&ctx, &set.lives, &arena, &w.p) != PB_OK ||
        pbi_pack_tables_make(&ctx, &w.p, &arena, &w.tables, &fit) != PB_OK || !fit) {
        complain(seed, "not made", 0, 0);
    } else {
        memcpy(w.to_come, w.p.load, w.p.section_count * sizeof *w.to_come);
        for (uint32_t i = 0; i < w.p.count; i++) {
            uint32_t k = (uint32_t)pbi_rng_below(&rng, i + 1);
            w.order[i] = w.order[k];
            w.order[k] = i;
            w.placed[i] = !w.p.size[i];
        }
        for (uint32_t i = 0; i < w.p.count; i++)
            w.rank[w.order[i]] = i;
        const char *wrong = follow(&w, offset, cap);
        if (wrong)
            complain(seed, wrong, 0, cap);
        else
            good_sets++;
    }
    pb_arena_release(&arena);
}

/* ---- lifetimes of plans ---- */

/* By place, as what is made over another value is in its memory. */
static uint64_t memory_at(const pb_lifetimes *lives, uint64_t time, uint64_t *by_place)
{
    uint64_t sum = 0;
    memset(by_place, 0, lives->place_count * sizeof *by_place);
    for (uint32_t i = 0; i < lives->count; i++) {
        const pb_lifetime *l = &lives->life[i];
        if (l->from <= time && time < l->to && l->size > by_place[l->place])
            by_place[l->place] = l->size;
    }
    for (uint32_t v = 0; v < lives->place_count; v++)
        sum += by_place[v];
    return sum;
}

static bool lives_differ(law_bench *b, const pb_plan_result *p)
{
    const pb_totals *totals = pb_certificate_totals(p->certificate);
    const pb_moves *moves = &p->schedule.moves;
    pb_lifetimes lives;
    pb_packing packing;
    uint64_t *during;
    bool good;
    uint32_t x, y;
    if (pb_lifetimes_make(&b->ctx, p->game, moves, 1, &b->arena, &lives) != PB_OK ||
        pb_profile_moves(&b->ctx, p->certificate, &b->arena, &during) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    uint64_t *by_place = pb_arena_alloc(&b->arena, lives.place_count, sizeof *by_place);
    if (!by_place)
        return law_broken(b, "no memory");
    for (pb_step k = 0; k < moves->count; k++)
        if (memory_at(&lives, k + 1, by_place) != during[k])
            return law_broken(b, "%s: move %" PRIu64 " has %" PRIu64 ", the verifier says %" PRIu64,
                              p->schedule.strategy, k, memory_at(&lives, k + 1, by_place), during[k]);
    if (memory_at(&lives, 0, by_place) != totals->start_memory ||
        memory_at(&lives, moves->count + 1, by_place) != totals->end_memory)
        return law_broken(b, "start or end differ");
    if (pb_pack(&b->ctx, &lives, &(pb_pack_options){.seed = 1, .effort = 1000000}, &b->arena, &packing) != PB_OK ||
        pb_packing_check(&b->ctx, &lives, &packing, &good, &x, &y) != PB_OK || !good)
        return law_broken(b, "not packed: %s", b->ctx.error.message);
    if (packing.lower_bound != totals->peak)
        return law_broken(b, "the lower bound is %" PRIu64 ", the peak %" PRIu64, packing.lower_bound, totals->peak);
    if (b->game.graph->fixed_size && packing.offset[0])
        return law_broken(b, "fixed memory is not at offset 0");
    return false;
}

static bool plans_differ(law_bench *b)
{
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t i = 0; i < rows; i++) {
        pb_plan_result planned;
        pb_request request = {.strategy = row[i].name, .seed = 1};
        if (!(row[i].games & b->game.kind) || (i + b->small->seed) % 5)
            continue;
        b->ctx.tick_limit = 5000;
        b->ctx.ticks = 0;
        if (pb_plan(&b->ctx, &b->game, &request, &b->arena, &planned) == PB_OK && planned.certificate &&
            lives_differ(b, &planned))
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 4000);
    for (uint64_t seed = 1; seed <= cases && bad_sets < 3; seed++)
        check_set(seed);
    for (uint64_t seed = 1; seed <= cases / 4 && bad_sets < 3; seed++)
        check_large_set(seed);
    for (uint64_t seed = 1; seed <= cases && bad_sets < 3; seed++)
        check_inference(seed);
    unsigned open = 0;
    for (uint64_t seed = 1; seed <= 5 * cases && bad_sets < 3; seed++)
        check_cut_set(seed, &open);
    printf("%u sets packed, %u of them left open, %u wrong\n", good_sets, open, bad_sets);
    law_run_large("lifetimes sum up to the verifier's memory", plans_differ, PB_GAME_ALL, cases / 4);
    return law_finish() || bad_sets;
}
