#include "app/views/parts/parts.h"

// Boxes without boxes in them: notes, legends, and what a view draws itself.
namespace headscope::app {

namespace {

class Notes final : public Box {
 public:
  Notes(std::vector<std::string> lines, std::string title, bool needed)
      : title_(std::move(title)), lines_(std::move(lines)), needed_(needed) {}

  Wish width(const ViewContext&) const override { return {0, 0}; }
  Wish height(const ViewContext& c, float width) const override {
    const float all = title_height(c) + line(c) * static_cast<float>(wrapped(c, width, lines_).size());
    const float enough = c.in_pane ? std::min(all, title_height(c) + 2 * line(c)) : all;  // lists matter more
    return {title_height(c), needed_ || !c.in_pane ? all : 0, all, needed_ ? enough : 0};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    area_ = area;
    constexpr float kSnapped = 1;
    std::span<const std::string> whole = lines_;  // half of a sentence would say nothing
    for (;; whole = whole.first(whole.size() - 1)) {
      shown_ = wrapped(c, area.w, whole);
      const float height = title_height(c) + line(c) * static_cast<float>(shown_.size());
      if (whole.empty() || height <= area.h + kSnapped) return true;
    }
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    const viz::Style style = style_of(c);
    const float title = title_height(c);
    if (title > 0)
      viz::add_label(picture.scene, style, title_, {area_.x, area_.y + title / 2}, style.font_size,
                     c.theme->text, viz::FontStyle::medium, viz::Align::left, area_.w);
    paint_small_lines(picture.scene, c, shown_, {area_.x, area_.y + title}, area_.w);
  }

 private:
  static float line(const ViewContext& c) { return style_of(c).line(style_of(c).small()); }
  float title_height(const ViewContext& c) const {
    return title_.empty() ? 0 : style_of(c).line(c.font_size);
  }
  static std::vector<std::string> wrapped(const ViewContext& c, float width,
                                          std::span<const std::string> lines) {
    std::vector<std::string> all;
    for (const std::string& words : lines)
      std::ranges::move(small_lines(c, words, width), std::back_inserter(all));
    return all;
  }

  std::string title_;
  std::vector<std::string> lines_, shown_;
  bool needed_;
};

class Swatches final : public Box {
 public:
  using Looks = std::function<std::vector<Swatch>(const ViewContext&)>;
  Swatches(Looks looks, float least_height) : looks_(std::move(looks)), least_height_(least_height) {}

  Wish width(const ViewContext&) const override { return {0, 0}; }
  Wish height(const ViewContext& c, float width) const override {
    const float all = lay_out(c, {0, 0, width, 0}, nullptr);
    return {name.empty() ? style_of(c).line(style_of(c).small()) : all, all, all};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    area_ = area;
    return c.height >= least_height_ * c.font_size;
  }
  void paint(Picture& picture, const ViewContext& c) const override { lay_out(c, area_, &picture); }

 private:
  /// Draws the lines that have room, or without a picture measures all of them. Returns their height.
  float lay_out(const ViewContext& c, viz::Rect area, Picture* picture) const {
    const viz::Style style = style_of(c);
    const float u = style.unit(), line = style.line(style.small());
    float x = area.x, y = area.y;
    for (const Swatch& look : looks_(c)) {
      viz::Scene scene;
      const float patch = look.line > 0 ? 6 * u : look.fill.a > 0 || look.outline.a > 0 ? 4 * u : 0;
      const float before = patch > 0 ? patch + u : 0;
      const float width = look.scale ? viz::paint_color_scale_line(scene, *look.scale, look.words, {}, style)
                                     : before + style.width(look.words, style.small());
      if (x > area.x && x + width > area.right()) x = area.x, y += line;
      const viz::Point at{x, y + line / 2};
      x += width + 4 * u;
      if (picture == nullptr || y + line > area.bottom() + 1) continue;
      if (look.scale) {
        picture->whole &= viz::paint_color_scale_in(picture->scene, *look.scale, look.words, {}, at,
                                                    area.right() - at.x, style);
        continue;
      }
      const viz::Rect rect{at.x, at.y - 1.25F * u, patch, 2.5F * u};
      if (look.line > 0)
        picture->scene.add(viz::Polyline{{at, {at.x + patch, at.y}}, look.fill, look.line, look.dashes});
      else if (look.fill.a > 0)
        picture->scene.add(viz::FillRect{rect, look.fill, u / 2});
      if (look.outline.a > 0) picture->scene.add(viz::StrokeRect{rect, look.outline, 1, u / 2});
      picture->whole &= viz::add_whole_label(picture->scene, style, look.words, {at.x + before, at.y},
                                             area.right() - at.x - before, c.theme->text_muted);
    }
    return y + line - area.y;
  }

