#include "viz/players/imgui_raster.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "viz/players/imgui_compat.h"
#include "viz/scene/pixel_grid.h"

namespace headscope::viz {
namespace {

/// Positions in 1/256 of a pixel, limited to kFarAway so that the product of two distances fits.
using Fixed = std::int64_t;
constexpr Fixed kPixel = 256;

Fixed to_fixed(float pixels) {
  return static_cast<Fixed>(std::floor(double{bounded(pixels)} * kPixel + 0.5));
}
double to_pixels(Fixed v) {
  return static_cast<double>(v) / kPixel;
}

/// Rounded up, for a positive divisor.
Fixed divided_up(Fixed a, Fixed b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

/// The first column whose middle is at or to the right of `x`.
int first_column(Fixed x) {
  return static_cast<int>((x + kPixel / 2 - 1) >> 8);
}
/// The first row whose middle is below `y`.
int first_row(Fixed y) {
  return static_cast<int>((y + kPixel / 2) >> 8);
}

/// A corner of a triangle; `u`, `v` are in texels.
struct Corner {
  Fixed x = 0, y = 0;
  double u = 0, v = 0;
  ImU32 color = 0;
};

/// Four channels of 0 .. 255, in the order of Color.
using Channels = std::array<float, 4>;

Channels channels(ImU32 color) {
  const auto at = [&](int shift) { return static_cast<float>(color >> shift & 0xFF); };
  return {at(IM_COL32_R_SHIFT), at(IM_COL32_G_SHIFT), at(IM_COL32_B_SHIFT), at(IM_COL32_A_SHIFT)};
}
Channels channels(Color c) {
  return {static_cast<float>(c.r), static_cast<float>(c.g), static_cast<float>(c.b), static_cast<float>(c.a)};
}

std::uint8_t rounded_channel(float v) {
  return static_cast<std::uint8_t>(v + 0.5F);
}

void blend(Color& under, const Channels& color, const Channels& texel) {
  const float alpha = color[3] * texel[3] * (1.0F / (255 * 255));
  const auto mix = [&](std::uint8_t c, int k) {
    const auto from = static_cast<float>(c);
    return rounded_channel(from + (color[k] * texel[k] * (1.0F / 255) - from) * alpha);
  };
  under = {mix(under.r, 0), mix(under.g, 1), mix(under.b, 2), 255};
}

/// Blends one colour over many pixels; only the pixel beneath varies: (keep * beneath + add) / 65536.
class Solid {
 public:
  Solid(const Channels& color, const Channels& texel) {
    const double alpha = double{color[3]} * texel[3] / (255 * 255);
    keep_ = static_cast<std::uint32_t>((1 - alpha) * 65536 + 0.5);
    for (int k = 0; k < 3; ++k)
      add_[k] = static_cast<std::uint32_t>(double{color[k]} * texel[k] / 255 * alpha * 65536 + 0.5) + 32768;
    if (add_[0] + add_[1] + add_[2] == 3 * 32768 && keep_ == 65536) keep_ = kNothing;
  }

  void fill(std::span<Color> pixels) const {
    if (keep_ == kNothing) return;
    if (keep_ == 0) {
      const auto byte = [](std::uint32_t v) { return static_cast<std::uint8_t>(v >> 16); };
      std::ranges::fill(pixels, Color{byte(add_[0]), byte(add_[1]), byte(add_[2]), 255});
      return;
    }
    const std::uint32_t keep = keep_, r = add_[0], g = add_[1], b = add_[2];
    for (Color& pixel : pixels) {
      const auto mix = [&](std::uint8_t c, std::uint32_t add) {
        return static_cast<std::uint8_t>((c * keep + add) >> 16);
      };
      pixel = {mix(pixel.r, r), mix(pixel.g, g), mix(pixel.b, b), 255};
    }
  }

 private:
  static constexpr std::uint32_t kNothing = ~0U;
  std::uint32_t keep_ = 0;
  std::uint32_t add_[3] = {};
};

/// A pixel's texels along one axis of a texture: `first`, and the one `step` farther with weight `part`.
struct Tap {
  int first = 0;
  int step = 0;
  float part = 0;
};

class Sampler {
 public:
  explicit Sampler(const Texture& texture)
      : bitmap_(texture.bitmap), pixels_(texture.bitmap.pixels.data()), nearest_(texture.nearest) {}

  int width() const { return bitmap_.width; }
  int height() const { return bitmap_.height; }

  /// `at`: in texels; may be any number, also NaN.
  Tap tap(double at, int count) const {
    constexpr double kBorder = 1e-6;  // exactly between two texels, the farther one is used
    const double last = count - 1, place = nearest_ ? at + kBorder : at - 0.5;
    const double within = place > 0 ? std::min(place, last) : 0;
    const int first = static_cast<int>(within);
    if (nearest_) return {first, 0, 0};
    const auto part = static_cast<float>(within - first);
    return {first, part > 0 ? 1 : 0, part};
  }
  Tap column(double u) const { return tap(u, bitmap_.width); }
  Tap row(double v) const { return tap(v, bitmap_.height); }

  const Color* texel(const Tap& x, const Tap& y) const {
    return pixels_ + std::ptrdiff_t{y.first} * bitmap_.width + x.first;
  }

  Channels at(const Tap& x, const Tap& y) const {
    const Color* corner = texel(x, y);
    if (x.step == 0 && y.step == 0) return channels(*corner);
    const Color* below = corner + std::ptrdiff_t{y.step} * bitmap_.width;
    const Channels c[] = {channels(*corner), channels(corner[x.step]), channels(*below),
                          channels(below[x.step])};
    Channels mixed;
    for (int k = 0; k < 4; ++k) {
      const float upper = c[0][k] + (c[1][k] - c[0][k]) * x.part;
      const float lower = c[2][k] + (c[3][k] - c[2][k]) * x.part;
      mixed[k] = upper + (lower - upper) * y.part;
    }
    return mixed;
  }

 private:
  const Bitmap& bitmap_;
  const Color* pixels_;
  bool nearest_;
};

/// Steps down one side of a triangle and gives, in each row, the first pixel whose middle is not left of the
/// side. Exact: carries the remainder of the first row's division.
class ClipSide {
 public:
  /// From `a` down to `b`, which is lower; starts at `row`.
  ClipSide(const Corner& a, const Corner& b, int row) : divisor_(kPixel * (b.y - a.y)) {
    const Fixed dx = b.x - a.x;
    const Fixed to_middle = row * kPixel + kPixel / 2 - a.y;
    // (a.x - 128 + to_middle * dx / dy) / 256, upwards
    const Fixed above = (a.x - kPixel / 2) * (b.y - a.y) + to_middle * dx;
    pixel_ = divided_up(above, divisor_);
    left_ = pixel_ * divisor_ - above;
    step_ = divided_up(kPixel * dx, divisor_);
    step_left_ = step_ * divisor_ - kPixel * dx;
  }

  Fixed pixel() const { return pixel_; }
  void next() {
    pixel_ += step_;
    left_ += step_left_;
    if (left_ >= divisor_) {
      left_ -= divisor_;
      --pixel_;
    }
  }

 private:
  Fixed divisor_;
  Fixed pixel_, left_;  ///< left_: how far the pixel is beyond the side, in units of 1 / divisor_
  Fixed step_, step_left_;
};

/// A linear function over a triangle.
struct Slope {
  double at_corner = 0, dx = 0, dy = 0;
  double at(double x, double y) const { return at_corner + x * dx + y * dy; }
};

class MeshPainter {
 public:
  explicit MeshPainter(Bitmap& picture) : picture_(picture) {}

  void paint(const ImDrawList& list, const ImDrawCmd& command, const Texture& texture, const PixelRect& clip,
             ImVec2 origin, ImVec2 scale) {
    clip_ = clip;
    const Sampler sampler(texture);
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    const auto corner = [&](ImDrawIdx i) {
      const ImDrawVert& v = vertices[i];
      return Corner{to_fixed((v.pos.x - origin.x) * scale.x), to_fixed((v.pos.y - origin.y) * scale.y),
                    double{v.uv.x} * sampler.width(), double{v.uv.y} * sampler.height(), v.col};
    };
    const ImDrawIdx* at = list.IdxBuffer.Data + command.IdxOffset;
    const ImDrawIdx* const end = at + command.ElemCount;
    while (end - at >= 3) {
      const Corner a = corner(at[0]), b = corner(at[1]), c = corner(at[2]);
      if (end - at >= 6 && at[3] == at[0] && at[4] == at[2] && is_upright(a, b, c, corner(at[5]))) {
        rectangle(a, c, sampler);
        at += 6;
      } else {
        triangle(a, b, c, sampler);
        at += 3;
      }
    }
  }

 private:
  /// Whether four consecutive corners form an axis-aligned rectangle with one colour and an unrotated part of
  /// a texture, as text, images and plain rectangles do.
  static bool is_upright(const Corner& a, const Corner& b, const Corner& c, const Corner& d) {
    return a.x < b.x && b.y < c.y && a.y == b.y && b.x == c.x && c.y == d.y && d.x == a.x && a.v == b.v &&
           b.u == c.u && c.v == d.v && d.u == a.u && a.color == b.color && a.color == c.color &&
           a.color == d.color;
  }

  std::span<Color> pixels(int row, int begin, int end) {
    return std::span(picture_.pixels).subspan(std::ptrdiff_t{row} * picture_.width + begin, end - begin);
  }

  void rectangle(const Corner& low, const Corner& high, const Sampler& sampler) {
    const PixelRect r =
        intersect(clip_, {first_column(low.x), first_row(low.y), first_column(high.x), first_row(high.y)});
    if (r.empty()) return;
    const Channels color = channels(low.color);
    if (low.u == high.u && low.v == high.v) {
      const Solid solid(color, sampler.at(sampler.column(low.u), sampler.row(low.v)));
      for (int y = r.y0; y < r.y1; ++y) solid.fill(pixels(y, r.x0, r.x1));
      return;
    }
    const auto texel = [](int pixel, Fixed from, Fixed to, double first, double last) {
      return first + (pixel + 0.5 - to_pixels(from)) * (last - first) / to_pixels(to - from);
    };
    columns_.clear();
    for (int x = r.x0; x < r.x1; ++x)
      columns_.push_back(sampler.column(texel(x, low.x, high.x, low.u, high.u)));
    const bool plain = low.color == IM_COL32_WHITE;
    for (int y = r.y0; y < r.y1; ++y) {
      const Tap row = sampler.row(texel(y, low.y, high.y, low.v, high.v));
      const Tap* column = columns_.data();
      for (Color& pixel : pixels(y, r.x0, r.x1)) {
        const Tap& tap = *column++;
        if (plain && tap.step == 0 && row.step == 0) {
          const Color texel_color = *sampler.texel(tap, row);
          if (texel_color.a == 255) {
            pixel = texel_color;
            continue;
          }
        }
        const Channels of_texture = sampler.at(tap, row);
        if (of_texture[3] > 0) blend(pixel, color, of_texture);
      }
    }
  }

  void triangle(Corner a, Corner b, Corner c, const Sampler& sampler) {
    if (b.y < a.y) std::swap(a, b);
    if (c.y < b.y) std::swap(b, c);
    if (b.y < a.y) std::swap(a, b);
    const int top = std::max(clip_.y0, first_row(a.y)), bottom = std::min(clip_.y1, first_row(c.y));
    if (top >= bottom || first_column(std::min({a.x, b.x, c.x})) >= clip_.x1 ||
        first_column(std::max({a.x, b.x, c.x})) <= clip_.x0)
      return;
    const Fixed area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area == 0) return;
    const bool even = a.color == b.color && a.color == c.color;
    const bool one_texel = a.u == b.u && a.u == c.u && a.v == b.v && a.v == c.v;
    if (even && one_texel) {
      const Solid solid(channels(a.color), sampler.at(sampler.column(a.u), sampler.row(a.v)));
      return rows(a, b, c, area > 0, top, bottom,
                  [&](int y, int begin, int end) { solid.fill(pixels(y, begin, end)); });
    }
    const Shade shade(a, b, c, area, sampler);
    rows(a, b, c, area > 0, top, bottom,
         [&](int y, int begin, int end) { shade.fill(pixels(y, begin, end), begin, y); });
  }

  /// Calls `fill(row, begin, end)` for the pixels of each row. Corners are ordered from top to bottom;
  /// `bulges_right`: whether b is to the right of the side from a to c.
  template <class Fill>
  void rows(const Corner& a, const Corner& b, const Corner& c, bool bulges_right, int top, int bottom,
            const Fill& fill) const {
    ClipSide whole(a, c, top);
    const auto half = [&](const Corner& from, const Corner& to, int begin, int end) {
      if (begin >= end) return;
      ClipSide side(from, to, begin);
      for (int y = begin; y < end; ++y, whole.next(), side.next()) {
        const Fixed left = bulges_right ? whole.pixel() : side.pixel();
        const Fixed right = bulges_right ? side.pixel() : whole.pixel();
        const int x0 = static_cast<int>(std::max<Fixed>(clip_.x0, left));
        const int x1 = static_cast<int>(std::min<Fixed>(clip_.x1, right));
        if (x0 < x1) fill(y, x0, x1);
      }
    };
    const int middle = std::clamp(first_row(b.y), top, bottom);
    half(a, b, top, middle);
    half(b, c, middle, bottom);
  }

  /// Colour and texture over a triangle.
  class Shade {
   public:
    Shade(const Corner& a, const Corner& b, const Corner& c, Fixed area, const Sampler& sampler)
        : sampler_(sampler), x_(to_pixels(a.x)), y_(to_pixels(a.y)) {
      const double whole = to_pixels(area) / kPixel;
      const double bx = to_pixels(b.x - a.x), by = to_pixels(b.y - a.y), cx = to_pixels(c.x - a.x),
                   cy = to_pixels(c.y - a.y);
      const auto slope = [&](double at_a, double at_b, double at_c) {
        const double to_b = at_b - at_a, to_c = at_c - at_a;
        return Slope{at_a, (to_b * cy - to_c * by) / whole, (to_c * bx - to_b * cx) / whole};
      };
      const Channels of_a = channels(a.color), of_b = channels(b.color), of_c = channels(c.color);
      for (int k = 0; k < 4; ++k) color_[k] = slope(of_a[k], of_b[k], of_c[k]);
      u_ = slope(a.u, b.u, c.u);
      v_ = slope(a.v, b.v, c.v);
      even_texture_ = u_.dx == 0 && u_.dy == 0 && v_.dx == 0 && v_.dy == 0;
      if (even_texture_) texel_ = sampler.at(sampler.column(a.u), sampler.row(a.v));
    }

    void fill(std::span<Color> pixels, int first, int row) const {
      const double x = first + 0.5 - x_, y = row + 0.5 - y_;
      double start[4];
      for (int k = 0; k < 4; ++k) start[k] = color_[k].at(x, y);
      const double u = u_.at(x, y), v = v_.at(x, y);
      double n = 0;
      for (Color& pixel : pixels) {
        Channels color;
        for (int k = 0; k < 4; ++k)
          color[k] = std::clamp(static_cast<float>(start[k] + n * color_[k].dx), 0.0F, 255.0F);
        blend(pixel, color,
              even_texture_ ? texel_
                            : sampler_.at(sampler_.column(u + n * u_.dx), sampler_.row(v + n * v_.dx)));
        ++n;
      }
    }

   private:
    const Sampler& sampler_;
    double x_, y_;  ///< pixel position of the corner where the slopes start
    Slope color_[4], u_, v_;
    bool even_texture_ = false;
    Channels texel_{};
  };

  Bitmap& picture_;
  PixelRect clip_;
  std::vector<Tap> columns_;  ///< for the current rectangle; a member so that its memory is reused
};

const Texture& texture_of(const ImDrawCmd& command, const TextureStore& textures) {
  const std::uint64_t handle = compat::texture_handle(command);
  const auto found = textures.find(handle);
  if (found == textures.end())
    throw std::invalid_argument("Texture " + std::to_string(handle) +
                                ", which a draw command names, is not in the store of " +
                                std::to_string(textures.size()) + " textures.");
  const Bitmap& bitmap = found->second.bitmap;
  if (bitmap.empty() || std::ssize(bitmap.pixels) < std::ptrdiff_t{bitmap.width} * bitmap.height)
    throw std::invalid_argument("Texture " + std::to_string(handle) + " of " + std::to_string(bitmap.width) +
                                " x " + std::to_string(bitmap.height) + " pixels has " +
                                std::to_string(bitmap.pixels.size()) + " of them.");
  return found->second;
}

/// The number of pixels that cover a length, allowing for rounding errors slightly above a whole number.
int pixels_of(float length) {
  return std::max(0, ceil_to_pixel(length - 1e-3F));
}

}  // namespace

std::uint64_t SoftwareTextures::create(const Bitmap& bitmap, bool nearest) {
  store_[++last_] = {bitmap, nearest};
  return last_;
}

void SoftwareTextures::update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) {
  Bitmap& to = store_.at(texture).bitmap;
  const std::ptrdiff_t first = std::ptrdiff_t{first_row} * bitmap.width,
                       count = std::ptrdiff_t{rows} * bitmap.width;
  std::copy_n(bitmap.pixels.begin() + first, count, to.pixels.begin() + first);
}

Bitmap rasterize(const ImDrawData& data, const TextureStore& textures, Color clear) {
  const ImVec2 origin = data.DisplayPos, scale = data.FramebufferScale;
  Bitmap picture = Bitmap::filled(pixels_of(data.DisplaySize.x * scale.x),
                                  pixels_of(data.DisplaySize.y * scale.y), clear.with_alpha(255));
  MeshPainter painter(picture);
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0) continue;  // also for callbacks
      const ImVec4& c = command.ClipRect;
      const PixelRect clip =
          intersect({0, 0, picture.width, picture.height},
                    {round_to_pixel((c.x - origin.x) * scale.x), round_to_pixel((c.y - origin.y) * scale.y),
                     round_to_pixel((c.z - origin.x) * scale.x), round_to_pixel((c.w - origin.y) * scale.y)});
      if (!clip.empty()) painter.paint(list, command, texture_of(command, textures), clip, origin, scale);
    }
  }
  return picture;
}

}  // namespace headscope::viz
