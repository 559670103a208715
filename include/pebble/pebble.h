/* pebble.h -- load a graph, plan, save the plan. It needs no other header; pebble/full.h has the rest of the library.
 *
 *     pb_session *s = pb_session_new();
 *     const pb_graph *g;
 *     const pb_plan_result *p;
 *     pb_session_set(s, "cap", "50%");
 *     if (pb_load_graph(s, "graph.json", &g) || pb_make_plan(s, g, &p) || pb_save_plan(s, p, "plan.json"))
 *         fprintf(stderr, "%s\n", pb_session_message(s));
 *     pb_session_free(s);
 *
 * A session owns its settings, its last error and everything that its calls make: graphs and plans stay valid until
 * the session is freed, and never change. One thread uses a session at a time. Every call accepts a NULL session and
 * returns PB_EINVAL then, so that pb_session_new needs no check of its own. Results leave through the last pointer and
 * are unchanged on failure. The library never prints.
 */
#ifndef PEBBLE_PEBBLE_H
#define PEBBLE_PEBBLE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_session pb_session;
typedef struct pb_graph pb_graph;
typedef struct pb_plan_result pb_plan_result;

pb_session *pb_session_new(void); /* NULL: out of memory */
void pb_session_free(pb_session *s);

/* What later calls use, as text; NULL removes a setting. settings.def lists all settings with what they take: cap
 * ("60%", "8GiB"), game, strategy, time ("10s"), seed, threads...
 *   returns PB_EUNKNOWN   there is no such setting. A wrong value is reported by the call that reads it. */
pb_status pb_session_set(pb_session *s, const char *key, const char *value);

/* A graph from a file in any format that the command reads. */
pb_status pb_load_graph(pb_session *s, const char *path, const pb_graph **out);

/* A verified plan for the graph, by the session's settings.
 *   returns PB_ENOPLAN   no plan was found, or none exists. *out is set all the same; the message is the reason, with
 *                        the smallest cap that works if that is known */
pb_status pb_make_plan(pb_session *s, const pb_graph *g, const pb_plan_result **out);

/* Writes the schedule: compact binary if the path ends in .pbs, else JSON. The file appears under its name when it is
 * complete. */
pb_status pb_save_plan(pb_session *s, const pb_plan_result *p, const char *path);

/* Of the last call that failed: its pb_status and a full sentence; 0 and "" before any failed. */
int pb_session_status(const pb_session *s);
const char *pb_session_message(const pb_session *s);

#ifdef __cplusplus
}
#endif
#endif
