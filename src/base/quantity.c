/* quantity.c -- sizes, times and counts for display. */
#include "pebble/base.h"

#include <stdio.h>
#include <string.h>

static bool is_byte(const char *unit)
{
    return strcmp(unit, "byte") == 0 || strcmp(unit, "bytes") == 0 || strcmp(unit, "B") == 0;
}

/* 12345678 -> 12,345,678 */
static void grouped(uint64_t value, char text[32])
{
    char digits[21];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
}

/* Two decimals, without trailing zeros; truncated, so that a size never looks larger than it is. */
static void binary(uint64_t value, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    while (unit < 6 && value >> (10 * unit) >= 1024)
        unit++;
    uint64_t whole = value >> (10 * unit);
    uint64_t rest = unit ? value & ((UINT64_C(1) << (10 * unit)) - 1) : 0;
    /* The part below one unit in hundredths; shifted down first so that the product fits. */
    unsigned hundredths = (unsigned)(unit > 5 ? ((rest >> 10) * 100) >> 50 : (rest * 100) >> (10 * unit));
    if (hundredths == 0)
        snprintf(text, 32, "%llu %s", (unsigned long long)whole, units[unit]);
    else if (hundredths % 10 == 0)
        snprintf(text, 32, "%llu.%u %s", (unsigned long long)whole, hundredths / 10, units[unit]);
    else
        snprintf(text, 32, "%llu.%02u %s", (unsigned long long)whole, hundredths, units[unit]);
}

static const struct {
    const char *name, *shown;
    double ns;
} time_units[] = {{"ns", "ns", 1}, {"us", "µs", 1e3}, {"ms", "ms", 1e6}, {"s", "s", 1e9}};
enum { TIME_UNITS = sizeof time_units / sizeof *time_units };

/* Its index; TIME_UNITS: it is not a unit of time. */
static int time_unit(const char *unit)
{
    int at = 0;
    while (at < TIME_UNITS && strcmp(unit, time_units[at].name) != 0)
        at++;
    return at;
}

bool pb_unit_is_time(const char *unit) { return unit && time_unit(unit) < TIME_UNITS; }

/* Four digits: 1.234 s, 12.34 ms, 123.4 µs; below a thousand of the unit itself, all there are. */
static void duration(uint64_t value, int unit, char text[32])
{
    double ns = (double)value * time_units[unit].ns, shown;
    if (value < 1000) {
        snprintf(text, 32, "%u %s", (unsigned)value, time_units[unit].shown);
        return;
    }
    int at = TIME_UNITS - 1;
    while (at > 0 && ns < 0.99995 * time_units[at].ns) /* 0.99995 ms is shown as 1.000 ms */
        at--;
    shown = ns / time_units[at].ns;
    int digits = shown < 9.9995 ? 3 : shown < 99.995 ? 2 : shown < 999.95 ? 1 : 0;
    snprintf(text, 32, "%.*f %s", digits, shown, time_units[at].shown);
}

/* A unit and how many of the one before it are in it. */
typedef struct rung {
    const char *name;
    double step;
} rung;

static const rung size_rungs[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1024}, {"GiB", 1024}, {NULL, 0}};
static const rung flop_rungs[] = {{"flop", 1},    {"Kflop", 1e3}, {"Mflop", 1e3}, {"Gflop", 1e3},
                                  {"Tflop", 1e3}, {"Pflop", 1e3}, {NULL, 0}};
static const rung time_rungs[] = {{"ns", 1}, {"µs", 1e3}, {"ms", 1e3}, {"s", 1e3}, {NULL, 0}};

size_t pb_flux_text(pb_u128 flux, const char *size_unit, const char *cost_unit, char *text, size_t room)
{
    double value = pb_u128_double(flux);
    const rung own[2][2] = {{{size_unit, 1}, {NULL, 0}}, {{cost_unit, 1}, {NULL, 0}}};
    const rung *size = is_byte(size_unit) ? size_rungs : own[0];
    const rung *cost = pb_unit_is_time(cost_unit)       ? time_rungs + time_unit(cost_unit)
                       : strcmp(cost_unit, "flop") == 0 ? flop_rungs
                                                        : own[1];
    if (!size[1].name && !cost[1].name)
        return 0;
    /* In turns, so that a small value is in KiB·µs rather than in GiB·ns. */
    for (bool turn = true;; turn = !turn) {
        const rung **up = (turn && size[1].name) || !cost[1].name ? &size : &cost;
        if (!(*up)[1].name || value < 0.99995 * (*up)[1].step)
            break;
        value /= (++*up)->step;
    }
    char number[32];
    int digits = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    if (value >= 1e15)
        snprintf(number, sizeof number, "%.3e", value);
    else if (value >= 999.95 || (!flux.high && (double)flux.low == value))
        grouped((uint64_t)(value + 0.5), number);
    else
        snprintf(number, sizeof number, "%.*f", digits, value);
    int length = snprintf(text, room, "%s %.60s·%.60s", number, size->name, cost->name);
    return length < 0 ? 0 : (size_t)length;
}

size_t pb_quantity_text(uint64_t value, const char *unit, char *text, size_t room)
{
    char made[32];
    if (unit && is_byte(unit))
        binary(value, made);
    else if (pb_unit_is_time(unit))
        duration(value, time_unit(unit), made);
    else
        grouped(value, made);
    int length = snprintf(text, room, "%s", made);
    return length < 0 ? 0 : (size_t)length;
}

size_t pb_amount_text(uint64_t value, const char *unit, char *text, size_t room)
{
    size_t used = pb_quantity_text(value, unit, text, room);
    if (used >= room || !unit || !unit[0] || strcmp(unit, "byte") == 0 || pb_unit_is_time(unit))
        return used;
    bool part = strncmp(unit, "0.", 2) == 0; /* 12 x 0.1 step: two adjacent numbers would be ambiguous */
    int more = snprintf(text + used, room - used, "%s %.60s", part ? " x" : "", unit);
    return used + (size_t)more < room ? used + (size_t)more : room - 1;
}
