#pragma once
#include <algorithm>
#include <cmath>

#include "viz/players/imgui_compat.h"
#include "viz/players/imgui_raster.h"

/// A graphics card in a hundred lines: draws triangles like OpenGL (a pixel belongs to a triangle if its
/// middle does; straight alpha blending), pixel by pixel in double precision. Tests use it to render windows,
/// and to check the fast rasterizer.
namespace headscope::viz::testing {

/// Records the player's calls for its textures.
class CountingTextures : public SoftwareTextures {
 public:
  std::uint64_t create(const Bitmap& bitmap, bool nearest) override {
    all_nearest = all_nearest && nearest;
    return SoftwareTextures::create(bitmap, nearest);
  }
  void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) override {
    SoftwareTextures::update(texture, bitmap, first_row, rows);
    ++updates;
  }

  int updates = 0;
  bool all_nearest = true;
};

class SoftwareRenderer {
 public:
  SoftwareRenderer(int width, int height, Color clear) : picture(Bitmap::filled(width, height, clear)) {}

  /// `scale`: pixels per unit of ImGui; `origin`: of the picture, in units.
  void draw(const ImDrawList& list, const TextureStore& textures, float scale, ImVec2 origin = {0, 0}) {
    scale_ = scale;
    origin_ = origin;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0 || command.UserCallback != nullptr) continue;
      const Texture& texture = textures.at(compat::texture_handle(command));
      for (unsigned i = 0; i < command.ElemCount; i += 3) {
        const ImDrawIdx* index = &list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
        const auto vertex = [&](int k) {
          return list.VtxBuffer[static_cast<int>(command.VtxOffset + index[k])];
        };
        triangle(vertex(0), vertex(1), vertex(2), texture, command.ClipRect);
      }
    }
  }
  void draw(const ImDrawData& data, const TextureStore& textures) {
    for (int i = 0; i < data.CmdListsCount; ++i)
      draw(*data.CmdLists[i], textures, data.FramebufferScale.x, data.DisplayPos);
  }

  Bitmap picture;

 private:
  struct Edge {
    double x, y, dx, dy;
    double at(double px, double py) const { return dx * (py - y) - dy * (px - x); }
    /// Pixels exactly on an edge belong to the triangle of which it is the lower or left edge.
    bool holds(double value) const { return value > 0 || (value == 0 && (dy < 0 || (dy == 0 && dx < 0))); }
  };
  struct Texel {
    double r, g, b, a;
  };

  void triangle(ImDrawVert a, ImDrawVert b, ImDrawVert c, const Texture& texture, const ImVec4& clip) {
    const auto device = [&](float v, float origin) {
      return std::floor(double{(v - origin) * scale_} * 256 + 0.5) / 256;  // like graphics cards
    };
    double x[3], y[3];
    const auto corners = [&] {
      const ImDrawVert* v[] = {&a, &b, &c};
      for (int i = 0; i < 3; ++i)
        x[i] = device(v[i]->pos.x, origin_.x), y[i] = device(v[i]->pos.y, origin_.y);
      return (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
    };
    double area = corners();
    if (area == 0) return;
    if (area < 0) {
      std::swap(b, c);
      area = corners();
    }
    const Edge edges[] = {{x[1], y[1], x[2] - x[1], y[2] - y[1]},
                          {x[2], y[2], x[0] - x[2], y[0] - y[2]},
                          {x[0], y[0], x[1] - x[0], y[1] - y[0]}};
    const auto bound = [](double v, double low, double high) {
      return static_cast<int>(std::clamp(v, low, high));
    };
    const auto pixel = [&](float v, float origin) { return std::floor(double{(v - origin) * scale_} + 0.5); };
    const double left = std::max(0.0, pixel(clip.x, origin_.x)),
                 top = std::max(0.0, pixel(clip.y, origin_.y));
    const double right = std::min<double>(picture.width, pixel(clip.z, origin_.x));
    const double bottom = std::min<double>(picture.height, pixel(clip.w, origin_.y));
    if (left >= right || top >= bottom) return;
    for (int py = bound(std::floor(std::min({y[0], y[1], y[2]})), top, bottom);
         py < bound(std::ceil(std::max({y[0], y[1], y[2]})), top, bottom); ++py) {
      for (int px = bound(std::floor(std::min({x[0], x[1], x[2]})), left, right);
           px < bound(std::ceil(std::max({x[0], x[1], x[2]})), left, right); ++px) {
        double w[3];
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
          w[i] = edges[i].at(px + 0.5, py + 0.5);
          inside = inside && edges[i].holds(w[i]);
          w[i] /= area;
        }
        if (inside) shade(px, py, w, a, b, c, texture);
      }
    }
  }

  static Texel sample(const Texture& texture, double u, double v) {
    const Bitmap& bitmap = texture.bitmap;
    const auto at = [&](double column, double row) {
      const Color c = bitmap.at(static_cast<int>(std::clamp<double>(column, 0, bitmap.width - 1)),
                                static_cast<int>(std::clamp<double>(row, 0, bitmap.height - 1)));
      return Texel{double(c.r), double(c.g), double(c.b), double(c.a)};
    };
    // Exactly between two texels, the farther one, however the weights were rounded.
    if (texture.nearest) return at(std::floor(u + 1e-6), std::floor(v + 1e-6));
    const double x = std::floor(u - 0.5), y = std::floor(v - 0.5), s = u - 0.5 - x, t = v - 0.5 - y;
    const Texel c[] = {at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)};
    const auto mix = [&](double Texel::*k) {
      return (c[0].*k * (1 - s) + c[1].*k * s) * (1 - t) + (c[2].*k * (1 - s) + c[3].*k * s) * t;
    };
    return {mix(&Texel::r), mix(&Texel::g), mix(&Texel::b), mix(&Texel::a)};
  }

  void shade(int px, int py, const double (&w)[3], const ImDrawVert& a, const ImDrawVert& b,
             const ImDrawVert& c, const Texture& texture) {
    const Texel t = sample(texture, (w[0] * a.uv.x + w[1] * b.uv.x + w[2] * c.uv.x) * texture.bitmap.width,
                           (w[0] * a.uv.y + w[1] * b.uv.y + w[2] * c.uv.y) * texture.bitmap.height);
    const auto channel = [&](int shift) {
      const auto of = [&](const ImDrawVert& v) { return static_cast<double>(v.col >> shift & 0xFF); };
      return (w[0] * of(a) + w[1] * of(b) + w[2] * of(c)) / 255;
    };
    Color& out = picture.at(px, py);
    const double alpha = channel(IM_COL32_A_SHIFT) * t.a / 255;
    const auto mix = [&](std::uint8_t under, double over) {
      return static_cast<std::uint8_t>(std::lround(under * (1 - alpha) + over * alpha));
    };
    out = {mix(out.r, channel(IM_COL32_R_SHIFT) * t.r), mix(out.g, channel(IM_COL32_G_SHIFT) * t.g),
           mix(out.b, channel(IM_COL32_B_SHIFT) * t.b), 255};
  }

  float scale_ = 1;
  ImVec2 origin_;
};

}  // namespace headscope::viz::testing
