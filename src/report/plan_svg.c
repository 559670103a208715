/* plan_svg.c -- a plan as a picture: memory over time, stacked by group, with the cap and the peak.
 *
 * Idea    a column shows the move of its time that uses the most memory. One pass finds these moves, a second one
 *         follows the memory of each band and takes it down at them. Bands are groups in program order; where there are
 *         more groups than colours, or none, neighbours share a band, so that the picture shows depth.
 */
#include "pebble/report.h"

#include "report/svg.h"
#include "report/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 960,
    LEFT = 84,
    TOP = 58,
    COLUMN = 2, /* pixels */
    COLUMNS = 340,
    PLOT_WIDTH = COLUMN * COLUMNS,
    PLOT_HEIGHT = 300,
    STRIP = 10, /* height of the strip that shows what is done */
    OTHER_HEIGHT = 60,
    LEGEND = LEFT + PLOT_WIDTH + 20,
    VALUES = PBI_SVG_COLORS, /* bands of values; below them fixed memory, above them workspace */
    FIXED = VALUES,
    WORKSPACE,
    BANDS,
    NAME_ROOM = 64
};

/* What a column of the strip shows: most of its time. */
typedef enum doing { FIRST, AGAIN, TRANSFER, DOINGS } doing;
static const char *const doing_colors[DOINGS] = {"#9aa5af", "#d9600b", "#7a6fd0"};
static const char *const doing_names[DOINGS] = {"computing", "recomputing", "transfers"};

typedef struct other_memory {
    uint64_t column[COLUMNS], most;
} other_memory;

typedef struct picture {
    pbi_out out;
    const pb_certificate *plan;
    const pb_game *game;
    const pb_graph *graph;
    const pb_totals *totals;
    pb_arena *scratch;
    bool by_moves;   /* nothing costs: a move is one unit of time */
    uint64_t length; /* of the time axis */
    double top;      /* memory at the upper edge */
    uint32_t bands;  /* of values */
    uint8_t *band;   /* by node */
    char name[BANDS][NAME_ROOM];
    bool used[BANDS];
    uint64_t best[COLUMNS]; /* memory of the column */
    pb_step step[COLUMNS];  /* and the move that uses it */
    bool lasts[COLUMNS];    /* which takes time */
    other_memory slow, borrowed;
    double spent[COLUMNS][DOINGS];
    uint64_t (*stack)[BANDS]; /* by column */
} picture;

static double x_of(const picture *p, double time) { return LEFT + PLOT_WIDTH * (time / (double)p->length); }
static double y_of(const picture *p, double memory)
{
    return TOP + PLOT_HEIGHT * (1 - (p->top > 0 ? memory / p->top : 0));
}

/* ---- bands ---- */

/* The nodes' units of a band: groups, or without groups the nodes themselves, in the order of their first node. */
static uint32_t unit_of(const pb_graph *g, pb_node v)
{
    return !g->group_count ? v : g->group && g->group[v] != UINT32_MAX ? g->group[v] : g->group_count;
}

static const char *unit_name(const pb_graph *g, uint32_t unit)
{
    return !g->group_count ? pb_graph_name(g, unit) : unit < g->group_count ? g->group_names[unit] : "no group";
}

/* Names of a band's first and last unit; dots replace the end of long names. */
static void name_band(picture *p, uint32_t band, uint32_t first, uint32_t last)
{
    const char *from = unit_name(p->graph, first), *to = unit_name(p->graph, last);
    int room = first == last ? 26 : 12;
    bool long_from = (int)strlen(from) > room, long_to = (int)strlen(to) > room;
    int length = snprintf(p->name[band], NAME_ROOM, "%.*s%s", long_from ? room - 1 : room, from, long_from ? "…" : "");
    if (first != last)
        snprintf(p->name[band] + length, NAME_ROOM - (size_t)length, " – %.*s%s", long_to ? room - 1 : room, to,
                 long_to ? "…" : "");
}

