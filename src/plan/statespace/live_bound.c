/* live_bound.c -- what every continuation of a state must do.
 *
 * Missing: a target that was not computed yet and a kept value that is not resident must be computed, and so must
 * inputs of what must be computed that are not resident.
 *
 * The cap: consider the first computation of a missing node z. Nodes that are computed only after it, because they
 * read at some distance what z computes, also read other values; each of those is in memory while z is computed, or
 * is recomputed later. For those that are resident now, or are missing and must be computed before z, the
 * recomputation comes on top of the missing work. Values that do not fit in memory with z must therefore be paid
 * for: by the cheapest choice of nodes, or if that takes long to find, by the cheapest per size, as if nodes could
 * be recomputed in part.
 *
 * Use: reading a value that no missing node reads takes a chain of further computations up to a missing node or a
 * kept value; the cheapest chain is a shortest path.
 */
#include "base/checked.h"
#include "plan/statespace/live.h"

#include <string.h>

pbi_set pbi_live_spent(const pbi_live_model *m, pbi_set state)
{
    pbi_set spent = m->given;
    for (pbi_set left = pbi_set_and(state, m->once_marks); pbi_set_any(left);)
        pbi_set_add(&spent, m->marked[pbi_set_pop(&left)]);
    return spent;
}

bool pbi_live_find_missing(const pbi_live_model *m, pbi_set state, pbi_live_view *view)
{
    pbi_set spent = pbi_live_spent(m, state), due = pbi_set_less(m->keep, state);
    for (pbi_set left = pbi_set_less(m->target_marks, state); pbi_set_any(left);)
        pbi_set_add(&due, m->marked[pbi_set_pop(&left)]);
    view->missing = (pbi_set){{0, 0}};
    view->listed = 0;
    view->work = 0;
    while (pbi_set_any(due)) {
        unsigned node = m->maker[pbi_set_pop(&due)];
        if (pbi_set_has(view->missing, node))
            continue;
        if (pbi_set_has(spent, node))
            return false;
        pbi_set_add(&view->missing, node);
        view->list[view->listed++] = (uint8_t)node;
        view->work += m->cost[node]; /* at most the needed cost, which fits */
        due = pbi_set_or(due, pbi_set_less(m->in[node], state));
    }
    return true;
}

/* What may be recomputed to free memory, cheapest for its size first. */
typedef struct offers {
    uint32_t count;
    uint64_t cost[PBI_LIVE_BITS], weight[PBI_LIVE_BITS];
    uint64_t rest[PBI_LIVE_BITS + 1]; /* weight of those from here on */
} offers;

static void list_offers(const pbi_live_model *m, pbi_set values, offers *o)
{
    pbi_set nodes = {{0, 0}};
    o->count = 0;
    for (pbi_set left = values; pbi_set_any(left);)
        pbi_set_add(&nodes, m->maker[pbi_set_pop(&left)]);
    for (uint32_t k = 0; k < m->cheap_count; k++)
        if (pbi_set_has(nodes, m->cheap[k])) {
            o->weight[o->count] = m->weight[m->cheap[k]];
            o->cost[o->count++] = m->cost[m->cheap[k]];
        }
    o->rest[o->count] = 0;
    for (uint32_t k = o->count; k-- > 0;)
        o->rest[k] = pbi_add_saturated(o->rest[k + 1], o->weight[k]);
}

/* The cost of freeing `lack` by offers from `k` on, the last of them in part. */
static uint64_t partial_payment(const offers *o, uint32_t k, uint64_t lack, bool *whole)
{
    uint64_t paid = 0;
    *whole = true;
    for (; k < o->count && lack; k++) {
        uint64_t weight = o->weight[k], cost = o->cost[k];
        if (weight <= lack) {
            paid = pbi_add_saturated(paid, cost);
            lack -= weight;
        } else { /* rounded down by more than the floating-point error */
            double part = (double)cost * ((double)lack / (double)weight) * (1 - 1e-9);
            paid = pbi_add_saturated(paid, part >= 1 ? (uint64_t)part : 0);
            *whole = cost == 0;
            lack = 0;
        }
    }
    return paid;
}

/* The least cost of offers that free `lack`, each taken or left as a whole: depth-first, taking first. What is still
 * open when the steps run out counts in part. */
static uint64_t min_payment(const offers *o, uint64_t lack)
{
    enum { STEPS = 200 };
    uint64_t lacks[PBI_LIVE_BITS + 1], paid[PBI_LIVE_BITS + 1], best = PBI_LIVE_NEVER;
    bool taken[PBI_LIVE_BITS + 1], whole;
    uint64_t min_cost = partial_payment(o, 0, lack, &whole);
    uint64_t cheapest = PBI_LIVE_NEVER; /* at least one of them */
    uint32_t at = 0, steps = 0;
    if (whole)
        return min_cost;
    for (uint32_t k = 0; k < o->count; k++)
        cheapest = o->cost[k] < cheapest ? o->cost[k] : cheapest;
    lacks[0] = lack;
    paid[0] = 0;
    bool down = true;
    for (;;) {
        if (down) {
            uint64_t bound = pbi_add_saturated(paid[at], partial_payment(o, at, lacks[at], &whole));
            bool closed = bound >= best || lacks[at] > o->rest[at];
            if (!closed && whole)
                best = bound;
            if (++steps > STEPS)
                return min_cost > cheapest ? min_cost : cheapest;
            if (!closed && !whole) {
                taken[at] = true;
                lacks[at + 1] = lacks[at] > o->weight[at] ? lacks[at] - o->weight[at] : 0;
                paid[at + 1] = pbi_add_saturated(paid[at], o->cost[at]);
                at++;
                continue;
            }
            down = false;
        }
        while (at > 0 && !taken[at - 1])
            at--;
        if (at == 0)
            return best;
        taken[at - 1] = false;
        lacks[at] = lacks[at - 1];
        paid[at] = paid[at - 1];
        down = true;
    }
}

