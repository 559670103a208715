/* about.c -- what the library offers, as one JSON document. */
#include "api/session/session.h"

#include "pebble/generate.h"
#include "report/metrics_json.h"

#include <string.h>

static void put_piece(pbi_out *out, const char *key, const char *text, size_t length)
{
    char piece[512];
    length = length < sizeof piece ? length : sizeof piece - 1;
    memcpy(piece, text, length);
    piece[length] = '\0';
    pbi_put_text(out, key, piece);
}

static void put_games(pbi_out *out, unsigned games)
{
    const char *join = ",\"games\":[";
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED; kind *= 2)
        if (games & kind) {
            pbi_put_text(out, join, pb_game_kind_name((pb_game_kind)kind));
            join = ",";
        }
    pbi_out_char(out, ']');
}

/* One line per option: "key=default|what it does". */
static void put_options(pbi_out *out, const char *text)
{
    const char *join = "";
    pbi_out_text(out, ",\"options\":[");
    while (*text) {
        size_t key = strcspn(text, "=\n"), value = strcspn(text, "|\n"), line = strcspn(text, "\n");
        pbi_out_text(out, join);
        put_piece(out, "{\"key\":", text, key);
        put_piece(out, ",\"default\":", text + key + 1, value > key ? value - key - 1 : 0);
        put_piece(out, ",\"help\":", text + value + 1, line > value ? line - value - 1 : 0);
        pbi_out_char(out, '}');
        join = ",";
        text += line + (text[line] == '\n');
    }
    pbi_out_char(out, ']');
}

static void put_strategies(pbi_out *out)
{
    uint32_t count;
    const pb_strategy *all = pb_strategies(&count);
    for (uint32_t i = 0; i < count; i++) {
        pbi_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", all[i].name);
        pbi_put_text(out, ",\"summary\":", all[i].summary);
        pbi_out_text(out, all[i].strength == PB_EXACT ? ",\"exact\":true" : ",\"exact\":false");
        pbi_out_text(out, all[i].takes_policy ? ",\"takes_policy\":true" : ",\"takes_policy\":false");
        put_games(out, all[i].games);
        put_options(out, all[i].options);
        pbi_out_char(out, '}');
    }
}

static void put_parameter(pbi_out *out, const pb_param_spec *p)
{
    static const char *const kinds[] = {"integer", "real", "word", "list"};
    pbi_put_text(out, "{\"key\":", p->key);
    pbi_put_text(out, ",\"kind\":", kinds[p->kind]);
    pbi_put_text(out, ",\"default\":", p->default_text);
    pbi_put_text(out, ",\"words\":", p->kind == PB_PARAM_WORD ? p->words : NULL);
    pbi_put_text(out, ",\"help\":", p->help);
    pbi_out_text(out, p->positional ? ",\"positional\":true}" : ",\"positional\":false}");
}

static void put_families(pbi_out *out)
{
    uint32_t count;
    const pb_family *all = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        pbi_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", all[i].name);
        pbi_put_text(out, ",\"help\":", all[i].help);
        pbi_out_text(out, ",\"parameters\":[");
        for (uint32_t k = 0; k < all[i].param_count; k++) {
            pbi_out_text(out, k ? "," : "");
            put_parameter(out, &all[i].params[k]);
        }
        pbi_out_text(out, "]}");
    }
}

static void put_policies(pbi_out *out)
{
    uint32_t count;
    const pb_policy *all = pb_policies(&count);
    for (uint32_t i = 0; i < count; i++) {
        pbi_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", all[i].name);
        pbi_put_text(out, ",\"summary\":", all[i].summary);
        pbi_out_char(out, '}');
    }
}

static void put_machines(pbi_out *out)
{
    for (uint32_t i = 0; i < pb_machine_builtin_count(); i++) {
        pb_machine_summary machine = pb_machine_builtin_at(i);
        pbi_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", machine.name);
        pbi_put_text(out, ",\"summary\":", machine.text);
        pbi_out_char(out, '}');
    }
}

pb_status pb_session_about(pb_session *s)
{
    if (!s)
        return PB_EINVAL;
    pbi_out out;
    pbi_out_init(&out, &s->ctx, pbi_session_write(s));
    pbi_put_text(&out, "{\"version\":", PB_VERSION);
    pbi_put_text(&out, ",\"cbc\":", pb_solver_version());
    pbi_put_text(&out, ",\"cadical\":", pb_sat_version());
    pbi_out_text(&out, ",\"strategies\":[");
    put_strategies(&out);
    pbi_out_text(&out, "],\"policies\":[");
    put_policies(&out);
    pbi_out_text(&out, "],\"families\":[");
    put_families(&out);
    pbi_out_text(&out, "],\"machines\":[");
    put_machines(&out);
    pbi_out_text(&out, "]}\n");
    return pbi_session_end(s, pbi_out_finish(&out));
}
