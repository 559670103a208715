/* symmetry.c -- parts of a graph that can change places.
 *
 * Two nodes of equal figures that the same nodes read, with all that only one of them needs, are exchanged by an
 * automorphism of the graph: leaves of one parent, or equal subtrees. A state and its image need equal work to any
 * end that the map preserves, so only one of them has to be searched. Nodes are matched by colours that are refined
 * from their figures, inputs and readers; a map that is not an automorphism is dropped.
 */
#include "plan/reversible/exact/exact.h"

#include "plan/statespace/set.h"

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static bool are_alike(const pbi_rev_sets *m, unsigned a, unsigned b)
{
    return m->cost[a] == m->cost[b] && m->size[a] == m->size[b] && m->workspace[a] == m->workspace[b] &&
           (m->end >> a & 1) == (m->end >> b & 1);
}

static uint64_t sum_colours(const uint64_t *colour, uint64_t set)
{
    uint64_t sum = 0;
    for (; set; set &= set - 1)
        sum += mix(colour[pbi_lowest(set)]);
    return sum;
}

static void colour_nodes(const pbi_rev_sets *m, const uint64_t *out, uint64_t *colour)
{
    uint64_t next[PBI_REV_BITS];
    for (unsigned v = 0; v < m->bits; v++)
        colour[v] = mix(m->cost[v]) + 3 * mix(m->size[v]) + 5 * mix(m->workspace[v]) + (m->end >> v & 1);
    for (unsigned round = 0; round < m->bits; round++) {
        for (unsigned v = 0; v < m->bits; v++)
            next[v] = mix(colour[v] + 7 * sum_colours(colour, m->in[v]) + 11 * sum_colours(colour, out[v]));
        for (unsigned v = 0; v < m->bits; v++)
            colour[v] = next[v];
    }
}

/* Is the exchange an automorphism of the graph? */
static bool keeps_graph(const pbi_rev_sets *m, const uint8_t *to)
{
    for (unsigned v = 0; v < m->bits; v++) {
        uint64_t image = 0;
        for (uint64_t left = m->in[v]; left; left &= left - 1)
            image |= bit(to[pbi_lowest(left)]);
        if (to[to[v]] != v || image != m->in[to[v]] || !are_alike(m, v, to[v]))
            return false;
    }
    return true;
}

/* An exchange under construction: where each node goes, and the pairs, whose inputs are still to be matched. */
typedef struct exchange {
    uint8_t to[PBI_REV_BITS], pair[PBI_REV_BITS / 2][2];
    unsigned count;
} exchange;

static void add_pair(exchange *e, unsigned a, unsigned b)
{
    e->to[a] = e->pair[e->count][1] = (uint8_t)b;
    e->to[b] = e->pair[e->count++][0] = (uint8_t)a;
}

/* Matches what only one of x and y reads, by colour; false if that fails. */
static bool match_inputs(const pbi_rev_sets *m, const uint64_t *colour, unsigned x, unsigned y, exchange *e)
{
    uint64_t others = m->in[y] & ~m->in[x];
    for (uint64_t left = m->in[x] & ~m->in[y]; left; left &= left - 1) {
        unsigned a = pbi_lowest(left);
        uint64_t candidates = others;
        while (candidates && colour[pbi_lowest(candidates)] != colour[a])
            candidates &= candidates - 1;
        if (!candidates)
            return false;
        unsigned b = pbi_lowest(candidates);
        others &= ~bit(b);
        if (e->to[a] == b && e->to[b] == a)
            continue;
        if (e->to[a] != a || e->to[b] != b || e->count == PBI_REV_BITS / 2)
            return false;
        add_pair(e, a, b);
    }
    return !others;
}

static void try_swap(pbi_rev_symmetry *sym, const pbi_rev_sets *m, const uint64_t *colour, unsigned a, unsigned b)
{
    exchange e = {.count = 0};
    for (unsigned v = 0; v < m->bits; v++)
        e.to[v] = (uint8_t)v;
    add_pair(&e, a, b);
    for (unsigned i = 0; i < e.count; i++)
        if (!match_inputs(m, colour, e.pair[i][0], e.pair[i][1], &e))
            return;
    if (!keeps_graph(m, e.to))
        return;
    unsigned at = sym->count++;
    sym->swap[at].pairs = (uint8_t)e.count;
    sym->swap[at].left = sym->swap[at].right = 0;
    for (unsigned i = 0; i < e.count; i++) {
        for (int k = 0; k < 2; k++)
            sym->swap[at].pair[i][k] = e.pair[i][k];
        sym->swap[at].left |= bit(e.pair[i][0]);
        sym->swap[at].right |= bit(e.pair[i][1]);
    }
}

void pbi_rev_symmetry_init(pbi_rev_symmetry *sym, const pbi_rev_sets *m)
{
    uint64_t out[PBI_REV_BITS] = {0}, colour[PBI_REV_BITS];
    sym->count = 0;
    if (!m->plain || m->once)
        return;
    for (unsigned v = 0; v < m->bits; v++)
        for (uint64_t left = m->in[v]; left; left &= left - 1)
            out[pbi_lowest(left)] |= bit(v);
    colour_nodes(m, out, colour);
    for (unsigned a = m->bits; a-- > 0;) /* small parts first: they are near the inputs */
        for (unsigned b = a; b-- > 0;)
            if (out[a] == out[b] && colour[a] == colour[b] && sym->count < PBI_REV_SWAPS) {
                try_swap(sym, m, colour, b, a);
                break; /* neighbours in a class are enough */
            }
}

uint64_t pbi_rev_canon(const pbi_rev_symmetry *sym, uint64_t state, uint8_t *place)
{
    enum { ROUNDS = 8 }; /* any image will do: it need not be the smallest */
    bool changed = sym->count > 0;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (unsigned i = 0; i < sym->count; i++) {
            uint64_t left = state & sym->swap[i].left, right = state & sym->swap[i].right, image = 0;
            if (!(left | right))
                continue;
            int order = 0;
            for (unsigned k = 0; k < sym->swap[i].pairs; k++) {
                unsigned a = sym->swap[i].pair[k][0], b = sym->swap[i].pair[k][1];
                unsigned x = state >> a & 1, y = state >> b & 1;
                order = order ? order : (int)x - (int)y;
                image |= (uint64_t)x << b | (uint64_t)y << a;
            }
            if (order >= 0)
                continue;
            state = (state & ~(sym->swap[i].left | sym->swap[i].right)) | image;
            changed = true;
            for (unsigned k = 0; place && k < sym->swap[i].pairs; k++) {
                uint8_t a = sym->swap[i].pair[k][0], b = sym->swap[i].pair[k][1], was = place[a];
                place[a] = place[b];
                place[b] = was;
            }
        }
    }
    return state;
}
