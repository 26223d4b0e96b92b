#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/players/base64.h"
#include "viz/players/cell_images.h"
#include "viz/players/players.h"
#include "viz/scene/play.h"
#include "viz/text/utf8.h"

namespace headscope::viz {
namespace {

constexpr float kUnitsPerEm = 1000;  ///< glyph coordinates are rounded to these units
constexpr int kLargestRectImage =
    64;  ///< maximum side of an image drawn as rectangles; larger ones are embedded as PNG

/// At most `decimals` digits after the point, no trailing zeros, never "-0".
std::string num(double value, int decimals = 3) {
  if (!std::isfinite(value)) return "0";
  char buffer[64];
  const double bounded = std::clamp(value, -1e9, 1e9);
  char* end = std::to_chars(buffer, buffer + sizeof buffer, bounded, std::chars_format::fixed, decimals).ptr;
  if (decimals > 0) {
    while (end[-1] == '0') --end;
    if (end[-1] == '.') --end;
  }
  const std::string_view text(buffer, end);
  return text == "-0" ? "0" : std::string(text);
}

/// Concatenates the parts.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  ((text += parts), ...);
  return text;
}

std::string hex(Color c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  const bool brief = c.r % 17 == 0 && c.g % 17 == 0 && c.b % 17 == 0;
  for (const int channel : {c.r, c.g, c.b}) {
    text += kDigits[channel >> 4];
    if (!brief) text += kDigits[channel & 15];
  }
  return text;
}

/// ` fill="#123" fill-opacity="0.5"`, or with `property` "stroke".
std::string paint(std::string_view property, Color c) {
  std::string text = join(" ", property, "=\"", hex(c), "\"");
  if (c.a != 255) text += join(" ", property, "-opacity=\"", num(c.a / 255.0), "\"");
  return text;
}

std::string attribute(std::string_view name, double value) {
  return join(" ", name, "=\"", num(value), "\"");
}

std::string box(const Rect& r) {
  return join(attribute("x", r.x), attribute("y", r.y), attribute("width", std::max(0.0F, r.w)),
              attribute("height", std::max(0.0F, r.h)));
}

/// Escapes a text as it is drawn, which has nothing that XML 1.0 cannot contain.
std::string escaped(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEntities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string result;
  for (const char c : drawable(text)) {
    const auto* const known = std::ranges::find(kEntities, c, &std::pair<char, std::string_view>::first);
    result += known == std::end(kEntities) ? std::string_view(&c, 1) : known->second;
  }
  return result;
}

std::string path_data(const Outline& outline) {
  std::string d;
  const auto add = [&](std::string_view command, std::initializer_list<Point> points) {
    d += command;
    bool first = true;
    for (const Point p : points) {
      for (const float v : {p.x, p.y}) {
        const std::string text = num(v * kUnitsPerEm, 0);
        if (!first && text.front() != '-') d += ' ';
        d += text;
        first = false;
      }
    }
  };
  for (const OutlinePoint& p : outline) {
    switch (p.kind) {
      case OutlinePoint::Kind::move:
        if (!d.empty()) d += 'Z';
        add("M", {p.to});
        break;
      case OutlinePoint::Kind::line:
        add("L", {p.to});
        break;
      case OutlinePoint::Kind::quad:
        add("Q", {p.c1, p.to});
        break;
      case OutlinePoint::Kind::cubic:
        add("C", {p.c1, p.c2, p.to});
        break;
    }
  }
  if (!d.empty()) d += 'Z';
  return d;
}

/// An id made from the shape that it names, so that pictures in one page, where ids are shared, have the same
/// id only for the same shape.
std::string id_of(char kind, std::string_view shape) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : shape) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  constexpr int kDigits = 12;
  std::string id(1, kind);
  for (int i = 0; i < kDigits; ++i, hash >>= 4) id += "0123456789abcdef"[hash & 15];
  return id;
}

