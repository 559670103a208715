/* fit_sizes.c -- see fit_sizes.h. */
#include "fit_sizes.h"

#include "commands.h"
#include "common/figures.h"
#include "common/json_print.h"
#include "files.h"
#include "machine_print.h"
#include "plain_print.h"
#include "settings.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What makes the graph at a size: a family with its parameters, or a model with its dimensions. */
typedef struct source {
    app *a;
    const pb_family *family; /* NULL: a model */
    const char *path, *vary;
    pb_option params[MAX_PARAMS + 4]; /* the varied one first */
    uint32_t param_count;
    pb_read_options how;
    char value[24];
    pb_size_request request;
    pb_sizes found;
} source;

bool fits_sizes(const app *a)
{
    const char *name = a->opts.positional[0];
    size_t length = strcspn(name, ":");
    if (app_option(a, OPT_MACHINE) || app_option(a, OPT_TRAIN))
        return true;
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row row;
        pb_workload_row_of(i, &row);
        if (strlen(row.name) == length && strncmp(row.name, name, length) == 0)
            return false;
    }
    return pb_family_find(name) || pb_format_of_path(name) != PB_FORMAT_AUTO;
}

static pb_status graph_at(void *state, uint64_t value, pb_arena *result, const pb_graph **out)
{
    source *s = state;
    pb_context *ctx = &s->a->ctx;
    pb_file_in in;
    snprintf(s->value, sizeof s->value, "%" PRIu64, value);
    if (s->family)
        return pb_generate(ctx, s->family->name, s->params, s->param_count, result, out);
    if (strcmp(s->vary, "batch") == 0)
        s->how.batch = value;
    pb_status status = pb_file_open(ctx, s->path, &in);
    if (status == PB_OK)
        status = pb_graph_read_with(ctx, pb_file_source(&in), &s->how, result, out);
    return status == PB_EIO ? status : pb_file_close(ctx, s->path, &in, status);
}

static const pb_param_spec *param_of(const pb_family *family, const char *key)
{
    for (uint32_t i = 0; i < family->param_count; i++)
        if (strcmp(family->params[i].key, key) == 0)
            return &family->params[i];
    return NULL;
}

static exit_code add_param(source *s, const char *key, const char *value)
{
    if (strcmp(key, s->vary) == 0)
        return app_usage(s->a, "--%s is what varies; leave it out, or vary another with --vary", key);
    if (!param_of(s->family, key))
        return app_usage(s->a, "%s has no parameter --%s; `pebble gen %s --help` lists them", s->family->name, key,
                         s->family->name);
    s->params[s->param_count++] = (pb_option){key, value};
    return EXIT_DONE;
}

/* --batch, --grads and --optimizer are options of models too. */
static exit_code take_family(source *s)
{
    static const option_id shared[] = {OPT_BATCH, OPT_GRADS, OPT_OPTIMIZER};
    const options *o = &s->a->opts;
    const pb_param_spec *spec = param_of(s->family, s->vary);
    exit_code code = EXIT_DONE;
    if (!spec || spec->kind != PB_PARAM_INTEGER)
        return app_usage(s->a, "%s has no number --%s to vary; choose one with --vary", s->family->name, s->vary);
    s->request.first = spec->min > 1 ? (uint64_t)spec->min : 1;
    s->params[s->param_count++] = (pb_option){s->vary, s->value};
    for (int i = 0; i < 3 && code == EXIT_DONE; i++)
        if (app_option(s->a, shared[i]))
            code = add_param(s, option_specs[shared[i]].name, app_option(s->a, shared[i]));
    for (uint32_t i = 0; i < o->param_count && code == EXIT_DONE; i++)
        code = add_param(s, o->params[i].key, o->params[i].value);
    return code;
}

