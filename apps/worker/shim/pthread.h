/* pthread.h -- what the sources use of POSIX threads, where there is only one thread: locks are free, and no thread can
 * be started, so that the caller does all the work itself. */
#ifndef WORKER_PTHREAD_H
#define WORKER_PTHREAD_H

#include <errno.h>
#include <stddef.h>

typedef int worker_lock;
#define pthread_t worker_lock
#define pthread_mutex_t worker_lock
#define pthread_cond_t worker_lock

static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *attributes)
{
    (void)attributes;
    *lock = 0;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *lock)
{
    ++*lock;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    --*lock;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *lock)
{
    (void)lock;
    return 0;
}

static inline int pthread_create(pthread_t *thread, const void *attributes, void *(*work)(void *), void *state)
{
    (void)thread, (void)attributes, (void)work, (void)state;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    return EINVAL;
}

#endif
