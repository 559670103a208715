/* given.c -- the files that strategies plan: schedules, lists of computations, lists of values to keep. */
#include "api/pipeline/pipeline.h"

#include "base/context.h"
#include "base/list_lines.h"
#include "pebble/io.h"
#include "plan/sequence/sequence.h"
#include "plan/strategy.h"

#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 16 };

static const char *file_of(const pbi_spec *spec)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < spec->option_count; i++)
        if (strcmp(spec->options[i].key, "file") == 0)
            name = spec->options[i].value;
    return name && strcmp(name, "none") != 0 ? name : NULL;
}

static pb_status read_disk(pb_context *ctx, pb_arena *arena, pbi_given *given)
{
    pb_file_in in;
    pb_buffer text;
    char *piece = pb_arena_alloc(arena, PIECE, 1);
    pb_buffer_init(&text, arena);
    pb_sink sink = pb_sink_buffer(&text);
    pb_status status = piece ? pb_file_open(ctx, given->name, &in) : PB_ENOMEM;
    if (status != PB_OK)
        return status;
    pb_source source = pb_file_source(&in);
    for (size_t got = 1; status == PB_OK && got;) {
        status = source.read(source.state, piece, PIECE, &got);
        if (status == PB_OK && got)
            status = sink.write(sink.state, piece, got);
    }
    given->text = text.bytes ? text.bytes : "";
    given->length = text.length;
    return pb_file_close(ctx, given->name, &in, status);
}

static pb_status read_text(pb_context *ctx, const pb_request *request, pb_arena *arena, pbi_given *given)
{
    for (uint32_t i = 0; i < request->file_count; i++)
        if (strcmp(request->files[i].name, given->name) == 0) {
            given->text = request->files[i].text;
            given->length = request->files[i].length;
            return PB_OK;
        }
    if (request->read_files)
        return read_disk(ctx, arena, given);
    return pbi_fail(ctx, PB_EINVAL, "the file %.200s was not passed along; send it with the request", given->name);
}

/* ---- a list of computations ---- */

typedef struct lister {
    pb_context *ctx;
    const pb_graph *g;
    const char *file;
    unsigned line;
    bool *computed;
    pbi_sequence s;
} lister;

static pb_status no_node(const lister *l, const char *word)
{
    const pb_graph *g = l->g;
    pb_arena scratch;
    const char *near = NULL;
    pb_arena_init(&scratch, l->ctx);
    const char **names = pb_arena_alloc(&scratch, g->node_count, sizeof *names);
    for (pb_node v = 0; names && v < g->node_count; v++)
        names[v] = pb_graph_name(g, v);
    if (names)
        near = pb_nearest_name(word, names, g->node_count);
    pb_arena_release(&scratch);
    return pbi_fail(l->ctx, PB_EFORMAT, "%.200s:%u: there is no node `%.60s`; %s%.60s%s", l->file, l->line, word,
                    near ? "did you mean " : "expected a schedule, or a node's name or index in each line",
                    near ? near : "", near ? "?" : "");
}

static pb_status add_computation(lister *l, const char *word)
{
    const pb_graph *g = l->g;
    pb_node v = pb_graph_find(g, word);
    if (v == PB_NO_NODE)
        return no_node(l, word);
    if (g->flags[v] & PB_NODE_GIVEN)
        return pbi_fail(l->ctx, PB_EFORMAT, "%.200s:%u: %.60s is given, not computed; leave it out", l->file, l->line,
                        word);
    v = pb_graph_maker(g, v);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = pb_graph_maker(g, g->in[k]);
        if (!(g->flags[g->in[k]] & PB_NODE_GIVEN) && !l->computed[u])
            return pbi_fail(l->ctx, PB_EFORMAT, "%.200s:%u: %.60s reads %.60s, which no line before computes; add it",
                            l->file, l->line, word, pb_graph_name(g, u));
    }
    l->computed[v] = true;
    return pbi_sequence_add(&l->s, v);
}

static pb_status read_lines(lister *l, const pbi_given *given, pb_arena *scratch)
{
    pbi_lines lines = {.at = given->text, .end = given->text + given->length};
    pb_status status = PB_OK;
    while (status == PB_OK && pbi_lines_next(&lines)) {
        char *word = pb_arena_text(scratch, lines.word, lines.length);
        l->line = lines.number;
        status = word ? add_computation(l, word) : PB_ENOMEM;
    }
    return status;
}

/* Every value is freed after its last use before it is recomputed. */
static pb_status list_moves(pb_context *ctx, const pb_game *game, const pbi_given *given, pb_arena *arena,
                            pb_moves *moves)
{
    pb_arena scratch;
    pbi_plan plan;
    pb_arena_init(&scratch, ctx);
    lister l = {.ctx = ctx, .g = game->graph, .file = given->name};
    l.computed = pb_arena_zero(&scratch, game->graph->node_count, sizeof *l.computed);
    pbi_sequence_init(&l.s, &scratch);
    pbi_plan_reset(&plan, arena);
    pb_status status = l.computed ? read_lines(&l, given, &scratch) : PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &l.s, &plan, NULL);
    pb_arena_release(&scratch);
    *moves = plan.moves;
    return status;
}

/* ---- schedules ---- */

