/* model.c -- the small reversible game as bits, and its moves. */
#include "plan/reversible/exact/exact.h"

#include "base/checked.h"
#include "plan/statespace/set.h"

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

/* Nodes that nothing needs are useless, unless one of them can overwrite a value: that value is removed without
 * being uncomputed. */
static bool takes_part(const pb_graph *g, pb_node v)
{
    return !(g->flags[v] & PB_NODE_GIVEN) && (g->inplace_start || (g->flags[v] & PB_NODE_NEEDED));
}

static bool place(pbi_rev_sets *m, const pb_graph *g, pb_node v)
{
    if (!takes_part(g, v))
        return true;
    if (m->bits == PBI_REV_BITS)
        return false;
    m->node[m->bits++] = v;
    return true;
}

/* Readers first; by-products come before their owner, so they too have lower numbers than the inputs of their moves. */
static bool place_all(pbi_rev_sets *m, const pb_graph *g)
{
    for (uint32_t i = g->order_count; i-- > 0;) {
        pb_node v = g->order[i];
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                if (!place(m, g, g->part[k]))
                    return false;
        if (!place(m, g, v))
            return false;
    }
    return true;
}

static unsigned bit_of(const pbi_rev_sets *m, pb_node v)
{
    unsigned b = 0;
    while (b < m->bits && m->node[b] != v)
        b++;
    return b;
}

static uint64_t bits_of(const pbi_rev_sets *m, const pb_node *list, uint32_t count)
{
    uint64_t set = 0;
    for (uint32_t k = 0; k < count; k++) {
        unsigned b = bit_of(m, list[k]);
        set |= b < m->bits ? bit(b) : 0; /* given values are always resident */
    }
    return set;
}

static void read_node(pbi_rev_sets *m, const pb_graph *g, unsigned b)
{
    pb_node v = m->node[b], maker = pb_graph_maker(g, v);
    m->in[b] = bits_of(m, g->in + g->in_start[maker], g->in_start[maker + 1] - g->in_start[maker]);
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        m->parts[b] = bits_of(m, g->part + g->part_start[v], g->part_start[v + 1] - g->part_start[v]);
    if (g->inplace_start)
        m->inplace[b] =
            bits_of(m, g->inplace + g->inplace_start[v], g->inplace_start[v + 1] - g->inplace_start[v]) & m->in[b];
    m->owner[b] = maker == v ? PBI_REV_NONE : (uint8_t)bit_of(m, maker);
    m->byproducts |= maker == v ? 0 : bit(b);
    m->overwritten |= m->inplace[b];
    m->cost[b] = g->cost[v];
    m->size[b] = g->size[v];
    m->workspace[b] = g->workspace[v];
    m->max_workspace = m->workspace[b] > m->max_workspace ? m->workspace[b] : m->max_workspace;
    m->end |= g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP) ? bit(b) : 0;
}

static bool mark_once(pbi_rev_sets *m, const pb_graph *g)
{
    m->total = m->bits;
    for (unsigned b = 0; b < m->bits; b++) {
        m->used[b] = PBI_REV_NONE;
        if (!(g->flags[m->node[b]] & PB_NODE_ONCE) || (m->byproducts & bit(b)))
            continue;
        if (m->total == PBI_REV_BITS)
            return false;
        m->used[b] = (uint8_t)m->total++;
        m->once |= bit(b);
    }
    return true;
}

/* Is node a cheaper than b for its size? */
static bool is_cheaper(const pbi_rev_sets *m, unsigned a, unsigned b)
{
    return pb_u128_compare(pbi_u128_product(m->cost[a], m->size[b]), pbi_u128_product(m->cost[b], m->size[a])) < 0;
}

static void sort_cheap(pbi_rev_sets *m)
{
    for (unsigned b = 0; b < m->bits; b++) {
        if (!m->size[b])
            continue;
        unsigned at = m->cheap_count++;
        for (; at && is_cheaper(m, b, m->cheap[at - 1]); at--)
            m->cheap[at] = m->cheap[at - 1];
        m->cheap[at] = (uint8_t)b;
    }
}

