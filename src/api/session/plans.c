/* plans.c -- plans for other languages: make them, judge them, return them as arrays and texts; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "pebble/io.h"
#include "pebble/report.h"
#include "report/walk.h"

#include <stdio.h>
#include <string.h>

static pb_status wrong(pb_session *s, const char *sentence) { return pbi_fail(&s->ctx, PB_EINVAL, "%s", sentence); }

/* ---- planning ---- */

/* The plan to start from must be for this game, and for this graph or another copy of it. */
static pb_status take_start(pb_session *s, const pb_game *game, const pb_plan_result *start, pb_request *request)
{
    char hash[PB_HASH_TEXT];
    pb_status status = PB_OK;
    if (!start)
        return PB_OK;
    if (!start->certificate)
        return wrong(s, "the result to start from has no plan; pass one with a plan");
    if (start->game->graph != game->graph)
        status = pb_graph_hash(&s->ctx, game->graph, hash);
    if (status != PB_OK)
        return status;
    if (start->game->graph != game->graph && strcmp(hash, start->schedule.graph_hash) != 0)
        return wrong(s, "the plan to start from is for another graph; pass one for this graph");
    if (start->game->kind != game->kind)
        return pbi_fail(&s->ctx, PB_EINVAL, "the plan to start from is for the %s game; pass one for this game",
                        pb_game_kind_name(start->game->kind));
    request->start = &start->schedule.moves;
    return PB_OK;
}

pb_status pb_session_plan(pb_session *s, const pb_graph *g, const pb_plan_result *start, const pb_plan_result **out)
{
    if (!s)
        return PB_EINVAL;
    pb_game game;
    pb_request request;
    pb_event_handler handler;
    pb_plan_result *p = pb_arena_zero(&s->arena, 1, sizeof *p);
    pb_status status = p ? pbi_session_begin(s) : PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_take_game(s, g, &game);
    if (status == PB_OK)
        status = pbi_take_request(s, &request, &handler);
    if (status == PB_OK)
        status = take_start(s, &game, start, &request);
    request.prove = request.find_least = true;
    if (status == PB_OK)
        status = pb_plan(&s->ctx, &game, &request, &s->arena, p);
    if (status == PB_OK)
        *out = p;
    return pbi_session_finish(s, status);
}

/* ---- judging ---- */

static pb_status add_move(pb_session *s, const uint32_t *row, const uint32_t *also, uint64_t count)
{
    uint32_t op = row[0], node = row[1], place = row[2], over = row[3];
    if (op >= PB_OP_COUNT)
        return wrong(s, "expected the number of compute, uncompute, free, store, load or drop as a move");
    if (place > PB_MOVE_BORROWED)
        return pbi_fail(&s->ctx, PB_EINVAL, "expected a tier or borrowed memory, at most %d, as the place of a move",
                        PB_MOVE_BORROWED);
    if (count > UINT32_MAX)
        return wrong(s, "a move has more by-products than there are nodes; leave some out");
    if (op == PB_COMPUTE && place == PB_MOVE_BORROWED)
        return pb_moves_add_borrowed(&s->moves, node);
    if (op == PB_COMPUTE)
        return pb_moves_add_compute(&s->moves, node, over, also, (uint32_t)count);
    bool slow = op == PB_STORE || op == PB_LOAD || op == PB_DROP;
    return pb_moves_add(&s->moves, (pb_op)op, node, slow ? (place ? (uint8_t)place : 1) : 0);
}

pb_status pb_session_add_moves(pb_session *s, uint64_t count, const uint32_t *rows, const uint64_t *also_start,
                               const uint32_t *also)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = count && !rows ? wrong(s, "moves need rows of four numbers; pass the array") : PB_OK;
    for (uint64_t i = 0; i < count && status == PB_OK; i++) {
        uint64_t from = also_start ? also_start[i] : 0, to = also_start ? also_start[i + 1] : 0;
        if (to < from || (to > from && !also))
            status = wrong(s, "the starts of the lists of by-products must not decrease; sort the lists by move");
        else
            status = add_move(s, rows + PB_MOVE_FIELDS * i, also ? also + from : NULL, to - from);
    }
    if (status != PB_OK)
        pb_moves_init(&s->moves, &s->arena); /* else those added so far would be judged with the next ones */
    return pbi_session_end(s, status);
}

