#include "app/views/parts/frame.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/views/print_target.h"
#include "viz/scene/contrast.h"

namespace headscope::app {

viz::Style style_of(const ViewContext& c) {
  constexpr float kSixPoints = 8;  // on paper, in logical pixels
  return {*c.theme, *c.fonts, c.font_size, c.device_scale, c.printed ? kSixPoints : 0};
}

/// Whether the picture stands in a paper, among text with margins of its own; a slide has none around it.
static bool is_on_paper(const ViewContext& c) {
  return c.printed && c.least_line < spec_of(Target::slide).least_line;
}

float margin(const ViewContext& c) {
  const float unit = style_of(c).unit();  // a pane has a margin of its own
  if (is_on_paper(c)) return unit;
  return c.in_pane || c.width < 25 * c.font_size ? 2 * unit : 4 * unit;
}

Picture blank(const ViewContext& c) {
  Picture picture;
  picture.scene.width = c.width;
  picture.scene.height = c.height;
  picture.scene.background = c.theme->surface;
  return picture;
}

Picture message(const ViewContext& c, std::string_view words) {
  Picture picture = blank(c);
  picture.whole = false;
  const viz::Style style = style_of(c);
  const float room = c.width - 2 * margin(c), line = style.line(style.small());
  std::vector<std::string> lines =
      viz::wrap(style, words, style.small(), viz::FontStyle::regular, std::max(1.F, room));
  if (static_cast<float>(lines.size()) * line > c.height) lines = {std::string(words)};  // shortened
  float y = c.height / 2 - line * static_cast<float>(std::ssize(lines) - 1) / 2;
  for (const std::string& text : lines) {
    viz::add_label(picture.scene, style, text, {c.width / 2, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::center, room);
    y += line;
  }
  return picture;
}

Picture too_small(const ViewContext& c, std::string_view words) {
  const bool can_say_more = c.in_pane && c.height > 10 * c.font_size;
  Picture picture = message(c, "too small" + (words.empty() ? "" : " " + std::string(words)) +
                                   (can_say_more ? ": widen its pane or enlarge the window" : ""));
  picture.readable = false;
  return picture;
}

const viz::Region& region_of(const Picture& picture, const viz::Hit& hit) {
  return picture.regions[hit.region];
}

viz::Color text_on(const ViewContext& c, viz::Color ground) {
  return viz::text_on(*c.theme, ground);
}

void paint_note(Picture& picture, const ViewContext& c, std::string_view words, viz::Point at, float room) {
  const viz::Style style = style_of(c);
  viz::add_label(picture.scene, style, words, at, style.small(), c.theme->text_muted, viz::FontStyle::regular,
                 viz::Align::left, room);
}

void frame_regions(Facts& facts, const Picture& picture, int role, int id, viz::Color color) {
  for (const viz::Region& region : picture.regions)
    if (region.role == role && region.id == id)
      facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), color, 1, 2});
}

viz::Rect below_title(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const float m = margin(c), gap = (c.in_pane ? 1 : 2) * style.unit();
  const float subtitle = static_cast<float>(c.subtitle_lines) * style.line(style.small());
  const float top = c.titled ? m + style.line(style.title()) + subtitle + gap : m;
  // A pane's picture may get scroll bars on its right and below it.
  const float end = c.in_pane ? std::max(m, kScrollBar * c.font_size + style.unit()) : m;
  const float below = c.titled ? end : m;  // without a title in its pane, it does not scroll sideways
  return {m, top, std::max(0.F, c.width - m - end), std::max(0.F, c.height - top - below)};
}

/// Room for the subtitle next to the title, and whether it is enough for all or most of it: a few letters and
/// an ellipsis are useless.
static std::pair<float, bool> room_beside_title(const ViewContext& c, std::string_view title,
                                                std::string_view subtitle) {
  const viz::Style style = style_of(c);
  const float room =
      c.width - 2 * margin(c) - style.width(title, style.title(), viz::FontStyle::medium) - 3 * style.unit();
  return {room, room >= std::min(14 * style.font_size, style.width(subtitle, style.small()))};
}

int wanted_subtitle_lines(const Picture& picture, const ViewContext& c) {
  constexpr float kLeastHeight = 24, kLeastWithNone = 18;  // ems
  if (!picture.cuts_heading || picture.subtitle.empty()) return 0;
  // A lone ellipsis is worth a line even in a low pane.
  const bool shows_some = room_beside_title(c, picture.title, picture.subtitle).second;
  if (c.height < (shows_some ? kLeastHeight : kLeastWithNone) * c.font_size) return 0;
  const std::size_t most = c.height < kLeastHeight * c.font_size ? 1 : c.side == Side::difference ? 3 : 2;
  const viz::Style style = style_of(c);
  const auto lines =
      viz::wrap(style, picture.subtitle, style.small(), viz::FontStyle::regular, c.width - 2 * margin(c));
  return static_cast<int>(std::min(most, lines.size()));
}

viz::Rect paint_title(Picture& picture, const ViewContext& c, std::string_view title,
                      std::string_view subtitle) {
  picture.title = title, picture.subtitle = subtitle;
  if (!c.titled) return below_title(c);
  const viz::Style style = style_of(c);
  const float m = margin(c), u = style.unit(), line = style.line(style.title()), middle = m + line / 2;
  viz::add_label(picture.scene, style, title, {m, middle}, style.title(), c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, c.width - 2 * m);
  const float width = style.width(title, style.title(), viz::FontStyle::medium), used = width + 3 * u;
  if (width > c.width - 2 * m) picture.whole = false;
  if (c.subtitle_lines > 0) {
    std::vector<std::string> lines =
        viz::wrap(style, subtitle, style.small(), viz::FontStyle::regular, c.width - 2 * m);
    const auto most = static_cast<std::size_t>(c.subtitle_lines);
    picture.cuts_heading = width > c.width - 2 * m || lines.size() > most;
    for (; lines.size() > most; lines.pop_back()) lines[most - 1] += " " + lines[most];
    float y = m + line + style.line(style.small()) / 2;
    for (const std::string& words : lines) {
      paint_note(picture, c, words, {m, y}, c.width - 2 * m);
      y += style.line(style.small());
    }
    return below_title(c);
  }
  const auto [room, shows] = room_beside_title(c, title, subtitle);
  picture.cuts_heading =
      width > c.width - 2 * m || (!subtitle.empty() && style.width(subtitle, style.small()) > room);
  if (shows) {
    // On the title's baseline, not on its middle.
    const float lower = (c.fonts->cap_height(viz::FontStyle::medium, style.title()) -
                         c.fonts->cap_height(viz::FontStyle::regular, style.small())) /
                        2;
    viz::add_label(picture.scene, style, subtitle, {m + used, middle + lower}, style.small(),
                   c.theme->text_muted, viz::FontStyle::regular, viz::Align::left, room);
  } else if (c.in_pane && !subtitle.empty() && room >= style.width("…", style.small())) {
    viz::add_label(picture.scene, style, "…", {m + used, middle}, style.small(),
                   c.theme->text_muted);  // hover it
  }
  return below_title(c);
}

}  // namespace headscope::app
