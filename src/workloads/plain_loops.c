/* plain_loops.c -- see plain_loops.h: loops that compilers vectorise.
 *
 * In-place variants have separate loops: compilers generate slow code if two arrays may be the same.
 */
#include "workloads/plain_loops.h"

#include <math.h>
#include <string.h>

void pbi_loop_relu(const float *x, float *y, uint64_t count)
{
    if (x == y) {
        for (uint64_t i = 0; i < count; i++)
            y[i] = y[i] > 0 ? y[i] : 0;
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

void pbi_loop_relu_back(const float *y, const float *dy, float *dx, uint64_t count)
{
    if (dy == dx) {
        for (uint64_t i = 0; i < count; i++) {
            float d = dx[i]; /* read in any case: selecting one of two numbers needs no branch */
            dx[i] = y[i] > 0 ? d : 0;
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        float d = dy[i];
        dx[i] = y[i] > 0 ? d : 0;
    }
}

static void add_to(float *y, const float *more, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        y[i] += more[i];
}

void pbi_loop_add(const float *a, const float *b, float *y, uint64_t count)
{
    if (y == a || y == b) {
        add_to(y, y == a ? b : a, count); /* a + b and b + a have the same bits */
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        y[i] = a[i] + b[i];
}

/* ---- dropout ---- */

static uint64_t mix64(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number for each index, from the key alone: no mask has to be kept. */
static uint32_t draw(uint32_t key, uint32_t i)
{
    uint32_t z = (i + key) * 0x9e3779b9u;
    z = (z ^ z >> 16) * 0x7feb352du;
    z = (z ^ z >> 15) * 0x846ca68bu;
    return z ^ z >> 16;
}

/* 1 for kept values, 0 for dropped ones, from the borrow of a subtraction: compilers turn a comparison into a
 * branch. */
static float stays(uint32_t key, uint32_t i, uint32_t least)
{
    return (float)(int32_t)(1 - (((draw(key, i) >> 1) - least) >> 31));
}

void pbi_loop_dropout(const pbi_mask *mask, const float *x, float *y, uint64_t count)
{
    enum { RUN = 1 << 20 }; /* indices of 32 bits inside: vectors hold twice as many of them */
    uint64_t key = mix64(mask->seed + mix64(mask->step * 0x9e3779b97f4a7c15u + mask->layer));
    uint32_t least = (uint32_t)((double)mask->rate * 2147483648.0); /* below 2^31, as the rate is below 1 */
    float scale = 1.0f / (1.0f - mask->rate);
    for (uint64_t from = 0; from < count; from += RUN, x += RUN, y += RUN) {
        uint32_t run = count - from < RUN ? (uint32_t)(count - from) : RUN, k = (uint32_t)(key + from);
        if (x == y) {
            for (uint32_t i = 0; i < run; i++)
                y[i] = y[i] * (stays(k, i, least) * scale);
            continue;
        }
        for (uint32_t i = 0; i < run; i++)
            y[i] = x[i] * (stays(k, i, least) * scale);
    }
}

/* ---- softmax ---- */

/* The sum of products in eight partial sums, as vector units need it, then these in order. */
static float dot(const float *a, const float *b, uint64_t count)
{
    enum { LANES = 8 };
    float lane[LANES] = {0}, sum = 0;
    uint64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += a[i + (uint64_t)k] * b[i + (uint64_t)k];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

void pbi_loop_softmax_back(const float *y, const float *dy, float *dx, uint64_t rows, uint64_t columns)
{
    for (uint64_t r = 0; r < rows; r++, y += columns, dy += columns, dx += columns) {
        float mean = dot(y, dy, columns);
        if (dx == dy) {
            for (uint64_t j = 0; j < columns; j++)
                dx[j] = y[j] * (dx[j] - mean);
            continue;
        }
        for (uint64_t j = 0; j < columns; j++)
            dx[j] = y[j] * (dy[j] - mean);
    }
}

/* ---- sums and the loss ---- */

void pbi_loop_column_sums(const float *x, float *sum, uint64_t rows, uint64_t columns)
{
    memset(sum, 0, columns * sizeof *sum);
    for (uint64_t r = 0; r < rows; r++)
        add_to(sum, x + r * columns, columns);
}

static float largest(const float *x, uint64_t count)
{
    float most = x[0];
    for (uint64_t j = 1; j < count; j++)
        most = x[j] > most ? x[j] : most;
    return most;
}

double pbi_loop_loss(const float *logits, const int32_t *label, uint64_t rows, uint64_t classes)
{
    double total = 0;
    for (uint64_t r = 0; r < rows; r++) {
        const float *x = logits + r * classes;
        float most = largest(x, classes);
        double sum = 0;
        for (uint64_t j = 0; j < classes; j++)
            sum += (double)expf(x[j] - most);
        total += log(sum) + (double)(most - x[label[r]]);
    }
    return total / (double)rows;
}

void pbi_loop_loss_back(const float *logits, const int32_t *label, float *dx, uint64_t rows, uint64_t classes)
{
    for (uint64_t r = 0; r < rows; r++) {
        const float *x = logits + r * classes;
        float *d = dx + r * classes, most = largest(x, classes);
        double sum = 0;
        for (uint64_t j = 0; j < classes; j++) {
            d[j] = expf(x[j] - most);
            sum += (double)d[j];
        }
        float scale = (float)(1.0 / (sum * (double)rows));
        for (uint64_t j = 0; j < classes; j++)
            d[j] *= scale;
        d[label[r]] -= 1.0f / (float)rows;
    }
}

void pbi_loop_momentum(float *w, float *momentum, const float *grad, uint64_t count, float rate, float keep)
{
    for (uint64_t i = 0; i < count; i++) {
        momentum[i] = keep * momentum[i] + grad[i];
        w[i] -= rate * momentum[i];
    }
}
