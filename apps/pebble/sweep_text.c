/* sweep_text.c -- see sweep_text.h. */
#include "sweep_text.h"

#include "common/figures.h"
#include "plain_print.h"
#include "plan_print.h"
#include "table.h"
#include "timed_columns.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 9 };

static void weights_text(const pb_weights *w, char text[FIGURE_ROOM])
{
    char parts[3][32];
    for (int i = 0; i < 3; i++)
        pb_weight_text(w, i, parts[i]);
    snprintf(text, FIGURE_ROOM, "%s,%s,%s", parts[0], parts[1], parts[2]);
}

static void share_text(const pb_sweep *s, uint64_t size, char text[FIGURE_ROOM])
{
    text[0] = '\0';
    if (!s->program_peak || size == PB_UNLIMITED)
        return;
    if (size / 10 >= s->program_peak)
        percent_text((double)size / (double)s->program_peak, text);
    else
        snprintf(text, FIGURE_ROOM, "%.1f %%", 100.0 * (double)size / (double)s->program_peak);
}

/* What a plan takes more of. */
static const char *what(const pb_sweep *s) { return pb_unit_is_time(s->graph->cost_unit) ? "time" : "work"; }

/* "31,770 unit (52.7 %)" */
static void size_text(const pb_sweep *s, uint64_t size, char text[FIGURE_ROOM])
{
    char amount[FIGURE_ROOM], share[FIGURE_ROOM];
    if (size == PB_UNLIMITED) {
        snprintf(text, FIGURE_ROOM, "no cap");
        return;
    }
    amount_text(size, s->graph->size_unit, amount);
    share_text(s, size, share);
    snprintf(text, FIGURE_ROOM, "%.60s%s%.30s%s", amount, share[0] ? " (" : "", share, share[0] ? ")" : "");
}

static uint64_t cap_of(const pb_sweep *s, uint32_t cell) { return s->caps[pb_sweep_cap_of(s, cell)]; }

static bool on_front(const pb_sweep *s, uint32_t cell)
{
    for (uint32_t i = 0; i < s->front_count; i++)
        if (s->front[i] == cell)
            return true;
    return false;
}

/* Marks a point of the front and the knee, and names the cap that the plan was made for if it is another one. */
static void mark_text(const app *a, const pb_sweep *s, uint32_t cell, char text[FIGURE_ROOM])
{
    const pb_sweep_cell *c = &s->cells[cell];
    char share[FIGURE_ROOM];
    int used = snprintf(text, FIGURE_ROOM, "%s", !on_front(s, cell) ? "" : a->unicode ? "•" : "+");
    if (s->knee == cell)
        used += snprintf(text + used, (size_t)(FIGURE_ROOM - used), " knee");
    if (!c->certificate || c->from == PB_NO_CELL || pb_sweep_cap_of(s, c->from) == pb_sweep_cap_of(s, cell))
        return;
    share_text(s, cap_of(s, c->from), share);
    snprintf(text + used, (size_t)(FIGURE_ROOM - used), "%splan %s%.30s", used ? " " : "",
             share[0] ? "for " : "without a cap", share);
}

/* Optional columns: the game if there are several, the parts of the cost that some plan has, the seconds if planning
 * took long. */
typedef struct extras {
    bool games, recomputes, uncomputes, transfers, seconds;
    bool timed; /* some line plays the timed game: how long its processors wait */
} extras;

static extras choose_extras(const app *a, const pb_sweep *s)
{
    extras e = {.timed = s->games & PB_GAME_TIMED};
    double seconds = 0;
    for (uint32_t l = 1; l < s->line_count; l++)
        e.games |= s->lines[l].game != s->lines[0].game;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        const pb_metrics *m = &s->cells[i].schedule.metrics;
        bool found = s->cells[i].certificate != NULL;
        e.recomputes |= found && m->recompute;
        e.uncomputes |= found && m->uncompute;
        e.transfers |= found && m->io;
        seconds += s->cells[i].seconds;
    }
    e.seconds = a->terminal &&
                seconds >= 1; /* output to a file does not change from run to run; CSV and JSON have the seconds */
    return e;
}

