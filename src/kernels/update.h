/* What an optimizer does to a stretch of floats. */
#ifndef HW_KERNELS_UPDATE_H
#define HW_KERNELS_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

/* What an update reads and writes, `count` floats of each; those that its kernel does not name may be NULL. */
typedef struct hw_update_arrays {
  float *value;
  const float *gradient;
  float *moments[2];
} hw_update_arrays;

/* Floats `first` on of each array that is there. */
hw_update_arrays hw_update_arrays_from(const hw_update_arrays *arrays, size_t first);

typedef struct hw_update hw_update;

struct hw_update {
  /* What it returns is added up over all stretches. */
  float (*kernel)(const hw_update *update, const hw_update_arrays *arrays, size_t count);
  float rate;        /* how far a step goes */
  float decay;       /* of AdamW a factor of the value, of SGD how much of the value is added to the gradient */
  float kept[2];     /* how much of each moment stays */
  float added[2];    /* how much of the gradient, and of its square, comes in */
  float root_factor; /* of the second moment's root */
  float eps;
  float scale;
  bool nesterov;
};

/* Loshchilov & Hutter 2019, as torch.optim.AdamW has it:
 *   moments[0] = kept[0]·moments[0] + added[0]·gradient,  moments[1] = kept[1]·moments[1] + added[1]·gradient²
 *   value = decay·value - rate·moments[0] / (root_factor·√moments[1] + eps) */
float hw_update_adamw(const hw_update *update, const hw_update_arrays *arrays, size_t count);

/* torch.optim.SGD: g = gradient + decay·value; with moments[0], m = kept[0]·m + g, and g becomes m, or g + kept[0]·m by
 * Nesterov's rule; value -= rate·g */
float hw_update_sgd(const hw_update *update, const hw_update_arrays *arrays, size_t count);

/* value *= scale */
float hw_update_scale(const hw_update *update, const hw_update_arrays *arrays, size_t count);

/* Returns the sum of the gradient's squares. */
float hw_update_squares(const hw_update *update, const hw_update_arrays *arrays, size_t count);

#endif
