#include "viz/scene/theme.h"

namespace headscope::viz {

// Greys lean slightly towards the violet of the query. The accent is a raspberry that occurs in no map and is
// none of query, key and value, so that a frame around a cell is seen on every colour a cell can have.

Theme light_theme() {
  Theme t;
  t.dark = false;
  t.window = {243, 243, 247};
  t.surface = {255, 255, 255};
  t.raised = {237, 237, 243};
  t.line = {218, 219, 228};
  t.text = {24, 25, 34};
  t.text_muted = {92, 95, 112};
  t.accent = {206, 24, 92};
  t.on_accent = {255, 255, 255};
  t.query = {118, 52, 222};
  t.key = {186, 78, 4};
  t.value = {14, 104, 190};
  t.hatch = {206, 207, 217};
  t.error = {186, 32, 32};
  return t;
}

Theme dark_theme() {
  Theme t;
  t.dark = true;
  t.window = {15, 16, 21};
  t.surface = {23, 24, 31};
  t.raised = {36, 38, 48};
  t.line = {49, 51, 63};
  t.text = {236, 237, 243};
  t.text_muted = {157, 161, 178};
  t.accent = {255, 106, 158};
  t.on_accent = {38, 6, 20};
  t.query = {184, 154, 255};
  t.key = {255, 166, 92};
  t.value = {106, 182, 255};
  t.hatch = {62, 64, 78};
  t.error = {255, 122, 116};
  return t;
}

}  // namespace headscope::viz
