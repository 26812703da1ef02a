/* What saving leaves behind: the old bytes or the new ones wherever the process is killed, nothing else once somebody
 * has saved again, and the owner that the file had. Paths of every length can be saved to. */
#include "refused.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#ifdef __linux__
#include <sys/syscall.h>

/* The system calls by which a file is saved go through these, which end the process at one of them; 0 is none. */
static long calls_left;

static void may_die(void) {
  if (calls_left > 0 && --calls_left == 0) kill(getpid(), SIGKILL);
}

int openat(int folder, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  may_die();
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  may_die();
  return syscall(SYS_pwrite64, file, bytes, length, offset);
}

int fsync(int file) {
  may_die();
  return (int)syscall(SYS_fsync, file);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  may_die();
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  may_die();
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}
#endif

/* Killed at each system call in turn, with a file in its place and without one, a saver leaves the old state or the new
 * one, and at most one file next to it; the next one who saves removes that. */
static void killed_savers(bool replacing) {
#ifdef __linux__
  char folder[1400], path[1450];
  snprintf(folder, sizeof folder, "%s", check_path(replacing ? "killed_replacing" : "killed"));
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK(mkdir(folder, 0755) == 0);
  petal_filter *old = make(SPEC(.capacity = 1000)), *new = make(SPEC(.capacity = 1000));
  CHECK_OK(petal_filter_insert_u64(new, 1, NULL));
  const unsigned none = check_files_in(folder);
  bool left_behind = false, seen_old = false, seen_new = false;
  for (long call = 1;; call++) {
    if (replacing) CHECK_OK(petal_filter_save(old, path, NULL));
    pid_t child = fork();
    if (child == 0) {
      calls_left = call;
      _exit(petal_filter_save(new, path, NULL) == PETAL_OK ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    bool there = access(path, F_OK) == 0, is_new = there && check_file_is(path, new);
    CHECK(is_new || (replacing ? there && check_file_is(path, old) : !there));
    seen_old |= !is_new, seen_new |= is_new;
    CHECK(check_files_in(folder) <= none + there + 1);
    left_behind |= check_files_in(folder) > none + there;
    bool finished = WIFEXITED(status);
    if (finished) CHECK(is_new && WEXITSTATUS(status) == 0);
    CHECK(finished || WTERMSIG(status) == SIGKILL);
    /* Somebody else saves something else there. */
    char other[1450];
    snprintf(other, sizeof other, "%s/other", folder);
    CHECK_OK(petal_filter_save(old, other, NULL));
    CHECK_EQUAL(check_files_in(folder), none + there + 1);
    CHECK(remove(other) == 0 && (!there || remove(path) == 0));
    if (finished || call > 1000) break;
  }
  CHECK(seen_old && seen_new);
  /* Otherwise this proves nothing: one of the calls must come while a file has its temporary name. */
  if (replacing) CHECK(left_behind);
  petal_filter_free(old);
  petal_filter_free(new);
#else
  if (replacing) check_skip("killed savers", "the calls are those of Linux");
#endif
}

static struct stat status_of(const char *path) {
  struct stat status = {0};
  CHECK(stat(path, &status) == 0);
  return status;
}

/* A file keeps its owner, group and permissions where the saver may give them; otherwise the group that it gets may do
 * no more than everybody. */
static void owners(void) {
  if (geteuid() != 0) {
    check_skip("owners of files", "only the superuser can give files away");
    return;
  }
  char folder[1400], path[1450];
  snprintf(folder, sizeof folder, "%s", check_path("owners"));
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK(mkdir(folder, 0777) == 0 && chmod(folder, 0777) == 0 && chmod(check_folder, 0755) == 0);
  petal_filter *filter = make(SPEC(.capacity = 1000));
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK(chown(path, 12345, 54321) == 0 && chmod(path, 0640) == 0);
  struct stat before = status_of(path);
  CHECK_OK(petal_filter_save(filter, path, NULL));
  struct stat after = status_of(path);
  CHECK(before.st_ino != after.st_ino);
  CHECK_EQUAL(after.st_uid, 12345);
  CHECK_EQUAL(after.st_gid, 54321);
  CHECK_EQUAL(after.st_mode & 07777, 0640);

  /* Somebody who may write in the folder but is neither the owner nor of the group. */
  CHECK(chmod(path, 0664) == 0 && setegid(65534) == 0 && seteuid(65534) == 0);
  petal_status saved = petal_filter_save(filter, path, NULL);
  CHECK(seteuid(0) == 0 && setegid(0) == 0);
  CHECK_STATUS(saved, PETAL_OK);
  after = status_of(path);
  CHECK_EQUAL(after.st_uid, 65534);
  CHECK_EQUAL(after.st_gid, 65534);
  CHECK_EQUAL(after.st_mode & 07777, 0644);
  petal_filter_free(filter);
}

/* As long as a path can be opened it can be saved to, twice, and so can the longest file name. */
static void long_paths(void) {
  static const size_t lengths[] = {4093, 4095};
  petal_filter *filter = make(SPEC(.capacity = 10));
  char here[1400];
  CHECK(getcwd(here, sizeof here) != NULL);
  for (size_t l = 0; l < 2; l++) {
    char path[4096], name[256];
    snprintf(path, sizeof path, "%s/", check_path("long"));
    CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
    CHECK(chdir(path) == 0);
    size_t used = strlen(path);
    memset(name, 'n', sizeof name);
    /* Folders, and at the end a file with the longest name. */
    const size_t folders = lengths[l] - 255;
    while (used < folders) {
      size_t rest = folders - used, length = rest <= 256 ? rest - 1 : rest == 257 ? 100 : 255;
      memcpy(path + used, name, length);
      path[used + length] = '\0';
      CHECK(mkdir(path + used, 0755) == 0 || errno == EEXIST);
      CHECK(chdir(path + used) == 0);
      used += length;
      path[used++] = '/';
    }
    memcpy(path + used, name, 255);
    path[used + 255] = '\0';
    CHECK(chdir(here) == 0);
    CHECK_EQUAL(strlen(path), lengths[l]);
    CHECK_OK(petal_filter_save(filter, path, NULL));
    REFUSED(PETAL_OK, NULL, petal_filter_save(filter, path, &error));
    CHECK(check_file_is(path, filter));
  }
  petal_filter_free(filter);
}

int main(void) {
  killed_savers(false);
  killed_savers(true);
  owners();
  long_paths();
  return check_done();
}
