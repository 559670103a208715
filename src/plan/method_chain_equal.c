/* method_chain_equal.c -- adjoint chains of equal steps, exactly, with or without slow memory.
 *
 * A dynamic program over segments. A segment is reversed from its left end: run some steps on, leave that value in fast
 * memory or store it, reverse what lies behind it, then what lies before it. The left end is held in fast memory to the
 * last; or it lies in slow memory, and is in fast memory just now (copied) or not (stored: load it first). The right
 * end may be in either memory too, which a gradient that reads its output can use. Memory is told by the number of
 * values held outside the segment. Every part is reversed completely before the part in front of it begins.
 */
#include "base/context.h"
#include "game/price.h"
#include "plan/method_chain.h"
#include "plan/method_sequence.h"

#include <inttypes.h>

#define NEVER (UINT64_MAX / 4)

/* Where the right end of a segment is: nowhere, in slow memory, in fast memory, in both; or nowhere and the first
 * gradient is still to come. */
typedef enum kind { BARE, AWAY, HELD, BOTH, FIRST, KINDS } kind;

typedef struct tables {
    pb_context *ctx;
    pbi_chain c;
    uint64_t room;        /* cap without fixed_size */
    bool slow;            /* there is slow memory: */
    uint64_t store, load; /* its prices */
    bool cheap;           /* to load a value is cheaper than to run a step, so AWAY and BOTH count */
    uint32_t most;        /* values that fit at once */
    /* By number of values held outside, then by length: the left end is held, in both memories (copied), or in slow
     * memory only (stored). */
    uint64_t *held[KINDS], *copied[KINDS], *stored[KINDS];
} tables;

static size_t at(const tables *t, uint32_t held, uint32_t length) { return (size_t)held * (t->c.steps + 1) + length; }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Do `slots` values and `extra` fit beside `held` values and the gradient at hand? */
static bool fits(const tables *t, kind k, uint32_t held, uint32_t slots, uint64_t extra)
{
    uint64_t values = ((uint64_t)held + slots) * t->c.step_size;
    return values + (k == FIRST ? 0 : t->c.grad_size) + extra <= t->room;
}

static bool is_here(kind k) { return k == HELD || k == BOTH; }

/* The kind of a right end that was the left end of the part behind. */
static kind right_of(const tables *t, bool was_stored) { return was_stored && t->cheap ? BOTH : HELD; }

/* A single step whose left end is held: the gradient with what it reads. */
static uint64_t one_step(const tables *t, kind k, uint32_t held)
{
    uint64_t made = t->c.grad_inplace && k != FIRST ? 0 : t->c.grad_size;
    if (!fits(t, k, held, t->c.reads_output, made))
        return NEVER;
    if (!t->c.reads_output || is_here(k))
        return 0;
    return k == AWAY ? least(t->load, t->c.step_cost) : t->c.step_cost;
}

/* Can the first `steps` steps be run on? `own`: the left end is not held outside, but is there for the first. */
static bool can_run(const tables *t, kind k, uint32_t held, bool own, uint32_t steps)
{
    uint32_t slots = own ? 2 : steps == 1 || t->c.step_inplace ? 1 : 2;
    return fits(t, k, held, slots + is_here(k), 0);
}

/* Running j steps on, reversing what is behind with the new left end held or stored, then what is before. */
static uint64_t split_cost(const tables *t, kind k, uint32_t held, bool own, uint32_t length, uint32_t j, bool store)
{
    uint64_t *const *before = own ? t->stored : t->held;
    uint64_t behind = store            ? t->store + t->copied[k][at(t, held, length - j)]
                      : held < t->most ? t->held[k][at(t, held + 1, length - j)]
                                       : NEVER;
    return j * t->c.step_cost + least(behind, NEVER) + before[right_of(t, store)][at(t, held, j)];
}

/* The least over j from 1 to end - 1, as one plain loop. */
static uint64_t least_sum(const tables *t, const uint64_t *behind, const uint64_t *before, uint32_t length,
                          uint32_t end)
{
    uint64_t best = NEVER, cost = t->c.step_cost;
    for (uint32_t j = 1; j < end; j++)
        best = least(best, j * cost + behind[length - j] + before[j]);
    return best;
}

