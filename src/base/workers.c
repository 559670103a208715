/* workers.c -- see workers.h. */
#include "base/workers.h"

#include <pthread.h>

typedef struct hand {
    void (*work)(void *state, uint32_t worker);
    void *state;
    uint32_t worker;
    pthread_t thread;
} hand;

static void *begin(void *state)
{
    hand *h = state;
    h->work(h->state, h->worker);
    return NULL;
}

void pbi_workers_run(uint32_t count, void (*work)(void *state, uint32_t worker), void *state)
{
    hand hands[PBI_MAX_WORKERS];
    uint32_t started = 1;
    for (; started < count && started < PBI_MAX_WORKERS; started++) {
        hand *h = &hands[started];
        *h = (hand){.work = work, .state = state, .worker = started};
        if (pthread_create(&h->thread, NULL, begin, h) != 0)
            break;
    }
    work(state, 0);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(hands[i].thread, NULL);
}
