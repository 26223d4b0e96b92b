#include "app/views/figure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <regex>

#include "app/run/named.h"

namespace headscope::app {
namespace {

constexpr Named<double> kUnits[]{
    {"px", 1}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 9.6 / 2.54}, {"pt", 96.0 / 72}};

/// A side in logical pixels; without a unit it has the other side's.
std::optional<int> pixels(const std::string& digits, const std::string& unit, const std::string& of_other) {
  const std::string& name = unit.empty() ? of_other : unit;
  const auto* known = std::ranges::find(kUnits, name, &Named<double>::name);
  const double factor = name.empty() ? 1 : known->value;
  double length = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), length, std::chars_format::fixed);
  const double whole = std::round(length * factor);
  if (whole < kShortestSide || whole > kLongestSide || (factor == 1 && whole != length)) return std::nullopt;
  return static_cast<int>(whole);
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
  if (text.size() > 64) return false;  // matching recurses for each character of a text that may be hostile
  static const std::string side = R"( *(\d+\.?\d*) *(px|in|cm|mm|pt)? *)";
  static const std::regex form(side + "(?:(?:x|×)" + side + R"((\+)? *)?)");
  const auto set = [&](int width, int height, Page page) {
    figure.width = width, figure.height = height, figure.how.page = page;
    return true;
  };
  if (text == "fit") return set(Figure().width, 0, Page::trimmed);
  std::cmatch found;
  if (!std::regex_match(text.data(), text.data() + text.size(), found, form)) return false;
  const bool has_height = found[3].matched;
  const Page page = !has_height ? Page::width : found[5].matched ? Page::at_least : Page::exact;
  const auto width = pixels(found[1], found[2], found[4]);
  const auto height = has_height ? pixels(found[3], found[4], found[2]) : 0;
  return width && height && set(*width, *height, page);
}

std::string size_text(const Figure& figure) {
  if (figure.how.page == Page::trimmed) return "fit";
  const std::string width = std::to_string(figure.width), height = "x" + std::to_string(figure.height);
  if (figure.how.page == Page::width) return width;
  return width + height + (figure.how.page == Page::exact ? "" : "+");
}

}  // namespace headscope::app
