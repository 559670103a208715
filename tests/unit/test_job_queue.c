/* test_job_queue.c -- workers that never come back: others can still be asked about, stopped and counted. */
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
#include "../../apps/server/job_queue.c"

/* What stands for the planner: it takes no notice of being asked to stop. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool let_go;
static unsigned begun;
static char told[512];

static void note(const job *j, const char *what)
{
    char text[64];
    pthread_mutex_lock(&lock);
    snprintf(text, sizeof text, "%u %s;", (unsigned)j->number, what);
    strncat(told, text, sizeof told - strlen(told) - 1);
    pthread_mutex_unlock(&lock);
}

void job_run(job *j)
{
    note(j, "runs");
    pthread_mutex_lock(&lock);
    begun++;
    pthread_cond_broadcast(&changed);
    while (!let_go)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void job_skip(job *j) { note(j, "skipped"); }
void job_send_state(job *j, const char *state)
{
    if (strcmp(state, "queued") != 0)
        note(j, state);
}

void store_hold_job(store *s, job *j)
{
    (void)s;
    j->held++;
}

void store_release_job(store *s, job *j)
{
    (void)s;
    j->held--;
}

void store_end_job(store *s, job *j)
{
    (void)s;
    note(j, "ended");
}

void log_end(event_log *log) { (void)log; }

static void wait_for(unsigned count)
{
    pthread_mutex_lock(&lock);
    while (begun < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void a_worker_that_never_ends_holds_up_nobody(void **state)
{
    (void)state;
    job_queue q;
    job jobs[MAX_QUEUE + 3];
    unsigned running, waiting;
    memset(jobs, 0, sizeof jobs);
    for (unsigned i = 0; i < MAX_QUEUE + 3; i++)
        jobs[i].number = i;
    assert_true(queue_start(&q, NULL, 2));
    assert_true(queue_add(&q, &jobs[0]) && queue_add(&q, &jobs[1]));
    wait_for(2);
    for (unsigned i = 2; i < MAX_QUEUE + 2; i++)
        assert_true(queue_add(&q, &jobs[i]));
    assert_false(queue_add(&q, &jobs[MAX_QUEUE + 2])); /* and it says so */
    queue_counts(&q, &running, &waiting);
    assert_int_equal(running, 2);
    assert_int_equal(waiting, MAX_QUEUE);

    /* One that runs is stopping, once, and not called ended; one that waits ends at once. */
    told[0] = '\0';
    queue_stop_job(&q, &jobs[0]);
    queue_stop_job(&q, &jobs[0]);
    assert_true(atomic_load(&jobs[0].stop));
    queue_stop_job(&q, &jobs[7]);
    queue_stop_job(&q, &jobs[7]);
    assert_string_equal(told, "0 stopping;7 skipped;7 ended;");
    queue_counts(&q, &running, &waiting);
    assert_int_equal(running, 2);
    assert_int_equal(waiting, MAX_QUEUE - 1);
    assert_true(queue_add(&q, &jobs[MAX_QUEUE + 2])); /* its place is free */
    for (unsigned i = 2; i < MAX_QUEUE + 3; i++)
        queue_stop_job(&q, &jobs[i]);
    queue_counts(&q, &running, &waiting);
    assert_int_equal(running, 2);
    assert_int_equal(waiting, 0);

    pthread_mutex_lock(&lock);
    let_go = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    queue_stop(&q);
    for (unsigned i = 0; i < MAX_QUEUE + 3; i++)
        assert_int_equal(jobs[i].held, 0);
    assert_int_equal(begun, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_worker_that_never_ends_holds_up_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