static exit_code take_model(source *s)
{
    app *a = s->a;
    if (pb_format_of_path(s->path) != PB_FORMAT_ONNX)
        return app_usage(a, "`%s` is neither a family of networks (pebble gen --help) nor an ONNX model (.onnx)",
                         s->path);
    if (a->opts.param_count)
        return app_usage(a, "a model has no parameter --%s; try --dim %s=N", a->opts.params[0].key,
                         a->opts.params[0].key);
    if (!read_options(a, &s->how))
        return EXIT_USAGE;
    s->how.path = s->path;
    if (strcmp(s->vary, "batch") == 0)
        return EXIT_DONE;
    memcpy(s->params, s->how.dims, s->how.dim_count * sizeof *s->params);
    s->params[s->how.dim_count] = (pb_option){s->vary, s->value};
    s->how.dims = s->params;
    s->how.dim_count++;
    return EXIT_DONE;
}

/* The machine and the cap, as for every command that plans. */
static exit_code take_memory(source *s)
{
    app *a = s->a;
    const char *cap = app_option(a, OPT_CAP);
    const pb_graph *g;
    if (cap && pb_size_is_share(cap))
        return app_usage(a, "--cap: expected a size such as 16GiB; the size of the network is not given");
    pb_status status = graph_at(s, s->request.first, &a->arena, &g);
    if (status == PB_ENOMEM || status == PB_ECANCELLED || status == PB_EBUG)
        return app_status(a, status);
    if (status != PB_OK)
        return s->family ? app_usage(a, "%s", a->ctx.error.message)
                         : app_fail(a, EXIT_INPUT, "%s: %s", s->path, a->ctx.error.message);
    pb_game game = PB_GAME_DEFAULT(g);
    exit_code code = setting_game(a, &game);
    s->request.machine = game.graph->priced_by;
    s->request.cap = game.cap;
    if (code == EXIT_DONE && game.cap == PB_UNLIMITED)
        return app_usage(a, "how much memory is there? Try --machine a100-40 (pebble machine list) or --cap 16GiB");
    return code;
}

static exit_code read_source(source *s)
{
    app *a = s->a;
    pb_size_request *r = &s->request;
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one network, as in pebble fit resnet --depth 50 --machine a100-40");
    s->path = a->opts.positional[0];
    s->family = pb_family_find(s->path);
    s->vary = vary_option(a);
    *r = (pb_size_request){.graph = graph_at, .state = s, .first = 1, .plan = PB_REQUEST_DEFAULT};
    r->batches = strcmp(s->vary, "batch") == 0;
    if (!read_overhead(a, &r->max_overhead) || !setting_request(a, &r->plan))
        return EXIT_USAGE;
    r->plan.patient = false; /* --time is for all plans together */
    if (!app_option(a, OPT_TICKS))
        a->ctx.tick_limit = FIT_TICKS;
    exit_code code = s->family ? take_family(s) : take_model(s);
    return code == EXIT_DONE ? take_memory(s) : code;
}

/* ---- text ---- */

/* "1.234 ms" of cost / samples. */
static void each_text(const source *s, uint64_t cost, uint64_t samples, char text[FIGURE_ROOM])
{
    if (samples)
        pb_amount_text((cost + samples / 2) / samples, s->found.cost_unit, text, FIGURE_ROOM);
    else
        snprintf(text, FIGURE_ROOM, "-");
}

static bool add_row(table *t, const source *s, const char *name, const pb_size_point *p, bool bounded)
{
    const pb_sizes *f = &s->found;
    char value[FIGURE_ROOM] = "none", times[FIGURE_ROOM] = "", peak[FIGURE_ROOM] = "-", cost[FIGURE_ROOM] = "-";
    char each[FIGURE_ROOM] = "-", extra[FIGURE_ROOM] = "none";
    if (p->value) {
        snprintf(value, sizeof value, "%" PRIu64 "%s", p->value, bounded ? "" : "+");
        pb_amount_text(p->peak, f->size_unit, peak, sizeof peak);
        pb_amount_text(p->cost, f->cost_unit, cost, sizeof cost);
        if (s->request.batches)
            each_text(s, p->cost, p->value, each);
    }
    if (p->value && f->program.value)
        snprintf(times, sizeof times, "%.2f x", (double)p->value / (double)f->program.value);
    if (p->overhead > 0)
        percent_text(p->overhead, extra);
    const char *cells[] = {name, value, times, peak, cost, extra, each};
    return table_row(t, cells, p == &f->planned ? "1" : NULL);
}

