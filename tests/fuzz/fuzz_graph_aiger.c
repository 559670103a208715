/* fuzz_graph_aiger.c -- any bytes as a circuit in AIGER: no crash, the same answer however the bytes arrive, and what is
 * accepted survives every format that is written. */
#include "support/fuzz_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_graph(bytes, length, PB_FORMAT_AIGER);
    return 0;
}
