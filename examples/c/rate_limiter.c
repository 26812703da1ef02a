/*
 * A limiter of rates by host and by user. A host may make a limited number of requests in a window of time, and so may
 * each user of a host. An exact limiter has a row for every host and every pair that came, and an attacker makes as
 * many pairs as they like. This limiter has two filters of the kind "spectral", whose size never changes: one counts
 * the requests of this window, one has the counts of the window before. The filters never count too low, so no limit is
 * ever exceeded. Few counts are too high, so few requests are refused that an exact limiter would pass. The hash
 * function has a secret key, so that nobody can find users that share their counters with others.
 *
 *     rate_limiter [-w SECONDS] [-h REQUESTS] [-u REQUESTS] [-n PAIRS] [-c] [FILE]
 *
 * Each line is a request: seconds, host and user, with blanks between them. Passes lines within the limits: REQUESTS
 * (200) of a host and REQUESTS (20) of a user of a host in every SECONDS (60). The filters are made for PAIRS (10000)
 * hosts and users in a window. With -c the program compares with an exact limiter, and prints what the filters save.
 */
#define _XOPEN_SOURCE 700
#include <petal.h>
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

/* --- The limiter -------------------------------------------------------------------------------------------------- */

struct limiter {
    petal_filter *now, *before; /* counts of this window, and of the last one */
    double window, begun;       /* seconds */
    uint64_t turns;
};

static void make(struct limiter *limiter, double window, uint64_t pairs, double greatest) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_SPECTRAL;
    spec.capacity = pairs;
    spec.false_positive_rate = 0.01;
    spec.hash = PETAL_HASH_SIPHASH13;
    FILE *random = fopen("/dev/urandom", "rb");
    if (!random || fread(spec.secret, 1, sizeof spec.secret, random) != sizeof spec.secret) exit(1);
    fclose(random);
    must(petal_spec_set_choice(&spec, "method", "minimal_increase", &error)); /* nothing is ever removed */
    must(petal_spec_set(&spec, "counter_bits", greatest < 255 ? 8 : 16, &error));
    must(petal_filter_new(&spec, &limiter->now, &error));
    must(petal_filter_new(&spec, &limiter->before, &error));
    limiter->window = window;
}

/* Ends windows whose time is over. */
static void turn(struct limiter *limiter, double now) {
    if (limiter->turns == 0 || now >= limiter->begun + 2 * limiter->window) {
        /* The first request, or one after a long silence. */
        must(petal_filter_clear(limiter->now, &error));
        must(petal_filter_clear(limiter->before, &error));
        limiter->begun = now;
        limiter->turns += 2;
    } else if (now >= limiter->begun + limiter->window) {
        petal_filter *oldest = limiter->before;
        limiter->before = limiter->now;
        limiter->now = oldest;
        must(petal_filter_clear(oldest, &error));
        limiter->begun += limiter->window;
        limiter->turns++;
    }
}

/* How many requests a sliding window has: all of this window, and of the last one the share that is not over. */
static double used(double now, double before, const struct limiter *limiter, double time) {
    double over = (time - limiter->begun) / limiter->window;
    return now + before * (1 - (over < 0 ? 0 : over));
}

static bool is_below(const struct limiter *limiter, double time, const char *key, double limit) {
    uint64_t now, before;
    must(petal_filter_count(limiter->now, key, strlen(key), &now));
    must(petal_filter_count(limiter->before, key, strlen(key), &before));
    return used((double)now, (double)before, limiter, time) + 1 <= limit;
}

/* Whether a request may pass. A request that passes is counted. */
static bool passes(struct limiter *limiter, double time, const char *host, const char *pair, double per_host,
                   double per_user) {
    turn(limiter, time);
    if (!is_below(limiter, time, host, per_host) || !is_below(limiter, time, pair, per_user)) return false;
    must(petal_filter_insert(limiter->now, host, strlen(host), NULL));
    must(petal_filter_insert(limiter->now, pair, strlen(pair), NULL));
    return true;
}

/* --- The exact limiter, to compare -------------------------------------------------------------------------------- */

struct row {
    uint64_t turn; /* the window of `now` */
    double now, before;
    char key[];
};

/* What the rows of this window and of the last one take, and the most of both together. A row takes its key, three
 * pointers of a tree, and malloc's two words. */
static uint64_t bytes_now, bytes_before, most_bytes, counted_turn;

