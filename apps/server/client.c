/* client.c -- connections and their timeouts: a request must arrive in time, even if its bytes come one by one. */
#define _XOPEN_SOURCE 700
#include "request.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { HEAD_SECONDS = 8 }; /* from the first byte to the end of the headers */

time_t clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1; /* never 0 */
}

void client_changed(void *state, struct MHD_Connection *connection, void **place,
                    enum MHD_ConnectionNotificationCode code)
{
    server *s = state;
    client **at, *v = *place;
    pthread_mutex_lock(&s->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *place = v = calloc(1, sizeof *v);
        if (v) {
            *v = (client){.socket = info ? (int)info->connect_fd : -1, .since = clock_seconds(), .next = s->clients};
            s->clients = v;
        }
    } else if (v) {
        for (at = &s->clients; *at != v; at = &(*at)->next)
            ;
        *at = v->next;
        free(v);
        *place = NULL;
    }
    pthread_mutex_unlock(&s->lock);
}

void client_set_wait(request *r, time_t since)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    client *v = info ? info->socket_context : NULL;
    if (!v)
        return;
    pthread_mutex_lock(&r->s->lock);
    v->since = since;
    pthread_mutex_unlock(&r->s->lock);
}

static void drop_slow(server *s)
{
    time_t now = clock_seconds();
    pthread_mutex_lock(&s->lock);
    for (client *v = s->clients; v; v = v->next)
        if (v->since && now - v->since > HEAD_SECONDS && v->socket >= 0)
            shutdown(v->socket,
                     SHUT_RDWR); /* the daemon notices, and calls client_changed before it closes the socket */
    pthread_mutex_unlock(&s->lock);
}

void *client_watch(void *state)
{
    server *s = state;
    struct timespec tenth = {.tv_nsec = 100000000};
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        pthread_mutex_unlock(&s->lock);
        nanosleep(&tenth, NULL);
        drop_slow(s);
        hub_tick(&s->hub);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
