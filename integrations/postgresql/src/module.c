/* Petal for PostgreSQL: filters and maps as values of a type. docs/sql.md describes the functions. */

#include "extension.h"

#include <utils/builtins.h>

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(petal_sql_version);

/* petal_version(): the library's version. */
Datum petal_sql_version(PG_FUNCTION_ARGS) { PG_RETURN_TEXT_P(cstring_to_text(petal_version_string())); }
