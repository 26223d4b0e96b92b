#include "app/views/parts/excerpt_line.h"

#include <algorithm>
#include <string>

#include "app/views/parts/frame.h"

namespace headscope::app {
namespace {

constexpr const char* kMore = "…";

/// Paints an excerpt's tokens one after the other.
class Painter {
 public:
  Painter(viz::Scene& scene, const ViewContext& c, const ExcerptLine& line, const viz::ColorScale& scale,
          const viz::Rect& area)
      : scene_(scene), c_(c), style_(style_of(c)), line_(line), scale_(scale), area_(area) {}

  void paint() {
    const Excerpt& excerpt = line_.excerpt;
    const int count = static_cast<int>(excerpt.labels.size()), at = line_.position - excerpt.first;
    const float more = style_.width(kMore, style_.font_size);
    const float own = std::min(width_of(at), area_.w);
    // Rounding can make the end of a token as wide as the area less than the area's start.
    const float left = std::max(area_.x, std::min(area_.x + line_.place * area_.w, area_.right() - own));
    paint_token(at, left, own);
    float x = left;
    for (int i = at - 1; i >= -1; --i) {
      const bool ends = i < 0;  // the rest of the prompt
      if (ends && excerpt.first == 0) break;
      const bool is_last = i == 0 && excerpt.first == 0;
      if (ends || x - width_of(i) - (is_last ? 0 : more) < area_.x) {
        if (x - more >= area_.x) muted(x, viz::Align::right);
        break;
      }
      x -= width_of(i);
      paint_token(i, x, width_of(i));
    }
    x = left + own;
    for (int i = at + 1; i <= count; ++i) {
      const bool ends = i == count;
      if (ends && !excerpt.continues) break;
      const bool is_last = i + 1 == count && !excerpt.continues;
      if (ends || x + width_of(i) + (is_last ? 0 : more) > area_.right()) {
        if (x + more <= area_.right()) muted(x, viz::Align::left);
        break;
      }
      paint_token(i, x, width_of(i));
      x += width_of(i);
    }
  }

 private:
  viz::Scene& scene_;
  const ViewContext& c_;
  viz::Style style_;
  const ExcerptLine& line_;
  const viz::ColorScale& scale_;
  const viz::Rect& area_;

  float padding() const { return std::round(0.1F * style_.font_size); }
  float width_of(int i) const {
    return std::ceil(style_.width(line_.excerpt.labels[i], style_.font_size) + 2 * padding());
  }
  void muted(float x, viz::Align align) {
    viz::add_label(scene_, style_, kMore, {x, area_.center().y}, style_.font_size, c_.theme->text_muted,
                   viz::FontStyle::regular, align);
  }
  void paint_token(int i, float x, float width) {
    const Excerpt& excerpt = line_.excerpt;
    const viz::Rect box = viz::Rect{x, area_.y, width, area_.h}.inset(0.5F);
    viz::Color text = c_.theme->text;
    if (!excerpt.values.empty() && excerpt.values[i] > 0) {
      const viz::Color ground = scale_.color(*c_.theme, static_cast<double>(excerpt.values[i]));
      scene_.add(viz::FillRect{box, ground, 2});
      text = text_on(c_, ground);
    }
    viz::add_label(scene_, style_, excerpt.labels[i], {x + padding(), area_.center().y}, style_.font_size,
                   text, viz::FontStyle::regular, viz::Align::left, width - padding());
    const int position = excerpt.first + i;
    if (position == line_.position || position == line_.other)
      scene_.add(viz::StrokeRect{box, position == line_.position ? line_.frame : line_.other_frame, 1.5F, 2});
  }
};

}  // namespace

void paint_excerpt(viz::Scene& scene, const ViewContext& context, const ExcerptLine& line,
                   const viz::ColorScale& scale, const viz::Rect& area) {
  Painter(scene, context, line, scale, area).paint();
}

}  // namespace headscope::app
