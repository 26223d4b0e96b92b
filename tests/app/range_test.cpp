// The colour maximum: in every view with colours for weights, in its legend, and as an option.

#include "app/views/parts/weight_colors.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::range_test {
namespace {

const Scenario& robot() {
  static const Scenario s(kRobot);
  return s;
}

float weight(const Scenario& s, int query, int key) {
  return s.weight(query, key);
}

/// The cells of the pattern's image: the view's last one, because legends come first.
const viz::Bitmap& pattern_cells(const Picture& picture, int length) {
  const viz::Bitmap* found = nullptr;
  for (const viz::Item& item : picture.scene.items) {
    const auto* image = std::get_if<viz::Image>(&item);
    if (image && image->bitmap->width == length && image->bitmap->height == length)
      found = image->bitmap.get();
  }
  if (!found) throw std::logic_error("no image of the pattern");
  return *found;
}

TEST(ColorMaximum, HoldsOnEveryScale) {
  const Scenario& s = robot();
  const int length = s.run->run->length();
  for (const ValueScale scale : {ValueScale::linear, ValueScale::logarithmic, ValueScale::per_row}) {
    ViewContext c = s.context(900, 700, dark());
    c.options.set(kValueScale, scale);
    set(c, "value-max", "0.2");
    const Picture picture = find_view("heatmap")->build(c);
    EXPECT_THAT(texts(picture.scene), Contains("≥ 0.2"));
    const viz::Bitmap& cells = pattern_cells(picture, length);
    for (int q = 0; q < length; ++q) {
      float largest = 0;
      for (int k = 0; k <= q; ++k) largest = std::max(largest, weight(s, q, k));
      for (int k = 0; k <= q; ++k) {
        const float value = scale == ValueScale::per_row ? weight(s, q, k) / largest : weight(s, q, k);
        if (std::abs(value - 0.2F) < 0.002F) continue;  // colours are quantized
        EXPECT_EQ(cells.at(k, q) == viz::sequential(dark(), 1), value > 0.2F)
            << static_cast<int>(scale) << ": " << q << "," << k << " " << value;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::range_test