/* What the first computation of z costs beyond the missing work. */
static uint64_t cost_at(const pbi_live_model *m, unsigned z, pbi_set resident, const pbi_live_sums *s)
{
    pbi_set late = pbi_set_or(s->made[z], m->outs[z]);
    pbi_set needed = pbi_set_less(s->read[z], pbi_set_or(late, m->in[z]));
    needed = pbi_set_and(needed, pbi_set_or(resident, s->before[z]));
    uint64_t total = pbi_live_size(m, needed), room = m->room - m->min_memory[z];
    if (total <= room)
        return 0;
    uint64_t lack = total - room;
    if (pbi_live_size(m, pbi_set_and(needed, m->costless)) >= lack)
        return 0;
    pbi_set loose = pbi_set_less(needed, m->lasting);
    if (pbi_live_size(m, loose) < lack)
        return PBI_LIVE_NEVER;
    offers o;
    list_offers(m, loose, &o);
    return min_payment(&o, lack);
}

/* The highest cost of a first computation, or any above `enough`: the node that excluded the last state comes first. */
static uint64_t max_cost_at(const pbi_live_model *m, pbi_set resident, const pbi_live_view *view, uint64_t enough,
                            pbi_live_sums *s)
{
    uint64_t max = pbi_set_has(view->missing, s->hint) ? cost_at(m, s->hint, resident, s) : 0;
    for (uint32_t i = 0; i < view->listed && max <= enough; i++) {
        unsigned z = view->list[i];
        uint64_t cost = m->min_memory[z] > m->room ? PBI_LIVE_NEVER : cost_at(m, z, resident, s);
        if (cost > max) {
            max = cost;
            s->hint = z;
        }
    }
    return max;
}

uint64_t pbi_live_extra(const pbi_live_model *m, pbi_set state, const pbi_live_view *view, uint64_t enough,
                        pbi_live_sums *s)
{
    pbi_set missing_values = {{0, 0}};
    for (uint32_t i = 0; i < view->listed; i++) { /* readers first: the nodes after z, and what they read */
        unsigned r = view->list[i];
        missing_values = pbi_set_or(missing_values, m->outs[r]);
        for (pbi_set left = pbi_set_less(m->in[r], state); pbi_set_any(left);) {
            unsigned z = m->maker[pbi_set_pop(&left)];
            s->made[z] = pbi_set_or(s->made[z], pbi_set_or(m->outs[r], s->made[r]));
            s->read[z] = pbi_set_or(s->read[z], pbi_set_or(m->in[r], s->read[r]));
        }
    }
    for (uint32_t i = view->listed; i-- > 0;) { /* inputs first: the nodes before z */
        unsigned r = view->list[i];
        for (pbi_set left = pbi_set_less(m->in[r], state); pbi_set_any(left);) {
            unsigned z = m->maker[pbi_set_pop(&left)];
            s->before[r] = pbi_set_or(s->before[r], pbi_set_or(m->outs[z], s->before[z]));
        }
    }
    pbi_set resident = pbi_set_less(pbi_set_and(state, m->values), missing_values);
    uint64_t max = max_cost_at(m, resident, view, enough, s);
    for (uint32_t i = 0; i < view->listed; i++) {
        unsigned z = view->list[i];
        s->made[z] = s->read[z] = s->before[z] = (pbi_set){{0, 0}};
    }
    return max;
}

void pbi_live_find_useful(const pbi_live_model *m, pbi_set state, pbi_live_view *view)
{
    uint64_t node_use[PBI_LIVE_BITS];
    pbi_set spent = pbi_live_spent(m, state);
    for (unsigned v = 0; v < m->count; v++) { /* readers and by-products come before */
        uint64_t min_use = PBI_LIVE_NEVER;
        for (pbi_set left = m->readers[v]; pbi_set_any(left);) {
            unsigned r = pbi_set_pop(&left);
            min_use = node_use[r] < min_use ? node_use[r] : min_use;
        }
        view->useful[v] = pbi_set_has(m->keep, v) ? 0 : min_use;
        if (m->maker[v] != v)
            continue;
        for (pbi_set left = m->outs[v]; pbi_set_any(left);) {
            unsigned out = pbi_set_pop(&left);
            min_use = view->useful[out] < min_use ? view->useful[out] : min_use;
        }
        if (pbi_set_has(view->missing, v))
            node_use[v] = 0;
        else
            node_use[v] = pbi_set_has(spent, v) ? PBI_LIVE_NEVER : pbi_add_saturated(min_use, m->cost[v]);
    }
}
