/* figures.c -- see figures.h. */
#include "figures.h"

#include <stdio.h>
#include <string.h>

void amount_text(uint64_t value, const char *unit, char text[FIGURE_ROOM])
{
    pb_amount_text(value, unit, text, FIGURE_ROOM);
}

void cost_text(uint64_t value, const char *unit, char text[FIGURE_ROOM])
{
    static const char prefix[] = " KMGTPE";
    double shown = (double)value;
    size_t at = 0;
    if (strcmp(unit, "flop") != 0 || value < 10000) {
        if (value < 1000000000 || pb_unit_is_time(unit))
            pb_quantity_text(value, unit, text, FIGURE_ROOM);
        else
            snprintf(text, FIGURE_ROOM, "%.3g", (double)value);
        return;
    }
    for (; shown >= 999.95 && prefix[at + 1]; at++)
        shown /= 1000;
    snprintf(text, FIGURE_ROOM, "%.*f %c%s", shown < 9.9995 ? 3 : shown < 99.995 ? 2 : 1, shown, prefix[at], unit);
}

/* True if the option has its default value. The table lists "key=default|text", one per line. */
static bool is_default(const pb_strategy *row, const pb_option *option)
{
    size_t key = strlen(option->key), value = strlen(option->value);
    for (const char *line = row ? row->options : ""; *line;) {
        size_t end = strcspn(line, "\n");
        if (strncmp(line, option->key, key) == 0 && line[key] == '=' &&
            strncmp(line + key + 1, option->value, value) == 0 && line[key + 1 + value] == '|')
            return true;
        line += end + (line[end] == '\n');
    }
    return false;
}

void strategy_text(const pb_schedule *s, char text[FIGURE_ROOM])
{
    const char *name = s->strategy && s->strategy[0] ? s->strategy : "?", *join = " (";
    const pb_strategy *row = pb_strategy_find(name);
    int used = snprintf(text, FIGURE_ROOM, "%.40s", name);
    for (uint32_t i = 0; i < s->option_count && used < FIGURE_ROOM - 1; i++) {
        if (is_default(row, &s->options[i]) || strcmp(s->options[i].key, "limit") == 0)
            continue; /* a limit says when to give up; it is not part of the plan */
        used += snprintf(text + used, (size_t)(FIGURE_ROOM - used), "%s%.40s=%.40s", join, s->options[i].key,
                         s->options[i].value);
        join = ", ";
    }
    if (s->policy && used < FIGURE_ROOM - 1) {
        used += snprintf(text + used, (size_t)(FIGURE_ROOM - used), "%s%.40s", join, s->policy);
        join = ", ";
    }
    if (join[0] == ',' && used < FIGURE_ROOM - 1)
        snprintf(text + used, (size_t)(FIGURE_ROOM - used), ")");
}

void percent_text(double share, char text[FIGURE_ROOM])
{
    double percent = 100.0 * share;
    if (share >= 10) { /* nobody reads 1587.5 % */
        snprintf(text, FIGURE_ROOM, "%.*f x", share < 99.95 ? 1 : 0, share);
        return;
    }
    int digits = percent == 0 || percent >= 99.95 ? 0 : percent >= 0.095 ? 1 : 3;
    snprintf(text, FIGURE_ROOM, "%.*f %%", digits, percent);
}

void units_text(const pb_graph *g, char text[FIGURE_ROOM])
{
    if (g->priced_by)
        snprintf(text, FIGURE_ROOM, "times on %.60s", g->priced_by->name);
    else
        snprintf(text, FIGURE_ROOM, "work in %.60s", g->cost_unit);
}

void trade_text(const pb_schedule *s, const pb_graph *g, uint64_t program_peak, char *text, size_t room)
{
    const char *what = s->metrics.io || pb_unit_is_time(g->cost_unit) ? "time" : "work";
    char share[FIGURE_ROOM], more[FIGURE_ROOM];
    double of_peak = program_peak ? (double)s->metrics.peak / (double)program_peak : 1.0;
    percent_text(of_peak, share);
    percent_text(s->metrics.overhead, more);
    if (s->metrics.overhead > 0)
        snprintf(text, room, "fits in %s of the peak in program order, for %s extra %s", share, more, what);
    else
        snprintf(text, room, "fits in %s of the peak in program order, with no extra %s", share, what);
}

void policy_use_text(const char *policy, bool used, char text[2 * FIGURE_ROOM])
{
    text[0] = '\0';
    if (policy)
        snprintf(text, 2 * FIGURE_ROOM,
                 used ? "policy %.40s: decides what is evicted where a strategy's own plan does not fit the cap"
                      : "policy %.40s: not used, no plan here had to evict anything",
                 policy);
}
