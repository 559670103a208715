/* microhttpd.h -- what the handlers of apps/server name of the HTTP library: numbers, and incomplete types. */
#ifndef WORKER_MICROHTTPD_H
#define WORKER_MICROHTTPD_H

struct MHD_Connection;
struct MHD_Response;
struct MHD_Daemon;
enum MHD_ConnectionNotificationCode { MHD_CONNECTION_NOTIFY_STARTED, MHD_CONNECTION_NOTIFY_CLOSED };

enum {
    MHD_HTTP_OK = 200,
    MHD_HTTP_ACCEPTED = 202,
    MHD_HTTP_BAD_REQUEST = 400,
    MHD_HTTP_NOT_FOUND = 404,
    MHD_HTTP_METHOD_NOT_ALLOWED = 405,
    MHD_HTTP_GONE = 410,
    MHD_HTTP_INTERNAL_SERVER_ERROR = 500,
    MHD_HTTP_SERVICE_UNAVAILABLE = 503
};

#endif
