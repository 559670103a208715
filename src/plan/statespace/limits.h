/* limits.h -- what an exact search starts from, and how far it may go. */
#ifndef PBI_PLAN_STATESPACE_LIMITS_H
#define PBI_PLAN_STATESPACE_LIMITS_H

#include <stdint.h>

typedef struct pbi_search_limits {
    uint64_t known; /* the cost of a known plan; UINT64_MAX: none */
    uint64_t bound; /* no plan costs less */
    uint64_t bytes; /* of states, at most */
} pbi_search_limits;

#endif
