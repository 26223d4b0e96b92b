#include "app/text/prompt_editor.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace headscope::app {
namespace {

constexpr viz::FontStyle kStyle = viz::FontStyle::regular;

/// Lengths of the editor's design at a font size of 14 pixels.
struct Lengths {
  float pad_x, pad_y, radius, ring, caret, gutter, newline;
};
Lengths lengths(float font_size) {
  const float u = font_size / 14;
  return {11 * u, 8 * u, 7 * u, 2 * u, 1.6f * u, 8 * u, 5 * u};
}

float row_height(const viz::Fonts& fonts, float font_size) {
  return std::round(fonts.line_height(kStyle, font_size) * 1.18f);
}

/// The layout of the editor in this frame.
struct Frame {
  Lengths length;
  viz::Rect area;  ///< the visible part of the text
  float row_height = 0;
  float scroll = 0;  ///< how far the text is scrolled, within `range`
  float range = 0;
  float shift = 0;  ///< single line: how far it is scrolled sideways
};

/// The caret's row and its place in the row.
struct CaretPlace {
  std::size_t row = 0;
  float x = 0;
};

CaretPlace caret_place(const TextState& state, EditMetrics& metrics) {
  const std::vector<EditRow>& rows = metrics.rows(state.text);
  const std::size_t row = row_of(rows, state.cursor, state.upstream);
  return {row, stop_of(metrics.stops(state.text, rows[row]), state.cursor).x};
}

/// Also updates `metrics` for the look.
Frame frame_of(const TextState& state, EditMetrics& metrics, const EditorLook& look) {
  Frame frame;
  frame.length = lengths(look.font_size);
  frame.row_height = row_height(*look.fonts, look.font_size);
  const Lengths& l = frame.length;
  const float height = look.single_line ? frame.row_height : std::max(look.rect.h - 2 * l.pad_y, 1.0f);
  const float top = look.single_line ? look.rect.center().y - height / 2 : look.rect.y + l.pad_y;
  const float width = look.rect.w - 2 * l.pad_x - (look.single_line ? 0 : l.gutter);
  frame.area = {look.rect.x + l.pad_x, top, std::max(width, 1.0f), height};
  const auto rows_in_sight = static_cast<std::size_t>(height / frame.row_height);
  metrics.use(look.fonts, look.font_size, frame.area.w, std::max<std::size_t>(rows_in_sight, 1),
              look.single_line);
  if (look.single_line) {
    frame.shift = std::max(0.0f, caret_place(state, metrics).x - frame.area.w + 2 * l.caret);
  } else {
    const float content = static_cast<float>(metrics.rows(state.text).size()) * frame.row_height;
    constexpr float kRounding = 0.5f;
    frame.range = content <= frame.area.h + kRounding ? 0 : content - frame.area.h;
    frame.scroll = std::clamp(look.scroll, 0.0f, frame.range);
  }
  return frame;
}

struct Hit {
  std::size_t byte = 0;
  bool upstream = false;
};

/// The text at a point: the nearest caret stop, or of other units the start of the character under the point.
Hit hit(const TextState& state, EditMetrics& metrics, const EditorLook& look, viz::Point at, Unit unit) {
  const Frame frame = frame_of(state, metrics, look);
  const std::vector<EditRow>& rows = metrics.rows(state.text);
  const float y = at.y - frame.area.y + frame.scroll;
  const float last = static_cast<float>(rows.size() - 1);
  const auto index = static_cast<std::size_t>(std::clamp(std::floor(y / frame.row_height), 0.0f, last));
  const EditRow& row = rows[index];
  const std::vector<CaretStop>& stops = metrics.stops(state.text, row);
  const float x = at.x - frame.area.x + frame.shift;
  const CaretStop stop = unit == Unit::character ? nearest_stop(stops, x) : stop_under(stops, x);
  const bool upstream = stop.byte == row.end && !row.hard;
  // Beyond the end of a wrapped row it is the row's last character, not the next row's first.
  if (upstream && unit != Unit::character) return {previous_grapheme(state.text, stop.byte)};
  return {stop.byte, upstream};
}

/// The meaning of a key with Ctrl.
KeyMeaning control_key(const TextState& state, const KeyDown& key) {
  const bool selected = !state.selection().empty(), shift = key.modifiers.shift;
  if (key.key == Key::home) return TextCommand(MoveTo{0, shift});
  if (key.key == Key::end) return TextCommand(MoveTo{state.text.size(), shift});
  if (key.key == Key{'a'}) return TextCommand(kSelectAll);
  if (key.key == Key{'c'} && selected && !shift) return EditorRequest::copy;
  if (key.key == Key{'x'} && selected) return EditorRequest::cut;
  if (key.key == Key{'v'}) return EditorRequest::paste;
  if (key.key == Key{'z'} && !shift) return EditorRequest::undo;
  if (key.key == Key{'z'} || key.key == Key{'y'}) return EditorRequest::redo;
  return {};
}

struct RowKey {
  Key key;
  RowMotion motion;
  bool single_line = false;  ///< also if there is only one row
};
constexpr RowKey kRowKeys[] = {{Key::home, RowMotion::row_start, true},
                               {Key::end, RowMotion::row_end, true},
                               {Key::up, RowMotion::up},
                               {Key::down, RowMotion::down},
                               {Key::page_up, RowMotion::page_up},
                               {Key::page_down, RowMotion::page_down}};

/// Draws a row of which a part is in sight: a single line may be as long as the text.
void draw_row(const TextState& state, const EditorLook& look, const Frame& frame, const EditRow& row,
              const std::vector<CaretStop>& stops, float top, viz::Scene& scene) {
  const auto x_of = [&](std::size_t byte) {
    const float x = stop_of(stops, std::clamp(byte, row.start, row.end)).x - frame.shift;
    return frame.area.x + (look.single_line ? x : std::min(x, frame.area.w));  // for a space that overhangs
  };
  if (const ByteRange range = state.selection();
      !range.empty() && range.end >= row.start && range.begin <= row.end) {
    const float left = x_of(range.begin), past = row.hard && range.end > row.end ? frame.length.newline : 0;
    const viz::Color color = look.theme->accent.with_alpha(look.focused ? 72 : 40);
    scene.add(viz::FillRect{{left, top, x_of(range.end) + past - left, frame.row_height}, color, 0});
  }
  const std::size_t begin = stop_under(stops, frame.shift).byte;
  const std::size_t last = stop_under(stops, frame.shift + frame.area.w).byte;
  const std::size_t end = std::min(next_grapheme(state.text, last), row.end);
  const std::string_view text = state.text;
  const std::size_t grey =
      begin + grapheme_floor(text.substr(begin, end - begin), std::max(look.grey_from, begin) - begin);
  const float ascent = look.fonts->ascent(kStyle, look.font_size);
  const float descent = look.fonts->descent(kStyle, look.font_size);
  const float baseline = std::round(top + (frame.row_height + ascent - descent) / 2);
  const auto run = [&](std::size_t from, std::size_t to, viz::Color color) {
    const float x = frame.area.x - frame.shift + stop_of(stops, from).x;
    if (from < to)
      scene.add(viz::make_text(*look.fonts, text.substr(from, to - from), {x, baseline}, look.font_size,
                               color, kStyle));
  };
  run(begin, grey, look.theme->text);
  run(grey, end, look.theme->text_muted.with_alpha(150));
}

}  // namespace

