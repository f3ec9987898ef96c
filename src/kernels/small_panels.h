/*
 * Where panels of weights in 16 and 8 bits lie: one after another.
 *
 *   | header | word 0 | word 1 | …
 *
 * A word is 16 bytes.
 */
#ifndef HW_KERNELS_SMALL_PANELS_H
#define HW_KERNELS_SMALL_PANELS_H

#include "core/tile.h"

enum { HW_WORD_BYTES = 16 };

typedef struct hw_small_panels {
  unsigned char *data;
  size_t header_bytes; /* of a panel */
  size_t words;        /* the same */
} hw_small_panels;

typedef struct hw_small_panel {
  float *header;
  unsigned char *words;
} hw_small_panel;

/* Of panels that there are. */
static inline size_t hw_small_panel_bytes(const hw_small_panels *panels) {
  return panels->header_bytes + panels->words * HW_WORD_BYTES;
}

static inline hw_small_panel hw_small_panel_at(const hw_small_panels *panels, size_t panel) {
  unsigned char *at = panels->data + panel * hw_small_panel_bytes(panels);
  return (hw_small_panel){(float *)(void *)at, at + panels->header_bytes};
}

#endif
