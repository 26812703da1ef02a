/* Times libbloom's single calls, in nanoseconds: run in turn under two libraries, it compares them.
 *
 *     speed ENTRIES: adds ENTRIES numbers at 1 %, then looks up those and as many others. */
#define _POSIX_C_SOURCE 199309L
#include <bloom.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t key(uint64_t i)
{
    i = (i ^ i >> 31) * 0x9e3779b97f4a7c15;
    return i ^ i >> 29;
}

int main(int argc, char **argv)
{
    int entries = argc > 1 ? atoi(argv[1]) : 1000000;
    struct bloom bloom;
    if (bloom_init(&bloom, entries, 0.01))
        return 1;
    double start = now();
    for (int i = 0; i < entries; i++) {
        uint64_t k = key((uint64_t)i);
        bloom_add(&bloom, &k, sizeof k);
    }
    double added = now();
    int found = 0;
    for (int i = 0; i < entries; i++) {
        uint64_t k = key((uint64_t)i);
        found += bloom_check(&bloom, &k, sizeof k);
    }
    double present = now();
    int wrong = 0;
    for (int i = 0; i < entries; i++) {
        uint64_t k = key((uint64_t)i + ((uint64_t)1 << 40));
        wrong += bloom_check(&bloom, &k, sizeof k);
    }
    double absent = now();
    double n = entries;
    printf("add %.1f, present %.1f, absent %.1f; %d found, %.3f %% wrong\n", (added - start) / n, (present - added) / n,
        (absent - present) / n, found, 100.0 * wrong / n);
    bloom_free(&bloom);
    return found != entries;
}
