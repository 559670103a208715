/* judge.c -- schedules from other sources: replay them, measure them, check their claims. */
#include "pebble/api.h"

#include "base/context.h"
#include "report/metrics_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The graph in the costs of the schedule: its machine's times, or those of the graph's file. */
static pb_status price(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result, const pb_graph **out)
{
    char why[sizeof ctx->error.message];
    *out = g->unpriced ? g->unpriced : g;
    pb_status status = s->machine ? pb_graph_price(ctx, g, s->machine, result, out) : PB_OK;
    if (status != PB_EINVAL)
        return status;
    snprintf(why, sizeof why, "%s", ctx->error.message);
    return pbi_fail(ctx, PB_EFORMAT, "the schedule's machine cannot price the graph: %.400s", why);
}

/* The same for the timed game, and the times of its lanes. */
static pb_status time_lanes(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result,
                            const pb_graph **out, const pb_timing **timing)
{
    char why[sizeof ctx->error.message];
    pb_status status = pb_timing_make(ctx, g, s->machine, result, timing);
    if (status == PB_OK)
        status = pb_timing_graph(ctx, *timing, result, out);
    if (status != PB_EINVAL)
        return status;
    snprintf(why, sizeof why, "%s", ctx->error.message);
    return pbi_fail(ctx, PB_EFORMAT, "the schedule's machine does not fit the graph: %.400s", why);
}

pb_status pb_judge(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result, pb_judgement *out)
{
    const pb_timing *timing = NULL;
    uint64_t cap = s->cap;
    if (s->game == PB_GAME_TIMED && !s->machine)
        return pbi_fail(ctx, PB_EFORMAT, "a schedule of the timed game needs a machine");
    if (s->game == PB_GAME_TIMED && cap == PB_UNLIMITED)
        cap = s->machine->memories[0].cap;
    pb_status status =
        s->game == PB_GAME_TIMED ? time_lanes(ctx, g, s, result, &g, &timing) : price(ctx, g, s, result, &g);
    if (status != PB_OK)
        return status;
    out->game = (pb_game){.graph = g,
                          .kind = s->game,
                          .cap = cap,
                          .borrow = s->borrow,
                          .weights = s->weights,
                          .tier_count = s->tier_count,
                          .timing = timing,
                          .objective = s->objective};
    memcpy(out->game.tiers, s->tiers, sizeof out->game.tiers);
    status = pb_verify(ctx, &out->game, &s->moves, result, &out->verdict);
    if (status != PB_OK || !out->verdict.certificate)
        return status;
    status = pb_metrics_measure(ctx, out->verdict.certificate, &out->metrics);
    if (status == PB_OK && s->bound_kind != PB_BOUND_NONE)
        out->metrics.gap = pb_metrics_gap(pb_metrics_objective(&out->game, &out->metrics), s->lower_bound);
    return status;
}

static bool differs(char *text, size_t room, const char *name, const char *said, const char *is)
{
    snprintf(text, room, "%s is %s in the file, but %s in the replay", name, said, is);
    return true;
}

static bool near_enough(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)); }

bool pb_judge_metrics(const pb_schedule *s, const pb_metrics *m, char *text, size_t room)
{
    const pb_metrics *f = &s->metrics;
    uint32_t stated = !s->has_metrics ? 0 : s->metrics_stated ? s->metrics_stated : UINT32_MAX;
    uint32_t memories = s->machine && f->peaks && m->peaks && (stated & PB_STATED_PEAKS) ? s->machine->memory_count : 0;
    const struct {
        uint32_t bit;
        const char *name;
        uint64_t said, is;
    } whole[] = {
        {PB_STATED_PEAK, "peak", f->peak, m->peak},
        {PB_STATED_WORK, "work", f->work, m->work},
        {PB_STATED_IO, "io", f->io, m->io},
        {PB_STATED_MAKESPAN, "makespan", f->makespan, m->makespan},
        {PB_STATED_RECOMPUTE, "recompute", f->recompute, m->recompute},
        {PB_STATED_RECOMPUTE_COUNT, "recompute_count", f->recompute_count, m->recompute_count},
        {PB_STATED_UNCOMPUTE, "uncompute", f->uncompute, m->uncompute},
        {PB_STATED_MOVES, "moves", f->moves, m->moves},
        {PB_STATED_DEPTH, "depth", f->depth, m->depth},
        {PB_STATED_BORROWED, "borrowed", f->borrowed, m->borrowed},
        {PB_STATED_SPAN, "span", f->span, m->span},
    };
    char said[PB_COST_TEXT], is[PB_COST_TEXT];
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if ((stated & whole[i].bit) && whole[i].said != whole[i].is) {
            snprintf(said, sizeof said, "%" PRIu64, whole[i].said);
            snprintf(is, sizeof is, "%" PRIu64, whole[i].is);
            return differs(text, room, whole[i].name, said, is);
        }
    for (uint32_t i = 0; i < memories; i++)
        if (f->peaks[i] != m->peaks[i]) {
            char name[96];
            snprintf(name, sizeof name, "the peak of %.60s", s->machine->memories[i].name);
            snprintf(said, sizeof said, "%" PRIu64, f->peaks[i]);
            snprintf(is, sizeof is, "%" PRIu64, m->peaks[i]);
            return differs(text, room, name, said, is);
        }
    if ((stated & PB_STATED_FLUX) && pb_u128_compare(f->flux, m->flux) != 0) {
        pb_u128_text(f->flux, said);
        pb_u128_text(m->flux, is);
        return differs(text, room, "flux", said, is);
    }
    if ((stated & PB_STATED_COST) && pb_u128_compare(f->cost, m->cost) != 0) {
        pb_cost_text(f->cost, &s->weights, said);
        pb_cost_text(m->cost, &s->weights, is);
        return differs(text, room, "cost", said, is);
    }
    if ((stated & PB_STATED_OVERHEAD) && !near_enough(f->overhead, m->overhead)) {
        snprintf(said, sizeof said, "%.9g", f->overhead);
        snprintf(is, sizeof is, "%.9g", m->overhead);
        return differs(text, room, "overhead", said, is);
    }
    if ((stated & PB_STATED_GAP) && s->bound_kind != PB_BOUND_NONE && !near_enough(f->gap, m->gap)) {
        snprintf(said, sizeof said, "%.9g", f->gap);
        snprintf(is, sizeof is, "%.9g", m->gap);
        return differs(text, room, "gap", said, is);
    }
    return false;
}

