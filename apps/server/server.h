/* server.h -- the server behind `pebble ui`: the interface for the command.
 *
 *     server *s = server_new(&options);
 *     server_add_file(s, "g.json", why, sizeof why);
 *     if (server_start(s, why, sizeof why)) ... server_address(s) ...
 *     server_free(s);
 */
#ifndef PEBBLE_SERVER_H
#define PEBBLE_SERVER_H

#include "pebble/io.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct server_options {
    const char *host;          /* to listen on: 127.0.0.1 */
    uint16_t port;             /* 0: any free port */
    unsigned threads;          /* jobs that run at the same time */
    uint64_t max_body;         /* bytes of a request */
    pb_read_options reading;   /* how graphs are read */
    uint64_t max_kept;         /* bytes of graphs and plans together, and of one graph */
    const char *machine_text;  /* document of the default machine, or none; NULL: each graph's own */
    const pb_machine *machine; /* the same; NULL: none */
    const char *page_folder;   /* NULL: the page inside the command */
} server_options;

typedef struct server server;

/* NULL if out of memory or if /dev/urandom cannot be read. */
server *server_new(const server_options *options);
/* Reads a graph that the page shows at the start. False with a message in `why`. */
bool server_add_file(server *s, const char *path, char *why, size_t room);
/* Listens and serves, on its own threads. False with a message in `why`. */
bool server_start(server *s, char *why, size_t room);
/* http://127.0.0.1:PORT/?token=TOKEN */
const char *server_address(const server *s);
/* http://127.0.0.1:PORT/?ticket=TICKET redirects there once: other users can see a browser's command line. */
const char *server_ticket_address(const server *s);
/* Are jobs running that server_free must wait for? */
bool server_is_busy(server *s);
/* Does it listen on a loopback address? */
bool server_is_local(const server *s);
/* Stops planning, ends every stream, waits for all threads. */
void server_free(server *s);

/* Versions of the libraries inside: "libmicrohttpd 0.9.75, jansson 2.14". */
const char *server_libraries(void);

#endif
