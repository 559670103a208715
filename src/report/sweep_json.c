/* sweep_json.c -- sweeps as one document, pebble-sweep/1. Cells are named by their index in `cells`. */
#include "pebble/report.h"

#include "report/metrics_json.h"

#include <string.h>

static void put_cell(pbi_out *out, const char *key, uint32_t cell)
{
    pbi_out_text(out, key);
    if (cell == PB_NO_CELL)
        pbi_out_text(out, "null");
    else
        pbi_out_u64(out, cell);
}

static void put_real(pbi_out *out, const char *key, double value)
{
    pbi_out_text(out, key);
    pbi_out_json_real(out, value);
}

/* Costs of up to 15 digits are numbers, others text: no reader rounds them. */
static void put_cost(pbi_out *out, const pb_schedule *f)
{
    char text[PB_COST_TEXT];
    pb_cost_text(f->metrics.cost, &f->weights, text);
    pbi_out_text(out, ",\"cost\":");
    if (strlen(text) <= 15)
        pbi_out_text(out, text);
    else
        pbi_out_json_text(out, text);
}

static void put_metrics(pbi_out *out, const pb_schedule *f)
{
    const pb_metrics *m = &f->metrics;
    char text[PB_U128_TEXT];
    pbi_put_u64(out, ",\"metrics\":{\"peak\":", m->peak);
    pbi_put_u64(out, ",\"work\":", m->work);
    pbi_put_u64(out, ",\"io\":", m->io);
    pbi_put_u64(out, ",\"makespan\":", m->makespan);
    pbi_put_u64(out, ",\"recompute\":", m->recompute);
    pbi_put_u64(out, ",\"recompute_count\":", m->recompute_count);
    pbi_put_u64(out, ",\"uncompute\":", m->uncompute);
    pb_u128_text(m->flux, text);
    pbi_put_text(out, ",\"flux\":", text);
    pbi_put_u64(out, ",\"moves\":", m->moves);
    pbi_put_u64(out, ",\"depth\":", m->depth);
    put_cost(out, f);
    put_real(out, ",\"overhead\":", m->overhead);
    pbi_out_text(out, ",\"gap\":");
    if (m->gap >= 0)
        pbi_out_json_real(out, m->gap);
    else
        pbi_out_text(out, "null");
    pbi_out_char(out, '}');
}

static void put_one(pbi_out *out, const pb_sweep *s, uint32_t cell)
{
    const pb_sweep_cell *c = &s->cells[cell];
    const pb_schedule *f = &c->schedule;
    uint64_t cap = s->caps[pb_sweep_cap_of(s, cell)];
    pbi_put_cap(out, "{\"cap\":", cap);
    pbi_out_text(out, ",\"cap_share\":");
    if (s->program_peak && cap != PB_UNLIMITED)
        pbi_out_json_real(out, (double)cap / (double)s->program_peak);
    else
        pbi_out_text(out, "null");
    pbi_put_text(out, ",\"strategy\":", s->lines[pb_sweep_line_of(s, cell)].spec);
    pbi_put_text(out, ",\"chosen\":", c->certificate ? f->strategy : NULL);
    pbi_put_text(out, ",\"game\":", pb_game_kind_name(f->game));
    pbi_put_weights(out, ",\"weights\":", &f->weights);
    pbi_put_text(out, ",\"outcome\":", c->present ? pb_outcome_name(f->outcome) : "missing");
    pbi_put_text(out, ",\"reason\":", f->reason);
    if (c->certificate)
        put_metrics(out, f);
    else
        pbi_out_text(out, ",\"metrics\":null");
    pbi_put_lanes(out, c->certificate);
    pbi_out_text(out, ",\"lower_bound\":");
    if (f->bound_kind == PB_BOUND_NONE)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, f->lower_bound);
    pbi_put_text(out, ",\"bound_kind\":", pb_bound_kind_name(f->bound_kind));
    pbi_out_text(out, c->planned ? ",\"planned\":true" : ",\"planned\":false");
    put_cell(out, ",\"from\":", c->from);
    put_real(out, ",\"seconds\":", c->seconds);
    pbi_put_text(out, ",\"policy\":", f->policy);
    if (f->priorities)
        pbi_put_u64(out, ",\"priorities\":", f->priorities);
    pbi_out_char(out, '}');
}

