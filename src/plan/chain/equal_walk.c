/* equal_walk.c -- the plan, by backtracking through the tables.
 *
 * Segments wait on a stack, the part behind a split above the part in front. For each, the split that gives the
 * table's value is searched again: by bisection if rows are convex, so a plan of n steps takes O(n log n).
 */
#include "plan/chain/equal.h"

#include "base/arena.h"
#include "base/context.h"

#define NEVER PBI_EQUAL_NEVER

/* A segment to be reversed: `length` steps from x_start on. */
typedef struct task {
    uint32_t start, length, held, layer;
    uint8_t left, kind;
} task;

typedef struct walk {
    pbi_equal *t;
    pbi_sequence *s;
    uint8_t *tier_of; /* by node, for the sequence */
    pb_arena *arena;
    task *stack;
    size_t depth, room;
} walk;

static pb_status push_task(walk *w, task now)
{
    void *items = w->stack;
    if (w->depth == w->room && !pbi_arena_reserve(w->arena, &items, &w->room, w->depth + 1, sizeof *w->stack))
        return PB_ENOMEM;
    w->stack = items;
    w->stack[w->depth++] = now;
    return PB_OK;
}

static pb_status run_steps(walk *w, uint32_t start, uint32_t steps)
{
    pb_status status = PB_OK;
    for (uint32_t i = 1; i <= steps && status == PB_OK; i++)
        status = pbi_sequence_add(w->s, w->t->c.forward[start + i]);
    return status;
}

static uint64_t value_of(const walk *w, task now)
{
    return pbi_equal_row(w->t, now.held, now.layer, now.left, now.kind)[now.length];
}

/* Runs the steps of a split and pushes its two parts on the stack. */
static pb_status follow_split(walk *w, task now, const pbi_equal_split *split)
{
    uint32_t j = split->at;
    pb_node between = w->t->c.forward[now.start + j];
    if (split->behind_left != PBI_LEFT_HELD)
        w->tier_of[between] = w->t->tiers[pbi_equal_tier_of(split->behind_left)].number;
    pb_status status = push_task(w, (task){now.start, j, now.held, now.layer, split->before_left, split->right});
    if (status == PB_OK)
        status = push_task(w, (task){now.start + j, now.length - j, split->behind_held, split->behind_layer,
                                     split->behind_left, now.kind});
    return status == PB_OK ? run_steps(w, now.start, j) : status;
}

static pb_status find_split(walk *w, task now, uint64_t cost)
{
    pbi_equal_split split[PBI_EQUAL_SPLITS];
    uint32_t count = pbi_equal_splits(w->t, now.held, now.layer, now.left, now.kind, split);
    for (uint32_t i = 0; i < count; i++)
        if (pbi_equal_meets(w->t, &split[i], now.length, cost))
            return follow_split(w, now, &split[i]);
    return pbi_fail(w->t->ctx, PB_EBUG, "the table of the chain has no split for its own value");
}

/* The gradient of a single step, after its inputs. */
static pb_status follow_step(walk *w, task now, uint64_t cost)
{
    const pbi_chain *c = &w->t->c;
    pb_status status = PB_OK;
    if (c->reads_output && now.kind >= PBI_RIGHT_AWAY && (now.kind - PBI_RIGHT_AWAY) % 2 == 0 && cost < c->step_cost)
        status = pbi_sequence_add(w->s, c->forward[now.start + 1] | PBI_LOAD_EVENT);
    else if (c->reads_output && (now.kind < PBI_RIGHT_HELD || (now.kind > PBI_RIGHT_HELD && now.kind % 2 == 1)))
        status = run_steps(w, now.start, 1);
    return status == PB_OK ? pbi_sequence_add(w->s, c->gradient[c->steps - 1 - now.start]) : status;
}

/* Frees the right end if that costs nothing. */
static void free_right_end(const walk *w, task *now, uint64_t cost)
{
    uint32_t less[2], count = pbi_equal_freed_kinds(w->t, now->kind, less);
    for (uint32_t i = 0; i < count; i++) {
        task other = *now;
        other.kind = (uint8_t)less[i];
        if (value_of(w, other) != cost)
            continue;
        now->kind = other.kind;
        count = pbi_equal_freed_kinds(w->t, now->kind, less);
        i = UINT32_MAX; /* start over with the new kind */
    }
}

static pb_status follow(walk *w, task now)
{
    pbi_equal *t = w->t;
    uint64_t cost = value_of(w, now);
    free_right_end(w, &now, cost);
    if (now.left == PBI_LEFT_HELD)
        return now.length == 1 ? follow_step(w, now, cost) : find_split(w, now, cost);
    if (pbi_equal_is_stored(now.left)) {
        now.left--;
        pb_status status = push_task(w, now);
        return status == PB_OK ? pbi_sequence_add(w->s, t->c.forward[now.start] | PBI_LOAD_EVENT) : status;
    }
    task hold = now;
    hold.left = PBI_LEFT_HELD;
    pbi_equal_hold(t, &hold.held, &hold.layer, now.left);
    if (hold.held <= t->max_held && value_of(w, hold) == cost)
        return push_task(w, hold);
    return find_split(w, now, cost);
}

static uint32_t first_kind(const pbi_equal *t)
{
    return t->row[PBI_LEFT_HELD][PBI_RIGHT_FIRST] >= 0 ? PBI_RIGHT_FIRST : PBI_RIGHT_BARE;
}

uint64_t pbi_equal_cost(const pbi_equal *t, uint32_t *left, uint32_t *held, uint32_t *layer)
{
    uint32_t kind = first_kind(t);
    uint64_t best = pbi_equal_row(t, 1, 0, PBI_LEFT_HELD, kind)[t->c.steps];
    *left = PBI_LEFT_HELD;
    *held = 1;
    *layer = 0;
    for (uint32_t l = PBI_LEFT_COPIED; l < PBI_LEFT_KINDS; l += 2) {
        const pbi_equal_tier *tier = &t->tiers[pbi_equal_tier_of(l)];
        if (t->row[l][kind] < 0)
            continue;
        uint32_t h = t->origin ? t->max_held + 1 : 0;
        uint64_t cost = tier->store + pbi_equal_row(t, h, tier->stride, l, kind)[t->c.steps];
        if (cost >= best)
            continue;
        best = cost;
        *left = l;
        *held = h;
        *layer = tier->stride;
    }
    return best < NEVER ? best : NEVER;
}

pb_status pbi_equal_walk(pbi_equal *t, pb_arena *arena, uint8_t *tier_of, pbi_sequence *s)
{
    walk w = {.t = t, .s = s, .tier_of = tier_of, .arena = arena};
    uint32_t left, held, layer;
    pbi_equal_cost(t, &left, &held, &layer);
    if (left != PBI_LEFT_HELD)
        tier_of[t->c.forward[0]] = t->tiers[pbi_equal_tier_of(left)].number;
    pb_status status = push_task(&w, (task){0, t->c.steps, held, layer, (uint8_t)left, (uint8_t)first_kind(t)});
    for (uint32_t round = 0; w.depth && status == PB_OK; round++) {
        status = follow(&w, w.stack[--w.depth]);
        if (status == PB_OK && round % 256 == 0)
            status = pbi_poll(t->ctx);
    }
    return status;
}
