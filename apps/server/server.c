/* server.c -- see server.h: starting and stopping the server. */
#define _XOPEN_SOURCE 700
#include "server.h"

#include "handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static bool make_secret(char text[SECRET_ROOM])
{
    unsigned char bytes[TOKEN_BYTES];
    FILE *source = fopen("/dev/urandom", "rb");
    bool good = source && fread(bytes, 1, sizeof bytes, source) == sizeof bytes;
    if (source)
        fclose(source);
    for (int i = 0; good && i < TOKEN_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return good;
}

server *server_new(const server_options *options)
{
    server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->socket = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work_ready, NULL);
    hub_init(&s->hub);
    store_init(&s->store, (size_t)options->max_kept);
    if (make_secret(s->token) && make_secret(s->ticket))
        return s;
    server_free(s);
    return NULL;
}

bool server_add_file(server *s, const char *path, char *why, size_t room)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    FILE *file = fopen(path, "rb");
    text_out text;
    char block[65536];
    size_t got, length = 0;
    if (!file) {
        snprintf(why, room, "%.200s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    FILE *out = text_begin(&text);
    while (out && (got = fread(block, 1, sizeof block, file)) > 0)
        fwrite(block, 1, got, out);
    bool read = !ferror(file);
    fclose(file);
    char *bytes = text_end(&text, &length);
    pb_status status = PB_ENOMEM;
    pb_error error = {.message = "out of memory"};
    pb_memory memory = {.bytes = bytes, .length = length};
    stored_graph *g = bytes && read ? graph_from_bytes(s, NULL, name, memory, &status, &error) : NULL;
    free(bytes);
    if (!g) {
        if (error.line)
            snprintf(why, room, "%.200s:%llu:%llu: %s", path, (unsigned long long)error.line,
                     (unsigned long long)error.column, error.message);
        else
            snprintf(why, room, "%.200s: %s", path,
                     !read              ? "cannot be read; check the file and its disk"
                     : error.message[0] ? error.message
                                        : pb_status_text(status));
        return false;
    }
    g = store_add_graph(&s->store, g);
    if (s->opened_count < (int)(sizeof s->opened / sizeof *s->opened))
        s->opened[s->opened_count++] =
            g->number; /* keep the reference: files from the command line are never evicted */
    return true;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return address->ss_family == AF_INET && ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

/* Finds the port in use and the host name for addresses. */
static bool name_address(server *s, const struct addrinfo *info)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[64], port[16];
    if (getsockname(s->socket, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    s->port = (uint16_t)atoi(port);
    s->local = is_loopback(&address);
    s->open_to_all = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    if (strspn(s->options.host, "0123456789abcdefABCDEF:.") == strlen(s->options.host))
        snprintf(s->host, sizeof s->host, info->ai_family == AF_INET6 ? "[%s]" : "%s", host);
    else
        snprintf(s->host, sizeof s->host, "%.79s", s->options.host);
    const char *name = s->open_to_all ? "127.0.0.1" : s->host;
    snprintf(s->address, sizeof s->address, "http://%s:%u/?token=%s", name, (unsigned)s->port, s->token);
    snprintf(s->ticket_address, sizeof s->ticket_address, "http://%s:%u/?ticket=%s", name, (unsigned)s->port,
             s->ticket);
    return true;
}

static bool listen_at(server *s, char *why, size_t room)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    char port[8];
    int one = 1;
    snprintf(port, sizeof port, "%u", (unsigned)s->options.port);
    int failed = getaddrinfo(s->options.host, port, &hints, &list);
    if (failed) {
        snprintf(why, room, "--host %.60s: %s", s->options.host, gai_strerror(failed));
        return false;
    }
    s->socket = socket(list->ai_family, SOCK_STREAM, 0);
    bool good = s->socket >= 0;
    good = good && fcntl(s->socket, F_SETFD, FD_CLOEXEC) == 0 && /* the browser must not inherit it */
           setsockopt(s->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
           bind(s->socket, list->ai_addr, list->ai_addrlen) == 0 && listen(s->socket, 512) == 0;
    if (!good)
        snprintf(why, room, "cannot listen on %.60s, port %s: %s; choose another --port or --host", s->options.host,
                 port, strerror(errno));
    good = good && name_address(s, list);
    freeaddrinfo(list);
    return good;
}

/* Every connection is an open file, and the default limit is low. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= 4096)
        return;
    limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
}

bool server_start(server *s, char *why, size_t room)
{
    allow_files();
    server_libraries(); /* fills its static text before there are threads */
    if (!listen_at(s, why, room))
        return false;
    if (queue_start(&s->jobs, &s->store, s->options.threads) && http_start(s))
        return true;
    snprintf(why, room,
             "the server's threads could not be started; raise the limit on threads (ulimit -u) or free memory");
    return false;
}

const char *server_address(const server *s) { return s->address; }

const char *server_ticket_address(const server *s) { return s->ticket_address; }

bool server_is_busy(server *s)
{
    unsigned running, waiting;
    queue_counts(&s->jobs, &running, &waiting);
    return running > 0;
}

bool server_is_local(const server *s) { return s->local; }

void server_free(server *s)
{
    http_stop(s); /* from here on no jobs are added */
    if (s->jobs.worker_count)
        queue_stop(&s->jobs);
    if (s->socket >= 0)
        close(s->socket);
    for (int i = 0; i < s->opened_count; i++) {
        stored_graph *g;
        if (store_graph(&s->store, s->opened[i], &g) == LOOKUP_FOUND) {
            store_release_graph(&s->store, g);
            store_release_graph(&s->store, g);
        }
    }
    store_release(&s->store);
    pthread_mutex_destroy(&s->hub.lock);
    pthread_cond_destroy(&s->work_ready);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *server_libraries(void)
{
    static char text[80]; /* written before any thread runs */
    if (!text[0])
        snprintf(text, sizeof text, "libmicrohttpd %s, jansson " JANSSON_VERSION, MHD_get_version());
    return text;
}
