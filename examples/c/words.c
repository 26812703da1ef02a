/*
 * The main job on real input: one half of a word list goes into a filter, the filter goes into a
 * file, and the file, opened mapped, is asked for both halves. An exact set checks every answer.
 *
 *     words FILE        FILE has one key a line
 */
#define _POSIX_C_SOURCE 200809L
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FALSE_POSITIVE_RATE 0.01

/* Lines of a file: line i is bytes[offsets[i] .. offsets[i + 1]], as petal's batches take them. */
struct lines {
    char *bytes;
    uint64_t *offsets;
    size_t count;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void must(petal_status status, const petal_error *error) {
    if (status != PETAL_OK) {
        /* Calls for a single key take no petal_error. */
        fprintf(stderr, "petal: %s\n", error->status == status ? error->message : petal_status_message(status));
        exit(1);
    }
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The exact set: the words sorted, and a binary search. */
static bool set_has(char **set, size_t count, const char *word) {
    return bsearch(&word, set, count, sizeof *set, compare) != NULL;
}

static struct lines read_lines(const char *path) {
    struct lines lines = {0};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, used = 0, bytes_room = 0, offsets_room = 0;
    ssize_t length;
    if (!file) {
        perror(path);
        exit(1);
    }
    while ((length = getline(&line, &room, file)) >= 0) {
        if (length && line[length - 1] == '\n') length--;
        if (used + (size_t)length > bytes_room) {
            bytes_room = 2 * bytes_room + (size_t)length + 4096;
            lines.bytes = realloc(lines.bytes, bytes_room);
        }
        if (lines.count + 2 > offsets_room) {
            offsets_room = 2 * offsets_room + 1024;
            lines.offsets = realloc(lines.offsets, offsets_room * sizeof *lines.offsets);
        }
        if (!lines.bytes || !lines.offsets) exit(1);
        memcpy(lines.bytes + used, line, (size_t)length);
        lines.offsets[lines.count++] = used;
        lines.offsets[lines.count] = used += (size_t)length;
    }
    free(line);
    fclose(file);
    return lines;
}

int main(int argc, char **argv) {
    petal_error error = PETAL_ERROR_INIT;
    petal_statistics statistics = PETAL_STATISTICS_INIT;
    petal_description description = PETAL_DESCRIPTION_INIT;
    petal_filter *filter;

    if (argc != 2) {
        fprintf(stderr, "usage: words FILE\n");
        return 2;
    }
    struct lines lines = read_lines(argv[1]);

    /* Every second word is a member; the others are asked for as non-members. */
    char **words = malloc(lines.count * sizeof *words + 1);
    char **members = malloc(lines.count * sizeof *members + 1);
    uint64_t *lengths = malloc(lines.count * sizeof *lengths + 1);
    size_t member_count = 0, set_bytes = 0;
    for (size_t i = 0; i < lines.count; i++) {
        lengths[i] = lines.offsets[i + 1] - lines.offsets[i];
        words[i] = strndup(lines.bytes + lines.offsets[i], lengths[i]);
        if (i % 2 == 0) {
            members[member_count++] = words[i];
            set_bytes += lengths[i] + 1 + sizeof *members;
        }
    }
    qsort(members, member_count, sizeof *members, compare);

    petal_spec spec = PETAL_SPEC_INIT;
    spec.capacity = member_count;
    spec.false_positive_rate = FALSE_POSITIVE_RATE;
    must(petal_filter_new(&spec, &filter, &error), &error);
    double start = now();
    for (size_t i = 0; i < lines.count; i += 2) {
        must(petal_filter_insert(filter, lines.bytes + lines.offsets[i], lengths[i], NULL), &error);
    }
    double insert_time = (now() - start) / (double)(member_count ? member_count : 1);
    must(petal_filter_save(filter, "words.petal", &error), &error);
    petal_filter_free(filter);

    must(petal_filter_open("words.petal", NULL, &filter, &error), &error);
    must(petal_filter_verify(filter, &error), &error);
    must(petal_filter_describe(filter, &description, &error), &error);
    must(petal_filter_get_statistics(filter, &statistics, &error), &error);
    uint8_t *found = malloc(lines.count + 1);
    start = now();
    for (size_t i = 0; i < lines.count; i++) {
        found[i] = petal_filter_contains(filter, lines.bytes + lines.offsets[i], lengths[i]);
    }
    double lookup_time = (now() - start) / (double)(lines.count ? lines.count : 1);
    start = now();
    petal_keys keys = petal_keys_bytes(lines.bytes, lines.offsets ? lines.offsets[lines.count] : 0,
                                       lines.offsets, lines.count);
    petal_answers answers = PETAL_ANSWERS_INIT;
    must(petal_filter_contains_batch(filter, &keys, &answers, &error), &error);
    double batch_time = (now() - start) / (double)(lines.count ? lines.count : 1);

    /* The exact set says what each answer should have been. */
    size_t false_negatives = 0, false_positives = 0, non_members = 0;
    for (size_t i = 0; i < lines.count; i++) {
        bool member = set_has(members, member_count, words[i]);
        non_members += !member;
        false_negatives += member && !found[i];
        false_positives += !member && found[i];
        answers.true_count -= found[i];
    }
    printf("keys inserted            %zu\n", member_count);
    printf("filter, bytes            %llu (words.petal)\n", (unsigned long long)description.bytes);
    printf("exact set, bytes         %zu (%.1f times as many)\n", set_bytes,
           (double)set_bytes / (double)description.bytes);
    printf("false-positive rate      %.4f %% promised, %.4f %% by its bits, %.4f %% measured on %zu non-members\n",
           100 * FALSE_POSITIVE_RATE, 100 * statistics.false_positive_rate,
           non_members ? 100 * (double)false_positives / (double)non_members : 0.0, non_members);
    printf("false negatives: %zu\n", false_negatives);
    printf("insert                   %.1f ns a key\n", insert_time);
    printf("lookup                   %.1f ns a key, %.1f ns in one batch\n", lookup_time, batch_time);
    petal_filter_free(filter);
    for (size_t i = 0; i < lines.count; i++) free(words[i]);
    free(words), free(members), free(lengths), free(found), free(lines.bytes), free(lines.offsets);
    return false_negatives || answers.true_count ? 1 : 0;
}
