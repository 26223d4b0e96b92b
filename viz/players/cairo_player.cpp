#include "viz/players/cairo_player.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace headscope::viz {

void expect_success(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  throw std::runtime_error(std::string("cannot draw the picture: ") + cairo_status_to_string(status));
}

CairoHandle<cairo_surface_t> surface_of(const Bitmap& bitmap) {
  const bool opaque = std::ranges::all_of(bitmap.pixels, [](Color c) { return c.a == 255; });
  CairoHandle<cairo_surface_t> surface(cairo_image_surface_create(
      opaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, bitmap.width, bitmap.height));
  expect_success(cairo_surface_status(surface.get()));
  cairo_surface_flush(surface.get());
  unsigned char* rows = cairo_image_surface_get_data(surface.get());
  const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < bitmap.height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(rows + y * stride);
    for (int x = 0; x < bitmap.width; ++x) {
      const Color c = bitmap.at(x, y);
      const auto over = [&](std::uint8_t v) { return (std::uint32_t{v} * c.a + 127) / 255; };
      row[x] = std::uint32_t{c.a} << 24 | over(c.r) << 16 | over(c.g) << 8 | over(c.b);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

/// Adds a rectangle to the path; `radius`: of its corners.
static void add_rectangle(cairo_t* context, const Rect& r, float radius) {
  const float w = std::max(0.F, r.w), h = std::max(0.F, r.h);
  const double round = std::min({radius, w / 2, h / 2});
  if (!(round > 0)) return cairo_rectangle(context, r.x, r.y, w, h);
  constexpr double kQuarter = std::numbers::pi / 2;
  cairo_new_sub_path(context);
  cairo_arc(context, r.right() - round, r.y + round, round, -kQuarter, 0);
  cairo_arc(context, r.right() - round, r.bottom() - round, round, 0, kQuarter);
  cairo_arc(context, r.x + round, r.bottom() - round, round, kQuarter, 2 * kQuarter);
  cairo_arc(context, r.x + round, r.y + round, round, 2 * kQuarter, 3 * kQuarter);
  cairo_close_path(context);
}

void add_outline(cairo_t* context, const Outline& outline, Point origin, float size) {
  const auto at = [&](Point p) { return Point{origin.x + p.x * size, origin.y + p.y * size}; };
  Point from;
  for (const OutlinePoint& p : outline) {
    const Point to = at(p.to), c1 = at(p.c1), c2 = at(p.c2);
    switch (p.kind) {
      case OutlinePoint::Kind::move:
        cairo_move_to(context, to.x, to.y);
        break;
      case OutlinePoint::Kind::line:
        cairo_line_to(context, to.x, to.y);
        break;
      case OutlinePoint::Kind::quad:  // converted to a cubic
        cairo_curve_to(context, from.x + (c1.x - from.x) * 2 / 3, from.y + (c1.y - from.y) * 2 / 3,
                       to.x + (c1.x - to.x) * 2 / 3, to.y + (c1.y - to.y) * 2 / 3, to.x, to.y);
        break;
      case OutlinePoint::Kind::cubic:
        cairo_curve_to(context, c1.x, c1.y, c2.x, c2.y, to.x, to.y);
        break;
    }
    from = to;
  }
}

CairoPlayer::CairoPlayer(CairoHandle<cairo_surface_t> surface, double scale)
    : surface_(std::move(surface)), context_(cairo_create(surface_.get())) {
  expect_success(cairo_surface_status(surface_.get()));
  cairo_scale(now(), scale, scale);
}

void CairoPlayer::fill(const Rect& rect, float radius, Color color) {
  add_rectangle(now(), rect, radius);
  fill_path(color);
}

void CairoPlayer::fill(std::span<const Point> convex, Color color) {
  add_line(convex);
  cairo_close_path(now());
  fill_path(color);
}

void CairoPlayer::stroke(const Rect& rect, float radius, float width, Color color) {
  add_rectangle(now(), rect, radius);
  stroke_path(CAIRO_LINE_JOIN_MITER, width, color);
}

void CairoPlayer::stroke(const Lines& lines, float width, Color color) {
  for (const auto& points : lines.stretches) add_line(points);
  // Cairo draws upright lines exactly if it need not round their joins.
  stroke_path(lines.joined ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER, width, color);
}

void CairoPlayer::push_clip(const Rect& rect) {
  cairo_save(now());
  add_rectangle(now(), rect, 0);
  cairo_clip(now());
}

void CairoPlayer::set_color(Color c) const {
  cairo_set_source_rgba(now(), c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
}

void CairoPlayer::finish() {
  expect_success(cairo_status(now()));
  context_.reset();
  cairo_surface_finish(surface());
  expect_success(cairo_surface_status(surface()));
}

void CairoPlayer::add_line(std::span<const Point> points) const {
  cairo_move_to(now(), points[0].x, points[0].y);
  for (const Point p : points.subspan(1)) cairo_line_to(now(), p.x, p.y);
}

void CairoPlayer::fill_path(Color color) const {
  set_color(color);
  cairo_fill(now());
}

void CairoPlayer::stroke_path(cairo_line_join_t join, float width, Color color) const {
  set_color(color);
  cairo_set_line_join(now(), join);
  cairo_set_line_width(now(), width);
  cairo_stroke(now());
}

}  // namespace headscope::viz
