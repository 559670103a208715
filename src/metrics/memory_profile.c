/* memory_profile.c -- memory over time of a certified schedule. */
#include "pebble/metrics.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "game/untimed.h"

/* Memory of a legal schedule, move by move: only sizes are tracked. */
typedef struct tape {
    const pb_game *game;
    const pb_moves *moves;
    uint64_t fast, slow;
} tape;

typedef struct tick {
    uint64_t cost, fast, slow; /* during the move */
} tick;

enum { ABSENT, OWN, BORROWED };

/* `resident`: one byte per node, so that a computation for by-products alone, or in borrowed memory, adds no value. */
static tick step(tape *t, pb_step k, uint8_t *resident)
{
    const pb_graph *g = t->game->graph;
    const pb_move *move = &t->moves->move[k];
    pb_node v = move->node, over;
    const pb_tier *tier = move->tier ? &t->game->tiers[move->tier - 1] : NULL;
    uint64_t size = g->size[v];
    tick now = {0, t->fast, t->slow};
    switch (move->op) {
    case PB_COMPUTE: {
        uint64_t made = resident[v] ? 0 : size, taken = 0;
        uint32_t count;
        const pb_node *also = pb_moves_also(t->moves, k, &count);
        over = pb_moves_over(t->moves, k);
        if (over != PB_NO_NODE) {
            taken = g->size[over];
            resident[over] = ABSENT;
        }
        uint64_t saved = made < taken ? made : taken;
        for (uint32_t i = 0; i < count; i++) {
            made += g->size[also[i]];
            resident[also[i]] = OWN;
        }
        if (move->flags & PB_MOVE_BORROW) { /* no other flags, and the value is not resident */
            resident[v] = BORROWED;
            made = 0;
        } else if (!resident[v]) {
            resident[v] = OWN;
        }
        pb_way way = pb_graph_way(g, v, move->by);
        now.cost = way.cost;
        now.fast = t->fast + made - saved + way.workspace;
        t->fast = t->fast + made - taken;
        break;
    }
    case PB_UNCOMPUTE:
        now.cost = g->cost[v];
        now.fast += g->workspace[v];
        t->fast -= resident[v] == BORROWED ? 0 : size;
        resident[v] = ABSENT;
        break;
    case PB_FREE:
        t->fast -= size;
        resident[v] = ABSENT;
        break;
    case PB_STORE:
        now.cost = pbi_store_price(tier, size);
        t->slow += size;
        now.slow = t->slow;
        break;
    case PB_LOAD:
        now.cost = pbi_load_price(tier, size);
        t->fast += size;
        now.fast = t->fast;
        resident[v] = 1;
        break;
    default: t->slow -= size;
    }
    return now;
}

static tape tape_start(const pb_certificate *c, uint8_t *resident)
{
    const pb_game *game = pb_certificate_game(c);
    const pb_graph *g = game->graph;
    tape t = {game, pb_certificate_moves(c), pb_certificate_totals(c)->start_memory, 0};
    for (pb_node v = 0; v < g->node_count; v++) {
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW;
        resident[v] = (g->flags[v] & PB_NODE_GIVEN) && !slow;
        t.slow += slow && game->kind == PB_GAME_TIERED ? g->size[v] : 0;
    }
    return t;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The index of the part, of `parts`, that contains position `at` of `length`; with `before`, just before it. */
static uint32_t part_of(uint64_t at, uint64_t length, uint32_t parts, bool before)
{
    uint64_t part;
    pb_u128 scaled = pbi_u128_product(at, parts);
    if (!length)
        return 0;
    if (before && !scaled.high && !scaled.low)
        return 0;
    if (!scaled.high)
        part = (scaled.low - before) / length;
    else
        part = (uint64_t)((double)at / (double)length * parts);
    return part < parts ? (uint32_t)part : parts - 1;
}

pb_status pb_profile_make(pb_context *ctx, const pb_certificate *c, pb_axis axis, uint32_t bucket_count,
                          pb_arena *result, pb_profile *out)
{
    const pb_totals *totals = pb_certificate_totals(c);
    pb_status untimed = pbi_untimed(ctx, pb_certificate_game(c), "memory over time");
    if (untimed != PB_OK)
        return untimed;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint8_t *resident = pb_arena_alloc(&scratch, pb_certificate_game(c)->graph->node_count, 1);
    pb_profile p = {.bucket_count = bucket_count};
    p.fast = pb_arena_zero(result, bucket_count, sizeof *p.fast);
    p.slow = pb_arena_zero(result, bucket_count, sizeof *p.slow);
    if (!resident || !p.fast || !p.slow || !bucket_count) {
        pb_arena_release(&scratch);
        return bucket_count ? PB_ENOMEM : pbi_fail(ctx, PB_EINVAL, "a profile needs at least one part; ask for more");
    }
    tape t = tape_start(c, resident);
    uint64_t moves = t.moves->count;
    p.length = axis == PB_AXIS_MOVES ? moves : totals->compute_work + totals->uncompute_work + totals->io;
    uint64_t at = 0;
    p.fast[0] = t.fast;
    p.slow[0] = t.slow;
    for (pb_step k = 0; k < moves; k++) {
        tick now = step(&t, k, resident);
        uint32_t first = part_of(at, p.length, bucket_count, false);
        at += axis == PB_AXIS_MOVES ? 1 : now.cost;
        uint32_t last = part_of(at, p.length, bucket_count, true);
        for (uint32_t i = first; i <= (last > first ? last : first); i++) {
            p.fast[i] = most(p.fast[i], now.fast);
            p.slow[i] = most(p.slow[i], now.slow);
        }
    }
    pb_arena_release(&scratch);
    *out = p;
    return PB_OK;
}

pb_status pb_profile_moves(pb_context *ctx, const pb_certificate *c, pb_arena *result, uint64_t **out)
{
    pb_status untimed = pbi_untimed(ctx, pb_certificate_game(c), "memory by move");
    if (untimed != PB_OK)
        return untimed;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint8_t *resident = pb_arena_alloc(&scratch, pb_certificate_game(c)->graph->node_count, 1);
    uint64_t *memory = pb_arena_alloc(result, (size_t)pb_certificate_moves(c)->count, sizeof *memory);
    if (!resident || !memory) {
        pb_arena_release(&scratch);
        return PB_ENOMEM;
    }
    tape t = tape_start(c, resident);
    for (pb_step k = 0; k < t.moves->count; k++)
        memory[k] = step(&t, k, resident).fast;
    pb_arena_release(&scratch);
    *out = memory;
    return PB_OK;
}
