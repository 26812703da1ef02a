/* choice KINDS IMAGE COMPACT_FORM: checks that a build by choice has KINDS kinds and no AVX-512. The image and the
 * compact form are of cuckoo, and the build has to say that cuckoo is left out, and every handle but filters. */
#include <petal.h>
#include <petal_aggregate.h>
#include <petal_digest.h>
#include <petal_formats.h>
#include <petal_index.h>
#include <petal_inline.h>
#include <petal_router.h>
#include <petal_session.h>
#include <petal_wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static petal_error error;

static void must(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error.message);
    exit(1);
}

/* The call failed because the build leaves `name` out, and says how it comes back. */
static void left_out(petal_status status, const char *what, const char *name, const char *option)
{
    char sentence[240];
    snprintf(sentence, sizeof sentence, "add %s to %s or cargo's features", name, option);
    must(status == PETAL_ERR_UNSUPPORTED_BY_BUILD && error.status == status, what);
    must(strstr(error.message, sentence) != NULL, what);
}

static void *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL, path);
    /* An image in a buffer begins at a multiple of 8, as memory of malloc does. */
    unsigned char *bytes = malloc(1 << 20);
    must(bytes != NULL, "memory");
    *length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void asks_for_cuckoo(const char *image, const char *compact)
{
    petal_filter *filter = NULL;
    petal_builder *builder = NULL;
    petal_kind_info kind = PETAL_KIND_INFO_INIT;
    petal_spec spec = PETAL_SPEC_INIT;
    uint64_t size;
    size_t length;
    spec.kind = PETAL_KIND_CUCKOO;
    left_out(petal_filter_new(&spec, &filter, &error), "new", "cuckoo", "PETAL_KINDS");
    left_out(petal_builder_new(&spec, NULL, &builder, &error), "builder", "cuckoo", "PETAL_KINDS");
    left_out(petal_spec_image_size(&spec, &size, &error), "size", "cuckoo", "PETAL_KINDS");
    left_out(petal_kind_find("cuckoo", &kind, &error), "find", "cuckoo", "PETAL_KINDS");
    must(petal_kind_find("no_such_kind", &kind, &error) == PETAL_ERR_UNKNOWN_VALUE, "unknown");
    left_out(petal_filter_open(image, NULL, &filter, &error), "open", "cuckoo", "PETAL_KINDS");
    void *bytes = read_file(image, &length);
    left_out(petal_filter_load(bytes, length, NULL, &filter, &error), "load", "cuckoo", "PETAL_KINDS");
    free(bytes);
    bytes = read_file(compact, &length);
    left_out(petal_filter_load_compact(bytes, length, NULL, &filter, &error), "compact", "cuckoo", "PETAL_KINDS");
    free(bytes);
    left_out(petal_filter_import("guava", "", 0, NULL, &filter, &error), "import", "foreign_bloom", "PETAL_KINDS");
    must(filter == NULL && builder == NULL, "nothing was made");
}

/* left_out.h has a call of each function of the handles that are left out, in one of these. */
#define LEFT_OUT PETAL_ERR_UNSUPPORTED_BY_BUILD
#define ANSWERS(call, answer) must((call) == answer, #call)
#define SAYS_WHY(call) \
    do { \
        error.message[0] = 0; \
        ANSWERS(call, LEFT_OUT); \
        must(strstr(error.message, "() is not in this build: add ") != NULL, #call); \
    } while (0)

static void asks_for_handles(void)
{
#include "left_out.h"
}

int main(int argc, char **argv)
{
    must(argc == 4, "usage: choice KINDS IMAGE COMPACT_FORM");
    size_t kinds = strtoul(argv[1], NULL, 10), count;
    must(petal_kind_count() == kinds, "the number of kinds");
    petal_plan_request request = PETAL_PLAN_REQUEST_INIT;
    petal_plan_proposal proposals[8];
    for (size_t i = 0; i < 8; i++) proposals[i].struct_size = sizeof proposals[i];
    request.keys = 1000;
    request.false_positive_rate = .01;
    must(petal_plan_propose(&request, proposals, 8, &count, &error) == PETAL_OK && count <= kinds, "the plan");
    must(proposals[0].kind == PETAL_KIND_BLOCKED && proposals[0].status == PETAL_OK, "blocked is proposed");

    petal_filter *filter;
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kernel = PETAL_KERNEL_AVX512;
    left_out(petal_filter_new(&spec, &filter, &error), "kernel", "avx512", "PETAL_INSTRUCTIONS");
    asks_for_cuckoo(argv[2], argv[3]);
    asks_for_handles();
    return 0;
}
