/* engine_case.c -- see engine_case.h. */
#include "support/engine_case.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const unsigned char *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u + i;
    return hash;
}

static void spread(uint64_t hash, pb_node made, unsigned char *out, uint64_t count, bool exclusive)
{
    pbi_rng rng = {hash ^ ((uint64_t)made << 32)};
    for (uint64_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)pbi_rng_next(&rng);
        out[i] = exclusive ? out[i] ^ byte : byte;
    }
}

static void fault(engine_case *c, const char *what, pb_node v, pb_node u)
{
    if (!c->faults++)
        snprintf(c->why, sizeof c->why, "%s (node %u, %u)", what, (unsigned)v, (unsigned)u);
}

/* Input u as it should be: from borrowed memory through the lender's bytes. */
static uint64_t mix_input(engine_case *c, uint64_t hash, pb_node v, pb_node u, const unsigned char *at)
{
    uint64_t size = c->g->size[u];
    bool lent = c->lent && at >= c->lent && at < c->lent + c->lent_bytes;
    for (uint64_t i = 0; i < size; i++) {
        unsigned char byte = lent ? (unsigned char)(at[i] ^ c->before[at - c->lent + (ptrdiff_t)i]) : at[i];
        if (byte != c->right[u][i]) {
            fault(c, "an input has other bytes", v, u);
            break;
        }
        hash = (hash ^ byte) * 0x100000001b3u + i;
    }
    return hash;
}

static pb_status ask_for_more(engine_case *c, const pb_call *call)
{
    for (int i = 0; i < 2 && call->node == c->more_node; i++) {
        void *more;
        uint64_t bytes = i ? c->more_bytes - c->more_bytes / 2 : c->more_bytes / 2;
        pb_status status = pb_call_more(call, bytes, &more);
        if (status != PB_OK)
            return status;
        memset(more, 0x77, bytes);
    }
    return PB_OK;
}

static pb_status compute(void *state, pb_context *ctx, const pb_call *call)
{
    engine_case *c = state;
    const pb_graph *g = c->g;
    pb_node v = call->node;
    /* What is made over an input has that input's bytes, not zeros: it is written, not combined. */
    bool exclusive = c->kinds[v] & PB_KERNEL_XOR, in_place = false;
    uint64_t hash = v + 1;
    (void)ctx;
    pb_status status = ask_for_more(c, call);
    if (status != PB_OK)
        return status;
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        if (!call->value[g->in[i]])
            fault(c, "an input is not there", v, g->in[i]);
        else
            hash = mix_input(c, hash, v, g->in[i], call->value[g->in[i]]);
        if (g->size[v] && g->size[g->in[i]] && call->value[v] == call->value[g->in[i]])
            in_place = true;
    }
    if (g->workspace[v])
        memset(call->workspace, 0x33, g->workspace[v]);
    if (!call->value[v] && !call->parts_only)
        fault(c, "it has no memory", v, v);
    if (call->value[v] && !(exclusive && call->parts_only))
        spread(hash, v, call->value[v], g->size[v], exclusive && !in_place);
    for (uint32_t i = g->part_start ? g->part_start[v] : 0; g->part_start && i < g->part_start[v + 1]; i++)
        if (call->value[g->part[i]])
            spread(hash, g->part[i], call->value[g->part[i]], g->size[g->part[i]], exclusive);
    if (c->calls++ == c->lower_after)
        pb_engine_lower_cap(c->engine, c->lower_to);
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    engine_case *c = state;
    (void)ctx;
    memcpy(bytes, c->right[v], c->g->size[v]);
    return PB_OK;
}

static void *get(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

/* Keeping everything. */
static void compute_right(engine_case *c)
{
    const pb_graph *g = c->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        c->right[v] = get(g->size[v], 1);
        if (g->flags[v] & PB_NODE_GIVEN)
            spread(7, v, c->right[v], g->size[v], false);
    }
    for (uint32_t k = 0; k < g->order_count; k++) {
        pb_node v = g->order[k];
        uint64_t hash = v + 1;
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            hash = mix(hash, c->right[g->in[i]], g->size[g->in[i]]);
        spread(hash, v, c->right[v], g->size[v], false);
        for (uint32_t i = g->part_start ? g->part_start[v] : 0; g->part_start && i < g->part_start[v + 1]; i++)
            spread(hash, g->part[i], c->right[g->part[i]], g->size[g->part[i]], false);
    }
}