static bool print_rows(app *a, const source *s)
{
    const pb_sizes *f = &s->found;
    const table_column columns[] = {{"", false, 0},         {s->vary, true, 0},    {"", true, 0},
                                    {"memory", true, 0},    {"one step", true, 0}, {"extra for recomputation", true, 0},
                                    {"per sample", true, 0}};
    int column_count = sizeof columns / sizeof *columns;
    table t;
    table_init(&t, &a->arena, columns, s->request.batches ? column_count : column_count - 1);
    t.color = a->color;
    t.width = a->width;
    bool good = add_row(&t, s, "program order", &f->program, f->program_bounded) &&
                add_row(&t, s, "planned", &f->planned, f->planned_bounded);
    table_print(&t, stdout);
    return good;
}

/* Bisection ends with many sizes close to the largest: rows at least 5 % apart, and the largest, are enough. */
static bool shown(const pb_sizes *f, const pb_size_point *p, uint64_t before)
{
    uint64_t best = f->planned.value;
    bool close = p->value > best ? p->value - best < best / 20 : best - p->value < best / 20;
    return p->value == best || (!close && p->value - before >= before / 20);
}

/* What gives as many samples: the plan, smaller batches, or smaller batches whose gradients are accumulated. */
static bool print_parts(app *a, const source *s)
{
    static const table_column columns[] = {{"batch", true, 0},      {"planned, per sample", true, 0},
                                           {"extra", true, 0},      {"accumulated", true, 0},
                                           {"per sample", true, 0}, {"planning against it", true, 0}};
    const pb_sizes *f = &s->found;
    bool good = true;
    uint64_t before = 0;
    table t;
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < f->tried_count && good; i++) {
        const pb_size_point *p = &f->tried[i];
        if (!shown(f, p, before))
            continue;
        before = p->value;
        char value[FIGURE_ROOM], planned[FIGURE_ROOM], extra[FIGURE_ROOM], parts[FIGURE_ROOM], each[FIGURE_ROOM];
        char change[FIGURE_ROOM];
        double ours = (double)p->cost / (double)p->value, theirs = (double)p->parts_cost / (double)(p->parts * p->part);
        snprintf(value, sizeof value, "%" PRIu64, p->value);
        each_text(s, p->cost, p->value, planned);
        percent_text(p->overhead, extra);
        snprintf(parts, sizeof parts, "%" PRIu64 " x %" PRIu64, p->parts, p->part);
        each_text(s, p->parts_cost, p->parts * p->part, each);
        snprintf(change, sizeof change, "%+.1f %%", 100 * (ours / theirs - 1));
        const char *cells[] = {value, planned, extra, parts, each, change};
        good = table_row(&t, cells, p->fits ? NULL : "2");
    }
    table_print(&t, stdout);
    return good;
}

static void print_break_even(app *a, const source *s)
{
    const pb_sizes *f = &s->found;
    char text[4 * FIGURE_ROOM], small[FIGURE_ROOM];
    each_text(s, f->program.cost, f->program.value, small);
    int used =
        snprintf(text, sizeof text, "batch %" PRIu64 " without a plan takes %s per sample. ", f->program.value, small);
    if (f->break_even)
        snprintf(text + used, sizeof text - (size_t)used,
                 "Break-even: up to batch %" PRIu64 ", a plan takes no more time than accumulated gradients",
                 f->break_even);
    else
        snprintf(text + used, sizeof text - (size_t)used,
                 "Break-even: none of these; accumulated gradients take less time than a plan");
    putchar('\n');
    print_wrapped(stdout, text, 0, 0, a->width);
}

/* What to try if nothing fits. */
static void print_nothing(app *a, const source *s)
{
    char peak[FIGURE_ROOM], text[4 * FIGURE_ROOM];
    pb_amount_text(s->found.first_peak, s->found.size_unit, peak, sizeof peak);
    snprintf(text, sizeof text,
             "%s=%" PRIu64 " takes %s in program order. Allow more recomputation with --max-overhead, or more memory",
             s->vary, s->request.first, peak);
    putchar('\n');
    print_wrapped(stdout, text, 0, 0, a->width);
}

