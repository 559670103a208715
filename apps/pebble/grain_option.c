/* grain_option.c -- see grain_option.h. */
#include "grain_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAINS "operation, chain, size, layer, block or region"

static bool grain_name(app *a, const char *option, const char *name, pb_grain *out)
{
    static const char *const names[] = {"operation", "chain", "size", "layer", "group", "block", "region"};
    if (pb_grain_parse(name, out))
        return true;
    const char *near = nearest_name(name, names, sizeof names / sizeof *names);
    if (near)
        app_usage(a, "%s: there is no level `%.60s`; did you mean %s?", option, name, near);
    else
        app_usage(a, "%s: there is no level `%.60s`; choose " GRAINS, option, name);
    return false;
}

static bool node_count(app *a, const char *option, const char *text, uint32_t *out)
{
    char *end = NULL;
    unsigned long long n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (n && n <= PB_MAX_NODES && end && !*end) {
        *out = (uint32_t)n;
        return true;
    }
    app_usage(a, "%s: expected a number of steps from 1 to %u, not `%.60s`", option, PB_MAX_NODES, text);
    return false;
}

static bool small_size(app *a, const char *option, const pb_graph *g, const char *text, uint64_t *out)
{
    char why[200];
    uint64_t peak = 0;
    if (pb_size_is_share(text) && pb_graph_program_peak(&a->ctx, g, &peak) != PB_OK)
        return false;
    if (pb_size_parse(text, g->size_unit, peak, out, why, sizeof why))
        return true;
    app_usage(a, "%s: %s", option, why);
    return false;
}

bool coarsen_options(app *a, const pb_graph *g, pb_coarsen_options *out)
{
    const char *by = app_option(a, OPT_GRAIN_BY), *nodes = app_option(a, OPT_NODES), *small = app_option(a, OPT_SMALL);
    *out = (pb_coarsen_options){.by = nodes ? PB_GRAIN_REGION : g->group_count ? PB_GRAIN_LAYER : PB_GRAIN_CHAIN};
    if ((by && !grain_name(a, "--by", by, &out->by)) || (nodes && !node_count(a, "--nodes", nodes, &out->nodes)))
        return false;
    if (small && out->by != PB_GRAIN_SIZE) {
        app_usage(a, "--small is for --by size; leave it out, or add --by size");
        return false;
    }
    return !small || small_size(a, "--small", g, small, &out->small);
}

bool grain_option(app *a, const pb_graph *g, const char *text, size_t length, pb_coarsen_options *out)
{
    char name[120];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    char *number = strchr(name, ':');
    if (number)
        *number++ = '\0';
    *out = (pb_coarsen_options){.by = PB_GRAIN_BLOCK};
    if (!grain_name(a, "--grain", name, &out->by))
        return false;
    if (!number)
        return true;
    return out->by == PB_GRAIN_SIZE ? small_size(a, "--grain", g, number, &out->small)
                                    : node_count(a, "--grain", number, &out->nodes);
}