static void put_games(pbi_out *out, const pb_sweep *s)
{
    const char *join = "";
    pbi_out_text(out, ",\"games\":[");
    for (unsigned kind = PB_GAME_REMAT, at = 0; kind <= PB_GAME_TIMED; kind *= 2, at++) {
        if (!(s->games & kind))
            continue;
        pbi_out_text(out, join);
        pbi_put_text(out, "{\"game\":", pb_game_kind_name((pb_game_kind)kind));
        pbi_put_cap(out, ",\"proved_least_cap\":", s->proved_least[at]);
        pbi_put_cap(out, ",\"least_peak\":", s->least_peak[at]);
        pbi_out_char(out, '}');
        join = ",";
    }
    pbi_out_char(out, ']');
}

static void put_flips(pbi_out *out, const pb_sweep *s)
{
    pbi_out_text(out, ",\n\"flips\":[");
    for (uint32_t i = 0; i < s->flip_count; i++) {
        const pb_sweep_flip *flip = &s->flips[i];
        pbi_put_text(out, i ? ",\n{\"across\":" : "\n{\"across\":", flip->across_weights ? "weights" : "caps");
        put_cell(out, ",\"before\":", flip->before);
        put_cell(out, ",\"after\":", flip->after);
        pbi_put_text(out, ",\"winner_before\":", pb_sweep_winner_name(s, flip->before));
        pbi_put_text(out, ",\"winner_after\":", pb_sweep_winner_name(s, flip->after));
        pbi_out_char(out, '}');
    }
    pbi_out_char(out, ']');
}

static void put_winners(pbi_out *out, const pb_sweep *s)
{
    pbi_out_text(out, ",\n\"weights\":[");
    for (uint32_t w = 0; w < s->weights_count; w++) {
        pbi_put_weights(out, w ? ",\n{\"weights\":" : "\n{\"weights\":", &s->weights[w]);
        put_cell(out, ",\"cheapest\":", s->cheapest[w]);
        for (uint32_t k = 0; k < s->cap_count; k++)
            put_cell(out, k ? "," : ",\"winners\":[", s->winner[w * s->cap_count + k]);
        pbi_out_text(out, "]}");
    }
    pbi_out_char(out, ']');
}

static void put_sweep(pbi_out *out, const pb_sweep *s)
{
    pbi_put_text(out, "{\"graph\":", s->graph->name);
    pbi_put_text(out, ",\"graph_hash\":", s->cell_count ? s->cells[0].schedule.graph_hash : NULL);
    pbi_put_text(out, ",\"size_unit\":", s->graph->size_unit);
    pbi_put_text(out, ",\"cost_unit\":", s->graph->cost_unit);
    pbi_put_u64(out, ",\"written_peak\":", s->program_peak);
    if (s->borrow)
        pbi_put_u64(out, ",\"borrow\":", s->borrow);
    pbi_put_u64(out, ",\"needed_work\":", s->graph->needed_cost);
    pbi_put_text(out, ",\"policy\":", s->policy);
    pbi_put_text(out, ",\"stopped\":",
                 s->stopped == PB_GO_ON       ? NULL
                 : s->stopped == PB_STOP_TIME ? "time"
                                              : "interrupt");
    put_games(out, s);
    for (uint32_t k = 0; k < s->cap_count; k++)
        pbi_put_cap(out, k ? "," : ",\"caps\":[", s->caps[k]);
    pbi_out_text(out, "],\n\"cells\":[");
    for (uint32_t i = 0; i < s->cell_count; i++) {
        pbi_out_text(out, i ? ",\n" : "\n");
        put_one(out, s, i);
    }
    pbi_out_char(out, ']');
    put_winners(out, s);
    pbi_out_text(out, ",\n\"front\":[");
    for (uint32_t i = 0; i < s->front_count; i++)
        put_cell(out, i ? "," : "", s->front[i]);
    put_cell(out, "],\"knee\":", s->knee);
    put_flips(out, s);
    pbi_out_char(out, '}');
}

pb_status pb_sweep_json_write(pb_context *ctx, const pb_sweep *const *sweeps, uint32_t count, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_put_text(&out, "{\"format\":\"pebble-sweep/1\",\"version\":", PB_VERSION);
    pbi_out_text(&out, ",\"sweeps\":[");
    for (uint32_t i = 0; i < count; i++) {
        pbi_out_text(&out, i ? ",\n" : "\n");
        put_sweep(&out, sweeps[i]);
    }
    pbi_out_text(&out, "\n]}\n");
    return pbi_out_finish(&out);
}