static bool print_text(app *a, const source *s)
{
    const pb_size_request *r = &s->request;
    char cap[FIGURE_ROOM], most[FIGURE_ROOM] = "the time of one forward pass";
    pb_amount_text(r->cap, "byte", cap, sizeof cap);
    if (r->machine)
        size_text(r->machine, r->cap, cap);
    if (r->max_overhead >= 0)
        percent_text(r->max_overhead, most);
    print_line(stdout, "%s%s%s: the largest %s in %s, with at most %s extra for recomputation", s->path,
               r->machine ? " on " : "", r->machine ? r->machine->name : "", s->vary, cap, most);
    putchar('\n');
    bool good = print_rows(a, s);
    if (good && r->batches && s->found.tried_count && s->found.program.value && !s->found.stopped) {
        putchar('\n');
        good = print_parts(a, s);
        print_break_even(a, s);
    }
    if (!s->found.planned.value && !s->found.stopped)
        print_nothing(a, s);
    return good;
}

/* ---- JSON ---- */

static void count(const char *key, uint64_t value)
{
    printf(",\"%s\":", key);
    json_u64(stdout, value);
}

static void print_json_point(const pb_size_point *p)
{
    fputs("{\"value\":", stdout);
    json_u64(stdout, p->value);
    count("peak", p->peak);
    count("cost", p->cost);
    fputs(",\"overhead\":", stdout);
    json_double(stdout, p->overhead);
    fputs(",\"strategy\":", stdout);
    json_text(stdout, p->strategy);
    printf(",\"fits\":%s", p->fits ? "true" : "false");
    if (p->parts) {
        count("parts", p->parts);
        count("part", p->part);
        count("parts_cost", p->parts_cost);
    }
    putchar('}');
}

static void print_json(const source *s)
{
    const pb_sizes *f = &s->found;
    fputs("{\"network\":", stdout);
    json_text(stdout, s->path);
    fputs(",\"machine\":", stdout);
    json_text(stdout, s->request.machine ? s->request.machine->name : NULL);
    fputs(",\"option\":", stdout);
    json_text(stdout, s->vary);
    count("cap", s->request.cap);
    fputs(",\"cost_unit\":", stdout);
    json_text(stdout, f->cost_unit);
    fputs(",\"size_unit\":", stdout);
    json_text(stdout, f->size_unit);
    fputs(",\"max_overhead\":", stdout);
    if (s->request.max_overhead < 0)
        json_text(stdout, "forward");
    else
        json_double(stdout, s->request.max_overhead);
    fputs(",\"program_order\":", stdout);
    print_json_point(&f->program);
    printf(",\"program_order_bounded\":%s,\"planned\":", f->program_bounded ? "true" : "false");
    print_json_point(&f->planned);
    printf(",\"planned_bounded\":%s", f->planned_bounded ? "true" : "false");
    count("break_even", f->break_even);
    printf(",\"stopped\":%s,\"tried\":[", f->stopped ? "true" : "false");
    for (uint32_t i = 0; i < f->tried_count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        print_json_point(&f->tried[i]);
    }
    puts("]}");
}

exit_code fit_sizes(app *a)
{
    source s = {.a = a};
    exit_code code = read_source(&s);
    if (code != EXIT_DONE)
        return code;
    void (*log)(void *, const char *) = a->ctx.log;
    a->ctx.log = NULL; /* the reader's notes were printed for the first size */
    progress_planning(&a->progress, true);
    pb_status status = pb_sizes_find(&a->ctx, &s.request, &a->arena, &s.found);
    progress_planning(&a->progress, false);
    a->ctx.log = log;
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        print_json(&s);
    else if (!print_text(a, &s))
        return app_status(a, PB_ENOMEM);
    if (s.found.stopped) {
        app_note(a, "stopped before the end: larger values may fit; allow a longer --time");
        if (progress_interrupted())
            return EXIT_INTERRUPTED;
    }
    return s.found.planned.value ? EXIT_DONE : EXIT_NOTHING;
}