/* Judges the schedule. Returns it as a plan, and its verdict as text. */
static pb_status judge(pb_session *s, const pb_graph *g, const pb_schedule *schedule, const pb_plan_result **out)
{
    uint64_t any_graph;
    pb_plan_result *p = pb_arena_zero(&s->arena, 1, sizeof *p);
    pb_judgement *j = pb_arena_zero(&s->arena, 1, sizeof *j);
    if (!p || !j)
        return PB_ENOMEM;
    p->schedule = *schedule;
    pb_status status = pbi_take_number(s, PB_SET_any_graph, 0, 1, &any_graph);
    if (status == PB_OK)
        status = pb_judge_all(&s->ctx, g, &p->schedule, any_graph, &s->arena, j);
    if (status == PB_OK)
        status = pb_judgement_json_write(&s->ctx, j, pbi_session_write(s));
    if (status != PB_OK)
        return status;
    p->game = &j->game;
    p->asked = p->schedule.strategy;
    p->certificate = j->verdict.certificate;
    p->failed_step = UINT64_MAX;
    p->failed_node = PB_NO_NODE;
    if (p->certificate) {
        p->schedule.metrics = j->metrics;
        p->schedule.has_metrics = true;
        p->schedule.metrics_stated = 0;
    }
    *out = p;
    return PB_OK;
}

pb_status pb_session_judge_moves(pb_session *s, const pb_graph *g, const pb_plan_result **out)
{
    if (!s)
        return PB_EINVAL;
    pb_game game;
    pbi_session_begin_reading(s);
    pb_status status = pbi_take_game(s, g, &game);
    if (status == PB_OK) {
        pb_schedule schedule = {.graph_name = g->name,
                                .game = game.kind,
                                .cap = game.cap,
                                .borrow = game.borrow,
                                .tier_count = game.tier_count,
                                .machine = game.graph->priced_by,
                                .weights = game.weights,
                                .strategy = "",
                                .threads = 1,
                                .version = PB_VERSION,
                                .outcome = PB_FOUND,
                                .moves = s->moves};
        memcpy(schedule.tiers, game.tiers, sizeof schedule.tiers);
        status = pb_graph_hash(&s->ctx, g, schedule.graph_hash);
        if (status == PB_OK)
            status = judge(s, g, &schedule, out);
    }
    pb_moves_init(&s->moves, &s->arena);
    return pbi_session_finish(s, status);
}

pb_status pb_session_judge_file(pb_session *s, const pb_graph *g, const char *bytes, uint64_t length,
                                const pb_plan_result **out)
{
    if (!s)
        return PB_EINVAL;
    pb_memory memory = {.bytes = bytes ? bytes : "", .length = bytes ? (size_t)length : 0};
    pb_schedule schedule;
    const char *cap = s->settings.text[PB_SET_cap];
    pbi_session_begin_reading(s);
    pb_status status = pb_schedule_read(&s->ctx, pb_source_memory(&memory), PB_FORMAT_AUTO, g, &s->arena, &schedule);
    if (status == PB_OK && schedule.game == PB_GAME_TIMED) /* rows of moves have no times */
        status =
            pbi_fail(&s->ctx, PB_EINVAL,
                     "plans of the timed game cannot be read here; use the command `pebble verify` or `pebble export`");
    if (status == PB_OK && cap)
        if ((status = pb_size_read(&s->ctx, g, cap, &schedule.cap)) != PB_OK)
            pb_error_name(&s->ctx, "cap");
    if (status == PB_OK)
        status = judge(s, g, &schedule, out);
    return pbi_session_finish(s, status);
}

/* ---- back to arrays ---- */

bool pb_result_has_plan(const pb_plan_result *p) { return p->certificate != NULL; }

uint64_t pb_result_move_count(const pb_plan_result *p) { return p->schedule.moves.count; }

uint64_t pb_result_moves(const pb_plan_result *p, uint64_t first, uint64_t room, uint32_t *rows)
{
    const pb_moves *moves = &p->schedule.moves;
    uint64_t count = first < moves->count ? moves->count - first : 0;
    count = count < room ? count : room;
    for (uint64_t i = 0; i < count; i++) {
        const pb_move *m = &moves->move[first + i];
        uint32_t *row = rows + PB_MOVE_FIELDS * i;
        row[0] = m->op;
        row[1] = m->node;
        row[2] = m->flags & PB_MOVE_BORROW ? PB_MOVE_BORROWED : m->tier;
        row[3] = pb_moves_over(moves, first + i);
    }
    return count;
}

uint64_t pb_result_also(const pb_plan_result *p, uint64_t *also_start, uint32_t *also)
{
    const pb_moves *moves = &p->schedule.moves;
    uint64_t used = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        uint32_t count;
        const pb_node *row = pb_moves_also(moves, k, &count);
        if (also_start)
            also_start[k] = used;
        if (also && count)
            memcpy(also + used, row, count * sizeof *also);
        used += count;
    }
    if (also_start)
        also_start[moves->count] = used;
    return used;
}

const char *pb_op_label(uint32_t op) { return op < PB_OP_COUNT ? pb_op_name((pb_op)op) : NULL; }

/* ---- as texts ---- */

static pb_status no_plan(pb_session *s)
{
    return wrong(s, "there is no plan to write; raise the cap or the time limit");
}

static pb_status write_form(pb_session *s, const pb_plan_result *p, const char *name)
{
    const pb_plan_form *form;
    pb_status status = pb_plan_form_find(&s->ctx, name, &form);
    if (status != PB_OK)
        return status;
    return p->certificate ? form->write(&s->ctx, p->certificate, &p->schedule, pbi_session_write(s)) : no_plan(s);
}