static int choose_columns(extras e, table_column columns[MAX_COLUMNS])
{
    int count = 0;
    columns[count++] = (table_column){"cap", true, 0};
    columns[count++] = (table_column){"% of peak", true, 0};
    columns[count++] = (table_column){"", false, 0};
    columns[count++] = (table_column){"strategy", false, 0};
    if (e.games)
        columns[count++] = (table_column){"game", false, 0};
    columns[count++] = (table_column){"outcome", false, 0};
    columns[count++] = (table_column){"overhead", true, 0};
    columns[count++] = (table_column){"bound", true, 0};
    columns[count++] = (table_column){"gap", true, 0};
    columns[count++] = (table_column){"peak", true, 1};
    if (e.recomputes)
        columns[count++] = (table_column){"recompute", true, 5};
    if (e.uncomputes)
        columns[count++] = (table_column){"uncompute", true, 6};
    if (e.transfers)
        columns[count++] = (table_column){"io", true, 7};
    if (e.timed) {
        columns[count++] = (table_column){timed_title(TIMED_WAIT_COPY), true, 0};
        columns[count++] = (table_column){timed_title(TIMED_WAIT_MEMORY), true, 0};
    }
    columns[count++] = (table_column){"flux", true, 3};
    columns[count++] = (table_column){"cost", true, 2};
    if (e.seconds)
        columns[count++] = (table_column){"seconds", true, 4};
    columns[count++] = (table_column){"", false, 0};
    return count;
}

static void name_text(const pb_sweep *s, uint32_t cell, char text[FIGURE_ROOM])
{
    const pb_sweep_line *line = &s->lines[pb_sweep_line_of(s, cell)];
    char chosen[FIGURE_ROOM];
    if (!line->portfolio || !s->cells[cell].certificate) {
        snprintf(text, FIGURE_ROOM, "%.100s", line->spec);
        return;
    }
    strategy_text(&s->cells[cell].schedule, chosen);
    if (s->line_count == 1)
        snprintf(text, FIGURE_ROOM, "%s", chosen);
    else
        snprintf(text, FIGURE_ROOM, "%.40s: %.80s", line->spec, chosen);
}

/* Extra work compared with computing each value once, for plans and bounds alike, so that equal ones look equal. */
static void above_text(const pb_sweep *s, uint64_t work, char text[FIGURE_ROOM])
{
    uint64_t least = s->graph->needed_cost;
    percent_text(work > least && least ? (double)(work - least) / (double)least : 0, text);
}

/* Strategies without a plan have a line below the table; if no strategy has a plan, the first one has a row. */
static bool shown(const pb_sweep *s, uint32_t cell)
{
    uint32_t w = pb_sweep_weights_of(s, cell), k = pb_sweep_cap_of(s, cell);
    if (s->winner[w * s->cap_count + k] == PB_NO_CELL)
        return pb_sweep_line_of(s, cell) == 0;
    return s->cells[cell].certificate != NULL;
}

/* Empty in the other games. */
static void stall_texts(const pb_sweep_cell *c, const char *unit, char copies[FIGURE_ROOM], char room[FIGURE_ROOM])
{
    uint64_t stall[PB_STALL_COUNT];
    if (c->schedule.game != PB_GAME_TIMED)
        return;
    pb_metrics_stalls(c->certificate, stall);
    short_cost((pb_u128){0, stall[PB_STALL_COPY]}, unit, DIGITS, copies);
    short_cost((pb_u128){0, stall[PB_STALL_MEMORY]}, unit, DIGITS, room);
}

/* The texts of a row, in the order of the columns. */
enum {
    CAP,
    SHARE,
    NAME,
    OVERHEAD,
    BOUND,
    GAP,
    PEAK,
    RECOMPUTE,
    UNCOMPUTE,
    IO,
    COPY,
    ROOM,
    FLUX,
    COST,
    SECONDS,
    MARK,
    TEXTS
};

/* The figures of a cell that has a plan. */
static void figure_texts(const pb_sweep *s, const pb_sweep_cell *c, char text[TEXTS][FIGURE_ROOM])
{
    const char *unit = s->graph->cost_unit;
    const pb_schedule *f = &c->schedule;
    const pb_metrics *m = &f->metrics;
    above_text(s, pb_metrics_objective(c->game, m), text[OVERHEAD]);
    if (f->bound_kind != PB_BOUND_NONE)
        above_text(s, f->lower_bound, text[BOUND]);
    if (m->gap >= 0)
        percent_text(m->gap, text[GAP]);
    pb_quantity_text(pb_metrics_capped(m), s->graph->size_unit, text[PEAK], FIGURE_ROOM);
    stall_texts(c, unit, text[COPY], text[ROOM]);
    short_cost((pb_u128){0, m->recompute}, unit, DIGITS, text[RECOMPUTE]);
    short_cost((pb_u128){0, m->uncompute}, unit, DIGITS, text[UNCOMPUTE]);
    short_cost((pb_u128){0, m->io}, unit, DIGITS, text[IO]);
    flux_text(m->flux, s->graph, DIGITS, text[FLUX]);
    weighted_text(f, s->graph, DIGITS, text[COST]);
    if (c->planned)
        snprintf(text[SECONDS], FIGURE_ROOM, "%.2f", c->seconds);
}

