/* Tokens are chosen as the definition says, against float64: the likeliest, or drawn among the top_k and the nucleus. */
#include "check.h"
#include "headwise.h"

enum { MOST = 1000 };

static hw_context *context;

/* The definition: the tokens in the order in which they are likely, and what each may be drawn with. */
typedef struct distribution {
  size_t order[MOST];
  double share[MOST]; /* by token; 0: cannot be drawn */
  bool is_close;      /* rounding decides which tokens are in the nucleus */
} distribution;

static const float *sorted_by;

static int compare(const void *left, const void *right) {
  const size_t a = *(const size_t *)left;
  const size_t b = *(const size_t *)right;
  if (sorted_by[a] != sorted_by[b]) {
    return sorted_by[a] > sorted_by[b] ? -1 : 1;
  }
  return a < b ? -1 : 1;
}

static void distribute(const float *logits, size_t count, const hw_sampling *s, distribution *d) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    d->order[i] = i;
  }
  sorted_by = logits;
  qsort(d->order, count, sizeof d->order[0], compare);
  const float top = logits[d->order[0]];
  const float least = logits[d->order[s->top_k < count ? s->top_k - 1 : count - 1]];
  for (size_t i = 0; i < count; i++) {
    d->share[i] = logits[i] >= least ? exp(((double)logits[i] - (double)top) / s->temperature) : 0.0;
    sum += d->share[i];
  }
  double before = 0.0;
  d->is_close = false;
  for (size_t i = 0; i < count; i++) {
    double *share = &d->share[d->order[i]];
    const double part = *share / sum;
    *share = before < s->top_p ? part : 0.0;
    d->is_close = d->is_close || (s->top_p < 1.0 && fabs(before - s->top_p) < 1e-5);
    before += part;
  }
}

/* The chosen token is one whose part of the running sum has the number in it. */
static void check_choice(const float *logits, size_t count, const hw_sampling *s) {
  static distribution d;
  uint32_t id = UINT32_MAX;
  double log_probability = 1.0;
  CHECK_STATUS(hw_sample(context, logits, count, s, &id, &log_probability), HW_OK);
  distribute(logits, count, s, &d);
  CHECK(id < count, "token %u of %zu", id, count);
  double sum = 0.0;
  double all = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += d.share[i];
    all += exp((double)logits[i] - (double)logits[d.order[0]]);
  }
  double before = 0.0;
  for (size_t i = 0; i < id; i++) {
    before += d.share[i] / sum;
  }
  const double end = before + d.share[id] / sum;
  CHECK(d.is_close || (d.share[id] > 0.0 && before <= s->uniform + 1e-5 && end >= s->uniform - 1e-5),
        "count %zu, temperature %g, top_k %zu, top_p %g: %g gives token %u, of %g to %g", count, s->temperature,
        s->top_k, s->top_p, s->uniform, id, before, end);
  const double expected = (double)logits[id] - (double)logits[d.order[0]] - log(all);
  CHECK(fabs(log_probability - expected) < 1e-5, "log-probability %g, expected %g", log_probability, expected);
  check_case();
}

static float draw_logit(size_t kind) {
  const float x = check_random_float();
  if (kind == 1) {
    return floorf(x * 4.0F);
  }
  return kind == 2 && x < -0.5F ? -INFINITY : x * 6.0F;
}

static void test_drawn(void) {
  static const double temperatures[] = {1.0, 0.3, 2.0, 1e3};
  static const double top_ps[] = {1.0, 0.9, 0.5, 1e-9, 0.999};
  for (size_t round = 0; round < 3000; round++) {
    const size_t count = round % 10 == 0 ? MOST : 1 + check_random_below(70);
    float *logits = check_floats(count);
    for (size_t i = 0; i < count; i++) {
      logits[i] = draw_logit(round % 3);
    }
    logits[check_random() % count] = 5.0F;
    const hw_sampling sampling = {
        .temperature = temperatures[check_random() % 4],
        .top_k = check_random() % 2 == 0 ? SIZE_MAX : 1 + check_random_below(count + 3),
        .top_p = top_ps[check_random() % 5],
        .uniform = (double)(check_random() >> 11) * 0x1p-53,
    };
    check_choice(logits, count, &sampling);
    free(logits);
  }
}

