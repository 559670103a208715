/* compare_text.c -- see compare_text.h. */
#include "compare_text.h"

#include "commands.h"
#include "common/figures.h"
#include "front_print.h"
#include "least_line.h"
#include "plain_print.h"
#include "plan_print.h"
#include "table.h"
#include "timed_columns.h"

#include <stdio.h>
#include <string.h>

enum { PLOT_HEIGHT = 9, DIGITS = 9, NAME_WIDTH = 40, NAMES_ROOM = 1024 };

/* The columns that this comparison needs. */
typedef struct sheet {
    const contest *c;
    table t;
    table_column columns[MAX_COLUMNS];
    int count;
    bool games, transfers, costs; /* several games; some plan has transfers; costs are not extra work alone */
    bool timed;                   /* only the timed game, which has columns of its own */
} sheet;

static void add_column(sheet *s, const char *title, bool right, int spare)
{
    s->columns[s->count++] = (table_column){title, right, spare};
}

static void choose_timed(sheet *s)
{
    const pb_machine *m = s->c->base.timing->machine;
    add_column(s, "", false, 0);
    add_column(s, "strategy", false, 0);
    for (int i = 0; i < TIMED_COLUMNS; i++)
        if (timed_shows(m, (timed_column)i))
            add_column(s, timed_title((timed_column)i), true, i == TIMED_COPIES ? 3 : 0);
    add_column(s, "operations", true, 2);
    if (s->costs)
        add_column(s, "cost", true, 0);
    add_column(s, "outcome", false, 0);
    add_column(s, "gap", true, 1);
}

static void choose_columns(sheet *s)
{
    const contest *c = s->c;
    const pb_weights *w = &c->base.weights;
    bool time = pb_unit_is_time(c->base.graph->cost_unit);
    unsigned games = 0;
    for (uint32_t i = 0; i < c->view.count; i++) {
        const pb_plan_result *p = &c->result.rows[c->view.lines[i].rows[0]];
        games |= (unsigned)p->schedule.game;
        s->transfers |= p->certificate && p->schedule.metrics.io;
    }
    s->games = games & (games - 1);
    s->costs = w->alpha || w->beta;
    s->timed = games == PB_GAME_TIMED;
    if (s->timed) {
        choose_timed(s);
        return;
    }
    add_column(s, "", false, 0);
    add_column(s, "strategy", false, 0);
    if (s->games)
        add_column(s, "game", false, 0);
    add_column(s, "peak", true, 0);
    add_column(s, "x program order", true, 0);
    add_column(s, time ? "extra time" : "extra work", true, 0);
    add_column(s, time ? "total time" : "total work", true, 0);
    if (s->transfers)
        add_column(s, "transfers", true, 3);
    add_column(s, "operations", true, 2);
    if (s->costs || !c->reduced)
        add_column(s, "flux", true, 4);
    if (s->costs)
        add_column(s, "cost", true, 0);
    add_column(s, "outcome", false, 0);
    add_column(s, "gap", true, 1);
}

/* A title as it is read, "program order"; or the strategy's name. */
static void short_name(const pb_plan_result *p, const char *title, char text[FIGURE_ROOM])
{
    snprintf(text, FIGURE_ROOM, "%.60s", title ? title : p->schedule.strategy);
    for (char *at = text; title && *at; at++)
        *at = *at == '-' ? ' ' : *at;
}