static uint64_t best_split(const tables *t, kind k, uint32_t held, bool own, uint32_t length)
{
    uint64_t *const *before = own ? t->stored : t->held;
    size_t row = at(t, held, 0);
    if (length < 2 || !can_run(t, k, held, own, 1))
        return NEVER;
    uint32_t end = can_run(t, k, held, own, 2) ? length : 2;
    uint64_t best = NEVER;
    if (held < t->most)
        best = least_sum(t, t->held[k] + at(t, held + 1, 0), before[right_of(t, false)] + row, length, end);
    if (t->slow)
        best = least(best, t->store + least_sum(t, t->copied[k] + row, before[right_of(t, true)] + row, length, end));
    return least(best, NEVER);
}

/* What holding on to the left end costs, from a state in which it is in fast memory. */
static uint64_t hold(const tables *t, kind k, uint32_t held, uint32_t length)
{
    return held < t->most ? t->held[k][at(t, held + 1, length)] : NEVER;
}

static uint64_t held_entry(const tables *t, kind k, uint32_t held, uint32_t length)
{
    return length == 1 ? one_step(t, k, held) : best_split(t, k, held, false, length);
}

static uint64_t copied_entry(const tables *t, kind k, uint32_t held, uint32_t length)
{
    return least(hold(t, k, held, length), best_split(t, k, held, true, length));
}

/* The kind that a right end becomes when fast memory lets it go. */
static kind without(kind k) { return k == BOTH ? AWAY : BARE; }

static bool is_used(const tables *t, kind k) { return (k != AWAY && k != BOTH) || t->cheap; }

/* All entries of one length and number of held values, once shorter lengths and more held values are known. */
static void fill_entry(tables *t, uint32_t held, uint32_t length)
{
    size_t here = at(t, held, length);
    for (kind k = BARE; k < KINDS; k++) {
        if (!is_used(t, k))
            continue;
        uint64_t f = held_entry(t, k, held, length);
        t->held[k][here] = is_here(k) ? least(f, t->held[without(k)][here]) : f;
        if (!t->slow)
            continue;
        uint64_t c = copied_entry(t, k, held, length);
        t->copied[k][here] = is_here(k) ? least(c, t->copied[without(k)][here]) : c;
        uint64_t s = fits(t, k, held, 1 + is_here(k), 0) ? t->load + t->copied[k][here] : NEVER;
        t->stored[k][here] = least(NEVER, is_here(k) ? least(s, t->stored[without(k)][here]) : s);
    }
}

static pb_status fill(tables *t, pb_arena *scratch)
{
    size_t entries = ((size_t)t->most + 1) * (t->c.steps + 1);
    for (kind k = BARE; k < KINDS; k++) {
        if (!is_used(t, k))
            continue;
        t->held[k] = pb_arena_alloc(scratch, entries, sizeof **t->held);
        t->copied[k] = t->slow ? pb_arena_alloc(scratch, entries, sizeof **t->copied) : NULL;
        t->stored[k] = t->slow ? pb_arena_alloc(scratch, entries, sizeof **t->stored) : NULL;
        if (!t->held[k] || (t->slow && (!t->copied[k] || !t->stored[k])))
            return PB_ENOMEM;
    }
    for (uint32_t length = 1; length <= t->c.steps; length++) {
        for (uint32_t held = t->most + 1; held-- > 0;)
            fill_entry(t, held, length);
        pb_status status = pbi_tick(t->ctx, (uint64_t)length * t->most);
        if (status != PB_OK)
            return status;
        pbi_progress(t->ctx, "chain", length, t->c.steps);
    }
    return PB_OK;
}

/* ---- the plan, by walking the table backwards ---- */

typedef enum left { LEFT_HELD, LEFT_COPIED, LEFT_STORED } left;

/* A segment to be reversed: `length` steps from x_start on. */
typedef struct task {
    uint32_t start, length, held;
    uint8_t left, kind;
} task;

typedef struct walk {
    const tables *t;
    pbi_sequence *s;
    task *stack;
    size_t depth;
} walk;

static void push(walk *w, task now) { w->stack[w->depth++] = now; }

static pb_status run_steps(walk *w, uint32_t start, uint32_t steps)
{
    pb_status status = PB_OK;
    for (uint32_t i = 1; i <= steps && status == PB_OK; i++)
        status = pbi_sequence_add(w->s, w->t->c.forward[start + i]);
    return status;
}