/* Given values and by-products first: they have no place in the program order. */
static pb_node by_place(const pb_graph *g, const pb_node *rest, uint32_t rest_count, uint32_t place)
{
    return place < rest_count ? rest[place] : g->order[place - rest_count];
}

static pb_status make_bands(picture *p)
{
    const pb_graph *g = p->graph;
    uint32_t units = g->group_count ? g->group_count + 1 : g->node_count, seen = 0, rest_count = 0;
    uint32_t *place = pb_arena_alloc(p->scratch, units, sizeof *place), *unit = NULL;
    pb_node *rest = pb_arena_alloc(p->scratch, g->node_count, sizeof *rest);
    bool *ordered = pb_arena_zero(p->scratch, g->node_count, sizeof *ordered);
    p->band = pb_arena_zero(p->scratch, g->node_count, sizeof *p->band);
    unit = pb_arena_alloc(p->scratch, units, sizeof *unit);
    if (!place || !unit || !rest || !ordered || !p->band)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < units; i++)
        place[i] = UINT32_MAX;
    for (uint32_t i = 0; i < g->order_count; i++)
        ordered[g->order[i]] = true;
    for (pb_node v = 0; v < g->node_count; v++)
        if (!ordered[v])
            rest[rest_count++] = v;
    for (uint32_t i = 0; i < rest_count + g->order_count; i++) {
        uint32_t u = unit_of(g, by_place(g, rest, rest_count, i));
        if (place[u] == UINT32_MAX) {
            place[u] = seen;
            unit[seen++] = u;
        }
    }
    p->bands = seen < VALUES ? seen : VALUES;
    for (pb_node v = 0; v < g->node_count; v++)
        p->band[v] = (uint8_t)((uint64_t)place[unit_of(g, v)] * p->bands / seen);
    for (uint32_t b = 0; b < p->bands; b++) {
        uint32_t first = (uint32_t)(((uint64_t)b * seen + p->bands - 1) / p->bands);
        uint32_t next = (uint32_t)(((uint64_t)(b + 1) * seen + p->bands - 1) / p->bands);
        name_band(p, b, unit[first], unit[next - 1]);
    }
    snprintf(p->name[FIXED], NAME_ROOM, "fixed");
    snprintf(p->name[WORKSPACE], NAME_ROOM, "workspace");
    return PB_OK;
}

/* ---- columns ---- */

static uint64_t start_of(const picture *p, const pbi_walk *w) { return p->by_moves ? w->step : w->start; }
static uint64_t end_of(const picture *p, const pbi_walk *w) { return p->by_moves ? w->step + 1 : w->end; }

static uint32_t column_of(const picture *p, uint64_t time)
{
    double at = (double)time / (double)p->length * COLUMNS;
    return at >= COLUMNS ? COLUMNS - 1 : (uint32_t)at;
}

/* The last column that begins before `time`, `first` at the least. */
static uint32_t column_before(const picture *p, uint64_t time, uint32_t first)
{
    double at = ceil((double)time / (double)p->length * COLUMNS) - 1;
    return at >= COLUMNS ? COLUMNS - 1 : at > first ? (uint32_t)at : first;
}

/* Of moves that use as much, one that takes time: a free at the edge of a column would show what is freed. */
static void note_move(picture *p, const pbi_walk *w, uint32_t column)
{
    bool more = p->step[column] == PBI_NO_STEP || w->during > p->best[column];
    bool lasts = end_of(p, w) > start_of(p, w);
    if (!more && (w->during < p->best[column] || p->lasts[column] || !lasts))
        return;
    p->best[column] = w->during;
    p->step[column] = w->step;
    p->lasts[column] = lasts;
}

/* Memory in columns that is not part of the stack: in slow tiers, or borrowed. */
static void note_other(other_memory *m, uint32_t column, uint64_t memory)
{
    if (memory > m->column[column])
        m->column[column] = memory;
    if (memory > m->most)
        m->most = memory;
}

/* What is borrowed after the current move, from what was before. */
static uint64_t borrowed_after(const pbi_walk *w, uint64_t borrowed)
{
    uint64_t size = w->graph->size[w->move.node];
    if (w->makes && w->borrowed && w->borrowed[w->move.node])
        return borrowed + size;
    return w->move.op == PB_UNCOMPUTE ? borrowed - (size - (w->before - w->after)) : borrowed;
}

