/* settings.c -- a session's settings, which are texts, as the records that the library takes. */
#include "api/session/session.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

pb_status pbi_take_size(pb_session *s, const pb_graph *g, const char *text, uint64_t *out)
{
    char why[256];
    uint64_t whole = 0;
    if (pb_size_is_share(text)) {
        pb_status status = pb_graph_program_peak(&s->ctx, g, &whole);
        if (status != PB_OK)
            return status;
    }
    if (pb_size_parse(text, g->size_unit, whole, out, why, sizeof why))
        return PB_OK;
    return pbi_fail(&s->ctx, PB_EINVAL, "%s", why);
}

/* Digits only, below 2^64. */
static bool number_parse(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return length > 0;
}

pb_status pbi_take_number(pb_session *s, pbi_setting which, uint64_t standard, uint64_t most, uint64_t *out)
{
    static const char *const names[] = {
#define SETTING(name) #name,
#include "api/session/settings.def"
#undef SETTING
    };
    const char *text = s->setting[which];
    *out = standard;
    if (!text || (number_parse(text, strlen(text), out) && *out <= most))
        return PB_OK;
    if (most == UINT64_MAX)
        return pbi_fail(&s->ctx, PB_EINVAL, "%s: `%.60s` is not a whole number below 2^64", names[which], text);
    return pbi_fail(&s->ctx, PB_EINVAL, "%s: `%.60s` is not a whole number from 0 to %llu", names[which], text,
                    (unsigned long long)most);
}

static bool copy_price(const char *text, size_t length, char out[64])
{
    if (length >= 64)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* The sentence that is there, with the price it is about in front. */
static pb_status name_price(pb_session *s, pb_status status, pb_price which)
{
    char why[300];
    snprintf(why, sizeof why, "%.299s", s->ctx.error.message);
    return pbi_fail(&s->ctx, status, "%s of a tier: %s", pb_price_name(which), why);
}

/* "store_cost=1,load_cost=2,load_per_unit=0.04,cap=8GiB": one tier. */
static pb_status take_tier(pb_session *s, const pb_graph *g, const char *text, size_t length, pb_tier *tier)
{
    char price[PB_PRICE_COUNT][64] = {"0", "0", "0", "0"};
    *tier = (pb_tier){.cap = PB_UNLIMITED};
    for (const char *at = text, *end = text + length; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        const char *sign = memchr(at, '=', (size_t)(stop - at));
        size_t key = sign ? (size_t)(sign - at) : 0, rest = sign ? (size_t)(stop - sign - 1) : 0;
        bool known = false;
        for (int i = 0; i < PB_PRICE_COUNT; i++)
            if (key == strlen(pb_price_name((pb_price)i)) && strncmp(at, pb_price_name((pb_price)i), key) == 0)
                known = copy_price(sign + 1, rest, price[i]);
        if (key == 3 && strncmp(at, "cap", 3) == 0 && rest < 64) {
            char cap[64] = "";
            memcpy(cap, sign + 1, rest);
            pb_status status = pbi_take_size(s, g, cap, &tier->cap);
            if (status != PB_OK)
                return status;
            known = true;
        }
        if (!known)
            return pbi_fail(&s->ctx, PB_EINVAL,
                            "`%.*s` is not a field of a tier; store_cost, load_cost, store_per_unit and load_per_unit "
                            "are decimals, "
                            "cap is a size",
                            stop - at < 60 ? (int)(stop - at) : 60, at);
        at = stop + (comma != NULL);
    }
    const char *texts[PB_PRICE_COUNT] = {price[0], price[1], price[2], price[3]};
    pb_status status = PB_OK;
    for (int i = 0; i < PB_PRICE_COUNT && status == PB_OK; i++)
        if ((status = pb_price_check(&s->ctx, texts[i])) != PB_OK)
            status = name_price(s, status, (pb_price)i);
    return status == PB_OK ? pb_tier_prices_parse(&s->ctx, g, texts, tier) : status;
}

static pb_status take_tiers(pb_session *s, const pb_graph *g, pb_game *game)
{
    const char *text = s->setting[PBI_SET_tiers];
    pb_status status = PB_OK;
    for (const char *at = text; at && status == PB_OK;) {
        size_t length = strcspn(at, ";");
        if (game->tier_count == PB_MAX_TIERS)
            return pbi_fail(&s->ctx, PB_EINVAL, "at most %d tiers", PB_MAX_TIERS);
        status = take_tier(s, g, at, length, &game->tiers[game->tier_count++]);
        at = at[length] == ';' ? at + length + 1 : NULL;
    }
    return status;
}

/* *named: the game was named, and not chosen here. */
pb_status pbi_take_game(pb_session *s, const pb_graph *g, pb_game *game, bool *named)
{
    const char *kind = s->setting[PBI_SET_game], *cap = s->setting[PBI_SET_cap], *borrow = s->setting[PBI_SET_borrow],
               *weights = s->setting[PBI_SET_weights];
    *game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    *named = kind != NULL;
    if (kind && !pb_game_kind_parse(kind, &game->kind))
        return pbi_fail(&s->ctx, PB_EUNKNOWN, "there is no game `%.60s`; choose remat, reversible or tiered", kind);
    pb_status status = take_tiers(s, g, game);
    if (status == PB_OK && cap)
        status = pbi_take_size(s, g, cap, &game->cap);
    if (status == PB_OK && borrow)
        status = pbi_take_size(s, g, borrow, &game->borrow);
    if (status == PB_OK && weights && !strchr(weights, ';')) /* several are the sweep's */
        status = pb_weights_parse(&s->ctx, weights, &game->weights);
    if (status != PB_OK)
        return status;
    if (game->tier_count && kind && game->kind != PB_GAME_TIERED)
        return pbi_fail(&s->ctx, PB_EINVAL, "slow memory is part of the tiered game, not of %s; use the tiered game",
                        kind);
    if (game->tier_count)
        game->kind = PB_GAME_TIERED;
    if (game->kind == PB_GAME_TIERED && !game->tier_count) {
        game->tier_count = 1;
        game->tiers[0] = (pb_tier){.cap = PB_UNLIMITED};
    }
    return PB_OK;
}

pb_status pbi_take_request(pb_session *s, pb_request *request, pb_event_handler *handler)
{
    uint64_t threads, patient;
    *request = PB_REQUEST_DEFAULT;
    *handler = pbi_session_handler(s);
    pb_status status = pbi_take_number(s, PBI_SET_seed, 1, UINT64_MAX, &request->seed);
    if (status == PB_OK)
        status = pbi_take_number(s, PBI_SET_threads, 1, 1024, &threads);
    if (status == PB_OK)
        status = pbi_take_number(s, PBI_SET_patient, 0, 1, &patient);
    if (status != PB_OK)
        return status;
    request->threads = (uint32_t)threads;
    request->strategy = s->setting[PBI_SET_strategy];
    request->policy = s->setting[PBI_SET_policy];
    request->patient = patient || s->setting[PBI_SET_time] || s->ctx.tick_limit;
    request->time_ns = s->left_ns;
    request->bound_effort = s->left_ns ? pb_bounds_effort_in(1e-9 * (double)s->left_ns) : 0;
    request->handler = handler;
    return PB_OK;
}
