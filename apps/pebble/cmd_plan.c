/* cmd_plan.c -- pebble plan: one verified schedule under a memory cap. */
#include "commands.h"
#include "common/figures.h"
#include "common/output.h"
#include "files.h"
#include "grain_option.h"
#include "least_line.h"
#include "plain_print.h"
#include "plan_print.h"
#include "settings.h"
#include "table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PLOT_HEIGHT = 14, SPEC_ROOM = 1024 };
#define MIN_SHARE 1e-5 /* a smaller share is printed as an amount */

/* The machine of an earlier schedule as the value of --machine: a document, or none in place of the graph's own. */
static exit_code take_machine(app *a, const pb_graph *g, const pb_machine *m)
{
    pb_buffer text;
    pb_buffer_init(&text, &a->arena);
    pb_status status = m ? pb_machine_write(&a->ctx, m, pb_sink_buffer(&text)) : PB_OK;
    if (status != PB_OK)
        return app_status(a, status);
    a->opts.value[OPT_MACHINE] = m ? text.bytes : g->machine ? "none" : NULL;
    return EXIT_DONE;
}

/* --like: the request of an earlier schedule; options on the command line override it. */
static exit_code take_request(app *a, const char *path, pb_game *game, pb_request *request)
{
    pb_schedule old;
    exit_code code = read_schedule(a, path, game->graph, &old);
    if (code != EXIT_DONE)
        return code;
    game->kind = old.game;
    game->cap = old.cap;
    game->borrow = old.borrow;
    game->weights = old.weights;
    /* Tiers that are links of the old machine are those of the new one instead, if another is named. */
    if (!app_option(a, OPT_MACHINE) || !old.tier_count || !old.tiers[0].store_link) {
        game->tier_count = old.tier_count;
        memcpy(game->tiers, old.tiers, sizeof game->tiers);
    } else if (strcmp(app_option(a, OPT_MACHINE), "none") == 0) {
        return app_usage(a, "the slow memory of %s is that of its machine; leave out --machine none, or name a machine",
                         path);
    }
    request->policy = old.policy;
    request->seed = old.seed;
    request->threads = old.threads;
    a->ctx.tick_limit = old.ticks;
    char *spec = pb_arena_alloc(&a->arena, SPEC_ROOM, 1);
    if (!spec)
        return app_status(a, PB_ENOMEM);
    int used = snprintf(spec, SPEC_ROOM, "%s", old.strategy && old.strategy[0] ? old.strategy : "auto");
    for (uint32_t i = 0; i < old.option_count && used < SPEC_ROOM; i++)
        used += snprintf(spec + used, (size_t)(SPEC_ROOM - used), "%c%s=%s", i ? ',' : ':', old.options[i].key,
                         old.options[i].value);
    if (used >= SPEC_ROOM)
        return app_fail(a, EXIT_INPUT, "%s: the strategy's options are too long; plan without --like", path);
    request->strategy = spec;
    return app_option(a, OPT_MACHINE) ? EXIT_DONE : take_machine(a, game->graph, old.machine);
}