static bool add_row(const app *a, table *t, const pb_sweep *s, uint32_t cell, bool first, extras e)
{
    char text[TEXTS][FIGURE_ROOM] = {{0}};
    const char *cells[MAX_COLUMNS] = {NULL};
    const bool left_out[TEXTS] = {[RECOMPUTE] = !e.recomputes, [UNCOMPUTE] = !e.uncomputes, [IO] = !e.transfers,
                                  [COPY] = !e.timed,           [ROOM] = !e.timed,           [SECONDS] = !e.seconds};
    const pb_sweep_cell *c = &s->cells[cell];
    const pb_schedule *f = &c->schedule;
    int count = 0;
    uint32_t k = pb_sweep_cap_of(s, cell);
    bool wins = s->line_count > 1 && s->winner[pb_sweep_weights_of(s, cell) * s->cap_count + k] == cell;
    if (first) {
        pb_quantity_text(s->caps[k], s->graph->size_unit, text[CAP], FIGURE_ROOM);
        if (s->caps[k] == PB_UNLIMITED)
            snprintf(text[CAP], FIGURE_ROOM, "none");
        share_text(s, s->caps[k], text[SHARE]);
    }
    if (c->certificate || s->line_count == 1)
        name_text(s, cell, text[NAME]);
    cells[count++] = text[CAP];
    cells[count++] = text[SHARE];
    cells[count++] = !wins ? "" : a->unicode ? "★" : "*";
    cells[count++] = text[NAME];
    if (e.games)
        cells[count++] = c->certificate ? pb_game_kind_name(f->game) : "";
    cells[count++] = c->present ? pb_outcome_name(f->outcome) : "missing";
    if (!c->certificate) {
        cells[count++] = f->reason ? f->reason : "";
        return table_row(t, cells, "2");
    }
    figure_texts(s, c, text);
    mark_text(a, s, cell, text[MARK]);
    for (int i = OVERHEAD; i < TEXTS; i++)
        if (!left_out[i])
            cells[count++] = text[i];
    return table_row(t, cells, wins ? "1;32" : NULL);
}

static pb_status print_table(app *a, const pb_sweep *s, uint32_t w)
{
    table_column columns[MAX_COLUMNS];
    table t;
    extras e = choose_extras(a, s);
    table_init(&t, &a->arena, columns, choose_columns(e, columns));
    t.color = a->color;
    t.width = a->width;
    t.fit = a->terminal;
    for (uint32_t k = 0; k < s->cap_count; k++) {
        bool first = true;
        for (uint32_t l = 0; l < s->line_count; l++) {
            uint32_t cell = pb_sweep_at(s, w, l, k);
            if (!shown(s, cell))
                continue;
            if (!add_row(a, &t, s, cell, first, e))
                return PB_ENOMEM;
            first = false;
        }
    }
    table_print(&t, stdout);
    return PB_OK;
}

/* Of a strategy without a plan under a cap at which others have one: how many caps, the largest such one, and why. */
typedef struct refusal {
    uint32_t caps, first; /* first: a cell, or PB_NO_CELL */
    const char *reason;
} refusal;

static refusal refusal_of(const pb_sweep *s, uint32_t w, uint32_t line)
{
    refusal r = {0, PB_NO_CELL, NULL};
    for (uint32_t k = 0; k < s->cap_count; k++) {
        uint32_t cell = pb_sweep_at(s, w, line, k);
        r.caps += !s->cells[cell].certificate;
        if (r.first == PB_NO_CELL && !s->cells[cell].certificate && s->winner[w * s->cap_count + k] != PB_NO_CELL)
            r.first = cell;
    }
    if (r.first != PB_NO_CELL) {
        r.reason = s->cells[r.first].schedule.reason;
        r.reason = r.reason ? r.reason : "no plan was found";
    }
    return r;
}

