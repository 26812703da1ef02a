/* What the benchmarks in C share: the time, keys, and medians. */
#ifndef PETAL_BENCH_H
#define PETAL_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The time in nanoseconds. */
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The i-th of a sequence of different random keys. */
static inline uint64_t key_at(uint64_t i) {
  i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
  return i ^ i >> 31;
}

static inline int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *times, size_t count) {
  qsort(times, count, sizeof *times, ascending);
  return times[count / 2];
}

#endif
