/* status.h -- how a call ended. */
#ifndef PEBBLE_STATUS_H
#define PEBBLE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_status {
#define PB_STATUS(code, text) code,
#include "status.def"
#undef PB_STATUS
    PB_STATUS_COUNT
} pb_status;

/* A fixed sentence for a status. */
const char *pb_status_text(pb_status status);

#ifdef __cplusplus
}
#endif
#endif
