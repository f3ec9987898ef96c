/* What modules keep on a tape besides floats. */
#ifndef HW_MODULES_KEPT_H
#define HW_MODULES_KEPT_H

#include "modules/module.h"
#include "ops/attention.h"

/* A number that the backward must know before it can pop the rest. */
void hw_push_number(const hw_run *run, double number);
double hw_pop_number(const hw_run *run);

/* How far the tape reaches, to look at something below what is pushed next; 0 if the run does not record. */
static inline size_t hw_tape_mark(const hw_run *run) { return hw_run_records(run) ? run->tape.kept->used : 0; }

/* Which elements dropout kept, and how likely it dropped one. */
typedef struct hw_dropped {
  double dropout;
  uint32_t *kept; /* hw_kept_words(count) words; NULL without dropout, and in a run that is measured or not recorded */
} hw_dropped;

/* Room for so many words, which are not drawn yet. */
hw_dropped hw_dropped_push(const hw_run *run, double dropout, size_t words);
hw_dropped hw_dropped_pop(const hw_run *run, size_t words);

/* y = x with the elements dropped that hw_dropout_forward dropped; y may be x. */
void hw_dropped_apply(const hw_run *run, const hw_dropped *dropped, const float *x, float *y, size_t count);

/* Dropout of x [count] in place, if the module is in training mode and the run keeps no values for a reader. Its gradient, d in
 * place, follows with the same elements. */
void hw_drop(const hw_run *run, const hw_module *module, double dropout, float *x, size_t count);
void hw_drop_backward(const hw_run *run, float *d, size_t count);

/* Where an attention leaves what its backward needs, and the dropout that it has. */
void hw_attention_push(const hw_run *run, hw_attention *attention);

/* The same of an attention of the same sizes on its way back. */
void hw_attention_pop(const hw_run *run, hw_attention *attention);

#endif
