/* equal_state.c -- what a segment's state allows, and the states of the parts it splits into.
 *
 * A part behind a split has one more value to its left: in fast memory, or in a tier. A tier without a cap need not
 * be counted, and its values never leave it. In a tier with a cap a value either leaves as soon as it is held in
 * fast memory to the end, or stays until it has been the right end of the part in front; there are separate rows for
 * the two.
 */
#include "plan/chain/equal.h"

static bool is_here(uint32_t kind)
{
    return kind == PBI_RIGHT_HELD || (kind >= PBI_RIGHT_AWAY && (kind - PBI_RIGHT_AWAY) % 2 == 1);
}

static bool is_away(uint32_t kind) { return kind >= PBI_RIGHT_AWAY; }

static uint32_t tier_of_kind(uint32_t kind) { return (kind - PBI_RIGHT_AWAY) / 2; }

static bool is_capped(const pbi_equal_tier *tier) { return tier->slots != UINT32_MAX; }

static bool stays_in_tier(uint32_t left) { return (left - PBI_LEFT_COPIED) % 4 >= 2; }

/* At the origin nothing is held to the left. */
static uint32_t held_outside(const pbi_equal *t, uint32_t held) { return held > t->max_held ? 0 : held; }

/* Values of a capped tier outside a segment. */
static uint32_t outside(const pbi_equal *t, uint32_t tier, uint32_t layer)
{
    const pbi_equal_tier *at = &t->tiers[tier];
    return layer / at->stride % (at->slots + 1);
}

/* Has the tier room for `more` values in addition to those outside and the right end? */
static bool has_slots(const pbi_equal *t, uint32_t tier, uint32_t layer, uint32_t kind, uint32_t more)
{
    const pbi_equal_tier *at = &t->tiers[tier];
    if (!is_capped(at))
        return true;
    return outside(t, tier, layer) + (is_away(kind) && tier_of_kind(kind) == tier) + more <= at->slots;
}

/* Do `slots` values and `extra` fit in addition to `held` values and the current gradient? */
static bool fits(const pbi_equal *t, uint32_t kind, uint32_t held, uint32_t slots, uint64_t extra)
{
    uint64_t values = ((uint64_t)held_outside(t, held) + slots) * t->c.step_size;
    return values + (kind == PBI_RIGHT_FIRST ? 0 : t->c.grad_size) + extra <= t->room;
}

/* With h values held to the left of x_i, including x_i if it is held, at most n - h + 1 steps remain. */
uint32_t pbi_equal_longest(const pbi_equal *t, uint32_t held)
{
    uint32_t h = held_outside(t, held);
    return h ? t->c.steps + 1 - h : t->c.steps;
}

static bool is_fast_block(const pbi_equal *t, uint32_t held) { return t->sorted && held >= 1 && held <= t->max_held; }

bool pbi_equal_has(const pbi_equal *t, uint32_t held, uint32_t left, uint32_t kind)
{
    return t->row[left][kind] >= 0 && (!t->sorted || is_fast_block(t, held) == (left == PBI_LEFT_HELD));
}

uint32_t pbi_equal_rows(const pbi_equal *t, uint32_t held)
{
    return is_fast_block(t, held) ? t->held_rows : t->slow_rows;
}

uint32_t pbi_equal_layers(const pbi_equal *t, uint32_t held) { return is_fast_block(t, held) ? 1 : t->layers; }

static size_t block_of(const pbi_equal *t, uint32_t held, uint32_t layer)
{
    return (size_t)held * t->layers + (is_fast_block(t, held) ? 0 : layer);
}

uint64_t *pbi_equal_row(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind)
{
    size_t place = (size_t)t->row[left][kind] * (pbi_equal_longest(t, held) + 1);
    return t->block[block_of(t, held, layer)] + place;
}

pbi_equal_form *pbi_equal_form_of(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind)
{
    return t->form[block_of(t, held, layer)] + t->row[left][kind];
}

bool pbi_equal_occurs(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind)
{
    if (is_away(kind) && !has_slots(t, tier_of_kind(kind), layer, kind, 0))
        return false;
    if (left == PBI_LEFT_HELD)
        return held >= 1 && held <= t->max_held;
    uint32_t tier = pbi_equal_tier_of(left);
    return !is_capped(&t->tiers[tier]) || outside(t, tier, layer) > 0;
}

