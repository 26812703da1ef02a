/* Prints all that a libbloom 1 does with thousands of parameters and keys: run under two libraries, it has to print the
 * same. Compiled against libbloom's own header, at a fixed address, so that printed pointers are the same too.
 *
 * A bit array is printed as a hash of its bytes. Parameters under which libbloom divides by zero (no bit, but hashes)
 * are not used beyond making the filter. */
#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

unsigned int murmurhash2(const void *key, int len, const unsigned int seed);

/* Everything is static: under `-no-pie` it lies at the same place in each run. */
static struct bloom bloom;
static unsigned char keys[4096];
static uint64_t state = 1;

static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t hash_of(const unsigned char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325 ^ length;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    for (; i < length; i++)
        hash = (hash ^ bytes[i]) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

/* Every byte of the struct, with its padding, except the pointer, of which only counts whether it is there. */
static void show(const char *what, int rc)
{
    unsigned char bytes[sizeof bloom];
    memcpy(bytes, &bloom, sizeof bytes);
    const void *untouched;
    memset(&untouched, 0xa5, sizeof untouched);
    const char *array = bloom.bf == untouched ? "untouched" : bloom.bf ? "there" : "NULL";
    memset(bytes + offsetof(struct bloom, bf), 0, sizeof(void *));
    printf("%s: %d, bf %s, ", what, rc, array);
    for (size_t i = 0; i < sizeof bytes; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void array(const char *what)
{
    printf("%s: %016llx\n", what, (unsigned long long)hash_of(bloom.bf, (size_t)bloom.bytes));
}

static void use(unsigned length_limit)
{
    enum { KEYS = 400 };
    unsigned added = 0, found = 0;
    uint64_t answers = 0;
    for (int i = 0; i < KEYS; i++) {
        const unsigned char *key = keys + next() % (sizeof keys - length_limit);
        int length = (int)(next() % length_limit);
        int rc = i % 2 ? bloom_add(&bloom, key, length) : bloom_check(&bloom, key, length);
        if (i % 2)
            added += (unsigned)rc;
        else
            found += (unsigned)rc;
        answers = answers * 3 + (uint64_t)rc + 1;
    }
    printf("%u were there when added, %u when looked up, %016llx\n", added, found, (unsigned long long)answers);
    array("bits");
}

static void one(int entries, double error)
{
    printf("-- %d %a\n", entries, error);
    memset(&bloom, 0xa5, sizeof bloom);
    int rc = bloom_init(&bloom, entries, error);
    show("init", rc);
    if (rc == 0) {
        if (bloom.bits != 0 || bloom.hashes == 0) {
            use(64);
            if (bloom.bytes < 1 << 20)
                use(1024);
        }
        bloom_print(&bloom);
        if (bloom.bytes < 1 << 24)
            printf("reset: %d\n", bloom_reset(&bloom));
        array("bits");
        bloom_free(&bloom);
        show("freed", 0);
    }
    if (bloom.ready == 0) {
        printf("add, check and reset afterwards: %d", bloom_add(&bloom, "a", 1));
        printf(" %d %d\n", bloom_check(&bloom, "a", 1), bloom_reset(&bloom));
        bloom_free(&bloom);
        bloom_free(&bloom);
        show("freed twice more", 0);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof keys; i++)
        keys[i] = (unsigned char)next();
    printf("version %s\n", bloom_version());

    static const int entries[] = {INT_MIN, -1000, -1, 0, 1, 999, 1000, 1001, 1024, 4095, 10000, 65537, 1000003,
        10000000, INT_MAX / 2, INT_MAX - 1, INT_MAX};
    static const double errors[] = {0, -0.0, 5e-324, 1e-300, 1e-30, 1e-9, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.6,
        0.7, 0.9, 0.99, 0.999, 0.9999, 0.999999, 1, 1.000000001, 1.0001, 1.002, 1.003, 1.004, 1.006, 1.01, 1.5, 2, 1e10,
        1e300, -1e-9, -0.5, -1, -2};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        for (size_t j = 0; j < sizeof errors / sizeof *errors; j++)
            one(entries[i], errors[j]);
        one(entries[i], (double)INFINITY);
        one(entries[i], -(double)INFINITY);
        one(entries[i], (double)NAN);
        one(entries[i], -(double)NAN);
    }
    for (int i = 0; i < 3000; i++) {
        double error = ldexp((double)(next() >> 11), -53 - (int)(next() % 40));
        one(1000 + (int)(next() % (i % 50 ? 20000 : 2000000)), error);
    }

    printf("-- a deprecated function, and one that no header names\n");
    memset(&bloom, 0xa5, sizeof bloom);
    show("init_size", bloom_init_size(&bloom, 12345, 0.01, 99));
    use(64);
    bloom_free(&bloom);
    for (int length = -70; length < 70; length++)
        printf("%08x ", murmurhash2(keys, length, (unsigned)next()));
    for (int length = 70; length < 4096; length += 67)
        printf("%08x ", murmurhash2(keys, length, (unsigned)next()));
    printf("%08x\n", murmurhash2(NULL, 0, 7));

    printf("-- keys of no bytes, at no place, of lengths below 0\n");
    show("init", bloom_init(&bloom, 1000, 0.01));
    printf("%d", bloom_add(&bloom, NULL, 0));
    printf(" %d", bloom_check(&bloom, "a", 0));
    for (int length = -1; length > -2000; length = length * 3 - 1)
        printf(" %d", bloom_add(&bloom, keys, length));
    printf(" %d\n", bloom_check(&bloom, NULL, INT_MIN));
    array("bits");

    printf("-- full, then empty\n");
    for (int i = 0; i < 20000; i++)
        bloom_add(&bloom, &i, sizeof i);
    use(64);
    printf("%d\n", bloom_reset(&bloom));
    use(64);

    printf("-- made again while it is ready\n");
    unsigned char *before = bloom.bf;
    show("init", bloom_init(&bloom, 2000, 0));
    show("init", bloom_init(&bloom, 2000, 0.1));
    printf("%s\n", before == bloom.bf ? "the same array" : "another array");
    use(64);
    bloom_free(&bloom);
    return 0;
}
