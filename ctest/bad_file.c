/* What the file system does to a program: missing files, no access, a full disk, a second writer, a killed one, and the
 * filter's own file as the target. */
#include "refused.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

static void no_such_file(void) {
  petal_filter *filter = make(SPEC(.capacity = 10)), *none = SENTINEL;
  for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
    REFUSED(PETAL_ERR_NOT_FOUND, "nowhere", try_file(check_path("nowhere"), mode));
    CHECK_EQUAL(error.os_error, ENOENT);
  }
  REFUSED(PETAL_ERR_NOT_FOUND, "", try_file("", PETAL_OPEN_READ));
  REFUSED(PETAL_ERR_NOT_FOUND, "folder does not exist|none/file",
          petal_filter_save(filter, check_path("none/file"), &error));
  CHECK_EQUAL(error.os_error, ENOENT);
  REFUSED(PETAL_ERR_IO, "error 21", try_file(check_path("."), PETAL_OPEN_READ));
  CHECK_EQUAL(error.os_error, EISDIR);
  REFUSED(PETAL_ERR_IO, "-1", petal_filter_open_descriptor(-1, 0, NULL, &none, &error));
  CHECK_EQUAL(error.os_error, EBADF);
  REFUSED(PETAL_ERR_UNSUPPORTED, "/dev/full|regular", petal_filter_save(filter, "/dev/full", &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "regular", petal_filter_save(filter, check_path("."), &error));
  struct stat status;
  CHECK(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
  CHECK(none == SENTINEL);

  /* However long the path is, the message says what happened. */
  char name[201], long_path[600];
  memset(name, 'n', 200);
  name[200] = '\0';
  snprintf(long_path, sizeof long_path, "%s/%s", check_path(name), name);
  REFUSED(PETAL_ERR_NOT_FOUND, "does not exist", try_file(long_path, PETAL_OPEN_READ));
  REFUSED(PETAL_ERR_NOT_FOUND, "does not exist", petal_filter_save(filter, long_path, &error));
  petal_filter_free(filter);
}

/* Works without the superuser's rights, if the program has them. */
static void give_up_rights(void) {
  if (geteuid() == 0) CHECK(setegid(65534) == 0 && seteuid(65534) == 0);
}

static void take_rights_back(void) {
  if (getuid() == 0) CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

static void no_access(void) {
  char folder[1400], path[1450];
  snprintf(folder, sizeof folder, "%s", check_path("locked"));
  snprintf(path, sizeof path, "%s/file", folder);
  petal_filter *old = make(SPEC(.capacity = 10)), *new = make(SPEC(.capacity = 10));
  CHECK_OK(petal_filter_insert_u64(old, 1, NULL));
  CHECK(mkdir(folder, 0755) == 0 && chmod(check_path("."), 0755) == 0);
  CHECK_OK(petal_filter_save(old, path, NULL));
  CHECK(chmod(path, 0444) == 0 && chmod(folder, 0555) == 0);
  unsigned files = check_files_in(folder);
  give_up_rights();
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", petal_filter_save(new, path, &error));
  CHECK_EQUAL(error.os_error, EACCES);
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", try_file(path, PETAL_OPEN_WRITE));
  if (try_file(path, PETAL_OPEN_READ) != PETAL_OK) {
    check_skip("reading in a folder that is read-only", "a folder above the temporary one is closed to others");
  }
  take_rights_back();
  CHECK(check_file_is(path, old));
  CHECK_EQUAL(check_files_in(folder), files);
  CHECK(chmod(path, 0000) == 0);
  give_up_rights();
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", try_file(path, PETAL_OPEN_READ));
  take_rights_back();

  /* A folder that may be written but not read is good enough to save to: afterwards the file is there, or there was a
   * failure and it is not. */
  CHECK(remove(path) == 0 && chmod(folder, 0733) == 0);
  give_up_rights();
  petal_status status = petal_filter_save(new, path, &error);
  take_rights_back();
  CHECK((status == PETAL_OK) == (access(path, F_OK) == 0));
  CHECK(chmod(folder, 0700) == 0);
  petal_filter_free(old);
  petal_filter_free(new);
}

/* Saves a filter where there is no room for it: what was there stays, and nothing else is there. */
static void save_without_room(const char *folder, const petal_filter *old, const petal_filter *large) {
  char path[1450];
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK_OK(petal_filter_save(old, path, NULL));
  unsigned files = check_files_in(folder);
  REFUSED(PETAL_ERR_NO_SPACE, "space", petal_filter_save(large, path, &error));
  CHECK(error.os_error == ENOSPC || error.os_error == EFBIG);
  CHECK(check_file_is(path, old));
  CHECK_EQUAL(check_files_in(folder), files);
  CHECK(remove(path) == 0);
}

/* A builder that cannot write to its file keeps what it has, says how much that is, and goes on when there is room. */
static void build_without_room(struct rlimit small, struct rlimit usual) {
  enum { KEYS = 200000 };
  static uint64_t numbers[KEYS];
  petal_spec spec = SPEC(.false_positive_rate = 0.1);
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = 1 << 20,
                                   .temporary_directory = check_path(".")};
  petal_builder *builder = NULL, *reference = NULL;
  petal_filter *filter = NULL, *expected = NULL;
  petal_answers answers = ANSWERS(.done = 99);
  uint64_t count = 0;
  for (size_t i = 0; i < KEYS; i++) numbers[i] = check_key(i);
  CHECK_OK(petal_builder_new(&spec, &options, &builder, NULL));
  CHECK_OK(petal_builder_new(&spec, NULL, &reference, NULL));
  setrlimit(RLIMIT_FSIZE, &small);
  REFUSED(PETAL_ERR_NO_SPACE, "temporary file",
          petal_builder_add_batch(builder, U64_KEYS(numbers, KEYS), &answers, &error));
  size_t added = answers.done;
  REFUSED_PLAIN(PETAL_ERR_NO_SPACE, petal_builder_add_u64(builder, 1));
  setrlimit(RLIMIT_FSIZE, &usual);
  CHECK_OK(petal_builder_key_count(builder, &count, NULL));
  CHECK(added > 0 && added < KEYS && count == added);
  CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(numbers + added, KEYS - added), NULL, NULL));
  CHECK_OK(petal_builder_finish(builder, &filter, NULL));
  CHECK_OK(petal_builder_add_batch(reference, U64_KEYS(numbers, KEYS), NULL, NULL));
  CHECK_OK(petal_builder_finish(reference, &expected, NULL));
  CHECK(check_same_bits(filter, expected));
  petal_filter_free(filter);
  petal_filter_free(expected);
  petal_builder_free(builder);
  petal_builder_free(reference);
}