static bool is_named(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* "partial: every-k (k=4)"; of plans that share a line, their names. */
static void line_name(const contest *c, const pb_view_line *line, char text[NAMES_ROOM])
{
    char name[FIGURE_ROOM], full[FIGURE_ROOM];
    size_t used = 0;
    const pb_plan_result *p = &c->result.rows[line->rows[0]];
    text[0] = '\0';
    for (uint32_t i = 0; i < line->count && used + FIGURE_ROOM < NAMES_ROOM; i++) {
        const pb_plan_result *other = &c->result.rows[line->rows[i]];
        short_name(other, line->titles[i], name);
        if (!is_named(text, name))
            used += (size_t)snprintf(text + used, NAMES_ROOM - used, "%s%s", used ? ", " : "", name);
    }
    if (strchr(text, ','))
        return;
    short_name(p, line->titles[0], name);
    strategy_text(&p->schedule, full);
    if (line->titles[0] && strcmp(name, full) != 0)
        snprintf(text, NAMES_ROOM, "%s: %s", name, full);
    else
        snprintf(text, NAMES_ROOM, "%s", full);
}

static bool wins(const contest *c, const pb_view_line *line)
{
    for (uint32_t i = 0; i < line->count; i++)
        if (line->rows[i] == c->result.winner)
            return true;
    return false;
}

/* Cuts a list of names at a comma if it is too wide for the column. Returns the rest, for the next line, or NULL. */
static char *rest_of(char *names)
{
    char *cut = NULL;
    if (text_width(names) <= NAME_WIDTH)
        return NULL;
    for (char *at = names; (at = strstr(at, ", ")) && (!cut || at - names < NAME_WIDTH); at += 2)
        cut = at;
    if (!cut)
        return NULL;
    cut[1] = '\0';
    return cut + 2;
}

static int begin_cells(const sheet *s, const pb_view_line *line, const char *name, const char **cells, const char *star)
{
    int count = 0;
    cells[count++] = star;
    cells[count++] = name;
    if (s->games)
        cells[count++] = pb_game_kind_name(s->c->result.rows[line->rows[0]].schedule.game);
    return count;
}

static void ratio_text(const contest *c, uint64_t peak, char text[FIGURE_ROOM])
{
    double share = c->program_peak ? (double)peak / (double)c->program_peak : 1.0;
    snprintf(text, FIGURE_ROOM, "%.*f", share < 0.0995 ? 3 : 2, share);
}

static bool timed_line(const sheet *s, table *t, const pb_view_line *line, const char *name, const char *star)
{
    const contest *c = s->c;
    const pb_plan_result *p = &c->result.rows[wins(c, line) ? c->result.winner : line->rows[0]];
    char text[TIMED_COLUMNS][FIGURE_ROOM], operations[FIGURE_ROOM], cost[FIGURE_ROOM], gap[FIGURE_ROOM] = "";
    const char *cells[MAX_COLUMNS];
    int count = begin_cells(s, line, name, cells, star);
    timed_texts(p->certificate, &p->schedule.metrics, text);
    for (int i = 0; i < TIMED_COLUMNS; i++)
        if (timed_shows(c->base.timing->machine, (timed_column)i))
            cells[count++] = text[i];
    short_number((pb_u128){0, pb_operation_count(&p->schedule.moves)}, DIGITS, operations);
    cells[count++] = operations;
    weighted_text(&p->schedule, c->base.graph, DIGITS, cost);
    if (s->costs)
        cells[count++] = cost;
    cells[count++] = pb_outcome_name(p->schedule.outcome);
    if (p->schedule.metrics.gap >= 0)
        percent_text(p->schedule.metrics.gap, gap);
    cells[count++] = gap;
    return table_row(t, cells, star[0] ? "1;32" : NULL);
}

static bool found_line(const sheet *s, table *t, const pb_view_line *line, const char *name, const char *star)
{
    enum { PEAK, RATIO, EXTRA, TOTAL, IO, COUNT, FLUX, COST, GAP, FIGURES };
    const contest *c = s->c;
    const pb_graph *g = c->base.graph;
    const pb_plan_result *p = &c->result.rows[wins(c, line) ? c->result.winner : line->rows[0]];
    const pb_metrics *m = &p->schedule.metrics;
    char text[FIGURES][FIGURE_ROOM];
    const char *cells[MAX_COLUMNS];
    int count = begin_cells(s, line, name, cells, star);
    pb_quantity_text(m->peak, g->size_unit, text[PEAK], FIGURE_ROOM);
    ratio_text(c, m->peak, text[RATIO]);
    percent_text(m->overhead, text[EXTRA]);
    cost_text(m->makespan, g->cost_unit, text[TOTAL]);
    cost_text(m->io, g->cost_unit, text[IO]);
    short_number((pb_u128){0, pb_operation_count(&p->schedule.moves)}, DIGITS, text[COUNT]);
    flux_text(m->flux, g, DIGITS, text[FLUX]);
    weighted_text(&p->schedule, g, DIGITS, text[COST]);
    text[GAP][0] = '\0';
    if (m->gap >= 0)
        percent_text(m->gap, text[GAP]);
    for (int f = 0; f < FIGURES; f++) {
        if (f == GAP)
            cells[count++] = pb_outcome_name(p->schedule.outcome);
        if ((f != IO || s->transfers) && (f != FLUX || s->costs || !c->reduced) && (f != COST || s->costs))
            cells[count++] = text[f];
    }
    return table_row(t, cells, star[0] ? "1;32" : NULL);
}

/* Where the plan exceeds the cap, if that is known; else why there is none. */
static void failure_text(const contest *c, const pb_plan_result *p, char *text, size_t room)
{
    const pb_graph *g = c->base.graph;
    char need[FIGURE_ROOM], over[FIGURE_ROOM];
    if (!p->attempt.count) {
        pb_result_reason(p, p->game ? p->game : &c->base, text, room);
        return;
    }
    amount_text(p->failed_need, g->size_unit, need);
    pb_quantity_text(p->failed_need - c->base.cap, g->size_unit, over, sizeof over);
    snprintf(text, room, "%s at move %llu (%s %.60s): needs %s, %s over the cap",
             p->schedule.outcome == PB_INFEASIBLE ? "infeasible, stops" : "stops", (unsigned long long)p->failed_step,
             pb_op_name((pb_op)p->attempt.move[p->failed_step].op), pb_graph_name(g, p->failed_node), need, over);
}

static bool failed_line(const sheet *s, table *t, const pb_view_line *line, const char *name)
{
    const char *cells[MAX_COLUMNS] = {NULL};
    char reason[512];
    int count = begin_cells(s, line, name, cells, "");
    failure_text(s->c, &s->c->result.rows[line->rows[0]], reason, sizeof reason);
    cells[count] = reason;
    return table_row(t, cells, "2");
}

static bool add_line(const sheet *s, table *t, const pb_view_line *line, bool unicode)
{
    char names[NAMES_ROOM], *rest;
    const char *star = !wins(s->c, line) ? "" : unicode ? "★" : "*";
    line_name(s->c, line, names);
    rest = rest_of(names);
    bool found = s->c->result.rows[line->rows[0]].certificate != NULL;
    bool ok = !found     ? failed_line(s, t, line, names)
              : s->timed ? timed_line(s, t, line, names, star)
                         : found_line(s, t, line, names, star);
    const char *cells[MAX_COLUMNS] = {"", rest};
    return ok && (!rest || table_row(t, cells, star[0] ? "1;32" : NULL));
}

static const char idle_prefix[] = "does not apply: ";

static bool does_not_apply(const pb_plan_result *p)
{
    const char *reason = p->schedule.reason;
    return !p->certificate && reason && strncmp(reason, idle_prefix, sizeof idle_prefix - 1) == 0;
}

static bool is_shown(const contest *c, uint32_t row)
{
    for (uint32_t i = 0; i < c->view.count; i++)
        for (uint32_t k = 0; k < c->view.lines[i].count; k++)
            if (c->view.lines[i].rows[k] == row)
                return true;
    return false;
}

static bool any_applies(const contest *c)
{
    for (uint32_t i = 0; i < c->result.row_count; i++)
        if (!does_not_apply(&c->result.rows[i]))
            return true;
    return false;
}

/* True if a row from i to k - 1 has the strategy and reason of row k: a strategy has a row in each of its games. */
static bool named_before(const pb_plan_result *rows, uint32_t i, uint32_t k)
{
    for (uint32_t j = i; j < k; j++)
        if (does_not_apply(&rows[j]) && strcmp(rows[j].schedule.reason, rows[k].schedule.reason) == 0 &&
            strcmp(rows[j].schedule.strategy, rows[k].schedule.strategy) == 0)
            return true;
    return false;
}

/* One line per reason, with its strategies: a row for each would hide the rows with plans. */
static void print_idle(const app *a, const contest *c)
{
    const pb_plan_result *rows = c->result.rows;
    for (uint32_t i = 0; i < c->result.row_count; i++) {
        char text[768];
        bool printed = !does_not_apply(&rows[i]) || !is_shown(c, i);
        for (uint32_t k = 0; k < i && !printed; k++)
            printed = does_not_apply(&rows[k]) && strcmp(rows[k].schedule.reason, rows[i].schedule.reason) == 0;
        if (printed)
            continue;
        const char *why = rows[i].schedule.reason + sizeof idle_prefix - 1;
        int used = 0, names = 0;
        for (uint32_t k = i; k < c->result.row_count && used < 300; k++)
            if (does_not_apply(&rows[k]) && strcmp(rows[k].schedule.reason, rows[i].schedule.reason) == 0 &&
                !named_before(rows, i, k))
                used += snprintf(text + used, sizeof text - (size_t)used, "%s%.40s", names++ ? ", " : "",
                                 rows[k].schedule.strategy);
        snprintf(text + used, sizeof text - (size_t)used, " %s not apply: %.380s", names > 1 ? "do" : "does", why);
        putchar('\n');
        print_wrapped(stdout, text, 0, 2, a->width);
    }
}

/* The bound that the gap column refers to, and whether a plan reaches it. */
static void print_gap(const app *a, const contest *c, pb_game_kind kind)
{
    const char *unit = c->base.graph->cost_unit;
    char bound[FIGURE_ROOM], best[FIGURE_ROOM], text[3 * FIGURE_ROOM + 160];
    uint64_t lower_bound = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < c->result.row_count; i++) {
        const pb_schedule *s = &c->result.rows[i].schedule;
        if (s->game != kind || !c->result.rows[i].certificate || s->metrics.gap < 0)
            continue;
        lower_bound = s->lower_bound; /* rows of one game share theirs */
        uint64_t value = pb_metrics_objective(c->result.rows[i].game, &s->metrics);
        least = value < least ? value : least;
    }
    if (least == UINT64_MAX)
        return;
    amount_text(lower_bound, unit, bound);
    amount_text(least, unit, best);
    int used = snprintf(text, sizeof text, "gap: how far the %s is above %s, ",
                        kind == PB_GAME_TIMED    ? pb_objective_name(c->base.objective)
                        : kind == PB_GAME_TIERED ? "work plus io"
                                                 : "work",
                        bound);
    if (least == lower_bound)
        snprintf(text + used, sizeof text - (size_t)used, "the minimum of the %s game", pb_game_kind_name(kind));
    else
        snprintf(text + used, sizeof text - (size_t)used, "the lower bound of the %s game; the best plan has %s",
                 pb_game_kind_name(kind), best);
    print_wrapped(stdout, text, 0, 2, a->width);
}

