/* fuzz_graph_blif.c -- any bytes as a circuit in BLIF: no crash, the same answer however the bytes arrive, and what is
 * accepted survives every format that is written. */
#include "support/fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_graph(bytes, length, PB_FORMAT_BLIF);
    return 0;
}
