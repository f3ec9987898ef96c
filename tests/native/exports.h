/* Calls of exports, which are counted. */
#ifndef HW_TESTS_EXPORTS_H
#define HW_TESTS_EXPORTS_H

#include "check.h"

enum { MOST_EXPORTS = 128, NAME = 48 };

static char called[MOST_EXPORTS][NAME];
static size_t called_count;

static inline bool was_called(const char *name) {
  for (size_t i = 0; i < called_count; i++) {
    if (strcmp(called[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static inline void note(const char *name) {
  check_case();
  if (!was_called(name)) {
    snprintf(called[called_count++], NAME, "%s", name);
  }
}

#define CALL(name, ...)             (note(#name), hw_export_##name(__VA_ARGS__))
#define CALL_PLAIN(name)            (note(#name), hw_export_##name())
#define EXPECT(expected, name, ...) CHECK_STATUS(CALL(name, __VA_ARGS__), expected)
#define VALUE(name, ...)            EXPECT(HW_ERROR_VALUE, name, __VA_ARGS__)
#define OK(name, ...)               EXPECT(HW_OK, name, __VA_ARGS__)
#define NOTHING(name, ...)          CHECK(!CALL(name, __VA_ARGS__), "%s is not NULL or 0", #name)
#define SOMETHING(name, ...)        CHECK(CALL(name, __VA_ARGS__), "%s is NULL or 0", #name)

/* Every export of the source has been called. */
static inline void check_source(const char *name) {
  char path[512];
  char line[256];
  snprintf(path, sizeof path, "%s/../src/%s", HW_TESTS_DIR, name);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL, "%s", path);
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char export[NAME];
    /* Emscripten's own there is in WebAssembly only. */
    if (sscanf(line, "HW_EXPORT(%*[^,], %47[a-z0-9_],", export) == 1 && export[0] != '_') {
      CHECK(was_called(export), "%s is not called", export);
      check_case();
    }
  }
  if (file != NULL) {
    fclose(file);
  }
}

#endif
