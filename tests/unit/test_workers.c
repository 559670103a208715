/* test_workers.c -- every worker runs once, the first in the calling thread. */
#include "base/workers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct tally {
    atomic_uint calls[PBI_MAX_WORKERS + 8];
    atomic_uint next, sum;
    pthread_t caller;
    atomic_bool first_is_caller;
} tally;

static void work(void *state, uint32_t worker)
{
    tally *t = state;
    atomic_fetch_add(&t->calls[worker], 1);
    if (worker == 0)
        atomic_store(&t->first_is_caller, pthread_equal(pthread_self(), t->caller) != 0);
    for (uint32_t at; (at = atomic_fetch_add(&t->next, 1)) < 1000;)
        atomic_fetch_add(&t->sum, at);
}

static void workers_share_a_list(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 7, PBI_MAX_WORKERS + 8};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tally t;
        memset(&t, 0, sizeof t);
        t.caller = pthread_self();
        pbi_workers_run(counts[i], work, &t);
        assert_int_equal(t.sum, 499500);
        assert_true(t.first_is_caller);
        assert_int_equal(t.calls[0], 1);
        for (uint32_t w = 1; w < PBI_MAX_WORKERS + 8; w++)
            assert_int_equal(t.calls[w], w < counts[i] && w < PBI_MAX_WORKERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(workers_share_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
