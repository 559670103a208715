/* sweep_caps.c -- the caps of a sweep from text; see api.h. Plans made to find the ends of the range are kept for
 * the sweep. */
#include "pebble/api.h"

#include "api/pipeline/share.h"
#include "base/checked.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

typedef struct chooser {
    pb_context *ctx;
    pb_game game; /* the game whose smallest cap `least` means */
    pb_sweep_request *request;
    pb_plan_result *known; /* at the smallest cap, and without a cap in the reversible game */
    uint64_t *caps;
    uint64_t program_peak;
    uint32_t points;
    bool least_known, least_cut; /* cut: there was no time to try small caps */
    pb_arena *result;
} chooser;

/* The game of the first strategy. */
static pb_game_kind first_game(const pb_game *base, const pb_sweep_request *request)
{
    const char *list = request->strategies ? request->strategies : "auto";
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(list, ":,"), list);
    const pb_strategy *row = pb_strategy_find(name);
    unsigned games = row ? row->games : PB_GAME_ALL;
    if (request->game)
        return (pb_game_kind)request->game;
    if (base->kind == PB_GAME_TIMED)
        return PB_GAME_TIMED;
    if (base->tier_count && (games & PB_GAME_TIERED))
        return PB_GAME_TIERED;
    return games & PB_GAME_REMAT ? PB_GAME_REMAT : PB_GAME_REVERSIBLE;
}

/* Each end of the range has a share of the time: most of it is for the caps between them. */
enum { SHARES = 5 };

/* Whether only the share of time ended. The sweep then continues without the result. */
static bool out_of_share(const chooser *c, pb_status status)
{
    return status == PB_ECANCELLED && c->ctx->stopped == PB_GO_ON;
}

static pb_status prove_least(chooser *c, uint64_t *cap)
{
    pb_bounds bounds;
    pbi_share share;
    pbi_share_begin(&share, c->ctx, c->request->time_ns / SHARES);
    pb_status status = pb_least_bound(c->ctx, &c->game, &bounds);
    pbi_share_end(&share);
    if (status == PB_OK)
        *cap = bounds.least_cap;
    if (!out_of_share(c, status))
        return status;
    *cap = c->program_peak / SHARES; /* nothing is known: a low guess */
    return PB_OK;
}

/* The smallest cap that works; keeps its plan for the sweep. If none is known, the proven minimum. */
static pb_status find_least(chooser *c, uint64_t *cap)
{
    pbi_share share;
    pb_status status = PB_OK;
    if (!c->least_known) {
        pbi_share_begin(&share, c->ctx, c->request->time_ns / SHARES);
        status = pb_least_cap(c->ctx, &c->game, &c->request->plan, c->result, &c->known[0]);
        pbi_share_end(&share);
        c->least_cut = share.end_ns && c->ctx->clock_ns(c->ctx->callback_state) >= share.end_ns;
    }
    if (status != PB_OK && !out_of_share(c, status))
        return status;
    c->least_known = true;
    c->request->known_count = c->request->known_count ? c->request->known_count : 1;
    if (c->known[0].certificate) {
        *cap = c->known[0].schedule.metrics.peak;
        return PB_OK;
    }
    return prove_least(c, cap);
}

/* The sum of all needed values. */
static uint64_t everything(const pb_graph *g)
{
    uint64_t all = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_NEEDED) && !pbi_add(all, g->size[v], &all))
            return PB_UNLIMITED - 1;
    return all;
}

/* The start of the default range: the peak in program order, in the reversible game that of a plan without a cap. */
static pb_status find_most(chooser *c, uint64_t *cap)
{
    pb_game game = c->game;
    *cap = c->program_peak;
    if (game.kind != PB_GAME_REVERSIBLE)
        return PB_OK;
    game.cap = PB_UNLIMITED;
    pbi_share share;
    pbi_share_begin(&share, c->ctx, c->request->time_ns / SHARES);
    pb_status status = pb_plan(c->ctx, &game, &c->request->plan, c->result, &c->known[1]);
    pbi_share_end(&share);
    if (status != PB_OK && !out_of_share(c, status))
        return status;
    *cap = everything(game.graph);
    if (status == PB_OK && c->known[1].certificate) {
        *cap = c->known[1].schedule.metrics.peak;
        c->request->known_count = 2;
    }
    return PB_OK;
}

