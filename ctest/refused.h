/* For the programs about bad input: it gets its own status, a message that names the parameter, its value and what is
 * allowed, nothing is half-written, and no filter is changed. */
#ifndef PETAL_REFUSED_H
#define PETAL_REFUSED_H

#include "check.h"

/* Which statuses were seen. */
static bool seen[1 - PETAL_ERR_UNSUPPORTED_BY_BUILD];
static petal_error error = {.struct_size = sizeof error};

/* A filter that no refused call may change. */
static petal_filter *guarded;
static check_image guarded_image;

static inline void guard(petal_filter *filter) {
  free(guarded_image.bytes);
  guarded = filter;
  guarded_image = filter != NULL ? check_take_image(filter) : (check_image){NULL, 0};
}

static inline void clear_error(void) {
  memset(&error, '#', sizeof error);
  error.struct_size = sizeof error;
}

static inline void refused(petal_status status, petal_status expected, const char *texts, const char *call,
                           const char *file, int line) {
  check_status(status, expected, call, file, line);
  if (status <= 0 && status >= PETAL_ERR_UNSUPPORTED_BY_BUILD) seen[-status] = true;
  if (guarded != NULL) check_that(check_same_image(guarded, guarded_image), file, line, "%s changed it", call);
  if (texts == NULL) return;
  check_status(error.status, expected, call, file, line);
  if (!check_that(memchr(error.message, 0, sizeof error.message) != NULL, file, line, "no end")) return;
  char parts[256], *rest = parts, *bar;
  snprintf(parts, sizeof parts, "%s", texts);
  do {
    bar = strchr(rest, '|');
    if (bar != NULL) *bar = '\0';
    check_text(error.message, rest, file, line);
    rest = bar != NULL ? bar + 1 : rest;
  } while (bar != NULL);
}

/* A call that must give this status, and into `error` a message with all of these texts, between bars. */
#define REFUSED(expected, texts, call)                                \
  do {                                                                \
    clear_error();                                                    \
    petal_status status_ = (call);                                    \
    refused(status_, (expected), (texts), #call, __FILE__, __LINE__); \
  } while (0)
/* The same for a call that takes no error. */
#define REFUSED_PLAIN(expected, call) refused((call), (expected), NULL, #call, __FILE__, __LINE__)

#define SENTINEL ((petal_filter *)&error)

/* What making a filter from a spec gives; nothing is made. */
static inline petal_status try_new(petal_spec spec) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_new(&spec, &filter, &error);
  if (status == PETAL_OK) petal_filter_free(filter);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  return status;
}

#define SPEC(...) ((petal_spec){.struct_size = sizeof(petal_spec), __VA_ARGS__})

/* A filter without keys. */
static inline petal_filter *make(petal_spec spec) { return check_filled(&spec, 0, 0); }

/* What opening a file gives; it is closed again. */
static inline petal_status try_file(const char *path, petal_open_mode mode) {
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_open(path, &options, &filter, &error);
  if (status == PETAL_OK) petal_filter_free(filter);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  return status;
}

/* The program's exit status. It provoked all that it says; coverage.cmake looks that every status is in some list. */
static inline int refused_done(const petal_status *provoked, size_t count) {
  for (size_t i = 0; i < count; i++) {
    check_that(seen[-provoked[i]], __FILE__, __LINE__, "%d (%s) was never seen", provoked[i],
               petal_status_message(provoked[i]));
  }
  CHECK(!seen[-PETAL_ERR_INTERNAL]);
  return check_done();
}

#endif
