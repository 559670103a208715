/* sha256.h -- SHA-256 of bytes that come in parts.
 *
 *     pbi_sha256 sum;
 *     if (!pbi_sha256_begin(&sum) || !pbi_sha256_add(&sum, bytes, count) || !pbi_sha256_end(&sum, hash))
 *         return pbi_sha256_failed(ctx);
 *
 * All state is in the caller's struct: nothing is allocated, so a hash cannot fail for lack of memory. The results of
 * libcrypto are still checked: a hash that was not computed must never be compared with one that was.
 */
#ifndef PBI_SHA256_H
#define PBI_SHA256_H

#include "pebble/base.h"

#ifdef PBI_WITHOUT_OPENSSL /* in WebAssembly */
#include "base/sha256_plain.h"
typedef pbi_sha256_plain pbi_sha256_state;
#else
/* The only interface of OpenSSL 3 that does not allocate; it is deprecated for other reasons. */
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/sha.h>
typedef SHA256_CTX pbi_sha256_state;
#endif

enum { PBI_SHA256_BYTES = 32, PBI_SHA256_TEXT = 65 };

typedef struct pbi_sha256 {
    pbi_sha256_state state;
} pbi_sha256;

/* Each is false if libcrypto failed. */
bool pbi_sha256_begin(pbi_sha256 *sum);
bool pbi_sha256_add(pbi_sha256 *sum, const void *bytes, size_t count);
bool pbi_sha256_end(pbi_sha256 *sum, unsigned char hash[PBI_SHA256_BYTES]);

/* The status for such a failure, with a sentence in ctx->error: an error, never a verdict. */
pb_status pbi_sha256_failed(pb_context *ctx);

/* 64 hexadecimal digits and NUL. */
void pbi_sha256_text(const unsigned char hash[PBI_SHA256_BYTES], char text[PBI_SHA256_TEXT]);

#endif