/* Finds the split that gives `cost`, runs its steps, and leaves the two parts on the stack. */
static pb_status follow_split(walk *w, task now, uint64_t cost)
{
    const tables *t = w->t;
    kind k = (kind)now.kind;
    bool own = now.left == LEFT_COPIED, store = false;
    for (uint32_t j = 1; j < now.length && can_run(t, k, now.held, own, j); j++, store = false) {
        if (split_cost(t, k, now.held, own, now.length, j, false) != cost) {
            store = t->slow && split_cost(t, k, now.held, own, now.length, j, true) == cost;
            if (!store)
                continue;
        }
        push(w, (task){now.start, j, now.held, own ? LEFT_STORED : LEFT_HELD, (uint8_t)right_of(t, store)});
        push(w, (task){now.start + j, now.length - j, now.held + !store, store ? LEFT_COPIED : LEFT_HELD, now.kind});
        return run_steps(w, now.start, j);
    }
    return pbi_fail(t->ctx, PB_EBUG, "the table of the chain has no split for its own value");
}

static pb_status follow_held(walk *w, task now)
{
    const tables *t = w->t;
    uint64_t cost = t->held[now.kind][at(t, now.held, now.length)];
    if (is_here((kind)now.kind) && cost != held_entry(t, (kind)now.kind, now.held, now.length))
        now.kind = (uint8_t)without((kind)now.kind); /* cheaper with the right end let go */
    if (now.length > 1)
        return follow_split(w, now, cost);
    pb_status status = PB_OK;
    if (now.kind == AWAY && t->c.reads_output && t->load < t->c.step_cost)
        status = pbi_sequence_add(w->s, t->c.forward[now.start + 1] | PBI_LOAD_EVENT);
    else if (t->c.reads_output && !is_here((kind)now.kind))
        status = run_steps(w, now.start, 1);
    return status == PB_OK ? pbi_sequence_add(w->s, t->c.gradient[t->c.steps - 1 - now.start]) : status;
}

static pb_status follow_copied(walk *w, task now)
{
    const tables *t = w->t;
    uint64_t cost = t->copied[now.kind][at(t, now.held, now.length)];
    if (is_here((kind)now.kind) && cost != copied_entry(t, (kind)now.kind, now.held, now.length))
        now.kind = (uint8_t)without((kind)now.kind);
    if (cost == hold(t, (kind)now.kind, now.held, now.length)) {
        now.held++;
        now.left = LEFT_HELD;
        push(w, now);
        return PB_OK;
    }
    return follow_split(w, now, cost);
}

static pb_status follow_stored(walk *w, task now)
{
    const tables *t = w->t;
    size_t here = at(t, now.held, now.length);
    uint64_t with = t->load + t->copied[now.kind][here];
    if (is_here((kind)now.kind) && (!fits(t, (kind)now.kind, now.held, 2, 0) || t->stored[now.kind][here] != with))
        now.kind = (uint8_t)without((kind)now.kind);
    now.left = LEFT_COPIED;
    push(w, now);
    return pbi_sequence_add(w->s, t->c.forward[now.start] | PBI_LOAD_EVENT);
}

static pb_status follow(const tables *t, pb_arena *scratch, pbi_sequence *s)
{
    walk w = {t, s, pb_arena_alloc(scratch, 2 * (size_t)t->c.steps + 4, sizeof *w.stack), 0};
    if (!w.stack)
        return PB_ENOMEM;
    uint64_t kept = t->most ? t->held[FIRST][at(t, 1, t->c.steps)] : NEVER;
    uint64_t copied = t->slow ? t->store + t->copied[FIRST][at(t, 0, t->c.steps)] : NEVER;
    bool keep = kept <= copied;
    push(&w, (task){0, t->c.steps, keep, keep ? LEFT_HELD : LEFT_COPIED, FIRST});
    pb_status status = PB_OK;
    while (w.depth && status == PB_OK) {
        task now = w.stack[--w.depth];
        status = now.left == LEFT_HELD     ? follow_held(&w, now)
                 : now.left == LEFT_COPIED ? follow_copied(&w, now)
                                           : follow_stored(&w, now);
        if (status == PB_OK && (w.s->count & 0xff) == 0)
            status = pbi_poll(t->ctx);
    }
    return status;
}

