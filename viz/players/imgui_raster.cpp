#include "viz/players/imgui_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "viz/players/imgui_compat.h"
#include "viz/scene/pixel_grid.h"

namespace headscope::viz {
namespace {

using Channels = std::array<double, 4>;  ///< red, green, blue, alpha, each 0 .. 1

Channels channels(Color c) {
  return {c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0};
}

void blend(Color& under, const Channels& color) {
  const double alpha = color[3];
  const auto mix = [&](std::uint8_t below, double above) {
    return static_cast<std::uint8_t>(std::clamp(below + (above * 255 - below) * alpha, 0.0, 255.0) + 0.5);
  };
  under = {mix(under.r, color[0]), mix(under.g, color[1]), mix(under.b, color[2]), 255};
}

/// The colour of a texture at a place in texels, which may be any number.
Channels sample(const Texture& texture, double u, double v) {
  const Bitmap& bitmap = texture.bitmap;
  const auto inside = [](double at, int count) { return at > 0 ? std::min(at, count - 1.0) : 0; };
  if (texture.nearest) {
    constexpr double kBorder = 1e-4;  // exactly between two texels, the farther one is used
    return channels(bitmap.at(static_cast<int>(inside(u + kBorder, bitmap.width)),
                              static_cast<int>(inside(v + kBorder, bitmap.height))));
  }
  const double x = inside(u - 0.5, bitmap.width), y = inside(v - 0.5, bitmap.height);
  const int column = static_cast<int>(x), row = static_cast<int>(y);
  const int right = std::min(column + 1, bitmap.width - 1), below = std::min(row + 1, bitmap.height - 1);
  const Channels c[] = {channels(bitmap.at(column, row)), channels(bitmap.at(right, row)),
                        channels(bitmap.at(column, below)), channels(bitmap.at(right, below))};
  Channels mixed;
  for (std::size_t k = 0; k < 4; ++k)
    mixed[k] =
        std::lerp(std::lerp(c[0][k], c[1][k], x - column), std::lerp(c[2][k], c[3][k], x - column), y - row);
  return mixed;
}

/// A corner of a triangle, in pixels.
struct Corner {
  double x = 0, y = 0;
  std::array<double, 6> values{};  ///< u and v in texels; the channels of the colour
};

/// Where the side from `a` down to `b` crosses the middle of a row. Triangles with a common side get the same
/// number, so that each pixel along it belongs to one of them.
double crossing(const Corner& a, const Corner& b, double middle) {
  return a.x + (middle - a.y) * (b.x - a.x) / (b.y - a.y);
}

void paint_triangle(Bitmap& picture, const PixelRect& clip, const Texture& texture, Corner a, Corner b,
                    Corner c) {
  if (b.y < a.y) std::swap(a, b);
  if (c.y < b.y) std::swap(b, c);
  if (b.y < a.y) std::swap(a, b);
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area == 0) return;
  // Colour and texture are linear over the triangle.
  std::array<double, 6> across{}, down{};
  for (std::size_t k = 0; k < across.size(); ++k) {
    const double to_b = b.values[k] - a.values[k], to_c = c.values[k] - a.values[k];
    across[k] = (to_b * (c.y - a.y) - to_c * (b.y - a.y)) / area;
    down[k] = (to_c * (b.x - a.x) - to_b * (c.x - a.x)) / area;
  }
  const auto color_at = [&](double x, double y) {
    std::array<double, 6> at;
    for (std::size_t k = 0; k < at.size(); ++k)
      at[k] = a.values[k] + (x - a.x) * across[k] + (y - a.y) * down[k];
    Channels color = sample(texture, at[0], at[1]);
    for (std::size_t k = 0; k < 4; ++k) color[k] *= std::clamp(at[k + 2], 0.0, 1.0);
    return color;
  };
  const bool even = across == std::array<double, 6>{} && down == across;
  const Channels one_color = color_at(a.x, a.y);
  // A middle exactly on a side belongs to what is above it or to the right.
  const auto row_of = [](double y) { return round_to_pixel(static_cast<float>(y)); };
  const int bottom = std::min(clip.y1, row_of(c.y));
  for (int y = std::max(clip.y0, row_of(a.y)); y < bottom; ++y) {
    const double middle = y + 0.5, side = crossing(a, c, middle);
    const double other = middle <= b.y ? crossing(a, b, middle) : crossing(b, c, middle);
    const auto column_of = [](double x) { return ceil_to_pixel(static_cast<float>(x - 0.5)); };
    const int end = std::min(clip.x1, column_of(std::max(side, other)));
    for (int x = std::max(clip.x0, column_of(std::min(side, other))); x < end; ++x)
      blend(picture.at(x, y), even ? one_color : color_at(x + 0.5, middle));
  }
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
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0) continue;  // also for callbacks
      const ImVec4& c = command.ClipRect;
      const PixelRect clip =
          intersect({0, 0, picture.width, picture.height},
                    {round_to_pixel((c.x - origin.x) * scale.x), round_to_pixel((c.y - origin.y) * scale.y),
                     round_to_pixel((c.z - origin.x) * scale.x), round_to_pixel((c.w - origin.y) * scale.y)});
      const Texture& texture = textures.at(compat::texture_handle(command));
      const auto corner = [&](unsigned at) {
        const ImDrawVert& v =
            list.VtxBuffer[static_cast<int>(command.VtxOffset + list.IdxBuffer[static_cast<int>(at)])];
        const auto snapped_to = [](float pixels) { return std::round(bounded(pixels) * 256.0) / 256; };
        const ImVec4 color = ImGui::ColorConvertU32ToFloat4(v.col);
        return Corner{snapped_to((v.pos.x - origin.x) * scale.x),
                      snapped_to((v.pos.y - origin.y) * scale.y),
                      {double{v.uv.x} * texture.bitmap.width, double{v.uv.y} * texture.bitmap.height, color.x,
                       color.y, color.z, color.w}};
      };
      for (unsigned at = command.IdxOffset; at + 3 <= command.IdxOffset + command.ElemCount; at += 3)
        paint_triangle(picture, clip, texture, corner(at), corner(at + 1), corner(at + 2));
    }
  }
  return picture;
}

}  // namespace headscope::viz
