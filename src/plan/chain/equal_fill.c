/* equal_fill.c -- the tables, one entry in constant time as long as rows are convex.
 *
 * An entry is the minimum over j of A(j) + B(l - j), where A(j) is the cost of j steps and of the part in front, and
 * B the cost of the part behind. Suppose A and B are convex on 1 .. l (that is, their second differences are not
 * negative; "never" follows all finite values and counts as infinite). Let j be a best place for length l. Then j or
 * j + 1 is a best place for length l + 1:
 *     Write a(i) = A(i) - A(i-1), b(i) = B(i) - B(i-1). That j is best for l means a(j) <= b(l-j+1) and
 *     b(l-j) <= a(j+1): one more step to either side does not pay. The sum for length l + 1 is convex in its place
 *     too, so a place that no neighbour beats is best.
 *     If a(j+1) <= b(l-j+1), take j + 1: going back to j does not pay by assumption, and going on to j + 2 does
 *     not, because b(l-j) <= a(j+1) <= a(j+2). Otherwise take j: going on does not pay by assumption, and going back
 *     to j - 1 does not, because a(j) <= b(l-j+1) <= b(l-j+2).
 *     If the sum for l is infinite at every place, it is for l + 1 too: of a finite sum for l + 1 >= 3 one part can
 *     be shortened.
 * Slow memory makes rows that are not convex: a store has its price, and after it further lengths are cheaper. Such
 * rows still never fall. Then, given a sum `best` and a place j, no place on from j whose part behind costs at least
 * best - A(j) is better, and the search continues where that part begins to cost less. The further a place is from
 * the best one, the longer such a leap.
 *
 * Whether rows are convex and never fall is checked as they grow. Beyond the first length where neither is true,
 * entries that read them try every split: slower, and as exact.
 */
#include "base/context.h"
#include "plan/chain/equal.h"

#define NEVER PBI_EQUAL_NEVER

enum { TICK_LENGTHS = 256 }; /* lengths between two checks of the limits */