/* Fills in the prices and the room; false when the numbers are beyond this method (*why). */
static bool set_up(tables *t, const pb_game *game, const char **why)
{
    const pbi_chain *c = &t->c;
    uint64_t n = c->steps, cap = game->cap < game->graph->total_size ? game->cap : game->graph->total_size;
    t->room = cap - game->graph->fixed_size; /* the start fits: the pipeline has checked */
    uint64_t most = t->room / c->step_size;
    t->most = (uint32_t)(most < n + 1 ? most : n + 1);
    *why = "it has more than one slow tier, or one with a cap";
    if (game->kind == PB_GAME_TIERED && game->tier_count) {
        const pb_tier *tier = &game->tiers[0];
        if (game->tier_count > 1 || tier->cap != PB_UNLIMITED)
            return false;
        t->store = pbi_price(tier->store_cost, tier->store_per_unit, c->step_size);
        t->load = pbi_price(tier->load_cost, tier->load_per_unit, c->step_size);
        t->slow = t->store < NEVER / 4 && t->load < NEVER / 4;
        t->cheap = t->slow && t->load < c->step_cost;
        if (!t->slow) /* too dear to count */
            t->store = t->load = 0;
    }
    *why = "its table would be too large; see the option `limit`";
    double work = (double)n * (double)n * ((double)c->step_cost + (double)t->store + (double)t->load + 1);
    return work < (double)NEVER / 4;
}

/* Is the answer of the table the optimum under this game's weights? The table never moves a gradient to slow memory:
 * that cannot pay when a gradient is no larger than a value and no cheaper to move. See docs/strategies/chain.md. */
static bool is_exact(const tables *t, const pb_game *game)
{
    if (game->weights.alpha || game->weights.beta)
        return false;
    if (game->kind != PB_GAME_TIERED || !game->tier_count)
        return true;
    const pb_tier *tier = &game->tiers[0];
    bool dear = !tier->store_per_unit && !tier->load_per_unit; /* by the move: gradients cost what values cost */
    return t->slow && !t->c.step_inplace &&
           (!t->c.grad_size || (t->c.grad_size <= t->c.step_size && dear) || t->c.grad_size == t->c.step_size);
}

static pb_status plan_tables(tables *t, const pb_game *game, uint64_t limit, pb_arena *scratch, pbi_plan *plan)
{
    const char *why;
    if (!set_up(t, game, &why))
        return pbi_plan_give_up(plan, "does not apply: %s", why);
    double work = (double)t->c.steps * (double)t->c.steps * ((double)t->most + 1);
    if (work > (double)limit)
        return pbi_plan_give_up(plan,
                                "does not apply: %" PRIu32 " steps with %" PRIu32 " values at once pass the limit",
                                t->c.steps, t->most);
    pb_status status = fill(t, scratch);
    if (status != PB_OK)
        return status;
    uint64_t kept = t->most ? t->held[FIRST][at(t, 1, t->c.steps)] : NEVER;
    uint64_t copied = t->slow ? t->store + t->copied[FIRST][at(t, 0, t->c.steps)] : NEVER;
    if (least(kept, copied) >= NEVER) {
        status = pbi_plan_give_up(plan, "does not fit: no way to reverse %" PRIu32 " steps within the cap", t->c.steps);
        if (status == PB_OK && is_exact(t, game))
            plan->outcome = PB_INFEASIBLE;
        return status;
    }
    pbi_sequence s;
    pbi_sequence_init(&s, scratch);
    status = follow(t, scratch, &s);
    uint8_t *tier = t->slow && status == PB_OK ? pb_arena_alloc(scratch, game->graph->node_count, sizeof *tier) : NULL;
    for (pb_node v = 0; tier && v < game->graph->node_count; v++)
        tier[v] = 1;
    s.tier = tier;
    if (status == PB_OK && t->slow && !tier)
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_sequence_emit(t->ctx, game, &s, plan, NULL);
    if (status == PB_OK && plan->outcome == PB_FOUND && is_exact(t, game))
        plan->outcome = PB_OPTIMAL;
    return status;
}

pb_status pbi_chain_equal_plan(pb_context *ctx, const pb_game *game, const pbi_chain *c, uint64_t limit, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    tables t = {.ctx = ctx, .c = *c};
    pb_status status = plan_tables(&t, game, limit, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
