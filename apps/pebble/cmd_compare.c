/* cmd_compare.c -- pebble compare: a table of all strategies, and the best plan. */
#include "commands.h"
#include "common/figures.h"
#include "common/output.h"
#include "files.h"
#include "front_print.h"
#include "least_line.h"
#include "plain_print.h"
#include "plan_print.h"
#include "settings.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum { PLOT_HEIGHT = 9, DIGITS = 9 };

typedef struct contest {
    pb_game base;
    unsigned games;
    pb_request request;
    pb_comparison result;
    pb_front_view front; /* of the reversible game, if the graph is small */
    uint64_t program_peak;
    bool uncomputes, transfers; /* columns that some rows fill */
} contest;

static exit_code read_settings(app *a, contest *c)
{
    exit_code code = read_graph(a, a->opts.positional[0], &c->base.graph);
    if (code != EXIT_DONE)
        return code;
    code = setting_game(a, &c->base);
    if (code != EXIT_DONE)
        return code;
    if (!setting_request(a, &c->request))
        return EXIT_USAGE;
    if (!has_cap(a, &c->base))
        return missing_cap(a);
    c->games = setting_games(a, &c->base);
    pb_status status = pb_graph_program_peak(&a->ctx, c->base.graph, &c->program_peak);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

static void short_u64(uint64_t value, char *text) { short_number((pb_u128){0, value}, DIGITS, text); }

/* The columns of this comparison; returns how many. */
static int choose_columns(contest *c, table_column columns[MAX_COLUMNS])
{
    int count = 0;
    for (uint32_t i = 0; i < c->result.row_count; i++) {
        const pb_plan_result *p = &c->result.rows[i];
        c->uncomputes |= p->certificate && p->schedule.metrics.uncompute;
        c->transfers |= p->certificate && p->schedule.metrics.io;
    }
    columns[count++] = (table_column){"", false, 0};
    columns[count++] = (table_column){"strategy", false, 0};
    columns[count++] = (table_column){"game", false, 0};
    columns[count++] = (table_column){"outcome", false, 0};
    columns[count++] = (table_column){"peak", true, 0};
    columns[count++] = (table_column){"work", true, 0};
    columns[count++] = (table_column){"recompute", true, 0};
    if (c->uncomputes)
        columns[count++] = (table_column){"uncompute", true, 3};
    if (c->transfers)
        columns[count++] = (table_column){"io", true, 2};
    columns[count++] = (table_column){"flux", true, 4};
    columns[count++] = (table_column){"moves", true, 5};
    columns[count++] = (table_column){"cost", true, 0};
    columns[count++] = (table_column){"gap", true, 1};
    return count;
}

static bool found_row(app *a, table *t, const contest *c, const pb_plan_result *p, bool winner)
{
    enum { PEAK, WORK, RECOMPUTE, UNCOMPUTE, IO, FLUX, MOVES, COST, GAP, FIGURES };
    const pb_metrics *m = &p->schedule.metrics;
    char name[FIGURE_ROOM], text[FIGURES][FIGURE_ROOM];
    const char *cells[MAX_COLUMNS], *unit = c->base.graph->cost_unit;
    int count = 0;
    strategy_text(&p->schedule, name);
    pb_quantity_text(m->peak, c->base.graph->size_unit, text[PEAK], FIGURE_ROOM);
    short_cost((pb_u128){0, m->work}, unit, DIGITS, text[WORK]);
    short_cost((pb_u128){0, m->recompute}, unit, DIGITS, text[RECOMPUTE]);
    short_cost((pb_u128){0, m->uncompute}, unit, DIGITS, text[UNCOMPUTE]);
    short_cost((pb_u128){0, m->io}, unit, DIGITS, text[IO]);
    flux_text(m->flux, c->base.graph, DIGITS, text[FLUX]);
    short_u64(m->moves, text[MOVES]);
    weighted_text(&p->schedule, c->base.graph, DIGITS, text[COST]);
    text[GAP][0] = '\0';
    if (m->gap >= 0)
        percent_text(m->gap, text[GAP]);
    cells[count++] = !winner ? "" : a->unicode ? "★" : "*";
    cells[count++] = name;
    cells[count++] = pb_game_kind_name(p->schedule.game);
    cells[count++] = pb_outcome_name(p->schedule.outcome);
    for (int f = 0; f < FIGURES; f++)
        if ((f != IO || c->transfers) && (f != UNCOMPUTE || c->uncomputes))
            cells[count++] = text[f];
    return table_row(t, cells, winner ? "1;32" : NULL);
}

static bool failed_row(table *t, const contest *c, const pb_plan_result *p)
{
    char name[FIGURE_ROOM], reason[512];
    strategy_text(&p->schedule, name);
    pb_result_reason(p, p->game ? p->game : &c->base, reason, sizeof reason);
    const char *cells[MAX_COLUMNS] = {"", name, pb_game_kind_name(p->schedule.game),
                                      pb_outcome_name(p->schedule.outcome), reason};
    return table_row(t, cells, "2");
}

/* True if row i comes before row k: by game, then by cost, strategies without a plan last. */
static bool comes_before(const contest *c, uint32_t i, uint32_t k)
{
    const pb_plan_result *a = &c->result.rows[i], *b = &c->result.rows[k];
    const pb_metrics *x = &a->schedule.metrics, *y = &b->schedule.metrics;
    if (a->schedule.game != b->schedule.game)
        return a->schedule.game < b->schedule.game;
    if (!a->certificate || !b->certificate)
        return a->certificate && !b->certificate;
    int order = pb_u128_compare(x->cost, y->cost);
    return order ? order < 0 : i == c->result.winner && k != c->result.winner;
}

/* The rows in the order they are shown, or NULL. */
static uint32_t *rank_rows(app *a, const contest *c)
{
    uint32_t *rank = pb_arena_alloc(&a->arena, c->result.row_count + 1, sizeof *rank);
    for (uint32_t i = 0; rank && i < c->result.row_count; i++) {
        uint32_t at = i;
        for (; at > 0 && comes_before(c, i, rank[at - 1]); at--)
            rank[at] = rank[at - 1];
        rank[at] = i;
    }
    return rank;
}

static const char idle_prefix[] = "does not apply: ";

static bool does_not_apply(const pb_plan_result *p)
{
    const char *reason = p->schedule.reason;
    return !p->certificate && reason && strncmp(reason, idle_prefix, sizeof idle_prefix - 1) == 0;
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
        bool printed = !does_not_apply(&rows[i]);
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
        least = s->metrics.makespan < least ? s->metrics.makespan : least;
    }
    if (least == UINT64_MAX)
        return;
    amount_text(lower_bound, unit, bound);
    amount_text(least, unit, best);
    int used = snprintf(text, sizeof text, "gap: how far the %s is above %s, ",
                        kind == PB_GAME_TIERED ? "work plus io" : "work", bound);
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

static pb_status print_text(app *a, contest *c)
{
    table_column columns[MAX_COLUMNS];
    table t;
    bool folds = any_applies(c);
    table_init(&t, &a->arena, columns, choose_columns(c, columns));
    t.color = a->color;
    t.width = a->width;
    t.fit = a->terminal;
    uint32_t *rank = rank_rows(a, c);
    for (uint32_t i = 0; rank && i < c->result.row_count; i++) {
        const pb_plan_result *p = &c->result.rows[rank[i]];
        if (folds && does_not_apply(p))
            continue;
        bool ok = p->certificate ? found_row(a, &t, c, p, rank[i] == c->result.winner) : failed_row(&t, c, p);
        if (!ok)
            return PB_ENOMEM;
    }
    if (!rank)
        return PB_ENOMEM;
    print_head(a, c);
    table_print(&t, stdout);
    if (folds)
        print_idle(a, c);
    if (c->result.winner == UINT32_MAX) {
        puts(c->result.row_count
                 ? "\nno strategy found a plan that fits"
                 : "none of these strategies plays this game; `pebble help compare` lists them with their games");
        for (uint32_t i = 0; i < c->result.least_count; i++)
            print_least_of(a, c, c->result.least[i]);
        return front_print_text(a, c->base.graph, &c->result, &c->front);
    }
    putchar('\n');
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIERED; kind *= 2)
        print_gap(a, c, (pb_game_kind)kind);
    print_winner(a, c);
    pb_status status = front_print_text(a, c->base.graph, &c->result, &c->front);
    return status == PB_OK && wants_plot(a) ? print_plots(a, c) : status;
}

