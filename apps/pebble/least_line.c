/* least_line.c -- see least_line.h. */
#include "least_line.h"
#include "options.h"
#include "table.h"

#include <string.h>

/* A longer time to suggest: a minute, or four times the given time. */
static unsigned more_seconds(const app *a)
{
    const char *given = app_option(a, OPT_TIME);
    double seconds;
    if (!given || !pb_time_parse(given, &seconds))
        return 60;
    return seconds < 15 ? 60 : seconds < 1e6 ? (unsigned)(4 * seconds) : 4000000;
}

static void advise(app *a, const pb_least_fact *l, const pb_game *game, uint64_t written, char *text, size_t room)
{
    char cap[64];
    pb_cap_option_text(l->cap, game->graph, written, cap, sizeof cap);
    bool open = game->cap >= l->bounds.least_cap;
    if (l->known && l->cap <= game->cap)
        snprintf(text, room, ". Try --strategy auto");
    else if (l->known && open)
        snprintf(text, room, ". Try --time %us or --cap %s", more_seconds(a), cap);
    else if (l->known)
        snprintf(text, room, ". Try --cap %s", cap);
    else if (open)
        snprintf(text, room, ". Try --time %us", more_seconds(a));
    else
        text[0] = '\0';
}

void print_least(app *a, FILE *out, const pb_least_fact *l, const pb_game *game)
{
    char what[512], try[128], text[768];
    uint64_t written;
    if (!l || pb_graph_program_peak(&a->ctx, game->graph, &written) != PB_OK)
        return;
    pb_least_fact_text(l, game, written, what, sizeof what);
    advise(a, l, game, written, try, sizeof try);
    snprintf(text, sizeof text, "%s%s", what, try);
    print_wrapped(out, text, 0, 2, a->width);
}