bool pb_read_otherwise(const pb_graph *g, const pb_schedule *s)
{
    return strcmp(g->read_with ? g->read_with : "", s->read_with ? s->read_with : "") != 0;
}

/* Puts the first error that is not a broken rule into out->message. */
static pb_status check_claims(pb_context *ctx, const pb_schedule *s, bool any_graph, pb_judgement *out)
{
    char text[512];
    bool apart;
    if (!out->same_graph && !any_graph) {
        out->failure = PB_FAILURE_GRAPH;
        int used = snprintf(out->message, sizeof out->message,
                            "the schedule was made for another graph (%.80s): the hashes differ",
                            s->graph_name && s->graph_name[0] ? s->graph_name : "without a name");
        if (pb_read_otherwise(out->game.graph, s))
            snprintf(out->message + used, sizeof out->message - (size_t)used,
                     "; its file was read with %.150s, this graph with %.150s: use the same options",
                     s->read_with ? s->read_with : "no options",
                     out->game.graph->read_with ? out->game.graph->read_with : "no options");
        else
            snprintf(out->message + used, sizeof out->message - (size_t)used, "; pass the graph that it was made for");
        return PB_OK;
    }
    pb_status status = pb_judge_addresses(ctx, out->verdict.certificate, &s->addresses, &apart, text, sizeof text);
    if (status == PB_OK && !apart) {
        out->failure = PB_FAILURE_ADDRESSES;
        snprintf(out->message, sizeof out->message,
                 "the moves are legal, but the addresses are wrong: %s; plan again with addresses", text);
    } else if (status == PB_OK && pb_judge_metrics(s, &out->metrics, text, sizeof text)) {
        out->failure = PB_FAILURE_FIGURES;
        snprintf(out->message, sizeof out->message,
                 "the moves are legal, but the figures are wrong: %s; correct the file", text);
    }
    return status;
}

pb_status pb_judge_all(pb_context *ctx, const pb_graph *g, const pb_schedule *s, bool any_graph, pb_arena *result,
                       pb_judgement *out)
{
    char text[512], hash[PB_HASH_TEXT];
    memset(out, 0, sizeof *out);
    pb_status status = s->graph_hash[0] ? pb_graph_hash(ctx, g, hash) : PB_OK;
    if (status != PB_OK)
        return status;
    out->same_graph = !s->graph_hash[0] || strcmp(hash, s->graph_hash) == 0;
    status = pb_judge(ctx, g, s, result, out);
    if (status == PB_ERANGE) {
        out->failure = PB_FAILURE_RANGE;
        snprintf(out->message, sizeof out->message, "%s", ctx->error.message);
        return PB_OK;
    }
    if (status != PB_OK)
        return status;
    if (out->verdict.certificate)
        return check_claims(ctx, s, any_graph, out);
    out->failure = PB_FAILURE_RULE;
    pb_verdict_text(&out->game, &s->moves, &out->verdict, text, sizeof text);
    snprintf(out->message, sizeof out->message, "%s [rule %s]", text, pb_rule_name(out->verdict.rule));
    return PB_OK;
}

static const char *node_text(const pb_judgement *j, pb_node v)
{
    const pb_graph *g = j->game.graph;
    return j->failure == PB_FAILURE_RULE && v < g->node_count ? pb_graph_name(g, v) : NULL;
}

pb_status pb_judgement_json_write(pb_context *ctx, const pb_judgement *j, pb_sink sink)
{
    bool legal = j->verdict.certificate != NULL, placed = j->failure == PB_FAILURE_RULE;
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_out_text(&out, legal ? "{\"legal\":true" : "{\"legal\":false");
    pbi_put_text(&out, ",\"rule\":", placed ? pb_rule_name(j->verdict.rule) : NULL);
    if (placed) {
        pbi_put_u64(&out, ",\"rule_number\":", (uint64_t)j->verdict.rule);
        pbi_put_u64(&out, ",\"move\":", j->verdict.step);
    } else {
        pbi_out_text(&out, ",\"rule_number\":null,\"move\":null");
    }
    pbi_put_text(&out, ",\"node\":", node_text(j, j->verdict.node));
    pbi_put_text(&out, ",\"other\":", node_text(j, j->verdict.other));
    pbi_put_text(&out, ",\"message\":", j->message[0] ? j->message : NULL);
    pbi_out_text(&out, ",\"metrics\":");
    if (legal)
        pbi_put_metrics(&out, &j->metrics, &j->game.weights);
    else
        pbi_out_text(&out, "null");
    pbi_out_text(&out, j->same_graph ? ",\"same_graph\":true}\n" : ",\"same_graph\":false}\n");
    return pbi_out_finish(&out);
}