static uint64_t min(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t sum_at(const pbi_equal *t, const pbi_equal_split *s, uint32_t length, uint32_t j)
{
    return j * t->c.step_cost + s->before[j] + s->behind[length - j];
}

static bool is_convex(const pbi_equal_split *s, uint32_t length)
{
    return s->behind_form->bend >= length && s->before_form->bend >= length;
}

static bool never_falls(const pbi_equal_split *s, uint32_t length)
{
    return s->behind_form->fall >= length && s->before_form->fall >= length;
}

/* Every split: the least sum below `best`, or `best`. */
static uint64_t scan(pbi_equal *t, pbi_equal_split *s, uint32_t length, uint64_t best)
{
    t->work += length;
    for (uint32_t j = 1; j < length; j++) {
        uint64_t sum = sum_at(t, s, length, j);
        s->at = sum < best ? j : s->at;
        best = min(best, sum);
    }
    return best;
}

/* The smallest i with v[i] >= need, in a row that never falls, given one such i. */
static uint32_t first_of(const uint64_t *v, uint32_t i, uint64_t need)
{
    uint32_t step = 1;
    for (; step < i && v[i - step] >= need; step *= 2)
        i -= step;
    while (step /= 2)
        if (step < i && v[i - step] >= need)
            i -= step;
    return i;
}

/* The same for rows that never fall. */
static uint64_t leap(pbi_equal *t, pbi_equal_split *s, uint32_t length, uint64_t best)
{
    for (uint32_t j = 1; j < length; t->work++) {
        uint64_t front = j * t->c.step_cost + s->before[j], sum = front + s->behind[length - j];
        if (front >= best)
            break;
        s->at = sum < best ? j : s->at;
        best = min(best, sum);
        j = length - first_of(s->behind, length - j, best - front) + 1;
    }
    return best;
}

/* Starts at the best place of the previous length, which is near. */
static uint64_t search(pbi_equal *t, pbi_equal_split *s, uint32_t length, uint64_t best)
{
    uint32_t guess = s->at;
    for (uint32_t j = guess; j <= guess + 1 && j < length; j++) {
        uint64_t sum = sum_at(t, s, length, j);
        s->at = sum < best ? j : s->at;
        best = min(best, sum);
    }
    return never_falls(s, length) ? leap(t, s, length, best) : scan(t, s, length, best);
}

/* The least sum of a split below `best`, or `best`; s->at is that of the previous length and is updated. */
static uint64_t next_sum(pbi_equal *t, pbi_equal_split *s, uint32_t length, uint64_t best)
{
    if (length == 2 || s->one_step)
        return min(best, s->price + sum_at(t, s, length, 1));
    if (!is_convex(s, length))
        return best > s->price ? s->price + search(t, s, length, best - s->price) : best;
    uint64_t stay = sum_at(t, s, length, s->at), go = sum_at(t, s, length, s->at + 1);
    s->at += go < stay;
    return min(best, s->price + min(stay, go));
}

/* The first place of a convex sum that the next one does not beat, by bisection. */
static uint32_t valley(const pbi_equal *t, const pbi_equal_split *s, uint32_t length)
{
    uint32_t low = 1, high = length - 1;
    while (low < high) {
        uint32_t j = low + (high - low) / 2;
        bool on = s->behind[length - j] >= NEVER ||
                  (s->before[j + 1] < NEVER && sum_at(t, s, length, j + 1) < sum_at(t, s, length, j));
        low = on ? j + 1 : low;
        high = on ? high : j;
    }
    return low;
}

bool pbi_equal_meets(pbi_equal *t, pbi_equal_split *s, uint32_t length, uint64_t target)
{
    s->at = 1;
    if (target < s->price)
        return false;
    target -= s->price;
    if (!s->one_step && !is_convex(s, length))
        return search(t, s, length, target + 1) == target;
    if (!s->one_step)
        s->at = valley(t, s, length);
    return sum_at(t, s, length, s->at) == target;
}

/* ---- one block: all rows of one number of held values and layer ---- */

typedef struct row {
    uint64_t *value;
    pbi_equal_form *form;
    const uint64_t *hold;    /* of a copied left end: the row in which it is held to the end, or NULL */
    const uint64_t *copied;  /* of a stored left end: the row after it is loaded, or NULL */
    const uint64_t *less[2]; /* the rows after one memory has freed the right end */
    uint64_t one, load;
    uint32_t less_count, split_count, longest;
    pbi_equal_split *split;
} row;

static uint64_t entry(pbi_equal *t, row *r, uint32_t length)
{
    uint64_t best = length == 1 ? r->one : NEVER;
    if (r->hold)
        best = min(best, r->hold[length]);
    if (r->copied)
        best = min(best, r->load + r->copied[length]);
    for (uint32_t i = 0; i < r->less_count; i++)
        best = min(best, r->less[i][length]);
    for (uint32_t i = 0; i < r->split_count && length > 1; i++)
        best = next_sum(t, &r->split[i], length, best);
    t->work += 1 + r->split_count;
    return best;
}

/* Updates the shape of a row with its newest entry. */
static void update_form(pbi_equal_form *form, const uint64_t *v, uint32_t length)
{
    if (length < 2)
        return;
    if (v[length] < v[length - 1] && form->fall == UINT32_MAX)
        form->fall = length;
    if (v[length] >= NEVER || form->bend != UINT32_MAX)
        return;
    if (v[length - 1] >= NEVER || (length > 2 && v[length] - v[length - 1] + v[length - 2] < v[length - 1]))
        form->bend = length;
}

/* The rows and splits that the entries of a row are computed from. */
/* r->split has room for its splits. */
static void set_up_row(pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind, row *r)
{
    uint32_t less[2], h = held, e = layer;
    *r = (row){.value = pbi_equal_row(t, held, layer, left, kind),
               .form = pbi_equal_form_of(t, held, layer, left, kind),
               .one = NEVER,
               .split = r->split,
               .longest = pbi_equal_longest(t, held)};
    if (left && held && held <= t->max_held)
        r->longest--; /* the left end takes one more place */
    *r->form = (pbi_equal_form){UINT32_MAX, UINT32_MAX};
    r->less_count = pbi_equal_freed_kinds(t, kind, less);
    for (uint32_t i = 0; i < r->less_count; i++)
        r->less[i] = pbi_equal_row(t, held, layer, left, less[i]);
    if (!pbi_equal_occurs(t, held, layer, left, kind))
        return;
    if (pbi_equal_is_stored(left)) {
        r->load = t->tiers[pbi_equal_tier_of(left)].load;
        if (pbi_equal_can_load(t, held, kind))
            r->copied = pbi_equal_row(t, held, layer, left - 1, kind);
        return;
    }
    if (left == PBI_LEFT_HELD) {
        r->one = pbi_equal_one_step(t, held, kind);
    } else {
        pbi_equal_hold(t, &h, &e, left);
        if (h <= t->max_held)
            r->hold = pbi_equal_row(t, h, e, PBI_LEFT_HELD, kind);
    }
    r->split_count = pbi_equal_splits(t, held, layer, left, kind, r->split);
}

/* Rows in an order in which an entry only reads shorter ones, rows before it, and blocks before this one. */
static uint32_t set_up_block(pbi_equal *t, uint32_t held, uint32_t layer, row *rows, pbi_equal_split *splits)
{
    uint32_t count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) /* right ends in one memory, then those in both */
        for (uint32_t kind = 0; kind < PBI_RIGHT_KINDS; kind++) {
            bool late = kind == PBI_RIGHT_HELD || (kind > PBI_RIGHT_AWAY && (kind - PBI_RIGHT_AWAY) % 2);
            for (uint32_t left = 0; left < PBI_LEFT_KINDS && late == (pass == 1); left++)
                if (pbi_equal_has(t, held, left, kind)) {
                    rows[count].split = splits + (size_t)count * PBI_EQUAL_SPLITS;
                    set_up_row(t, held, layer, left, kind, &rows[count++]);
                }
        }
    return count;
}

