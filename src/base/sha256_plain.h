/* sha256_plain.h -- SHA-256 (FIPS 180-4) in plain C, for builds without OpenSSL: see sha256.h. */
#ifndef PBI_SHA256_PLAIN_H
#define PBI_SHA256_PLAIN_H

#include <stddef.h>
#include <stdint.h>

typedef struct pbi_sha256_plain {
    uint32_t state[8];
    uint64_t length; /* of all bytes so far */
    unsigned char block[64];
} pbi_sha256_plain;

void pbi_sha256_plain_begin(pbi_sha256_plain *sum);
void pbi_sha256_plain_add(pbi_sha256_plain *sum, const void *bytes, size_t count);
void pbi_sha256_plain_end(pbi_sha256_plain *sum, unsigned char hash[32]);

#endif
