/* What modules keep on a tape besides floats. */
#ifndef HW_MODULES_KEPT_H
#define HW_MODULES_KEPT_H

#include "ops/attention.h"
#include "ops/run.h"

/* A number that the backward must know before it can pop the rest. */
void hw_push_number(const hw_run *run, double number);
double hw_pop_number(const hw_run *run);

/* How far the tape reaches, to look at something below what is pushed next; 0 if the run does not record. */
static inline size_t hw_tape_mark(const hw_run *run) { return hw_run_records(run) ? run->tape.kept->used : 0; }

/* Which elements dropout kept, and how likely it dropped one. */
typedef struct hw_dropped {
  double dropout;
  uint32_t *kept; /* hw_kept_words(count) words; NULL without dropout */
} hw_dropped;

/* Room for so many words, which are not drawn yet. */
hw_dropped hw_dropped_push(const hw_run *run, double dropout, size_t words);
hw_dropped hw_dropped_pop(const hw_run *run, size_t words);

/* Draws what is kept, and drops the rest of x. */
void hw_dropped_draw(const hw_run *run, const hw_dropped *dropped, float *x, size_t count);

/* y = x with the same elements dropped, as in the gradient; y may be x. */
void hw_dropped_apply(const hw_run *run, const hw_dropped *dropped, const float *x, float *y, size_t count);

/* Where an attention leaves what its backward needs, and the dropout that it has. */
void hw_attention_push(const hw_run *run, hw_attention *attention);

/* The same of an attention of the same sizes on its way back. */
void hw_attention_pop(const hw_run *run, hw_attention *attention);

#endif
