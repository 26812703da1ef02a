/*
 * Is this certificate revoked? The question goes to a file that the command built from all certificates, one a line:
 * the issuer in four bytes, a colon, and the serial number. No certificate of the list gets a wrong answer.
 *
 *     revocations -g 1000000 -d 0
 *     petal build --partition-prefix 4 --universe certificates-0.txt -o revoked.petal revoked-0.txt
 *     revocations -f revoked.petal < certificates-0.txt
 *
 * The kind is exact_set, because all certificates are known, from logs that everybody reads. Some issuers have revoked
 * nothing, some a tenth, and some nearly all: the first four bytes of a key choose its partition, and each partition is
 * stored as suits its share.
 *
 * The next day a few certificates are new, a few have expired, and a few more are revoked. The file is brought up to
 * date, and what travels is the delta:
 *
 *     revocations -g 1000000 -d 1
 *     petal build --partition-prefix 4 --universe certificates-1.txt --update revoked.petal -o newer.petal \
 *         revoked-1.txt
 *     petal delta revoked.petal newer.petal -o change.delta
 *     revocations -f revoked.petal -p change.delta < certificates-1.txt
 *
 * -b N does all of that alone, for N certificates, compares each answer, and says how many bytes everything takes.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <petal.h>
#include <petal_more.h>
#include <petal_wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ISSUERS = 300, PREFIX = 4, KEY = PREFIX + 1 + 16 };

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A number from 0 to 1, the same for the same place. */
static double chance(uint64_t place, uint64_t what) {
    return (double)(mix(mix(place) + what) >> 11) / 9007199254740992.0;
}

static void check(petal_status status, const petal_error *error, const char *what) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "revocations: %s: %s\n", what, error->message);
    exit(1);
}

/* Certificate number i. A few issuers have most certificates. */
static unsigned issuer_of(uint64_t i) {
    double place = chance(i, 1);
    return (unsigned)(ISSUERS * place * place * place);
}

static void write_key(char key[KEY + 1], uint64_t i) {
    snprintf(key, KEY + 1, "I%03u:%016" PRIx64, issuer_of(i), mix(i));
}

/* Whether a certificate is known, and whether it is revoked, on a day. Each day a thousandth expires and as many come;
 * of those that were not revoked a few are. */
static bool is_known(uint64_t i, uint64_t count, unsigned day) {
    return i >= count / 1000 * day && i < count + count / 1000 * day;
}

static bool is_revoked(uint64_t i, unsigned day) {
    static const double shares[] = {0, 0, .001, .004, .01, .02, .1, .3, .9, 1};
    double share = shares[mix(issuer_of(i) + 77) % 10];
    if (chance(i, 2) < share) return true;
    return share > 0 && chance(i, 3) < .001 * share * day;
}

/* Writes the lists of a day. */
static void generate(uint64_t count, unsigned day) {
    char name[64], key[KEY + 1];
    snprintf(name, sizeof name, "revoked-%u.txt", day);
    FILE *revoked = fopen(name, "w");
    snprintf(name, sizeof name, "certificates-%u.txt", day);
    FILE *all = fopen(name, "w");
    if (revoked == NULL || all == NULL) {
        perror("revocations");
        exit(1);
    }
    for (uint64_t i = 0; i < 2 * count; i++) {
        if (!is_known(i, count, day)) continue;
        write_key(key, i);
        fprintf(all, "%s\n", key);
        if (is_revoked(i, day)) fprintf(revoked, "%s\n", key);
    }
    if (fclose(revoked) != 0 || fclose(all) != 0) {
        perror("revocations");
        exit(1);
    }
}

/* The filter of a day, made anew or, of an older one, brought up to date. */
static petal_filter *build(uint64_t count, unsigned day, const petal_filter *old) {
    petal_error error = PETAL_ERROR_INIT;
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_EXACT_SET;
    petal_builder *builder;
    petal_filter *filter;
    char key[KEY + 1];
    check(petal_spec_set(&spec, "partition_prefix_bytes", PREFIX, &error), &error, "the prefix");
    check(petal_builder_new(&spec, NULL, &builder, &error), &error, "a builder");
    if (old != NULL) check(petal_builder_update(builder, old, &error), &error, "an update");
    for (uint64_t i = 0; i < 2 * count; i++) {
        if (!is_known(i, count, day)) continue;
        write_key(key, i);
        petal_status status = is_revoked(i, day) ? petal_builder_add(builder, key, KEY)
                                                 : petal_builder_exclude(builder, key, KEY);
        if (status != PETAL_OK) {
            fprintf(stderr, "revocations: %s: %s\n", key, petal_status_message(status));
            exit(1);
        }
    }
    check(petal_builder_finish(builder, &filter, &error), &error, "building");
    petal_builder_free(builder);
    return filter;
}