KeyMeaning key_meaning(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                       const KeyDown& key) {
  const auto& [ctrl, shift, alt] = key.modifiers;
  if (alt) return {};
  const bool left = key.key == Key::left || key.key == Key::backspace;
  const Motion motion =
      left ? (ctrl ? Motion::word_left : Motion::left) : (ctrl ? Motion::word_right : Motion::right);
  if (key.key == Key::left || key.key == Key::right) return TextCommand(Move{motion, shift});
  if (key.key == Key::backspace || key.key == Key::del) return TextCommand(Erase{motion});
  if (ctrl) return control_key(state, key);
  if (key.key == Key::enter && !look.single_line) return TextCommand(Insert{"\n", true});
  frame_of(state, metrics, look);  // updates the rows to those on the screen
  for (const RowKey& row : kRowKeys)
    if (row.key == key.key && (row.single_line || !look.single_line))
      return TextCommand(row_motion(state, metrics, row.motion, shift));
  return {};
}

TextDrag begin_text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                         const MouseDown& press) {
  if (press.modifiers.shift && press.clicks == 1) return {Unit::character, state.anchor};
  constexpr Unit kUnits[] = {Unit::character, Unit::word, Unit::paragraph};
  const Unit unit = kUnits[std::max(press.clicks - 1, 0) % 3];
  return {unit, hit(state, metrics, look, press.at, unit).byte};
}