uint64_t pbi_equal_one_step(const pbi_equal *t, uint32_t held, uint32_t kind)
{
    uint64_t made = t->c.grad_inplace && kind != PBI_RIGHT_FIRST ? 0 : t->c.grad_size;
    if (!fits(t, kind, held, t->c.reads_output, made))
        return PBI_EQUAL_NEVER;
    if (!t->c.reads_output || is_here(kind))
        return 0;
    uint64_t load = is_away(kind) ? t->tiers[tier_of_kind(kind)].load : UINT64_MAX;
    return load < t->c.step_cost ? load : t->c.step_cost;
}

bool pbi_equal_can_load(const pbi_equal *t, uint32_t held, uint32_t kind)
{
    return fits(t, kind, held, 1 + is_here(kind), 0);
}

/* Can the first `steps` steps be run? A left end in slow memory is also in fast memory when the run begins, but only
 * during the first step. */
static bool can_run(const pbi_equal *t, uint32_t held, uint32_t left, uint32_t kind, uint32_t steps)
{
    bool over = t->c.step_inplace;
    uint32_t slots;
    if (left == PBI_LEFT_HELD)
        slots = steps == 1 || over ? 1 : 2;
    else
        slots = over && held <= t->max_held ? 1 : 2; /* x_0, whose row has held = max_held + 1, is not overwritten */
    return fits(t, kind, held, slots + is_here(kind), 0);
}

uint32_t pbi_equal_freed_kinds(const pbi_equal *t, uint32_t kind, uint32_t less[2])
{
    if (kind < PBI_RIGHT_HELD)
        return 0;
    if (kind == PBI_RIGHT_HELD) {
        less[0] = PBI_RIGHT_BARE;
        return 1;
    }
    bool both = is_here(kind), capped = is_capped(&t->tiers[tier_of_kind(kind)]);
    uint32_t count = 0;
    if (both)
        less[count++] = kind - 1;
    if (capped) /* without a cap it is never better to leave slow memory */
        less[count++] = both ? PBI_RIGHT_HELD : PBI_RIGHT_BARE;
    return count;
}

void pbi_equal_hold(const pbi_equal *t, uint32_t *held, uint32_t *layer, uint32_t left)
{
    *held = held_outside(t, *held) + 1;
    if (!stays_in_tier(left))
        *layer -= t->tiers[pbi_equal_tier_of(left)].stride;
}

/* Fills in the rows of a split whose states are known. */
static void set_rows(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t kind, pbi_equal_split *s)
{
    s->behind = pbi_equal_row(t, s->behind_held, s->behind_layer, s->behind_left, kind);
    s->behind_form = pbi_equal_form_of(t, s->behind_held, s->behind_layer, s->behind_left, kind);
    s->before = pbi_equal_row(t, held, layer, s->before_left, s->right);
    s->before_form = pbi_equal_form_of(t, held, layer, s->before_left, s->right);
}

uint32_t pbi_equal_splits(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind,
                          pbi_equal_split out[PBI_EQUAL_SPLITS])
{
    uint32_t count = 0, h = held_outside(t, held);
    /* a copied left end is in slow memory only when its part is reversed */
    uint8_t own = (uint8_t)(left ? left + 1 : left);
    if (!can_run(t, held, left, kind, 1))
        return 0;
    pbi_equal_split s = {.before_left = own, .at = 1, .one_step = !can_run(t, held, left, kind, 2)};
    uint8_t held_right = t->c.reads_output ? PBI_RIGHT_HELD : PBI_RIGHT_BARE;
    if (h < t->max_held) {
        s.behind_left = PBI_LEFT_HELD;
        s.behind_held = h + 1;
        s.behind_layer = layer;
        s.right = held_right;
        out[count++] = s;
    }
    for (uint32_t tier = 0; tier < t->tier_count && !is_fast_block(t, held); tier++)
        for (uint32_t staying = 0; staying < 2; staying++) {
            s.behind_left = (uint8_t)(PBI_LEFT_COPIED + 4 * tier + 2 * staying);
            if (t->row[s.behind_left][kind] < 0 || !has_slots(t, tier, layer, kind, 1))
                continue;
            s.behind_held = h;
            s.behind_layer = layer + t->tiers[tier].stride;
            s.right = (uint8_t)(staying ? PBI_RIGHT_BOTH + 2 * tier : held_right);
            s.price = t->tiers[tier].store;
            out[count++] = s;
        }
    for (uint32_t i = 0; i < count; i++)
        set_rows(t, held, layer, kind, &out[i]);
    return count;
}
