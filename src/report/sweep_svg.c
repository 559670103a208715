/* sweep_svg.c -- a sweep as a picture: overhead against the cap.
 *
 * A plan is valid for every larger cap, a bound for every smaller one. So both are drawn as stairs: a line continues to
 * the next larger cap, the infeasible region to the next smaller one.
 */
#include "pebble/report.h"

#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 900,
    HEIGHT = 440, /* of a panel */
    LEFT = 74,
    TOP = 52,
    PLOT_WIDTH = 600,
    PLOT_HEIGHT = 310,
    LEGEND = LEFT + PLOT_WIDTH + 24,
    MAX_LABELS = 9, /* max flips with labels */
    FLIP_ROWS = 3
};

typedef struct panel {
    pbi_out *out;
    const pb_sweep *s;
    double top;        /* of the panel */
    double low, high;  /* caps, in units */
    double most;       /* overhead at the top of the plot */
    double least_work; /* 0 % */
} panel;

static double x_of(const panel *p, double cap)
{
    return LEFT + PLOT_WIDTH * (p->high > p->low ? (cap - p->low) / (p->high - p->low) : 0.5);
}

static double y_of(const panel *p, double overhead) { return p->top + TOP + PLOT_HEIGHT * (1 - overhead / p->most); }

static double bottom_of(const panel *p) { return p->top + TOP + PLOT_HEIGHT; }

static void put_label(const panel *p, double x, double y, const char *anchor, const char *class, const char *text)
{
    pbi_svg_label(p->out, x, y, anchor, class, text);
}

static void put_segment(const panel *p, const char *class, double x1, double y1, double x2, double y2)
{
    pbi_svg_segment(p->out, class, x1, y1, x2, y2);
}

/* ---- scales ---- */

static double overhead_of(const pb_sweep *s, uint32_t cell) { return s->cells[cell].schedule.metrics.overhead; }

static double bound_of(const panel *p, uint32_t cell)
{
    const pb_schedule *f = &p->s->cells[cell].schedule;
    double above = (double)f->lower_bound - p->least_work;
    return f->bound_kind == PB_BOUND_NONE || above < 0 || p->least_work <= 0 ? 0 : above / p->least_work;
}

/* The top of the plot: all winners, and other lines up to somewhat above them. */
static double choose_most(const pb_sweep *s)
{
    double winners = 0, all = 0;
    for (uint32_t k = 0; k < s->cap_count; k++) {
        if (s->winner[k] != PB_NO_CELL && overhead_of(s, s->winner[k]) > winners)
            winners = overhead_of(s, s->winner[k]);
        for (uint32_t l = 0; l < s->line_count; l++) {
            uint32_t cell = pb_sweep_at(s, 0, l, k);
            if (s->cells[cell].certificate && overhead_of(s, cell) > all)
                all = overhead_of(s, cell);
        }
    }
    double most = all > 1.6 * winners && winners > 0 ? 1.6 * winners : all;
    return most > 0 ? 1.06 * most : 0.01;
}

static void choose_scales(panel *p)
{
    const pb_sweep *s = p->s;
    uint32_t first = s->cap_count > 1 && s->caps[0] == PB_UNLIMITED; /* no cap has no place on the axis */
    p->high = (double)s->caps[first];
    p->low = (double)s->caps[s->cap_count - 1];
    double margin = 0.03 * (p->high - p->low);
    if (margin <= 0)
        margin = p->high > 0 ? 0.1 * p->high : 1;
    p->high += margin;
    p->low = p->low > margin ? p->low - margin : 0;
    p->least_work = (double)s->graph->needed_cost;
    p->most = choose_most(s);
}

/* ---- the parts of a panel ---- */

