/* tiered_steps.c -- see tiered.h: every step from a state.
 *
 * The values evicted for a step are a minimal set, and each of them is stored in any of the tiers, or in none. If
 * everything fits, nothing is evicted and nothing is overwritten.
 */
#include "base/checked.h"
#include "plan/statespace/set.h"
#include "plan/statespace/tiered.h"

enum { PERIOD = 16 /* choices between polls of the clock */ };

typedef struct walk {
    const pbi_tier_model *m;
    const pbi_tier_state *from;
    const pbi_tier_taker *to;
    pbi_tier_step step;
    pbi_tier_way way; /* of the computation */
    uint64_t made;    /* values that the step makes resident */
    uint64_t lack;    /* room that has to be made */
    uint64_t memory;  /* in use now */
    unsigned polls;
    bool over;
} walk;

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

static bool may_continue(walk *w)
{
    if (++w->polls % PERIOD == 0 && !w->to->poll(w->to->state))
        w->over = true;
    return !w->over;
}

static void finish(walk *w)
{
    const pbi_tier_model *m = w->m;
    pbi_tier_step *s = &w->step;
    s->next = *w->from;
    s->next.fast = (s->next.fast & ~s->gone & ~(s->over == PBI_TIER_NONE ? 0 : bit(s->over))) | w->made;
    s->next.ever |= w->made & (m->targets | m->once | m->recovered) & ~m->given;
    for (unsigned t = 0; t < m->tiers; t++)
        s->next.slow[t] |= s->stored[t];
    if (s->op == PB_DROP)
        s->next.slow[s->tier] &= ~bit(s->node);
    if (!w->to->take(w->to->state, s))
        w->over = true;
}

/* ---- where what goes is stored ---- */

/* Is there another copy that remains, and is as cheap to load? */
static bool has_better_copy(const walk *w, unsigned b, unsigned t)
{
    const pbi_tier_model *m = w->m;
    for (unsigned k = 0; k < m->tiers; k++) {
        bool there = (w->from->slow[k] | w->step.stored[k]) & bit(b);
        if (k != t && there && m->tier_cap[k] == PB_UNLIMITED && m->load[k][b] <= m->load[t][b])
            return true;
    }
    return false;
}

static bool can_store(const walk *w, unsigned b, unsigned t)
{
    const pbi_tier_model *m = w->m;
    uint64_t there = w->from->slow[t] | w->step.stored[t];
    if ((there & bit(b)) || m->store[t][b] == PBI_TIER_NEVER || has_better_copy(w, b, t))
        return false;
    return m->tier_cap[t] == PB_UNLIMITED || pbi_tier_sizes(m, there | bit(b)) <= m->tier_cap[t];
}

/* `left`: evicted values without a choice yet, the lowest from tier t on. */
static void choose_stores(walk *w, uint64_t left, unsigned t)
{
    if (!may_continue(w))
        return;
    if (!left) {
        finish(w);
        return;
    }
    if (t == w->m->tiers) {
        choose_stores(w, left & (left - 1), 0);
        return;
    }
    unsigned b = pbi_lowest(left);
    choose_stores(w, left, t + 1);
    if (w->over || !can_store(w, b, t))
        return;
    uint64_t before = w->step.cost;
    w->step.cost = pbi_add_saturated(before, w->m->store[t][b]);
    w->step.stored[t] |= bit(b);
    choose_stores(w, left, t + 1);
    w->step.stored[t] &= ~bit(b);
    w->step.cost = before;
}

/* ---- what goes ---- */

static void emit_step(walk *w)
{
    uint64_t over = w->step.over == PBI_TIER_NONE ? 0 : bit(w->step.over);
    choose_stores(w, (w->step.gone & ~w->made) | over, 0);
}

/* Every minimal set of candidates that frees what is lacking. `sum` of its sizes, `min` of them. */
static void choose_gone(walk *w, uint64_t candidates, uint64_t sum, uint64_t min)
{
    if (!may_continue(w))
        return;
    if (sum >= w->lack) {
        if (!sum || sum - min < w->lack)
            emit_step(w);
        return;
    }
    if (pbi_tier_sizes(w->m, candidates) < w->lack - sum)
        return;
    for (; candidates && !w->over; candidates &= candidates - 1) {
        unsigned b = pbi_lowest(candidates);
        uint64_t size = w->m->size[b];
        if (!size)
            continue;
        w->step.gone |= bit(b);
        choose_gone(w, candidates & (candidates - 1), pbi_add_saturated(sum, size), size < min ? size : min);
        w->step.gone &= ~bit(b);
    }
}

static uint64_t lack_of(const walk *w, uint64_t memory, uint64_t more)
{
    uint64_t need = pbi_add_saturated(memory, more);
    return need > w->m->cap ? need - w->m->cap : 0;
}

/* ---- steps ---- */