static bool same_refusal(const pb_sweep *s, const refusal *a, const refusal *b)
{
    return a->first != PB_NO_CELL && b->first != PB_NO_CELL && a->caps == b->caps &&
           cap_of(s, a->first) == cap_of(s, b->first) && strcmp(a->reason, b->reason) == 0;
}

/* One sentence for all strategies that are refused for the same reason. */
static void print_refusals(const app *a, const pb_sweep *s, uint32_t w)
{
    char text[1024], cap[FIGURE_ROOM];
    bool any = false;
    for (uint32_t l = 0; l < s->line_count && s->line_count > 1; l++) {
        refusal now = refusal_of(s, w, l), other;
        bool printed = now.first == PB_NO_CELL;
        for (uint32_t k = 0; k < l && !printed; k++) {
            other = refusal_of(s, w, k);
            printed = same_refusal(s, &now, &other);
        }
        if (printed)
            continue;
        int used = 0, names = 0;
        for (uint32_t k = l; k < s->line_count && used < 400; k++) {
            other = refusal_of(s, w, k);
            if (same_refusal(s, &now, &other))
                used +=
                    snprintf(text + used, sizeof text - (size_t)used, "%s%.60s", names++ ? ", " : "", s->lines[k].spec);
        }
        size_text(s, cap_of(s, now.first), cap);
        snprintf(text + used, sizeof text - (size_t)used, " %s no plan under %u of %u caps; under %s: %.400s",
                 names > 1 ? "have" : "has", (unsigned)now.caps, (unsigned)s->cap_count, cap, now.reason);
        if (!any)
            putchar('\n');
        any = true;
        print_wrapped(stdout, text, 0, 2, a->width);
    }
}

static void print_head(const app *a, const pb_sweep *s)
{
    const pb_graph *g = s->graph;
    char high[FIGURE_ROOM], low[FIGURE_ROOM], text[4 * FIGURE_ROOM];
    size_text(s, s->caps[0], high);
    size_text(s, s->caps[s->cap_count - 1], low);
    if (s->cap_count == 1)
        snprintf(text, sizeof text, "%.80s: one cap, %s", g->name[0] ? g->name : "graph", high);
    else
        snprintf(text, sizeof text, "%.80s: %u caps from %s down to %s", g->name[0] ? g->name : "graph",
                 (unsigned)s->cap_count, high, low);
    print_wrapped(stdout, text, 0, 2, a->width);
    if (!s->program_peak)
        return;
    amount_text(s->program_peak, g->size_unit, high);
    snprintf(text, sizeof text, "100 %% is %s, the peak in program order of the remat game", high);
    print_wrapped(stdout, text, 0, 2, a->width);
}

static void print_front(const app *a, const pb_sweep *s)
{
    char text[4 * FIGURE_ROOM], peak[FIGURE_ROOM], more[FIGURE_ROOM];
    if (!s->front_count)
        return;
    snprintf(text, sizeof text, "Pareto front: %u plan%s, marked %s, that no other plan beats in both peak and work",
             (unsigned)s->front_count, s->front_count == 1 ? "" : "s", a->unicode ? "•" : "+");
    print_wrapped(stdout, text, 0, 2, a->width);
    if (s->knee == PB_NO_CELL)
        return;
    const pb_metrics *m = &s->cells[s->knee].schedule.metrics;
    size_text(s, m->peak, peak);
    above_text(s, m->makespan, more);
    snprintf(text, sizeof text,
             "knee: a peak of %s for %s extra %s, the point of the front farthest below the line between its ends",
             peak, more, what(s));
    print_wrapped(stdout, text, 0, 2, a->width);
}

/* One line for each change of the best strategy between caps, then between weights. */
static void print_flips(const app *a, const pb_sweep *s)
{
    char text[6 * FIGURE_ROOM], high[FIGURE_ROOM], low[FIGURE_ROOM], weights[FIGURE_ROOM], others[FIGURE_ROOM];
    for (uint32_t i = 0; i < s->flip_count; i++) {
        const pb_sweep_flip *flip = &s->flips[i];
        const char *before = pb_sweep_winner_name(s, flip->before), *after = pb_sweep_winner_name(s, flip->after);
        weights_text(&s->weights[flip->weights], weights);
        size_text(s, s->caps[flip->cap], high);
        if (flip->across_weights) {
            weights_text(&s->weights[flip->weights + 1], others);
            snprintf(text, sizeof text, "best strategy at %s: %.60s with the weights %s, %.60s with %s", high, before,
                     weights, after, others);
        } else {
            size_text(s, s->caps[flip->cap + 1], low);
            snprintf(text, sizeof text, "the best strategy changes from %.60s at %s to %.60s at %s%s%s", before, high,
                     after, low, s->weights_count > 1 ? ", with the weights " : "",
                     s->weights_count > 1 ? weights : "");
        }
        print_wrapped(stdout, text, 0, 2, a->width);
    }
}

