/*
 * A small store of sorted tables, as databases have them: each batch of writes becomes a file, newer files overrule
 * older ones, and a lookup asks them from the newest to the oldest. A filter inside each file tells which of them need
 * no reading.
 *
 *     table_store [FILE]        FILE (/usr/share/dict/words) has one key a line
 *
 * Writes table-0.sst to table-7.sst. A table file is its sorted records, the filter's image, and a footer.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLES = 8, KEY_SIZE = 56 };

/* 64 bytes each, so the image that follows them lies at a multiple of 8, as it must. */
struct record {
    char key[KEY_SIZE];
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

/* What lookups cost: tables searched, and records read for that. */
struct cost {
    uint64_t searches, useless_searches, reads;
};

static petal_error error = {.struct_size = sizeof error};

static void must(petal_status status) {
    if (status != PETAL_OK) {
        fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
        exit(1);
    }
}

static void must_do(bool done, const char *what) {
    if (!done) {
        perror(what);
        exit(1);
    }
}

/* What was written when: every second key into one table, every sixth into another one too, the odd ones never. */
static bool is_in(size_t key, size_t table) {
    return (key % 2 == 0 && key / 2 % TABLES == table) || (key % 6 == 0 && key / 6 % TABLES == table);
}

static bool write_bytes(void *file, const void *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length;
}

static void table_write(const char *path, size_t number, char **keys, size_t count, const petal_spec *spec) {
    struct footer footer = {0};
    petal_builder *builder;
    petal_filter *filter;
    FILE *file = fopen(path, "wb");
    must_do(file != NULL, path);
    must(petal_builder_new(spec, NULL, &builder, &error));
    for (size_t i = 0; i < count; i++) {
        if (!is_in(i, number)) continue;
        struct record record = {.value = i * TABLES + number};
        strcpy(record.key, keys[i]);
        must_do(write_bytes(file, &record, sizeof record), path);
        must(petal_builder_add(builder, keys[i], strlen(keys[i])));
        footer.records++;
    }
    footer.filter_offset = footer.records * sizeof(struct record);
    must(petal_builder_finish(builder, &filter, &error));
    must(petal_filter_write(filter, write_bytes, file, &error));
    must_do(write_bytes(file, &footer, sizeof footer) && fclose(file) == 0, path);
    petal_filter_free(filter);
    petal_builder_free(builder);
}

static void table_open(struct table *table, const char *path) {
    struct footer footer;
    table->descriptor = open(path, O_RDONLY);
    off_t end = lseek(table->descriptor, -(off_t)sizeof footer, SEEK_END);
    must_do(end >= 0 && pread(table->descriptor, &footer, sizeof footer, end) == sizeof footer, path);
    must(petal_filter_open_descriptor(table->descriptor, footer.filter_offset, NULL, &table->filter, &error));
    table->records = footer.records;
}

/* A binary search on the disk. (With an index in memory one read would do; the filter saves that one too.) */
static bool table_search(const struct table *table, const char *key, uint64_t *value, struct cost *cost) {
    uint64_t low = 0, high = table->records;
    cost->searches++;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct record record;
        off_t offset = (off_t)(middle * sizeof record);
        must_do(pread(table->descriptor, &record, sizeof record, offset) == sizeof record, "table");
        cost->reads++;
        int order = strcmp(key, record.key);
        if (order == 0) return *value = record.value, true;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    cost->useless_searches++;
    return false;
}

/* The newest value. The filters have one hash function and seed, so the key is hashed once for all of them. */
static bool store_get(const struct table *tables, const char *key, bool ask_filters, uint64_t *value,
                      struct cost *cost) {
    uint64_t hash;
    must(petal_filter_hash(tables[0].filter, key, strlen(key), &hash));
    for (size_t t = TABLES; t-- > 0;) {
        if (ask_filters && !petal_filter_contains_hash(tables[t].filter, hash)) continue;
        if (table_search(&tables[t], key, value, cost)) return true;
    }
    return false;
}
