/* session.h -- what is inside a pb_session, for the files behind bindings.h. */
#ifndef PBI_API_SESSION_SESSION_H
#define PBI_API_SESSION_SESSION_H

#include "pebble/bindings.h"

#include <pthread.h>
#include <stdatomic.h>

/* Every setting and its place. */
typedef enum pbi_setting {
#define SETTING(name) PBI_SET_##name,
#include "api/session/settings.def"
#undef SETTING
    PBI_SETTING_COUNT
} pbi_setting;

struct pb_session {
    pb_context ctx;
    pb_arena home;  /* holds this record */
    pb_arena arena; /* what calls make */
    pb_arena words; /* the last text */
    pb_buffer text;
    pb_status status; /* of the last call that failed */
    pb_error error;
    pb_buffer notes;
    const char *setting[PBI_SETTING_COUNT]; /* NULL: not set */

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

/* Between begin and end a stop and the time limit are heard, the tick limit holds, and news are told. */
pb_status pbi_session_begin(pb_session *s);
pb_status pbi_session_finish(pb_session *s, pb_status status);
/* In place of begin where nothing is planned: a stop is heard, and limits are none of its business. */
void pbi_session_begin_reading(pb_session *s);
/* Who hears of plans while they are made. */
pb_event_handler pbi_session_handler(pb_session *s);

/* Empties the text, and gives the sink that fills it. */
pb_sink pbi_session_write(pb_session *s);
/* A text as it is. */
pb_status pbi_session_say(pb_session *s, const char *text);

/* The settings as the library's records. Each returns a status with a sentence. */
pb_status pbi_take_game(pb_session *s, const pb_graph *g, pb_game *game, bool *named);
pb_status pbi_take_request(pb_session *s, pb_request *request, pb_event_handler *handler);
pb_status pbi_take_size(pb_session *s, const pb_graph *g, const char *text, uint64_t *out);
pb_status pbi_take_number(pb_session *s, pbi_setting which, uint64_t standard, uint64_t most, uint64_t *out);

#endif
