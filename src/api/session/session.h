/* session.h -- what is inside a pb_session, for the files behind bindings.h. */
#ifndef PBI_API_SESSION_SESSION_H
#define PBI_API_SESSION_SESSION_H

#include "pebble/bindings.h"
#include "pebble/settings.h"

#include <pthread.h>
#include <stdatomic.h>

struct pb_session {
    pb_context ctx;
    pb_arena home;  /* holds this record */
    pb_arena arena; /* what calls make */
    pb_arena words; /* the last text */
    pb_buffer text;
    pb_status status; /* of the last call that failed */
    pb_error error;
    char message[1024]; /* error.message, or the reason of a missing plan, which may be longer */
    pb_buffer notes;
    pb_settings settings;

    atomic_int stop_asked;
    pb_stop stopped;
    uint64_t deadline_ns; /* 0: none */
    uint64_t left_ns;     /* when the call began */

    pthread_mutex_t lock; /* what follows is read by other threads */
    char what[96];
    uint64_t done, total, plans, peak, makespan;
    pb_watch watch;
    void *watch_state;

    /* A graph and a schedule in the making. */
    pb_builder *builder;
    const char *names;
    const uint32_t *group;
    const char **group_names;
    uint32_t name_count, group_count;
    pb_moves moves;
};

/* Every call ends with this: keeps the sentence of a failure, which the context may overwrite. */
pb_status pbi_session_end(pb_session *s, pb_status status);

/* PB_EINVAL with a sentence; a NULL session has no place for it. */
pb_status pbi_session_refuse(pb_session *s, const char *sentence);

/* Between begin and end a stop and the time limit are heard, the tick limit holds, and news are told. */
pb_status pbi_session_begin(pb_session *s);
pb_status pbi_session_finish(pb_session *s, pb_status status);
/* In place of begin where nothing is planned: a stop is heard, and limits are none of its business. */
void pbi_session_begin_reading(pb_session *s);

/* A graph by the session's settings, and pbi_session_finish is still to be called. On a failure settings.wrong tells
 * whether the sentence is about a setting or about the file. */
pb_status pbi_session_read(pb_session *s, pb_source source, const char *path, const pb_graph **out);
/* Why there is no plan, with the smallest cap that works where that is known; "" with a plan. */
pb_status pbi_plan_reason(pb_session *s, const pb_plan_result *p, char *text, size_t room);

/* Empties the text, and gives the sink that fills it. */
pb_sink pbi_session_write(pb_session *s);
/* A text as it is. */
pb_status pbi_session_say(pb_session *s, const char *text);

/* The settings as the library's records, with their defaults. A sentence about a setting begins with its name. */
pb_status pbi_take_game(pb_session *s, const pb_graph *g, pb_game *game);
pb_status pbi_take_request(pb_session *s, pb_request *request, pb_event_handler *handler);
pb_status pbi_take_number(pb_session *s, pb_setting which, uint64_t standard, uint64_t max, uint64_t *out);
/* Puts the name of the setting that a failure is about in front of its sentence. */
pb_status pbi_session_name(pb_session *s, pb_status status);

#endif