/* The exit code if no plan fits: infeasible if that is proved for every game that was played. */
static exit_code nothing_fits(const contest *c)
{
    unsigned played = 0, proved = 0;
    for (uint32_t i = 0; i < c->result.row_count; i++) {
        const pb_schedule *s = &c->result.rows[i].schedule;
        played |= (unsigned)s->game;
        proved |= s->outcome == PB_INFEASIBLE ? (unsigned)s->game : 0u;
    }
    return played && proved == played ? EXIT_INFEASIBLE : EXIT_NOTHING;
}

static pb_status make_front(app *a, contest *c)
{
    return pb_front_view_make(&a->ctx, c->base.graph, progress_left_ns(&a->progress), &a->arena, &c->front);
}

exit_code cmd_compare(app *a)
{
    contest c = {.base = PB_GAME_DEFAULT(NULL), .request = PB_REQUEST_DEFAULT};
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble compare g.json --cap 60%%");
    exit_code code = read_settings(a, &c);
    if (code != EXIT_DONE)
        return code;
    progress_planning(&a->progress, true);
    pb_status status = c.games & PB_GAME_REVERSIBLE ? make_front(a, &c) : PB_OK;
    c.request.time_ns = progress_left_ns(&a->progress);
    c.request.prove = c.request.find_least = true;
    pb_compare_request request = {.strategies = c.request.strategy, .games = c.games, .plan = c.request};
    if (status == PB_OK)
        status = pb_compare(&a->ctx, &c.base, &request, &a->arena, &c.result);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        status = pb_comparison_json_write(&a->ctx, &c.base, c.program_peak, &c.result, &c.front, stream_sink(stdout));
    else
        status = print_text(a, &c);
    if (status != PB_OK && status != PB_EIO)
        return app_status(a, status);
    if (progress_interrupted()) {
        app_note(a, "interrupted: the other strategies did not run");
        return EXIT_INTERRUPTED;
    }
    return c.result.winner == UINT32_MAX ? nothing_fits(&c) : EXIT_DONE;
}
