/* cmd_machine.c -- pebble machine: the machines that come with pebble, and what is in one. */
#include "commands.h"
#include "common/figures.h"
#include "common/json_print.h"
#include "common/output.h"
#include "files.h"
#include "machine_print.h"
#include "plain_print.h"
#include "settings.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 64 };

/* ---- list ---- */

static const pb_machine_rate *find_rate(const pb_machine_processor *p, const char *key)
{
    for (uint32_t i = 0; i < p->rate_count; i++)
        if (strcmp(p->rates[i].key, key) == 0)
            return &p->rates[i];
    return NULL;
}

static bool add_machine(app *a, table *t, pb_machine_summary s)
{
    const pb_machine *m;
    char text[4][FIGURE_ROOM] = {"", "", "", ""};
    if (pb_machine_builtin(&a->ctx, s.name, &a->arena, &m) != PB_OK)
        return false;
    const pb_machine_processor *p = &m->processors[0];
    const pb_machine_rate *rates[] = {find_rate(p, "float32"), find_rate(p, "bfloat16")};
    size_text(m, m->memories[0].cap, text[0]);
    for (int i = 0; i < 2; i++)
        if (rates[i])
            rate_text(rates[i]->per_second, text[1 + i]);
    if (p->bandwidth)
        rate_text(p->bandwidth, text[3]);
    const char *cells[] = {s.name, text[0], text[1], text[2], text[3], s.text};
    return table_row(t, cells, NULL);
}

static exit_code list_json(void)
{
    fputs("{\"machines\":[", stdout);
    for (uint32_t i = 0; i < pb_machine_builtin_count(); i++) {
        pb_machine_summary s = pb_machine_builtin_at(i);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", stdout);
        json_text(stdout, s.name);
        fputs(",\"text\":", stdout);
        json_text(stdout, s.text);
        putchar('}');
    }
    puts("]}");
    return EXIT_DONE;
}

static exit_code machine_list(app *a)
{
    static const table_column columns[] = {{"machine", false, 0},   {"memory", true, 0},  {"float32/s", true, 0},
                                           {"bfloat16/s", true, 2}, {"bytes/s", true, 0}, {"", false, 1}};
    table t;
    if (a->opts.positional_count > 1)
        return app_usage(a, "`pebble machine list` takes no names; use `pebble machine show %s`",
                         a->opts.positional[1]);
    if (app_option(a, OPT_JSON))
        return list_json();
    table_init(&t, &a->arena, columns, 6);
    t.color = a->color;
    t.width = a->width;
    t.fit = a->terminal;
    for (uint32_t i = 0; i < pb_machine_builtin_count(); i++)
        if (!add_machine(a, &t, pb_machine_builtin_at(i)))
            return app_status(a, PB_ENOMEM);
    table_print(&t, stdout);
    puts("\nNAME*4 is four of them, with links between neighbours and to the host. Times follow from what kernels\n"
         "reach of these peaks: `pebble machine show NAME`, docs/machines.md.");
    return EXIT_DONE;
}

/* ---- show ---- */

static void print_memories(const pb_machine *m)
{
    char cap[FIGURE_ROOM], reserve[FIGURE_ROOM];
    puts("memories");
    for (uint32_t i = 0; i < m->memory_count; i++) {
        const pb_machine_memory *memory = &m->memories[i];
        size_text(m, memory->cap, cap);
        size_text(m, memory->reserve, reserve);
        print_line(stdout, "  %-12s %s%s%s%s", memory->name, cap, memory->reserve ? ", " : "",
                   memory->reserve ? reserve : "", memory->reserve ? " always in use" : "");
    }
}

/* Adds a key that is not in the list yet. */
static void add_key(const char *keys[MAX_KEYS], uint32_t *count, const char *key)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(keys[i], key) == 0)
            return;
    if (*count < MAX_KEYS)
        keys[(*count)++] = key;
}

/* The operation of "conv/float32" in the arena; NULL for a type alone. */
static const char *operation_of(app *a, const char *key)
{
    const char *slash = strchr(key, '/');
    return slash ? pb_arena_text(&a->arena, key, (size_t)(slash - key)) : NULL;
}

static void rate_cell(const pb_machine_rate *rates, uint32_t count, const char *key, char text[FIGURE_ROOM])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rates[i].key, key) == 0)
            rate_text(rates[i].per_second, text);
}

