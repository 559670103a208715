/* handle_about.c -- GET /api/about: strategies, policies, machines, families, the gallery; and GET /api/health. */
#include "common/json_print.h"
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void field(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\":", before, key);
    json_text(out, text);
}

static void print_piece(FILE *out, const char *text, size_t length)
{
    char piece[512];
    snprintf(piece, sizeof piece, "%.*s", length < sizeof piece ? (int)length : (int)sizeof piece - 1, text);
    json_text(out, piece);
}

/* "a|b|c" or "a b c" as a list */
static void print_list(FILE *out, const char *text, const char *separators)
{
    fputc('[', out);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, separators);
        if (at != text)
            fputc(',', out);
        print_piece(out, at, length);
        at += length + (at[length] != '\0');
    }
    fputc(']', out);
}

static void print_games(FILE *out, unsigned games)
{
    const char *join = "";
    fputc('[', out);
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED; kind *= 2)
        if (games & kind) {
            fprintf(out, "%s\"%s\"", join, pb_game_kind_name((pb_game_kind)kind));
            join = ",";
        }
    fputc(']', out);
}

/* "key=default|what it does", a line each */
static void print_options(FILE *out, const char *text)
{
    const char *join = "";
    fputc('[', out);
    while (*text) {
        size_t key = strcspn(text, "=\n"), value = strcspn(text, "|\n"), line = strcspn(text, "\n");
        fprintf(out, "%s{\"key\":", join);
        print_piece(out, text, key);
        fputs(",\"default\":", out);
        print_piece(out, text + key + 1, value > key ? value - key - 1 : 0);
        fputs(",\"help\":", out);
        print_piece(out, text + value + 1, line > value ? line - value - 1 : 0);
        fputc('}', out);
        join = ",";
        text += line + (text[line] == '\n');
    }
    fputc(']', out);
}

static void print_traits(FILE *out, unsigned traits)
{
    static const char *const names[] = {"linear",   "exhaustive", "quick",       "solver",    "any-cap",
                                        "chains",   "trees",      "usual",       "recursion", "recipes",
                                        "compared", "intervals",  "checkpoints", "file"};
    const char *join = "";
    fputs(",\"traits\":[", out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (traits & 1u << i) {
            fprintf(out, "%s\"%s\"", join, names[i]);
            join = ",";
        }
    fputc(']', out);
}

static void print_strategies(FILE *out)
{
    static const char *const strengths[] = {"heuristic", "exact", "portfolio", "baseline", "anytime"};
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    for (uint32_t i = 0; i < count; i++) {
        field(out, i ? ",\n{" : "\n{", "name", rows[i].name);
        field(out, ",", "summary", rows[i].summary);
        fputs(",\"games\":", out);
        print_games(out, rows[i].games);
        field(out, ",", "title", pb_strategy_title(&rows[i]));
        fprintf(out, ",\"strength\":\"%s\",\"takes_policy\":%s,\"options\":", strengths[rows[i].strength],
                rows[i].takes_policy ? "true" : "false");
        print_options(out, rows[i].options);
        print_traits(out, rows[i].traits);
        fputc('}', out);
    }
}

static void print_parameter(FILE *out, const pb_param_spec *p)
{
    static const char *const kinds[] = {"integer", "real", "word", "list"};
    field(out, "{", "key", p->key);
    field(out, ",", "default", p->default_text);
    field(out, ",", "help", p->help);
    fprintf(out, ",\"kind\":\"%s\",\"least\":", kinds[p->kind]);
    json_double(out, p->min);
    fputs(",\"most\":", out);
    json_double(out, p->max);
    fputs(",\"words\":", out);
    print_list(out, p->words ? p->words : "", "|");
    fprintf(out, ",\"main\":%s}", p->positional ? "true" : "false");
}

static void print_families(FILE *out)
{
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        field(out, i ? ",\n{" : "\n{", "name", families[i].name);
        field(out, ",", "help", families[i].help);
        fputs(",\"parameters\":[", out);
        for (uint32_t k = 0; k < families[i].param_count; k++) {
            fputs(k ? ",\n" : "\n", out);
            print_parameter(out, &families[i].params[k]);
        }
        fputs("]}", out);
    }
}

