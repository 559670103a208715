/* reversible_bound.c -- see reversible_bound.h and docs/bounds.md, "Reversible work".
 *
 * When x is computed for the first time, every value of its cone (x and what it depends on, up to final values) is in
 * memory, or is recomputed later at twice its cost. So what does not fit under the cap has to be paid for. Several
 * moments add up if each counts only values that no other one counts: the best moment is taken first, then the one
 * that adds most to it. The moment at which the last final value is computed for the first time counts all final
 * values.
 */
#include "bound/reversible_bound.h"

#include "base/checked.h"
#include "base/context.h"

#include <stdlib.h>
#include <string.h>

typedef struct item {
    pb_node node;
    uint64_t cost, size;
} item;

typedef struct cones {
    pb_context *ctx;
    const pb_graph *g;
    uint64_t room; /* the cap without what is always resident */
    uint32_t count;
    item *item;     /* needed nodes that are computed, the most expensive per size first */
    uint32_t *rank; /* by node: its position in `item` */
    uint64_t *bits; /* by position: in the current cone */
    size_t words;
    pb_node *stack;
    uint8_t *used; /* by node: counted at a moment that was taken */
    uint64_t work, effort, next_poll;
    pbi_reversible_extra *out;
} cones;

enum { POLL = 1 << 18 }; /* steps of work between two polls */

static bool go_on(cones *c)
{
    if (c->work < c->next_poll)
        return true;
    c->next_poll = c->work + POLL;
    return pbi_poll(c->ctx) == PB_OK;
}

/* A moment: the first computation of x; or of the last final value, which is x or unknown. */
typedef struct moment {
    pb_node x;
    uint64_t value; /* half of what it last added; it never adds more later */
} moment;

static bool is_final(const pb_graph *g, pb_node v) { return g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP); }

static bool has(const cones *c, pb_node v) { return c->bits[c->rank[v] / 64] >> c->rank[v] % 64 & 1; }

static void put(cones *c, pb_node v) { c->bits[c->rank[v] / 64] |= UINT64_C(1) << c->rank[v] % 64; }

static void drop(cones *c, pb_node v) { c->bits[c->rank[v] / 64] &= ~(UINT64_C(1) << c->rank[v] % 64); }

static void gather(cones *c, pb_node x)
{
    const pb_graph *g = c->g;
    uint32_t depth = 0;
    put(c, x);
    c->stack[depth++] = x;
    while (depth) {
        pb_node v = c->stack[--depth];
        c->work += 1 + g->in_start[v + 1] - g->in_start[v];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if ((g->flags[u] & PB_NODE_GIVEN) || has(c, u))
                continue;
            put(c, u);
            if (!is_final(g, u))
                c->stack[depth++] = u;
        }
    }
}

/* Removes from the cone, and subtracts from the room, what is certainly in memory: x, its inputs, and what cannot be
 * recomputed. False if it does not fit. */
static bool hold(cones *c, pb_node x, uint64_t *room)
{
    const pb_graph *g = c->g;
    uint64_t size = g->size[x] + g->workspace[x]; /* a working set is below 2^64 */
    drop(c, x);
    for (uint32_t k = g->in_start[x]; k < g->in_start[x + 1]; k++)
        if (!(g->flags[g->in[k]] & PB_NODE_GIVEN)) {
            size += g->size[g->in[k]];
            drop(c, g->in[k]);
        }
    for (size_t w = 0; w < c->words; w++)
        for (uint64_t bits = c->bits[w], i = 0; bits; bits >>= 1, i++) {
            const item *it = &c->item[w * 64 + i];
            if ((bits & 1) && (g->flags[it->node] & PB_NODE_ONCE)) {
                size = pbi_add_saturated(size, it->size);
                drop(c, it->node);
            }
        }
    c->work += c->words;
    if (size > *room)
        return false;
    *room -= size;
    return true;
}

/* An upper bound on the cost saved by keeping the part of a value that fits. */
static uint64_t part_saved(const item *it, uint64_t room)
{
    if (!room)
        return 0;
    double share = (double)it->cost * ((double)room / (double)it->size) * (1 + 1e-9) + 1;
    return share < (double)it->cost ? (uint64_t)share : it->cost;
}

/* A lower bound on the cost of what does not fit: values are kept in the order of cost per size, the last one in
 * part. Used values count nothing. Clears the cone; with `mark`, marks it as used. */
static uint64_t pay(cones *c, uint64_t room, bool mark)
{
    uint64_t paid = 0;
    bool full = false;
    c->work += c->words;
    for (size_t w = 0; w < c->words; w++) {
        for (uint64_t bits = c->bits[w], i = 0; bits; bits >>= 1, i++) {
            const item *it = &c->item[w * 64 + i];
            if (!(bits & 1) || c->used[it->node])
                continue;
            c->used[it->node] = mark;
            if (!full && it->size <= room) {
                room -= it->size;
            } else {
                paid += it->cost - (full ? 0 : part_saved(it, room));
                full = true;
            }
        }
        c->bits[w] = 0;
    }
    return paid;
}

static void put_finals(cones *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (is_final(c->g, c->item[i].node))
            put(c, c->item[i].node);
}

/* What the first computation of x adds. `all`: it counts all final values, as the first computation of the last of
 * them; UINT64_MAX if x cannot be the last. */
static uint64_t added_by(cones *c, pb_node x, bool all, bool mark)
{
    uint64_t room = c->room;
    gather(c, x);
    if (all)
        put_finals(c);
    if (hold(c, x, &room))
        return pay(c, room, mark);
    memset(c->bits, 0, c->words * sizeof *c->bits);
    if (!all) {
        c->out->over = true;
        c->out->over_at = x;
    }
    return all ? UINT64_MAX : 0;
}