static bool is_list(const pbi_given *given)
{
    size_t at = 0;
    while (at < given->length && (pbi_is_blank(given->text[at]) || given->text[at] == '\n'))
        at++;
    bool binary = given->length && given->text[0] == '\x89'; /* no name in UTF-8 begins like that */
    return !binary && (at == given->length || given->text[at] != '{');
}

static pb_status file_moves(pb_context *ctx, const pb_graph *g, pbi_given *given, pb_arena *arena, pb_moves *moves)
{
    char hash[PB_HASH_TEXT], why[sizeof ctx->error.message];
    pb_schedule s;
    pb_memory memory = {given->text, given->length, 0};
    pb_status status = pb_schedule_read(ctx, pb_source_memory(&memory), PB_FORMAT_AUTO, g, arena, &s);
    if (status == PB_EFORMAT || status == PB_EGRAPH || status == PB_ERANGE) {
        snprintf(why, sizeof why, "%s", ctx->error.message);
        return pbi_fail(ctx, PB_EFORMAT, "%.200s: %.400s", given->name, why);
    }
    if (status == PB_OK)
        status = pb_graph_hash(ctx, g, hash);
    if (status != PB_OK)
        return status;
    if (!(s.game & PB_GAME_ALL))
        return pbi_fail(ctx, PB_EFORMAT,
                        "%.200s is a plan of the %s game; use one of the remat, reversible or tiered game", given->name,
                        pb_game_kind_name(s.game));
    if (s.graph_hash[0] && strcmp(s.graph_hash, hash) != 0)
        return pbi_fail(ctx, PB_EFORMAT,
                        "%.200s was made for another graph (%.80s): the hashes differ; pass the graph that it was made "
                        "for, read with the same options",
                        given->name, s.graph_name && s.graph_name[0] ? s.graph_name : "without a name");
    given->game = s.game;
    *moves = s.moves;
    return PB_OK;
}

/* Replays the moves without a cap; what is illegal then is wrong in any comparison. */
static pb_status check(pb_context *ctx, const pb_game *open, const pb_moves *moves, pb_arena *arena, pbi_given *given)
{
    char text[400];
    pb_verdict verdict;
    pb_status status = pb_verify(ctx, open, moves, arena, &verdict);
    if (status != PB_OK)
        return status;
    if (verdict.certificate) {
        given->moves = moves;
        given->peak = pb_certificate_totals(verdict.certificate)->peak;
        return PB_OK;
    }
    pb_verdict_text(open, moves, &verdict, text, sizeof text);
    given->wrong = pb_arena_text(arena, text, strlen(text));
    return given->wrong ? PB_OK : PB_ENOMEM;
}

pb_status pbi_given_read(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *arena,
                         pbi_spec *spec)
{
    const char *name = file_of(spec);
    if (!(spec->row->traits & PB_TRAIT_FILE) || !name || spec->given)
        return PB_OK;
    pbi_given *given = pb_arena_zero(arena, 1, sizeof *given);
    pb_moves *moves = pb_arena_zero(arena, 1, sizeof *moves);
    if (!given || !moves)
        return PB_ENOMEM;
    given->name = name;
    given->game = PB_GAME_REMAT;
    pb_game open = *game;
    open.cap = PB_UNLIMITED;
    open.kind = PB_GAME_REMAT;
    pb_status status = read_text(ctx, request, arena, given);
    if (status == PB_OK && (spec->row->traits & PB_TRAIT_MOVES)) {
        status = is_list(given) ? list_moves(ctx, &open, given, arena, moves)
                                : file_moves(ctx, game->graph, given, arena, moves);
        open.kind = given->game;
        if (status == PB_OK)
            status = check(ctx, &open, moves, arena, given);
    }
    if (status == PB_OK)
        spec->given = given;
    return status;
}

bool pbi_spec_plays(const pbi_spec *spec, pb_game_kind kind)
{
    bool plays = spec->row->games & (unsigned)kind;
    if (!spec->given || !(spec->row->traits & PB_TRAIT_MOVES))
        return plays;
    return kind == spec->given->game || (kind == PB_GAME_TIERED && spec->given->game == PB_GAME_REMAT);
}

pb_status pb_start_read(pb_context *ctx, const pb_game *game, const char *path, pb_arena *result, const pb_moves **out)
{
    pb_request request = {.read_files = true};
    pbi_spec spec = {.row = pbi_strategy_with(PB_GAME_ALL, PB_HEURISTIC, PB_TRAIT_FILE | PB_TRAIT_MOVES, 0)};
    spec.options[spec.option_count++] = (pb_option){"file", path};
    pb_status status = pbi_given_read(ctx, game, &request, result, &spec);
    if (status != PB_OK)
        return status;
    if (!spec.given)
        return pbi_fail(ctx, PB_EINVAL, "expected a file with a plan, not `%.60s`", path);
    if (!spec.given->moves)
        return pbi_fail(ctx, PB_EINVAL, "%.200s is not a legal plan: %.300s", path, spec.given->wrong);
    if (!pbi_spec_plays(&spec, game->kind))
        return pbi_fail(ctx, PB_EINVAL, "%.200s is a plan of the %s game; use --game %s", path,
                        pb_game_kind_name(spec.given->game), pb_game_kind_name(spec.given->game));
    *out = spec.given->moves;
    return PB_OK;
}
