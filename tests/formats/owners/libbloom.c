/* Bit arrays of libbloom 1; README.md says how it is called and what it prints. */
#include <bloom.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int count(struct bloom *filter, const char *prefix, int keys) {
  char text[32];
  int found = 0;
  for (int i = 0; i < keys; i++) found += bloom_check(filter, text, sprintf(text, "%s-%d", prefix, i));
  return found;
}

static int make(const char *folder, int keys, int capacity, double rate) {
  char path[4096], text[32];
  struct bloom filter;
  memset(&filter, 0, sizeof filter);
  if (bloom_init(&filter, capacity, rate)) return 1;
  for (int i = 0; i < keys; i++) bloom_add(&filter, text, sprintf(text, "key-%d", i));
  snprintf(path, sizeof path, "%s/libbloom_1", folder);
  mkdir(path, 0755);
  snprintf(path, sizeof path, "%s/libbloom_1/%d.bin", folder, keys);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(filter.bf, 1, filter.bytes, file) != (size_t)filter.bytes || fclose(file)) return 1;
  printf("libbloom_1 libbloom_1/%d.bin %d %d %d %g - 0 options=%d:%d:0\n", keys, keys, count(&filter, "absent", 10000),
         capacity, rate, filter.bits, filter.hashes);
  bloom_free(&filter);
  return 0;
}

/* Puts the bits of a line's file into a filter of the line's capacity and rate, as programs that keep them do. */
static int read_line(const char *folder, const char *line) {
  char path[4096], format[32], name[256];
  int keys, positives, capacity;
  double rate;
  struct bloom filter;
  if (sscanf(line, "%31s %255s %d %d %d %lf", format, name, &keys, &positives, &capacity, &rate) != 6 ||
      strcmp(format, "libbloom_1"))
    return 0;
  memset(&filter, 0, sizeof filter);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || bloom_init(&filter, capacity, rate)) return 1;
  int whole = fread(filter.bf, 1, filter.bytes, file) == (size_t)filter.bytes && fgetc(file) == EOF;
  fclose(file);
  int found = count(&filter, "key", keys), absent = count(&filter, "absent", 10000);
  int same = whole && found == keys && absent == positives;
  printf("%s %s: %d keys, %d positives\n", same ? "same" : "OTHER", name, found, absent);
  bloom_free(&filter);
  return !same;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (!strcmp(argv[1], "write")) {
    for (int i = 3; i < argc; i++) {
      int keys, capacity;
      double rate;
      failed += sscanf(argv[i], "%d:%d:%lf", &keys, &capacity, &rate) != 3 || make(argv[2], keys, capacity, rate);
    }
    return failed > 0;
  }
  char path[4096], line[1024];
  snprintf(path, sizeof path, "%s/vectors.txt", argv[2]);
  FILE *lines = fopen(path, "r");
  if (!lines) return 1;
  while (fgets(line, sizeof line, lines)) failed += read_line(argv[2], line);
  fclose(lines);
  return failed > 0;
}
