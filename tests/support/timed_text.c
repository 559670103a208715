/* timed_text.c -- see timed_text.h. */
#include "support/timed_text.h"

#include <stdio.h>
#include <string.h>

const char timed_machine[] =
    "{\"format\":\"pebble-machine/"
    "1\",\"name\":\"m\",\"time_unit\":\"tick\",\"memories\":[{\"name\":\"hbm\",\"cap\":10},"
    "{\"name\":\"host\"}],\"processors\":[{\"name\":\"gpu\",\"memory\":\"hbm\"},{\"name\":\"gpu2\",\"memory\":\"hbm\"}]"
    ","
    "\"links\":[{\"name\":\"out\",\"from\":\"hbm\",\"to\":\"host\",\"per_unit\":1},{\"name\":\"in\",\"from\":\"host\","
    "\"to\":\"hbm\",\"per_unit\":1},{\"name\":\"a\",\"from\":\"hbm\",\"to\":\"host\",\"per_unit\":1,\"lane\":\"bus\"},"
    "{\"name\":\"b\",\"from\":\"host\",\"to\":\"hbm\",\"per_unit\":1,\"lane\":\"bus\"}]}";

pb_status timed_text_judge(timed_text *t, const char *nodes, const char *edges, const char *moves, const char *machine,
                           const char *more)
{
    static char text[1 << 16];
    memset(t, 0, sizeof *t);
    pb_context_init(&t->ctx);
    pb_arena_init(&t->arena, &t->ctx);
    snprintf(text, sizeof text, "{\"format\":\"pebble-graph/1\",\"nodes\":[%s],\"edges\":[%s]}", nodes, edges);
    pb_memory memory = {.bytes = text, .length = strlen(text)};
    pb_status status = pb_graph_read(&t->ctx, pb_source_memory(&memory), PB_FORMAT_JSON, NULL, &t->arena, &t->graph);
    if (status != PB_OK)
        return status;
    snprintf(text, sizeof text,
             "{\"format\":\"pebble-schedule/1\",\"game\":\"timed\",\"moves\":[%s],\"machine\":%s%s%s}", moves,
             machine ? machine : timed_machine, *more ? "," : "", more);
    memory = (pb_memory){.bytes = text, .length = strlen(text)};
    status = pb_schedule_read(&t->ctx, pb_source_memory(&memory), PB_FORMAT_JSON, t->graph, &t->arena, &t->schedule);
    return status == PB_OK ? pb_judge_all(&t->ctx, t->graph, &t->schedule, false, &t->arena, &t->judged) : status;
}

void timed_text_close(timed_text *t) { pb_arena_release(&t->arena); }
