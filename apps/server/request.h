/* request.h -- one request and its answer, and what the files of the server share.
 *
 * Connections are served by a few threads that wait for none of them. A request for the interface is suspended and handed
 * to a clerk, a thread that may take its time; when the answer is there the connection goes on. Streams of events wait
 * suspended (events.h). Jobs run on workers (job.h).
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

enum { MOST_ARGUMENTS = 8, PATH_ROOM = 512, TOKEN_BYTES = 24, KEY_ROOM = 24, CLERKS = 4 };
enum { SECRET_ROOM = 2 * TOKEN_BYTES + 1 };

typedef struct argument {
    char key[KEY_ROOM];
    char *value;
} argument;

typedef struct answer {
    unsigned status;
    const char *type;
    char *bytes; /* malloc, or constant with `fixed` */
    size_t length;
    bool fixed;
    const char *policy;    /* Content-Security-Policy; NULL: the usual one */
    char disposition[200]; /* Content-Disposition, "" for none */
} answer;

typedef struct request {
    server *s;
    struct MHD_Connection *connection;
    enum { STAGE_BODY, STAGE_WORK, STAGE_ANSWER } stage;
    char method[8], path[PATH_ROOM];
    char type[64]; /* of the body */
    argument arguments[MOST_ARGUMENTS];
    int argument_count;
    enum { ARGUMENTS_FINE, ARGUMENT_TWICE, ARGUMENT_UNKNOWN, ARGUMENT_LOST } trouble; /* lost: memory was out */
    char troubled[64];                                                                /* the argument that it is with */
    char *body;
    size_t length, room; /* the room is what was announced */
    time_t began;
    answer answer;
    size_t answer_bytes;  /* on their way, if they count */
    struct request *next; /* waiting for a clerk */
} request;

/* Requests that wait, first come first served. */
typedef struct request_line {
    request *first, *last;
} request_line;

/* A connection. */
typedef struct visitor {
    int socket;
    time_t since; /* of the request that is not complete yet; 0: none */
    struct visitor *next;
} visitor;

struct server {
    server_options options;
    char token[SECRET_ROOM];
    char host[80]; /* as in an address: brackets around IPv6 */
    char address[256], ticket_address[256];
    uint16_t port;
    bool open_to_all; /* listens at every address of the machine */
    bool local;       /* listens where only this machine reaches it */
    int socket;
    struct MHD_Daemon *daemon;
    event_hub hub;
    store store;
    job_queue jobs;
    uint64_t opened[64]; /* graphs from the command line */
    int opened_count;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wanted;
    char ticket[SECRET_ROOM]; /* for one visit; "" afterwards */
    request_line quick, slow;
    unsigned waiting; /* in both, or on the way there */
    bool closing;
    size_t body_bytes;   /* of all requests at hand */
    size_t answer_bytes; /* of large answers that are being read */
    visitor *visitors;
    pthread_t clerks[CLERKS], ticker;
    int thread_count; /* of clerks; not under the lock */
    int clerk_count;  /* that have begun */
    bool ticking;
};

/* Reads the arguments of the address. */
void request_arguments(request *r);
/* The argument of the address, or NULL. */
const char *request_argument(const request *r, const char *key);
/* These fill the answer where they say no. None was sent twice: */
bool arguments_once(request *r);
/* All are among `names` ("lanes groups fold"), but for the token: */
bool arguments_known(request *r, const char *names);
/* It is one of `words`: *place is which; it stays as it is where the argument was not sent. */
bool argument_word(request *r, const char *key, const char *words, size_t *place);
/* `node` is a node of the graph: */
bool argument_node(request *r, const pb_graph *g, pb_node *node);

/* Takes the text as a JSON answer; memory out where it is NULL. */
void answer_text(request *r, unsigned status, text_out *text);
void answer_bytes(request *r, const char *type, char *bytes, size_t length);
/* {"error":{"message":...}} */
void answer_fail(request *r, unsigned status, const char *format, ...);
/* The library's status with its sentence and place. */
void answer_status(request *r, pb_status status, const pb_error *error);
void answer_no_memory(request *r);
/* As answer_fail, but a browser that a person looks at gets a page that says what happened and what to do. */
typedef enum refusal { REFUSED_TOKEN, REFUSED_ADDRESS, REFUSED_PATH } refusal;
void answer_refused(request *r, unsigned status, refusal why, const char *sentence);

/* The threads that serve connections; http_stop waits for them. */
bool http_start(server *s);
void http_stop(server *s);

/* Connections that begin and end, as the daemon tells it. */
void visitor_changes(void *state, struct MHD_Connection *connection, void **place,
                     enum MHD_ConnectionNotificationCode code);
/* Notes when the wait for the connection's request began, or begins; 0: it does not wait. */
void visitor_wait(request *r, time_t since);
/* Seconds, never 0. */
time_t visitor_clock(void);
/* A thread that drops those who take too long, and wakes listeners; `state` is the server. */
void *visitor_watch(void *state);

/* A clerk's thread; `state` is the server. */
void *clerk_work(void *state);
/* Suspends the connection until a clerk has answered. False when too many wait already. */
bool clerk_hand_over(request *r);

/* Answers a request for /api/, on a clerk's thread. */
void api_answer(request *r);
/* Answers a request for a file of the page. */
void page_answer(request *r);
/* May this request in? Otherwise the answer is filled. */
bool access_check(request *r);
/* A response with the headers that all have. */
struct MHD_Response *response_new(request *r, const answer *a);
/* The policy is as in answer. */
void response_headers(struct MHD_Response *response, const char *policy);

#endif
