#include "app/views/output/layered.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/frame.h"

namespace headscope::app::layered {

std::vector<float> dashes_of_negative(float width, float unit) {
  return {1.5F * unit, 0.75F * unit + width};
}

void paint_lines(viz::Scene& scene, const Shape& shape, viz::Color color, const ViewContext& c) {
  const float unit = style_of(c).unit();
  for (const Line& line : shape.lines) {
    const bool thick = line.width > 2 * unit;  // its gaps are inside
    scene.add(viz::Polyline{line.points, color, line.width});
    auto& dashes = std::get<viz::Polyline>(scene.items.back()).dashes;
    if (line.negative && !thick) dashes = dashes_of_negative(line.width, unit);
    if (line.negative && thick)
      scene.add(viz::Polyline{line.points, c.theme->surface, 0.25F * line.width, {1.25F * unit, unit}});
  }
}

float distance(const Shape& shape, viz::Point at, float most) {
  float least = shape.rect.contains(at) ? most : std::numeric_limits<float>::infinity();
  for (const Line& line : shape.lines) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const viz::Point a = line.points[i - 1], b = line.points[i];
      const float reach = most + line.width / 2;
      if (std::max(a.y, b.y) < at.y - reach || std::min(a.y, b.y) > at.y + reach) continue;
      const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
      const float t = length > 0 ? std::clamp(((at.x - a.x) * dx + (at.y - a.y) * dy) / length, 0.F, 1.F) : 0;
      const float away = std::hypot(at.x - a.x - t * dx, at.y - a.y - t * dy) - line.width / 2;
      least = std::min(least, std::max(0.F, away));
    }
  }
  return least;
}

viz::Region region_of_points(int role, viz::Rect area) {
  constexpr float kCell = 2;
  const auto count = [](float size) { return std::max(1, static_cast<int>(size / kCell)); };
  return viz::Region::grid(role, 0, area, count(area.h), count(area.w));
}

viz::Point point_of(const Picture& picture, const viz::Hit& hit) {
  return region_of(picture, hit).cell_rect(hit.row, hit.col).center();
}

namespace {

class Samples final : public Box {
 public:
  Samples(std::function<std::vector<Sample>(const ViewContext&)> samples, float least_height)
      : samples_(std::move(samples)), least_height_(least_height) {}

  Wish width(const ViewContext&) const override { return {0, 0}; }
  Wish height(const ViewContext& c, float width) const override {
    const float all = lay_out(c, {0, 0, width, 0}, nullptr);
    return {all, all, all};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    area_ = area;
    return c.height >= least_height_ * c.font_size;
  }
  void paint(Picture& picture, const ViewContext& c) const override { lay_out(c, area_, &picture); }

 private:
  /// Draws them, or without a picture measures them. Returns their height.
  float lay_out(const ViewContext& c, viz::Rect area, Picture* picture) const {
    const viz::Style style = style_of(c);
    const float u = style.unit(), line = style.line(style.small());
    float x = area.x, y = area.y + line / 2;
    for (const Sample& sample : samples_(c)) {
      viz::Scene scene;
      const float length = sample.width > 0 ? 7 * u : 0;
      const float width = sample.scale
                              ? viz::paint_color_scale_line(scene, *sample.scale, sample.words, {}, style)
                              : length + style.width(sample.words, style.small());
      if (x > area.x && x + width > area.right()) x = area.x, y += line;
      const float room = area.right() - x;
      if (picture != nullptr && sample.scale) {
        picture->whole &=
            viz::paint_color_scale_in(picture->scene, *sample.scale, sample.words, {}, {x, y}, room, style);
      } else if (picture != nullptr) {
        if (length > 0)
          picture->scene.add(
              viz::Polyline{{{x, y}, {x + 6 * u, y}}, sample.color, sample.width, sample.dashes});
        picture->whole &= viz::add_whole_label(picture->scene, style, sample.words, {x + length, y},
                                               room - length, c.theme->text_muted);
      }
      x += width + 4 * u;
    }
    return y + line / 2 - area.y;
  }

  std::function<std::vector<Sample>(const ViewContext&)> samples_;
  float least_height_;
  viz::Rect area_;
};

}  // namespace

BoxPtr samples(std::function<std::vector<Sample>(const ViewContext&)> samples, float least_height) {
  return std::make_unique<Samples>(std::move(samples), least_height);
}

}  // namespace headscope::app::layered