/* --start: a plan of this game. */
static exit_code take_start(app *a, const pb_game *game, pb_request *request)
{
    const char *path = app_option(a, OPT_START);
    pb_status status = path ? pb_start_read(&a->ctx, game, path, &a->arena, &request->start) : PB_OK;
    request->start_name = path;
    if (status == PB_EFORMAT || status == PB_EINVAL || status == PB_EIO)
        return app_fail(a, EXIT_INPUT, "--start: %s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

static exit_code read_settings(app *a, pb_game *game, pb_request *request)
{
    const char *like = app_option(a, OPT_LIKE);
    if (like && strcmp(like, "-") == 0 && strcmp(a->opts.positional[0], "-") == 0)
        return app_usage(a,
                         "the graph and the schedule cannot both come from standard input; put one of them in a file");
    exit_code code = read_graph(a, a->opts.positional[0], &game->graph);
    if (code == EXIT_DONE && like)
        code = take_request(a, like, game, request);
    if (code != EXIT_DONE)
        return code;
    code = setting_game(a, game);
    if (code != EXIT_DONE)
        return code;
    if (!setting_request(a, request))
        return EXIT_USAGE;
    if (!like && !has_cap(a, game))
        return missing_cap(a);
    return take_start(a, game, request);
}

static void figure(FILE *out, const char *name, const char *text) { print_line(out, "  %-12s %s", name, text); }

static void print_work(FILE *out, const pb_schedule *s, const pb_graph *g)
{
    char text[2 * FIGURE_ROOM + 64], one[FIGURE_ROOM];
    const pb_metrics *m = &s->metrics;
    amount_text(m->work, g->cost_unit, one);
    figure(out, "work", one);
    if (s->game == PB_GAME_TIMED) {
        amount_text(m->makespan, g->cost_unit, one);
        figure(out, "makespan", one);
        amount_text(m->span, g->cost_unit, one);
        figure(out, "span", one);
    }
    if (s->game == PB_GAME_TIERED || s->game == PB_GAME_TIMED) {
        amount_text(m->io, g->cost_unit, one);
        figure(out, "transfers", one);
    }
    amount_text(m->recompute, g->cost_unit, one);
    snprintf(text, sizeof text, "%s in %llu computation%s", one, (unsigned long long)m->recompute_count,
             m->recompute_count == 1 ? "" : "s");
    figure(out, "recompute", m->recompute_count ? text : "none");
    if (s->game == PB_GAME_REVERSIBLE || s->borrow) {
        amount_text(m->uncompute, g->cost_unit, one);
        figure(out, "uncompute", one);
    }
    percent_text(m->overhead, one);
    snprintf(text, sizeof text, "%s more than computing each value once", one);
    if (m->overhead >= 0)
        figure(out, pb_unit_is_time(g->cost_unit) ? "extra time" : "overhead", m->overhead > 0 ? text : "none");
}

static void print_bound(FILE *out, const pb_schedule *s, const pb_graph *g)
{
    char text[3 * FIGURE_ROOM], bound[FIGURE_ROOM], gap[FIGURE_ROOM] = "";
    if (s->bound_kind == PB_BOUND_NONE)
        return;
    amount_text(s->lower_bound, g->cost_unit, bound);
    if (s->metrics.gap >= 0)
        percent_text(s->metrics.gap, gap);
    snprintf(text, sizeof text, "%s %s%s%s", bound,
             s->bound_kind == PB_BOUND_FREE_ORDER ? "in any order" : "in this order", gap[0] ? ", gap " : "", gap);
    figure(out, "lower bound", text);
}

/* Outcome, strategy and game; who chose it, and its note about the graph. */
static void print_head(const app *a, FILE *out, const pb_plan_result *p)
{
    const pb_schedule *s = &p->schedule;
    char name[FIGURE_ROOM], text[768];
    bool chosen = p->asked && strcmp(p->asked, s->strategy) != 0;
    strategy_text(s, name);
    const pb_machine *m = p->game->graph->priced_by;
    snprintf(text, sizeof text, "%s by %s in the %s game%s%.60s%s%s%s%.400s", pb_outcome_name(s->outcome), name,
             pb_game_kind_name(s->game), m ? " on " : "", m ? m->name : "", chosen ? ", chosen by " : "",
             chosen ? p->asked : "", s->note ? ": " : "", s->note ? s->note : "");
    print_wrapped(out, text, 0, 2, a->width);
}

/* The memory with addresses, which may be more than the peak as a sum of sizes. */
static void print_addresses(FILE *out, const pb_schedule *s, const pb_graph *g)
{
    const pb_addresses *at = &s->addresses;
    char text[3 * FIGURE_ROOM], size[FIGURE_ROOM], above[FIGURE_ROOM] = "";
    uint64_t peak = s->metrics.peak;
    if (!at->align)
        return;
    amount_text(at->size, g->size_unit, size);
    double share = peak ? (double)(at->size - peak) / (double)peak : 0;
    if (share >= MIN_SHARE)
        percent_text(share, above);
    else if (at->size > peak)
        amount_text(at->size - peak, g->size_unit, above);
    snprintf(text, sizeof text, "%s%s%s%s%s", size, at->minimal ? ", the minimum" : "", above[0] ? ", " : "", above,
             above[0] ? " above the peak" : "");
    figure(out, "addresses", text);
}

static void print_found(const app *a, FILE *out, const pb_plan_result *p)
{
    const pb_schedule *s = &p->schedule;
    const pb_graph *g = p->game->graph;
    const pb_metrics *m = &s->metrics;
    char text[2 * FIGURE_ROOM + 64], one[FIGURE_ROOM], two[FIGURE_ROOM], weights[3][32];
    bool part = strncmp(g->cost_unit, "0.", 2) == 0; /* 0.1 step */
    print_head(a, out, p);
    amount_text(m->peak, g->size_unit, one);
    amount_text(s->cap, g->size_unit, two);
    if (s->cap == PB_UNLIMITED)
        snprintf(text, sizeof text, "%s, no cap", one);
    else
        snprintf(text, sizeof text, "%s under a cap of %s", one, two);
    figure(out, "peak", text);
    if (s->borrow) {
        amount_text(m->borrowed, g->size_unit, one);
        amount_text(s->borrow, g->size_unit, two);
        snprintf(text, sizeof text, "%s of the %s that may be borrowed", one, two);
        figure(out, "borrowed", text);
    }
    print_addresses(out, s, g);
    print_work(out, s, g);
    flux_text(m->flux, g, PB_U128_TEXT, text); /* all its digits */
    if (!strchr(text, ' '))
        snprintf(text + strlen(text), sizeof text - strlen(text), part ? " %.40s·(%.40s)" : " %.40s·%.40s",
                 g->size_unit, g->cost_unit);
    figure(out, "flux", text);
    pb_quantity_text(m->moves, NULL, one, sizeof one);
    pb_quantity_text(m->depth, NULL, two, sizeof two);
    snprintf(text, sizeof text, s->game == PB_GAME_TIMED ? "%s" : "%s (critical path %s)", one, two);
    figure(out, "moves", text);
    print_bound(out, s, g);
    weighted_text(s, g, PB_U128_TEXT, one);
    for (int i = 0; i < 3; i++)
        pb_weight_text(&s->weights, i, weights[i]);
    snprintf(text, sizeof text, "%s with weights %s,%s,%s", one, weights[0], weights[1], weights[2]);
    figure(out, "cost", text);
}

static void print_missing(app *a, FILE *out, const pb_plan_result *p)
{
    char reason[512], strategy[FIGURE_ROOM];
    pb_result_reason(p, p->game, reason, sizeof reason);
    strategy_text(&p->schedule, strategy);
    if (p->schedule.outcome == PB_INFEASIBLE)
        print_line(out, "infeasible: %s", reason);
    else
        print_line(out, "no plan found (%s): %s", strategy, reason);
    print_least(a, out, p->least, p->game);
    if (app_option(a, OPT_OUTPUT))
        app_note(a, "nothing was written to %s", app_option(a, OPT_OUTPUT));
}

/* Prints the result, and writes the schedule to its file. */
static exit_code show(app *a, const pb_plan_result *p, double seconds)
{
    const char *path = app_option(a, OPT_OUTPUT);
    bool piped = path && strcmp(path, "-") == 0, found = p->certificate != NULL;
    exit_code code = EXIT_DONE;
    pb_status status = PB_OK;
    FILE *out = piped ? stderr : stdout; /* standard output is for the schedule */
    if (found && path)
        code = write_schedule(a, &p->schedule, path);
    if (p->attempt.count && app_option(a, OPT_FAILED))
        code = write_attempt(a, p, app_option(a, OPT_FAILED));
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_JSON))
        status = pb_schedule_write_summary(&a->ctx, &p->schedule, seconds, stream_sink(stdout));
    else if (!found)
        print_missing(a, out, p);
    else if (!piped || !app_option(a, OPT_QUIET))
        print_found(a, out, p);
    if (status == PB_OK && found && !piped && !app_option(a, OPT_JSON) && wants_plot(a) &&
        p->schedule.game != PB_GAME_TIMED) {
        putchar('\n');
        status = print_plot(a, p->certificate, PLOT_HEIGHT);
    }
    return status == PB_OK || status == PB_EIO ? EXIT_DONE : app_status(a, status);
}