static void add_sizes(pbi_rev_sets *m)
{
    for (unsigned i = 0; i < PBI_REV_BITS / 8; i++)
        for (unsigned set = 1; set < 256; set++) {
            unsigned low = pbi_lowest(set);
            m->sums[i][set] = m->sums[i][set & (set - 1)] + m->size[8 * i + low];
        }
}

/* A node is moved an odd number of times if it is resident at one end only, else an even number of times. So the
 * work is the cost of what is kept, plus twice some of the costs. */
static void find_steps(pbi_rev_sets *m)
{
    uint64_t divisor = 0, stays = 0;
    for (unsigned b = 0; b < m->bits; b++) {
        stays += m->end & bit(b) ? m->cost[b] : 0;
        for (uint64_t x = m->cost[b], r; x; x = r) {
            r = divisor % x;
            divisor = x;
        }
    }
    if (!m->plain || !divisor || divisor > UINT64_MAX / 4)
        return;
    m->step = 2 * divisor;
    m->rest = stays % m->step;
}

bool pbi_rev_sets_init(pbi_rev_sets *m, const pb_game *game)
{
    const pb_graph *g = game->graph;
    *m = (pbi_rev_sets){.game = game, .base = g->fixed_size, .cap = game->cap};
    for (pb_node v = 0; v < g->node_count; v++)
        m->base += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    if (!place_all(m, g))
        return false;
    for (unsigned b = 0; b < m->bits; b++)
        read_node(m, g, b);
    m->values = m->bits == PBI_REV_BITS ? UINT64_MAX : bit(m->bits) - 1;
    m->plain = !m->overwritten && !m->byproducts;
    sort_cheap(m);
    add_sizes(m);
    find_steps(m);
    return mark_once(m, g);
}

uint64_t pbi_rev_round_up(const pbi_rev_sets *m, uint64_t work)
{
    if (!m->step || work >= UINT64_MAX - m->step)
        return work;
    uint64_t over = (work % m->step + m->step - m->rest) % m->step;
    return over ? work + m->step - over : work;
}

/* ---- moves ---- */

typedef struct lister {
    const pbi_rev_sets *m;
    uint64_t state, memory;
    pbi_rev_move *out;
    unsigned count;
} lister;

static void list(lister *l, uint64_t next, uint64_t cost, uint64_t during)
{
    if (during > l->m->cap)
        return;
    if (l->count < PBI_REV_MOVES)
        l->out[l->count] = (pbi_rev_move){next, cost};
    l->count += l->count <= PBI_REV_MOVES;
}

static void list_computes(lister *l, unsigned v)
{
    const pbi_rev_sets *m = l->m;
    bool resident = l->state & bit(v);
    if ((m->byproducts & bit(v)) || (m->used[v] != PBI_REV_NONE && (l->state & bit(m->used[v]))))
        return;
    uint64_t parts = m->parts[v] & ~l->state, also = parts;
    uint64_t made = bit(v) | (m->used[v] != PBI_REV_NONE ? bit(m->used[v]) : 0);
    if (resident && !parts)
        return;
    for (;; also = (also - 1) & parts) {
        uint64_t next = l->state | made | also;
        uint64_t extra = pbi_rev_memory(m, also) - m->base + m->workspace[v];
        if (!resident || also)
            list(l, next, m->cost[v], l->memory + (resident ? 0 : m->size[v]) + extra);
        for (uint64_t over = resident ? 0 : m->inplace[v]; over; over &= over - 1) {
            unsigned u = pbi_lowest(over);
            uint64_t grows = m->size[v] > m->size[u] ? m->size[v] - m->size[u] : 0;
            list(l, next & ~bit(u), m->cost[v], l->memory + grows + extra);
        }
        if (!also)
            break;
    }
}

unsigned pbi_rev_moves(const pbi_rev_sets *m, uint64_t state, pbi_rev_move *out)
{
    lister l = {.m = m, .state = state, .memory = pbi_rev_memory(m, state), .out = out};
    for (uint64_t left = m->values; left; left &= left - 1) {
        unsigned v = pbi_lowest(left);
        if (m->in[v] & ~state)
            continue;
        if (state & bit(v))
            list(&l, state & ~bit(v), m->cost[v], l.memory + m->workspace[v]);
        if (!(state & bit(v)) || m->parts[v])
            list_computes(&l, v);
    }
    return l.count;
}
