/* Errors of the library as errors of PostgreSQL. */

#include "extension.h"

static int sqlstate_of(petal_status status) {
  switch (status) {
    case PETAL_ERR_OUT_OF_MEMORY:
      return ERRCODE_OUT_OF_MEMORY;
    case PETAL_ERR_TOO_LARGE:
    case PETAL_ERR_FULL:
      return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case PETAL_ERR_UNSUPPORTED:
    case PETAL_ERR_UNSUPPORTED_BY_HANDLE:
    case PETAL_ERR_UNSUPPORTED_BY_BUILD:
    case PETAL_ERR_EXTERNAL_HASH:
    case PETAL_ERR_SECRET_MISSING:
      return ERRCODE_FEATURE_NOT_SUPPORTED;
    case PETAL_ERR_FOREIGN:
    case PETAL_ERR_TRUNCATED:
    case PETAL_ERR_CORRUPT:
    case PETAL_ERR_NEWER_VERSION:
    case PETAL_ERR_UNCLEAN:
      return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case PETAL_ERR_CANCELLED:
      return ERRCODE_QUERY_CANCELED;
    case PETAL_ERR_NO_SPACE:
      return ERRCODE_DISK_FULL;
    case PETAL_ERR_IO:
    case PETAL_ERR_NOT_FOUND:
    case PETAL_ERR_ACCESS_DENIED:
      return ERRCODE_IO_ERROR;
    case PETAL_ERR_INTERNAL:
    case PETAL_ERR_NULL:
    case PETAL_ERR_STRUCT_SIZE:
      return ERRCODE_INTERNAL_ERROR;
    default:
      return ERRCODE_INVALID_PARAMETER_VALUE;
  }
}

void raise_status(const char *function, petal_status status, const petal_error *error) {
  const char *message = error && error->message[0] ? error->message : petal_status_message(status);
  ereport(ERROR, (errcode(sqlstate_of(status)), errmsg("%s: %s", function, message)));
}
