/* units.c -- see units.h. */
#include "game/units.h"

#include <string.h>

uint64_t pbi_unit_bytes(const char *unit)
{
    static const char prefixes[] = "kmgtpe";
    if (strcmp(unit, "B") == 0 || strcmp(unit, "b") == 0 || strcmp(unit, "byte") == 0 || strcmp(unit, "bytes") == 0)
        return 1;
    char first = (char)(unit[0] >= 'A' && unit[0] <= 'Z' ? unit[0] + ('a' - 'A') : unit[0]);
    const char *found = first ? strchr(prefixes, first) : NULL;
    if (!found)
        return 0;
    bool binary = unit[1] == 'i';
    const char *end = unit + (binary ? 2 : 1);
    if (!(strcmp(end, "B") == 0 || strcmp(end, "b") == 0 || *end == '\0'))
        return 0;
    uint64_t bytes = 1;
    for (long i = 0; i <= found - prefixes; i++)
        bytes *= binary ? 1024 : 1000;
    return bytes;
}

/* Picoseconds in a unit of time; 0 if it is not one. */
static uint64_t unit_ps(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {
        {"ps", 1},
        {"ns", 1000},
        {"us", 1000000},
        {"\xc2\xb5s", 1000000}, /* the sign for micro */
        {"ms", UINT64_C(1000000000)},
        {"s", UINT64_C(1000000000000)},
        {"min", UINT64_C(60000000000000)},
        {"h", UINT64_C(3600000000000000)},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ps;
    return 0;
}

/* flop, Kflop to Pflop; 0 if it is not one. */
static uint64_t unit_flops(const char *unit)
{
    static const char prefixes[] = "KMGTP";
    const char *found = *unit ? strchr(prefixes, *unit == 'k' ? 'K' : *unit) : NULL;
    uint64_t flops = 1;
    for (long i = 0; found && i <= found - prefixes; i++)
        flops *= 1000;
    unit += found != NULL;
    return strcmp(unit, "flop") == 0 || strcmp(unit, "flops") == 0 ? flops : 0;
}

/* "0.001 step" is "step" and 1000: the unit of a file whose costs had decimals. */
static const char *whole_unit(const char *unit, uint64_t *parts)
{
    *parts = 1;
    if (strncmp(unit, "0.", 2) != 0)
        return unit;
    size_t zeros = strspn(unit + 2, "0");
    if (zeros > 17 || strncmp(unit + 2 + zeros, "1 ", 2) != 0)
        return unit;
    for (size_t i = 0; i <= zeros; i++)
        *parts *= 10;
    return unit + 4 + zeros;
}

/* Bytes in the graph's unit; 0 if it is another unit. One letter is not enough for a prefix. */
static uint64_t graph_bytes(const char *unit) { return unit[0] && unit[1] ? pbi_unit_bytes(unit) : *unit == 'B'; }

bool pbi_size_ratio(const char *unit, const char *size_unit, pbi_ratio *out)
{
    bool own = !*unit || strcmp(unit, size_unit) == 0;
    *out = own ? (pbi_ratio){1, 1} : (pbi_ratio){pbi_unit_bytes(unit), graph_bytes(size_unit)};
    return out->times && out->parts;
}

bool pbi_cost_ratio(const char *unit, const char *cost_unit, pbi_ratio *out)
{
    *out = (pbi_ratio){1, 1};
    if (!*unit || strcmp(unit, cost_unit) == 0)
        return true;
    if (strcmp(unit, whole_unit(cost_unit, &out->times)) == 0)
        return true;
    bool time = unit_ps(cost_unit) != 0;
    *out = time ? (pbi_ratio){unit_ps(unit), unit_ps(cost_unit)} : (pbi_ratio){unit_flops(unit), unit_flops(cost_unit)};
    return out->times && out->parts;
}

const char *pbi_size_choices(const char *size_unit)
{
    return graph_bytes(size_unit) ? "byte, KiB, MiB, GiB, KB, MB or GB" : size_unit;
}

const char *pbi_cost_choices(const char *cost_unit)
{
    uint64_t parts;
    return unit_ps(cost_unit)      ? "ns, us, ms, s, min or h"
           : unit_flops(cost_unit) ? "flop, Kflop, Mflop, Gflop, Tflop or Pflop"
                                   : whole_unit(cost_unit, &parts);
}
