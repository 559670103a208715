/* find.c -- see find.h. All of it is linear, except for the rounds of merging. */
#include "plan/blocks/find.h"

#include "base/context.h"

#include <string.h>

enum { MAX_ROUNDS = 64 };

#define NOWHERE UINT32_MAX

typedef struct finder {
    const pb_graph *g;
    pb_arena *arena;
    uint32_t nodes; /* needed ones that are computed, in `order` */
    pb_node *order;
    uint32_t *place; /* per node: its place in `order`, or that of its producer, or NOWHERE */
    uint8_t *role;
    uint32_t turn; /* place of the last forward node */

    uint32_t cuts; /* cut 0 is before everything; block c is between cut c-1 and cut c */
    uint32_t *end; /* per cut: the place of the last node before it, plus one */
    pb_node *cut;
    uint32_t *block; /* per node */
    uint8_t *joined; /* per cut: removed */
} finder;

static bool is_needed(const pb_graph *g, pb_node v) { return (g->flags[v] & PB_NODE_NEEDED) != 0; }

/* A value that the chain may drop and recompute, or the one given value that it starts from. */
static bool counts(const finder *f, pb_node v) { return f->role[v] != PBI_UNUSED && f->role[v] != PBI_STAYS; }

static bool lay_out(finder *f)
{
    const pb_graph *g = f->g;
    f->order = pb_arena_alloc(f->arena, g->order_count, sizeof *f->order);
    f->place = pb_arena_alloc(f->arena, g->node_count, sizeof *f->place);
    f->role = pb_arena_zero(f->arena, g->node_count, sizeof *f->role);
    f->block = pb_arena_zero(f->arena, g->node_count, sizeof *f->block);
    if (!f->order || !f->place || !f->role || !f->block)
        return false;
    memset(f->place, 0xff, g->node_count * sizeof *f->place);
    for (uint32_t i = 0; i < g->order_count; i++)
        if (is_needed(g, g->order[i])) {
            f->place[g->order[i]] = f->nodes;
            f->order[f->nodes++] = g->order[i];
        }
    uint32_t given = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (g->flags[v] & PB_NODE_BYPRODUCT)
            f->place[v] = f->place[g->owner[v]];
        given += is_needed(g, v) && (g->flags[v] & PB_NODE_GIVEN);
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        bool fixed = (g->flags[v] & PB_NODE_GIVEN) ? given > 1 : (g->flags[pb_graph_maker(g, v)] & PB_NODE_ONCE) != 0;
        if (is_needed(g, v))
            f->role[v] = fixed ? PBI_STAYS : PBI_FORWARD;
    }
    return true;
}

/* The last place up to `max_place` that reads v, plus one; 0 for none. */
static uint32_t last_read(const finder *f, pb_node v, uint32_t max_place)
{
    uint32_t last = 0;
    for (uint32_t k = f->g->out_start[v]; k < f->g->out_start[v + 1]; k++) {
        uint32_t p = f->place[f->g->out[k]];
        if (p != NOWHERE && p <= max_place && p + 1 > last)
            last = p + 1;
    }
    return last;
}

/* Where a value begins to exist, counted from 1; 0: before the start. */
static uint32_t made_at(const finder *f, pb_node v) { return f->place[v] == NOWHERE ? 0 : f->place[v] + 1; }

/* The turn is where most memory is in use: the forward pass adds values, the backward pass frees them. */
static bool find_turn(finder *f)
{
    int64_t *change = pb_arena_zero(f->arena, (size_t)f->nodes + 2, sizeof *change);
    if (!change)
        return false;
    for (pb_node v = 0; v < f->g->node_count; v++) {
        uint32_t last = counts(f, v) ? last_read(f, v, NOWHERE - 1) : 0;
        if (last > made_at(f, v)) {
            change[made_at(f, v)]++;
            change[last]--;
        }
    }
    int64_t waiting = change[0], max_waiting = -1;
    for (uint32_t p = 0; p < f->nodes; p++) {
        waiting += change[p + 1];
        if (waiting > max_waiting) {
            max_waiting = waiting;
            f->turn = p;
        }
    }
    for (uint32_t p = f->turn + 1; p < f->nodes; p++)
        if (f->role[f->order[p]] == PBI_FORWARD)
            f->role[f->order[p]] = PBI_BACKWARD;
    for (pb_node v = 0; f->g->owner && v < f->g->node_count; v++)
        if ((f->g->flags[v] & PB_NODE_BYPRODUCT) && f->role[v] == PBI_FORWARD && f->place[v] > f->turn)
            f->role[v] = PBI_BACKWARD;
    return true;
}

