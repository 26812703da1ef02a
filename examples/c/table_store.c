/*
 * A small store of sorted tables, as databases have them: each batch of writes becomes a file, newer files overrule
 * older ones, and a lookup asks from the newest to the oldest. A filter inside each file says which need no reading.
 *
 *     table_store [FILE]        FILE (/usr/share/dict/words) has one key a line
 *
 * Writes table-0.sst to table-7.sst: sorted records, the image of the filter, a footer.
 */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLES = 8, MAX_KEYS = 1 << 20, ABSENT = 0 };

/* 64 bytes each, so that the image after them lies at a multiple of 8, as it must. */
struct record {
    char key[56];
    uint64_t value;
};

struct footer {
    uint64_t records, filter_offset;
};

struct table {
    int descriptor;
    uint64_t records;
    petal_filter *filter;
};

static petal_error error = PETAL_ERROR_INIT;
static uint64_t searches, reads;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void must_do(bool done, const char *what) {
    if (!done) perror(what), exit(1);
}

static bool write_bytes(void *file, const void *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length;
}

static void table_write(const char *path, const struct record *records, uint64_t count) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.false_positive_rate = 0.01;
    struct footer footer = {.records = count, .filter_offset = count * sizeof *records};
    petal_builder *builder;
    petal_filter *filter;
    FILE *file = fopen(path, "wb");
    must_do(file != NULL, path);
    must(petal_builder_new(&spec, NULL, &builder, &error));
    for (size_t i = 0; i < count; i++) must(petal_builder_add(builder, records[i].key, strlen(records[i].key)));
    must(petal_builder_finish(builder, &filter, &error));
    must_do(write_bytes(file, records, count * sizeof *records), path);
    must(petal_filter_serialize_to(filter, write_bytes, file, &error));
    must_do(write_bytes(file, &footer, sizeof footer) && fclose(file) == 0, path);
    petal_filter_free(filter), petal_builder_free(builder);
}

static struct table table_open(const char *path) {
    struct table table = {.descriptor = open(path, O_RDONLY)};
    struct footer footer;
    off_t end = lseek(table.descriptor, -(off_t)sizeof footer, SEEK_END);
    must_do(end >= 0 && pread(table.descriptor, &footer, sizeof footer, end) == sizeof footer, path);
    must(petal_filter_open_descriptor(table.descriptor, footer.filter_offset, NULL, &table.filter, &error));
    table.records = footer.records;
    return table;
}

/* A binary search on the disk. With an index in memory one read would do, and the filter would save that one. */
static uint64_t table_search(const struct table *table, const char *key) {
    searches++;
    for (uint64_t low = 0, high = table->records; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        struct record record;
        must_do(pread(table->descriptor, &record, sizeof record, (off_t)(middle * sizeof record)) > 0, "table");
        reads++;
        int order = strcmp(key, record.key);
        if (order == 0) return record.value;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return ABSENT;
}

/* The newest value. All filters have one hash function and seed, so the key is hashed once for all of them. */
static uint64_t store_get(const struct table *tables, const char *key, bool ask_filters) {
    uint64_t hash, value = ABSENT;
    must(petal_filter_hash(tables[0].filter, key, strlen(key), &hash));
    for (int t = TABLES - 1; t >= 0 && value == ABSENT; t--) {
        if (!ask_filters || petal_filter_contains_hash(tables[t].filter, hash)) value = table_search(&tables[t], key);
    }
    return value;
}

static int compare(const void *a, const void *b) {
    return strcmp(a, b);
}

int main(int argc, char **argv) {
    static struct record truth[MAX_KEYS], batch[MAX_KEYS];
    struct table tables[TABLES];
    size_t count = 0, lines = 0, wrong = 0;
    uint64_t filter_bytes = 0, image_bytes, reads_without = 0;
    FILE *file = fopen(argc > 1 ? argv[1] : "/usr/share/dict/words", "r");
    must_do(file != NULL, "keys");
    while (lines < MAX_KEYS && fgets(truth[lines].key, sizeof truth->key, file)) lines++;
    fclose(file);
    qsort(truth, lines, sizeof *truth, compare);
    for (size_t i = 0; i < lines; i++) {
        if (i == 0 || compare(&truth[i], &truth[i - 1]) != 0) truth[count++] = truth[i];
    }

    /* Half of the keys are written, a third of those a second time, which overrules the first; the rest is absent. */
    for (size_t t = 0; t < TABLES; t++) {
        char path[32];
        size_t writes = 0;
        for (size_t i = 0; i < count; i += 2) {
            if (i / 2 % TABLES != t && (i % 6 != 0 || i / 6 % TABLES != t)) continue;
            truth[i].value = i * TABLES + t + 1;
            batch[writes++] = truth[i];
        }
        snprintf(path, sizeof path, "table-%zu.sst", t);
        table_write(path, batch, writes);
        tables[t] = table_open(path);
        must(petal_filter_serialized_size(tables[t].filter, &image_bytes, NULL)), filter_bytes += image_bytes;
    }

    printf("%zu keys looked up, half of them absent; 8 tables, filters of %llu bytes in all\n", count,
           (unsigned long long)filter_bytes);
    for (int ask_filters = 0; ask_filters < 2; ask_filters++) {
        reads_without = reads, searches = reads = 0;
        for (size_t i = 0; i < count; i++) wrong += store_get(tables, truth[i].key, ask_filters) != truth[i].value;
        printf("%-15s %9llu tables searched, %9llu records read\n", ask_filters ? "with filters" : "without filters",
               (unsigned long long)searches, (unsigned long long)reads);
    }
    printf("reads saved     %.1f %%; wrong answers: %zu\n",
           reads_without ? 100 - 100 * (double)reads / (double)reads_without : 0.0, wrong);
    for (size_t t = 0; t < TABLES; t++) petal_filter_free(tables[t].filter), close(tables[t].descriptor);
    return wrong != 0;
}
