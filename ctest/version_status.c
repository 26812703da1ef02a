/* VERSION, STATUS AND ERRORS */
#include "check.h"

static void versions(void) {
  CHECK_EQUAL(petal_version_number(), PETAL_VERSION_NUMBER);
  CHECK_EQUAL(PETAL_VERSION_NUMBER, PETAL_VERSION_MAJOR * 10000 + PETAL_VERSION_MINOR * 100 + PETAL_VERSION_PATCH);
  CHECK(strcmp(petal_version_string(), PETAL_VERSION_STRING) == 0);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", PETAL_VERSION_MAJOR, PETAL_VERSION_MINOR, PETAL_VERSION_PATCH);
  CHECK(strcmp(petal_version_string(), text) == 0);
}

/* Each status has its own sentence, and so has a number that is no status. */
static void messages(void) {
  for (petal_status a = PETAL_OK; a >= PETAL_ERR_FULL; a--) {
    const char *text = petal_status_message(a);
    CHECK(text != NULL && text[0] != '\0' && text[strlen(text) - 1] != '.');
    for (petal_status b = PETAL_OK; b > a; b--) CHECK(strcmp(text, petal_status_message(b)) != 0);
  }
  static const petal_status unknown[] = {1, PETAL_ERR_FULL - 1, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < 4; i++) {
    CHECK(petal_status_message(unknown[i]) != NULL && petal_status_message(unknown[i])[0] != '\0');
  }
  CHECK(petal_status_message(PETAL_OK) == petal_status_message(PETAL_OK));
}

/* A failure fills the error in; a success leaves it alone. */
static void errors(void) {
  petal_spec spec = {.struct_size = sizeof spec, .false_positive_rate = 2};
  petal_error error = {.struct_size = sizeof error};
  memset(error.message, '#', sizeof error.message);
  petal_filter *filter = NULL;
  CHECK_STATUS(petal_filter_new(&spec, &filter, &error), PETAL_ERR_FALSE_POSITIVE_RATE);
  CHECK(filter == NULL);
  CHECK_EQUAL(error.struct_size, sizeof error);
  CHECK_STATUS(error.status, PETAL_ERR_FALSE_POSITIVE_RATE);
  CHECK_EQUAL(error.os_error, 0);
  CHECK(memchr(error.message, '\0', sizeof error.message) != NULL);
  CHECK_TEXT(error.message, "false_positive_rate = 2 ");

  petal_error before = error;
  spec.false_positive_rate = 0.5;
  CHECK_OK(petal_filter_new(&spec, &filter, &error));
  CHECK(memcmp(&before, &error, sizeof error) == 0);
  petal_filter_free(filter);
}

int main(void) {
  versions();
  messages();
  errors();
  return check_done();
}
