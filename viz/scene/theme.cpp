#include "viz/scene/theme.h"

namespace headscope::viz {

// Greys are slightly tinted with the query's violet. The accent is a raspberry that is in no colour map and
// differs from query, key and value, so that a frame is visible on a cell of any colour. These three were
// searched for: at least 0.1 apart in Oklab for readers with any kind of colour blindness, and as far from
// the signs' orange and blue as they can be at this contrast.

Theme light_theme() {
  return {
      .dark = false,
      .window = {243, 243, 247},
      .surface = {255, 255, 255},
      .raised = {237, 237, 243},
      .line = {218, 219, 228},
      .text = {24, 25, 34},
      .text_muted = {92, 95, 112},
      .accent = {206, 24, 92},
      .on_accent = {255, 255, 255},
      .query = {118, 42, 222},
      .key = {3, 116, 101},
      .value = {92, 79, 18},
      .bar = {102, 112, 138},
      .field_line = {139, 142, 160},
      .hatch = {206, 207, 217},
      .error = {186, 32, 32},
  };
}

Theme dark_theme() {
  return {
      .dark = true,
      .window = {15, 16, 21},
      .surface = {23, 24, 31},
      .raised = {36, 38, 48},
      .line = {49, 51, 63},
      .text = {236, 237, 243},
      .text_muted = {157, 161, 178},
      .accent = {255, 106, 158},
      .on_accent = {38, 6, 20},
      .query = {176, 164, 248},
      .key = {55, 216, 201},
      .value = {227, 204, 54},
      .bar = {146, 157, 186},
      .field_line = {104, 108, 128},
      .hatch = {62, 64, 78},
      .error = {255, 122, 116},
  };
}

}  // namespace headscope::viz
