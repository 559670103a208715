/* node_profile.h -- costs and sizes along a family's nodes: equal, drawn, rising, or like the layers of a network.
 *
 * Families with the parameters `profile`, `spread` and `seed` share this. With base b and spread s:
 *   uniform  b everywhere
 *   random   drawn from b .. s*b
 *   ramp     from b at the first node to s*b at the last
 *   layers   sizes are halved at each quarter of the nodes, from s*b; every third cost is s*b, the others b
 */
#ifndef PBI_NODE_PROFILE_H
#define PBI_NODE_PROFILE_H

#include "generate/params.h"

typedef enum pbi_series { PBI_STEPS, PBI_GRADIENTS, PBI_SAVED, PBI_SERIES_COUNT } pbi_series;

typedef struct pbi_node_profile {
    enum { PBI_UNIFORM, PBI_RANDOM, PBI_RAMP, PBI_LAYERS } kind;
    uint64_t spread;
    uint64_t length;                        /* number of nodes, at most 2^32 */
    uint64_t streams[2 * PBI_SERIES_COUNT]; /* start of each series' random costs and sizes */
} pbi_node_profile;

pbi_node_profile pbi_node_profile_read(const pbi_params *params, uint64_t length);
/* Of node `at` of a series, 0 <= at < length: the same at every call. */
uint64_t pbi_node_profile_cost(const pbi_node_profile *profile, pbi_series series, uint64_t base, uint64_t at);
uint64_t pbi_node_profile_size(const pbi_node_profile *profile, pbi_series series, uint64_t base, uint64_t at);

#endif