void engine_case_open(engine_case *c, const pb_graph *g, bool exclusive)
{
    *c = (engine_case){.g = g, .more_node = PB_NO_NODE, .lower_after = UINT64_MAX};
    c->right = get(g->node_count, sizeof *c->right);
    c->kernel = get(g->node_count, sizeof *c->kernel);
    c->kinds = get(g->node_count, 1);
    for (pb_node v = 0; v < g->node_count; v++) {
        c->kernel[v] = pb_graph_is_computed(g, v) ? compute : NULL;
        c->kinds[v] = exclusive ? PB_KERNEL_XOR | PB_KERNEL_READS_BORROWED : PB_KERNEL_READS_BORROWED;
    }
    compute_right(c);
    c->kernels = (pb_kernels){.of = c->kernel, .state = c, .fill = fill, .kinds = exclusive ? c->kinds : NULL};
}

void engine_case_close(engine_case *c)
{
    for (pb_node v = 0; v < c->g->node_count; v++)
        free(c->right[v]);
    free(c->right);
    free(c->kernel);
    free(c->kinds);
}

bool engine_case_right(engine_case *c, pb_engine *e)
{
    for (pb_node v = 0; v < c->g->node_count; v++) {
        const void *value = pb_engine_value(e, v);
        if (value && memcmp(value, c->right[v], c->g->size[v]) != 0)
            fault(c, "a value at the end has other bytes", v, v);
        if (!value && (c->g->flags[v] & PB_NODE_KEEP))
            fault(c, "a kept value is not there", v, v);
    }
    return c->faults == 0;
}

/* ---- random schedules ---- */

typedef struct player {
    const pb_game *game;
    const pb_graph *g;
    pbi_rng rng;
    uint8_t there[64], computed[64], slow[64]; /* there: 2 in borrowed memory */
    uint64_t lent;
    pb_moves *moves;
} player;

static bool one_in(player *p, uint64_t n) { return pbi_rng_below(&p->rng, n) == 0; }

static bool inputs_there(const player *p, pb_node v)
{
    for (uint32_t i = p->g->in_start[v]; i < p->g->in_start[v + 1]; i++)
        if (!p->there[p->g->in[i]])
            return false;
    return true;
}

static void must(pb_status status)
{
    if (status != PB_OK)
        abort();
}

/* With by-products, in place or in borrowed memory, as it comes. */
static void compute_now(player *p, pb_node v, bool plainly)
{
    const pb_graph *g = p->g;
    pb_node part[64] = {0}, over = PB_NO_NODE;
    uint32_t parts = 0;
    bool once = g->flags[v] & PB_NODE_ONCE;
    for (uint32_t i = g->part_start ? g->part_start[v] : 0; g->part_start && i < g->part_start[v + 1]; i++)
        if (!p->there[g->part[i]] && (once || plainly || one_in(p, 2)))
            part[parts++] = g->part[i];
    if (p->there[v] && !parts)
        return;
    if (!plainly && !p->there[v] && !parts && g->size[v] <= p->game->borrow - p->lent && p->game->borrow && !once &&
        one_in(p, 3)) {
        must(pb_moves_add_borrowed(p->moves, v));
        p->there[v] = 2;
        p->lent += g->size[v];
        p->computed[v] = 1;
        return;
    }
    if (!plainly && !p->there[v] && g->inplace_start && g->inplace_start[v] < g->inplace_start[v + 1] && one_in(p, 2)) {
        pb_node u = g->inplace[g->inplace_start[v]];
        if (p->there[u] == 1 && !(g->flags[u] & (PB_NODE_ONCE | PB_NODE_GIVEN | PB_NODE_BYPRODUCT)))
            over = u;
    }
    must(pb_moves_add_compute(p->moves, v, over, part, parts));
    p->there[v] = p->there[v] ? p->there[v] : 1;
    p->computed[v] = 1;
    for (uint32_t i = 0; i < parts; i++)
        p->there[part[i]] = 1;
    if (over != PB_NO_NODE)
        p->there[over] = 0;
}

static void remove_now(player *p, pb_node v)
{
    bool back = p->there[v] == 2 || p->game->kind == PB_GAME_REVERSIBLE;
    if (back && !inputs_there(p, pb_graph_maker(p->g, v)))
        return;
    must(pb_moves_add(p->moves, back ? PB_UNCOMPUTE : PB_FREE, v, 0));
    p->lent -= p->there[v] == 2 ? p->g->size[v] : 0;
    p->there[v] = 0;
}

