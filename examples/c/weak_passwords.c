/*
 * Is this password on the list of weak ones? Asked at each sign-up, without reading the list.
 *
 *     weak_passwords [-l LIST] [-f FILTER] [-k KEYFILE] [-r] [PASSWORD...]
 *
 * LIST (/usr/share/dict/words) has one weak password a line. The first run makes FILTER (weak.petal) from it; later
 * runs open FILTER, mapped: constant time, however long the list is. -r makes it anew from a new list; services that
 * have the old one open keep it until they open it again. Without a PASSWORD the program checks itself against the
 * whole list.
 *
 * No weak password gets through. 1 in 1000 of the good ones is refused, and whoever chose it chooses another.
 *
 * -k makes a keyed filter: the 16 bytes of KEYFILE are its secret key. Without them nobody can tell which passwords lie
 * in FILTER, nor which of their own it takes for weak. Use it where the list is not public, say one of passwords that
 * users were made to give up, or where strangers choose what is inserted.
 */
#define _POSIX_C_SOURCE 200809L
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static petal_error error = PETAL_ERROR_INIT;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static FILE *open_or_exit(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) perror(path), exit(1);
    return file;
}

/* The next line, without its end, or NULL. */
static char *next_line(FILE *file, size_t *length) {
    static char *line;
    static size_t room;
    ssize_t got = getline(&line, &room, file);
    if (got < 0) return NULL;
    if (got > 0 && line[got - 1] == '\n') line[--got] = '\0';
    *length = (size_t)got;
    return line;
}

/* A builder counts the passwords first, so the filter has the right size; it appears in its place when it is whole. */
static void build(const char *list, const char *path, const petal_spec *spec) {
    FILE *file = open_or_exit(list);
    petal_builder *builder;
    size_t length;
    must(petal_builder_new(spec, NULL, &builder, &error));
    for (char *line; (line = next_line(file, &length));) must(petal_builder_add(builder, line, length));
    must(petal_builder_save(builder, path, &error));
    petal_builder_free(builder);
    fclose(file);
}

/* A failed petal_filter_contains() says true, so it would refuse every password; at a sign-up that is worth knowing. */
static bool is_weak(const petal_filter *weak, const char *password, size_t length) {
    bool found;
    must(petal_filter_contains_checked(weak, password, length, &found));
    return found;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Asks for every password of the list, and for each with "-47" after it, which a sorted copy of the list judges. */
static int check(const petal_filter *weak, const char *path) {
    FILE *file = open_or_exit(path);
    char **list = NULL, *line, text[256], *variant = text;
    size_t count = 0, length, bytes = 0, missed = 0, good = 0, refused = 0;
    uint64_t filter_bytes;
    while ((line = next_line(file, &length))) {
        missed += !is_weak(weak, line, length);
        if ((count & (count - 1)) == 0) list = realloc(list, (2 * count + 1) * sizeof *list);
        if (!list || !(list[count++] = strdup(line))) exit(1);
        bytes += length + 1 + sizeof *list;
    }
    if (count) qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.200s-47", list[i]);
        if (bsearch(&variant, list, count, sizeof *list, compare)) continue;
        good++;
        refused += is_weak(weak, text, strlen(text));
    }
    must(petal_filter_serialized_size(weak, &filter_bytes, NULL));
    printf("weak passwords    %zu, of which %zu got through\n", count, missed);
    printf("good passwords    %zu, of which %zu were refused (%.3f %%)\n", good, refused,
           good ? 100 * (double)refused / (double)good : 0.0);
    printf("memory, bytes     %llu mapped and shared, where the list takes %zu in each process\n",
           (unsigned long long)filter_bytes, bytes);
    for (size_t i = 0; i < count; i++) free(list[i]);
    free(list);
    fclose(file);
    return missed != 0;
}

int main(int argc, char **argv) {
    const char *list = "/usr/share/dict/words", *path = "weak.petal";
    petal_spec spec = PETAL_SPEC_INIT;
    spec.false_positive_rate = 0.001;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    bool rebuild = false;
    for (int option; (option = getopt(argc, argv, "l:f:k:r")) != -1;) {
        if (option == 'l') {
            list = optarg;
        } else if (option == 'f') {
            path = optarg;
        } else if (option == 'r') {
            rebuild = true;
        } else if (option == 'k') {
            FILE *file = open_or_exit(optarg);
            if (fread(spec.secret, sizeof spec.secret, 1, file) != 1) return 1;
            fclose(file);
            memcpy(options.secret, spec.secret, sizeof options.secret);
            spec.hash = PETAL_HASH_SIPHASH13;
        } else {
            fprintf(stderr, "usage: weak_passwords [-l LIST] [-f FILTER] [-k KEYFILE] [-r] [PASSWORD...]\n");
            return 2;
        }
    }
    petal_filter *weak;
    double start = now();
    petal_status status = rebuild ? PETAL_ERR_NOT_FOUND : petal_filter_open(path, &options, &weak, &error);
    if (status == PETAL_ERR_NOT_FOUND) {
        build(list, path, &spec);
        printf("filter made in    %.0f us\n", now() - start);
        start = now();
        status = petal_filter_open(path, &options, &weak, &error);
    }
    must(status);
    printf("filter opened in  %.0f us\n", now() - start);
    for (int i = optind; i < argc; i++) {
        printf("%-17s %s\n", argv[i], is_weak(weak, argv[i], strlen(argv[i])) ? "weak" : "good");
    }
    int failed = optind == argc ? check(weak, list) : 0;
    petal_filter_free(weak);
    return failed;
}
