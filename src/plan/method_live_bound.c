/* method_live_bound.c -- what every continuation of a state must do.
 *
 * Missing: a goal that is not there must be computed, and so must inputs of what must be computed that are not there.
 *
 * The cap: look at the first computation of a missing node z. What is computed only after it because it reads, at some
 * distance, what z makes, will read values of its own; each of those is in memory beside z, or is made again later. Of the
 * ones that are there now, or are missing and must be made before z, making them again comes on top of the missing work.
 * What does not fit beside z is therefore paid for: at the least the cheapest per size, as if nodes could be made in part.
 *
 * Use: reading a value that no missing node reads takes a chain of further computations up to a missing node or a kept
 * value; the cheapest chain is a shortest path.
 */
#include "base/checked.h"
#include "plan/method_live.h"

#include <string.h>

pbi_set pbi_live_spent(const pbi_live_model *m, pbi_set state)
{
    pbi_set spent = m->given;
    for (pbi_set left = pbi_set_and(state, m->once_marks); pbi_set_any(left);)
        pbi_set_put(&spent, m->marked[pbi_set_pop(&left)]);
    return spent;
}

bool pbi_live_look(const pbi_live_model *m, pbi_set state, pbi_live_view *view)
{
    pbi_set spent = pbi_live_spent(m, state), due = pbi_set_less(m->keep, state);
    for (pbi_set left = pbi_set_less(m->target_marks, state); pbi_set_any(left);)
        pbi_set_put(&due, m->marked[pbi_set_pop(&left)]);
    view->missing = (pbi_set){{0, 0}};
    view->listed = 0;
    view->work = 0;
    while (pbi_set_any(due)) {
        unsigned node = m->maker[pbi_set_pop(&due)];
        if (pbi_set_has(view->missing, node))
            continue;
        if (pbi_set_has(spent, node))
            return false;
        pbi_set_put(&view->missing, node);
        view->list[view->listed++] = (uint8_t)node;
        view->work += m->cost[node]; /* at most the needed cost, which fits */
        due = pbi_set_or(due, pbi_set_less(m->in[node], state));
    }
    return true;
}

static uint64_t sum_sizes(const pbi_live_model *m, pbi_set set)
{
    uint64_t sum = 0;
    while (pbi_set_any(set))
        sum += m->size[pbi_set_pop(&set)];
    return sum;
}

/* The least cost of making nodes again that give back `lack`, out of `values`. */
static uint64_t pay(const pbi_live_model *m, pbi_set values, uint64_t lack)
{
    pbi_set nodes = {{0, 0}};
    uint64_t paid = 0, least = PBI_LIVE_NEVER;
    for (pbi_set left = values; pbi_set_any(left);)
        pbi_set_put(&nodes, m->maker[pbi_set_pop(&left)]);
    for (uint32_t k = 0; k < m->cheap_count; k++) {
        unsigned node = m->cheap[k];
        if (!pbi_set_has(nodes, node))
            continue;
        uint64_t weight = m->weight[node], cost = m->cost[node];
        least = cost < least ? cost : least;
        if (lack == 0)
            continue;
        if (weight <= lack) {
            paid = pbi_add_saturated(paid, cost);
            lack -= weight;
        } else { /* a part of it; rounded down by more than the floating point can be wrong */
            double part = (double)cost * ((double)lack / (double)weight) * (1 - 1e-9);
            paid = pbi_add_saturated(paid, part >= 1 ? (uint64_t)part : 0);
            lack = 0;
        }
    }
    return paid > least ? paid : least;
}

/* What the first computation of z costs beyond the missing work. */
static uint64_t squeeze(const pbi_live_model *m, unsigned z, pbi_set there, const pbi_live_sums *s)
{
    pbi_set late = pbi_set_or(s->made[z], m->outs[z]);
    pbi_set wanted = pbi_set_less(s->read[z], pbi_set_or(late, m->in[z]));
    wanted = pbi_set_and(wanted, pbi_set_or(there, s->before[z]));
    uint64_t total = sum_sizes(m, wanted), room = m->room - m->least[z];
    if (total <= room)
        return 0;
    uint64_t lack = total - room, lasting = 0;
    pbi_set fixed = {{0, 0}};
    for (pbi_set left = wanted; pbi_set_any(left);) {
        unsigned v = pbi_set_pop(&left), node = m->maker[v];
        if (pbi_set_has(m->given, node) || pbi_set_has(m->once, node)) {
            pbi_set_put(&fixed, v);
            lasting += m->size[v];
        }
    }
    if (total - lasting < lack)
        return PBI_LIVE_NEVER;
    return pay(m, pbi_set_less(wanted, fixed), lack);
}

uint64_t pbi_live_extra(const pbi_live_model *m, pbi_set state, const pbi_live_view *view, pbi_live_sums *s)
{
    pbi_set missing_values = {{0, 0}};
    uint64_t most = 0;
    for (uint32_t i = 0; i < view->listed; i++) { /* readers first: what follows z, and what that reads */
        unsigned r = view->list[i];
        missing_values = pbi_set_or(missing_values, m->outs[r]);
        for (pbi_set left = pbi_set_less(m->in[r], state); pbi_set_any(left);) {
            unsigned z = m->maker[pbi_set_pop(&left)];
            s->made[z] = pbi_set_or(s->made[z], pbi_set_or(m->outs[r], s->made[r]));
            s->read[z] = pbi_set_or(s->read[z], pbi_set_or(m->in[r], s->read[r]));
        }
    }
    for (uint32_t i = view->listed; i-- > 0;) { /* inputs first: what comes before z */
        unsigned r = view->list[i];
        for (pbi_set left = pbi_set_less(m->in[r], state); pbi_set_any(left);) {
            unsigned z = m->maker[pbi_set_pop(&left)];
            s->before[r] = pbi_set_or(s->before[r], pbi_set_or(m->outs[z], s->before[z]));
        }
    }
    pbi_set there = pbi_set_less(pbi_set_and(state, m->values), missing_values);
    for (uint32_t i = 0; i < view->listed; i++) {
        unsigned z = view->list[i];
        uint64_t cost = most == PBI_LIVE_NEVER || m->least[z] > m->room ? PBI_LIVE_NEVER : squeeze(m, z, there, s);
        most = cost > most ? cost : most;
    }
    for (uint32_t i = 0; i < view->listed; i++) {
        unsigned z = view->list[i];
        s->made[z] = s->read[z] = s->before[z] = (pbi_set){{0, 0}};
    }
    return most;
}

void pbi_live_use(const pbi_live_model *m, pbi_set state, pbi_live_view *view)
{
    uint64_t node_use[PBI_LIVE_BITS];
    pbi_set spent = pbi_live_spent(m, state);
    for (unsigned v = 0; v < m->count; v++) { /* readers and by-products come before */
        uint64_t least = PBI_LIVE_NEVER;
        for (pbi_set left = m->readers[v]; pbi_set_any(left);) {
            unsigned r = pbi_set_pop(&left);
            least = node_use[r] < least ? node_use[r] : least;
        }
        view->useful[v] = pbi_set_has(m->keep, v) ? 0 : least;
        if (m->maker[v] != v)
            continue;
        for (pbi_set left = m->outs[v]; pbi_set_any(left);) {
            unsigned out = pbi_set_pop(&left);
            least = view->useful[out] < least ? view->useful[out] : least;
        }
        if (pbi_set_has(view->missing, v))
            node_use[v] = 0;
        else
            node_use[v] = pbi_set_has(spent, v) ? PBI_LIVE_NEVER : pbi_add_saturated(least, m->cost[v]);
    }
}
