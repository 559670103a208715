/* help.c -- help as text: examples first, then usage, options and exit codes, all from the tables. */
#include "commands.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 2, NAME_COLUMN = 26, WIDEST_EXAMPLE = 64, HELP_WIDTH = 100 };

static void title(const app *a, const char *text) { printf(a->color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text); }

/* "  left      right, wrapped" */
static void entry(const app *a, const char *left, const char *right, int column)
{
    int width = a->width < HELP_WIDTH ? a->width : HELP_WIDTH;
    int used = INDENT + text_width(left);
    printf("%*s%s", INDENT, "", left);
    if (used + 2 > column) {
        putchar('\n');
        used = 0;
    }
    printf("%*s", column - used, "");
    print_wrapped(stdout, right, column, column, width);
}

static void examples(const app *a, const char *text)
{
    char left[160], right[160];
    int column = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        int width = INDENT + (int)strcspn(at, "\t") + 3;
        if (width > column && width <= WIDEST_EXAMPLE)
            column = width;
    }
    title(a, "Examples");
    while (*text) {
        size_t tab = strcspn(text, "\t"), line = strcspn(text, "\n");
        snprintf(left, sizeof left, "%.*s", (int)tab, text);
        snprintf(right, sizeof right, "%.*s", (int)(line - tab - 1), text + tab + 1);
        entry(a, left, right, column);
        text += line + 1;
    }
}

static void option_list(const app *a, unsigned bit)
{
    title(a, "Options");
    for (int id = 0; id < OPT_COUNT; id++) {
        const option_spec *spec = &option_specs[id];
        char left[80], right[512], letter[8] = "";
        if (!(spec->commands & bit))
            continue;
        if (spec->letter)
            snprintf(letter, sizeof letter, "-%c, ", spec->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, spec->name, spec->argument ? " " : "",
                 spec->argument ? spec->argument : "");
        if (spec->default_text)
            snprintf(right, sizeof right, "%s (default: %s)", spec->help, spec->default_text);
        else
            snprintf(right, sizeof right, "%s", spec->help);
        entry(a, left, right, NAME_COLUMN);
    }
}

static void strategy_list(const app *a)
{
    uint32_t count;
    const pb_strategy *all = pb_strategies(&count);
    title(a, "Strategies");
    for (uint32_t i = 0; i < count; i++) {
        char right[512];
        int used = snprintf(right, sizeof right, "%s", all[i].summary);
        if ((all[i].games & PB_GAME_ALL) != PB_GAME_ALL) {
            const char *join = " [";
            for (unsigned bit = 1; bit <= PB_GAME_TIMED; bit *= 2)
                if (all[i].games & bit) {
                    used += snprintf(right + used, sizeof right - (size_t)used, "%s%s", join,
                                     pb_game_kind_name((pb_game_kind)bit));
                    join = ", ";
                }
            snprintf(right + used, sizeof right - (size_t)used, "]");
        }
        entry(a, all[i].name, right, NAME_COLUMN);
        /* Its options: "key=default|what it does", one per line. */
        for (const char *line = all[i].options; line && *line;) {
            char left[80], help[256];
            size_t bar = strcspn(line, "|\n"), end = strcspn(line, "\n");
            snprintf(left, sizeof left, "  :%.*s", (int)bar, line);
            snprintf(help, sizeof help, "%.*s", (int)(end > bar ? end - bar - 1 : 0), line + bar + (end > bar));
            entry(a, left, help, NAME_COLUMN);
            line += end + (line[end] == '\n');
        }
    }
    const pb_policy *policies = pb_policies(&count);
    title(a, "Policies");
    for (uint32_t i = 0; i < count; i++)
        entry(a, policies[i].name, policies[i].summary, NAME_COLUMN);
}

static void workload_list(const app *a)
{
    title(a, "Workloads");
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row row;
        char right[512];
        pb_workload_row_of(i, &row);
        snprintf(right, sizeof right, "%s%s%s%s", row.summary, row.needs ? " [" : "", row.needs ? row.needs : "",
                 row.needs ? "]" : "");
        entry(a, row.name, right, NAME_COLUMN);
        for (uint32_t k = 0; k < row.option_count; k++) {
            char left[80];
            snprintf(left, sizeof left, "  :%s=%s", row.options[k].key, row.options[k].fallback);
            entry(a, left, row.options[k].help, NAME_COLUMN);
        }
    }
}

static void exit_list(const app *a, const char *codes)
{
    title(a, "Exit codes");
    for (int i = 0; i < exit_text_count; i++) {
        exit_code code = exit_texts[i].code;
        char left[8];
        char digit = code == EXIT_INTERRUPTED ? 'I' : (char)('0' + code);
        if (codes && code > EXIT_USAGE && !strchr(codes, digit))
            continue;
        snprintf(left, sizeof left, "%d", (int)code);
        entry(a, left, exit_texts[i].text, 8);
    }
}