pb_status pbi_plan_reason(pb_session *s, const pb_plan_result *p, char *text, size_t room)
{
    char least[512];
    uint64_t peak;
    text[0] = '\0';
    if (!p->certificate)
        pb_result_reason(p, p->game, text, room < 512 ? room : 512);
    if (p->certificate || !p->least)
        return PB_OK;
    pb_status status = pb_graph_program_peak(&s->ctx, p->game->graph, &peak);
    if (status != PB_OK)
        return status;
    pb_least_fact_text(p->least, p->game, peak, least, sizeof least);
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used ? "; " : "", least);
    return PB_OK;
}

static pb_status write_reason(pb_session *s, const pb_plan_result *p)
{
    char reason[sizeof s->message];
    pb_status status = pbi_plan_reason(s, p, reason, sizeof reason);
    return status == PB_OK ? pbi_session_say(s, reason) : status;
}

pb_status pb_session_write_plan(pb_session *s, const pb_plan_result *p, const char *form)
{
    if (!s)
        return PB_EINVAL;
    pb_status status;
    if (strcmp(form, "schedule") == 0)
        status = pb_schedule_write(&s->ctx, &p->schedule, PB_FORMAT_JSON, pbi_session_write(s));
    else if (strcmp(form, "summary") == 0)
        status = pb_schedule_write_summary(&s->ctx, &p->schedule, p->seconds, pbi_session_write(s));
    else if (strcmp(form, "reason") == 0)
        status = write_reason(s, p);
    else if (strcmp(form, "strategy") == 0)
        status = pbi_session_say(s, p->asked ? p->asked : "");
    else
        status = write_form(s, p, form);
    return pbi_session_end(s, status);
}

pb_status pb_session_write_plan_binary(pb_session *s, const pb_plan_result *p)
{
    if (!s)
        return PB_EINVAL;
    return pbi_session_end(s, pb_schedule_write(&s->ctx, &p->schedule, PB_FORMAT_BINARY, pbi_session_write(s)));
}

pb_status pb_session_explain(pb_session *s, const pb_plan_result *p, uint32_t node, const char *form)
{
    if (!s)
        return PB_EINVAL;
    pb_status status;
    if (!p->certificate)
        status = no_plan(s);
    else if (node != PB_NO_NODE && node >= p->game->graph->node_count)
        status = pbi_fail(&s->ctx, PB_EINVAL, "the graph has no node %lu; indices count from 0", (unsigned long)node);
    else if (strcmp(form, "text") == 0)
        status = pb_explain_text(&s->ctx, p->certificate, node, pbi_session_write(s));
    else if (strcmp(form, "json") == 0)
        status = pb_explain_json(&s->ctx, p->certificate, node, pbi_session_write(s));
    else
        status = wrong(s, "an explanation can be written as text or json; choose one of them");
    return pbi_session_end(s, status);
}

/* ---- memory over time ---- */

pb_status pb_session_memory(pb_session *s, const pb_plan_result *p, uint64_t *time, uint64_t *fast, uint64_t *slow)
{
    if (!s)
        return PB_EINVAL;
    pbi_walk walk;
    pb_arena scratch;
    if (!p->certificate)
        return pbi_session_end(s, no_plan(s));
    pb_arena_init(&scratch, &s->ctx);
    pb_status status = pbi_walk_init(&walk, p->certificate, &scratch);
    for (uint64_t i = 0; status == PB_OK && pbi_walk_next(&walk); i++) {
        if (time)
            time[i] = walk.end;
        if (fast)
            fast[i] = walk.during;
        if (slow)
            slow[i] = walk.slow;
    }
    pb_arena_release(&scratch);
    return pbi_session_end(s, status);
}

pb_status pb_session_profile(pb_session *s, const pb_plan_result *p, const char *axis, uint32_t buckets, uint64_t *fast,
                             uint64_t *slow)
{
    if (!s)
        return PB_EINVAL;
    bool time = strcmp(axis, "time") == 0;
    pb_profile profile;
    pb_arena scratch;
    if (!p->certificate)
        return pbi_session_end(s, no_plan(s));
    if ((!time && strcmp(axis, "moves") != 0) || !buckets)
        return pbi_session_end(s, wrong(s, "expected a profile over moves or time, with at least one part"));
    pb_arena_init(&scratch, &s->ctx);
    pb_status status =
        pb_profile_make(&s->ctx, p->certificate, time ? PB_AXIS_TIME : PB_AXIS_MOVES, buckets, &scratch, &profile);
    if (status == PB_OK && fast)
        memcpy(fast, profile.fast, buckets * sizeof *fast);
    if (status == PB_OK && slow)
        memcpy(slow, profile.slow, buckets * sizeof *slow);
    pb_arena_release(&scratch);
    return pbi_session_end(s, status);
}
