/* request.h -- one request and its response, and what the files of the server share.
 *
 * A few threads serve all connections and never block on one of them. An API request is suspended and queued for a
 * request thread, which may take long; when the response is ready the connection is resumed. Event streams are
 * suspended while they wait (events.h). Jobs run on workers (job.h).
 */
#ifndef PEBBLE_SERVER_REQUEST_H
#define PEBBLE_SERVER_REQUEST_H

#include "events.h"
#include "job.h"
#include "server.h"
#include "store.h"
#include "text_out.h"

#include <microhttpd.h>
#include <time.h>

enum { MAX_ARGUMENTS = 8, PATH_ROOM = 512, TOKEN_BYTES = 24, KEY_ROOM = 24, REQUEST_THREADS = 4 };
enum { SECRET_ROOM = 2 * TOKEN_BYTES + 1 };

typedef struct argument {
    char key[KEY_ROOM];
    char *value;
} argument;

typedef struct http_response {
    unsigned status;
    const char *type;
    char *bytes; /* malloc, or constant with `fixed` */
    size_t length;
    bool fixed;
    const char *policy;    /* Content-Security-Policy; NULL: the default */
    char disposition[200]; /* Content-Disposition, "" for none */
} http_response;

typedef struct request {
    server *s;
    struct MHD_Connection *connection;
    enum { STAGE_BODY, STAGE_WORK, STAGE_RESPOND } stage;
    char method[8], path[PATH_ROOM];
    char type[64]; /* of the body */
    argument arguments[MAX_ARGUMENTS];
    int argument_count;
    enum { ARGUMENTS_OK, ARGUMENT_TWICE, ARGUMENT_UNKNOWN, ARGUMENT_NO_MEMORY } argument_error;
    char bad_argument[64];
    char *body;
    size_t length, room; /* room: the Content-Length */
    time_t began;
    http_response response;
    size_t response_bytes; /* counted in the server's response_bytes */
    struct request *next;  /* in the queue */
} request;

/* Waiting requests, first in, first out. */
typedef struct request_queue {
    request *first, *last;
} request_queue;

/* A connection. */
typedef struct client {
    int socket;
    time_t since; /* start of the incomplete request; 0: none */
    struct client *next;
} client;

struct server {
    server_options options;
    char token[SECRET_ROOM];
    char host[80]; /* as in a URL: brackets around IPv6 */
    char address[256], ticket_address[256];
    uint16_t port;
    bool open_to_all; /* listens on every address of the machine */
    bool local;       /* listens on a loopback address */
    int socket;
    struct MHD_Daemon *daemon;
    event_hub hub;
    store store;
    job_queue jobs;
    uint64_t opened[64]; /* graphs from the command line */
    int opened_count;

    pthread_mutex_t lock; /* of the fields below */
    pthread_cond_t work_ready;
    char ticket[SECRET_ROOM]; /* valid once; "" afterwards */
    request_queue quick, slow;
    unsigned waiting; /* in both queues, or about to be added */
    bool closing;
    size_t body_bytes;     /* of all current requests */
    size_t response_bytes; /* of large responses that are being sent */
    client *clients;
    pthread_t request_threads[REQUEST_THREADS], ticker;
    int thread_count;  /* of request threads; not under the lock */
    int started_count; /* request threads that have started */
    bool ticking;
};

/* Adds a query argument; errors are kept for arguments_once and arguments_known. */
void request_add_argument(request *r, const char *key, const char *value);
/* The value of a query argument, or NULL. */
const char *request_argument(const request *r, const char *key);
/* These fill the response if they return false. No argument was sent twice: */
bool arguments_once(request *r);
/* All are among `names` ("lanes groups fold"), except the token: */
bool arguments_known(request *r, const char *names);
/* The value is one of `words`: *place is its index, unchanged if the argument was not sent. */
bool argument_word(request *r, const char *key, const char *words, size_t *place);
/* The argument `node` is a node of the graph: */
bool argument_node(request *r, const pb_graph *g, pb_node *node);

/* Responds with the text as JSON; with "out of memory" if it is NULL. */
void respond_text(request *r, unsigned status, text_out *text);
void respond_bytes(request *r, const char *type, char *bytes, size_t length);
/* {"error":{"message":...}} */
void respond_error(request *r, unsigned status, const char *format, ...);
/* The library's status with its message, line and column. */
void respond_status(request *r, pb_status status, const pb_error *error);
void respond_no_memory(request *r);
/* As respond_error, but a browser gets a page that explains what happened and what to do. */
typedef enum refusal { REFUSED_TOKEN, REFUSED_ADDRESS, REFUSED_PATH } refusal;
void respond_refused(request *r, unsigned status, refusal why, const char *sentence);

/* The threads that serve connections; http_stop waits for them. */
bool http_start(server *s);
void http_stop(server *s);

/* The daemon's callback for connections that start and end. */
void client_changed(void *state, struct MHD_Connection *connection, void **place,
                    enum MHD_ConnectionNotificationCode code);
/* Sets the time from which the connection's request is overdue after HEAD_SECONDS; 0: no limit. */
void client_set_wait(request *r, time_t since);
/* Seconds, never 0. */
time_t clock_seconds(void);
/* A thread that closes connections that take too long, and wakes event streams; `state` is the server. */
void *client_watch(void *state);

/* The main function of a request thread; `state` is the server. */
void *request_thread(void *state);
/* Suspends the connection until a request thread has filled the response. False if too many requests wait. */
bool request_enqueue(request *r);

/* Handles a request below /api/, on a request thread. */
void api_respond(request *r);
/* Handles a request for a file of the page. */
void page_respond(request *r);
/* Is this request allowed? If not, the response is filled. */
bool access_check(request *r);
/* A response with the common headers. */
struct MHD_Response *response_new(request *r, const http_response *a);
/* Adds the common headers; `policy` is as in http_response. */
void response_headers(struct MHD_Response *response, const char *policy);

#endif