Select text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look, const TextDrag& drag,
                 viz::Point mouse) {
  const Hit at = hit(state, metrics, look, mouse, drag.unit);
  return {drag.unit, drag.from, at.byte, at.upstream};
}

EditorExtent editor_extent(const TextState& state, EditMetrics& metrics, const EditorLook& look) {
  const Frame frame = frame_of(state, metrics, look);
  return {metrics.rows(state.text).size(), frame.row_height, frame.scroll, frame.area.h,
          frame.area.h + frame.range};
}

float scroll_to_caret(const TextState& state, EditMetrics& metrics, const EditorLook& look) {
  const Frame frame = frame_of(state, metrics, look);
  const float top = static_cast<float>(caret_place(state, metrics).row) * frame.row_height;
  const float lowest = top + frame.row_height - frame.area.h;
  const float scroll = lowest > top ? top : std::clamp(frame.scroll, lowest, top);
  return std::clamp(scroll, 0.0f, frame.range);
}

viz::Rect caret_rect(const TextState& state, EditMetrics& metrics, const EditorLook& look) {
  const Frame frame = frame_of(state, metrics, look);
  const CaretPlace place = caret_place(state, metrics);
  const float x = look.single_line ? place.x - frame.shift : std::min(place.x, frame.area.w);
  const float height = std::min(frame.row_height, look.font_size * 1.3f);
  const float top = frame.area.y + static_cast<float>(place.row) * frame.row_height - frame.scroll;
  return {std::round(frame.area.x + x) - frame.length.caret / 2, top + (frame.row_height - height) / 2,
          frame.length.caret, height};
}

float editor_height(const viz::Fonts& fonts, float font_size, float rows) {
  return rows * row_height(fonts, font_size) + 2 * lengths(font_size).pad_y;
}

Blink caret_blink(double seconds_since) {
  constexpr double kHalf = 0.5, kTires = 10;
  if (seconds_since >= kTires) return {true, std::numeric_limits<double>::infinity()};
  const double halves = std::floor(std::max(seconds_since, 0.0) / kHalf);
  return {std::fmod(halves, 2) == 0, (halves + 1) * kHalf - std::max(seconds_since, 0.0)};
}

viz::Scene editor_scene(const TextState& state, EditMetrics& metrics, const EditorLook& look) {
  const Frame frame = frame_of(state, metrics, look);
  const viz::Theme& theme = *look.theme;
  const Lengths& l = frame.length;
  viz::Scene scene;
  scene.width = look.rect.right();
  scene.height = look.rect.bottom();
  scene.background = theme.surface.with_alpha(0);
  if (look.framed) {
    scene.add(viz::FillRect{look.rect, theme.surface, l.radius});
    const float ring = look.focused ? l.ring : 1;
    const viz::Color frame_color = look.focused ? theme.accent : theme.field_line;
    scene.add(viz::StrokeRect{look.rect.inset(ring / 2), frame_color, ring, l.radius - ring / 2});
  }

  // Keeps carets at the edges fully visible.
  scene.add(viz::PushClip{{frame.area.x - l.caret, frame.area.y, frame.area.w + 2 * l.caret, frame.area.h}});
  const std::vector<EditRow>& rows = metrics.rows(state.text);
  const auto first = static_cast<std::size_t>(frame.scroll / frame.row_height);
  for (std::size_t i = first; i < rows.size(); ++i) {
    const float top = frame.area.y + static_cast<float>(i) * frame.row_height - frame.scroll;
    if (top >= frame.area.bottom()) break;
    draw_row(state, look, frame, rows[i], metrics.stops(state.text, rows[i]), top, scene);
  }
  if (state.text.empty()) {
    const viz::Point middle{frame.area.x, frame.area.y + frame.row_height / 2};
    scene.add(viz::make_text_middle(*look.fonts, look.placeholder, middle, look.font_size, theme.text_muted,
                                    kStyle));
  }
  if (look.focused && look.caret_visible) {
    scene.add(viz::FillRect{caret_rect(state, metrics, look), theme.accent, 0});
  }
  scene.add(viz::PopClip{});
  return scene;
}

}  // namespace headscope::app