/* A file with holes, on a disk that has no room to fill them, is refused when it is opened to be changed, and stays as
 * it was; otherwise an insertion would end in SIGBUS. */
static void sparse_without_room(const char *folder, const petal_filter *empty) {
  static const unsigned char zeros[4096];
  char path[1450];
  snprintf(path, sizeof path, "%s/sparse", folder);
  check_image image = check_take_image(empty);
  int file = open(path, O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0 && ftruncate(file, (off_t)image.length) == 0);
  for (size_t start = 0; start < image.length; start += sizeof zeros) {
    size_t rest = image.length - start, length = rest < sizeof zeros ? rest : sizeof zeros;
    if (memcmp(image.bytes + start, zeros, length) == 0) continue;
    CHECK(pwrite(file, image.bytes + start, length, (off_t)start) == (ssize_t)length);
  }
  for (unsigned i = 0; i < 2; i++) {
    petal_open_mode mode = i == 0 ? PETAL_OPEN_WRITE : PETAL_OPEN_SHARE;
    petal_open_options options = {.struct_size = sizeof options, .mode = mode};
    petal_filter *none = SENTINEL;
    REFUSED(PETAL_ERR_NO_SPACE, "space|sparse", try_file(path, mode));
    CHECK_EQUAL(error.os_error, ENOSPC);
    REFUSED(PETAL_ERR_NO_SPACE, "space|descriptor", petal_filter_open_descriptor(file, 0, &options, &none, &error));
    CHECK(none == SENTINEL);
  }
  /* On tmpfs even reading a hole through a mapping takes room. */
  petal_open_options load = {.struct_size = sizeof load, .mode = PETAL_OPEN_LOAD};
  petal_filter *loaded = NULL;
  CHECK_OK(petal_filter_open(path, &load, &loaded, NULL));
  CHECK_OK(petal_filter_verify(loaded, NULL));
  CHECK(check_same_bits(loaded, empty));
  petal_filter_free(loaded);
  /* Nothing holds the file open. */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  CHECK(fcntl(file, F_SETLK, &lock) == 0);
  CHECK(close(file) == 0 && remove(path) == 0);
  free(image.bytes);
}

