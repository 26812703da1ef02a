/*
 * Several processes share one filter. Each opens the same file, shared.petal, mapped: opening costs microseconds, and
 * the system keeps the filter in memory once. Then the file is made anew while they use it: they keep the old filter as
 * long as they like, and see the new one when they open the file again.
 *
 *     shared_lookup [FILE]        FILE (/usr/share/dict/words) has one key a line
 */
#define _POSIX_C_SOURCE 200809L
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "shared.petal"
#define PROCESSES 4

/* What one process reports to the parent, or all of them together. */
struct report {
    size_t missing, non_members;     /* keys not found in their edition, and others that were found in it */
    unsigned long resident, share; /* kB of the filter in memory: counted in each process, and shared out among them */
};

static petal_error error = PETAL_ERROR_INIT;
static char **keys;
static size_t key_count;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void must_do(bool done, const char *what) {
    if (!done) perror(what), exit(1);
}

static void read_keys(const char *path) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    must_do(file != NULL, path);
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if ((key_count & (key_count - 1)) == 0) keys = realloc(keys, (2 * key_count + 1) * sizeof *keys);
        must_do(keys && (keys[key_count++] = strdup(line)), "memory");
    }
    free(line), fclose(file);
}

/* Edition 1 lacks the keys of 1, 5, 9 ... bytes, edition 2 those of 2, 6, 10 ... */
static bool is_in(int edition, const char *key) {
    return strlen(key) % 4 != (size_t)edition;
}

/* Makes an edition, in the right size, and replaces the one before it. */
static void publish(int edition) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.false_positive_rate = 0.01;
    petal_builder *builder;
    must(petal_builder_new(&spec, NULL, &builder, &error));
    for (size_t i = 0; i < key_count; i++) {
        if (is_in(edition, keys[i])) must(petal_builder_add(builder, keys[i], strlen(keys[i])));
    }
    must(petal_builder_save(builder, PATH, &error));
    petal_builder_free(builder);
}

static void look_up(const petal_filter *filter, int edition, struct report *report) {
    for (size_t i = 0; i < key_count; i++) {
        bool found = petal_filter_contains(filter, keys[i], strlen(keys[i]));
        report->missing += is_in(edition, keys[i]) && !found;
        report->non_members += found && !is_in(edition, keys[i]);
    }
}

/* Finds the filter in the system's list of this process's mappings, where there is one. */
static void measure(struct report *report) {
    char line[512];
    bool ours = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) ours = strstr(line, PATH) != NULL;
        if (ours) sscanf(line, "Rss: %lu", &report->resident), sscanf(line, "Pss: %lu", &report->share);
    }
    if (file) fclose(file);
}

/* Reports to the parent and waits for its word to go on, which comes when all have reported. */
static void meet(int parent, struct report *report) {
    char go;
    must_do(write(parent, report, sizeof *report) == sizeof *report && read(parent, &go, 1) == 1, "parent");
    *report = (struct report){0};
}

static int work(int parent) {
    petal_filter *filter;
    struct report report = {0};
    must(petal_filter_open(PATH, NULL, &filter, &error));
    look_up(filter, 1, &report);
    meet(parent, &report);
    look_up(filter, 1, &report);
    measure(&report);
    meet(parent, &report);
    petal_filter_free(filter);
    must(petal_filter_open(PATH, NULL, &filter, &error));
    look_up(filter, 2, &report);
    meet(parent, &report);
    petal_filter_free(filter);
    return 0;
}

int main(int argc, char **argv) {
    const char *steps[] = {"opened", "file replaced", "opened again"};
    int children[PROCESSES];
    size_t missing = 0;
    read_keys(argc > 1 ? argv[1] : "/usr/share/dict/words");
    publish(1);
    for (int i = 0; i < PROCESSES; i++) {
        int ends[2];
        must_do(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
        pid_t child = fork();
        must_do(child >= 0, "fork");
        close(ends[child == 0 ? 0 : 1]);
        if (child == 0) return work(ends[1]);
        children[i] = ends[0];
    }
    for (int step = 0; step < 3; step++) {
        struct report report, sum = {0};
        for (int i = 0; i < PROCESSES; i++) {
            must_do(read(children[i], &report, sizeof report) == sizeof report, "child");
            sum.missing += report.missing, sum.non_members += report.non_members;
            sum.resident += report.resident, sum.share += report.share;
        }
        printf("%-14s %zu lookups, %zu keys missing, %zu non-members found\n", steps[step], key_count * PROCESSES,
               sum.missing, sum.non_members);
        if (sum.resident) {
            printf("memory         %d processes have %lu kB each, %lu kB in all\n", PROCESSES, sum.resident / PROCESSES,
                   sum.share);
        }
        missing += sum.missing;
        if (step == 0) publish(2);
        for (int i = 0; i < PROCESSES; i++) must_do(write(children[i], "", 1) == 1, "child");
    }
    while (wait(NULL) > 0) continue;
    return missing != 0;
}