/* In place. If v is `resident`, it is freed before: it cannot be computed over another value while it is resident. */
static void compute_over(walk *w, unsigned v, uint64_t more, bool resident)
{
    const pbi_tier_model *m = w->m;
    for (uint64_t left = w->way.inplace; left && !w->over; left &= left - 1) {
        unsigned u = pbi_lowest(left);
        uint64_t larger = m->size[v] > m->size[u] ? m->size[v] - m->size[u] : 0;
        w->step.over = u;
        w->step.gone = resident ? bit(v) : 0;
        w->lack = lack_of(w, w->memory - (resident ? m->size[v] : 0), pbi_add_saturated(more, larger));
        choose_gone(w, w->from->fast & ~w->way.in & ~bit(v), 0, UINT64_MAX);
    }
    w->step.over = PBI_TIER_NONE;
    w->step.gone = 0;
}

/* With these by-products. False: it fits as it is. */
static bool compute_with(walk *w, unsigned v, uint64_t also)
{
    const pbi_tier_model *m = w->m;
    bool resident = w->from->fast & bit(v);
    uint64_t more = pbi_add_saturated(pbi_tier_sizes(m, also), w->way.workspace);
    w->step.also = also;
    w->step.cost = w->way.cost;
    w->made = bit(v) | also;
    w->lack = lack_of(w, w->memory, pbi_add_saturated(more, resident ? 0 : m->size[v]));
    bool lacks = w->lack > 0;
    choose_gone(w, w->from->fast & ~w->way.in & ~bit(v), 0, UINT64_MAX);
    if (lacks && !w->over)
        compute_over(w, v, more, resident);
    return lacks;
}

static void compute(walk *w, unsigned v)
{
    const pbi_tier_model *m = w->m;
    const pbi_tier_state *s = w->from;
    uint64_t parts = m->parts[v] & ~s->fast, also = parts;
    if ((m->in[v] & ~s->fast) || (m->once & s->ever & bit(v)) || ((s->fast & bit(v)) && !parts))
        return;
    w->step.op = PB_COMPUTE;
    w->step.node = v;
    w->step.tier = 0;
    w->way = pbi_tier_way_of(m, v, 0);
    bool more = compute_with(w, v, parts);
    while (more && also && !w->over) { /* without some of them, if all do not fit */
        also = (also - 1) & parts;
        if (also || !(s->fast & bit(v)))
            compute_with(w, v, also);
    }
    w->step.also = 0;
}

static void compute_by_recipes(walk *w, unsigned v)
{
    const pbi_tier_model *m = w->m;
    const pbi_tier_state *s = w->from;
    if ((s->fast & bit(v)) || !((m->given | s->ever) & m->recovered & bit(v)))
        return;
    for (uint32_t by = pb_graph_recipes(m->game->graph, m->node[v]); by > 0 && !w->over; by--) {
        w->way = pbi_tier_way_of(m, v, by);
        if (w->way.in & ~s->fast)
            continue;
        w->step.op = PB_COMPUTE;
        w->step.node = v;
        w->step.tier = 0;
        w->step.by = by;
        compute_with(w, v, 0);
    }
    w->step.by = 0;
}

/* From the cheapest tier. */
static void load(walk *w, unsigned b)
{
    const pbi_tier_model *m = w->m;
    unsigned from = PBI_TIER_NONE;
    for (unsigned t = 0; t < m->tiers; t++)
        if ((w->from->slow[t] & bit(b)) && (from == PBI_TIER_NONE || m->load[t][b] < m->load[from][b]))
            from = t;
    if (from == PBI_TIER_NONE || (w->from->fast & bit(b)))
        return;
    w->step.op = PB_LOAD;
    w->step.node = b;
    w->step.tier = from;
    w->step.cost = m->load[from][b];
    w->made = bit(b);
    w->lack = lack_of(w, w->memory, m->size[b]);
    choose_gone(w, w->from->fast, 0, UINT64_MAX);
}

/* Only a tier that may be full. */
static void drop_copy(walk *w, unsigned b)
{
    w->step.op = PB_DROP;
    w->step.node = b;
    w->step.cost = 0;
    w->made = 0;
    for (unsigned t = 0; t < w->m->tiers && !w->over; t++)
        if (w->m->tier_cap[t] != PB_UNLIMITED && (w->from->slow[t] & bit(b))) {
            w->step.tier = t;
            finish(w);
        }
}

void pbi_tier_steps(const pbi_tier_model *m, const pbi_tier_state *from, const pbi_tier_taker *to)
{
    walk w = {.m = m, .from = from, .to = to, .step = {.over = PBI_TIER_NONE}};
    w.memory = m->base + pbi_tier_sizes(m, from->fast);
    for (unsigned b = 0; b < m->bits && !w.over; b++) {
        if (m->makers & bit(b))
            compute(&w, b);
        if (!w.over)
            compute_by_recipes(&w, b);
        if (!w.over)
            load(&w, b);
        if (!w.over)
            drop_copy(&w, b);
    }
}