static void account(const char *key, uint64_t turn) {
    if (turn != counted_turn) {
        bytes_before = turn == counted_turn + 1 ? bytes_now : 0;
        bytes_now = 0;
        counted_turn = turn;
    }
    bytes_now += sizeof(struct row) + strlen(key) + 1 + 5 * sizeof(void *);
    if (bytes_now + bytes_before > most_bytes) most_bytes = bytes_now + bytes_before;
}

static int compare(const void *a, const void *b) {
    return strcmp(((const struct row *)a)->key, ((const struct row *)b)->key);
}

static struct row *row_of(const char *key, uint64_t turn) {
    static void *rows;
    struct row *row = malloc(sizeof *row + strlen(key) + 1);
    if (!row) exit(1);
    *row = (struct row){.turn = turn};
    strcpy(row->key, key);
    struct row **known = tsearch(row, &rows, compare);
    if (!known) exit(1);
    if (*known == row || (*known)->turn != turn) account(key, turn);
    if (*known != row) free(row);
    row = *known;
    row->before = turn == row->turn ? row->before : turn == row->turn + 1 ? row->now : 0;
    row->now = turn == row->turn ? row->now : 0;
    row->turn = turn;
    return row;
}

int main(int argc, char **argv) {
    double seconds = 60, per_host = 200, per_user = 20;
    uint64_t pairs = 10000, all = 0, passed = 0, exceeded = 0, too_strict = 0;
    bool checks = false;
    for (int option; (option = getopt(argc, argv, "w:h:u:n:c")) != -1;) {
        switch (option) {
            case 'w': seconds = strtod(optarg, NULL); break;
            case 'h': per_host = strtod(optarg, NULL); break;
            case 'u': per_user = strtod(optarg, NULL); break;
            case 'n': pairs = strtoull(optarg, NULL, 10); break;
            case 'c': checks = true; break;
            default: return 2;
        }
    }
    FILE *file = optind < argc ? fopen(argv[optind], "r") : stdin;
    /* A counter goes up to 255, or to 65535. */
    if (!file || !(seconds > 0) || !(per_host >= 1 && per_host < 65535) || !(per_user >= 1 && per_user < 65535)) {
        fprintf(stderr, "usage: rate_limiter [-w SECONDS] [-h REQUESTS] [-u REQUESTS] [-n PAIRS] [-c] [FILE]\n");
        return 2;
    }
    struct limiter limiter = {0};
    make(&limiter, seconds, pairs, per_host > per_user ? per_host : per_user);

    char *line = NULL;
    size_t room = 0;
    double time = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *pair;
        double read = strtod(line, &pair);
        time = read > time ? read : time; /* the clock never goes back */
        pair += *pair == ' ';
        char host[256];
        if (snprintf(host, sizeof host, "%.*s", (int)strcspn(pair, " "), pair) >= (int)sizeof host) continue;
        bool is_passed = passes(&limiter, time, host, pair, per_host, per_user);
        all++;
        passed += is_passed;
        if (!checks) {
            if (is_passed) puts(line);
            continue;
        }
        struct row *of_host = row_of(host, limiter.turns), *of_pair = row_of(pair, limiter.turns);
        bool may_pass = used(of_host->now, of_host->before, &limiter, time) + 1 <= per_host &&
                        used(of_pair->now, of_pair->before, &limiter, time) + 1 <= per_user;
        exceeded += is_passed && !may_pass;
        too_strict += !is_passed && may_pass;
        of_host->now += is_passed;
        of_pair->now += is_passed && of_pair != of_host;
    }
    free(line);
    petal_description description = PETAL_DESCRIPTION_INIT;
    must(petal_filter_describe(limiter.now, &description, &error));
    petal_filter_free(limiter.now);
    petal_filter_free(limiter.before);
    fprintf(stderr, "%llu requests, %llu passed\n", (unsigned long long)all, (unsigned long long)passed);
    if (!checks) return 0;
    fprintf(stderr, "two filters take %llu bytes, the rows of an exact limiter %llu: saved %.1f %%\n",
            (unsigned long long)(2 * description.bytes), (unsigned long long)most_bytes,
            100 - 200 * (double)description.bytes / (double)most_bytes);
    fprintf(stderr, "%llu requests passed above a limit, %llu were refused that an exact limiter passes\n",
            (unsigned long long)exceeded, (unsigned long long)too_strict);
    return exceeded != 0 || too_strict * 100 > all;
}
