/* Prints what the version resource of a file says: its version and its name. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

static const char *value(const void *resource, const char *name) {
  char path[80];
  void *text;
  UINT length;
  snprintf(path, sizeof path, "\\StringFileInfo\\040904B0\\%s", name);
  return VerQueryValueA(resource, path, &text, &length) ? text : "nothing";
}

int main(int count, char **arguments) {
  DWORD ignored, size = count == 2 ? GetFileVersionInfoSizeA(arguments[1], &ignored) : 0;
  void *resource = malloc(size + 1);
  if (size == 0 || resource == NULL || !GetFileVersionInfoA(arguments[1], 0, size, resource)) {
    fprintf(stderr, "no version resource\n");
    return 1;
  }
  printf("%s, %s\n", value(resource, "FileVersion"), value(resource, "OriginalFilename"));
  free(resource);
  return 0;
}
