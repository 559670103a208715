/* comparison_svg.c -- a comparison as a picture: for each strategy its peak under the cap and its extra work, or why
 * it has no plan. Strategies that do not apply to the graph are left out. */
#include "pebble/summary.h"

#include "base/context.h"
#include "report/svg.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 960,
    NAMES = 232, /* right end of the names */
    PEAKS = 244,
    PEAK_WIDTH = 300,
    EXTRAS = 640,
    EXTRA_WIDTH = 200,
    TOP = 84,
    ROW = 24,
    BAR = 13,
    TEXT = 160
};

typedef struct chart {
    pbi_out out;
    const pb_game *base;
    const pb_comparison *rows;
    uint32_t *order;
    uint32_t count;
    double most_peak, most_extra;
    bool several_games;
} chart;

static bool applies(const pb_plan_result *p)
{
    static const char prefix[] = "does not apply";
    const char *reason = p->schedule.reason;
    return p->certificate || !reason || strncmp(reason, prefix, sizeof prefix - 1) != 0;
}

/* By game, then by cost; rows without a plan last. */
static bool comes_before(const chart *c, uint32_t i, uint32_t k)
{
    const pb_plan_result *a = &c->rows->rows[i], *b = &c->rows->rows[k];
    if (!a->certificate || !b->certificate)
        return a->certificate && !b->certificate;
    if (a->schedule.game != b->schedule.game)
        return a->schedule.game < b->schedule.game;
    int order = pb_u128_compare(a->schedule.metrics.cost, b->schedule.metrics.cost);
    return order ? order < 0 : i == c->rows->winner && k != c->rows->winner;
}