static void tier_now(player *p, pb_node v)
{
    uint32_t t = (uint32_t)pbi_rng_below(&p->rng, p->game->tier_count);
    uint8_t bit = (uint8_t)(1u << t);
    if (p->there[v] && !(p->slow[v] & bit)) {
        if (p->there[v] == 2 || p->game->tiers[t].cap != PB_UNLIMITED)
            return;
        must(pb_moves_add(p->moves, PB_STORE, v, (uint8_t)(t + 1)));
        p->slow[v] |= bit;
    } else if (!p->there[v] && (p->slow[v] & bit)) {
        must(pb_moves_add(p->moves, PB_LOAD, v, (uint8_t)(t + 1)));
        p->there[v] = 1;
    } else if ((p->slow[v] & bit) && one_in(p, 4) && p->there[v]) {
        must(pb_moves_add(p->moves, PB_DROP, v, (uint8_t)(t + 1)));
        p->slow[v] &= (uint8_t)~bit;
    }
}

static bool is_lasting(const player *p, pb_node v)
{
    uint16_t flags =
        p->g->flags[v] | (p->g->flags[v] & PB_NODE_BYPRODUCT ? p->g->flags[p->g->owner[v]] & PB_NODE_ONCE : 0);
    return (flags & PB_NODE_ONCE) || ((flags & PB_NODE_GIVEN) && !p->slow[v]);
}

static void random_move(player *p)
{
    const pb_graph *g = p->g;
    pb_node v = (pb_node)pbi_rng_below(&p->rng, g->node_count);
    bool fixed = g->flags[v] & (PB_NODE_GIVEN | PB_NODE_BYPRODUCT);
    if (p->game->kind == PB_GAME_TIERED && p->game->tier_count && one_in(p, 2))
        tier_now(p, v);
    else if (!fixed && inputs_there(p, v) && !((g->flags[v] & PB_NODE_ONCE) && p->computed[v]) && !one_in(p, 3))
        compute_now(p, v, false);
    else if (p->there[v] && !is_lasting(p, v) &&
             !(p->game->kind == PB_GAME_REVERSIBLE && (g->flags[v] & PB_NODE_GIVEN)))
        remove_now(p, v);
}

/* Everything is computed, and then what must not stay is taken away, readers first. */
static void finish(player *p)
{
    const pb_graph *g = p->g;
    for (pb_node v = 0; v < g->node_count; v++)
        if (!p->there[v] && (g->flags[v] & PB_NODE_GIVEN_SLOW) && p->game->tier_count &&
            p->game->kind == PB_GAME_TIERED)
            must(pb_moves_add(p->moves, PB_LOAD, v, 1)), p->there[v] = 1;
    for (uint32_t k = 0; k < g->order_count; k++)
        if (!((g->flags[g->order[k]] & PB_NODE_ONCE) && p->computed[g->order[k]]))
            compute_now(p, g->order[k], true);
    for (uint32_t k = g->order_count; k-- > 0;) {
        pb_node v = g->order[k];
        bool all = p->game->kind == PB_GAME_REVERSIBLE;
        for (uint32_t i = g->part_start ? g->part_start[v] : 0; g->part_start && i < g->part_start[v + 1]; i++)
            if (all && !(g->flags[g->part[i]] & (PB_NODE_KEEP | PB_NODE_TARGET)))
                remove_now(p, g->part[i]);
        if (p->there[v] == 2 || (all && !(g->flags[v] & (PB_NODE_KEEP | PB_NODE_TARGET))))
            remove_now(p, v);
    }
}

void random_schedule(const pb_game *game, uint64_t seed, pb_moves *moves)
{
    player p = {.game = game, .g = game->graph, .rng = {seed}, .moves = moves};
    for (pb_node v = 0; v < p.g->node_count; v++) {
        if (!(p.g->flags[v] & PB_NODE_GIVEN))
            continue;
        bool slow = p.g->flags[v] & PB_NODE_GIVEN_SLOW;
        p.there[v] = !slow;
        p.slow[v] = slow;
    }
    uint64_t count = p.g->node_count ? pbi_rng_below(&p.rng, 12 * (uint64_t)p.g->node_count) : 0;
    for (uint64_t i = 0; i < count; i++)
        random_move(&p);
    finish(&p);
}