/* The largest move of each column, slow memory and what its time is spent on. */
static void fill_columns(picture *p, pbi_walk *w, bool *computed)
{
    memset(p->step, 0xff, sizeof p->step);
    uint64_t borrowed = 0;
    while (pbi_walk_next(w)) {
        uint64_t after = borrowed_after(w, borrowed);
        uint32_t first = column_of(p, start_of(p, w)), last = first;
        bool again = w->move.op == PB_UNCOMPUTE || (w->move.op == PB_COMPUTE && computed[w->move.node]);
        doing what = w->io ? TRANSFER : again ? AGAIN : FIRST;
        if (end_of(p, w) > start_of(p, w))
            last = column_before(p, end_of(p, w), first);
        for (uint32_t c = first; c <= last; c++) {
            note_move(p, w, c);
            note_other(&p->slow, c, w->slow);
            note_other(&p->borrowed, c, borrowed > after ? borrowed : after);
            p->spent[c][what] += (double)w->cost / (last - first + 1);
        }
        borrowed = after;
        if (w->move.op == PB_COMPUTE)
            computed[w->move.node] = true;
    }
}

/* Memory of the bands after the current move. */
static void follow(const picture *p, const pbi_walk *w, uint64_t held[BANDS])
{
    const pb_graph *g = p->graph;
    if (w->makes && !(w->move.op == PB_COMPUTE && (w->move.flags & PB_MOVE_BORROW)))
        held[p->band[w->move.node]] += g->size[w->move.node];
    for (uint32_t i = 0; i < w->also_count; i++)
        held[p->band[w->also[i]]] += g->size[w->also[i]];
    if (w->removes != PB_NO_NODE)
        held[p->band[w->removes]] -= w->move.op == PB_COMPUTE ? g->size[w->removes] : w->before - w->after;
}

/* During a move: what is there before or after it, whichever is more; the rest is workspace. */
static void take_down(const pbi_walk *w, const uint64_t before[BANDS], const uint64_t after[BANDS], uint64_t out[BANDS])
{
    uint64_t sum = 0;
    memcpy(out, w->after >= w->before ? after : before, BANDS * sizeof *out);
    for (uint32_t b = 0; b < BANDS; b++)
        sum += out[b];
    out[WORKSPACE] = w->during > sum ? w->during - sum : 0;
}

static void fill_stacks(picture *p, pbi_walk *w)
{
    uint64_t held[BANDS] = {0}, before[BANDS];
    held[FIXED] = p->graph->fixed_size;
    for (pb_node v = 0; v < p->graph->node_count; v++)
        if (w->resident[v])
            held[p->band[v]] += p->graph->size[v];
    uint32_t column = 0;
    while (column < COLUMNS && pbi_walk_next(w)) {
        memcpy(before, held, sizeof held);
        follow(p, w, held);
        while (column < COLUMNS && (p->step[column] == PBI_NO_STEP || p->step[column] == w->step))
            take_down(w, before, held, p->stack[column++]);
    }
    for (uint32_t c = 0; c < COLUMNS; c++)
        for (uint32_t b = 0; b < BANDS; b++)
            p->used[b] |= p->stack[c][b] > 0;
}

/* ---- drawing ---- */

static const char *color_of(uint32_t band)
{
    return band == FIXED ? "#5c6670" : band == WORKSPACE ? "#b4bcc4" : pbi_svg_colors[band];
}

/* From below: fixed memory, values in program order, workspace. */
static uint32_t in_stack(uint32_t i) { return i == 0 ? (uint32_t)FIXED : i <= VALUES ? i - 1 : (uint32_t)WORKSPACE; }

