#include "tests/support/drawn_text.h"

#include <charconv>

namespace headscope::viz::testing {

std::optional<DrawnNumber> read_number(std::string_view drawn) {
  std::string text;
  for (std::size_t i = 0; i < drawn.size();) {
    const std::string_view rest = drawn.substr(i);
    constexpr std::string_view kMinus = "−", kInfinity = "∞", kAtMost = "≤ ", kAtLeast = "≥ ";
    if (rest.starts_with(kMinus)) {
      text += '-', i += kMinus.size();
    } else if (rest.starts_with(kInfinity)) {
      text += "inf", i += kInfinity.size();
    } else if (i == 0 && (rest.starts_with(kAtMost) || rest.starts_with(kAtLeast))) {
      i += kAtMost.size();
    } else if (rest[0] == ',') {
      ++i;
    } else {
      text += rest[0], ++i;
    }
  }
  const bool percent = text.ends_with(" %");
  if (percent) text.resize(text.size() - 2);
  DrawnNumber number;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number.value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  const std::size_t e = std::min(text.find('e'), text.size()), point = text.find('.');
  int last_digit = point < e ? -static_cast<int>(e - point - 1) : 0;
  if (e < text.size()) {
    int exponent = 0;
    std::from_chars(text.data() + e + 1, end, exponent);
    last_digit += exponent;
  }
  number.rounding = std::isfinite(number.value) ? 0.5 * std::pow(10.0, last_digit) : 0;
  if (percent) number.value /= 100, number.rounding /= 100;
  return number;
}

std::optional<DrawnNumber> number_after(std::string_view sentence, std::string_view words) {
  const std::size_t found = sentence.find(words);
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view rest = sentence.substr(found + words.size());
  std::size_t end = std::min(rest.find(' '), rest.size());
  if (rest.substr(end).starts_with(" %")) return read_number(rest.substr(0, end + 2));
  while (end > 0 && std::string_view(",;:)").find(rest[end - 1]) != std::string_view::npos) --end;
  return read_number(rest.substr(0, end));
}

std::vector<Image> upright_bars(const Scene& scene) {
  std::vector<Image> bars;
  for (Image& image : items_of<Image>(scene)) {
    if (image.bitmap->width == 1 && image.bitmap->height > 8) bars.push_back(std::move(image));
  }
  return bars;
}

std::optional<Image> color_bar_of(const Scene& scene, Rect rect) {
  std::optional<Image> nearest;
  for (const Image& bar : upright_bars(scene)) {
    const bool beside =
        bar.dest.x >= rect.right() && bar.dest.y < rect.bottom() && bar.dest.bottom() > rect.y;
    if (beside && (!nearest || bar.dest.x < nearest->dest.x)) nearest = bar;
  }
  return nearest;
}

std::optional<Color> image_color_at(const Scene& scene, Point p) {
  std::optional<Color> color;
  for (const Image& image : items_of<Image>(scene)) {
    if (!image.dest.contains(p)) continue;
    const Bitmap& bitmap = *image.bitmap;
    const auto index = [](float part, int count) {
      return std::min(count - 1, static_cast<int>(part * static_cast<float>(count)));
    };
    const Color pixel = bitmap.at(index((p.x - image.dest.x) / image.dest.w, bitmap.width),
                                  index((p.y - image.dest.y) / image.dest.h, bitmap.height));
    if (pixel.a > 0) color = pixel;
  }
  return color;
}

std::vector<Image> lying_bars(const Scene& scene) {
  std::vector<Image> bars;
  for (Image& image : items_of<Image>(scene))
    if (image.dest.w < 100 && image.bitmap->height == 1) bars.push_back(std::move(image));
  return bars;
}

std::optional<Rect> DrawnPage::place_of(std::string_view words) const {
  std::optional<Rect> place;
  for (const TextBox& box : texts_) {
    if (box.text != words) continue;
    if (place) return std::nullopt;
    place = box.bounds;
  }
  return place;
}

DrawnScale::DrawnScale(DrawnPage& page, Image bar, Kind kind) : bar_(std::move(bar)), kind_(kind) {
  const Rect& r = bar_.dest;
  const bool upright = bar_.bitmap->width == 1;
  constexpr float kRoom = 60;  // for numbers
  const Rect beside = upright ? Rect{r.right(), r.y - 10, kRoom, r.h + 20}
                              : Rect{r.x - kRoom, r.y - 5, r.w + 2 * kRoom, r.h + 10};
  for (const TextBox& box : page.take(beside)) {
    const auto number = read_number(box.text);
    if (!number) continue;
    const Point at = box.bounds.center();
    marks_.push_back({upright ? (r.bottom() - at.y) / r.h : at.x < r.x ? 0 : 1, number->value});
  }
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) { return a.part < b.part; });
}

double DrawnScale::at(double part) const {
  if (marks_.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const Mark &first = marks_.front(), &last = marks_.back();
  const double t = (part - first.part) / (last.part - first.part);
  return kind_ == Kind::linear ? first.value + t * (last.value - first.value)
                               : first.value * std::pow(last.value / first.value, t);
}

std::optional<std::pair<double, double>> DrawnScale::values_of(Color color) const {
  const std::vector<Color>& colors = bar_.bitmap->pixels;
  const auto steps = static_cast<double>(colors.size());
  const bool upright = bar_.bitmap->width == 1;
  std::optional<std::pair<double, double>> range;
  for (std::size_t i = 0; i < colors.size(); ++i) {
    constexpr int kNear = 5;  // the bar has fewer colours than the image
    if (std::max({std::abs(colors[i].r - color.r), std::abs(colors[i].g - color.g),
                  std::abs(colors[i].b - color.b)}) > kNear)
      continue;
    const double index = static_cast<double>(upright ? colors.size() - 1 - i : i);
    const double low = at(index / steps), high = at((index + 1) / steps);
    if (!range) range = {low, high};
    range = {std::min(range->first, low), std::max(range->second, high)};
  }
  return range;
}

}  // namespace headscope::viz::testing
