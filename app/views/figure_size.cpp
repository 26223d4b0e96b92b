#include "app/views/figure_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/run/named.h"

namespace headscope::app {
namespace {

constexpr Named<double> kUnits[]{
    {"px", 1}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 9.6 / 2.54}, {"pt", 96.0 / 72}};

struct PictureSide {
  double length = 0;
  double unit = 0;  ///< logical pixels; 0: none is given
};

/// Takes spaces, then `word`, from the beginning of a text; leaves the text alone if the word is not there.
bool take(std::string_view& text, std::string_view word) {
  std::string_view rest = text.substr(std::min(text.size(), text.find_first_not_of(' ')));
  if (!rest.starts_with(word)) return false;
  text = rest.substr(word.size());
  return true;
}

std::optional<PictureSide> take_side(std::string_view& text) {
  take(text, "");
  PictureSide side;
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';  // not "inf"
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), side.length, std::chars_format::fixed);
  if (!is_number || error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const Named<double>& unit : kUnits)
    if (take(text, unit.name)) {
      side.unit = unit.value;
      break;
    }
  return side;
}

/// A side in logical pixels; without a unit it has the other side's.
std::optional<int> pixels(const PictureSide& side, double unit_of_other) {
  const double unit = side.unit > 0 ? side.unit : unit_of_other > 0 ? unit_of_other : 1;
  const double length = std::round(side.length * unit);
  if (length < kShortestSide || length > kLongestSide) return std::nullopt;
  if (unit == 1 && length != side.length) return std::nullopt;
  return static_cast<int>(length);
}

}  // namespace

std::optional<FigureSize> parse_figure_size(std::string_view text) {
  const std::optional<PictureSide> first = take_side(text);
  if (!first) return std::nullopt;
  std::optional<PictureSide> second;
  if (take(text, "x") || take(text, "×")) {
    second = take_side(text);
    if (!second) return std::nullopt;
  }
  take(text, "");
  if (!text.empty()) return std::nullopt;
  const auto width = pixels(*first, second ? second->unit : 0);
  const auto height = second ? pixels(*second, first->unit) : 0;
  if (!width || !height) return std::nullopt;
  return FigureSize{*width, *height};
}

}  // namespace headscope::app
