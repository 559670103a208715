/* anneal.c -- see anneal.h. */
#include "plan/reversible/anneal/anneal.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/context.h"

#include <math.h>

enum {
    PERIOD = 256, /* proposals between polls of the clock */
    LEVELS = 48   /* caps from the loosest to the target */
};

#define LOWERING 0.5 /* fraction of the proposals during which the cap falls */

#define LAST_PRICE 10.0 /* factor on the final price */

static void keep_best(pbi_rev_anneal *a)
{
    pbi_rev_spans_read(&a->l, a->best.unit);
    a->best.count = a->l.filled;
    a->best_peak = pbi_slots_peak(&a->l.profile);
    a->best_cost = pbi_rev_value(&a->l) + a->m->alpha * a->best_peak;
    if (a->better && a->l.work < 0x1p63)
        a->better(a->better_state, a->m->base + (uint64_t)a->best_peak * a->m->unit, (uint64_t)a->l.work);
}

/* Is the current state a plan, and better? Its peak counts as the current cap: that is quick, and caps fall. Plans
 * within caps above the target matter if the peak has a weight. */
static bool is_better(const pbi_rev_anneal *a)
{
    const pbi_memory_slots *p = &a->l.profile;
    if (p->excess || p->cap > (a->m->alpha > 0 ? a->limit : a->cap))
        return false;
    return pbi_rev_value(&a->l) + a->m->alpha * p->cap < a->best_cost;
}

static void step(pbi_rev_anneal *a)
{
    double allowed = -a->temperature * log(1 - pbi_rng_real(&a->rng)), value = pbi_rev_value(&a->l);
    uint64_t excess = a->l.profile.excess;
    /* at best all excess disappears */
    a->p.max_cost = a->m->beta > 0 ? INFINITY : value + allowed + a->price * (double)excess;
    bool made = pbi_rev_propose(&a->p);
    double change = pbi_rev_value(&a->l) - value + a->price * (double)(int64_t)(a->l.profile.excess - excess);
    if (!made || change > allowed) {
        pbi_rev_undo(&a->l, 0);
        return;
    }
    a->accepted++;
    PB_ASSERT(a->accepted % 1024 || pbi_rev_spans_check(&a->l));
    if (is_better(a))
        keep_best(a);
}

bool pbi_rev_anneal_init(pbi_rev_anneal *a, const pbi_rev_model *m, uint64_t seed, uint32_t room, int32_t limit,
                         pb_arena *arena)
{
    *a = (pbi_rev_anneal){.ctx = arena->ctx, .m = m, .rng = {seed}, .limit = limit, .best_cost = INFINITY};
    if (!pbi_rev_spans_init(&a->l, m, room, arena))
        return false;
    a->best.unit = pb_arena_alloc(arena, a->l.room, sizeof *a->best.unit);
    a->order = pb_arena_alloc(arena, a->l.room, sizeof *a->order);
    a->p = (pbi_rev_proposer){.l = &a->l, .rng = &a->rng};
    double size = 0;
    for (uint32_t u = 0; u < m->count; u++)
        size += m->size[u];
    a->base_price = m->average * (double)m->count / (size > 1 ? size : 1);
    return a->best.unit && a->order;
}

void pbi_rev_anneal_start(pbi_rev_anneal *a, const pbi_rev_list *from, int32_t cap)
{
    a->cap = a->l.profile.cap = cap;
    pbi_rev_spans_load(&a->l, from->unit, from->count);
    a->best_cost = INFINITY;
    if (is_better(a))
        keep_best(a);
}

/* Where slots are nearly all filled, nothing can be inserted: spreads the moves evenly again. */
static void respace(pbi_rev_anneal *a)
{
    uint32_t count = a->l.filled;
    PB_ASSERT(pbi_rev_spans_check(&a->l));
    pbi_rev_spans_read(&a->l, a->order);
    pbi_rev_spans_load(&a->l, a->order, count);
}

/* The cap falls in equal ratios: what is left out at a loose cap hardly matters, and each step is as hard as the
 * next. */
static void lower_cap(pbi_rev_anneal *a, const pbi_rev_course *c, double part)
{
    int32_t cap = a->cap;
    if (c->loosest > cap && part < LOWERING) {
        double level = (1 + floor(part / LOWERING * LEVELS)) / LEVELS;
        cap += (int32_t)((1.0 + cap) * (pow((1.0 + c->loosest) / (1.0 + cap), 1 - level) - 1));
    }
    if (cap != a->l.profile.cap)
        pbi_slots_set_cap(&a->l.profile, cap);
}

static void cool(pbi_rev_anneal *a, const pbi_rev_course *c, uint64_t done)
{
    double all = (double)c->proposals, part = (double)done / all, begin = c->loosest > a->cap ? LOWERING : 0;
    double rest = part < begin ? 1 : part < 1 ? (1 - part) / (1 - begin) : 0;
    lower_cap(a, c, part);
    a->temperature = a->m->average * c->cold * pow(c->hot / c->cold, rest);
    a->price = a->base_price * c->price * pow(c->price_from / c->price, rest);
    if (part > 1) /* no plan yet */
        a->price *= pow(LAST_PRICE, 4 * (part - 1));
}

/* A quarter more while there is no plan. */
static bool has_more(const pbi_rev_anneal *a, const pbi_rev_course *c, uint64_t done)
{
    return done < c->proposals || (done < c->proposals + c->proposals / 4 && a->best_cost == INFINITY);
}

static bool is_crowded(const pbi_rev_spans *l)
{
    return l->profile.slots < l->room && l->filled > l->profile.slots - l->profile.slots / 4;
}

pb_status pbi_rev_anneal_run(pbi_rev_anneal *a, const pbi_rev_course *course)
{
    pb_status status = PB_OK;
    uint64_t spread = a->accepted;
    for (uint64_t n = 0; has_more(a, course, n) && status == PB_OK && a->best_cost > course->enough; n++) {
        if (n % PERIOD == 0) {
            cool(a, course, n);
            status = pbi_tick(a->ctx, PERIOD);
        }
        if (a->accepted - spread >= a->l.profile.slots || is_crowded(&a->l)) {
            respace(a);
            spread = a->accepted;
        }
        step(a);
    }
    return status;
}
