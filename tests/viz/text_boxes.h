#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "viz/scene/scene.h"
#include "viz/text/text.h"

/// The ink of a scene's texts, and whether a reader can read it.
namespace headscope::viz::testing {

/// A rotated rectangle around the ink of one text.
struct TextBox {
  std::string text;
  std::array<Point, 4> corners;
  Rect bounds;
};

inline std::vector<TextBox> text_boxes(const Scene& scene, const Fonts& fonts) {
  std::vector<TextBox> boxes;
  for (const Item& item : scene.items) {
    const auto* run = std::get_if<GlyphRun>(&item);
    if (!run) continue;
    float left = 1e9F, top = 1e9F, right = -1e9F, bottom = -1e9F;
    for (const Glyph& glyph : run->glyphs) {
      for (const OutlinePoint& p : fonts.outline(glyph)) {
        left = std::min(left, glyph.x + p.to.x * run->size);
        right = std::max(right, glyph.x + p.to.x * run->size);
        top = std::min(top, p.to.y * run->size);
        bottom = std::max(bottom, p.to.y * run->size);
      }
    }
    if (left > right) continue;  // only spaces
    TextBox box{run->text, {}, {}};
    const float c = std::cos(run->angle), s = std::sin(run->angle);
    const std::array<Point, 4> local{{{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
    float x0 = 1e9F, y0 = 1e9F, x1 = -1e9F, y1 = -1e9F;
    for (std::size_t i = 0; i < 4; ++i) {
      const Point p{run->origin.x + c * local[i].x - s * local[i].y,
                    run->origin.y + s * local[i].x + c * local[i].y};
      box.corners[i] = p;
      x0 = std::min(x0, p.x), x1 = std::max(x1, p.x), y0 = std::min(y0, p.y), y1 = std::max(y1, p.y);
    }
    box.bounds = {x0, y0, x1 - x0, y1 - y0};
    boxes.push_back(box);
  }
  return boxes;
}

/// Whether two boxes overlap noticeably, by the separating axis theorem.
inline bool overlap(const TextBox& a, const TextBox& b) {
  constexpr float kHair = 0.3F;
  for (const TextBox* box : {&a, &b}) {
    for (std::size_t edge = 0; edge < 2; ++edge) {
      Point axis{box->corners[edge + 1].x - box->corners[edge].x,
                 box->corners[edge + 1].y - box->corners[edge].y};
      const float length = std::hypot(axis.x, axis.y);
      if (length < 1e-4F) continue;
      axis = {axis.x / length, axis.y / length};
      auto range = [&](const TextBox& t) {
        float low = 1e9F, high = -1e9F;
        for (const Point p : t.corners) {
          low = std::min(low, p.x * axis.x + p.y * axis.y);
          high = std::max(high, p.x * axis.x + p.y * axis.y);
        }
        return std::pair{low, high};
      };
      const auto [la, ha] = range(a);
      const auto [lb, hb] = range(b);
      if (ha - kHair <= lb || hb - kHair <= la) return false;
    }
  }
  return true;
}

/// One line for each text of a scene that leaves the picture or overlaps another; empty if there is none.
inline std::string text_faults(const Scene& scene, const Fonts& fonts) {
  const std::vector<TextBox> boxes = text_boxes(scene, fonts);
  std::ostringstream faults;
  constexpr float kSlack = 0.5F;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Rect& r = boxes[i].bounds;
    if (r.x < -kSlack || r.y < -kSlack || r.right() > scene.width + kSlack ||
        r.bottom() > scene.height + kSlack) {
      faults << "\"" << boxes[i].text << "\" leaves the picture: " << r.x << "," << r.y << " to " << r.right()
             << "," << r.bottom() << "\n";
    }
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      const Rect& o = boxes[j].bounds;
      if (r.x > o.right() || o.x > r.right() || r.y > o.bottom() || o.y > r.bottom()) continue;
      if (overlap(boxes[i], boxes[j])) {
        faults << "\"" << boxes[i].text << "\" and \"" << boxes[j].text << "\" overlap at " << r.x << ","
               << r.y << "\n";
      }
    }
  }
  return faults.str();
}

inline std::vector<std::string> texts(const Scene& scene) {
  std::vector<std::string> all;
  for (const Item& item : scene.items)
    if (const auto* run = std::get_if<GlyphRun>(&item)) all.push_back(run->text);
  return all;
}

template <class T>
std::vector<T> items_of(const Scene& scene) {
  std::vector<T> all;
  for (const Item& item : scene.items)
    if (const auto* it = std::get_if<T>(&item)) all.push_back(*it);
  return all;
}

}  // namespace headscope::viz::testing
