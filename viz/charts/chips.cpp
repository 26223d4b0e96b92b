#include "viz/charts/chips.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {
namespace {

float padding(const Style& style) {
  return 1.5F * style.unit();
}
float gap(const Style& style) {
  return 0.75F * style.unit();
}
float chip_height(const Style& style) {
  return std::round(1.6F * style.font_size);
}

}  // namespace

float chip_line_height(const Style& style) {
  return chip_height(style) + style.unit();
}

std::vector<ChipPlace> place_chips(const ChipFlow& flow, float width, const Style& style) {
  std::vector<ChipPlace> places;
  places.reserve(flow.chips.size());
  int line = 0;
  float x = 0;
  bool broken = false;
  for (const Chip& chip : flow.chips) {
    const float w =
        std::min(width, std::ceil(std::max(style.width(chip.label, style.font_size), 0.5F * style.font_size) +
                                  2 * padding(style)));
    if (broken || (x > 0 && x + w > width)) {
      ++line;
      x = 0;
    }
    places.push_back({line, x, w});
    x += w + gap(style);
    broken = chip.break_after;
  }
  return places;
}

void paint_chips(Picture& picture, const ChipFlow& flow, std::span<const ChipPlace> places, int first_line,
                 Rect area, const Style& style) {
  const float pitch = chip_line_height(style), h = chip_height(style), pad = padding(style);
  for (int i = 0; i < std::ssize(places); ++i) {
    const ChipPlace& place = places[i];
    const float y = area.y + static_cast<float>(place.line - first_line) * pitch;
    if (place.line < first_line) continue;
    if (y + h > area.bottom() + 0.5F) break;
    const Chip& chip = flow.chips[i];
    const Rect box{area.x + place.x, y, place.w, h};
    picture.scene.add(FillRect{box, chip.fill, style.unit()});
    const auto outline = [&](float inset, Color color) {
      if (color.a > 0) picture.scene.add(StrokeRect{box.inset(inset), color, 1.75F, style.unit()});
    };
    outline(0.75F, chip.outline);
    outline(2.5F, chip.inner_outline);
    if (chip.underline.a > 0) {
      const float thick = 0.4F * style.unit(), top = box.bottom() - 0.75F * style.unit();  // below descenders
      picture.scene.add(FillRect{{box.x + pad, top, box.w - 2 * pad, thick}, chip.underline});
    }
    add_label(picture.scene, style, chip.label, box.center(), style.font_size, chip.text, FontStyle::regular,
              Align::center, box.w - 2 * pad + 0.5F);
    if (style.width(chip.label, style.font_size) > box.w - 2 * pad + 0.5F) picture.whole = false;
    picture.regions.push_back({flow.role, i, box});
  }
}

}  // namespace headscope::viz
