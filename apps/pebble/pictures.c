/* pictures.c -- see pictures.h. */
#include "pictures.h"

#include "files.h"
#include "player_file.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 80 };

exit_code pictures_check(app *a)
{
    const char *html = app_option(a, OPT_HTML);
    if (html && strcmp(html, "-") == 0)
        return app_usage(a, "--html needs a file name: standard output already has the figures");
    if (!html)
        return EXIT_DONE;
    if (a->opts.positional_count > 1)
        return app_usage(a, "--html shows one graph; sweep the graphs one by one");
    return player_check(a);
}

exit_code comparison_pictures(app *a, const pb_game *base, const pb_comparison *rows)
{
    const char *svg = app_option(a, OPT_SVG), *html = app_option(a, OPT_HTML);
    file_out out;
    exit_code code = EXIT_DONE;
    if (svg && !file_create(a, svg, &out))
        return EXIT_FAILED;
    if (svg)
        code = file_finish(a, &out, pb_comparison_svg_write(&a->ctx, base, rows, file_sink(&out)));
    if (html && code == EXIT_DONE)
        code = player_write(a, html, &(player_file){.base = base, .rows = rows});
    return code;
}

/* The plans of the front as rows, named after their peaks and strategies. */
static exit_code play_front(app *a, const char *path, const pb_sweep *s)
{
    pb_plan_result *row = pb_arena_zero(&a->arena, s->front_count, sizeof *row);
    const char **name = pb_arena_zero(&a->arena, s->front_count, sizeof *name);
    char(*text)[NAME_ROOM] = pb_arena_zero(&a->arena, s->front_count, sizeof *text);
    if (!row || !name || !text)
        return app_status(a, PB_ENOMEM);
    pb_game base = PB_GAME_DEFAULT(s->graph);
    pb_comparison rows = {.rows = row, .row_count = s->front_count, .winner = UINT32_MAX};
    for (uint32_t i = 0; i < s->front_count; i++) {
        const pb_sweep_cell *cell = &s->cells[s->front[i]];
        double share = s->program_peak ? (double)cell->schedule.metrics.peak / (double)s->program_peak : 1;
        snprintf(text[i], NAME_ROOM, "%.1f %% %.40s", 100 * share, pb_sweep_winner_name(s, s->front[i]));
        name[i] = text[i];
        row[i] = (pb_plan_result){.schedule = cell->schedule,
                                  .certificate = cell->certificate,
                                  .game = pb_certificate_game(cell->certificate)};
        base.weights = cell->schedule.weights;
        if (s->front[i] == s->knee)
            rows.winner = i;
    }
    if (rows.winner == UINT32_MAX && rows.row_count)
        rows.winner = 0;
    return player_write(a, path, &(player_file){.base = &base, .rows = &rows, .names = name, .sweep = s});
}

exit_code sweep_pictures(app *a, const pb_sweep *const *sweeps, uint32_t count)
{
    const char *svg = app_option(a, OPT_SVG), *html = app_option(a, OPT_HTML);
    file_out out;
    exit_code code = EXIT_DONE;
    if (svg && !file_create(a, svg, &out))
        return EXIT_FAILED;
    if (svg)
        code = file_finish(a, &out, pb_sweep_svg_write(&a->ctx, sweeps, count, file_sink(&out)));
    if (!html || code != EXIT_DONE || !count)
        return code;
    if (!sweeps[0]->front_count) {
        app_note(a, "no plan fits any of the caps: %s was not written", html);
        return code;
    }
    return play_front(a, html, sweeps[0]);
}
