/*
 * The type petal: a value is the image of a filter or map, as docs/format.md specifies it.
 *
 * Whatever comes from outside (text, binary, bytea) is verified whole before it becomes a value. So functions open a
 * value in constant time, and a value that a disk has damaged can give wrong answers, but does no harm to the server.
 */

#include "extension.h"

#include <libpq/pqformat.h>
#include <utils/builtins.h>
#include <utils/memutils.h>

PG_FUNCTION_INFO_V1(petal_sql_in);
PG_FUNCTION_INFO_V1(petal_sql_out);
PG_FUNCTION_INFO_V1(petal_sql_recv);
PG_FUNCTION_INFO_V1(petal_sql_send);
PG_FUNCTION_INFO_V1(petal_sql_from_bytea);
PG_FUNCTION_INFO_V1(petal_sql_to_bytea);

static petal_value *value_new(size_t image_length) {
  petal_value *value = palloc(IMAGE_OFFSET + image_length);
  SET_VARSIZE(value, IMAGE_OFFSET + image_length);
  value->padding = 0;
  return value;
}

void check_image_size(const char *function, uint64 size) {
  if (size <= MOST_IMAGE) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("%s: the image takes " UINT64_FORMAT " bytes, and a value has at most %zu", function, size,
                         (size_t)MOST_IMAGE)));
}

petal_value *value_of_filter(const char *function, const petal_filter *filter) {
  petal_error error = PETAL_ERROR_INIT;
  uint64 size = 0;
  petal_status status = petal_filter_serialized_size(filter, &size, &error);
  if (status != PETAL_OK) raise_status(function, status, &error);
  check_image_size(function, size);
  petal_value *value = value_new(size);
  status = petal_filter_serialize(filter, value->image, size, NULL, &error);
  if (status != PETAL_OK) raise_status(function, status, &error);
  return value;
}

petal_value *value_of_map(const char *function, const petal_map *map) {
  petal_error error = PETAL_ERROR_INIT;
  uint64 size = 0;
  petal_status status = petal_map_serialized_size(map, &size, &error);
  if (status != PETAL_OK) raise_status(function, status, &error);
  check_image_size(function, size);
  petal_value *value = value_new(size);
  status = petal_map_serialize(map, value->image, size, NULL, &error);
  if (status != PETAL_OK) raise_status(function, status, &error);
  return value;
}

/* The verified value of these bytes. Nothing here raises an error while a handle is open. */
static petal_value *value_of_bytes(const char *function, const char *bytes, size_t length) {
  check_image_size(function, length);
  petal_value *value = value_new(length);
  memcpy(value->image, bytes, length);
  petal_error error = PETAL_ERROR_INIT;
  petal_description description = PETAL_DESCRIPTION_INIT;
  petal_filter *filter = NULL;
  petal_map *map = NULL;
  petal_status status = petal_filter_open_in_buffer(value->image, length, NULL, &filter, &error);
  if (status == PETAL_OK) {
    status = petal_filter_verify(filter, &error);
    if (status == PETAL_OK) status = petal_filter_describe(filter, &description, &error);
    petal_filter_free(filter);
  } else if (status == PETAL_ERR_UNSUPPORTED) {
    petal_error of_map = PETAL_ERROR_INIT;
    status = petal_map_open_in_buffer(value->image, length, NULL, &map, &of_map);
    if (status == PETAL_OK) {
      status = petal_map_verify(map, &error);
      if (status == PETAL_OK) status = petal_map_describe(map, &description, &error);
      petal_map_free(map);
    }
  }
  if (status != PETAL_OK) raise_status(function, status, &error);
  if (description.bytes != length) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                    errmsg("%s: the image has " UINT64_FORMAT " bytes, and %zu follow it", function, description.bytes,
                           (size_t)(length - description.bytes))));
  }
  return value;
}

void check_value(const petal_value *value, const char *function) {
  if (VARSIZE(value) >= IMAGE_OFFSET + LEAST_IMAGE) return;
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                  errmsg("%s: the value has %d bytes, fewer than an image has", function, (int)VARSIZE(value))));
}

petal_value *value_of_argument(FunctionCallInfo call, int index, const char *function) {
  petal_value *value = (petal_value *)PG_DETOAST_DATUM(call->args[index].value);
  check_value(value, function);
  return value;
}

static bytea *bytes_of_value(const petal_value *value) {
  size_t length = VARSIZE(value) - IMAGE_OFFSET;
  bytea *bytes = palloc(VARHDRSZ + length);
  SET_VARSIZE(bytes, VARHDRSZ + length);
  memcpy(VARDATA(bytes), value->image, length);
  return bytes;
}

/* Text is that of bytea. */
Datum petal_sql_in(PG_FUNCTION_ARGS) {
  bytea *bytes = DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
  PG_RETURN_POINTER(value_of_bytes("petal", VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
}

Datum petal_sql_out(PG_FUNCTION_ARGS) {
  petal_value *value = value_of_argument(fcinfo, 0, "petal_out");
  return DirectFunctionCall1(byteaout, PointerGetDatum(bytes_of_value(value)));
}

Datum petal_sql_recv(PG_FUNCTION_ARGS) {
  StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
  int length = message->len - message->cursor;
  PG_RETURN_POINTER(value_of_bytes("petal", pq_getmsgbytes(message, length), length));
}

Datum petal_sql_send(PG_FUNCTION_ARGS) {
  PG_RETURN_BYTEA_P(bytes_of_value(value_of_argument(fcinfo, 0, "petal_send")));
}

Datum petal_sql_from_bytea(PG_FUNCTION_ARGS) {
  bytea *bytes = PG_GETARG_BYTEA_PP(0);
  PG_RETURN_POINTER(value_of_bytes("petal", VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
}

Datum petal_sql_to_bytea(PG_FUNCTION_ARGS) {
  PG_RETURN_BYTEA_P(bytes_of_value(value_of_argument(fcinfo, 0, "petal_bytes")));
}
