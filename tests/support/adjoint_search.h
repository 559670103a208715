/* adjoint_search.h -- the least cost of reversing a few steps, by search over everything that storage can hold. */
#ifndef SUPPORT_ADJOINT_SEARCH_H
#define SUPPORT_ADJOINT_SEARCH_H

#include "pebble/adjoint.h"

/* At most 10 steps and three levels, costs below 1,000. UINT64_MAX when it cannot be done. */
uint64_t adjoint_search(const pb_multilevel_spec *spec);

#endif
