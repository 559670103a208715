#include "bound/stages_bound.h"
uint64_t pbi_stages_bound(const pbi_stages *s, pb_objective objective)
{
    uint64_t most = 0;
    (void)objective;
    for (uint32_t d = 0; d < s->devices; d++) {
        uint64_t sum = 0;
        for (uint32_t c = 0; c < s->parts; c++)
            if (s->part[c].device == d)
                sum += (s->part[c].f + s->part[c].b + s->part[c].w) * s->micro;
        most = sum > most ? sum : most;
    }
    return most;
}
