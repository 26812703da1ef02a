/*
 * A small store of sorted tables, as databases have them: each batch of writes becomes a file, newer ones overrule
 * older ones, and a lookup asks them from the newest to the oldest. A filter in each file says which of them need no
 * reading.
 *
 *     table_store [FILE]        FILE (/usr/share/dict/words) has one key a line
 *
 * Writes table-0.sst ... table-7.sst. A table file is its records, sorted, then the filter's image, then a footer.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLES = 8, KEY_SIZE = 56, BLOCK_RECORDS = 64 };

/* 64 bytes, so the image, which follows the records, lies at a multiple of 8 as it must. */
struct record {
    char key[KEY_SIZE];
    uint64_t value;
};

struct footer {
    uint64_t records, filter_offset;
};

/* An open table keeps its filter and the first key of each block of 4096 bytes; the records stay on the disk. */
struct table {
    int descriptor;
    uint64_t records, blocks;
    char (*first_keys)[KEY_SIZE];
    petal_filter *filter;
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

/* What was written when: every second key in one table, every sixth also in another. The rest is never written. */
static bool is_in(size_t key, size_t table) {
    return (key % 2 == 0 && key / 2 % TABLES == table) || (key % 6 == 0 && key / 6 % TABLES == table);
}

static bool write_bytes(void *file, const void *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length;
}

static void table_write(const char *path, char **keys, size_t count, size_t number, const petal_spec *spec) {
    FILE *file = fopen(path, "wb");
    petal_builder *builder;
    petal_filter *filter;
    struct footer footer = {0};
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
    int file = table->descriptor = open(path, O_RDONLY);
    must_do(file >= 0, path);
    off_t end = lseek(file, -(off_t)sizeof footer, SEEK_END);
    must_do(end >= 0 && pread(file, &footer, sizeof footer, end) == sizeof footer, path);
    must(petal_filter_open_descriptor(file, footer.filter_offset, NULL, &table->filter, &error));
    table->records = footer.records;
    table->blocks = (footer.records + BLOCK_RECORDS - 1) / BLOCK_RECORDS;
    table->first_keys = malloc(table->blocks * KEY_SIZE + 1);
    for (size_t i = 0; i < table->blocks; i++) {
        off_t at = (off_t)(i * BLOCK_RECORDS * sizeof(struct record));
        must_do(pread(file, table->first_keys[i], KEY_SIZE, at) == KEY_SIZE, path);
    }
}

static int compare_keys(const void *a, const void *b) {
    return strncmp(a, b, KEY_SIZE);
}

/* One read: the only block where the key can be. */
static bool table_read(const struct table *table, const char *key, uint64_t *value) {
    struct record block[BLOCK_RECORDS], *found;
    size_t low = 0, high = table->blocks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(compare_keys(key, table->first_keys[middle]) < 0 ? &high : &low) = middle;
    }
    ssize_t got = pread(table->descriptor, block, sizeof block, (off_t)(low * sizeof block));
    size_t left = table->records - low * BLOCK_RECORDS, count = left < BLOCK_RECORDS ? left : BLOCK_RECORDS;
    must_do(got >= (ssize_t)(count * sizeof *block), "read");
    found = bsearch(key, block, count, sizeof *block, compare_keys);
    if (found) *value = found->value;
    return found != NULL;
}