  Looks looks_;
  float least_height_;
};

class Custom final : public RoleBox {
 public:
  Custom(Wish width, std::function<Wish(float)> height, Paint paint, DrawnPlaces places)
      : RoleBox(places.refers_to ? places.role : -1),
        width_(width),
        height_(std::move(height)),
        paint_(std::move(paint)),
        places_(std::move(places)) {}

  Wish width(const ViewContext& c) const override { return in_pixels(width_, c); }
  Wish height(const ViewContext& c, float width) const override {
    return in_pixels(height_(width / c.font_size), c);
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    constexpr float kSnapped = 0.5F;
    area_ = area;
    return area.w + kSnapped >= width_.least * c.font_size && (!places_.place || places_.place(c, area));
  }
  void paint(Picture& picture, const ViewContext& c) const override { paint_(picture, c, area_); }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    if (places_.frame) return places_.frame(scene, c, picture, ref);
    if (places_.refers_to) RoleBox::frame(scene, c, picture, ref);
  }

 private:
  Ref ref_of(const viz::Region& region, int row, int col) const override {
    return places_.refers_to(region, row, col);
  }
  static Wish in_pixels(const Wish& ems, const ViewContext& c) {
    return {ems.least * c.font_size, ems.good * c.font_size, ems.most * c.font_size,
            ems.enough * c.font_size};
  }

  Wish width_;
  std::function<Wish(float)> height_;
  Paint paint_;
  DrawnPlaces places_;
};

}  // namespace

BoxPtr notes(std::vector<std::string> lines, std::string title, bool needed) {
  std::erase(lines, "");
  if (lines.empty() && title.empty()) return nullptr;
  return std::make_unique<Notes>(std::move(lines), std::move(title), needed);
}
BoxPtr remarks(std::vector<std::string> lines) {
  return notes(std::move(lines), "", false);
}
BoxPtr swatches(std::function<std::vector<Swatch>(const ViewContext&)> looks, float least_height) {
  return std::make_unique<Swatches>(std::move(looks), least_height);
}
BoxPtr swatches(std::vector<Swatch> looks) {
  if (looks.empty()) return nullptr;
  return swatches([looks = std::move(looks)](const ViewContext&) { return looks; });
}
BoxPtr custom(Wish width, std::function<Wish(float width)> height, Paint paint, DrawnPlaces places) {
  return std::make_unique<Custom>(width, std::move(height), std::move(paint), std::move(places));
}
BoxPtr custom(Wish width, Wish height, Paint paint, DrawnPlaces places) {
  const auto any_width = [height](float) { return height; };
  return custom(width, any_width, std::move(paint), std::move(places));
}
BoxPtr legend(viz::ColorScale scale, std::string title, float (*indent)(const ViewContext&)) {
  constexpr float kLine = 1.1F;  // ems
  const auto paint = [scale = std::move(scale), title = std::move(title), indent](
                         Picture& picture, const ViewContext& c, viz::Rect area) {
    const float in = indent != nullptr ? indent(c) : 0;
    viz::paint_color_scale_in(picture.scene, scale, title, std::nullopt, {area.x + in, area.y + area.h / 2},
                              area.w - in, style_of(c));
  };
  return custom({0, 20}, {kLine, kLine, kLine}, paint);
}

}  // namespace headscope::app