/* A cut is a place behind which forward nodes read at most one value from before it. */
static bool find_cuts(finder *f)
{
    uint32_t n = f->turn + 1; /* forward nodes */
    int64_t *count = pb_arena_zero(f->arena, (size_t)n + 2, sizeof *count);
    uint64_t *sum = pb_arena_zero(f->arena, (size_t)n + 2, sizeof *sum); /* of crossing nodes; wraps around */
    f->end = pb_arena_alloc(f->arena, (size_t)n + 2, sizeof *f->end);
    f->cut = pb_arena_alloc(f->arena, (size_t)n + 2, sizeof *f->cut);
    f->joined = pb_arena_zero(f->arena, (size_t)n + 2, sizeof *f->joined);
    if (!count || !sum || !f->end || !f->cut || !f->joined)
        return false;
    for (pb_node v = 0; v < f->g->node_count; v++) {
        uint32_t last = f->role[v] == PBI_FORWARD ? last_read(f, v, f->turn) : 0;
        if (last > made_at(f, v)) {
            count[made_at(f, v)]++;
            count[last]--;
            sum[made_at(f, v)] += v;
            sum[last] -= v;
        }
    }
    for (uint32_t p = 0; p < n; p++) {
        if (p > 0) {
            count[p] += count[p - 1];
            sum[p] += sum[p - 1];
        }
        if (count[p] > 1 && p > 0)
            continue;
        pb_node value = count[p] == 1 ? (pb_node)sum[p] : PB_NO_NODE;
        if (f->cuts && f->cut[f->cuts - 1] == value)
            continue; /* the values between are only read in the backward pass */
        f->end[f->cuts] = p;
        f->cut[f->cuts++] = value;
    }
    pb_node last = f->order[f->turn];
    f->end[f->cuts] = n;
    f->cut[f->cuts++] = last_read(f, last, NOWHERE - 1) && f->role[last] == PBI_FORWARD ? last : PB_NO_NODE;
    f->end[f->cuts] = n; /* the last block has no forward part: the nodes that read the last value alone */
    f->cut[f->cuts++] = PB_NO_NODE;
    return true;
}

static void number_forward(finder *f)
{
    uint32_t c = 1;
    for (uint32_t p = 0; p <= f->turn; p++) {
        while (f->end[c] <= p)
            c++;
        f->block[f->order[p]] = c;
    }
    for (pb_node v = 0; v < f->g->node_count; v++)
        if (f->role[v] != PBI_BACKWARD && (f->g->flags[v] & PB_NODE_BYPRODUCT))
            f->block[v] = f->block[f->g->owner[v]];
}

/* The blocks whose backward part may read forward value u: its own, and the next one if it is the cut between them. */
static void readers_of(const finder *f, pb_node u, uint32_t *low, uint32_t *high)
{
    uint32_t b = f->place[u] == NOWHERE ? 0 : f->block[u];
    bool is_cut = f->cut[b] == u && (b + 1 < f->cuts);
    *low = b ? b : 1;
    *high = is_cut ? b + 1 : *low;
}

/* Assigns the backward nodes to blocks, each as early as possible; marks the cuts that prevent this. */
static bool number_backward(finder *f)
{
    bool clean = true;
    for (uint32_t p = f->turn + 1; p < f->nodes; p++) {
        pb_node v = f->order[p];
        uint32_t low = 1, high = f->cuts - 1;
        for (uint32_t k = f->g->in_start[v]; k < f->g->in_start[v + 1]; k++) {
            pb_node u = f->g->in[k];
            uint32_t from = 1, to = f->cuts - 1;
            if (f->role[u] == PBI_FORWARD)
                readers_of(f, u, &from, &to);
            else if (f->place[u] != NOWHERE && f->place[u] > f->turn)
                to = f->block[pb_graph_maker(f->g, u)];
            low = from > low ? from : low;
            high = to < high ? to : high;
        }
        f->block[v] = high;
        for (uint32_t c = high; c < low; c++) {
            f->joined[c] = 1;
            clean = false;
        }
    }
    return clean;
}

static void drop_joined(finder *f)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < f->cuts; c++) {
        if (f->joined[c])
            continue;
        f->end[kept] = f->end[c];
        f->cut[kept++] = f->cut[c];
    }
    memset(f->joined, 0, f->cuts * sizeof *f->joined);
    f->cuts = kept;
}

/* Single nodes join the larger block behind them, and `group` such blocks become one. */
static void join_groups(finder *f, uint32_t group)
{
    uint32_t large = 0; /* in the current group */
    for (uint32_t c = 1; c + 1 < f->cuts; c++) {
        large += f->end[c] - f->end[c - 1] > 1;
        bool next_single = f->end[c + 1] - f->end[c] <= 1;
        if (large >= group)
            large = 0;
        else
            f->joined[c] = large || !next_single;
    }
}

/* At most `max_blocks` blocks: joins neighbours. */
static void join_neighbours(finder *f, uint32_t max_blocks)
{
    uint32_t blocks = f->cuts - 1, each = blocks / max_blocks + (blocks % max_blocks != 0);
    for (uint32_t c = 1; c + 1 < f->cuts; c++)
        f->joined[c] = c % each != 0;
}