/* A row for each operation, a column for each type and one for the bandwidth. The first row is for all others. */
static bool print_rates(app *a, const pb_machine_processor *p)
{
    const char *types[MAX_KEYS], *ops[MAX_KEYS] = {"any other"};
    table_column columns[MAX_COLUMNS] = {{"operation", false, 0}};
    uint32_t type_count = 0, op_count = 1;
    table t;
    for (uint32_t i = 0; i < p->rate_count; i++)
        if (!strchr(p->rates[i].key, '/') && type_count + 2 < MAX_COLUMNS)
            add_key(types, &type_count, p->rates[i].key);
    for (uint32_t i = 0; i < p->rate_count; i++) {
        const char *op = operation_of(a, p->rates[i].key);
        if (op)
            add_key(ops, &op_count, op);
    }
    for (uint32_t i = 0; i < p->bandwidth_count; i++)
        add_key(ops, &op_count, p->bandwidths[i].key);
    for (uint32_t i = 0; i < type_count; i++)
        columns[1 + i] = (table_column){types[i], true, 0};
    columns[1 + type_count] = (table_column){"bytes/s", true, 0};
    table_init(&t, &a->arena, columns, (int)type_count + 2);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t o = 0; o < op_count; o++) {
        char text[MAX_COLUMNS][FIGURE_ROOM], key[PB_MACHINE_KEY];
        const char *cells[MAX_COLUMNS] = {ops[o]};
        for (uint32_t i = 0; i < type_count; i++) {
            snprintf(key, sizeof key, o ? "%s/%s" : "%.0s%s", ops[o], types[i]);
            rate_cell(p->rates, p->rate_count, key, text[i]);
            cells[1 + i] = text[i];
        }
        rate_cell(p->bandwidths, p->bandwidth_count, ops[o], text[type_count]);
        if (!o && p->bandwidth)
            rate_text(p->bandwidth, text[type_count]);
        cells[1 + type_count] = text[type_count];
        if (!table_row(&t, cells, NULL))
            return false;
    }
    table_print(&t, stdout);
    return true;
}

static bool print_processors(app *a, const pb_machine *m)
{
    char overhead[FIGURE_ROOM];
    puts("processors");
    for (uint32_t i = 0; i < m->processor_count; i++) {
        const pb_machine_processor *p = &m->processors[i];
        bool alike = i && p->rates == m->processors[0].rates; /* devices of a built-in machine */
        amount_text(p->overhead, m->time_unit, overhead);
        print_line(stdout, "  %-12s in %s, %s for each computation%s%s", p->name, m->memories[p->memory].name, overhead,
                   alike ? ", rates as " : "", alike ? m->processors[0].name : "");
        if (alike || (!p->rate_count && !p->bandwidth))
            continue;
        putchar('\n');
        if (!print_rates(a, p))
            return false;
        putchar('\n');
    }
    return true;
}

static void print_links(const pb_machine *m)
{
    char latency[FIGURE_ROOM], bandwidth[FIGURE_ROOM], per_unit[FIGURE_ROOM];
    if (m->link_count)
        puts("links");
    for (uint32_t i = 0; i < m->link_count; i++) {
        const pb_machine_link *l = &m->links[i];
        amount_text(l->latency, m->time_unit, latency);
        amount_text(l->per_unit, m->time_unit, per_unit);
        rate_text(l->bandwidth, bandwidth);
        print_line(stdout, "  %-12s %s to %s: %s%s%s%s%s%s", l->name, m->memories[l->from].name,
                   m->memories[l->to].name, latency, l->bandwidth ? " and " : "", l->bandwidth ? bandwidth : "",
                   l->bandwidth ? "B/s" : "", l->per_unit ? " and per unit of size " : "", l->per_unit ? per_unit : "");
    }
}

static exit_code machine_show(app *a)
{
    const pb_machine *m;
    pb_settings s = {.wrong = PB_SETTING_COUNT};
    file_out out;
    if (a->opts.positional_count != 2)
        return app_usage(a, "expected one machine, as in pebble machine show a100-40");
    exit_code code = setting_code(a, &s, pb_machine_find(&a->ctx, a->opts.positional[1], false, &a->arena, &m));
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_OUTPUT) || app_option(a, OPT_JSON))
        return file_create(a, app_option(a, OPT_OUTPUT), &out)
                   ? file_finish(a, &out, pb_machine_write(&a->ctx, m, file_sink(&out)))
                   : EXIT_FAILED;
    print_line(stdout, "%s%s%s", m->name, m->per_second ? "" : ", an abstract clock in ",
               m->per_second ? "" : m->time_unit);
    print_memories(m);
    if (!print_processors(a, m))
        return app_status(a, PB_ENOMEM);
    print_links(m);
    return EXIT_DONE;
}

static const struct {
    const char *name;
    exit_code (*run)(app *a);
} parts[] = {{"list", machine_list},
             {"show", machine_show},
             {"measure", machine_measure},
             {"rescale", machine_rescale},
             {"fit", machine_fit}};
enum { PARTS = sizeof parts / sizeof *parts };

exit_code cmd_machine(app *a)
{
    const char *names[PARTS], *name = a->opts.positional_count ? a->opts.positional[0] : NULL;
    if (!name)
        return app_usage(a, "expected what to do: list, show, measure, rescale or fit, as in pebble machine list");
    for (int i = 0; i < PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(name, parts[i].name) == 0)
            return parts[i].run(a);
    }
    const char *near = nearest_name(name, names, PARTS);
    if (near)
        return app_usage(a, "there is no `pebble machine %s`; did you mean %s?", name, near);
    return app_usage(
        a, "there is no `pebble machine %s`; use list, show, measure, rescale or fit, as in pebble machine show %s",
        name, name);
}
