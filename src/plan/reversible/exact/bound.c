/* bound.c -- a lower bound on the work from a state of the reversible game to an end.
 *
 * Unavoidable moves. A node that is resident at only one of the two is moved at least once, its inputs are resident
 * then, and an input that is not resident now is computed before; unless it is kept, it is uncomputed, too.
 *
 * Moves because of the cap, in plain games. Consider any unavoidable move of a node z. A node is *earlier* if it
 * must be resident now or at some moment until then: what is resident now, what z reads, and what is read by an
 * earlier node that is not resident now and hence computed before. It is *later* if it must be resident then or
 * afterwards: what z reads, what is kept at the end, and what is read by a later node that is not kept and hence
 * uncomputed after. A node that is both and is not resident at the move is computed twice, or removed and
 * recomputed: two moves more than counted above. What does not fit into memory at the move is paid for by the nodes
 * that are cheapest for their size.
 *
 * Of several nodes that must be computed for the end, the last one computed has all the others earlier; of those
 * that must be removed, the first one removed has all the others later: the minimum over the choice of that
 * node counts.
 */
#include "plan/reversible/exact/exact.h"

#include "base/checked.h"
#include "plan/statespace/set.h"

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

void pbi_rev_aim_init(pbi_rev_aim *aim, const pbi_rev_sets *m, uint64_t end)
{
    aim->m = m;
    aim->end = end;
    for (unsigned v = m->bits; v-- > 0;) { /* inputs first */
        uint64_t set = m->in[v];
        for (uint64_t left = m->in[v] & ~end; left; left &= left - 1)
            set |= aim->later[pbi_lowest(left)];
        aim->later[v] = set;
    }
}

/* Work above 2^64 is too much, but does not prove that the end cannot be reached. */
static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum = pbi_add_saturated(a, b);
    return sum < PBI_REV_TOO_MUCH ? sum : PBI_REV_TOO_MUCH;
}

/* The least cost of removing `excess` and computing it again, with some of these nodes. */
static uint64_t removal_cost(const pbi_rev_sets *m, uint64_t set, uint64_t excess)
{
    uint64_t sum = 0, part;
    for (unsigned i = 0; i < m->cheap_count; i++) {
        unsigned v = m->cheap[i];
        if (!(set & bit(v)))
            continue;
        if (m->size[v] < excess) {
            sum = add(sum, add(m->cost[v], m->cost[v]));
            excess -= m->size[v];
            continue;
        }
        if (m->cost[v] <= UINT64_MAX / 2 && pbi_mul(2 * m->cost[v], excess, &part))
            return add(sum, part / m->size[v] + (part % m->size[v] != 0));
        return add(sum, m->cost[v] / m->size[v] * excess);
    }
    return PBI_REV_NEVER;
}

/* What a move of z costs beyond the unavoidable moves, if these nodes must be resident before and after. */
static uint64_t extra_at(const pbi_rev_sets *m, unsigned z, uint64_t both)
{
    uint64_t needed = m->in[z] | bit(z);
    uint64_t memory = pbi_rev_memory(m, both | needed) + m->workspace[z];
    return memory <= m->cap ? 0 : removal_cost(m, both & ~needed & ~m->once, memory - m->cap);
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t extra_for_cap(const pbi_rev_aim *aim, uint64_t now, const uint8_t *touched, unsigned count)
{
    const pbi_rev_sets *m = aim->m;
    uint64_t earlier[PBI_REV_BITS];
    uint64_t extra = 0, made = aim->end & ~now, gone = now & ~aim->end;
    uint64_t last_made = PBI_REV_NEVER, first_gone = PBI_REV_NEVER;
    for (unsigned i = count; i-- > 0 && extra != PBI_REV_NEVER;) { /* inputs first */
        unsigned z = touched[i];
        uint64_t set = m->in[z];
        for (uint64_t left = m->in[z] & ~now; left; left &= left - 1)
            set |= earlier[pbi_lowest(left)];
        earlier[z] = set;
        uint64_t before = set | now, after = aim->later[z] | aim->end;
        uint64_t own = extra_at(m, z, before & after);
        extra = larger(extra, own);
        if (made & bit(z))
            last_made = smaller(last_made, made == bit(z) ? own : extra_at(m, z, (before | made) & after));
        if (gone & bit(z))
            first_gone = smaller(first_gone, gone == bit(z) ? own : extra_at(m, z, before & (after | gone)));
    }
    if (extra != PBI_REV_NEVER && made)
        extra = larger(extra, last_made);
    if (extra != PBI_REV_NEVER && gone)
        extra = larger(extra, first_gone);
    return extra;
}

static uint64_t rest_of_plain(const pbi_rev_aim *aim, uint64_t state)
{
    const pbi_rev_sets *m = aim->m;
    uint8_t touched[PBI_REV_BITS];
    unsigned count = 0;
    uint64_t now = state & m->values, differs = now ^ aim->end, needed = differs, done = 0, sum = 0;
    for (uint64_t left; (left = needed & ~done) != 0;) { /* readers first: what v needs comes after it */
        unsigned v = pbi_lowest(left);
        done |= bit(v);
        touched[count++] = (uint8_t)v;
        needed |= m->in[v] & ~now;
        sum = add(sum, m->cost[v]);
        if (!(differs & bit(v)))
            sum = add(sum, m->cost[v]);
        if (m->used[v] != PBI_REV_NONE && !(now & bit(v)) && (state & bit(m->used[v])))
            return PBI_REV_NEVER;
    }
    uint64_t memory = pbi_rev_memory(m, now | done | aim->end);
    if (!count || (memory <= m->cap && m->max_workspace <= m->cap - memory))
        return sum;
    uint64_t extra = extra_for_cap(aim, now, touched, count);
    return extra == PBI_REV_NEVER ? PBI_REV_NEVER : add(sum, extra);
}

/* With in-place moves a value may be removed at no cost, and by-products are computed and removed with others. */
static uint64_t rest_of_rich(const pbi_rev_aim *aim, uint64_t state)
{
    const pbi_rev_sets *m = aim->m;
    uint64_t now = state & m->values, needed = aim->end & ~now, run = 0, sum = 0;
    for (unsigned v = 0; v < m->bits; v++) {
        uint64_t b = bit(v);
        bool goes = !(aim->end & b) && !(m->overwritten & b);
        if (m->byproducts & b) {
            if (needed & b)
                run |= bit(m->owner[v]);
            else if (goes && (now & b))
                needed |= m->in[v] & ~now;
            continue;
        }
        bool runs = (needed | run) & b, leaves = goes && (runs || (now & b));
        if (runs && m->used[v] != PBI_REV_NONE && (state & bit(m->used[v])))
            return PBI_REV_NEVER;
        if (runs || leaves)
            needed |= m->in[v] & ~now;
        sum = add(sum, runs ? m->cost[v] : 0);
        sum = add(sum, leaves ? m->cost[v] : 0);
    }
    return sum;
}

uint64_t pbi_rev_rest(const pbi_rev_aim *aim, uint64_t state)
{
    return aim->m->plain ? rest_of_plain(aim, state) : rest_of_rich(aim, state);
}
