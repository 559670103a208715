/* units.h -- units of sizes and costs that people write, such as GiB, ms and Gflop. */
#ifndef PBI_UNITS_H
#define PBI_UNITS_H

#include "pebble/base.h"

/* Bytes in a unit such as KiB, MB or k; 0 if it is not a unit. Letters may be lower case. */
uint64_t pbi_unit_bytes(const char *unit);

/* How many of the graph's own unit are in a unit: times / parts. Both are products of 2, 3 and 10. */
typedef struct pbi_ratio {
    uint64_t times, parts;
} pbi_ratio;

/* False if the unit cannot be converted to the graph's. The empty unit is the graph's own. */
bool pbi_size_ratio(const char *unit, const char *size_unit, pbi_ratio *out);
bool pbi_cost_ratio(const char *unit, const char *cost_unit, pbi_ratio *out);
/* The units that can be converted to the graph's, as text for people. */
const char *pbi_size_choices(const char *size_unit);
const char *pbi_cost_choices(const char *cost_unit);

#endif
