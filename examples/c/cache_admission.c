/*
 * Cache admission on the second request. Many objects are asked for once and never again; to put them into a disk cache
 * costs a write and pushes out something better. Here an object is stored only if it was asked for not long ago, which
 * a filter of the kind "rotating" remembers: requests go into its newest generation, and when that has its share of the
 * window the oldest is dropped. So the last WINDOW requests are always remembered, in memory that never grows.
 *
 *     cache_admission [-s SLOTS] [FILE...]
 *
 * The requests are the words of the files, such as the paths of an access log. Without a FILE they are those of
 * /usr/share/doc/<package>/copyright: few words are everywhere, many in one file. The cache has SLOTS places (2000).
 */
#define _XOPEN_SOURCE 700
#include <glob.h>
#include <petal.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
    bool cached, used; /* used since the hand of the clock was here */
    uint64_t asked;    /* the exact memory: the number of the last request for it that was no hit, from 1; or 0 */
    char name[];
};

struct admission {
    petal_filter *seen;
    uint64_t window, requests;
    uint64_t too_early, forgotten; /* by the exact memory's judgement */
};

static petal_error error = PETAL_ERROR_INIT;
static struct object **requests;
static size_t request_count, object_count;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static int compare(const void *a, const void *b) {
    return strcmp(((const struct object *)a)->name, ((const struct object *)b)->name);
}

/* Adds the words of a file to the requests; those that are alike are one object. */
static void read_requests(const char *path) {
    static void *objects;
    char word[4096];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return;
    }
    while (fscanf(file, "%4095s", word) == 1) {
        struct object *object = calloc(1, sizeof *object + strlen(word) + 1);
        if (!object) exit(1);
        strcpy(object->name, word);
        struct object **first = tsearch(object, &objects, compare);
        if ((request_count & (request_count - 1)) == 0) {
            requests = realloc(requests, (2 * request_count + 1) * sizeof *requests);
        }
        if (!first || !requests) exit(1);
        requests[request_count++] = *first;
        if (*first == object) object_count++;
        else free(object);
    }
    fclose(file);
}

/* Whether an object was asked for before, not long ago. Remembers this request. */
static bool asked_before(struct admission *admission, struct object *object) {
    bool is_new;
    must(petal_filter_insert(admission->seen, object->name, strlen(object->name), &is_new));
    uint64_t now = ++admission->requests;
    admission->forgotten += is_new && object->asked && now - object->asked <= admission->window;
    admission->too_early += !is_new && !object->asked;
    object->asked = now;
    return !is_new;
}

/* Plays all requests against an empty cache, whose victims are chosen by a clock: a simple kind of LRU. */
static size_t play(size_t slots, struct admission *admission, const char *name) {
    struct object **cache = calloc(slots, sizeof *cache);
    size_t hand = 0, hits = 0, writes = 0;
    if (!cache) exit(1);
    for (size_t i = 0; i < request_count; i++) {
        struct object *object = requests[i];
        hits += object->cached;
        object->used = object->cached;
        if (object->cached || (admission && !asked_before(admission, object))) continue;
        for (; cache[hand] && cache[hand]->used; hand = (hand + 1) % slots) cache[hand]->used = false;
        if (cache[hand]) cache[hand]->cached = false;
        cache[hand] = object;
        object->cached = true;
        hand = (hand + 1) % slots;
        writes++;
    }
    for (size_t i = 0; i < slots && cache[i]; i++) cache[i]->cached = cache[i]->used = false;
    free(cache);
    printf("%s %6.2f %% hits %9zu writes to the disk\n", name,
           request_count ? 100 * (double)hits / (double)request_count : 0.0, writes);
    return writes;
}

int main(int argc, char **argv) {
    size_t slots = 2000;
    glob_t files = {0};
    if (argc > 2 && strcmp(argv[1], "-s") == 0) slots = strtoull(argv[2], NULL, 10), argc -= 2, argv += 2;
    if (slots == 0 || (argc == 1 && glob("/usr/share/doc/*/copyright", 0, NULL, &files) != 0)) {
        fprintf(stderr, "usage: cache_admission [-s SLOTS] [FILE...]\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) read_requests(argv[i]);
    for (size_t i = 0; i < files.gl_pathc; i++) read_requests(files.gl_pathv[i]);

    struct admission admission = {.window = 10 * slots};
    uint64_t filter_bytes;
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_ROTATING;
    spec.capacity = admission.window;
    spec.false_positive_rate = 0.01;
    must(petal_filter_new(&spec, &admission.seen, &error));
    must(petal_filter_serialized_size(admission.seen, &filter_bytes, NULL));

    printf("%zu requests for %zu objects, %zu slots\n", request_count, object_count, slots);
    size_t all = play(slots, NULL, "admit at the first request ");
    size_t some = play(slots, &admission, "admit at the second request");
    printf("writes saved    %.1f %%\n", all ? 100 - 100 * (double)some / (double)all : 0.0);
    printf("the filter      %llu bytes; %llu objects admitted too early, %llu requests forgotten\n",
           (unsigned long long)filter_bytes, (unsigned long long)admission.too_early,
           (unsigned long long)admission.forgotten);
    petal_filter_free(admission.seen);
    return request_count == 0 || admission.forgotten != 0;
}
