/*
 * A store that writes every block once, as archives do. A block is named by its SHA-256, so a block that is there
 * already need not be written again. The index of all names is too large for memory and lies on the disk. A new block
 * is in no index, and a search for it would find nothing. A filter in memory says so before the disk is read.
 *
 *     block_store [-b BYTES] FOLDER FILE...
 *
 * Puts the files into the store in FOLDER, in blocks of BYTES (4096), reads every block back and compares. Prints what
 * was not written, and how many searches of the index the filter saved. Call it again, with the same files or later
 * states of them: FOLDER holds the filter, too. One program at a time may write to a store.
 */
#define _XOPEN_SOURCE 700
#include <petal.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

static petal_error error = PETAL_ERROR_INIT;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void *check(void *result, const char *what) {
    if (result) return result;
    perror(what);
    exit(1);
}

/* --- The names: SHA-256 (FIPS 180-4) ------------------------------------------------------------------------------ */

static uint32_t turned(uint32_t x, int by) { return x >> by | x << (32 - by); }

static const uint32_t sha_start[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t sha_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha_block(uint32_t state[8], const unsigned char block[64]) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) {
        const unsigned char *at = block + 4 * i;
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t a = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25);
        uint32_t b = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22);
        uint32_t one = s[7] + a + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_rounds[i] + w[i];
        uint32_t two = b + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void sha256(const unsigned char *data, size_t length, unsigned char name[NAME]) {
    uint32_t state[8];
    memcpy(state, sha_start, sizeof state);
    size_t whole = length / 64, rest = length % 64;
    for (size_t i = 0; i < whole; i++) sha_block(state, data + 64 * i);
    unsigned char last[128] = {0};
    memcpy(last, data + 64 * whole, rest);
    last[rest] = 0x80;
    size_t end = rest < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; i++) last[end - 1 - i] = (unsigned char)((uint64_t)length * 8 >> 8 * i);
    for (size_t i = 0; i < end; i += 64) sha_block(state, last + i);
    for (int i = 0; i < NAME; i++) name[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* --- The store ---------------------------------------------------------------------------------------------------- */

/* A line of the index: where the block with a name lies. */
struct block {
    unsigned char name[NAME];
    uint64_t offset, length;
};

struct store {
    const char *folder;
    petal_filter *names; /* of all blocks */
    FILE *blocks;        /* one after the other */
    FILE *index;         /* entries on the disk, by name */
    uint64_t indexed;
    void *added; /* entries that are not in the index yet: a tree in memory */
    uint64_t end, given, given_bytes, written, written_bytes, known, searches, vain, reads;
};

static const char *path(const struct store *store, const char *name) {
    static char text[4096];
    if (snprintf(text, sizeof text, "%s/%s", store->folder, name) >= (int)sizeof text) exit(1);
    return text;
}

static int by_name(const void *a, const void *b) { return memcmp(a, b, NAME); }

/* Looks an entry up in the index on the disk. */
static bool search(struct store *store, const unsigned char *name, struct block *found) {
    uint64_t low = 0, high = store->indexed;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        store->reads++;
        if (fseeko(store->index, (off_t)(middle * sizeof *found), SEEK_SET) != 0 ||
            fread(found, sizeof *found, 1, store->index) != 1)
            check(NULL, "index");
        int order = memcmp(name, found->name, NAME);
        if (order == 0) return true;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return false;
}

static void open_store(struct store *store) {
    store->blocks = check(fopen(path(store, "blocks"), "a+b"), "blocks");
    store->index = check(fopen(path(store, "index"), "a+b"), "index");
    if (fseeko(store->blocks, 0, SEEK_END) != 0 || fseeko(store->index, 0, SEEK_END) != 0) check(NULL, "store");
    store->end = (uint64_t)ftello(store->blocks);
    store->indexed = (uint64_t)ftello(store->index) / sizeof(struct block);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.mode = PETAL_OPEN_LOAD;
    petal_status status = petal_filter_open(path(store, "names.petal"), &options, &store->names, &error);
    if (status == PETAL_ERR_NOT_FOUND && store->indexed == 0) {
        /* A new store. Nobody knows how many blocks will come, so the filter grows. */
        petal_spec spec = PETAL_SPEC_INIT;
        spec.kind = PETAL_KIND_SCALABLE;
        spec.capacity = 10000;
        spec.false_positive_rate = 0.01;
        status = petal_filter_new(&spec, &store->names, &error);
    }
    must(status);
}

/* Puts a block into the store, unless it is there. */
static void put(struct store *store, const unsigned char *block, size_t length) {
    struct block entry = {.offset = store->end, .length = length}, found;
    sha256(block, length, entry.name);
    store->given++;
    store->given_bytes += length;
    if (tfind(&entry, &store->added, by_name)) return;
    if (petal_filter_contains(store->names, entry.name, NAME)) {
        store->searches++;
        if (search(store, entry.name, &found)) {
            store->known++;
            return;
        }
        store->vain++;
    }
    /* The block is new: it is written, and its name is remembered. */
    must(petal_filter_insert(store->names, entry.name, NAME, NULL));
    if (fwrite(block, 1, length, store->blocks) != length) check(NULL, "blocks");
    store->end += length;
    store->written++;
    store->written_bytes += length;
    struct block *added = check(malloc(sizeof *added), "memory");
    *added = entry;
    check(tsearch(added, &store->added, by_name), "memory");
}

static FILE *merged;
static struct store *merging;
static struct block next;
static bool has_next;

static void read_next(void) { has_next = fread(&next, sizeof next, 1, merging->index) == 1; }

static void merge_entry(const void *node, VISIT visit, int depth) {
    (void)depth;
    if (visit != postorder && visit != leaf) return;
    const struct block *entry = *(struct block *const *)node;
    for (; has_next && by_name(&next, entry) < 0; read_next())
        if (fwrite(&next, sizeof next, 1, merged) != 1) check(NULL, "index");
    if (fwrite(entry, sizeof *entry, 1, merged) != 1) check(NULL, "index");
}

/* Merges what was added into the index. The filter is saved before that, so the filter always has all names of the
 * index. After a crash it may have more, which costs a search each. */
static void finish(struct store *store) {
    if (fflush(store->blocks) != 0) check(NULL, "blocks");
    must(petal_filter_save(store->names, path(store, "names.petal"), &error));
    merged = check(fopen(path(store, "index.new"), "w+b"), "index");
    merging = store;
    rewind(store->index);
    read_next();
    twalk(store->added, merge_entry);
    for (; has_next; read_next())
        if (fwrite(&next, sizeof next, 1, merged) != 1) check(NULL, "index");
    if (fflush(merged) != 0) check(NULL, "index");
    char from[4096];
    strcpy(from, path(store, "index.new"));
    if (rename(from, path(store, "index")) != 0) check(NULL, "index");
    fclose(store->index);
    store->index = merged;
    store->indexed += store->written;
    while (store->added) {
        void *entry = *(void **)store->added;
        tdelete(entry, &store->added, by_name);
        free(entry);
    }
}

/* Reads a block back and compares. */
static bool is_there(struct store *store, const unsigned char *block, size_t length, unsigned char *buffer) {
    struct block entry;
    unsigned char name[NAME];
    sha256(block, length, name);
    return petal_filter_contains(store->names, name, NAME) && search(store, name, &entry) && entry.length == length &&
           fseeko(store->blocks, (off_t)entry.offset, SEEK_SET) == 0 &&
           fread(buffer, 1, length, store->blocks) == length && memcmp(buffer, block, length) == 0;
}

int main(int argc, char **argv) {
    size_t size = 4096;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-b") == 0) {
        size = strtoull(argv[2], NULL, 10);
        first = 3;
    }
    if (argc < first + 2 || size == 0) {
        fprintf(stderr, "usage: block_store [-b BYTES] FOLDER FILE...\n");
        return 2;
    }
    unsigned char name[NAME], *block = check(malloc(size), "memory"), *again = check(malloc(size), "memory");
    sha256((const unsigned char *)"abc", 3, name);
    if (memcmp(name, "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c"
                     "\xb4\x10\xff\x61\xf2\x00\x15\xad", NAME) != 0) {
        fprintf(stderr, "SHA-256 is wrong\n");
        return 1;
    }
    struct store store = {.folder = argv[first]};
    open_store(&store);
    for (int i = first + 1; i < argc; i++) {
        FILE *file = check(fopen(argv[i], "rb"), argv[i]);
        for (size_t length; (length = fread(block, 1, size, file)) > 0;) put(&store, block, length);
        fclose(file);
    }
    finish(&store);
    uint64_t reads = store.reads, missing = 0;
    for (int i = first + 1; i < argc; i++) {
        FILE *file = check(fopen(argv[i], "rb"), argv[i]);
        for (size_t length; (length = fread(block, 1, size, file)) > 0;)
            missing += !is_there(&store, block, length, again);
        fclose(file);
    }
    petal_description description = PETAL_DESCRIPTION_INIT;
    must(petal_filter_describe(store.names, &description, &error));
    uint64_t asked = store.written + store.known;
    printf("%llu blocks of %llu bytes came; %llu of %llu bytes were written: saved %.1f %% of the disk\n",
           (unsigned long long)store.given, (unsigned long long)store.given_bytes, (unsigned long long)store.written,
           (unsigned long long)store.written_bytes,
           store.given_bytes ? 100 - 100 * (double)store.written_bytes / (double)store.given_bytes : 0.0);
    printf("the index was searched for %llu of %llu blocks, in %llu reads: saved %llu searches; %llu were vain\n",
           (unsigned long long)store.searches, (unsigned long long)asked, (unsigned long long)reads,
           (unsigned long long)(asked - store.searches), (unsigned long long)store.vain);
    printf("the filter takes %llu bytes, the index %llu bytes; %llu blocks were not read back\n",
           (unsigned long long)description.bytes, (unsigned long long)(store.indexed * sizeof(struct block)),
           (unsigned long long)missing);
    petal_filter_free(store.names);
    fclose(store.blocks);
    fclose(store.index);
    free(block);
    free(again);
    return missing != 0;
}
