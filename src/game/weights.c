/* weights.c -- weights of the cost: exact decimals, or with units of cost and size.
 *
 * Idea    in the graph's own units a weight such as 0.5s/GiB is number * factors / (factors * 10^digits). The result
 *         has as many digits after the point, at most 18, as all three weights have room for; a weight without units
 *         is never rounded.
 */
#include "base/checked.h"
#include "base/context.h"
#include "base/decimal.h"
#include "game/units.h"
#include "pebble/game.h"

#include <stdio.h>
#include <string.h>

enum { LIMBS = 8, UNIT_ROOM = 64, MIN_ROUNDED = 100 };

static const char *const names[] = {"peak", "flux", "time"};

typedef struct weight {
    pbi_decimal value;
    pbi_ratio cost, size; /* of its units */
    bool converted;
} weight;

/* ---- conversion ---- */

/* 256 bits, the lowest first: more than a decimal, its units and 10^18 together need. */
typedef struct wide {
    uint32_t limb[LIMBS];
} wide;

static void wide_times(wide *w, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)w->limb[i] * factor;
        w->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Returns the remainder. */
static uint32_t wide_divide(wide *w, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | w->limb[i];
        w->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

/* A factor of a product of 2, 3 and 10. */
static uint32_t part_of(uint64_t factor) { return factor % 10 == 0 ? 10 : factor % 2 == 0 ? 2 : 3; }

static void wide_times_all(wide *w, uint64_t factor)
{
    for (uint32_t part; factor > 1; factor /= part)
        wide_times(w, part = part_of(factor));
}

/* True if nothing remained. */
static bool wide_divide_all(wide *w, uint64_t divisor)
{
    bool exact = true;
    for (uint32_t part; divisor > 1; divisor /= part)
        exact &= wide_divide(w, part = part_of(divisor)) == 0;
    return exact;
}

/* The weight in 10^-digits, rounded to the nearest; false if it passes 64 bits, or rounding would change it by more
 * than half a percent. */
static bool count_in(const weight *x, uint32_t digits, uint64_t *out)
{
    wide w = {{(uint32_t)x->value.number, (uint32_t)(x->value.number >> 32)}};
    wide_times_all(&w, x->cost.times);
    wide_times_all(&w, x->size.parts);
    wide_times_all(&w, pbi_decimal_unit(digits));
    wide_times(&w, 2);
    bool exact = wide_divide_all(&w, x->cost.parts);
    exact &= wide_divide_all(&w, x->size.times);
    exact &= wide_divide_all(&w, pbi_decimal_unit(x->value.digits));
    bool half = w.limb[0] & 1;
    exact &= wide_divide(&w, 2) == 0;
    for (int i = 2; i < LIMBS; i++)
        if (w.limb[i])
            return false;
    uint64_t number = (uint64_t)w.limb[1] << 32 | w.limb[0];
    return pbi_add(number, half, out) && (exact || (x->converted && number >= MIN_ROUNDED));
}

/* As many digits as all three have room for; without units, as few as they need. */
static bool combine(const weight list[3], pb_weights *out)
{
    uint32_t least = 0, digits = PBI_MAX_DECIMALS;
    bool converted = false;
    for (int i = 0; i < 3; i++) {
        converted |= list[i].converted;
        if (!list[i].converted && list[i].value.digits > least)
            least = list[i].value.digits;
    }
    uint64_t number[3];
    for (digits = converted ? digits : least;; digits--) {
        if (count_in(&list[0], digits, &number[0]) && count_in(&list[1], digits, &number[1]) &&
            count_in(&list[2], digits, &number[2]))
            break;
        if (digits == least)
            return false;
    }
    for (; digits > least && number[0] % 10 == 0 && number[1] % 10 == 0 && number[2] % 10 == 0; digits--)
        for (int i = 0; i < 3; i++)
            number[i] /= 10;
    *out = (pb_weights){number[0], number[1], number[2], digits};
    return true;
}

/* ---- text ---- */

static pb_status refuse_text(pb_context *ctx, const char *text)
{
    return pbi_fail(ctx, PB_EINVAL,
                    "expected three weights A,B,C, as in 0,0,1 or 0.5s/GiB,0,1 (for peak, flux and recompute), or "
                    "peak=A,flux=B,time=C, not \"%.60s\"",
                    text);
}

static pb_status refuse_range(pb_context *ctx, const char *text)
{
    return pbi_fail(
        ctx, PB_ERANGE,
        "the weights \"%.60s\" have too many digits: with the same number of digits behind the point, at most %d, "
        "each must stay below 2^64; multiply all three by one number, or leave the smallest out",
        text, PBI_MAX_DECIMALS);
}

/* The unit from `at`, at most `length` bytes long; longer ones are cut, and are then not the name of a unit. */
static void take_unit(const char *at, size_t length, char unit[UNIT_ROOM])
{
    snprintf(unit, UNIT_ROOM, "%.*s", length < UNIT_ROOM ? (int)length : UNIT_ROOM - 1, at);
}

/* "s/GiB": what follows the decimal of a weight. Flux is counted in cost times size, so its weight is per size only. */
static pb_status read_units(pb_context *ctx, const pb_graph *g, int which, const char *text, weight *out)
{
    char cost[UNIT_ROOM], size[UNIT_ROOM];
    size_t split = strcspn(text, "/");
    take_unit(text, split, cost);
    take_unit(text + split + (text[split] == '/'), UNIT_ROOM, size);
    out->converted = true;
    if (which == 2)
        return pbi_fail(ctx, PB_EINVAL, "the weight of time has no unit, but has `%.60s`; write a decimal, as in 1",
                        text);
    if (which == 1 && cost[0])
        return pbi_fail(ctx, PB_EINVAL, "the weight of flux has only a unit of size, as in 0.01/%.30s, but has `%.60s`",
                        strcmp(g->size_unit, "byte") == 0 ? "GiB" : g->size_unit, text);
    if (!pbi_cost_ratio(cost, g->cost_unit, &out->cost))
        return pbi_fail(ctx, PB_EINVAL,
                        "the weight of %s: `%.60s` is not a unit of this graph's costs, which are in %.60s; use %.60s",
                        names[which], cost, g->cost_unit, pbi_cost_choices(g->cost_unit));
    if (text[split] == '/' && (!size[0] || !pbi_size_ratio(size, g->size_unit, &out->size)))
        return pbi_fail(ctx, PB_EINVAL,
                        "the weight of %s: `%.60s` is not a unit of this graph's sizes, which are in %.60s; use %.60s",
                        names[which], size, g->size_unit, pbi_size_choices(g->size_unit));
    return PB_OK;
}

/* The length of the decimal that the text begins with. */
static size_t decimal_length(const char *text)
{
    size_t length = strspn(text, "0123456789.");
    if (text[length] != 'e' && text[length] != 'E')
        return length;
    size_t sign = length + 1 + (text[length + 1] == '-' || text[length + 1] == '+');
    size_t power = strspn(text + sign, "0123456789");
    return power ? sign + power : length;
}

/* `one` of the weights in `text`. */
static pb_status read_weight(pb_context *ctx, const pb_graph *g, int which, const char *one, const char *text,
                             weight *out)
{
    size_t length = g ? decimal_length(one) : strlen(one);
    *out = (weight){.cost = {1, 1}, .size = {1, 1}};
    pbi_decimal_verdict verdict = pbi_decimal_parse(one, length, &out->value);
    if (verdict == PBI_DECIMAL_WRONG)
        return refuse_text(ctx, text);
    if (verdict == PBI_DECIMAL_TOO_FAR)
        return refuse_range(ctx, text);
    return one[length] ? read_units(ctx, g, which, one + length, out) : PB_OK;
}

/* The weight that a key names; -1 for other keys. */
static int key_of(const char *text, size_t length)
{
    static const char *const keys[] = {"peak", "flux", "time", "work", "recompute"};
    for (int i = 0; i < 5; i++)
        if (strlen(keys[i]) == length && strncmp(keys[i], text, length) == 0)
            return i < 2 ? i : 2;
    return -1;
}

pb_status pb_weights_parse(pb_context *ctx, const pb_graph *g, const char *text, pb_weights *out)
{
    weight list[3] = {{.cost = {1, 1}, .size = {1, 1}}};
    list[1] = list[2] = list[0];
    list[2].value.number = 1;
    bool named = strchr(text, '=') != NULL, given[3] = {false, false, false}, more = true;
    for (const char *at = text; more;) {
        char one[2 * UNIT_ROOM];
        size_t length = strcspn(at, ","), key = named ? strcspn(at, "=") : 0, skip = named ? key + 1 : 0;
        int which = !named ? given[0] + given[1] : key < length ? key_of(at, key) : -1;
        if (which < 0 || given[which] || length - skip >= sizeof one)
            return refuse_text(ctx, text);
        memcpy(one, at + skip, length - skip);
        one[length - skip] = '\0';
        pb_status status = read_weight(ctx, g, which, one, text, &list[which]);
        if (status != PB_OK)
            return status;
        given[which] = true;
        more = at[length] == ',';
        at += length + more;
    }
    if (!named && !given[2])
        return refuse_text(ctx, text);
    return combine(list, out) ? PB_OK : refuse_range(ctx, text);
}

void pb_weight_text(const pb_weights *weights, int which, char text[32])
{
    uint64_t value = which == 0 ? weights->alpha : which == 1 ? weights->beta : weights->gamma;
    pbi_decimal_text((pbi_decimal){value, weights->digits}, text);
}
