/* The positions of tokens. */
#ifndef HW_OPS_PLACES_H
#define HW_OPS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"

/* In sequences of `tokens` tokens: ids, or from `first` on, or from firsts[b] on in sequence b, whose
 * padding may go beyond the last position: there it has that. */
typedef struct hw_places {
  const uint32_t *ids;    /* NULL, or [batch, tokens] */
  const uint32_t *firsts; /* NULL, or [batch] */
  size_t first;
  size_t last; /* with firsts */
  size_t batch;
  size_t tokens;
} hw_places;

/* The position of a row of [batch, tokens]. */
static inline size_t hw_place_of(const hw_places *places, size_t row) {
  if (places->ids != NULL) {
    return places->ids[row];
  }
  const size_t token = row % places->tokens;
  return places->firsts == NULL ? places->first + token
                                : hw_min(places->firsts[row / places->tokens] + token, places->last);
}

#endif
