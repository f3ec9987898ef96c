#include "headwise.h"

const char *hw_status_text(hw_status status) {
  switch (status) {
    case HW_OK:
      return "no error";
    case HW_ERROR_SHAPE:
      return "sizes do not fit together, or a width is zero";
    case HW_ERROR_VALUE:
      return "an argument is NULL, outside its range or not for this module";
    case HW_ERROR_MEMORY:
      return "not enough memory";
  }
  return "unknown status";
}