static void full_disk(void) {
  petal_filter *old = make(SPEC(.capacity = 10)), *large = make(SPEC(.capacity = 1000000));
  char folder[1400];
  snprintf(folder, sizeof folder, "%s", check_path("full"));
  CHECK(mkdir(folder, 0755) == 0);

  /* A limit on the size of files is like a disk that is full, and raises no SIGXFSZ. */
  struct rlimit usual, small;
  CHECK(getrlimit(RLIMIT_FSIZE, &usual) == 0);
  small = (struct rlimit){.rlim_cur = 65536, .rlim_max = usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  save_without_room(folder, old, large);
  setrlimit(RLIMIT_FSIZE, &usual);
  build_without_room(small, usual);

#ifdef __linux__
  if (mount("petal", folder, "tmpfs", 0, "size=64k") == 0) {
    save_without_room(folder, old, large);
    sparse_without_room(folder, large);
    CHECK(umount(folder) == 0);
  } else {
    check_skip("a small disk", strerror(errno));
  }
#endif
  petal_filter_free(old);
  petal_filter_free(large);
}

static void onto_the_mapped_file(void) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  const char *path = check_path("mapped"), *soft = check_path("soft"), *hard = check_path("hard");
  petal_filter *filter = make(SPEC(.capacity = 10)), *mapped = NULL;
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK(symlink(path, soft) == 0 && link(path, hard) == 0);
  for (int mode = 0; mode < 2; mode++) {
    CHECK_OK(petal_filter_open(path, mode == 0 ? NULL : &writing, &mapped, NULL));
    guard(mapped);
    REFUSED(PETAL_ERR_MAPPED_PATH, "mapped|sync", petal_filter_save(mapped, path, &error));
    REFUSED(PETAL_ERR_MAPPED_PATH, "hard|sync", petal_filter_save(mapped, hard, &error));
    CHECK_OK(petal_filter_save(mapped, check_path("elsewhere"), &error));
    /* A symbolic link to the file is replaced, and what it led to stays as it was. */
    struct stat before, after;
    CHECK(stat(path, &before) == 0);
    CHECK_OK(petal_filter_save(mapped, soft, &error));
    CHECK(lstat(soft, &after) == 0 && S_ISREG(after.st_mode) && after.st_ino != before.st_ino);
    CHECK(stat(path, &after) == 0 && after.st_ino == before.st_ino);
    CHECK(remove(soft) == 0 && symlink(path, soft) == 0);
    guard(NULL);
    petal_filter_free(mapped);
  }
  petal_filter_free(filter);
}

/* An error about a file has the file's name, of which the end is what matters. */
static void errors_name_the_file(void) {
  enum { LENGTH = 300 };
  static const char *const cases[] = {"nothing.petal", "text.petal", "cut.petal", "long.petal", "other_key.petal"};
  static const petal_status statuses[] = {PETAL_ERR_TRUNCATED, PETAL_ERR_FOREIGN, PETAL_ERR_TRUNCATED,
                                          PETAL_ERR_CORRUPT, PETAL_ERR_SECRET_MISMATCH};
  petal_filter *filter = make(SPEC(.capacity = 10, .hash = PETAL_HASH_SIPHASH13, .secret = {1}));
  char folder[1450], long_name[LENGTH];
  memset(long_name, 'f', sizeof long_name);
  snprintf(folder, sizeof folder, "%s", check_path(""));
  snprintf(folder + strlen(folder), 220, "%.200s", long_name);
  CHECK(mkdir(folder, 0755) == 0);
  for (unsigned c = 0; c < 5; c++) {
    for (unsigned deep = 0; deep < 2; deep++) {
      char path[1700], name[32];
      snprintf(path, sizeof path, "%s/%s", deep == 1 ? folder : check_path("."), cases[c]);
      CHECK_OK(petal_filter_save(filter, path, NULL));
      FILE *file = fopen(path, c == 1 ? "w" : c == 3 ? "a" : "r+");
      CHECK(file != NULL && (c != 1 || fputs("text", file) >= 0) && (c != 3 || fputs("more", file) >= 0));
      CHECK(c > 2 || c == 1 || ftruncate(fileno(file), c == 0 ? 0 : 300) == 0);
      CHECK(fclose(file) == 0);
      for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_SHARE; mode++) {
        petal_open_options options = {.struct_size = sizeof options, .mode = mode, .secret = {2}};
        petal_filter *none = SENTINEL;
        snprintf(name, sizeof name, "%s%s", deep == 1 ? "f/" : "/", cases[c]);
        REFUSED(statuses[c], name, petal_filter_open(path, &options, &none, &error));
        CHECK(none == SENTINEL);
      }
      CHECK(remove(path) == 0);
    }
  }
  petal_filter_free(filter);
}

static void second_writer(void) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  const char *path = check_path("written");
  petal_filter *filter = make(SPEC(.capacity = 10)), *writer = NULL, *none = SENTINEL;
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK_OK(petal_filter_open(path, &writing, &writer, NULL));
  guard(writer);
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", try_file(path, PETAL_OPEN_WRITE));
  int file = open(path, O_RDWR);
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", petal_filter_open_descriptor(file, 0, &writing, &none, &error));
  close(file);
  CHECK(none == SENTINEL);
  CHECK_OK(try_file(path, PETAL_OPEN_READ));
  CHECK_OK(try_file(path, PETAL_OPEN_LOAD));
  /* Closing the others released nothing. */
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", try_file(path, PETAL_OPEN_WRITE));
  guard(NULL);
  petal_filter_free(writer);
  CHECK_OK(try_file(path, PETAL_OPEN_WRITE));
  petal_filter_free(filter);
}