static void put_bands(picture *p)
{
    uint64_t low[COLUMNS] = {0}, high[COLUMNS];
    for (uint32_t i = 0; i < BANDS; i++) {
        uint32_t band = in_stack(i);
        if (!p->used[band])
            continue;
        for (uint32_t c = 0; c < COLUMNS; c++)
            high[c] = low[c] + p->stack[c][band];
        pbi_out_format(&p->out, "<path fill=\"%s\" d=\"M%d %.1f", color_of(band), LEFT, y_of(p, (double)low[0]));
        for (uint32_t c = 0; c < COLUMNS; c++)
            if (c == 0 || high[c] != high[c - 1])
                pbi_out_format(&p->out, "H%uV%.1f", LEFT + COLUMN * c, y_of(p, (double)high[c]));
        pbi_out_format(&p->out, "H%d", LEFT + PLOT_WIDTH);
        for (uint32_t c = COLUMNS; c-- > 0;)
            if (c + 1 == COLUMNS || low[c] != low[c + 1])
                pbi_out_format(&p->out, "H%uV%.1f", LEFT + COLUMN * (c + 1), y_of(p, (double)low[c]));
        pbi_out_text(&p->out, "Z\"><title>");
        pbi_svg_escaped(&p->out, p->name[band]);
        pbi_out_text(&p->out, "</title></path>\n");
        memcpy(low, high, sizeof low);
    }
}

/* Steps of memory are round in the unit that people see. */
static double memory_step(const picture *p)
{
    double unit = 1, top = p->top;
    if (strcmp(p->graph->size_unit, "byte") == 0)
        while (top / unit >= 1024)
            unit *= 1024;
    double step = unit * pbi_svg_step(top / unit, 5);
    return step < 1 ? 1 : step;
}

static void put_memory_axis(picture *p)
{
    char text[NAME_ROOM];
    double step = memory_step(p);
    for (double at = 0; at <= p->top && at < 1.8e19; at += step) {
        pbi_svg_segment(&p->out, "grid", LEFT, y_of(p, at), LEFT + PLOT_WIDTH, y_of(p, at));
        pb_quantity_text((uint64_t)at, p->graph->size_unit, text, sizeof text);
        pbi_svg_label(&p->out, LEFT - 8, y_of(p, at) + 4, "end", "small", text);
    }
}

static const char *time_unit(const picture *p)
{
    return !p->by_moves ? p->graph->cost_unit : p->length == 1 ? "move" : "moves";
}

static double put_time_axis(picture *p, double y)
{
    char text[NAME_ROOM];
    const char *unit = time_unit(p);
    double step = pbi_svg_step((double)p->length, 6);
    pbi_svg_segment(&p->out, "axis", LEFT, y, LEFT + PLOT_WIDTH, y);
    for (double at = 0; at <= (double)p->length && at < 1.8e19; at += step < 1 ? 1 : step) {
        pbi_svg_segment(&p->out, "axis", x_of(p, at), y, x_of(p, at), y + 5);
        pbi_svg_amount((uint64_t)at, unit, text, sizeof text);
        pbi_svg_label(&p->out, x_of(p, at), y + 19, "middle", "small", text);
    }
    return y + 24;
}

/* Below the axis: what each column is spent on. */
static void put_strip(picture *p, double y)
{
    for (uint32_t c = 0, start = 0, shown = DOINGS; c <= COLUMNS; c++) {
        uint32_t most = DOINGS;
        for (uint32_t d = 0; c < COLUMNS && d < DOINGS; d++)
            if (p->spent[c][d] > 0 && (most == DOINGS || p->spent[c][d] > p->spent[c][most]))
                most = d;
        if (c < COLUMNS && most == shown)
            continue;
        if (shown != DOINGS)
            pbi_out_format(&p->out, "<rect x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%d\" fill=\"%s\"/>\n",
                           LEFT + COLUMN * start, y, COLUMN * (c - start), STRIP, doing_colors[shown]);
        start = c;
        shown = most;
    }
}

