/* Prints libbloom_1.6.json: what libbloom 1.6 makes of a few filters and keys. Debian 12, libbloom-dev 1.6-6:
 *
 *     cc make_1.6.c -lbloom -lm -o make && ./make >libbloom_1.6.json
 */
#include <bloom.h>
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {"a", "ab", "abc", "hello", "Hello, World!", "0123456789abcdef",
    "The quick brown fox jumps over the lazy dog", ""};
enum { KEYS = sizeof keys / sizeof *keys };

static void filter(int entries, double error, const char *before)
{
    struct bloom bloom;
    memset(&bloom, 0, sizeof bloom);
    int rc = bloom_init(&bloom, entries, error);
    printf("%s{\"entries\":%d,\"error\":%.17g,\"init_rc\":%d,\"bits\":%d,\"bytes\":%d,\"hashes\":%d,\"bpe\":%.17g",
        before, entries, error, rc, bloom.bits, bloom.bytes, bloom.hashes, bloom.bpe);
    if (rc == 0) {
        printf(",\"added\":[");
        for (int i = 0; i < KEYS; i++)
            printf("%s%d", i ? "," : "", bloom_add(&bloom, keys[i], (int)strlen(keys[i])));
        printf("],\"set_bits\":[");
        const char *comma = "";
        for (int i = 0; i < bloom.bytes * 8; i++)
            if (bloom.bf[i / 8] >> i % 8 & 1) {
                printf("%s%d", comma, i);
                comma = ",";
            }
        printf("]");
        bloom_free(&bloom);
    }
    printf("}");
}

int main(void)
{
    printf("{\"version\":\"%s\",\"sizeof\":%zu,\"keys\":[", bloom_version(), sizeof(struct bloom));
    for (int i = 0; i < KEYS; i++)
        printf("%s\"%s\"", i ? "," : "", keys[i]);
    printf("],\"cases\":[");
    filter(1000, 0.1, "\n");
    filter(1000, 0.01, ",\n");
    filter(5000, 0.001, ",\n");
    filter(123457, 0.0005, ",\n");
    filter(1000, 0.9, ",\n");
    filter(1000, 1, ",\n");
    filter(1000, 1.5, ",\n");
    filter(1000, 1.002, ",\n");
    filter(1000, 0, ",\n");
    filter(999, 0.1, ",\n");
    filter(2147483647, 0.1, ",\n");
    filter(1000, 1e-30, ",\n");
    printf("]}\n");
    return 0;
}
