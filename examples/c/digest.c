/*
 * An investigator's question: did these bytes go by, in which packet, and at which offset? A digest keeps a few
 * hundredths of the packets' bytes. The program looks for excerpts of packets, for random bytes that never went by, and
 * for excerpts that are stitched from several packets. It does so in digests with one to three levels without ids, and
 * in one with ids.
 *
 *     digest [-n PACKETS] [-r RUNS] [-o PICTURE.svg]
 *
 * PACKETS (4000) random packets of 1,500 bytes go by. The picture shows how often excerpts are found that did not go
 * by, over their length: dots for the shares of RUNS (300) excerpts at each length, and lines for what the library
 * expects. Every true excerpt has to be result.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <petal_digest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKET = 1500, BLOCK = 32, CURVES = 4, LENGTHS = 8 };

static petal_error error = PETAL_ERROR_INIT;
static uint64_t state = 2004;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

/* SplitMix64. */
static uint64_t next_random(void) {
    uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void fill(unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) bytes[i] = (unsigned char)(next_random() >> 56);
}

static petal_digest *make(unsigned char (*packets)[PACKET], uint64_t count, double levels, double ids) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_DIGEST;
    spec.capacity = count * PACKET;
    must(petal_spec_set(&spec, "levels", levels, &error));
    must(petal_spec_set(&spec, "payloads", ids, &error));
    must(petal_spec_set(&spec, "bytes_per_byte", 0.05, &error));
    petal_digest *digest = NULL;
    must(petal_digest_new(&spec, &digest, &error));
    for (uint64_t i = 0; i < count; i++) must(petal_digest_add(digest, i, packets[i], PACKET, &error));
    return digest;
}

/* Any packet. */
#define ANY UINT64_MAX

/* Whether an excerpt is found: in `packet` at `offset`, or anywhere if the packet is `ANY`. */
static bool is_found(const petal_digest *digest, const unsigned char *excerpt, size_t length, uint64_t packet,
                     uint64_t offset) {
    static petal_digest_match matches[20000];
    petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
    must(petal_digest_find(digest, excerpt, length, NULL, matches, 20000, &result, &error));
    if (packet == ANY) return result.match_count > 0;
    for (size_t i = 0; i < result.match_count; i++) {
        bool is_named = !result.names_payloads || matches[i].payload == packet;
        if (is_named && matches[i].offset == offset) return true;
    }
    return !result.is_complete;
}

int main(int argc, char **argv) {
    uint64_t count = 4000, runs = 300;
    const char *picture = "digest.svg";
    for (int option; (option = getopt(argc, argv, "n:r:o:")) != -1;) {
        if (option == 'n') count = strtoull(optarg, NULL, 10);
        else if (option == 'r') runs = strtoull(optarg, NULL, 10);
        else if (option == 'o') picture = optarg;
        else return fprintf(stderr, "usage: digest [-n PACKETS] [-r RUNS] [-o PICTURE.svg]\n"), 2;
    }
    unsigned char(*packets)[PACKET] = count > 0 && runs > 0 ? malloc(count * sizeof *packets) : NULL;
    FILE *svg = fopen(picture, "w");
    if (!packets || !svg) return perror("digest"), 1;
    for (uint64_t i = 0; i < count; i++) fill(packets[i], PACKET);

    static const char *names[CURVES] = {"1 level", "2 levels", "3 levels", "1 level and ids"};
    static const char *colours[CURVES] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8e6bbf"};
    fprintf(svg, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 660 380' font-family='sans-serif' "
                 "font-size='13'>\n<rect width='660' height='380' fill='white'/>\n");
    fprintf(svg, "<text x='60' y='24'>excerpts that are found, of those that did not go by (filter 1/20 of the data)"
                 "</text>\n");
    for (int i = 0; i <= 4; i++) {
        int y = 340 - 75 * i;
        fprintf(svg, "<path d='M60 %d H620' stroke='#ddd'/><text x='52' y='%d' text-anchor='end'>%d %%</text>\n", y,
                y + 4, 25 * i);
    }
    uint64_t missed = 0;
    for (int curve = 0; curve < CURVES; curve++) {
        petal_digest *digest = make(packets, count, curve == 3 ? 1 : curve + 1, curve == 3 ? (double)count : 0);
        unsigned char excerpt[PACKET];
        fprintf(svg, "<path fill='none' stroke='%s' d='", colours[curve]);
        for (int length = 2 * BLOCK; length <= 192; length += 2) {
            double rate = 0;
            must(petal_digest_expected_rate(digest, (uint64_t)length, &rate, &error));
            fprintf(svg, "%s%d %.1f", length == 2 * BLOCK ? "M" : " L", 60 + 560 * (length - 64) / 128,
                    340 - 300 * rate);
        }
        fprintf(svg, "'/>\n<text x='480' y='%d' fill='%s'>%s</text>\n", 60 + 20 * curve, colours[curve], names[curve]);
        printf("%s\n", names[curve]);
        for (int i = 0; i < LENGTHS; i++) {
            size_t length = 64 + 16 * (size_t)i;
            uint64_t found = 0;
            for (uint64_t run = 0; run < runs; run++) {
                fill(excerpt, length);
                found += is_found(digest, excerpt, length, ANY, 0);
                uint64_t packet = next_random() % count, offset = next_random() % (PACKET - BLOCK + 1 - length);
                memcpy(excerpt, packets[packet] + offset, length);
                missed += !is_found(digest, excerpt, length, packet, offset);
            }
            double expected = 0, share = (double)found / (double)runs;
            must(petal_digest_expected_rate(digest, length, &expected, &error));
            printf("  %3zu bytes: %.3f found, %.3f expected\n", length, share, expected);
            fprintf(svg, "<circle cx='%zu' cy='%.1f' r='3.5' fill='%s'/>\n", 60 + 560 * (length - 64) / 128,
                    340 - 300 * share, colours[curve]);
        }
        uint64_t stitched = 0;
        for (uint64_t run = 0; run < runs; run++) {
            uint64_t first = next_random() % 43;
            for (uint64_t i = 0; i < 4; i++) {
                memcpy(excerpt + BLOCK * i, packets[next_random() % count] + BLOCK * (first + i), BLOCK);
            }
            stitched += is_found(digest, excerpt, 4 * BLOCK, ANY, 0);
        }
        printf("  stitched from four packets: %.3f found\n", (double)stitched / (double)runs);
        petal_digest_free(digest);
    }
    for (int length = 64; length <= 192; length += 32) {
        fprintf(svg, "<text x='%d' y='360' text-anchor='middle'>%d</text>\n", 60 + 560 * (length - 64) / 128, length);
    }
    fprintf(svg, "<text x='340' y='376' text-anchor='middle'>bytes of the excerpt</text>\n</svg>\n");
    free(packets);
    if (fclose(svg) != 0) return perror(picture), 1;
    printf("%" PRIu64 " true excerpts were missed; %s has the picture\n", missed, picture);
    return missed > 0;
}
