/* node_profile.c -- see node_profile.h. Bases up to 10^15 and spreads up to 10^3 keep every product below 2^64. */
#include "generate/node_profile.h"

#include "base/checked.h"
#include "base/rng.h"

pbi_node_profile pbi_node_profile_read(const pbi_params *params, uint64_t length)
{
    pbi_node_profile profile = {.kind = PBI_UNIFORM, .spread = pbi_param_integer(params, "spread"), .length = length};
    if (pbi_param_is(params, "profile", "random"))
        profile.kind = PBI_RANDOM;
    else if (pbi_param_is(params, "profile", "ramp"))
        profile.kind = PBI_RAMP;
    else if (pbi_param_is(params, "profile", "layers"))
        profile.kind = PBI_LAYERS;
    pbi_rng rng = {pbi_param_integer(params, "seed")};
    for (int i = 0; i < 2 * PBI_SERIES_COUNT; i++)
        profile.streams[i] = pbi_rng_next(&rng);
    return profile;
}

/* A stream's state is a counter, so its `at`-th number does not depend on those before it. */
static uint64_t draw(uint64_t stream, uint64_t at, uint64_t least, uint64_t range)
{
    pbi_rng rng = {stream + at * 0x9e3779b97f4a7c15u};
    return least + pbi_rng_below(&rng, range + 1);
}

static uint64_t ramp(const pbi_node_profile *profile, uint64_t base, uint64_t at)
{
    if (profile->length < 2)
        return base;
    uint32_t rest;
    pb_u128 rise = pbi_u128_product(base * (profile->spread - 1), at);
    return base + pbi_u128_divide(rise, (uint32_t)(profile->length - 1), &rest).low;
}

static uint64_t halved(const pbi_node_profile *profile, uint64_t base, uint64_t at)
{
    uint64_t share = profile->spread >> (at * 4 / profile->length);
    return base * (share ? share : 1);
}

uint64_t pbi_node_profile_cost(const pbi_node_profile *profile, pbi_series series, uint64_t base, uint64_t at)
{
    switch (profile->kind) {
    case PBI_UNIFORM: break;
    case PBI_RANDOM: return draw(profile->streams[2 * series], at, base, base * (profile->spread - 1));
    case PBI_RAMP: return ramp(profile, base, at);
    case PBI_LAYERS: return at % 3 == 0 ? base * profile->spread : base;
    }
    return base;
}

uint64_t pbi_node_profile_size(const pbi_node_profile *profile, pbi_series series, uint64_t base, uint64_t at)
{
    switch (profile->kind) {
    case PBI_UNIFORM: break;
    case PBI_RANDOM: return draw(profile->streams[2 * series + 1], at, base, base * (profile->spread - 1));
    case PBI_RAMP: return ramp(profile, base, at);
    case PBI_LAYERS: return halved(profile, base, at);
    }
    return base;
}