static pb_status one_cap(chooser *c, const char *text, uint64_t *cap)
{
    char why[256];
    if (strcmp(text, "least") == 0 && c->game.kind == PB_GAME_TIMED)
        return pbi_fail(c->ctx, PB_EINVAL, "the smallest cap of the timed game is not known; name a size or 30%%");
    if (strcmp(text, "least") == 0)
        return find_least(c, cap);
    if (pb_size_parse(text, c->game.graph->size_unit, c->program_peak, cap, why, sizeof why))
        return PB_OK;
    return pbi_fail(c->ctx, PB_EINVAL, "%s; or least, or a range such as 100%%..30%%", why);
}

static pb_status add_range(chooser *c, uint64_t one, uint64_t other, uint32_t points)
{
    uint64_t high = one > other ? one : other, low = one > other ? other : one, *caps;
    uint32_t count;
    if (high == PB_UNLIMITED && low != high)
        return pbi_fail(c->ctx, PB_EINVAL, "a range cannot begin with none; begin it with a size such as 100%%");
    pb_status status = pb_sweep_caps(c->result, high, low, points, &caps, &count);
    if (status != PB_OK)
        return status;
    if (c->request->cap_count + count > PB_SWEEP_MAX_CAPS)
        return pbi_fail(c->ctx, PB_EINVAL, "expected at most %d caps; leave some out", PB_SWEEP_MAX_CAPS);
    memcpy(c->caps + c->request->cap_count, caps, count * sizeof *caps);
    c->request->cap_count += count;
    return PB_OK;
}

/* Caps below the smallest known one may work: down to 30 %, unless that is proved to be too little. */
static pb_status go_lower(chooser *c, uint64_t high, uint64_t *low)
{
    uint64_t usual = high / 10 * 3, proved;
    if (*low <= usual)
        return PB_OK;
    pb_status status = prove_least(c, &proved);
    usual = usual < proved ? proved : usual;
    *low = status == PB_OK && usual < *low ? usual : *low;
    return status;
}

/* The smallest cap of the timed game is not known: from 100 % to 30 %, below the machine's memory. */
static pb_status add_timed(chooser *c)
{
    uint64_t high = c->program_peak < c->game.cap ? c->program_peak : c->game.cap;
    return add_range(c, high, c->program_peak / 10 * 3 < high ? c->program_peak / 10 * 3 : high, c->points);
}

static pb_status add_default(chooser *c)
{
    uint64_t high, low;
    if (c->game.kind == PB_GAME_TIMED)
        return add_timed(c);
    pb_status status = find_most(c, &high);
    if (status == PB_OK)
        status = find_least(c, &low);
    if (status != PB_OK)
        return status;
    if (c->least_cut)
        status = go_lower(c, high, &low);
    return status == PB_OK ? add_range(c, high > low ? high : low, low, c->points) : status;
}

/* "100%..30%,20%,least" */
static pb_status add_list(chooser *c, const char *list)
{
    uint64_t high, low;
    for (const char *at = list;; at++) {
        char item[128];
        size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", length < sizeof item ? (int)length : 0, at);
        char *dots = strstr(item, "..");
        if (dots)
            *dots = '\0';
        pb_status status = one_cap(c, item, &high);
        low = high;
        if (status == PB_OK && dots)
            status = one_cap(c, dots + 2, &low);
        if (status == PB_OK)
            status = add_range(c, high, low, dots ? c->points : 1);
        at += length;
        if (status != PB_OK || *at == '\0')
            return status;
    }
}

pb_status pb_sweep_choose_caps(pb_context *ctx, const pb_game *base, const char *list, uint32_t points,
                               pb_arena *result, pb_sweep_request *request)
{
    chooser c = {.ctx = ctx, .game = *base, .request = request, .points = points, .result = result};
    if (points < 1 || points > PB_SWEEP_MAX_CAPS)
        return pbi_fail(ctx, PB_EINVAL, "expected a number of points from 1 to %d", PB_SWEEP_MAX_CAPS);
    c.game.kind = first_game(base, request);
    c.caps = pb_arena_alloc(result, PB_SWEEP_MAX_CAPS, sizeof *c.caps);
    c.known = pb_arena_zero(result, 2, sizeof *c.known);
    if (!c.caps || !c.known)
        return PB_ENOMEM;
    c.known[0].schedule.game = c.known[1].schedule.game = c.game.kind; /* if there is no time for a plan */
    request->caps = c.caps;
    request->known = c.known;
    request->cap_count = request->known_count = 0;
    pb_status status = pb_graph_program_peak(ctx, base->graph, &c.program_peak);
    if (status != PB_OK)
        return status;
    return list ? add_list(&c, list) : add_default(&c);
}