/* --grain: planned as larger steps first. */
static pb_status make_grained(app *a, const pb_game *game, const pb_request *request, const pb_coarsen_options *grain,
                              pb_plan_result *planned)
{
    pb_grained result;
    pb_status status = pb_plan_grained(&a->ctx, game, request, grain, &a->arena, &result);
    if (status == PB_OK)
        *planned = result.planned;
    return status;
}

/* --solution: the plan of a solver. */
static pb_status take_solution(app *a, const pb_game *game, const pb_request *request, const pb_file_text *file,
                               pb_plan_result *planned)
{
    return pb_solution_plan(&a->ctx, game, request, file, &a->arena, planned);
}

/* The plan, with addresses if `align` is not 0. */
static pb_status make_plan(app *a, const pb_game *game, const pb_request *request, uint64_t align,
                           pb_plan_result *planned)
{
    pb_addressed addressed;
    if (!align)
        return pb_plan(&a->ctx, game, request, &a->arena, planned);
    pb_status status = pb_plan_addressed(&a->ctx, game, request, align, &a->arena, &addressed);
    if (status == PB_OK)
        *planned = addressed.planned;
    return status;
}

static bool setting_align(app *a, const pb_graph *g, uint64_t *align)
{
    const char *text = app_option(a, OPT_ADDRESSES);
    if (text && !isdigit((unsigned char)*text))
        return app_usage(a, "--addresses: expected an alignment, a power of two such as 64, not `%s`", text), false;
    if (!setting_size(a, OPT_ADDRESSES, g, align))
        return false;
    if (!app_option(a, OPT_ADDRESSES) || (*align && !(*align & (*align - 1))))
        return true;
    app_usage(a, "--addresses: expected a power of two, such as 64");
    return false;
}

