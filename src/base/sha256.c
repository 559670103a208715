/* sha256.c -- see sha256.h. */
#include "base/sha256.h"

#include "base/context.h"

#ifdef PBI_WITHOUT_OPENSSL
bool pbi_sha256_begin(pbi_sha256 *sum)
{
    pbi_sha256_plain_begin(&sum->state);
    return true;
}

bool pbi_sha256_add(pbi_sha256 *sum, const void *bytes, size_t count)
{
    pbi_sha256_plain_add(&sum->state, bytes, count);
    return true;
}

bool pbi_sha256_end(pbi_sha256 *sum, unsigned char hash[PBI_SHA256_BYTES])
{
    pbi_sha256_plain_end(&sum->state, hash);
    return true;
}
#else
bool pbi_sha256_begin(pbi_sha256 *sum) { return SHA256_Init(&sum->state) == 1; }

bool pbi_sha256_add(pbi_sha256 *sum, const void *bytes, size_t count)
{
    return count == 0 || SHA256_Update(&sum->state, bytes, count) == 1;
}

bool pbi_sha256_end(pbi_sha256 *sum, unsigned char hash[PBI_SHA256_BYTES])
{
    return SHA256_Final(hash, &sum->state) == 1;
}
#endif

pb_status pbi_sha256_failed(pb_context *ctx)
{
    return pbi_fail(ctx, PB_ENOMEM, "out of memory: libcrypto cannot compute a hash" PBI_FREE_MEMORY);
}

void pbi_sha256_text(const unsigned char hash[PBI_SHA256_BYTES], char text[PBI_SHA256_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < PBI_SHA256_BYTES; i++) {
        text[2 * i] = digits[hash[i] >> 4];
        text[2 * i + 1] = digits[hash[i] & 15];
    }
    text[2 * PBI_SHA256_BYTES] = '\0';
}
