#include "app/views/figure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

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

Figure figure_for(Target target, bool window) {
  if (window)
    return {.window = true, .width = 1600, .height = 1000, .how = {.scale = 1, .page = Page::exact}};
  const TargetSpec spec = spec_of(target);
  const Page page = target == Target::screen ? Page::trimmed : spec.height > 0 ? Page::exact : Page::width;
  return {.width = static_cast<int>(std::lround(spec.width)),
          .height = static_cast<int>(std::lround(spec.height)),
          .how = {.scale = spec.scale, .page = page, .target = target}};
}

bool set_size(Figure& figure, std::string_view text) {
  const auto set = [&](int width, int height, Page page) {
    figure.width = width, figure.height = height, figure.how.page = page;
    return true;
  };
  if (text == "fit") return set(Figure().width, 0, Page::trimmed);
  const std::optional<PictureSide> first = take_side(text);
  if (!first) return false;
  const bool has_height = take(text, "x") || take(text, "×");
  const std::optional<PictureSide> second = has_height ? take_side(text) : PictureSide();
  const Page page = !has_height ? Page::width : take(text, "+") ? Page::at_least : Page::exact;
  take(text, "");
  if (!second || !text.empty()) return false;
  const auto width = pixels(*first, second->unit);
  const auto height = has_height ? pixels(*second, first->unit) : 0;
  return width && height && set(*width, *height, page);
}

std::string size_text(const Figure& figure) {
  if (figure.how.page == Page::trimmed) return "fit";
  const std::string width = std::to_string(figure.width), height = "x" + std::to_string(figure.height);
  if (figure.how.page == Page::width) return width;
  return width + height + (figure.how.page == Page::exact ? "" : "+");
}

}  // namespace headscope::app
