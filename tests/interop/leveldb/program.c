/* What a program in C does: opens the database in a folder through petal_leveldb_filterpolicy(), writes some keys and
 * reads them and others back. */
#include <petal_leveldb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why ? why : "?");
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  char *why = NULL;
  petal_error error = {.struct_size = sizeof error};
  if (petal_leveldb_filterpolicy(99, 10, &error) || error.status != PETAL_ERR_UNKNOWN_VALUE)
    return fail("a policy of no form", error.message);
  leveldb_filterpolicy_t *policy = petal_leveldb_filterpolicy((petal_policy_form)atoi(argv[2]), 10, &error);
  if (!policy) return fail("making a policy", error.message);
  leveldb_options_t *options = leveldb_options_create();
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_options_set_filter_policy(options, policy);
  leveldb_t *db = leveldb_open(options, argv[1], &why);
  if (why) return fail("opening", why);

  leveldb_writeoptions_t *write = leveldb_writeoptions_create();
  leveldb_readoptions_t *read = leveldb_readoptions_create();
  char key[32];
  for (int i = 0; i < 100000; i += 2) {
    int length = snprintf(key, sizeof key, "number %d", i);
    leveldb_put(db, write, key, (size_t)length, key, (size_t)length, &why);
    if (why) return fail("writing", why);
  }
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  for (int i = 0; i < 100000; i++) {
    size_t found_length = 0, length = (size_t)snprintf(key, sizeof key, "number %d", i);
    char *found = leveldb_get(db, read, key, length, &found_length, &why);
    if (why) return fail("reading", why);
    if (i % 2 ? found != NULL : !found || found_length != length || memcmp(found, key, length) != 0)
      return fail("a wrong answer", key);
    leveldb_free(found);
  }
  leveldb_writeoptions_destroy(write);
  leveldb_readoptions_destroy(read);
  leveldb_close(db);
  leveldb_options_destroy(options);
  leveldb_filterpolicy_destroy(policy);
  return 0;
}
