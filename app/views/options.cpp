#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "app/views/common.h"

namespace headscope::app {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view expected, std::string_view found) {
  throw std::invalid_argument("--" + std::string(name) + " takes " + std::string(expected) + ", not \"" +
                              std::string(found) + "\".");
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

double number_in(std::string_view name, std::string_view text, double low, double high,
                 std::string_view expected) {
  const auto value = parsed<double>(text);
  if (!value || !(*value >= low && *value <= high)) refuse(name, expected, text);
  return *value;
}

int count_in(std::string_view name, std::string_view text, int low, int high, std::string_view expected) {
  const auto value = parsed<int>(text);
  if (!value || *value < low || *value > high) refuse(name, expected, text);
  return *value;
}

bool yes_or_no(std::string_view name, std::string_view text) {
  if (text.empty() || text == "yes" || text == "true" || text == "1") return true;
  if (text == "no" || text == "false" || text == "0") return false;
  refuse(name, "yes or no", text);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void set_scale(ViewOptions& o, std::string_view text) {
  if (text == "linear") {
    o.scale = ValueScale::linear;
  } else if (text == "log") {
    o.scale = ValueScale::logarithmic;
  } else if (text == "row") {
    o.scale = ValueScale::per_row;
  } else {
    refuse("value-scale", "linear, log or row", text);
  }
}

/// "4:12,0:12" (rows from 4 to before 12, columns from 0 to before 12), or "all".
Zoom zoom_of(std::string_view name, std::string_view text) {
  constexpr std::string_view kExpected = "ROW:ROW,COLUMN:COLUMN, e.g. 4:12,0:12, or all";
  if (text == "all") return {};
  std::vector<double> ends;
  for (const std::string_view axis : split(text, ',')) {
    for (const std::string_view end : split(axis, ':'))
      ends.push_back(number_in(name, end, 0, 1e9, kExpected));
  }
  if (ends.size() != 4 || ends[1] <= ends[0] || ends[3] <= ends[2]) refuse(name, kExpected, text);
  return {ends[0], ends[2], ends[1] - ends[0], ends[3] - ends[2]};
}

void set_dimensions(ViewOptions& o, std::string_view text) {
  constexpr std::string_view kExpected = "dimensions separated by commas, e.g. 0,1,64, or auto";
  std::vector<int> dimensions;
  if (text == "auto") return o.dimensions.clear();
  for (const std::string_view part : split(text, ',')) {
    dimensions.push_back(count_in("dimensions", part, 0, 1 << 24, kExpected));
  }
  o.dimensions = std::move(dimensions);
}

/// Below, a scale could not be told from one of nothing.
constexpr double kSmallestMaximum = 1e-30;

constexpr std::array<OptionSpec, 14> kOptions{{
    {"value-scale", "linear|log|row",
     "how weights become colours: linear, by decades, or each row by its largest", set_scale},
    {"value-max", "X|auto",
     "weight of the full colour (default auto: the largest, of chips 1); with row, a part of the row's "
     "largest",
     [](ViewOptions& o, std::string_view t) {
       constexpr std::string_view kExpected = "a number above 0, e.g. 0.05, or auto";
       o.value_max = t == "auto" ? 0 : number_in("value-max", t, kSmallestMaximum, 1e9, kExpected);
     }},
    {"without-key0", "yes|no", "leave key 0, which most heads park their weight on, out of the scale",
     [](ViewOptions& o, std::string_view t) { o.without_key0 = yes_or_no("without-key0", t); }},
    {"zoom", "R:R,C:C|all", "only queries R to R and keys C to C (the ends not included)",
     [](ViewOptions& o, std::string_view t) { o.zoom = zoom_of("zoom", t); }},
    {"dimensions", "D,D,...|auto",
     "curves (default auto: four that can be read, of about 4, 2, 1 and 1/2 periods of the sinusoids)",
     set_dimensions},
    {"encoding-zoom", "D:D,P:P|all", "only dimensions D to D and positions P to P (the ends not included)",
     [](ViewOptions& o, std::string_view t) { o.encoding_zoom = zoom_of("encoding-zoom", t); }},
    {"count", "N", "how many guesses are shown",
     [](ViewOptions& o, std::string_view t) {
       o.next_count = count_in("count", t, 1, 1000, "a number from 1 to 1000");
     }},
    {"temperature", "X", "what logits are divided by before the softmax",
     [](ViewOptions& o, std::string_view t) {
       o.temperature = number_in("temperature", t, 0.01, 100, "a number from 0.01 to 100");
     }},
    {"first-key", "N", "first row of the table that is shown",
     [](ViewOptions& o, std::string_view t) {
       o.query_first = count_in("first-key", t, 0, 1 << 24, "a position");
     }},
    {"strongest-first", "yes|no", "keys by falling weight instead of by position",
     [](ViewOptions& o, std::string_view t) { o.strongest_first = yes_or_no("strongest-first", t); }},
    {"heads-zoom", "X", "size of the small maps, times what fits",
     [](ViewOptions& o, std::string_view t) {
       o.heads_zoom = number_in("heads-zoom", t, 1, 100, "a number from 1 to 100");
     }},
    {"heads-scroll", "L", "first layer that is shown",
     [](ViewOptions& o, std::string_view t) {
       o.heads_scroll = number_in("heads-scroll", t, 0, 1e6, "a layer");
     }},
    {"heads-scroll-x", "H", "first head that is shown",
     [](ViewOptions& o, std::string_view t) {
       o.heads_scroll_x = number_in("heads-scroll-x", t, 0, 1e6, "a head");
     }},
    {"first-line", "N", "first line of tokens that is shown",
     [](ViewOptions& o, std::string_view t) {
       o.chips_scroll = count_in("first-line", t, 0, 1 << 24, "a line");
     }},
}};

}  // namespace

OptionSpec option(std::string_view name) {
  const auto found =
      std::find_if(kOptions.begin(), kOptions.end(), [&](const OptionSpec& o) { return o.name == name; });
  assert(found != kOptions.end());
  return *found;
}

}  // namespace headscope::app
