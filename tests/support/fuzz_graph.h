/* fuzz_graph.h -- the body of the fuzz targets for graph readers. */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include "pebble/io.h"

/* Ends the program when something that must hold does not. */
void fuzz_graph(const uint8_t *bytes, size_t length, pb_format format);

/* Ends the program with a sentence. */
void fuzz_fail(const char *what);

enum { FUZZ_MEMORY = 64 << 20 };

#endif
