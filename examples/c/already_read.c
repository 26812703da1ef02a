/*
 * "Already read": a site proposes articles to a reader, and none twice. A reader's history grows for years, and there
 * are many readers, so each has a filter of the kind "scalable" instead of a list. The filter is stored in its packed
 * form, which has no more bytes than its information. A reader never gets an article twice. A filter withholds a few
 * articles that the reader does not know: one in a hundred at most, and nobody misses one of a long list.
 *
 *     already_read [-c] FOLDER READER [FILE]
 *
 * Each line of FILE names an article. Passes those that READER has not read, each once, and remembers them in
 * FOLDER/READER.packed. With -c the program also keeps the exact list, FOLDER/READER.list, to compare with, and prints
 * what the filter saves.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <petal.h>
#include <petal_wire.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No history of one reader is larger than this, whatever a file says. */
enum { MOST_BYTES = 16 << 20 };

static petal_error error = PETAL_ERROR_INIT;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* --- The history of a reader -------------------------------------------------------------------------------------- */

static petal_filter *open_history(const char *path) {
    petal_filter *history = NULL;
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT) {
        petal_spec spec = PETAL_SPEC_INIT;
        spec.kind = PETAL_KIND_SCALABLE;
        spec.capacity = 100;
        spec.false_positive_rate = 0.01;
        must(petal_filter_new(&spec, &history, &error));
        return history;
    }
    unsigned char *packed = malloc(MOST_BYTES);
    if (!file || !packed) fail(path);
    size_t length = fread(packed, 1, MOST_BYTES, file);
    fclose(file);
    must(petal_filter_unpack(packed, length, MOST_BYTES, NULL, &history, &error));
    free(packed);
    return history;
}

static bool to_file(void *file, const void *bytes, size_t length) { return fwrite(bytes, 1, length, file) == length; }

/* Writes the history to a new file next to the old one, which it then replaces. Returns its length. */
static uint64_t save_history(const petal_filter *history, const char *path) {
    char beside[4200];
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = fopen(beside, "wb");
    if (!file) fail(beside);
    must(petal_filter_pack_to(history, to_file, file, &error));
    long length = ftell(file);
    if (fclose(file) != 0 || rename(beside, path) != 0) fail(path);
    return (uint64_t)length;
}

/* Whether the reader has not read an article. The article then counts as read. */
static bool is_unread(petal_filter *history, const char *article) {
    bool is_new;
    must(petal_filter_insert(history, article, strlen(article), &is_new));
    return is_new;
}

/* --- The exact list, to compare ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) { return strcmp(a, b); }

/* Whether an article is not in the list. The article then is. */
static bool is_new_in_list(const char *article, FILE *list) {
    static void *articles;
    char *copy = strdup(article);
    char **known = copy ? tsearch(copy, &articles, compare) : NULL;
    if (!known) fail("memory");
    if (*known != copy) {
        free(copy);
        return false;
    }
    if (list) fprintf(list, "%s\n", article);
    return true;
}

int main(int argc, char **argv) {
    bool checks = argc > 1 && strcmp(argv[1], "-c") == 0;
    char **given = argv + (checks ? 2 : 1);
    int arguments = argc - (checks ? 2 : 1);
    /* The reader's name becomes a file's. */
    if (arguments < 2 || arguments > 3 || strchr(given[1], '/') || given[1][0] == '.' || strlen(given[1]) > 200) {
        fprintf(stderr, "usage: already_read [-c] FOLDER READER [FILE]\n");
        return 2;
    }
    char path[4096], list_path[4096];
    if (snprintf(path, sizeof path, "%s/%s.packed", given[0], given[1]) >= (int)sizeof path ||
        snprintf(list_path, sizeof list_path, "%s/%s.list", given[0], given[1]) >= (int)sizeof list_path)
        return 2;
    FILE *file = arguments == 3 ? fopen(given[2], "r") : stdin, *list = NULL;
    if (!file) fail(given[2]);
    petal_filter *history = open_history(path);
    char *line = NULL;
    size_t room = 0;
    if (checks) {
        list = fopen(list_path, "a+");
        if (!list) fail(list_path);
        rewind(list);
        while (getline(&line, &room, list) > 0) {
            line[strcspn(line, "\n")] = 0;
            is_new_in_list(line, NULL);
        }
    }
    uint64_t all = 0, shown = 0, again = 0, withheld = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        bool is_shown = is_unread(history, line);
        all++;
        shown += is_shown;
        if (!checks) {
            if (is_shown) puts(line);
            continue;
        }
        bool is_new = is_new_in_list(line, list);
        again += is_shown && !is_new;
        withheld += !is_shown && is_new;
    }
    free(line);
    uint64_t length = save_history(history, path);
    petal_filter_free(history);
    fprintf(stderr, "%llu articles, %llu shown\n", (unsigned long long)all, (unsigned long long)shown);
    if (!checks) return 0;
    if (fseek(list, 0, SEEK_END) != 0) fail(list_path);
    long exact = ftell(list);
    fclose(list);
    fprintf(stderr, "the history takes %llu bytes, the list of names %ld: saved %.1f %%\n", (unsigned long long)length,
            exact, exact ? 100 - 100 * (double)length / (double)exact : 0.0);
    fprintf(stderr, "%llu articles were shown again, %llu were withheld unread\n", (unsigned long long)again,
            (unsigned long long)withheld);
    return again != 0 || withheld * 50 > all;
}