static void sort_rows(chart *c)
{
    for (uint32_t i = 0; i < c->rows->row_count; i++) {
        if (!applies(&c->rows->rows[i]))
            continue;
        uint32_t at = c->count++;
        for (; at > 0 && comes_before(c, i, c->order[at - 1]); at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
}

/* Bars end at the edge where a plan takes many times the extra work of the others. */
static void choose_scales(chart *c)
{
    double least = -1, most = 0, peak = c->base->cap == PB_UNLIMITED ? 0 : (double)c->base->cap;
    unsigned games = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const pb_plan_result *p = &c->rows->rows[c->order[i]];
        games |= (unsigned)p->schedule.game;
        if (!p->certificate)
            continue;
        double extra = p->schedule.metrics.overhead;
        least = least < 0 || extra < least ? extra : least;
        most = extra > most ? extra : most;
        peak = (double)p->schedule.metrics.peak > peak ? (double)p->schedule.metrics.peak : peak;
    }
    double edge = 4 * least > 1 ? 4 * least : 1;
    c->most_extra = most < edge ? most : edge;
    c->most_peak = peak;
    c->several_games = (games & (games - 1)) != 0;
}

static void put_bar(chart *c, double x, double y, double width, const char *color, bool cut)
{
    pbi_out_format(&c->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, width,
                   BAR, color);
    if (cut)
        pbi_out_format(&c->out, "<path class=\"line\" stroke=\"%s\" d=\"M%.1f %.1fl4 %.1fl-4 %.1f\"/>\n", color,
                       x + width + 3, y, BAR / 2.0, BAR / 2.0);
}

static void put_plan(chart *c, const pb_plan_result *p, double y)
{
    char text[TEXT];
    const pb_metrics *m = &p->schedule.metrics;
    /* With several processors nothing compares with the makespan; the cap is that of the first memory. */
    double overhead = m->overhead > 0 ? m->overhead : 0;
    uint64_t peak = pb_metrics_capped(m);
    double width = c->most_peak > 0 ? PEAK_WIDTH * ((double)peak / c->most_peak) : 0;
    put_bar(c, PEAKS, y, width, "#0a7cc4", false);
    pb_quantity_text(peak, c->base->graph->size_unit, text, sizeof text);
    pbi_svg_label(&c->out, PEAKS + width + 6, y + 11, "start", "small", text);
    double extra = c->most_extra > 0 ? overhead / c->most_extra : 0;
    put_bar(c, EXTRAS, y, EXTRA_WIDTH * (extra < 1 ? extra : 1), "#d9600b", extra > 1);
    snprintf(text, sizeof text, overhead < 0.1 && overhead > 0 ? "%.1f %%%s" : "%.0f %%%s", 100 * overhead,
             p->schedule.outcome == PB_OPTIMAL ? ", optimal" : "");
    pbi_svg_label(&c->out, EXTRAS + EXTRA_WIDTH * (extra < 1 ? extra : 1) + (extra > 1 ? 14 : 6), y + 11, "start",
                  "small", text);
}

static void put_row(chart *c, uint32_t i, double y)
{
    const pb_plan_result *p = &c->rows->rows[i];
    char text[TEXT], reason[512];
    const char *name = p->spec ? p->spec : p->schedule.strategy;
    bool chosen = strcmp(name, p->schedule.strategy) != 0 &&
                  strncmp(name, p->schedule.strategy, strlen(p->schedule.strategy)) != 0;
    int used = snprintf(text, sizeof text, "%s%.40s", i == c->rows->winner ? "★ " : "", name);
    if (chosen && p->certificate)
        used += snprintf(text + used, sizeof text - (size_t)used, " → %.24s", p->schedule.strategy);
    if (c->several_games)
        snprintf(text + used, sizeof text - (size_t)used, " (%.10s)", pb_game_kind_name(p->schedule.game));
    pbi_svg_label(&c->out, NAMES, y + 11, "end", i == c->rows->winner ? "best" : "", text);
    if (p->certificate) {
        put_plan(c, p, y);
        return;
    }
    pb_result_reason(p, p->game ? p->game : c->base, reason, sizeof reason);
    int length = (int)strlen(reason), room = 108;
    while (length > room && room > 0 && ((unsigned char)reason[room] & 0xc0) == 0x80)
        room--; /* not inside of a character */
    snprintf(text, sizeof text, "%.*s%s", room, reason, length > room ? "…" : "");
    pbi_svg_label(&c->out, PEAKS, y + 11, "start", "small", text);
}

static void put_heads(chart *c)
{
    char text[2 * TEXT], cap[TEXT];
    const pb_graph *g = c->base->graph;
    pb_amount_text(c->base->cap, g->size_unit, cap, sizeof cap);
    snprintf(text, sizeof text, "%.100s: strategies under %s%.60s", g->name[0] ? g->name : "graph",
             c->base->cap == PB_UNLIMITED ? "no cap" : "a cap of ", c->base->cap == PB_UNLIMITED ? "" : cap);
    pbi_svg_label(&c->out, 16, 24, "start", "title", text);
    snprintf(text, sizeof text, "peak memory%s%.40s", strcmp(g->size_unit, "byte") == 0 ? "" : ", ",
             strcmp(g->size_unit, "byte") == 0 ? "" : g->size_unit);
    pbi_svg_label(&c->out, PEAKS, TOP - 24, "start", "", text);
    pbi_svg_label(&c->out, EXTRAS, TOP - 24, "start", "", pb_unit_is_time(g->cost_unit) ? "extra time" : "extra work");
}

static void put_cap(chart *c, double bottom)
{
    if (c->base->cap == PB_UNLIMITED || c->most_peak <= 0)
        return;
    double x = PEAKS + PEAK_WIDTH * ((double)c->base->cap / c->most_peak);
    pbi_svg_segment(&c->out, "cap", x, TOP - 6, x, bottom);
    pbi_svg_label(&c->out, x, TOP - 9, "middle", "small", "cap");
}

static pb_status draw(chart *c)
{
    uint32_t plans = 0;
    for (; plans < c->count && c->rows->rows[c->order[plans]].certificate; plans++)
        ;
    pbi_svg_open(&c->out, WIDTH, (unsigned)(TOP + ROW * (c->count ? c->count : 1) + 16));
    put_heads(c);
    for (uint32_t i = 0; i < c->count; i++)
        put_row(c, c->order[i], TOP + (double)ROW * i);
    if (!c->count)
        pbi_svg_label(&c->out, PEAKS, TOP + 11, "start", "small", "no strategy applies to this graph");
    put_cap(c, TOP + (double)ROW * plans);
    pbi_out_text(&c->out, "</svg>\n");
    return pbi_out_finish(&c->out);
}

pb_status pb_comparison_svg_write(pb_context *ctx, const pb_game *base, const pb_comparison *rows, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    chart *c = pb_arena_zero(&scratch, 1, sizeof *c);
    pb_status status = c ? PB_OK : PB_ENOMEM;
    if (c) {
        c->base = base;
        c->rows = rows;
        c->order = pb_arena_alloc(&scratch, rows->row_count, sizeof *c->order);
        status = c->order ? PB_OK : PB_ENOMEM;
    }
    if (status == PB_OK) {
        pbi_out_init(&c->out, ctx, sink);
        sort_rows(c);
        choose_scales(c);
        status = draw(c);
    }
    pb_arena_release(&scratch);
    return status;
}
