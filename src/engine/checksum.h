/* checksum.h -- 64-bit checksums of stored blocks and borrowed bytes: XXH64.
 *
 * They detect disk errors, not attacks, at the speed of memory. XXH64 takes 32 bytes per step in plain C, has published
 * test values, and is fifty lines: a library for it would be one more thing to install. CRC32C without the processor's
 * instruction (an extension) is several times slower.
 */
#ifndef PBI_CHECKSUM_H
#define PBI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct pbi_sum {
    uint64_t lane[4], seed, total;
} pbi_sum;

/* Pieces are added at multiples of 32 bytes: all except the last have such a length. */
void pbi_sum_begin(pbi_sum *s, uint64_t seed);
void pbi_sum_add(pbi_sum *s, const void *bytes, size_t count); /* count: a multiple of 32 */
uint64_t pbi_sum_end(pbi_sum *s, const void *last, size_t count);

uint64_t pbi_checksum(const void *bytes, size_t count, uint64_t seed);

#endif
