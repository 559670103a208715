/* metrics_json.c -- see metrics_json.h. */
#include "report/metrics_json.h"

#include "pebble/metrics.h"
#include "pebble/report.h"

#include <string.h>

enum { NUMBER_DIGITS = 15 }; /* what every reader represents exactly */

void pbi_put_text(pbi_out *out, const char *key, const char *text)
{
    pbi_out_text(out, key);
    if (text)
        pbi_out_json_text(out, text);
    else
        pbi_out_text(out, "null");
}

void pbi_put_u64(pbi_out *out, const char *key, uint64_t value)
{
    pbi_out_text(out, key);
    pbi_out_json_u64(out, value);
}

void pbi_put_cap(pbi_out *out, const char *key, uint64_t cap)
{
    if (cap == PB_UNLIMITED)
        pbi_put_text(out, key, NULL);
    else
        pbi_put_u64(out, key, cap);
}

void pbi_put_share(pbi_out *out, const char *key, double value)
{
    pbi_out_text(out, key);
    if (value < 0)
        pbi_out_text(out, "null");
    else
        pbi_out_json_real(out, value);
}

void pbi_put_weights(pbi_out *out, const char *key, const pb_weights *weights)
{
    char text[32];
    pbi_out_text(out, key);
    for (int i = 0; i < 3; i++) {
        pb_weight_text(weights, i, text);
        pbi_out_text(out, i ? "," : "[");
        pbi_out_text(out, text);
    }
    pbi_out_char(out, ']');
}

void pbi_put_metrics(pbi_out *out, const pb_metrics *m, const pb_weights *weights)
{
    char cost[PB_COST_TEXT];
    pbi_put_u64(out, "{\"peak\":", m->peak);
    pbi_put_u64(out, ",\"work\":", m->work);
    pbi_put_u64(out, ",\"io\":", m->io);
    pbi_put_u64(out, ",\"makespan\":", m->makespan);
    pbi_put_u64(out, ",\"recompute\":", m->recompute);
    pbi_put_u64(out, ",\"recompute_count\":", m->recompute_count);
    pbi_put_u64(out, ",\"uncompute\":", m->uncompute);
    pbi_out_text(out, ",\"flux\":");
    pbi_out_json_u128(out, m->flux);
    pbi_put_u64(out, ",\"moves\":", m->moves);
    pbi_put_u64(out, ",\"depth\":", m->depth);
    pb_cost_text(m->cost, weights, cost);
    pbi_out_text(out, ",\"cost\":");
    if (strlen(cost) > NUMBER_DIGITS)
        pbi_out_json_text(out, cost);
    else
        pbi_out_text(out, cost);
    pbi_put_share(out, ",\"overhead\":", m->overhead);
    if (m->peaks) /* of the timed game */
        pbi_put_u64(out, ",\"span\":", m->span);
    pbi_put_share(out, ",\"gap\":", m->gap);
    pbi_out_char(out, '}');
}

static void put_stalls(pbi_out *out, const char *key, const uint64_t stall[PB_STALL_COUNT])
{
    pbi_out_text(out, key);
    for (int i = 0; i < PB_STALL_COUNT; i++) {
        pbi_out_format(out, "%s\"%s\":", i ? "," : "{", pb_stall_name((pb_stall)i));
        pbi_out_json_u64(out, stall[i]);
    }
    pbi_out_char(out, '}');
}

static void put_lane(pbi_out *out, const char *name, bool processor, const pb_lane_use *l)
{
    pbi_put_text(out, "{\"name\":", name);
    pbi_put_text(out, ",\"kind\":", processor ? "processor" : "link");
    pbi_put_u64(out, ",\"busy\":", l->busy);
    pbi_put_u64(out, ",\"begin\":", l->begin);
    pbi_put_u64(out, ",\"end\":", l->end);
    pbi_put_u64(out, ",\"moves\":", l->moves);
    if (processor)
        put_stalls(out, ",\"stalls\":", l->stall);
    pbi_out_char(out, '}');
}

void pbi_put_lanes(pbi_out *out, const pb_certificate *c)
{
    uint64_t stall[PB_STALL_COUNT];
    if (!c || pb_certificate_game(c)->kind != PB_GAME_TIMED)
        return;
    const pb_timing *t = pb_certificate_game(c)->timing;
    const pb_timed_totals *totals = &pb_certificate_totals(c)->timed;
    const pb_machine *m = t->machine;
    for (uint32_t i = 0; i < m->memory_count; i++) {
        pbi_put_text(out, i ? "," : ",\"peaks\":{", m->memories[i].name);
        pbi_put_u64(out, ":", totals->peaks[i]);
    }
    pb_metrics_stalls(c, stall);
    put_stalls(out, "},\"stalls\":", stall);
    pbi_out_text(out, ",\"lanes\":[");
    for (uint32_t p = 0; p < m->processor_count; p++) {
        pbi_out_text(out, p ? "," : "");
        put_lane(out, m->processors[p].name, true, &totals->lanes[p]);
    }
    for (uint32_t i = 0, lane = 0; i < m->link_count; i++)
        if (t->lane[i] == lane) { /* the first link of the lane */
            pbi_out_char(out, ',');
            put_lane(out, m->links[i].lane ? m->links[i].lane : m->links[i].name, false,
                     &totals->lanes[m->processor_count + lane++]);
        }
    pbi_out_char(out, ']');
}

pb_status pb_metrics_json_write(pb_context *ctx, const pb_metrics *m, const pb_weights *weights, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_put_metrics(&out, m, weights);
    return pbi_out_finish(&out);
}
