/*
 * Where panels of weights in 16 and 8 bits lie: in groups of HW_ROW_PANELS, whose words take turns.
 *
 *   | headers of panels 0 … 3 | word 0 of panels 0 … 3 | word 1 of panels 0 … 3 | …
 *
 * A word is 16 bytes. A row times a group reads memory from one end to the other: processors fetch one such stream ahead faster
 * than four, one in each panel. Panels that are missing from the last group are zeros.
 */
#ifndef HW_KERNELS_SMALL_PANELS_H
#define HW_KERNELS_SMALL_PANELS_H

#include "core/tile.h"

enum {
  HW_WORD_BYTES = 16,
  HW_WORD_STEP = HW_ROW_PANELS * HW_WORD_BYTES, /* from a panel's word to its next */
  HW_GROUP_COLUMNS = HW_ROW_PANELS * HW_TILE_COLUMNS,
};

typedef struct hw_small_panels {
  unsigned char *data;
  size_t header_bytes; /* of a panel */
  size_t words;        /* the same */
} hw_small_panels;

typedef struct hw_small_panel {
  float *header;
  unsigned char *words; /* HW_WORD_STEP bytes apart */
} hw_small_panel;

/* Bytes of one group of panels that there are. */
static inline size_t hw_bytes_of_group(const hw_small_panels *panels) {
  return panels->header_bytes * HW_ROW_PANELS + panels->words * HW_WORD_STEP;
}

static inline hw_small_panel hw_small_panel_at(const hw_small_panels *panels, size_t panel) {
  const size_t place = panel % HW_ROW_PANELS;
  unsigned char *group = panels->data + panel / HW_ROW_PANELS * hw_bytes_of_group(panels);
  unsigned char *words = group + panels->header_bytes * HW_ROW_PANELS;
  return (hw_small_panel){(float *)(void *)(group + place * panels->header_bytes), words + place * HW_WORD_BYTES};
}

#endif
