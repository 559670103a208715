/* cost_digits.c -- costs with decimals, counted in a finer unit.
 *
 * Idea    costs are whole numbers internally. The builder takes decimals as multiples of 10^-digits of the file's unit,
 *         with the largest number of digits of any cost so far; a cost with more digits scales the earlier costs, which
 *         happens once for each new number of digits. Freezing names the finer unit.
 */
#include "base/checked.h"
#include "base/context.h"
#include "graph/graph_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Each is a thousandth of the one before. */
static const char *const time_units[] = {"s", "ms", "us", "ns", "ps"};
enum { TIME_UNITS = sizeof time_units / sizeof *time_units };

static uint32_t time_unit(const char *unit)
{
    uint32_t i = 0;
    unit = strcmp(unit, "\xc2\xb5s") == 0 ? "us" : unit; /* the sign for micro */
    while (i < TIME_UNITS && strcmp(time_units[i], unit) != 0)
        i++;
    return i;
}

static bool multiply_costs(pb_builder *b, uint64_t factor)
{
    for (size_t v = 0; v < b->names.count; v++)
        if (b->record[v].cost > UINT64_MAX / factor)
            return false;
    for (size_t i = 0; i < b->recipe_count; i++)
        if (b->recipes[i].cost > UINT64_MAX / factor)
            return false;
    for (size_t v = 0; v < b->names.count; v++)
        b->record[v].cost *= factor;
    for (size_t i = 0; i < b->recipe_count; i++)
        b->recipes[i].cost *= factor;
    return true;
}

pb_status pbi_builder_take_cost(pb_builder *b, pbi_decimal value, uint64_t *out)
{
    uint32_t digits = value.digits > b->cost_digits ? value.digits : b->cost_digits;
    if (!pbi_mul(value.number, pbi_decimal_unit(digits - value.digits), out) ||
        (digits > b->cost_digits && !multiply_costs(b, pbi_decimal_unit(digits - b->cost_digits))))
        return pbi_fail(b->ctx, PB_ERANGE,
                        "costs with decimals are counted in 10^-%" PRIu32
                        " of their unit, and then one of them exceeds 2^64; round the costs to fewer decimals",
                        digits);
    b->cost_digits = digits;
    return PB_OK;
}

/* "0.001 step" is 3 and "step"; 0 and the text itself if it does not start like that. */
static uint32_t part_of(const char *unit, const char **base)
{
    *base = unit;
    if (unit[0] != '0' || unit[1] != '.')
        return 0;
    size_t zeros = strspn(unit + 2, "0");
    if (zeros >= PBI_COST_DIGITS || unit[2 + zeros] != '1' || unit[3 + zeros] != ' ')
        return 0;
    *base = unit + 4 + zeros;
    return (uint32_t)zeros + 1;
}

pb_status pbi_builder_name_cost_unit(pb_builder *b)
{
    if (!b->cost_digits)
        return PB_OK;
    const char *unit = b->cost_unit ? b->cost_unit : "step", *base;
    uint32_t thousands = (b->cost_digits + 2) / 3, at = time_unit(unit);
    if (at + thousands < TIME_UNITS && multiply_costs(b, pbi_decimal_unit(3 * thousands - b->cost_digits))) {
        b->cost_digits = 3 * thousands;
        return pb_builder_set_texts(b, NULL, time_units[at + thousands], NULL);
    }
    uint32_t digits = b->cost_digits + part_of(unit, &base);
    size_t room = strlen(base) + digits + 8;
    char *text = pb_arena_alloc(&b->arena, room, 1);
    if (!text)
        return PB_ENOMEM;
    snprintf(text, room, "0.%0*d %s", (int)digits, 1, base);
    b->cost_unit = text;
    return PB_OK;
}
