/* front_print.c -- see front_print.h. */
#include "front_print.h"

#include "common/figures.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINES = 24, NAMES_ROOM = 200, DIGITS = 9 };

static bool plays(const pb_plan_result *p) { return p->certificate && p->schedule.game == PB_GAME_REVERSIBLE; }

/* The strategies whose plans are at this point, or "". */
static int name_those_on(const pb_comparison *rows, const pb_front_point *point, char text[NAMES_ROOM])
{
    int used = 0, count = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < rows->row_count; i++)
        if (pb_front_is_point(&rows->rows[i], point) && used < NAMES_ROOM - 60)
            used += snprintf(text + used, NAMES_ROOM - (size_t)used, "%s%.40s", count++ ? ", " : "",
                             rows->rows[i].schedule.strategy);
    return count;
}

static void short_u64(uint64_t value, char *text) { short_number((pb_u128){0, value}, DIGITS, text); }

static void share_above(uint64_t work, uint64_t least, char text[FIGURE_ROOM])
{
    text[0] = '\0';
    if (work != UINT64_MAX && least)
        percent_text((double)(work - least) / (double)least, text);
}

/* One line of the front; `names`: the plans at this point. */
static bool add_point(app *a, table *t, const pb_graph *g, const pb_front_view *view, uint32_t i, const char *names)
{
    const pb_front_point *point = &view->front.point[i];
    char peak[FIGURE_ROOM], work[FIGURE_ROOM], bennett[FIGURE_ROOM], above[FIGURE_ROOM];
    pb_quantity_text(point->peak, g->size_unit, peak, sizeof peak);
    short_u64(point->work, work);
    snprintf(bennett, sizeof bennett, "%s", a->unicode ? "–" : "-");
    if (view->bennett[i] != UINT64_MAX)
        short_u64(view->bennett[i], bennett);
    share_above(view->bennett[i], point->work, above);
    return table_row(t, (const char *[]){"  ", peak, work, bennett, above, names}, names[0] ? "1" : NULL);
}

/* The points of the front; if there are many, only both ends, some in between, and those with a plan. */
static bool print_points(app *a, const pb_graph *g, const pb_comparison *rows, const pb_front_view *view)
{
    static const table_column columns[] = {{"  ", false, 0},        {"memory", true, 0},
                                           {"least work", true, 0}, {"bennett", true, 0},
                                           {"above", true, 0},      {"plans at this point", false, 0}};
    const pb_front *front = &view->front;
    table t;
    uint32_t left_out = 0, step = (front->count + MAX_LINES - 1) / MAX_LINES;
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    t.fit = a->terminal;
    for (uint32_t i = 0; i < front->count; i++) {
        char names[NAMES_ROOM];
        bool shown = name_those_on(rows, &front->point[i], names) || i % step == 0 || i + 1 == front->count;
        left_out += !shown;
        if (shown && !add_point(a, &t, g, view, i, names))
            return false;
    }
    table_print(&t, stdout);
    if (left_out)
        printf("  (%" PRIu32 " of the %" PRIu32 " points are not shown; --json shows all)\n", left_out, front->count);
    return true;
}

/* "bennett: fits with 14 pebble or more, 0 % to 12 % above the front" */
static void print_bennett(const app *a, const pb_graph *g, const pb_front_view *view)
{
    char from[FIGURE_ROOM], low[FIGURE_ROOM], high[FIGURE_ROOM], text[4 * FIGURE_ROOM];
    double least = 1e300, most = -1;
    uint32_t first = view->front.count;
    for (uint32_t i = view->front.count; i-- > 0 && view->bennett[i] != UINT64_MAX;) {
        double work = (double)view->front.point[i].work,
               above = ((double)view->bennett[i] - work) / (work > 0 ? work : 1);
        least = above < least ? above : least;
        most = above > most ? above : most;
        first = i;
    }
    if (first == view->front.count) {
        puts("bennett: does not fit at any point of the front");
        return;
    }
    amount_text(view->front.point[first].peak, g->size_unit, from);
    percent_text(least, low);
    percent_text(most, high);
    int used = snprintf(text, sizeof text, "bennett: fits with %s or more, ", from);
    if (most > 0)
        snprintf(text + used, sizeof text - (size_t)used, "%s to %s above the front", low, high);
    else
        snprintf(text + used, sizeof text - (size_t)used, "and is on the front there");
    print_wrapped(stdout, text, 0, 2, a->width);
}

/* "bennett: 15 pebble, 77 % above the front at this memory" */
static void print_place(const app *a, const pb_graph *g, const pb_plan_result *p, const pb_front *front)
{
    const pb_metrics *m = &p->schedule.metrics;
    const pb_front_point *point = pb_front_at(front, m->peak);
    char name[FIGURE_ROOM], peak[FIGURE_ROOM], share[FIGURE_ROOM], text[4 * FIGURE_ROOM];
    strategy_text(&p->schedule, name);
    amount_text(m->peak, g->size_unit, peak);
    int used = snprintf(text, sizeof text, "%s: %s, ", name, peak);
    size_t room = sizeof text - (size_t)used;
    if (!point) {
        snprintf(text + used, room, "less memory than the known part of the front");
    } else if (m->work > point->work) {
        percent_text((double)(m->work - point->work) / (double)point->work, share);
        snprintf(text + used, room, "%s above the front at this memory", share);
    } else if (m->peak > point->peak) {
        amount_text(point->peak, g->size_unit, peak);
        snprintf(text + used, room, "the least work, but %s would be enough memory for it", peak);
    } else {
        snprintf(text + used, room, "on the front");
    }
    print_wrapped(stdout, text, 0, 2, a->width);
}

pb_status front_print_text(app *a, const pb_graph *g, const pb_comparison *rows, const pb_front_view *view)
{
    const pb_front *front = &view->front;
    char least[FIGURE_ROOM];
    if (front->count < 2 || !pb_front_matters(rows))
        return PB_OK;
    puts("\nPareto front of the reversible game: the proved minimum of work for each memory size\n");
    if (!print_points(a, g, rows, view))
        return PB_ENOMEM;
    putchar('\n');
    amount_text(front->point[0].peak, g->size_unit, least);
    if (front->complete)
        printf("no plan needs less than %s\n", least);
    else
        printf("the front below %s is not known\n", least);
    print_bennett(a, g, view);
    for (uint32_t i = 0; i < rows->row_count; i++) { /* the list above has those on the front */
        const pb_plan_result *p = &rows->rows[i];
        const pb_front_point *point = plays(p) ? pb_front_at(front, p->schedule.metrics.peak) : NULL;
        if (plays(p) && (!point || !pb_front_is_point(p, point)))
            print_place(a, g, p, front);
    }
    return PB_OK;
}