/* How many certificates of a day get a wrong answer. */
static uint64_t errors_of(const petal_filter *filter, uint64_t count, unsigned day) {
    uint64_t wrong = 0;
    char key[KEY + 1];
    for (uint64_t i = 0; i < 2 * count; i++) {
        if (!is_known(i, count, day)) continue;
        write_key(key, i);
        wrong += petal_filter_contains(filter, key, KEY) != is_revoked(i, day);
    }
    return wrong;
}

static double entropy_of(double part, double all) {
    if (part <= 0 || part >= all) return 0;
    return part * log2(all / part) + (all - part) * log2(all / (all - part));
}

/* The bytes that a form takes, which this sink counts and keeps. */
typedef struct {
    unsigned char *bytes;
    size_t length, room;
} form;

static bool keep(void *context, const void *bytes, size_t length) {
    form *to = context;
    if (length > to->room - to->length) {
        size_t room = 2 * (to->length + length);
        unsigned char *more = realloc(to->bytes, room);
        if (more == NULL) return false;
        to->bytes = more;
        to->room = room;
    }
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    return true;
}

/* Two days, in one process. */
static bool both_days(uint64_t count) {
    petal_error error = PETAL_ERROR_INIT;
    uint64_t revoked[ISSUERS] = {0}, known[ISSUERS] = {0}, all = 0, changed = 0, wrong;
    for (uint64_t i = 0; i < 2 * count; i++) {
        bool was = is_known(i, count, 0), is = is_known(i, count, 1);
        known[issuer_of(i)] += was;
        revoked[issuer_of(i)] += was && is_revoked(i, 0);
        all += was && is_revoked(i, 0);
        changed += was && is && is_revoked(i, 0) != is_revoked(i, 1);
    }
    double least = 0;
    for (int i = 0; i < ISSUERS; i++) least += entropy_of((double)revoked[i], (double)known[i]) / 8;

    petal_filter *first = build(count, 0, NULL), *second = build(count, 1, first), *patched = first;
    uint64_t bytes = 0;
    form delta = {NULL, 0, 0}, packed = {NULL, 0, 0};
    check(petal_filter_serialized_size(first, &bytes, &error), &error, "the size");
    check(petal_filter_delta_to(first, second, keep, &delta, &error), &error, "the delta");
    check(petal_filter_pack_to(second, keep, &packed, &error), &error, "packing");
    wrong = errors_of(first, count, 0) + errors_of(second, count, 1);
    check(petal_filter_patch(patched, delta.bytes, delta.length, UINT64_C(1) << 32, &error), &error, "patching");
    wrong += errors_of(patched, count, 1);
    printf("certificates       %" PRIu64 ", %" PRIu64 " of them revoked, %" PRIu64 " more the day after\n", count, all,
           changed);
    printf("image              %" PRIu64 " bytes; entropy of all issuers' shares %.0f\n", bytes, least);
    printf("delta              %zu bytes; the newer image, packed, %zu\n", delta.length, packed.length);
    printf("wrong answers      %" PRIu64 "\n", wrong);
    free(delta.bytes);
    free(packed.bytes);
    petal_filter_free(first);
    petal_filter_free(second);
    return wrong == 0;
}

int main(int argc, char **argv) {
    petal_error error = PETAL_ERROR_INIT;
    const char *path = "revoked.petal", *delta = NULL;
    uint64_t generated = 0, built = 0;
    unsigned day = 0;
    for (int option; (option = getopt(argc, argv, "b:d:f:g:p:")) != -1;) {
        if (option == 'b') built = strtoull(optarg, NULL, 10);
        else if (option == 'd') day = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'f') path = optarg;
        else if (option == 'g') generated = strtoull(optarg, NULL, 10);
        else if (option == 'p') delta = optarg;
        else return fprintf(stderr, "usage: revocations [-b N] [-g N [-d DAY]] [-f FILTER [-p DELTA]]\n"), 2;
    }
    if (built > 0) return !both_days(built);
    if (generated > 0) return generate(generated, day), 0;

    petal_filter *revoked;
    petal_open_options load = PETAL_OPEN_OPTIONS_INIT;
    load.mode = PETAL_OPEN_LOAD;
    check(petal_filter_open(path, &load, &revoked, &error), &error, path);
    if (delta != NULL) {
        FILE *file = fopen(delta, "rb");
        form change = {NULL, 0, 0};
        unsigned char piece[4096];
        for (size_t length; file != NULL && (length = fread(piece, 1, sizeof piece, file)) > 0;) {
            if (!keep(&change, piece, length)) return 1;
        }
        if (file == NULL || ferror(file)) return perror(delta), 1;
        fclose(file);
        check(petal_filter_patch(revoked, change.bytes, change.length, UINT64_C(1) << 32, &error), &error, delta);
        check(petal_filter_save(revoked, path, &error), &error, path);
        free(change.bytes);
    }
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        puts(petal_filter_contains(revoked, line, strcspn(line, "\n")) ? "revoked" : "valid");
    }
    petal_filter_free(revoked);
    return 0;
}
