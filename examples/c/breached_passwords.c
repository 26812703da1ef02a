/*
 * Was this password in a breach? A service asks at each sign-up and each change of a password, in a file that the
 * command built from the list of breached ones, one a line:
 *
 *     petal build --kind fuse --fpr 0.001 -o breached.petal LIST
 *
 *     breached_passwords [-f FILTER] [-t THREADS] [-c LIST]
 *
 * The kind is fuse because such a list is known as a whole and is replaced as a whole: at 1 in 1000 it takes 11.3 bits
 * a password of a long list, where the kinds that passwords can be added to take 14.4 and more, and it is asked in
 * three accesses to memory. A billion passwords are 1.4 GB, which all processes that have the file open share. (The
 * kind ribbon takes about a tenth less, and more time.) It needs no secret key: the list is public, and nobody adds to
 * it.
 *
 * A line of standard input is a password; the line that answers it says `breached` or `not breached`, and no password.
 * No password on the list gets through; 1 in 1000 of the others is taken for one, and whoever chose it chooses another.
 * Nothing here logs or keeps a password: the buffers that held them are wiped.
 *
 * The file is mapped for reading and verified once, at the start. Then any number of threads may ask: a lookup takes no
 * lock. -c LIST shows that: THREADS (4) threads ask for all of LIST at the same time. A new list is a new file under
 * the same name (the command replaces it as a whole), and a restart or a reload: whoever has the old one open keeps it.
 */
#define _POSIX_C_SOURCE 200809L
#include <petal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1024, MOST_THREADS = 256 };

static petal_filter *open_or_exit(const char *path) {
    petal_error error = PETAL_ERROR_INIT;
    petal_filter *breached;
    petal_status status = petal_filter_open(path, NULL, &breached, &error);
    if (status == PETAL_OK) status = petal_filter_verify(breached, &error);
    if (status == PETAL_OK) return breached;
    fprintf(stderr, "breached_passwords: %s: %s\n", path, error.message);
    exit(1);
}

/* Called by any thread. A filter that is open and hashes its keys always has an answer. If it ever had none, this would
 * say true: a password would be refused, and none would be let in that nobody looked up. */
static bool is_breached(const petal_filter *breached, const char *password, size_t length) {
    return petal_filter_contains(breached, password, length);
}

/* Not a memset, which a compiler may leave out because nobody reads what it wrote. */
static void wipe(void *memory, size_t length) {
    volatile unsigned char *bytes = memory;
    while (length--) *bytes++ = 0;
}

/* Answers each line of a stream. */
static void answer(const petal_filter *breached, FILE *input, FILE *output) {
    static char buffer[1 << 16];
    char password[LONGEST + 2];
    /* Our own buffer can be wiped. */
    setvbuf(input, buffer, _IOFBF, sizeof buffer);
    while (fgets(password, sizeof password, input)) {
        size_t length = strcspn(password, "\n");
        if (length > LONGEST) {
            for (int c = 0; c != '\n' && c != EOF;) c = fgetc(input);
            fprintf(output, "longer than %d bytes\n", LONGEST);
        } else {
            fputs(is_breached(breached, password, length) ? "breached\n" : "not breached\n", output);
        }
        fflush(output);
    }
    wipe(password, sizeof password);
    wipe(buffer, sizeof buffer);
}

/* A thread that asks for all of a list, in its own order. */
typedef struct {
    const petal_filter *breached;
    char **list;
    size_t count, number, missed;
} task;

static void *ask(void *argument) {
    task *t = argument;
    for (size_t i = 0; i < t->count; i++) {
        const char *password = t->list[(i + t->number * 7919) % t->count];
        t->missed += !is_breached(t->breached, password, strlen(password));
    }
    return NULL;
}

/* Whether every password of the list is found, by all threads at the same time. */
static bool check(const petal_filter *breached, const char *path, size_t threads) {
    FILE *file = fopen(path, "r");
    if (!file) return perror(path), false;
    char **list = NULL, *line = NULL;
    size_t count = 0, room = 0, missed = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) >= 0; count++) {
        if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
        if ((count & (count - 1)) == 0) list = realloc(list, (2 * count + 1) * sizeof *list);
        if (!list || !(list[count] = strdup(line))) exit(1);
    }
    fclose(file);
    free(line);

    pthread_t started[MOST_THREADS];
    task tasks[MOST_THREADS];
    for (size_t i = 0; i < threads; i++) {
        tasks[i] = (task){breached, list, count, i, 0};
        if (pthread_create(&started[i], NULL, ask, &tasks[i])) return perror("a thread"), false;
    }
    for (size_t i = 0; i < threads; i++) {
        pthread_join(started[i], NULL);
        missed += tasks[i].missed;
    }

    uint64_t bytes = 0;
    petal_filter_serialized_size(breached, &bytes, NULL);
    printf("breached passwords %zu, each asked for by %zu threads, %zu times missed\n", count, threads, missed);
    printf("mapped             %llu bytes, %.2f bits a password\n", (unsigned long long)bytes,
           count ? 8 * (double)bytes / (double)count : 0.0);
    for (size_t i = 0; i < count; i++) free(list[i]);
    free(list);
    return missed == 0;
}

int main(int argc, char **argv) {
    const char *path = "breached.petal", *list = NULL;
    long threads = 4;
    for (int option; (option = getopt(argc, argv, "f:t:c:")) != -1;) {
        if (option == 'f') {
            path = optarg;
        } else if (option == 'c') {
            list = optarg;
        } else if (option != 't' || (threads = strtol(optarg, NULL, 10)) < 1 || threads > MOST_THREADS) {
            fprintf(stderr, "usage: breached_passwords [-f FILTER] [-t THREADS] [-c LIST]\n");
            return 2;
        }
    }
    petal_filter *breached = open_or_exit(path);
    bool is_sound = true;
    if (list) is_sound = check(breached, list, (size_t)threads);
    else answer(breached, stdin, stdout);
    petal_filter_free(breached);
    return !is_sound;
}
