/*
 * Replay protection. Whoever listens to a signed message can send it again, so a receiver takes each only once. It need
 * remember messages no longer than they are valid: for a window of time, after which their own time stamps betray them.
 * A filter of the kind "rotating" remembers them in generations. A step of time drops the oldest: with G generations a
 * message is known for G - 1 steps at least, however many come meanwhile. A flood makes the filter refuse more that is
 * new, at a rate that rises, and never lets a replay pass. Its hash function has a secret key, so that nobody can find
 * messages that make others be refused.
 *
 *     replay_window [-w SECONDS] [-n MESSAGES] [-t] [-c] [FILE]
 *
 * Each line is a message. Passes those that did not come within the last SECONDS (60), of which there are MESSAGES in
 * each quarter of that (100000). The clock is the real one, or with -t one for tests: each line then begins with the
 * time at which it comes, in seconds, and a blank. With -c the answers are compared with exact ones.
 */
#define _XOPEN_SOURCE 700
#include <petal.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GENERATIONS = 5 };

/* A message of the exact memory: when it was passed last. */
struct message {
    double passed;
    char text[];
};

static petal_error error = PETAL_ERROR_INIT;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

/* What time it is, in seconds. `line` moves on to the message. */
typedef double read_clock(const char **line);

static double real_clock(const char **line) {
    (void)line;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) exit(1);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double test_clock(const char **line) {
    char *end;
    double now = strtod(*line, &end);
    *line = *end == ' ' ? end + 1 : end;
    return now;
}

struct window {
    petal_filter *seen;
    double step; /* seconds */
    double next; /* when the next step is due */
};

static void make(struct window *window, double seconds, uint64_t messages_in_a_step) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_ROTATING;
    spec.capacity = messages_in_a_step;
    spec.false_positive_rate = 1e-4;
    spec.hash = PETAL_HASH_SIPHASH13;
    FILE *random = fopen("/dev/urandom", "rb");
    if (!random || fread(spec.secret, 1, sizeof spec.secret, random) != sizeof spec.secret) exit(1);
    fclose(random);
    must(petal_spec_set(&spec, "generations", GENERATIONS, &error));
    must(petal_spec_set(&spec, "clock", 1, &error)); /* steps, not keys */
    must(petal_filter_new(&spec, &window->seen, &error));
    window->step = seconds / (GENERATIONS - 1);
}

/* Whether a message may pass: it did not come within the window. */
static bool passes(struct window *window, double now, const char *message, size_t length) {
    if (window->next == 0) window->next = now + window->step;
    if (now >= window->next) {
        /* After a long silence many steps are due; no more than there are generations do anything. */
        double due = 1 + (now - window->next) / window->step;
        uint64_t steps = due < 1e9 ? (uint64_t)due : 1000000000;
        must(petal_filter_advance(window->seen, steps, &error));
        window->next += (double)steps * window->step;
        if (window->next <= now) window->next = now + window->step;
    }
    bool is_new;
    must(petal_filter_insert(window->seen, message, length, &is_new));
    return is_new;
}

static int compare(const void *a, const void *b) {
    return strcmp(((const struct message *)a)->text, ((const struct message *)b)->text);
}

/* What the exact memory has of a message. */
static struct message *recall(const char *text) {
    static void *messages;
    struct message *message = malloc(sizeof *message + strlen(text) + 1);
    if (!message) exit(1);
    message->passed = -1;
    strcpy(message->text, text);
    struct message **known = tsearch(message, &messages, compare);
    if (!known) exit(1);
    if (*known != message) free(message);
    return *known;
}

int main(int argc, char **argv) {
    double seconds = 60;
    uint64_t messages = 100000, all = 0, passed = 0, replays = 0, too_strict = 0;
    bool checks = false;
    read_clock *clock = real_clock;
    for (int option; (option = getopt(argc, argv, "w:n:tc")) != -1;) {
        switch (option) {
            case 'w': seconds = strtod(optarg, NULL); break;
            case 'n': messages = strtoull(optarg, NULL, 10); break;
            case 't': clock = test_clock; break;
            case 'c': checks = true; break;
            default: return 2;
        }
    }
    FILE *file = optind < argc ? fopen(argv[optind], "r") : stdin;
    if (!file || !(seconds > 0)) {
        fprintf(stderr, "usage: replay_window [-w SECONDS] [-n MESSAGES] [-t] [-c] [FILE]\n");
        return 2;
    }
    struct window window = {0};
    make(&window, seconds, messages);

    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        const char *message = line;
        double now = clock(&message);
        bool is_passed = passes(&window, now, message, strlen(message));
        all++;
        passed += is_passed;
        if (!checks) {
            if (is_passed) puts(message);
            continue;
        }
        struct message *exact = recall(message);
        bool is_replay = exact->passed >= 0 && now - exact->passed <= seconds;
        replays += is_replay && is_passed;
        too_strict += !is_passed && exact->passed < 0;
        exact->passed = now;
    }
    free(line);
    petal_filter_free(window.seen);
    fprintf(stderr, "%llu messages, %llu passed\n", (unsigned long long)all, (unsigned long long)passed);
    if (!checks) return 0;
    fprintf(stderr, "%llu replays passed, %llu messages refused that never came before\n", (unsigned long long)replays,
            (unsigned long long)too_strict);
    return replays != 0 || too_strict * 100 > all;
}
