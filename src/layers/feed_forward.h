/* FeedForward, for the block that owns the arena. */
#ifndef HW_LAYERS_FEED_FORWARD_H
#define HW_LAYERS_FEED_FORWARD_H

#include "headwise.h"

/* Draws fc1, then fc2. Apart from the creation, so that one that fails leaves the generator alone. */
void hw_feed_forward_draw(hw_context *context, hw_feed_forward *module);

/* Bytes that hw_feed_forward_run takes from the arena, and gives back; SIZE_MAX if they do not fit. */
size_t hw_feed_forward_scratch(const hw_feed_forward *module, size_t rows);

/* y may be x. */
void hw_feed_forward_run(hw_context *context, const hw_feed_forward *module, const float *x, size_t rows, float *y);

#endif
