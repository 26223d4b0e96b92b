#pragma once
#include "cmake/precompiled.h"
#include "tests/viz/text_boxes.h"
#include "viz/scene/scene.h"

/// What a reader reads in a picture: its texts, the numbers among them, and the values that colours stand
/// for.
namespace headscope::viz::testing {

/// A number as it was drawn, and half a step of its last digit: what it stands for lies within that.
struct DrawnNumber {
  double value = 0;
  double rounding = 0;
};

/// Reads a text that is one number: "−0.25", "1.5e−7", "1,024", "41.2 %" (0.412), "≤ −0.3" (the limit), "−∞",
/// "NaN".
std::optional<DrawnNumber> read_number(std::string_view drawn);

/// The number that stands after `words` in a sentence, up to a space that no "%" follows, or punctuation.
std::optional<DrawnNumber> number_after(std::string_view sentence, std::string_view words);

/// A picture's texts. Who has read one takes it off the page, so that what nobody has read remains.
class DrawnPage {
 public:
  DrawnPage(const Scene& scene, const Fonts& fonts) : texts_(text_boxes(scene, fonts)) {}

  /// The texts whose middle lies in `area`, from left to right.
  std::vector<TextBox> take(Rect area) {
    return take_if([&](const TextBox& box) { return area.contains(box.bounds.center()); });
  }
  /// The one text that is, or starts with, these words; empty when there is none or more than one.
  std::string take(std::string_view words) {
    return only(take_if([&](const TextBox& b) { return b.text == words; }));
  }
  std::string take_starting(std::string_view words) {
    return only(take_if([&](const TextBox& b) { return b.text.starts_with(words); }));
  }
  /// Where a text stands; nothing when there is none or more than one.
  std::optional<Rect> place_of(std::string_view words) const;
  const std::vector<TextBox>& left() const { return texts_; }
  /// The numbers that nobody has taken, for a message.
  std::string numbers_left() const;

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

/// A colour scale as a reader uses it: the bar and the numbers beside it, no knowledge of how either was
/// made.
class DrawnScale {
 public:
  enum class Kind { linear, logarithmic };

  /// The numbers beside an upright bar of colours, or at both ends of a lying one, are taken off the page.
  DrawnScale(DrawnPage& page, Image bar, Kind kind = Kind::linear);

  struct Mark {
    double part = 0;  ///< of the bar, 0 at its low end
    double value = 0;
    std::string text;
  };
  const std::vector<Mark>& marks() const { return marks_; }
  double low() const { return at(0); }
  double high() const { return at(1); }

  /// What a place along the bar means, by the first and the last of the numbers.
  double at(double part) const;

  /// The values that a colour may stand for: those of the bar's pixels that it is (nearly) the colour of.
  /// Empty when it is not in the bar at all.
  std::optional<std::pair<double, double>> values_of(Color color) const;

 private:
  Image bar_;
  Kind kind_;
  std::vector<Mark> marks_;
};

/// The upright bars of colours in a picture.
std::vector<Image> upright_bars(const Scene& scene);

/// The lying bars of colours that explain others: narrow, one pixel high.
std::vector<Image> lying_bars(const Scene& scene);

/// The one of them that stands to the right of `rect`, nearest to it.
std::optional<Image> bar_beside(const Scene& scene, Rect rect);

/// The colour that the images of a scene have at a point; nothing where there is none.
std::optional<Color> image_color_at(const Scene& scene, Point p);

}  // namespace headscope::viz::testing