static void test_greedy(void) {
  const hw_sampling greedy = {.temperature = 0.0, .top_k = SIZE_MAX, .top_p = 1.0};
  static const struct {
    float logits[4];
    uint32_t id;
  } cases[] = {
      {{1.0F, 3.0F, 3.0F, 2.0F}, 1},         {{-INFINITY, -INFINITY, -5.0F, -INFINITY}, 2},
      {{0.0F, INFINITY, 1.0F, INFINITY}, 1}, {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, 0},
      {{-0.0F, 0.0F, -1.0F, -2.0F}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_sampling sampling = greedy;
    uint32_t id = 9;
    CHECK_STATUS(hw_sample(context, cases[i].logits, 4, &sampling, &id, NULL), HW_OK);
    CHECK(id == cases[i].id, "case %zu: %u", i, id);
    if (!isfinite(cases[i].logits[cases[i].id])) {
      sampling.temperature = 1.0;
      CHECK_STATUS(hw_sample(context, cases[i].logits, 4, &sampling, &id, NULL), HW_OK);
      CHECK(id == cases[i].id, "case %zu, drawn: %u", i, id);
    }
    sampling = (hw_sampling){.temperature = 1.0, .top_k = SIZE_MAX, .top_p = 0.0, .uniform = 0.99};
    CHECK_STATUS(hw_sample(context, cases[i].logits, 4, &sampling, &id, NULL), HW_OK);
    CHECK(id == cases[i].id, "case %zu, drawn of the likeliest alone: %u", i, id);
    check_case();
  }
}

/* Temperatures whose inverse no float holds. */
static void test_extreme_temperatures(void) {
  static const float logits[] = {-INFINITY, 1.0F, 1.5F, 1.5F};
  hw_sampling sampling = {.temperature = 5e-324, .top_k = SIZE_MAX, .top_p = 1.0, .uniform = 0.6};
  uint32_t id = 9;
  CHECK_STATUS(hw_sample(context, logits, 4, &sampling, &id, NULL), HW_OK);
  CHECK(id == 3, "a temperature near 0 draws among the likeliest: %u", id);
  sampling.temperature = 1e300;
  CHECK_STATUS(hw_sample(context, logits, 4, &sampling, &id, NULL), HW_OK);
  CHECK(id == 2, "at an enormous temperature all that are possible are as likely: %u", id);
  check_case();
}

static void test_errors(void) {
  float logits[3] = {1.0F, 2.0F, 3.0F};
  const hw_sampling fine = {.temperature = 1.0, .top_k = 1, .top_p = 1.0};
  uint32_t id = 0;
  CHECK_STATUS(hw_sample(context, logits, 0, &fine, &id, NULL), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_sample(NULL, logits, 3, &fine, &id, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sample(context, NULL, 3, &fine, &id, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sample(context, logits, 3, NULL, &id, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sample(context, logits, 3, &fine, NULL, NULL), HW_ERROR_VALUE);
  static const hw_sampling wrong[] = {
      {-1.0, 1, 1.0, 0.0}, {(double)NAN, 1, 1.0, 0.0}, {(double)INFINITY, 1, 1.0, 0.0}, {1.0, 0, 1.0, 0.0},
      {1.0, 1, -0.1, 0.0}, {1.0, 1, 1.5, 0.0},         {1.0, 1, (double)NAN, 0.0},      {1.0, 1, 1.0, 1.0},
      {1.0, 1, 1.0, -0.5}, {1.0, 1, 1.0, (double)NAN},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CHECK_STATUS(hw_sample(context, logits, 3, &wrong[i], &id, NULL), HW_ERROR_VALUE);
    check_case();
  }
  for (size_t i = 0; i < 3; i++) {
    const float whole = logits[i];
    logits[i] = NAN;
    CHECK_STATUS(hw_sample(context, logits, 3, &fine, &id, NULL), HW_ERROR_VALUE);
    logits[i] = whole;
    check_case();
  }
}

int main(void) {
  check_seed(5);
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  check_run("a drawn token is where the running sum of probabilities passes the number", test_drawn);
  check_run("the likeliest is the first of the largest; an infinite logit comes before all", test_greedy);
  check_run("temperatures of any size draw without NaN", test_extreme_temperatures);
  check_run("sizes, fields out of range, NULL and NaN are refused", test_errors);
  hw_context_destroy(context);
  return check_result();
}