class SvgWriter {
 public:
  SvgWriter(const Scene& scene, const Fonts& fonts, const SvgOptions& options)
      : fonts_(fonts), options_(options), resolution_(image_resolution(scene)) {}

  void fill(const Rect& rect, float radius, Color color) {
    body_ += join("<rect", box(rect), corner(rect, radius), paint("fill", color), "/>\n");
  }
  void fill(std::span<const Point> convex, Color color) {
    body_ += join("<polygon points=\"", point_list(convex), "\"", paint("fill", color), "/>\n");
  }

  void stroke(const Rect& rect, float radius, float width, Color color) {
    body_ += join("<rect", box(rect), corner(rect, radius), " fill=\"none\"", stroke(color, width), "/>\n");
  }
  void stroke(const Lines& lines, float width, Color color) {
    const std::string_view joins = lines.joined ? " stroke-linejoin=\"round\"" : "";
    if (lines.joined && lines.stretches.size() == 1 && lines.stretches[0].size() > 1) {
      body_ += join("<polyline points=\"", point_list(lines.stretches[0]), "\" fill=\"none\"", joins,
                    stroke(color, width), "/>\n");
      return;
    }
    std::string d;  // separate lines and dashes are one path
    for (const auto& points : lines.stretches) {
      if (points.size() < 2) continue;
      char move = 'M';
      for (const Point p : points) d += std::exchange(move, 'L') + join(num(p.x), " ", num(p.y));
    }
    if (!d.empty()) body_ += join("<path d=\"", d, "\" fill=\"none\"", joins, stroke(color, width), "/>\n");
  }

  void draw(const Image& image) {
    const bool small = std::max(image.bitmap->width, image.bitmap->height) <= kLargestRectImage;
    small ? write_blocks(image) : write_embedded(image);
  }
  void draw(const GlyphRun& run) { options_.text ? write_text(run) : write_outlines(run); }

  void push_clip(const Rect& rect) {
    const std::string shape = box(rect), id = id_of('c', shape);
    if (defined_.insert(id).second)
      definitions_ += join("<clipPath id=\"", id, "\"><rect", shape, "/></clipPath>\n");
    body_ += join("<g clip-path=\"url(#", id, ")\">\n");
  }
  void pop_clip() { body_ += "</g>\n"; }

  std::string document(const Scene& scene) && {
    std::string text = join(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "version=\"1.1\"",
        length("width", scene.width), length("height", scene.height), " viewBox=\"0 0 ", num(scene.width),
        " ", num(scene.height), "\"");
    const Description& said = options_.description;
    if (said.title.empty()) {
      text += ">\n";
    } else {
      // The first children are the image's name and description, without ids.
      text += join(" role=\"img\">\n<title>", escaped(said.title), "</title>\n");
      if (!said.words.empty()) text += join("<desc>", escaped(said.words), "</desc>\n");
    }
    for (const Note& note : options_.notes)
      text += join("<metadata id=\"", note.name, "\">", escaped(note.text), "</metadata>\n");
    if (!definitions_.empty()) text += join("<defs>\n", definitions_, "</defs>\n");
    if (scene.background.a > 0) {
      text += join("<rect", box({0, 0, scene.width, scene.height}), paint("fill", scene.background), "/>\n");
    }
    return join(text, body_, "</svg>\n");
  }

 private:
  std::string length(const char* name, float pixels) const {
    if (!options_.inches) return attribute(name, pixels);
    return join(" ", name, "=\"", num(static_cast<double>(pixels) / 96, 5), "in\"");
  }

  static std::string corner(const Rect& rect, float radius) {
    const float r = std::min({radius, rect.w / 2, rect.h / 2});
    return r > 0 ? attribute("rx", r) : std::string();
  }

  static std::string stroke(Color color, float width) {
    return join(paint("stroke", color), attribute("stroke-width", width));
  }

  static std::string point_list(std::span<const Point> points) {
    std::string text;
    for (const Point p : points) {
      if (!text.empty()) text += ' ';
      text += join(num(p.x), ",", num(p.y));
    }
    return text;
  }