static void put_y_axis(const panel *p)
{
    double step = pbi_svg_step(100 * p->most, 6);
    for (double at = 0; at <= 100 * p->most * 1.0001; at += step) {
        char text[32];
        double y = y_of(p, at / 100);
        snprintf(text, sizeof text, "%g %%", at < step / 2 ? 0 : at);
        put_segment(p, "grid", LEFT, y, LEFT + PLOT_WIDTH, y);
        put_label(p, LEFT - 8, y + 4, "end", "small", text);
    }
    pbi_out_format(p->out, "<text transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                   p->top + TOP + PLOT_HEIGHT / 2.0);
    pbi_out_text(p->out, "overhead: work above computing each value once</text>\n");
}

static void put_x_axis(const panel *p)
{
    const pb_sweep *s = p->s;
    double whole = s->program_peak ? (double)s->program_peak : 1, y = bottom_of(p);
    double step = pbi_svg_step(100 * (p->high - p->low) / whole, 7);
    put_segment(p, "axis", LEFT, y, LEFT + PLOT_WIDTH, y);
    for (double at = ceil(100 * p->low / whole / step) * step; at <= 100 * p->high / whole; at += step) {
        char text[64];
        double x = x_of(p, at / 100 * whole);
        put_segment(p, "axis", x, y, x, y + 5);
        snprintf(text, sizeof text, "%g %%", at);
        put_label(p, x, y + 19, "middle", "small", text);
        if (at / 100 * whole >= 1 && at / 100 * whole < 9e18) {
            pb_quantity_text((uint64_t)(at / 100 * whole), s->graph->size_unit, text, sizeof text);
            put_label(p, x, y + 34, "middle", "small", text);
        }
    }
    put_label(p, LEFT + PLOT_WIDTH / 2.0, y + 54, "middle", "", "cap, of the peak in program order");
}

/* The proved infeasible region in the game of the first line. */
static void put_bound(const panel *p)
{
    const pb_sweep *s = p->s;
    pb_game_kind kind = s->lines[0].game;
    unsigned at = kind == PB_GAME_REMAT ? 0 : kind == PB_GAME_REVERSIBLE ? 1 : kind == PB_GAME_TIERED ? 2 : 3;
    double bottom = bottom_of(p), from = p->low;
    if (s->proved_least[at] != PB_UNLIMITED && (double)s->proved_least[at] > p->low) {
        double x = x_of(p, fmin((double)s->proved_least[at], p->high));
        pbi_out_format(p->out, "<rect class=\"none\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", LEFT,
                       p->top + TOP, x - LEFT, PLOT_HEIGHT);
        from = fmin((double)s->proved_least[at], p->high);
    }
    pbi_out_format(p->out, "<path class=\"out\" d=\"M%.1f %.1f", x_of(p, from), bottom);
    for (uint32_t k = s->cap_count; k-- > 0;) {
        uint32_t cell = pb_sweep_at(s, 0, 0, k);
        if (s->caps[k] == PB_UNLIMITED || (double)s->caps[k] < from)
            continue;
        pbi_out_format(p->out, "V%.1fH%.1f", y_of(p, fmin(bound_of(p, cell), p->most)), x_of(p, (double)s->caps[k]));
    }
    pbi_out_format(p->out, "V%.1fZ\"/>\n", bottom);
}

static void put_line(const panel *p, uint32_t l)
{
    const pb_sweep *s = p->s;
    const char *color = pbi_svg_colors[l % PBI_SVG_COLORS];
    bool open = false;
    pbi_out_format(p->out, "<g clip-path=\"url(#plot%.0f)\"><path class=\"line\" stroke=\"%s\"%s d=\"", p->top, color,
                   l >= PBI_SVG_COLORS ? " stroke-dasharray=\"6 3\"" : "");
    for (uint32_t k = s->cap_count; k-- > 0;) {
        uint32_t cell = pb_sweep_at(s, 0, l, k);
        if (!s->cells[cell].certificate || s->caps[k] == PB_UNLIMITED)
            continue;
        double x = x_of(p, (double)s->caps[k]), y = y_of(p, overhead_of(s, cell));
        if (open)
            pbi_out_format(p->out, "H%.1fV%.1f", x, y);
        else
            pbi_out_format(p->out, "M%.1f %.1f", x, y);
        open = true;
    }
    pbi_out_text(p->out, open ? "\"/>\n" : "M0 0\"/>\n");
    for (uint32_t k = 0; k < s->cap_count; k++) {
        uint32_t cell = pb_sweep_at(s, 0, l, k);
        const pb_sweep_cell *c = &s->cells[cell];
        if (!c->certificate || s->caps[k] == PB_UNLIMITED)
            continue;
        bool optimal = c->schedule.outcome == PB_OPTIMAL;
        pbi_out_format(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"%s\" fill=\"%s\"><title>",
                       x_of(p, (double)s->caps[k]), y_of(p, overhead_of(s, cell)), color, optimal ? color : "#ffffff");
        pbi_svg_escaped(p->out, pb_sweep_winner_name(s, cell));
        pbi_out_format(p->out, ", %s: cap %.1f %%, overhead %.2f %%, bound %.2f %%</title></circle>\n",
                       pb_outcome_name(c->schedule.outcome),
                       s->program_peak ? 100.0 * (double)s->caps[k] / (double)s->program_peak : 100.0,
                       100 * overhead_of(s, cell), 100 * bound_of(p, cell));
    }
    pbi_out_text(p->out, "</g>\n");
}

static void put_knee(const panel *p)
{
    const pb_sweep *s = p->s;
    if (s->knee == PB_NO_CELL)
        return;
    const pb_metrics *m = &s->cells[s->knee].schedule.metrics;
    if ((double)m->peak >= p->low && (double)m->peak <= p->high && m->overhead <= p->most)
        pbi_out_format(p->out, "<circle class=\"knee\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/>\n", x_of(p, (double)m->peak),
                       y_of(p, m->overhead));
}

/* The names of both sides at the top of the plot, in rows if they would overlap. */
static void put_flips(const panel *p)
{
    const pb_sweep *s = p->s;
    uint32_t labels = 0;
    for (uint32_t i = 0; i < s->flip_count; i++) {
        const pb_sweep_flip *flip = &s->flips[i];
        if (flip->across_weights || flip->weights || s->caps[flip->cap] == PB_UNLIMITED)
            continue;
        double x = x_of(p, ((double)s->caps[flip->cap] + (double)s->caps[flip->cap + 1]) / 2);
        double y = p->top + TOP + 12 + 15 * (double)(labels % FLIP_ROWS);
        put_segment(p, "flip", x, p->top + TOP, x, bottom_of(p));
        if (labels++ >= MAX_LABELS)
            continue;
        put_label(p, x - 5, y, "end", "small", pb_sweep_winner_name(s, flip->after));
        put_label(p, x + 5, y, "start", "small", pb_sweep_winner_name(s, flip->before));
    }
}

/* The legend's note for a line that is not visible. */
static const char *absence(const panel *p, uint32_t l)
{
    const pb_sweep *s = p->s;
    bool any = false;
    for (uint32_t k = 0; k < s->cap_count; k++) {
        uint32_t cell = pb_sweep_at(s, 0, l, k);
        any = any || s->cells[cell].certificate;
        if (s->cells[cell].certificate && overhead_of(s, cell) <= p->most)
            return "";
    }
    return any ? ": above the plot" : ": no plan";
}

static void put_knee_words(const panel *p, double y)
{
    const pb_sweep *s = p->s;
    char text[64];
    if (s->knee == PB_NO_CELL)
        return;
    const pb_metrics *m = &s->cells[s->knee].schedule.metrics;
    snprintf(text, sizeof text, "knee: %.1f %% of memory,",
             s->program_peak ? 100.0 * (double)m->peak / (double)s->program_peak : 100.0);
    pbi_out_format(p->out, "<circle class=\"knee\" cx=\"%d\" cy=\"%.1f\" r=\"8\"/>\n", LEGEND + 13, y);
    put_label(p, LEGEND + 34, y + 4, "start", "small", text);
    snprintf(text, sizeof text, "%.1f %% more work", 100 * m->overhead);
    put_label(p, LEGEND + 34, y + 18, "start", "small", text);
}

static void put_legend(const panel *p)
{
    const pb_sweep *s = p->s;
    double y = p->top + TOP + 8;
    for (uint32_t l = 0; l < s->line_count && l < 11; l++, y += 19) {
        pbi_out_format(p->out, "<path class=\"line\" stroke=\"%s\"%s d=\"M%d %.1fh26\"/>\n",
                       pbi_svg_colors[l % PBI_SVG_COLORS], l >= PBI_SVG_COLORS ? " stroke-dasharray=\"6 3\"" : "",
                       LEGEND, y);
        char text[64];
        snprintf(text, sizeof text, "%.24s%s", s->lines[l].spec, absence(p, l));
        put_label(p, LEGEND + 34, y + 4, "start", "", text);
    }
    y = bottom_of(p) - 62;
    put_knee_words(p, y - 34);
    pbi_out_format(p->out, "<circle cx=\"%d\" cy=\"%.1f\" r=\"3\" fill=\"#808a94\" stroke=\"#808a94\"/>\n", LEGEND + 13,
                   y);
    put_label(p, LEGEND + 34, y + 4, "start", "small", "proved optimal");
    pbi_out_format(p->out, "<circle cx=\"%d\" cy=\"%.1f\" r=\"3\" fill=\"#ffffff\" stroke=\"#808a94\"/>\n", LEGEND + 13,
                   y + 19);
    put_label(p, LEGEND + 34, y + 23, "start", "small", "found");
    pbi_out_format(p->out, "<rect class=\"out\" x=\"%d\" y=\"%.1f\" width=\"26\" height=\"12\"/>\n", LEGEND, y + 32);
    put_label(p, LEGEND + 34, y + 42, "start", "small", "work proved out of reach");
    pbi_out_format(p->out, "<rect class=\"none\" x=\"%d\" y=\"%.1f\" width=\"26\" height=\"12\"/>\n", LEGEND, y + 51);
    put_label(p, LEGEND + 34, y + 61, "start", "small", "proved infeasible");
}

static void put_panel(pbi_out *out, const pb_sweep *s, uint32_t index)
{
    panel p = {.out = out, .s = s, .top = (double)index * HEIGHT};
    char title[160], weights[3][32];
    choose_scales(&p);
    pbi_out_format(out, "<clipPath id=\"plot%.0f\"><rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/></clipPath>\n",
                   p.top, LEFT - 4, p.top + TOP - 4, PLOT_WIDTH + 8, PLOT_HEIGHT + 8);
    snprintf(title, sizeof title, "%.100s: what memory costs in work", s->graph->name[0] ? s->graph->name : "graph");
    put_label(&p, LEFT, p.top + 22, "start", "title", title);
    if (s->weights_count > 1 || s->weights[0].alpha || s->weights[0].beta) {
        for (int i = 0; i < 3; i++)
            pb_weight_text(&s->weights[0], i, weights[i]);
        snprintf(title, sizeof title, "plans for the weights %s,%s,%s", weights[0], weights[1], weights[2]);
        put_label(&p, LEFT, p.top + 40, "start", "small", title);
    }
    put_bound(&p);
    put_y_axis(&p);
    put_x_axis(&p);
    put_flips(&p);
    for (uint32_t l = s->line_count; l-- > 0;) /* the first on top */
        put_line(&p, l);
    put_knee(&p);
    put_legend(&p);
}

pb_status pb_sweep_svg_write(pb_context *ctx, const pb_sweep *const *sweeps, uint32_t count, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_svg_open(&out, WIDTH, (unsigned)HEIGHT * count);
    for (uint32_t i = 0; i < count; i++)
        put_panel(&out, sweeps[i], i);
    pbi_out_text(&out, "</svg>\n");
    return pbi_out_finish(&out);
}