static void print_cheapest(const app *a, const pb_sweep *s, uint32_t w)
{
    char text[6 * FIGURE_ROOM], weights[FIGURE_ROOM], cost[FIGURE_ROOM], peak[FIGURE_ROOM], more[FIGURE_ROOM];
    uint32_t cell = s->cheapest[w];
    if (cell == PB_NO_CELL || (!s->weights[w].alpha && !s->weights[w].beta && s->weights_count == 1))
        return;
    const pb_schedule *f = &s->cells[cell].schedule;
    weights_text(&s->weights[w], weights);
    weighted_text(f, s->graph, DIGITS, cost);
    size_text(s, f->metrics.peak, peak);
    above_text(s, f->metrics.makespan, more);
    snprintf(text, sizeof text, "least cost with the weights %s: %s, by %.60s with a peak of %s and %s extra %s",
             weights, cost, pb_sweep_winner_name(s, cell), peak, more, what(s));
    print_wrapped(stdout, text, 0, 2, a->width);
}

static void print_least(const app *a, const pb_sweep *s)
{
    char text[4 * FIGURE_ROOM], peak[FIGURE_ROOM], proved[FIGURE_ROOM];
    for (unsigned kind = PB_GAME_REMAT, at = 0; kind <= PB_GAME_TIMED; kind *= 2, at++) {
        if (!(s->games & kind) || s->proved_least[at] == PB_UNLIMITED)
            continue;
        size_text(s, s->least_peak[at], peak);
        size_text(s, s->proved_least[at], proved);
        if (s->least_peak[at] == UINT64_MAX)
            snprintf(text, sizeof text, "smallest cap of the %s game: none of these caps has a plan; lower bound %s",
                     pb_game_kind_name((pb_game_kind)kind), proved);
        else if (s->least_peak[at] <= s->proved_least[at])
            snprintf(text, sizeof text, "smallest cap of the %s game: %s, the proved minimum",
                     pb_game_kind_name((pb_game_kind)kind), peak);
        else
            snprintf(text, sizeof text, "smallest cap of the %s game: %s has a plan; lower bound %s",
                     pb_game_kind_name((pb_game_kind)kind), peak, proved);
        print_wrapped(stdout, text, 0, 2, a->width);
    }
}

static void print_policy(const app *a, const pb_sweep *s)
{
    char text[2 * FIGURE_ROOM];
    bool used = false;
    for (uint32_t i = 0; i < s->cell_count; i++)
        used |= s->cells[i].certificate && s->cells[i].schedule.policy;
    policy_use_text(s->policy, used, text);
    if (text[0])
        print_wrapped(stdout, text, 0, 2, a->width);
}

pb_status print_sweep(app *a, const pb_sweep *s)
{
    pb_status status = PB_OK;
    print_head(a, s);
    print_policy(a, s);
    if (s->borrow) {
        char borrow[FIGURE_ROOM];
        amount_text(s->borrow, s->graph->size_unit, borrow);
        print_line(stdout, "%s may be borrowed in addition to each cap", borrow);
    }
    for (uint32_t w = 0; w < s->weights_count && status == PB_OK; w++) {
        char weights[FIGURE_ROOM], units[FIGURE_ROOM];
        weights_text(&s->weights[w], weights);
        fputs(w ? "\n" : "", stdout);
        units_text(s->graph, units);
        print_line(stdout, "%s, cost with weights %s", units, weights);
        putchar('\n');
        status = print_table(a, s, w);
        if (status == PB_OK && w == 0) /* the weights do not change what fits */
            print_refusals(a, s, w);
    }
    if (status != PB_OK)
        return status;
    putchar('\n');
    print_front(a, s);
    print_flips(a, s);
    for (uint32_t w = 0; w < s->weights_count; w++)
        print_cheapest(a, s, w);
    print_least(a, s);
    return PB_OK;
}
