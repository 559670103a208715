/* sweep_csv.c -- a sweep as CSV: one row per cell, always the same columns. */
#include "pebble/report.h"

#include "base/out.h"
#include "pebble/metrics.h"

#include <stdio.h>
#include <string.h>

static const char names[] =
    "graph,game,strategy,chosen,alpha,beta,gamma,cap,cap_share,outcome,reason,peak,work,io,makespan,recompute,"
    "recompute_count,uncompute,flux,moves,depth,cost,overhead,lower_bound,gap,winner,front,knee,planned,from_cap,"
    "policy,priorities,seconds";
/* In addition, if some line plays the timed game. */
static const char timed_names[] = ",span,wait_copy,wait_processor,wait_memory,peaks";

/* RFC 4180: quoted if the text contains a comma, a quote or a line break. */
static void csv_text(pbi_out *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        pbi_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            pbi_out_char(out, '"');
        pbi_out_char(out, *text);
    }
    if (quoted)
        pbi_out_char(out, '"');
}

static void put_text(pbi_out *out, const char *text)
{
    csv_text(out, text ? text : "");
    pbi_out_char(out, ',');
}

static void put_u64(pbi_out *out, uint64_t value)
{
    pbi_out_u64(out, value);
    pbi_out_char(out, ',');
}

static void put_real(pbi_out *out, double value)
{
    pbi_out_json_real(out, value);
    pbi_out_char(out, ',');
}

static void put_metrics(pbi_out *out, const pb_schedule *f)
{
    const pb_metrics *m = &f->metrics;
    char text[PB_COST_TEXT];
    put_u64(out, m->peak);
    put_u64(out, m->work);
    put_u64(out, m->io);
    put_u64(out, m->makespan);
    put_u64(out, m->recompute);
    put_u64(out, m->recompute_count);
    put_u64(out, m->uncompute);
    pb_u128_text(m->flux, text);
    put_text(out, text);
    put_u64(out, m->moves);
    put_u64(out, m->depth);
    pb_cost_text(m->cost, &f->weights, text);
    put_text(out, text);
    put_real(out, m->overhead);
}

/* Peaks as "fast=5 far=3". */
static void put_timed(pbi_out *out, const pb_sweep_cell *c)
{
    if (!c->certificate || c->game->kind != PB_GAME_TIMED) {
        pbi_out_text(out, ",,,,,");
        return;
    }
    const pb_machine *m = c->game->timing->machine;
    const pb_timed_totals *t = &pb_certificate_totals(c->certificate)->timed;
    uint64_t stall[PB_STALL_COUNT];
    char text[1024] = "";
    size_t used = 0;
    pb_metrics_stalls(c->certificate, stall);
    pbi_out_char(out, ',');
    put_u64(out, t->span);
    put_u64(out, stall[PB_STALL_COPY]);
    put_u64(out, stall[PB_STALL_PROCESSOR]);
    put_u64(out, stall[PB_STALL_MEMORY]);
    for (uint32_t i = 0; i < m->memory_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s=%llu", i ? " " : "", m->memories[i].name,
                                 (unsigned long long)t->peaks[i]);
    csv_text(out, text);
}

static void put_row(pbi_out *out, const pb_sweep *s, uint32_t cell, bool front)
{
    const pb_sweep_cell *c = &s->cells[cell];
    const pb_schedule *f = &c->schedule;
    uint32_t w = pb_sweep_weights_of(s, cell), k = pb_sweep_cap_of(s, cell);
    char text[32];
    put_text(out, s->graph->name);
    put_text(out, pb_game_kind_name(f->game));
    put_text(out, s->lines[pb_sweep_line_of(s, cell)].spec);
    put_text(out, c->certificate ? f->strategy : "");
    for (int i = 0; i < 3; i++) {
        pb_weight_text(&s->weights[w], i, text);
        put_text(out, text);
    }
    if (s->caps[k] == PB_UNLIMITED)
        put_text(out, "");
    else
        put_u64(out, s->caps[k]);
    if (s->program_peak && s->caps[k] != PB_UNLIMITED)
        put_real(out, (double)s->caps[k] / (double)s->program_peak);
    else
        put_text(out, "");
    put_text(out, c->present ? pb_outcome_name(f->outcome) : "missing");
    put_text(out, f->reason);
    if (c->certificate)
        put_metrics(out, f);
    else
        pbi_out_text(out, ",,,,,,,,,,,,");
    if (f->bound_kind != PB_BOUND_NONE)
        pbi_out_u64(out, f->lower_bound);
    pbi_out_char(out, ',');
    if (c->certificate && f->metrics.gap >= 0)
        pbi_out_json_real(out, f->metrics.gap);
    pbi_out_char(out, ',');
    pbi_out_format(out, "%d,%d,%d,%d,", s->winner[w * s->cap_count + k] == cell, front, s->knee == cell, c->planned);
    if (c->from != PB_NO_CELL && s->caps[pb_sweep_cap_of(s, c->from)] != PB_UNLIMITED)
        pbi_out_u64(out, s->caps[pb_sweep_cap_of(s, c->from)]);
    pbi_out_char(out, ',');
    put_text(out, f->policy);
    if (f->priorities)
        pbi_out_u64(out, f->priorities);
    pbi_out_char(out, ',');
    pbi_out_json_real(out, c->seconds);
    if (s->games & PB_GAME_TIMED)
        put_timed(out, c);
    pbi_out_char(out, '\n');
}

pb_status pb_sweep_csv_write(pb_context *ctx, const pb_sweep *s, bool with_names, pb_sink sink)
{
    pb_arena scratch;
    pbi_out out;
    pb_arena_init(&scratch, ctx);
    bool *front = pb_arena_zero(&scratch, s->cell_count, sizeof *front);
    pb_status status = front ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        for (uint32_t i = 0; i < s->front_count; i++)
            front[s->front[i]] = true;
        pbi_out_init(&out, ctx, sink);
        if (with_names) {
            pbi_out_text(&out, names);
            pbi_out_text(&out, s->games & PB_GAME_TIMED ? timed_names : "");
            pbi_out_char(&out, '\n');
        }
        for (uint32_t i = 0; i < s->cell_count; i++)
            put_row(&out, s, i, front[i]);
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}
