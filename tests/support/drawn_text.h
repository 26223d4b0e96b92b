#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "tests/viz/text_boxes.h"
#include "viz/scene/scene.h"

/// Reads a picture like a user does: its texts, the numbers in them, and the values of its colours.
namespace headscope::viz::testing {

/// A number as drawn, and half a unit of its last digit: the exact value is within that.
struct DrawnNumber {
  double value = 0;
  double rounding = 0;
};

/// Reads a text that is one number: "−0.25", "1.5e−7", "1,024", "41.2 %" (0.412), "≤ −0.3" (the limit), "−∞",
/// "NaN".
std::optional<DrawnNumber> read_number(std::string_view drawn);

/// The number after `words` in a sentence, up to punctuation or a space that is not followed by "%".
std::optional<DrawnNumber> number_after(std::string_view sentence, std::string_view words);

/// The texts of a picture. A text that has been read is removed from the page, so that unread ones remain.
class DrawnPage {
 public:
  DrawnPage(const Scene& scene, const Fonts& fonts) : texts_(text_boxes(scene, fonts)) {}

  /// Takes the texts whose middle is in `area`, from left to right.
  std::vector<TextBox> take(Rect area) {
    return take_if([&](const TextBox& box) { return area.contains(box.bounds.center()); });
  }
  /// Takes the only text that is, or starts with, these words; empty if there is none or more than one.
  std::string take(std::string_view words) {
    return only(take_if([&](const TextBox& b) { return b.text == words; }));
  }
  std::string take_starting(std::string_view words) {
    return only(take_if([&](const TextBox& b) { return b.text.starts_with(words); }));
  }
  /// The place of the only such text; nothing if there is none or more than one.
  std::optional<Rect> place_of(std::string_view words) const;

 private:
  template <class Wanted>
  std::vector<TextBox> take_if(Wanted wanted) {
    const auto taken =
        std::stable_partition(texts_.begin(), texts_.end(), [&](const TextBox& box) { return !wanted(box); });
    std::vector<TextBox> result(taken, texts_.end());
    texts_.erase(taken, texts_.end());
    std::stable_sort(result.begin(), result.end(),
                     [](const TextBox& a, const TextBox& b) { return a.bounds.x < b.bounds.x; });
    return result;
  }
  static std::string only(const std::vector<TextBox>& found) {
    return found.size() == 1 ? found[0].text : std::string();
  }
  std::vector<TextBox> texts_;
};

/// A colour scale as a user reads it: from the bar and its numbers only.
class DrawnScale {
 public:
  enum class Kind { linear, logarithmic };

  /// Takes the numbers off the page: those next to a vertical bar, or at both ends of a horizontal one.
  DrawnScale(DrawnPage& page, Image bar, Kind kind = Kind::linear);

  struct Mark {
    double part = 0;  ///< position on the bar, 0 at its low end
    double value = 0;
  };
  double low() const { return at(0); }
  double high() const { return at(1); }

  /// The value at a position on the bar, according to its first and last number.
  double at(double part) const;

  /// The values that a colour may represent: those of the bar's pixels with (nearly) the same colour. Empty
  /// if the bar does not contain it.
  std::optional<std::pair<double, double>> values_of(Color color) const;

 private:
  Image bar_;
  Kind kind_;
  std::vector<Mark> marks_;
};

/// The vertical colour bars in a picture.
std::vector<Image> upright_bars(const Scene& scene);

/// The horizontal colour bars of legends: narrow, one pixel high.
std::vector<Image> lying_bars(const Scene& scene);

/// The vertical bar to the right of `rect`, the nearest one.
std::optional<Image> color_bar_of(const Scene& scene, Rect rect);

/// The colour of a scene's images at a point; nothing if there is none.
std::optional<Color> image_color_at(const Scene& scene, Point p);

}  // namespace headscope::viz::testing