static void param_text(const pb_param_spec *p, char *text, size_t room)
{
    if (p->kind == PB_PARAM_WORD)
        snprintf(text, room, "%s: %s (default: %s)", p->help, p->words, p->default_text);
    else
        snprintf(text, room, "%s (default: %s)", p->help, p->default_text);
}

static void help_family(const app *a, const pb_family *f)
{
    char positional[160] = "", right[400], left[80];
    printf("pebble gen %s: %s\n", f->name, f->help);
    title(a, "Usage");
    for (uint32_t i = 0; i < f->param_count; i++)
        if (f->params[i].positional)
            snprintf(positional + strlen(positional), sizeof positional - strlen(positional), " [%s]",
                     f->params[i].key);
    printf("  pebble gen %s%s [--PARAMETER VALUE...] [-o FILE] [--format json|dot|csv]\n", f->name, positional);
    title(a, "Parameters");
    for (uint32_t i = 0; i < f->param_count; i++) {
        snprintf(left, sizeof left, "--%s %s", f->params[i].key,
                 f->params[i].kind == PB_PARAM_WORD   ? "WORD"
                 : f->params[i].kind == PB_PARAM_LIST ? "LIST"
                 : f->params[i].kind == PB_PARAM_REAL ? "X"
                                                      : "N");
        param_text(&f->params[i], right, sizeof right);
        entry(a, left, right, NAME_COLUMN);
    }
}

static void family_list(const app *a)
{
    uint32_t count;
    const pb_family *families = pb_families(&count);
    title(a, "Families");
    for (uint32_t i = 0; i < count; i++)
        entry(a, families[i].name, families[i].help, NAME_COLUMN);
}

static void help_overview(const app *a)
{
    puts("pebble plans a computation under a memory cap: which values to keep, to free and\n"
         "recompute, to uncompute or to move to slow memory, so that the extra work is small.");
    title(a, "Start here");
    entry(a, "pebble gen adjoint-chain 30 -o g.json", "make an example graph", 46);
    entry(a, "pebble info g.json", "how much memory it needs", 46);
    entry(a, "pebble compare g.json --cap 40%", "all strategies, under 40 % of that memory", 46);
    entry(a, "pebble plan g.json --cap 40% -o plan.json", "the best plan, verified, in a file", 46);
    entry(a, "pebble explain g.json plan.json", "why values are kept or recomputed", 46);
    title(a, "Commands");
    for (int i = 0; i < command_count; i++)
        entry(a, commands[i].name, commands[i].summary, 14);
    exit_list(a, NULL);
    puts("\nRun `pebble COMMAND --help` for the options of a command. `-` is standard input or output.");
}

void help_command(app *a, const command *c)
{
    if (!c) {
        help_overview(a);
        return;
    }
    if (c->bit == ON_GEN && a->opts.positional_count > 0) {
        const pb_family *family = pb_family_find(a->opts.positional[0]);
        if (family) {
            help_family(a, family);
            return;
        }
    }
    printf("pebble %s: %s\n", c->name, c->summary);
    examples(a, c->examples);
    title(a, "Usage");
    for (const char *line = c->usage; *line;) {
        size_t length = strcspn(line, "\n");
        printf("%*s%.*s\n", INDENT, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (c->details) {
        printf("\n%*s", INDENT, "");
        print_wrapped(stdout, c->details, INDENT, INDENT, a->width < HELP_WIDTH ? a->width : HELP_WIDTH);
    }
    if (c->bit == ON_GEN)
        family_list(a);
    option_list(a, c->bit);
    if (c->bit & (ON_PROFILE | ON_RUN | ON_FIT))
        workload_list(a);
    if (c->bit == ON_PLAN || c->bit == ON_COMPARE || c->bit == ON_SWEEP)
        strategy_list(a);
    exit_list(a, c->codes);
}

exit_code cmd_help(app *a)
{
    static const char *const forms[] = {"text", "man", "bash", "zsh", "fish"};
    const char *form = app_option(a, OPT_AS);
    const char *name = a->opts.positional_count ? a->opts.positional[0] : NULL;
    const command *c = name ? command_find(name) : NULL;
    if (name && !c)
        return unknown_command(a, name);
    if (!form || strcmp(form, "text") == 0) {
        if (c && c->bit == ON_GEN && a->opts.positional_count > 1)
            a->opts.positional[0] = a->opts.positional[1]; /* pebble help gen tree */
        else
            a->opts.positional_count = 0;
        help_command(a, c);
    } else if (strcmp(form, "man") == 0) {
        help_manual();
    } else if (strcmp(form, "bash") == 0) {
        help_complete_bash();
    } else if (strcmp(form, "zsh") == 0) {
        help_complete_zsh();
    } else if (strcmp(form, "fish") == 0) {
        help_complete_fish();
    } else {
        const char *near = nearest_name(form, forms, 5);
        return near ? app_usage(a, "--as: there is no form `%s`; did you mean %s?", form, near)
                    : app_usage(a, "--as: there is no form `%s`; choose text, man, bash, zsh or fish", form);
    }
    return EXIT_DONE;
}