static uint64_t count_finals(const cones *c)
{
    uint64_t finals = 0;
    for (uint32_t i = 0; i < c->count; i++)
        finals += is_final(c->g, c->item[i].node);
    return finals;
}

/* The moment at which all final values have been computed, counting only these. */
static uint64_t added_by_finals(cones *c, bool mark)
{
    put_finals(c);
    return pay(c, c->room, mark);
}

/* The same with the cone of the last one: the minimum over all candidates. */
static uint64_t added_by_end(cones *c)
{
    uint64_t least = UINT64_MAX, finals = count_finals(c);
    if (finals > 1 + c->effort / (4 * ((uint64_t)c->count + c->g->edge_count + 1)))
        return added_by_finals(c, false);
    for (uint32_t i = 0; i < c->count; i++)
        if (is_final(c->g, c->item[i].node)) {
            if (!go_on(c))
                return added_by_finals(c, false);
            uint64_t value = added_by(c, c->item[i].node, true, false);
            least = value < least ? value : least;
        }
    return least == UINT64_MAX ? 0 : least;
}

/* ---- choosing moments ---- */

static int by_value(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->x < y->x ? -1 : x->x > y->x;
}

/* The moment that adds most. Values never increase, so those whose last value is below the best are skipped. */
static moment *best_of(cones *c, moment *list, uint32_t count)
{
    moment *best = NULL;
    for (uint32_t i = 0; i < count && c->work < c->effort && !c->out->over; i++) {
        if (!list[i].value || (best && list[i].value <= best->value))
            continue;
        if (!go_on(c))
            return NULL;
        list[i].value = added_by(c, list[i].x, false, false);
        if (list[i].value && (!best || list[i].value > best->value))
            best = &list[i];
    }
    return best;
}

/* Takes one moment after the other while they add anything. */
static uint64_t take_moments(cones *c, moment *list, uint32_t count)
{
    uint64_t sum = 0;
    moment *best;
    while ((best = best_of(c, list, count)) != NULL && pbi_poll(c->ctx) == PB_OK) {
        c->out->at = sum ? c->out->at : best->x;
        sum += added_by(c, best->x, false, true);
        best->value = 0;
        qsort(list, count, sizeof *list, by_value);
    }
    return sum;
}

/* Final values first: they have large cones. */
static void list_moments(const cones *c, moment *list)
{
    const pb_graph *g = c->g;
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = g->order_count; i-- > 0;) {
            pb_node v = g->order[i];
            if ((g->flags[v] & PB_NODE_NEEDED) && is_final(g, v) == (pass == 0))
                list[count++] = (moment){v, UINT64_MAX};
        }
}

static void find_bound(cones *c, moment *list)
{
    uint64_t all = c->effort, end, first, second, finals;
    pb_node at;
    c->effort = all / 4;
    end = added_by_end(c);
    c->effort = c->work + all / 2;
    list_moments(c, list);
    first = take_moments(c, list, c->count);
    at = c->out->at;
    c->effort = all;
    first += c->out->over ? 0 : added_by_end(c);
    memset(c->used, 0, c->g->node_count);
    finals = added_by_finals(c, true);
    list_moments(c, list);
    c->effort = c->work + all / 4;
    second = finals && !c->out->over ? finals + take_moments(c, list, c->count) : 0;
    if (first >= second)
        c->out->at = at;
    second = first > second ? first : second;
    c->out->work = 2 * (second > end ? second : end);
}

/* ---- set-up ---- */

/* Values without a size come first; products would not order those without a cost correctly. */
static int by_density(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (!x->size != !y->size)
        return x->size ? 1 : -1;
    int order = pb_u128_compare(pbi_u128_product(y->cost, x->size), pbi_u128_product(x->cost, y->size));
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

static bool set_up(cones *c, pb_arena *scratch)
{
    const pb_graph *g = c->g;
    c->item = pb_arena_alloc(scratch, g->order_count, sizeof *c->item);
    c->rank = pb_arena_zero(scratch, g->node_count, sizeof *c->rank);
    c->stack = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *c->stack);
    c->used = pb_arena_zero(scratch, g->node_count, sizeof *c->used);
    c->words = g->order_count / 64 + 1;
    c->bits = pb_arena_zero(scratch, c->words, sizeof *c->bits);
    if (!c->item || !c->rank || !c->stack || !c->used || !c->bits)
        return false;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            c->item[c->count++] = (item){g->order[i], g->cost[g->order[i]], g->size[g->order[i]]};
    qsort(c->item, c->count, sizeof *c->item, by_density);
    for (uint32_t i = 0; i < c->count; i++)
        c->rank[c->item[i].node] = i;
    return true;
}

pb_status pbi_reversible_bound(pb_context *ctx, const pb_game *game, uint64_t effort, pbi_reversible_extra *out)
{
    const pb_graph *g = game->graph;
    pb_arena scratch;
    uint64_t base = g->fixed_size;
    *out = (pbi_reversible_extra){.at = PB_NO_NODE, .over_at = PB_NO_NODE};
    for (pb_node v = 0; v < g->node_count; v++)
        base += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    /* A value that another one overwrites, or a by-product, need not be uncomputed on its own. */
    if (g->owner || g->inplace_start || game->cap == PB_UNLIMITED || game->cap < base ||
        g->needed_cost > UINT64_MAX / 4)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    cones c = {.ctx = ctx, .g = g, .room = game->cap - base, .effort = effort, .out = out};
    bool ready = set_up(&c, &scratch);
    moment *list = ready ? pb_arena_alloc(&scratch, (size_t)c.count + 1, sizeof *list) : NULL;
    if (list && c.count)
        find_bound(&c, list);
    pb_arena_release(&scratch);
    return list ? PB_OK : PB_ENOMEM;
}
