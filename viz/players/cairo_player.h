#pragma once
#include <cairo.h>

#include <memory>
#include <span>

#include "viz/scene/play.h"
#include "viz/text/text.h"

namespace headscope::viz {

struct CairoRelease {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
template <class T>
using CairoHandle = std::unique_ptr<T, CairoRelease>;

/// The most that a curve may be off, in pixels.
inline constexpr double kTolerance = 0.02;

/// Throws std::bad_alloc, or for other failures std::runtime_error.
void expect_success(cairo_status_t status);

/// An image surface with the pixels of a bitmap.
CairoHandle<cairo_surface_t> surface_of(const Bitmap& bitmap);

/// Adds the outline of a glyph to the path, `size` units an em.
void add_outline(cairo_t* context, const Outline& outline, Point origin, float size);

/// Draws the shapes of a scene on a surface of cairo.
class CairoPlayer {
 public:
  void fill(const Rect& rect, float radius, Color color);
  void fill(std::span<const Point> convex, Color color);
  void stroke(const Rect& rect, float radius, float width, Color color);
  void stroke(const Lines& lines, float width, Color color);
  void push_clip(const Rect& rect);
  void pop_clip() { cairo_restore(now()); }

 protected:
  /// `scale`: units of the surface per logical pixel.
  CairoPlayer(CairoHandle<cairo_surface_t> surface, double scale);
  ~CairoPlayer() = default;

  cairo_surface_t* surface() const { return surface_.get(); }
  cairo_t* now() const { return context_.get(); }
  void set_color(Color color) const;
  /// Ends drawing. Throws like expect_success if anything failed.
  void finish();

 private:
  void add_line(std::span<const Point> points) const;
  void fill_path(Color color) const;
  void stroke_path(cairo_line_join_t join, float width, Color color) const;

  CairoHandle<cairo_surface_t> surface_;
  CairoHandle<cairo_t> context_;
};

}  // namespace headscope::viz
