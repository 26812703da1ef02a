/*
 * loaded.c EXTENSION: petal_sqlite.so in a program whose SQLite is newer or older than the header with which the
 * extension was compiled. Prints a line a check, and at the end "N passed, M failed".
 */

/* This program is linked with SQLite, so that its functions are no macros. */
#define SQLITE_CORE

#include <dlfcn.h>
#include <sqlite3ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int passed;
static int failed;

static void report(bool holds, const char *name) {
  printf("%s: %s\n", holds ? "ok" : "FAILED", name);
  if (holds) {
    passed++;
  } else {
    failed++;
  }
}

/* An aggregate whose end interrupts its connection, right before the end of the one after it. */
static void interrupt_step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  (void)values;
  sqlite3_aggregate_context(context, 1);
}

static void interrupt_final(sqlite3_context *context) {
  sqlite3_interrupt(sqlite3_user_data(context));
  sqlite3_result_int(context, 0);
}

static int run(sqlite3 *db, const char *sql, int *answer) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *answer = sqlite3_column_int(statement, 0);
  bool is_told = code != SQLITE_ROW && code != SQLITE_DONE;
  if (is_told) printf("SQLite %s: %d, %s\n", sqlite3_libversion(), code, sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return code;
}

static sqlite3_api_routines routines;

static int take_routines(sqlite3 *db, char **message, const sqlite3_api_routines *given) {
  (void)db;
  (void)message;
  routines = *given;
  return SQLITE_OK;
}

static int old_version(void) { return 3030001; }
static const char *old_version_text(void) { return "3.30.1"; }

/* The extension is given the functions of this SQLite, which says that it is an older one. */
static bool refuses_old_versions(const char *path) {
  sqlite3 *db = NULL;
  char *message = NULL;
  sqlite3_auto_extension((void (*)(void))take_routines);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK || !routines.open) return false;
  routines.libversion_number = old_version;
  routines.libversion = old_version_text;
  void *library = dlopen(path, RTLD_NOW);
  int (*entry)(sqlite3 *, char **, const sqlite3_api_routines *) = NULL;
  if (library) *(void **)&entry = dlsym(library, "sqlite3_petalsqlite_init");
  bool holds = entry && entry(db, &message, &routines) == SQLITE_ERROR && message &&
               strcmp(message, "Petal needs SQLite 3.31 or newer, and this is 3.30.1") == 0;
  sqlite3_free(message);
  sqlite3_close(db);
  return holds;
}

int main(int count, char **arguments) {
  sqlite3 *db = NULL;
  int answer = 0;
  if (count != 2 || sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  report(sqlite3_load_extension(db, arguments[1], NULL, NULL) == SQLITE_OK, "SQLite loads it by the name of its file");
  report(run(db, "SELECT petal_contains(petal_agg(1), 1)", &answer) == SQLITE_ROW && answer == 1, "it answers");
  sqlite3_create_function(db, "interrupt_agg", 1, SQLITE_UTF8, db, NULL, interrupt_step, interrupt_final);
  const char *sql = "SELECT interrupt_agg(value) + length(petal_agg(value, NULL, 0.01, 'fuse')) > 256 "
                    "FROM json_each('[1,2]')";
  int code = run(db, sql, &answer);
  if (sqlite3_libversion_number() >= 3041000) {
    report(code == SQLITE_INTERRUPT && strcmp(sqlite3_errmsg(db), "petal_agg: interrupted") == 0,
           "an interrupt ends a build");
  } else {
    report(code == SQLITE_ROW && answer == 1, "a build ends where SQLite does not tell of interrupts");
  }
  sqlite3_close(db);
  report(refuses_old_versions(arguments[1]), "versions before 3.31 are refused");
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