static pb_status fill_block(pbi_equal *t, uint32_t held, uint32_t layer, row *rows, pbi_equal_split *splits)
{
    uint32_t count = set_up_block(t, held, layer, rows, splits), longest = pbi_equal_longest(t, held);
    uint64_t ticked = t->work;
    pb_status status = PB_OK;
    for (uint32_t length = 1; length <= longest && status == PB_OK; length++) {
        for (uint32_t i = 0; i < count; i++) {
            row *r = &rows[i];
            if (length > r->longest)
                continue;
            r->value[length] = entry(t, r, length);
            update_form(r->form, r->value, length);
        }
        if (length % TICK_LENGTHS && length < longest)
            continue;
        status = pbi_tick(t->ctx, t->work - ticked);
        ticked = t->work;
        if (status == PB_OK && t->work > t->limit)
            status = PB_ELIMIT;
    }
    return status;
}

static pb_status allocate(pbi_equal *t, pb_arena *arena, uint32_t helds)
{
    size_t blocks = (size_t)helds * t->layers;
    t->block = pb_arena_zero(arena, blocks, sizeof *t->block);
    t->form = pb_arena_zero(arena, blocks, sizeof *t->form);
    if (!t->block || !t->form)
        return PB_ENOMEM;
    for (uint32_t held = t->tier_count ? 0 : 1; held < helds; held++)
        for (uint32_t layer = 0; layer < pbi_equal_layers(t, held); layer++) {
            size_t b = (size_t)held * t->layers + layer, rows = pbi_equal_rows(t, held);
            t->block[b] = pb_arena_alloc(arena, rows * (pbi_equal_longest(t, held) + 1), sizeof **t->block);
            t->form[b] = pb_arena_alloc(arena, rows, sizeof **t->form);
            if (!t->block[b] || !t->form[b])
                return PB_ENOMEM;
        }
    return PB_OK;
}

/* From many held values to few, last x_0 in a slow tier; from full tiers to empty ones. */
pb_status pbi_equal_fill(pbi_equal *t, pb_arena *arena)
{
    uint32_t helds = t->max_held + 1 + t->origin, max_rows = t->held_rows > t->slow_rows ? t->held_rows : t->slow_rows;
    row *rows = pb_arena_alloc(arena, max_rows, sizeof *rows);
    pbi_equal_split *splits = pb_arena_alloc(arena, (size_t)max_rows * PBI_EQUAL_SPLITS, sizeof *splits);
    pb_status status = rows && splits ? allocate(t, arena, helds) : PB_ENOMEM;
    for (uint32_t done = 0; done < helds && status == PB_OK; done++) {
        uint32_t held = done <= t->max_held ? t->max_held - done : t->max_held + 1;
        for (uint32_t layer = pbi_equal_layers(t, held); layer-- > 0 && status == PB_OK && (held || t->tier_count);)
            status = fill_block(t, held, layer, rows, splits);
        pbi_progress(t->ctx, "chain", done + 1, helds);
    }
    return status;
}
