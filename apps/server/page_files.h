/* page_files.h -- the files of the page inside the command, made by cmake/embed_page.cmake. */
#ifndef PEBBLE_SERVER_PAGE_FILES_H
#define PEBBLE_SERVER_PAGE_FILES_H

#include <stddef.h>

typedef struct page_file {
    const char *path; /* "/app.js" */
    const unsigned char *bytes;
    size_t length;
} page_file;

extern const page_file page_files[]; /* the last has no path */
extern const size_t page_file_count;

#endif
