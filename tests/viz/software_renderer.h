#pragma once
#include <algorithm>
#include <cmath>
#include <map>

#include "viz/imgui_compat.h"
#include "viz/imgui_player.h"

/// A graphics card in a hundred lines: textures in memory, and triangles as OpenGL draws them (a pixel
/// belongs to a triangle when its middle does; nearest texel; straight alpha blending). Lets tests see what a
/// window would show.
namespace headscope::viz::testing {

class SoftwareTextures : public TextureBackend {
 public:
  std::uint64_t create(const Bitmap& bitmap, bool nearest) override {
    textures[++last_] = bitmap;
    all_nearest = all_nearest && nearest;
    return last_;
  }
  void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) override {
    Bitmap& to = textures.at(texture);
    const auto from = bitmap.pixels.begin() + std::ptrdiff_t{first_row} * bitmap.width;
    std::copy(from, from + std::ptrdiff_t{rows} * bitmap.width,
              to.pixels.begin() + std::ptrdiff_t{first_row} * bitmap.width);
    ++updates;
  }
  void destroy(std::uint64_t texture) override { textures.erase(texture); }

  std::map<std::uint64_t, Bitmap> textures;
  int updates = 0;
  bool all_nearest = true;

 private:
  std::uint64_t last_ = 0;
};

class SoftwareRenderer {
 public:
  SoftwareRenderer(int width, int height, Color clear) {
    picture.width = width;
    picture.height = height;
    picture.pixels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), clear);
  }

  /// `scale`: pixels for each unit of ImGui.
  void draw(const ImDrawList& list, const SoftwareTextures& textures, float scale) {
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0) continue;
      const Bitmap& texture = textures.textures.at(compat::texture_handle(command));
      for (unsigned i = 0; i < command.ElemCount; i += 3) {
        const ImDrawIdx* index = &list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
        const auto vertex = [&](int k) {
          return list.VtxBuffer[static_cast<int>(command.VtxOffset + index[k])];
        };
        triangle(vertex(0), vertex(1), vertex(2), texture, command.ClipRect, scale);
      }
    }
  }

  Bitmap picture;

 private:
  struct Edge {
    double x, y, dx, dy;
    double at(double px, double py) const { return dx * (py - y) - dy * (px - x); }
    /// Pixels right on an edge belong to the triangle whose upper or left edge it is.
    bool holds(double value) const { return value > 0 || (value == 0 && (dy < 0 || (dy == 0 && dx > 0))); }
  };

  void triangle(ImDrawVert a, ImDrawVert b, ImDrawVert c, const Bitmap& texture, const ImVec4& clip,
                float scale) {
    const auto device = [&](float v) { return std::round(double{v} * scale * 256) / 256; };  // as cards do
    double x[3], y[3];
    const auto corners = [&] {
      const ImDrawVert* v[] = {&a, &b, &c};
      for (int i = 0; i < 3; ++i) x[i] = device(v[i]->pos.x), y[i] = device(v[i]->pos.y);
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
    const double left = std::max(0.0, std::round(double{clip.x} * scale)),
                 top = std::max(0.0, std::round(double{clip.y} * scale));
    const double right = std::min<double>(picture.width, std::round(double{clip.z} * scale));
    const double bottom = std::min<double>(picture.height, std::round(double{clip.w} * scale));
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

  void shade(int px, int py, const double (&w)[3], const ImDrawVert& a, const ImDrawVert& b,
             const ImDrawVert& c, const Bitmap& texture) {
    const auto texel = [](double part, int count) {
      return std::clamp(static_cast<int>(part * count), 0, count - 1);
    };
    const Color t = texture.at(texel(w[0] * a.uv.x + w[1] * b.uv.x + w[2] * c.uv.x, texture.width),
                               texel(w[0] * a.uv.y + w[1] * b.uv.y + w[2] * c.uv.y, texture.height));
    const auto channel = [&](int shift) {
      const auto of = [&](const ImDrawVert& v) { return static_cast<double>(v.col >> shift & 0xFF); };
      return (w[0] * of(a) + w[1] * of(b) + w[2] * of(c)) / 255;
    };
    Color& out = picture.pixels[static_cast<std::size_t>(py * picture.width + px)];
    const double alpha = channel(IM_COL32_A_SHIFT) * t.a / 255;
    const auto mix = [&](std::uint8_t under, double over) {
      return static_cast<std::uint8_t>(std::lround(under * (1 - alpha) + over * alpha));
    };
    out = {mix(out.r, channel(IM_COL32_R_SHIFT) * t.r), mix(out.g, channel(IM_COL32_G_SHIFT) * t.g),
           mix(out.b, channel(IM_COL32_B_SHIFT) * t.b), 255};
  }
};

}  // namespace headscope::viz::testing
