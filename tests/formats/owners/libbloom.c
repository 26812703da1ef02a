/* Bit arrays of libbloom 1: libbloom FOLDER. See vectors.txt for what it prints. */
#include <bloom.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
  struct { int keys; int capacity; double rate; } sizes[] = {{1000, 1000, 0.01}, {17, 1000, 0.001}, {300, 1234, 0.05}};
  char path[4096], text[32];
  (void)argc;
  snprintf(path, sizeof path, "%s/libbloom_1", argv[1]);
  mkdir(path, 0755);
  for (int s = 0; s < 3; s++) {
    struct bloom filter;
    memset(&filter, 0, sizeof filter);
    if (bloom_init(&filter, sizes[s].capacity, sizes[s].rate)) return 1;
    for (int i = 0; i < sizes[s].keys; i++) bloom_add(&filter, text, sprintf(text, "key-%d", i));
    int positives = 0;
    for (int i = 0; i < 10000; i++) positives += bloom_check(&filter, text, sprintf(text, "absent-%d", i));
    snprintf(path, sizeof path, "%s/libbloom_1/%d.bin", argv[1], sizes[s].keys);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(filter.bf, 1, filter.bytes, file) != (size_t)filter.bytes || fclose(file)) return 1;
    printf("libbloom_1 libbloom_1/%d.bin %d %d %d %g - 0 options=%d:%d:0\n", sizes[s].keys, sizes[s].keys, positives,
           sizes[s].capacity, sizes[s].rate, filter.bits, filter.hashes);
    bloom_free(&filter);
  }
  return 0;
}
