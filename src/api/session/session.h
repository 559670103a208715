/* session.h -- the record of a pb_session, for the files that implement bindings.h. */
#ifndef PBI_API_SESSION_SESSION_H
#define PBI_API_SESSION_SESSION_H

#include "pebble/bindings.h"
#include "pebble/settings.h"

#include <pthread.h>
#include <stdatomic.h>

/* Labels of the nodes that are added next: an index into `names` for each (UINT32_MAX: none); NULL: no labels. */
typedef struct pbi_draft_labels {
    const uint32_t *index;
    const char **names;
    uint32_t count;
} pbi_draft_labels;
/* What these nodes state for machines; NULL: nothing. */
typedef struct pbi_draft_work {
    const uint64_t *flops, *bytes;
    pbi_draft_labels op, dtype;
    uint32_t flops_count, bytes_count;
} pbi_draft_work;

struct pb_session {
    pb_context ctx;
    pb_arena home;  /* holds this record */
    pb_arena arena; /* the results of calls */
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
    uint64_t left_ns;     /* the time limit of the call; 0: none */

    pthread_mutex_t lock; /* other threads read the fields that follow */
    char what[96];
    uint64_t done, total, plans, peak, makespan;
    pb_watch watch;
    void *watch_state;

    /* The graph, the schedule and the levels that are being built. */
    pb_builder *builder;
    const char *names;
    uint32_t name_count;
    pbi_draft_labels group;
    pbi_draft_work work;
    pb_moves moves;
    pb_level level[PB_MAX_LEVELS];
    uint32_t level_count;
    pb_mixed_level mixed[PB_MAX_MIXED_LEVELS];
    uint32_t mixed_count;

    /* How the next plan is run. */
    uint64_t run_steps, run_align, run_max_block;
    bool run_check;
    char *run_slow;

    /* Measurements to fit a machine to. */
    pb_machine_sample *samples;
    uint32_t sample_count;
    size_t sample_room;
};

/* Every call ends with this. It keeps the message of a failure, because the context may overwrite it. */
pb_status pbi_session_end(pb_session *s, pb_status status);

/* PB_EINVAL with a message. A NULL session cannot keep the message. */
pb_status pbi_session_refuse(pb_session *s, const char *sentence);

/* A graph that is being built: a builder for it; a failure drops what was added, with a sentence or without. */
pb_status pbi_session_need_builder(pb_session *s);
pb_status pbi_session_end_draft(pb_session *s, pb_status status);
pb_status pbi_session_drop(pb_session *s, const char *sentence);
/* Labels for `count` nodes; the names are one after the other, each ended by NUL. */
pb_status pbi_session_labels(pb_session *s, uint32_t count, const uint32_t *index, const char *names, uint64_t length,
                             pbi_draft_labels *out);
/* NULL: node i has none. */
const char *pbi_draft_label(const pbi_draft_labels *labels, uint32_t i);
bool pbi_draft_work_fits(const pbi_draft_work *w, uint32_t count);
pb_work pbi_draft_work_at(const pbi_draft_work *w, uint32_t i);

/* Between begin and finish, a stop and the limits on time, ticks and memory have effect, and progress is reported. */
pb_status pbi_session_begin(pb_session *s);
pb_status pbi_session_finish(pb_session *s, pb_status status);
/* In place of begin if nothing is planned: a stop has effect, limits do not. */
void pbi_session_begin_reading(pb_session *s);

/* Reads a graph with the session's settings. The caller must still call pbi_session_finish. After a failure,
 * settings.wrong shows whether the message is about a setting or about the file. */
pb_status pbi_session_read(pb_session *s, pb_source source, const char *path, const pb_graph **out);
/* Why there is no plan, with the smallest cap that works if it is known; "" if there is a plan. */
pb_status pbi_plan_reason(pb_session *s, const pb_plan_result *p, char *text, size_t room);

/* Empties the text, and returns the sink that fills it. */
pb_sink pbi_session_write(pb_session *s);
/* Replaces the text. */
pb_status pbi_session_say(pb_session *s, const char *text);

/* The settings as the library's records, with their defaults. A message about a setting begins with its name. */
pb_status pbi_take_game(pb_session *s, const pb_graph *g, pb_game *game);
pb_status pbi_take_request(pb_session *s, pb_request *request, pb_event_handler *handler);
pb_status pbi_take_number(pb_session *s, pb_setting which, uint64_t default_value, uint64_t max, uint64_t *out);
/* Puts the name of the wrong setting in front of the error message. */
pb_status pbi_session_name(pb_session *s, pb_status status);

#endif
