/* fuzz_graph_dot.c -- any bytes as a graph in DOT: no crash, the same answer however the bytes arrive, and what is
 * accepted survives every format. */
#include "support/fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_graph(bytes, length, PB_FORMAT_DOT);
    return 0;
}
