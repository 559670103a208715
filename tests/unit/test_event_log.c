/* test_event_log.c -- the log of a job's events: whatever memory is refused, a stream ends with `done`. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined __has_include
#if __has_include(<microhttpd.h>)
#define HAS_SERVER
#endif
#endif

#ifdef HAS_SERVER

/* The source itself, with an allocator that fails on request. */
static int until_failure = -1; /* allocations that are still granted; -1: all */
static int asked;

static int refused(void)
{
    asked++;
    return until_failure == 0 || (until_failure > 0 && until_failure-- == 0);
}

static void *give(size_t bytes) { return refused() ? NULL : malloc(bytes); }
static void *give_zero(size_t count, size_t size) { return refused() ? NULL : calloc(count, size); }
static void *give_more(void *old, size_t bytes) { return refused() ? NULL : realloc(old, bytes); }

#define malloc(bytes) give(bytes)
#define calloc(count, size) give_zero(count, size)
#define realloc(old, bytes) give_more(old, bytes)
#include "../../apps/server/events.c"
#undef malloc
#undef calloc
#undef realloc

/* What stands for libmicrohttpd: one stream that is read by hand. */
static MHD_ContentReaderCallback reader;
static MHD_ContentReaderFreeCallback release;
static void *reader_state;
static int suspended;

struct MHD_Response *MHD_create_response_from_callback(uint64_t size, size_t block, MHD_ContentReaderCallback read,
                                                       void *state, MHD_ContentReaderFreeCallback free_state)
{
    (void)size;
    (void)block;
    reader = read;
    release = free_state;
    reader_state = state;
    return (struct MHD_Response *)&reader;
}

void MHD_suspend_connection(struct MHD_Connection *connection)
{
    (void)connection;
    suspended = 1;
}

void MHD_resume_connection(struct MHD_Connection *connection)
{
    (void)connection;
    suspended = 0;
}

static void nothing(void *state) { (void)state; }

/* Everything that the stream has to say now, in pieces of `room` bytes. True when it has ended. */
static bool hear(char *text, size_t most, size_t room)
{
    size_t used = strlen(text);
    char piece[512];
    while (!suspended) {
        ssize_t count = reader(reader_state, 0, piece, room);
        if (count < 0)
            return true;
        assert_true(used + (size_t)count < most);
        memcpy(text + used, piece, (size_t)count);
        text[used += (size_t)count] = '\0';
    }
    return false;
}

static void add(event_log *log, const char *name, const char *data, bool merge)
{
    size_t length = strlen(data) + 1;
    char *copy = until_failure == 0 ? NULL : malloc(length); /* what could not be printed comes as NULL */
    if (copy)
        memcpy(copy, data, length);
    log_add(log, name, copy, merge);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* A job's life with a client from the start; the first `granted` allocations after the job's begin are granted, no other.
 * How many were asked for. */
static int live(int granted, size_t room, char *text, size_t most)
{
    event_hub hub;
    struct MHD_Response *response;
    hub_init(&hub);
    event_log *log = log_new(&hub);
    assert_non_null(log);
    assert_int_equal(log_stream(log, NULL, 0, nothing, NULL, &response), STREAM_OPEN);
    text[0] = '\0';
    suspended = 0;
    asked = 0;
    until_failure = granted;
    add(log, "state", "{\"state\":\"running\"}", false);
    bool ended = hear(text, most, room);
    for (int i = 0; i < 100; i++) {
        add(log, "progress", "{}", true);
        add(log, i % 2 ? "row" : "bound", "{\"some\":\"text\nin lines\"}", false);
        if (i % 10 == 0)
            ended |= hear(text, most, room);
    }
    assert_false(ended);
    add(log, "done", "{\"state\":\"done\"}", false);
    add(log, "state", "{\"state\":\"stopping\"}", false); /* too late */
    log_end(log);
    assert_true(hear(text, most, room));
    until_failure = -1;
    bool lost = log_lost(log);
    release(reader_state);
    log_free(log);
    pthread_mutex_destroy(&hub.lock);
    assert_int_equal(count_of(text, "event: done\n"), 1);
    const char *last = strstr(text, "event: done\n");
    assert_null(strstr(last + 1, "event: "));
    assert_string_equal(text + strlen(text) - 2, "\n\n");
    if (lost || count_of(text, "event: row\n") < 50)
        assert_true(lost || strstr(last, "out of memory"));
    return asked;
}

static void streams_end_with_done_whatever_is_refused(void **state)
{
    (void)state;
    static char text[1 << 16];
    int all = live(-1, 512, text, sizeof text);
    assert_non_null(strstr(text, "event: done\ndata: {\"state\":\"done\"}"));
    assert_int_equal(count_of(text, "event: row\n"), 50);
    assert_true(all > 100);
    for (int granted = 0; granted <= all; granted++)
        live(granted, granted % 2 ? 7 : 512, text, sizeof text);
    live(0, 512, text, sizeof text);
    assert_non_null(strstr(text, "\"state\":\"failed\""));
    assert_non_null(strstr(text, "out of memory"));
}

static void a_log_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    event_hub hub;
    hub_init(&hub);
    int needed = 0;
    for (event_log *log = NULL; !log; needed++) {
        until_failure = needed;
        log = log_new(&hub);
        log_free(log);
    }
    until_failure = -1;
    assert_true(needed > 3);
    pthread_mutex_destroy(&hub.lock);
}

static void streams_of_a_server_that_ends_say_so(void **state)
{
    (void)state;
    event_hub hub;
    struct MHD_Response *response;
    char text[2048] = "";
    hub_init(&hub);
    event_log *log = log_new(&hub);
    assert_int_equal(log_stream(log, NULL, 1, nothing, NULL, &response), STREAM_AHEAD);
    assert_int_equal(log_stream(log, NULL, 0, nothing, NULL, &response), STREAM_OPEN);
    add(log, "state", "{}", false);
    suspended = 0;
    assert_false(hear(text, sizeof text, 512));
    hub_close(&hub);
    assert_true(hear(text, sizeof text, 5));
    assert_int_equal(count_of(text, "event: done\n"), 1);
    assert_non_null(strstr(text, "the server is stopping"));
    release(reader_state);
    log_end(log);
    assert_int_equal(log_stream(log, NULL, 2, nothing, NULL, &response), STREAM_NOTHING);
    log_free(log);
    pthread_mutex_destroy(&hub.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_end_with_done_whatever_is_refused),
        cmocka_unit_test(a_log_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(streams_of_a_server_that_ends_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