static void join(finder *f, uint32_t group, uint32_t max_blocks)
{
    if (group) {
        join_groups(f, group);
        drop_joined(f);
    }
    if (f->cuts - 1 > max_blocks) {
        join_neighbours(f, max_blocks);
        drop_joined(f);
    }
    number_forward(f);
    number_backward(f);
}

/* Does the last block, which has no forward part, have a backward one? */
static bool last_is_used(const finder *f)
{
    for (uint32_t p = f->turn + 1; p < f->nodes; p++)
        if (f->block[f->order[p]] == f->cuts - 1)
            return true;
    return f->end[f->cuts - 1] != f->end[f->cuts - 2];
}

static bool write_out(finder *f, pbi_block_chain *out)
{
    const pb_graph *g = f->g;
    uint32_t blocks = f->cuts - 1;
    out->count = blocks;
    out->cut = f->cut;
    out->forward = f->order;
    out->block = f->block;
    out->role = f->role;
    out->forward_start = pb_arena_alloc(f->arena, (size_t)blocks + 2, sizeof *out->forward_start);
    out->backward_start = pb_arena_zero(f->arena, (size_t)blocks + 3, sizeof *out->backward_start);
    out->backward = pb_arena_alloc(f->arena, f->nodes, sizeof *out->backward);
    if (!out->forward_start || !out->backward_start || !out->backward)
        return false;
    out->forward_start[0] = 0;
    for (uint32_t c = 0; c <= blocks; c++)
        out->forward_start[c + 1] = f->end[c];
    uint32_t *start = out->backward_start + 1; /* one ahead while it is filled */
    for (uint32_t p = f->turn + 1; p < f->nodes; p++)
        start[f->block[f->order[p]] + 1]++;
    for (uint32_t c = 0; c <= blocks; c++)
        start[c + 1] += start[c];
    for (uint32_t p = f->turn + 1; p < f->nodes; p++)
        out->backward[start[f->block[f->order[p]]]++] = f->order[p];
    for (pb_node v = 0; v < g->node_count; v++) {
        if (f->role[v] == PBI_BACKWARD && (g->flags[v] & PB_NODE_BYPRODUCT))
            f->block[v] = f->block[g->owner[v]];
        if (f->role[v] == PBI_STAYS)
            out->always += g->size[v];
    }
    out->always += g->fixed_size;
    for (uint32_t b = 1; b <= blocks; b++) {
        uint32_t nodes =
            out->forward_start[b + 1] - out->forward_start[b] + out->backward_start[b + 1] - out->backward_start[b];
        out->largest = nodes > out->largest ? nodes : out->largest;
    }
    return true;
}

/* A chain: each block passes a value to the next, and at least two of them have a backward part. */
static bool is_chain(const finder *f)
{
    uint32_t reversed = 0, last = 0;
    for (uint32_t c = 1; c + 1 < f->cuts; c++)
        if (f->cut[c] == PB_NO_NODE && f->end[c] != f->end[f->cuts - 1])
            return false;
    for (uint32_t p = f->turn + 1; p < f->nodes && reversed < 2; p++) {
        reversed += f->block[f->order[p]] != last;
        last = f->block[f->order[p]];
    }
    return reversed >= 2;
}

static const char *cannot(const finder *f)
{
    const pb_graph *g = f->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && is_needed(g, v))
            return "a given value starts in slow memory";
        if ((g->flags[v] & PB_NODE_KEEP) && f->role[v] == PBI_FORWARD)
            return "a value of its forward pass must be kept to the end";
    }
    return NULL;
}

pb_status pbi_block_chain_find(pb_context *ctx, const pb_graph *g, uint32_t group, uint32_t max_blocks, pb_arena *arena,
                               pbi_block_chain *out)
{
    finder f = {.g = g, .arena = arena};
    bool clean = false;
    pb_status status = PB_OK;
    *out = (pbi_block_chain){.why = "the graph is not a chain of blocks with a forward and a backward pass"};
    if (!lay_out(&f) || (f.nodes && (!find_turn(&f) || !find_cuts(&f))))
        return PB_ENOMEM;
    if (!f.nodes || f.turn + 1 >= f.nodes)
        return PB_OK;
    for (uint32_t round = 0; round < MAX_ROUNDS && !clean && status == PB_OK; round++) {
        number_forward(&f);
        clean = number_backward(&f);
        if (!clean)
            drop_joined(&f);
        status = pbi_poll(ctx);
    }
    if (status != PB_OK || !clean)
        return status;
    join(&f, group, max_blocks);
    if (!last_is_used(&f))
        f.cuts--;
    if (f.cuts < 3 || !is_chain(&f))
        return PB_OK;
    const char *misfit = cannot(&f);
    if (misfit) {
        out->why = misfit;
        return PB_OK;
    }
    return write_out(&f, out) ? PB_OK : PB_ENOMEM;
}