static void put_cap(picture *p)
{
    char amount[NAME_ROOM], text[2 * NAME_ROOM];
    if (p->game->cap == PB_UNLIMITED || (double)p->game->cap > p->top)
        return;
    double y = y_of(p, (double)p->game->cap);
    pb_amount_text(p->game->cap, p->graph->size_unit, amount, sizeof amount);
    snprintf(text, sizeof text, "cap %s", amount);
    pbi_svg_segment(&p->out, "cap", LEFT, y, LEFT + PLOT_WIDTH, y);
    pbi_svg_label(&p->out, LEFT + PLOT_WIDTH, y - 6, "end", "small", text);
}

static void put_peak(picture *p)
{
    char amount[NAME_ROOM], text[3 * NAME_ROOM];
    uint32_t column = 0;
    while (column + 1 < COLUMNS && p->best[column] < p->totals->peak)
        column++;
    double x = LEFT + COLUMN * column + COLUMN / 2.0, y = y_of(p, (double)p->totals->peak);
    pb_amount_text(p->totals->peak, p->graph->size_unit, amount, sizeof amount);
    int used = snprintf(text, sizeof text, "peak %s", amount);
    if (p->totals->peak_step != PBI_NO_STEP)
        snprintf(text + used, sizeof text - (size_t)used, " at %.40s",
                 pb_graph_name(p->graph, pb_certificate_moves(p->plan)->move[p->totals->peak_step].node));
    pbi_out_format(&p->out, "<path class=\"peak\" d=\"M%.1f %.1fl-5 -8h10z\"/>\n", x, y - 1);
    bool left = column > COLUMNS / 2;
    pbi_svg_label(&p->out, left ? x - 9 : x + 9, y - 5, left ? "end" : "start", "small", text);
}

/* A plot of its own below the others, with its own scale: this memory may be many times larger. */
static double put_other(picture *p, double y, const other_memory *m, const char *color, const char *name)
{
    char amount[NAME_ROOM];
    if (!m->most)
        return y;
    pbi_out_format(&p->out, "<path fill=\"%s\" fill-opacity=\".55\" d=\"M%d %.1f", color, LEFT, y + OTHER_HEIGHT);
    for (uint32_t c = 0; c < COLUMNS; c++)
        if (c == 0 || m->column[c] != m->column[c - 1])
            pbi_out_format(&p->out, "H%uV%.1f", LEFT + COLUMN * c,
                           y + OTHER_HEIGHT * (1 - (double)m->column[c] / (double)m->most));
    pbi_out_format(&p->out, "H%dV%.1fZ\"/>\n", LEFT + PLOT_WIDTH, y + OTHER_HEIGHT);
    pbi_svg_segment(&p->out, "axis", LEFT, y + OTHER_HEIGHT, LEFT + PLOT_WIDTH, y + OTHER_HEIGHT);
    pb_quantity_text(m->most, p->graph->size_unit, amount, sizeof amount);
    pbi_svg_label(&p->out, LEFT - 8, y + 8, "end", "small", amount);
    pbi_svg_label(&p->out, LEGEND, y + OTHER_HEIGHT / 2.0 + 4, "start", "small", name);
    return y + OTHER_HEIGHT + 16;
}

static double put_key(picture *p, double y, const char *color, const char *name)
{
    pbi_out_format(&p->out, "<rect x=\"%d\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", LEGEND, y, color);
    pbi_svg_label(&p->out, LEGEND + 22, y + 10, "start", "small", name);
    return y + 19;
}

static void put_legend(picture *p, double strip)
{
    bool done[DOINGS] = {false};
    double y = TOP;
    for (uint32_t i = BANDS; i-- > 0;)
        if (p->used[in_stack(i)])
            y = put_key(p, y, color_of(in_stack(i)), p->name[in_stack(i)]);
    for (uint32_t c = 0; c < COLUMNS; c++)
        for (int d = 0; d < DOINGS; d++)
            done[d] |= p->spent[c][d] > 0;
    y = strip - 19.0 * (done[FIRST] + done[AGAIN] + done[TRANSFER] - 1);
    for (int d = 0; d < DOINGS; d++)
        if (done[d])
            y = put_key(p, y, doing_colors[d],
                        d == AGAIN && p->game->kind == PB_GAME_REVERSIBLE ? "recompute, uncompute" : doing_names[d]);
}

