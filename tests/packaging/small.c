/* The program whose size is limited: makes a filter of the default kind, asks it, saves it and opens it again. */
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>

static petal_error error;

static void must(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error.message);
    exit(1);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "small.petal";
    petal_filter *filter, *opened;
    petal_spec spec = PETAL_SPEC_INIT;
    spec.capacity = 1000;
    must(petal_filter_new(&spec, &filter, &error) == PETAL_OK, "making");
    uint64_t numbers[500];
    for (uint64_t i = 0; i < 500; i++) numbers[i] = i * i;
    for (size_t i = 0; i < 500; i++) must(petal_filter_insert_u64(filter, numbers[i], NULL) == PETAL_OK, "inserting");
    must(petal_filter_save(filter, path, &error) == PETAL_OK, "saving");
    petal_filter_free(filter);
    must(petal_filter_open(path, NULL, &opened, &error) == PETAL_OK, "opening");
    size_t absent = 0;
    for (size_t i = 0; i < 500; i++) must(petal_filter_contains_u64(opened, numbers[i]), "a key is there");
    for (uint64_t i = 1; i <= 1000; i++) absent += !petal_filter_contains_u64(opened, UINT64_MAX - i);
    must(absent > 950, "absent keys are absent");
    petal_filter_free(opened);
    remove(path);
    return 0;
}