/* The file of --solution, which is itself the plan. */
static exit_code setting_solution(app *a, pb_file_text *file)
{
    const char *path = app_option(a, OPT_SOLUTION);
    if (!path)
        return EXIT_DONE;
    if (app_option(a, OPT_ADDRESSES) || app_option(a, OPT_START) || app_option(a, OPT_GRAIN) ||
        app_option(a, OPT_STRATEGY))
        return app_usage(a, "--solution is a plan by itself: leave out --strategy, --start, --grain and --addresses");
    return read_text_file(a, path, file);
}

static bool setting_grain(app *a, const pb_graph *g, pb_coarsen_options *grain)
{
    const char *text = app_option(a, OPT_GRAIN);
    if (text && (app_option(a, OPT_ADDRESSES) || app_option(a, OPT_START) || app_option(a, OPT_FAILED))) {
        app_usage(a, "--grain does not work with --addresses, --start or --failed; leave one of them out");
        return false;
    }
    return !text || grain_option(a, g, text, strlen(text), grain);
}

/* True if the addresses fit the cap, or none were requested. */
static bool addresses_fit(app *a, const pb_plan_result *p)
{
    const pb_schedule *s = &p->schedule;
    if (!s->addresses.align || s->addresses.size <= s->cap)
        return true;
    app_note(a, "the sizes fit the cap, but their addresses do not; try a larger --cap or a smaller alignment");
    return false;
}

exit_code cmd_plan(app *a)
{
    pb_game game = PB_GAME_DEFAULT(NULL);
    pb_request request = PB_REQUEST_DEFAULT;
    pb_plan_result planned;
    const char *path = app_option(a, OPT_OUTPUT);
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble plan g.json --cap 80%%");
    if (app_option(a, OPT_JSON) && path && strcmp(path, "-") == 0)
        return app_usage(a, "--json and -o - both write to standard output; give -o a file name");
    uint64_t align = 0;
    pb_coarsen_options grain;
    pb_file_text solution;
    exit_code code = read_settings(a, &game, &request);
    if (code == EXIT_DONE && (!setting_align(a, game.graph, &align) || !setting_grain(a, game.graph, &grain)))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = setting_solution(a, &solution);
    if (code != EXIT_DONE)
        return code;
    double begin = seconds_now();
    request.time_ns = progress_left_ns(&a->progress);
    request.prove = request.find_least = true;
    request.attempts = app_option(a, OPT_FAILED) != NULL;
    progress_planning(&a->progress, true);
    pb_status status = app_option(a, OPT_SOLUTION) ? take_solution(a, &game, &request, &solution, &planned)
                       : app_option(a, OPT_GRAIN)  ? make_grained(a, &game, &request, &grain, &planned)
                                                   : make_plan(a, &game, &request, align, &planned);
    double seconds = seconds_now() - begin;
    progress_planning(&a->progress, false);
    if ((status == PB_EINVAL || status == PB_EFORMAT) && app_option(a, OPT_SOLUTION))
        return app_fail(a, status == PB_EINVAL ? EXIT_NOTHING : EXIT_INPUT, "--solution: %s", a->ctx.error.message);
    if (status == PB_EINVAL && app_option(a, OPT_GRAIN))
        return app_usage(a, "--grain: %s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    note_policy(a, &planned.schedule);
    code = show(a, &planned, seconds);
    if (code != EXIT_DONE)
        return code;
    if (progress_interrupted()) {
        app_note(a, planned.certificate ? "interrupted: this is the best plan so far"
                                        : "interrupted before there was a plan");
        return EXIT_INTERRUPTED;
    }
    switch (planned.schedule.outcome) {
    case PB_INFEASIBLE: return EXIT_INFEASIBLE;
    case PB_GAVE_UP: return EXIT_NOTHING;
    default: return addresses_fit(a, &planned) ? EXIT_DONE : EXIT_NOTHING;
    }
}
