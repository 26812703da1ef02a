/*
 * Dedup of a stream: passes each line the first time it comes, in memory that does not grow with the lines.
 *
 *     stream_dedup [-c] [-n LINES] [-p RATE] [FILE]  > FILE_WITHOUT_REPEATS
 *
 * -n says for how many distinct lines to size the filter (a million), -p what share of the new lines may be lost when
 * that many have come (0.001). Reads FILE or the standard input. A repeat is always dropped. A new line is sometimes
 * dropped too, by a false positive; the report says how many such losses to expect. -c checks every answer by an exact
 * set, which does grow with the lines.
 */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <petal_more.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static petal_error error = PETAL_ERROR_INIT;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

/*
 * The n-th new line meets a filter with n - 1 lines in it, and is lost with probability f = f(n - 1), which the library
 * knows exactly. Of the new lines a share 1 - f passes, so for each line that passed, f / (1 - f) were lost. This sums
 * them over the lines that passed; f changes so slowly that 1000 steps are plenty.
 */
static double expected_losses(const petal_filter *filter, uint64_t passed) {
    double lost = 0, rate, step = (double)passed / 1000;
    for (int i = 0; i < 1000; i++) {
        uint64_t distinct = (uint64_t)((i + 0.5) * step + lost);
        must(petal_filter_expected_false_positive_rate(filter, distinct, &rate, NULL));
        if (rate > 0.5) return INFINITY;
        lost += step * rate / (1 - rate);
    }
    return lost;
}

/* The exact set: a search tree of the lines. */
struct line {
    size_t length;
    char bytes[];
};

static int compare(const void *a, const void *b) {
    const struct line *one = a, *other = b;
    if (one->length != other->length) return one->length < other->length ? -1 : 1;
    return memcmp(one->bytes, other->bytes, one->length);
}

static bool exact_insert(const char *bytes, size_t length) {
    static void *set;
    struct line *line = malloc(sizeof *line + length);
    if (!line) exit(1);
    line->length = length;
    memcpy(line->bytes, bytes, length);
    struct line **found = tsearch(line, &set, compare);
    if (!found) exit(1);
    bool is_new = *found == line;
    if (!is_new) free(line);
    return is_new;
}

int main(int argc, char **argv) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.capacity = 1000000;
    spec.false_positive_rate = 0.001;
    bool check = false;
    for (int option; (option = getopt(argc, argv, "cn:p:")) != -1;) {
        if (option == 'c') {
            check = true;
        } else if (option == 'n') {
            spec.capacity = strtoull(optarg, NULL, 10);
        } else if (option == 'p') {
            spec.false_positive_rate = strtod(optarg, NULL);
        } else {
            fprintf(stderr, "usage: stream_dedup [-c] [-n LINES] [-p RATE] [FILE]\n");
            return 2;
        }
    }
    FILE *input = optind < argc ? fopen(argv[optind], "r") : stdin;
    if (!input) {
        perror(argv[optind]);
        return 1;
    }

    petal_filter *seen;
    must(petal_filter_new(&spec, &seen, &error));

    char *line = NULL;
    size_t room = 0;
    ssize_t got;
    uint64_t lines = 0, passed = 0, passed_bytes = 0, losses = 0, repeats_passed = 0;
    while ((got = getline(&line, &room, input)) >= 0) {
        size_t length = (size_t)got - (got > 0 && line[got - 1] == '\n');
        bool is_new;
        must(petal_filter_insert(seen, line, length, &is_new));
        lines++;
        if (is_new) {
            fwrite(line, 1, length, stdout);
            putchar('\n');
            passed++;
            passed_bytes += length + sizeof(char *);
        }
        if (check) {
            bool really_new = exact_insert(line, length);
            losses += really_new && !is_new;
            repeats_passed += is_new && !really_new;
        }
    }
    if (ferror(input) || fflush(stdout) != 0) {
        perror("stream_dedup");
        return 1;
    }

    uint64_t filter_bytes;
    must(petal_filter_serialized_size(seen, &filter_bytes, NULL));
    double expected = expected_losses(seen, passed);
    fprintf(stderr, "lines read      %12llu\n", (unsigned long long)lines);
    fprintf(stderr, "lines passed    %12llu\n", (unsigned long long)passed);
    fprintf(stderr, "lines dropped   %12llu (%.1f %% of what was read)\n", (unsigned long long)(lines - passed),
            lines ? 100 * (double)(lines - passed) / (double)lines : 0.0);
    if (isfinite(expected)) {
        fprintf(stderr, "new lines lost  %12.2f expected, give or take %.2f\n", expected, sqrt(expected));
    } else {
        fprintf(stderr, "new lines lost  too many: the filter is full, give a greater -n\n");
    }
    fprintf(stderr, "memory, bytes   %12llu, where the lines themselves take %llu\n", (unsigned long long)filter_bytes,
            (unsigned long long)passed_bytes);

    /* Five standard errors, and a few for small numbers. */
    bool right = repeats_passed == 0 && !(fabs((double)losses - expected) > 5 * sqrt(expected) + 5);
    if (check) {
        fprintf(stderr, "exact set       %12llu new lines lost, %llu repeats passed: %s\n", (unsigned long long)losses,
                (unsigned long long)repeats_passed, right ? "right" : "WRONG");
    }
    petal_filter_free(seen);
    free(line);
    fclose(input);
    return check && !right;
}
