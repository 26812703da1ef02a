/*
 * Prints the sizes of the filters and maps of every kind for many numbers of keys and rates, a checksum of the small
 * ones while they are empty, and the sizes that plans propose. It prints the same on every system and processor.
 *
 *   sizes [SPECS]: so many a kind, and a fifth as many plans
 */
#include <inttypes.h>
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>

/** Numbers that look random, the same everywhere. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/** The checksum of an empty filter; 0 if the kind has none without its keys. */
static uint64_t empty(const petal_spec *spec, uint64_t size)
{
    petal_filter *filter;
    uint64_t sum = 0xcbf29ce484222325u;
    unsigned char *image = calloc(1, (size_t)size);
    if (!image) exit(1);
    if (petal_filter_new_in_buffer(spec, image, (size_t)size, &filter, NULL) == PETAL_OK) {
        petal_filter_free(filter);
        for (uint64_t i = 0; i < size; i++) sum = (sum ^ image[i]) * 0x100000001b3u;
    } else {
        sum = 0;
    }
    free(image);
    return sum;
}

/** What plans for this many keys propose: with all keys at hand, also the kinds that are made of them. */
static void plan(uint64_t keys, double rate)
{
    petal_plan_request request = PETAL_PLAN_REQUEST_INIT;
    petal_plan_proposal proposals[64] = {PETAL_PLAN_PROPOSAL_INIT};
    size_t count = 0;
    request.keys = keys;
    request.false_positive_rate = rate;
    request.is_static = 1;
    request.universe = 20 * keys;
    if (petal_plan_propose(&request, proposals, 64, &count, NULL) != PETAL_OK || count > 64) exit(1);
    printf("plan %" PRIu64 " %.17g:", keys, rate);
    for (size_t i = 0; i < count; i++) printf(" %s %" PRIu64, proposals[i].name, proposals[i].bytes);
    printf("\n");
}

/** From 1/2 to 2^-32, by operations that are exact. */
static double next_rate(uint64_t *state)
{
    const double share = (double)(next(state) >> 11 | 1ull << 52) / (double)(1ull << 54);
    return share / (double)(1ull << next(state) % 31);
}

int main(int argc, char **argv)
{
    const int specs = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t state = 1;
    for (size_t kind = 0; kind < petal_kind_count(); kind++) {
        petal_kind_info info = PETAL_KIND_INFO_INIT;
        if (petal_kind_get_at(kind, &info, NULL) != PETAL_OK) return 1;
        if (info.handle != PETAL_HANDLE_FILTER && info.handle != PETAL_HANDLE_MAP) continue;
        for (int i = 0; i < specs; i++) {
            petal_spec spec = PETAL_SPEC_INIT;
            uint64_t size = 0;
            spec.kind = info.kind;
            spec.capacity = (next(&state) | 1ull << 63) >> (24 + next(&state) % 40);
            spec.false_positive_rate = next_rate(&state);
            const petal_status status = petal_spec_image_size(&spec, &size, NULL);
            printf("%s %" PRIu64 " %.17g: %d %" PRIu64, info.name, spec.capacity, spec.false_positive_rate, (int)status,
                   size);
            if (status == PETAL_OK && size < 1 << 16) printf(" %016" PRIx64, empty(&spec, size));
            printf("\n");
        }
    }
    for (int i = 0; i < specs / 5; i++) {
        const uint64_t keys = (next(&state) | 1ull << 63) >> (30 + next(&state) % 34);
        plan(keys, next_rate(&state));
    }
    return 0;
}