static void print_item(FILE *out, const gallery_item *item)
{
    const char *join = "";
    field(out, "{", "id", item->id);
    field(out, ",", "title", item->title);
    field(out, ",", "text", item->text);
    field(out, ",", "family", item->family);
    fputs(",\"parameters\":{", out);
    for (const char *at = item->parameters; *at;) {
        size_t key = strcspn(at, "="), whole = strcspn(at, " ");
        fputs(join, out);
        print_piece(out, at, key);
        fputc(':', out);
        print_piece(out, at + key + 1, whole - key - 1);
        join = ",";
        at += whole + (at[whole] == ' ');
    }
    field(out, "},", "game", item->game);
    field(out, ",", "cap", item->cap);
    fputs(",\"strategies\":", out);
    print_list(out, item->strategies, " ");
    fputs(",\"beside\":", out);
    print_list(out, item->beside ? item->beside : "", " ");
    fprintf(out, ",\"prices\":%s}", item->prices ? item->prices : "null");
}

/* What --machine and the page's list of machines name. */
static bool print_machines(FILE *out)
{
    pb_context ctx;
    pb_arena arena;
    pb_status status = PB_OK;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    for (uint32_t i = 0; i < pb_machine_builtin_count() && status == PB_OK; i++) {
        const pb_machine *m;
        status = pb_machine_builtin(&ctx, pb_machine_builtin_at(i).name, &arena, &m);
        fputs(i ? ",\n" : "\n", out);
        if (status == PB_OK)
            json_machine(out, m, pb_machine_builtin_at(i).text);
    }
    pb_arena_release(&arena);
    return status == PB_OK;
}

void handle_health(request *r)
{
    unsigned running, waiting;
    text_out text;
    if (!arguments_known(r, ""))
        return;
    queue_counts(&r->s->jobs, &running, &waiting);
    FILE *out = text_begin(&text);
    if (out)
        fprintf(out, "{\"version\":\"" PB_VERSION "\",\"workers\":%u,\"running\":%u,\"waiting\":%u}\n",
                r->s->jobs.worker_count, running, waiting);
    respond_text(r, MHD_HTTP_OK, &text);
}

void handle_about(request *r)
{
    uint32_t count;
    const pb_policy *policies = pb_policies(&count);
    text_out text;
    if (!arguments_known(r, ""))
        return;
    FILE *out = text_begin(&text);
    if (!out) {
        respond_no_memory(r);
        return;
    }
    fputs("{\"version\":\"" PB_VERSION "\",\"libraries\":[", out);
    json_text(out, server_libraries());
    if (pb_solver_version())
        fprintf(out, ",\"Cbc %s\"", pb_solver_version());
    fputs("],\"games\":[\"remat\",\"reversible\",\"tiered\"],\n\"strategies\":[", out);
    print_strategies(out);
    fputs("],\n\"policies\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        field(out, i ? ",{" : "{", "name", policies[i].name);
        field(out, ",", "summary", policies[i].summary);
        fputc('}', out);
    }
    fputs("],\n\"machines\":[", out);
    bool complete = print_machines(out);
    fputs("],\n\"families\":[", out);
    print_families(out);
    fputs("],\n\"gallery\":[", out);
    for (size_t i = 0; i < gallery_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        print_item(out, &gallery[i]);
    }
    fputs("],\n\"opened\":[", out);
    for (int i = 0; i < r->s->opened_count; i++)
        fprintf(out, "%s\"g%llu\"", i ? "," : "", (unsigned long long)r->s->opened[i]);
    fputs("],\"limits\":{\"body\":", out);
    json_u64(out, r->s->options.max_body);
    fprintf(out, ",\"nodes\":%u}}\n", PB_MAX_NODES);
    if (complete) {
        respond_text(r, MHD_HTTP_OK, &text);
        return;
    }
    size_t length;
    free(text_end(&text, &length));
    respond_no_memory(r);
}