static void put_titles(picture *p)
{
    char text[256], peak[NAME_ROOM], time[NAME_ROOM];
    const pb_totals *t = p->totals;
    uint64_t needed = p->graph->needed_cost;
    snprintf(text, sizeof text, "%.100s: memory over %s", p->graph->name[0] ? p->graph->name : "graph",
             p->by_moves                            ? "moves"
             : pb_unit_is_time(p->graph->cost_unit) ? "time"
                                                    : "work");
    pbi_svg_label(&p->out, LEFT, 22, "start", "title", text);
    pb_amount_text(t->peak, p->graph->size_unit, peak, sizeof peak);
    pbi_svg_amount(p->length, time_unit(p), time, sizeof time);
    int used = snprintf(text, sizeof text, "%s game: peak %s, %s", pb_game_kind_name(p->game->kind), peak, time);
    if (!p->by_moves && needed && p->length > needed)
        snprintf(text + used, sizeof text - (size_t)used, ", %.1f %% more than computing each value once",
                 100 * ((double)p->length / (double)needed - 1));
    else if (!p->by_moves)
        snprintf(text + used, sizeof text - (size_t)used, ", each value computed once");
    pbi_svg_label(&p->out, LEFT, 40, "start", "small", text);
}

static pb_status draw(picture *p)
{
    double strip = TOP + PLOT_HEIGHT + 4, below = strip + (p->by_moves ? 0 : STRIP + 4);
    unsigned height = (unsigned)(below + 40 + (OTHER_HEIGHT + 16) * ((p->slow.most > 0) + (p->borrowed.most > 0)));
    pbi_svg_open(&p->out, WIDTH, height);
    put_titles(p);
    put_bands(p);
    put_memory_axis(p);
    put_cap(p);
    put_peak(p);
    if (!p->by_moves)
        put_strip(p, strip);
    below = put_time_axis(p, below);
    below = put_other(p, below + 8, &p->slow, doing_colors[TRANSFER], "slow memory");
    put_other(p, below, &p->borrowed, "#0f9d74", "borrowed memory");
    put_legend(p, strip);
    pbi_out_text(&p->out, "</svg>\n");
    return pbi_out_finish(&p->out);
}

static pb_status measure(picture *p)
{
    pbi_walk w;
    bool *computed = pb_arena_zero(p->scratch, p->graph->node_count, sizeof *computed);
    p->stack = pb_arena_zero(p->scratch, COLUMNS, sizeof *p->stack);
    if (!computed || !p->stack)
        return PB_ENOMEM;
    p->length = p->totals->compute_work + p->totals->uncompute_work + p->totals->io;
    p->by_moves = p->length == 0;
    uint64_t moves = pb_certificate_moves(p->plan)->count;
    if (p->by_moves)
        p->length = moves ? moves : 1;
    uint64_t high = p->totals->peak;
    if (p->game->cap != PB_UNLIMITED && p->game->cap / 4 <= high && p->game->cap > high)
        high = p->game->cap;
    p->top = 13.0 / 12 * (double)high; /* room for the labels of the cap and the peak */
    pb_status status = make_bands(p);
    if (status == PB_OK)
        status = pbi_walk_init(&w, p->plan, p->scratch);
    if (status != PB_OK)
        return status;
    fill_columns(p, &w, computed);
    status = pbi_walk_init(&w, p->plan, p->scratch);
    if (status == PB_OK)
        fill_stacks(p, &w);
    return status;
}

pb_status pb_plan_svg_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    picture *p = pb_arena_zero(&scratch, 1, sizeof *p);
    pb_status status = p ? PB_OK : PB_ENOMEM;
    if (p) {
        p->plan = c;
        p->game = pb_certificate_game(c);
        p->graph = p->game->graph;
        p->totals = pb_certificate_totals(c);
        p->scratch = &scratch;
        pbi_out_init(&p->out, ctx, sink);
        status = measure(p);
    }
    if (status == PB_OK)
        status = draw(p);
    pb_arena_release(&scratch);
    return status;
}