/* A process that writes in place is killed: the file opens, has all keys, and says that it is unclean. */
static void killed_writer(petal_kind kind) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  petal_open_options loading = {.struct_size = sizeof loading, .mode = PETAL_OPEN_LOAD};
  const char *path = check_path("unclean");
  petal_filter *filter = make(SPEC(.kind = kind, .capacity = 1000)), *opened = NULL;
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_save(filter, path, NULL));
  int done[2];
  CHECK(pipe(done) == 0);
  pid_t child = fork();
  if (child == 0) {
    char answer = 'y';
    if (petal_filter_open(path, &writing, &opened, NULL) != PETAL_OK) answer = 'n';
    for (uint64_t i = 0; i < 1000; i++) answer = petal_filter_insert_u64(opened, i, NULL) == PETAL_OK ? answer : 'n';
    if (write(done[1], &answer, 1) == 1) pause();
    _exit(1);
  }
  char answer = 'n';
  CHECK(read(done[0], &answer, 1) == 1 && answer == 'y');
  REFUSED(PETAL_ERR_LOCKED, "writing", try_file(path, PETAL_OPEN_WRITE));
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  close(done[0]);
  close(done[1]);

  for (int mode = 0; mode < 2; mode++) {
    CHECK_OK(petal_filter_open(path, mode == 0 ? NULL : &loading, &opened, NULL));
    CHECK_OK(petal_filter_describe(opened, &description, NULL));
    CHECK(description.state & PETAL_STATE_UNCLEAN);
    for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(opened, i));
    if (mode == 0) REFUSED(PETAL_ERR_UNCLEAN, "clean", petal_filter_verify(opened, &error));
    petal_filter_free(opened);
    opened = NULL;
  }

  /* The next writer makes it clean again only if it marks it clean; so does whoever has a copy of it. */
  petal_filter *copy = NULL;
  CHECK_OK(petal_filter_open(path, &writing, &opened, NULL));
  CHECK_OK(petal_filter_insert_u64(opened, 1000, NULL));
  CHECK_OK(petal_filter_sync(opened, NULL));
  REFUSED(PETAL_ERR_UNCLEAN, "clean", petal_filter_verify(opened, &error));
  CHECK_OK(petal_filter_describe(opened, &description, NULL));
  CHECK(description.state & PETAL_STATE_UNCLEAN && description.state & PETAL_STATE_STAYS_UNCLEAN);
  CHECK_OK(petal_filter_copy(opened, &copy, NULL));
  REFUSED(PETAL_ERR_UNCLEAN, "clean", petal_filter_verify(copy, &error));
  if (check_can(kind, PETAL_CAN_MERGE)) {
    CHECK_OK(petal_filter_merge(filter, copy, NULL));
    REFUSED(PETAL_ERR_UNCLEAN, "clean", petal_filter_verify(filter, &error));
  }
  CHECK_OK(petal_filter_mark_clean(copy, NULL));
  CHECK_OK(petal_filter_verify(copy, NULL));
  petal_filter_free(copy);
  CHECK_OK(petal_filter_mark_clean(opened, NULL));
  CHECK_OK(petal_filter_verify(opened, NULL));
  petal_filter_free(opened);
  CHECK_OK(petal_filter_open(path, NULL, &opened, NULL));
  CHECK_OK(petal_filter_verify(opened, NULL));
  CHECK_OK(petal_filter_describe(opened, &description, NULL));
  CHECK_EQUAL(description.state & PETAL_STATE_UNCLEAN, 0);
  for (uint64_t i = 0; i <= 1000; i++) CHECK(petal_filter_contains_u64(opened, i));
  petal_filter_free(opened);
  petal_filter_free(filter);
}

int main(void) {
  no_such_file();
  errors_name_the_file();
  no_access();
  full_disk();
  onto_the_mapped_file();
  second_writer();
  for (size_t k = 0; k < check_kind_count(); k++) {
    if (check_can(check_kind(k), PETAL_CAN_INSERT) && check_is_writable(check_kind(k))) killed_writer(check_kind(k));
  }

  static const petal_status provoked[] = {
      PETAL_ERR_UNSUPPORTED,
      PETAL_ERR_UNCLEAN,
      PETAL_ERR_IO,
      PETAL_ERR_NOT_FOUND,
      PETAL_ERR_ACCESS_DENIED,
      PETAL_ERR_NO_SPACE,
      PETAL_ERR_LOCKED,
      PETAL_ERR_MAPPED_PATH,
  };
  return refused_done(provoked, sizeof provoked / sizeof *provoked);
}
