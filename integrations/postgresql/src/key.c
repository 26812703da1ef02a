/*
 * Keys: text is its UTF-8, integers are the unsigned numbers of 64 bits, bytea and uuid are their bytes. So a key of
 * SQL is the same key in C, Go, Python and the command. A type whose values are written in several ways, or in which
 * unequal bytes are equal, makes no keys.
 */

#include "extension.h"

#include <catalog/pg_type.h>
#include <mb/pg_wchar.h>
#include <nodes/nodeFuncs.h>
#include <nodes/primnodes.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>
#include <utils/uuid.h>

/* The expression of an argument, or NULL where nobody says. */
static Node *argument_expression(FunctionCallInfo call, int index) {
  Aggref *aggregate = AggGetAggref(call);
  if (aggregate) {
    /* Argument 0 of a transition function is its state. */
    if (index < 1 || index > list_length(aggregate->args)) return NULL;
    return (Node *)((TargetEntry *)list_nth(aggregate->args, index - 1))->expr;
  }
  Node *expression = call->flinfo->fn_expr;
  List *arguments = NIL;
  if (expression && IsA(expression, FuncExpr)) arguments = ((FuncExpr *)expression)->args;
  if (expression && IsA(expression, OpExpr)) arguments = ((OpExpr *)expression)->args;
  return index < list_length(arguments) ? list_nth(arguments, index) : NULL;
}

/*
 * The type that the caller gave. Types such as citext turn into text by themselves, so the argument of a function for
 * text may be one: what a cast that nobody wrote was applied to is the type of the key.
 */
static Oid given_type(FunctionCallInfo call, int index) {
  Node *expression = argument_expression(call, index);
  if (expression && IsA(expression, RelabelType) &&
      ((RelabelType *)expression)->relabelformat == COERCE_IMPLICIT_CAST) {
    Node *given = (Node *)((RelabelType *)expression)->arg;
    /* A parameter is a constant of type text in some plans, where nothing tells what it was. So it is text in all. */
    if (!IsA(given, Param) || ((Param *)given)->paramkind != PARAM_EXTERN) return exprType(given);
  }
  if (expression && IsA(expression, FuncExpr) && ((FuncExpr *)expression)->funcformat == COERCE_IMPLICIT_CAST &&
      ((FuncExpr *)expression)->args != NIL)
    return exprType(linitial(((FuncExpr *)expression)->args));
  return get_fn_expr_argtype(call->flinfo, index);
}

static void check_text(Oid collation, const char *function) {
  if (GetDatabaseEncoding() != PG_UTF8) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s: key is text of the encoding %s, and text is a key by its UTF-8", function,
                           GetDatabaseEncodingName()),
                    errhint("Use convert_to(key, 'UTF8'), which is bytea.")));
  }
  if (OidIsValid(collation) && !get_collation_isdeterministic(collation)) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s: key has the collation \"%s\", in which unequal texts may be equal", function,
                           get_collation_name(collation)),
                    errhint("Write key COLLATE \"C\", if equal keys have the same characters.")));
  }
}

static const char *refusal_of(Oid type) {
  switch (type) {
    case BPCHAROID:
      return "whose trailing blanks do not count: cast it to text, which drops them";
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
      return "which writes one number in several ways: cast it to bigint or text";
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
      return "whose text depends on settings: take (extract(epoch from key) * 1000000)::bigint, or to_char()";
    default:
      return "which makes no keys: cast it to text, bigint, bytea or uuid";
  }
}

Oid key_type_of(FunctionCallInfo call, int index, const char *function) {
  Oid given = given_type(call, index);
  Oid type = OidIsValid(given) ? getBaseType(given) : InvalidOid;
  switch (type) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case BYTEAOID:
    case UUIDOID:
      return type;
    case TEXTOID:
    case VARCHAROID:
    case NAMEOID:
    case UNKNOWNOID:
      check_text(call->fncollation, function);
      return TEXTOID;
    default:
      break;
  }
  if (!OidIsValid(type)) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s: nobody says which type key has", function)));
  }
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%s: key is of the type %s, %s", function, format_type_be(given), refusal_of(type))));
}

static sql_key number_key(int64 number, const char *function) {
  if (number < 0) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("%s: key is " INT64_FORMAT ", and numbers are keys from 0 on", function, number),
                    errhint("petal_twos_complement(key) is the key of the unsigned number with the same bits.")));
  }
  sql_key key = {true, (uint64)number, NULL, 0};
  return key;
}

static sql_key bytes_key(const char *bytes, size_t length) {
  sql_key key = {false, 0, bytes, length};
  return key;
}

sql_key key_of(Datum datum, Oid type, const char *function) {
  switch (type) {
    case INT2OID:
      return number_key(DatumGetInt16(datum), function);
    case INT4OID:
      return number_key(DatumGetInt32(datum), function);
    case INT8OID:
      return number_key(DatumGetInt64(datum), function);
    case UUIDOID:
      return bytes_key((const char *)DatumGetUUIDP(datum)->data, UUID_LEN);
    default: {
      struct varlena *bytes = PG_DETOAST_DATUM_PACKED(datum);
      return bytes_key(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
    }
  }
}

PG_FUNCTION_INFO_V1(petal_sql_twos_complement);

/* petal_twos_complement(bigint): the eight bytes that the key of an unsigned number is. */
Datum petal_sql_twos_complement(PG_FUNCTION_ARGS) {
  uint64 number = (uint64)PG_GETARG_INT64(0);
  bytea *bytes = palloc(VARHDRSZ + 8);
  SET_VARSIZE(bytes, VARHDRSZ + 8);
  for (int i = 0; i < 8; i++) VARDATA(bytes)[i] = (char)(number >> (8 * i));
  PG_RETURN_BYTEA_P(bytes);
}