static void print_winner(const app *a, const contest *c)
{
    const pb_plan_result *w = &c->result.rows[c->result.winner];
    char name[FIGURE_ROOM], trade[512], text[768];
    strategy_text(&w->schedule, name);
    trade_text(&w->schedule, c->base.graph, c->program_peak, trade, sizeof trade);
    snprintf(text, sizeof text, "best plan: %s in the %s game%s: %s", name, pb_game_kind_name(w->schedule.game),
             w->schedule.outcome == PB_OPTIMAL ? ", optimal" : "", trade);
    print_wrapped(stdout, text, 0, 2, a->width);
}

/* The plan to plot below the winner: program order, or one that keeps everything. */
static const pb_plan_result *plain_row(const contest *c)
{
    static const char *const names[] = {"last-use", "cache-all"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (uint32_t i = 0; i < c->result.row_count; i++) {
            const pb_plan_result *p = &c->result.rows[i];
            if (i != c->result.winner && p->certificate && strcmp(p->schedule.strategy, names[n]) == 0)
                return p;
        }
    return NULL;
}

static pb_status print_plots(app *a, const contest *c)
{
    const pb_plan_result *winner = &c->result.rows[c->result.winner], *plain = plain_row(c);
    putchar('\n');
    print_line(stdout, "%s", winner->schedule.strategy);
    pb_status status = print_plot(a, winner->certificate, PLOT_HEIGHT);
    if (status != PB_OK || !plain)
        return status;
    putchar('\n');
    print_line(stdout, "%s", plain->schedule.strategy);
    return print_plot(a, plain->certificate, PLOT_HEIGHT);
}

static void print_policy(const app *a, const contest *c)
{
    char text[2 * FIGURE_ROOM];
    bool used = false;
    for (uint32_t i = 0; i < c->result.row_count; i++)
        used |= c->result.rows[i].schedule.policy != NULL;
    policy_use_text(c->result.policy, used, text);
    if (text[0])
        print_wrapped(stdout, text, 0, 2, a->width);
}

static void print_head(const app *a, const contest *c)
{
    const pb_graph *g = c->base.graph;
    char cap[FIGURE_ROOM], written[FIGURE_ROOM], one[FIGURE_ROOM], weights[3][32];
    amount_text(c->base.cap, g->size_unit, cap);
    amount_text(c->program_peak, g->size_unit, written);
    for (int i = 0; i < 3; i++)
        pb_weight_text(&c->base.weights, i, weights[i]);
    print_line(stdout, "%s: cap %s; peak in program order %s", g->name[0] ? g->name : "graph",
               c->base.cap == PB_UNLIMITED ? "none" : cap, written);
    if (c->base.borrow) {
        amount_text(c->base.borrow, g->size_unit, cap);
        print_line(stdout, "%s may be borrowed in addition to the cap", cap);
    }
    print_policy(a, c);
    units_text(g, one);
    print_line(stdout, "%s, cost with weights %s,%s,%s", one, weights[0], weights[1], weights[2]);
    putchar('\n');
}

/* With the name of its game if several were played. */
static void print_least_of(app *a, const contest *c, const pb_least_fact *l)
{
    pb_game game = c->base;
    game.kind = l->kind;
    if (c->result.least_count > 1)
        printf("%s: ", pb_game_kind_name(l->kind));
    print_least(a, stdout, l, &game);
}

/* What the titles mean, and how to see the rest. */
static void print_titles(const app *a, const contest *c)
{
    char text[256];
    if (app_option(a, OPT_QUIET))
        return;
    print_wrapped(
        stdout,
        "baseline keeps everything; program order frees each value after its last use; partial is the best of "
        "fixed intervals and depths; reversible is Bennett's recursion",
        0, 2, a->width);
    if (!c->view.hidden)
        return;
    snprintf(text, sizeof text, "%u more rows are not shown; --all shows every strategy, --group NAME one family",
             (unsigned)c->view.hidden);
    print_wrapped(stdout, text, 0, 2, a->width);
}

static pb_status print_rest(app *a, const contest *c)
{
    if (c->result.winner == UINT32_MAX) {
        puts(c->result.row_count
                 ? "\nno strategy found a plan that fits"
                 : "none of these strategies plays this game; `pebble help compare` lists them with their games");
        for (uint32_t i = 0; i < c->result.least_count; i++)
            print_least_of(a, c, c->result.least[i]);
        return front_print_text(a, c->base.graph, &c->result, &c->front);
    }
    putchar('\n');
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED; kind *= 2)
        print_gap(a, c, (pb_game_kind)kind);
    print_winner(a, c);
    pb_status status = front_print_text(a, c->base.graph, &c->result, &c->front);
    return status == PB_OK && wants_plot(a) ? print_plots(a, c) : status;
}

pb_status print_comparison(app *a, const contest *c)
{
    sheet s = {.c = c};
    bool folds = any_applies(c);
    choose_columns(&s);
    table_init(&s.t, &a->arena, s.columns, s.count);
    s.t.color = a->color;
    s.t.width = a->width;
    s.t.fit = a->terminal;
    for (uint32_t i = 0; i < c->view.count; i++) {
        const pb_view_line *line = &c->view.lines[i];
        if (folds && does_not_apply(&c->result.rows[line->rows[0]]))
            continue;
        if (!add_line(&s, &s.t, line, a->unicode))
            return PB_ENOMEM;
    }
    print_head(a, c);
    table_print(&s.t, stdout);
    if (folds)
        print_idle(a, c);
    if (c->reduced) {
        putchar('\n');
        print_titles(a, c);
    }
    if (s.timed && !app_option(a, OPT_QUIET)) {
        putchar('\n');
        print_wrapped(stdout, timed_note(), 0, 2, a->width);
    }
    return print_rest(a, c);
}