  void write_blocks(const Image& item) {
    const double across = item.dest.w / static_cast<double>(item.bitmap->width);
    const double down = item.dest.h / static_cast<double>(item.bitmap->height);
    body_ += join("<g transform=\"translate(", num(item.dest.x), " ", num(item.dest.y), ") scale(",
                  num(across, 6), " ", num(down, 6), ")\" shape-rendering=\"crispEdges\">\n");
    for (const CellBlock& b : merged_blocks(*item.bitmap)) {
      body_ += join("<rect", attribute("x", b.x), attribute("y", b.y), attribute("width", b.width),
                    attribute("height", b.height), paint("fill", b.color), "/>\n");
    }
    body_ += "</g>\n";
  }

  void write_embedded(const Image& item) {
    const Bitmap big = enlarged(*item.bitmap, enlargement_of(*item.bitmap, item.dest, resolution_));
    const std::vector<std::uint8_t> png = encode_png(big, 1);
    body_ += join(
        "<image", box(item.dest),
        " preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\""
        " xlink:href=\"data:image/png;base64,",
        base64(std::as_bytes(std::span(png))), "\"/>\n");
  }

  static std::string placement(const GlyphRun& item) {
    std::string text = join("translate(", num(item.origin.x), " ", num(item.origin.y), ")");
    if (item.angle != 0) text += join(" rotate(", num(item.angle * 180 / std::numbers::pi), ")");
    return text;
  }

  void write_outlines(const GlyphRun& item) {
    std::string uses;
    for (const Glyph& glyph : item.glyphs) {
      const std::string& id = glyph_id(glyph);
      if (id.empty()) continue;  // a space
      uses += join("<use xlink:href=\"#", id, "\"");
      if (glyph.x != 0) uses += attribute("x", std::round(glyph.x / item.size * kUnitsPerEm));
      uses += "/>";
    }
    if (uses.empty()) return;
    body_ += join("<g transform=\"", placement(item), " scale(", num(item.size / kUnitsPerEm, 6), ")\"",
                  paint("fill", item.color), ">", uses, "</g>\n");
  }

  /// Writes a glyph's outline the first time it is used. Empty for a glyph without ink.
  const std::string& glyph_id(const Glyph& glyph) {
    const auto [at, added] = glyph_ids_.try_emplace({glyph.font, glyph.index});
    if (!added) return at->second;
    const std::string d = path_data(fonts_.outline(glyph));
    if (d.empty()) return at->second;
    at->second = id_of('g', d);
    if (defined_.insert(at->second).second)
      definitions_ += join("<path id=\"", at->second, "\" d=\"", d, "\"/>\n");
    return at->second;
  }

  void write_text(const GlyphRun& item) {
    const Glyph& first = item.glyphs.front();
    const std::string family = fonts_.family(first);
    const bool mono = family.find("Mono") != std::string::npos;
    std::string families = mono ? "monospace" : "sans-serif";
    if (!family.empty()) families = join("'", escaped(family), "', ", families);
    body_ += join("<text transform=\"", placement(item), "\" font-family=\"", families, "\"",
                  attribute("font-size", item.size));
    if (const int weight = fonts_.weight(first); weight != 400) body_ += attribute("font-weight", weight);
    // In Fonts' layout digits are equally wide, too.
    body_ += join(" style=\"font-variant-numeric:tabular-nums\" xml:space=\"preserve\"",
                  paint("fill", item.color), ">", escaped(item.text), "</text>\n");
  }

  const Fonts& fonts_;
  SvgOptions options_;
  double resolution_;
  std::string definitions_;
  std::string body_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::string> glyph_ids_;
  std::set<std::string> defined_;  ///< ids
};

}  // namespace

std::string to_svg(const Scene& scene, const Fonts& fonts, const SvgOptions& options) {
  SvgWriter writer(scene, fonts, options);
  play(scene, writer);
  return std::move(writer).document(scene);
}

}  // namespace headscope::viz
