// Text of any bytes: typed, laid out, shown, and written to figures.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/recipe/recipe.h"
#include "app/text/json_text.h"
#include "app/text/prompt_editor.h"
#include "app/text/terminal_text.h"
#include "app/text/text_boundaries.h"
#include "app/text/text_edit.h"
#include "model/files/quote.h"
#include "tests/fuzz/targets.h"
#include "tests/viz/xml_check.h"
#include "viz/players/players.h"
#include "viz/text/utf8.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

/// Reads choices from a script of bytes; zeros after its end.
class Script {
 public:
  explicit Script(std::string_view rest) : rest_(rest) {}
  bool any() const { return !rest_.empty(); }
  std::size_t below(std::size_t count) {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte % count;
  }
  std::string bytes(std::size_t most) {
    std::string out(rest_.substr(0, below(most + 1)));
    rest_.remove_prefix(std::min(out.size(), rest_.size()));
    return out;
  }

 private:
  std::string_view rest_;
};

/// A layout with eight pixels per character, or sixteen for some.
viz::TextLayout typewriter(std::string_view line) {
  viz::TextLayout layout;
  for (std::size_t at = 0; at < line.size();) {
    const viz::Decoded c = viz::decode_utf8(line, at);
    const float advance = c.code >= 0x2E80 ? 16 : viz::is_invisible(c.code) ? 0 : 8;
    layout.clusters.push_back({at, at + c.length, layout.width, advance});
    layout.width += advance;
    at += c.length;
  }
  return layout;
}

TextCommand some_command(Script& script, const TextState& state) {
  const auto motion = [&] { return static_cast<Motion>(script.below(6)); };
  const auto place = [&] { return script.below(256) * (state.text.size() + 1) / 200; };
  switch (script.below(10)) {
    case 0:
      return Insert{script.bytes(24), false};
    case 1:
      return Insert{script.bytes(4), true};
    case 2:
      return Erase{motion()};
    case 3:
      return Move{motion(), script.below(2) == 1};
    case 4:
      return MoveTo{place(), script.below(2) == 1, script.below(2) == 1, std::nullopt};
    case 5: {
      const auto unit = static_cast<Unit>(script.below(3));
      const std::size_t from = place();
      return Select{unit, from, place(), script.below(2) == 1};
    }
    case 6:
      return SelectAll{};
    case 7:
      return Append{script.bytes(12), script.below(2) == 1};
    case 8:
      return Replace{script.bytes(40)};
    default:
      return script.below(2) == 0 ? TextCommand(Undo{}) : TextCommand(Redo{});
  }
}

void promise_layout(std::string_view text, EditMetrics& metrics) {
  std::size_t at = 0;
  for (const EditRow& row : metrics.rows(text)) {
    promise(row.start == at && row.end >= row.start && row.end <= text.size(), "rows cover the text");
    promise(row.end > row.start || row.hard, "a row that wraps has something in it");
    const std::size_t next = row.end + (row.hard ? text.substr(row.end).starts_with("\r\n") ? 2 : 1 : 0);
    promise(!row.hard || row.end == text.size() || text[next - 1] == '\n', "a row ends where a line does");
    at = next;
    const std::vector<CaretStop> stops = metrics.stops(text, row);
    promise(stops.front().byte == row.start && stops.back().byte == row.end,
            "a caret can stand at both ends of a row");
    for (std::size_t i = 1; i < stops.size(); ++i)
      promise(stops[i].byte >= stops[i - 1].byte && stops[i].x >= stops[i - 1].x,
              "places for the caret rise");
  }
  promise(at == text.size() + 1, "rows cover the whole text");
}

void promise_boundaries(std::string_view text, std::size_t at) {
  const std::size_t floor = grapheme_floor(text, at);
  promise(floor <= at && previous_grapheme(text, at) <= at, "what is before is before");
  const std::size_t next = next_grapheme(text, floor);
  promise(next > floor || floor == text.size(), "what comes next is behind");
  promise(next >= std::min(at, text.size()), "a boundary is the last one before");
  if (floor < text.size()) promise(previous_grapheme(text, next) == floor, "back is where one came from");
  const ByteRange word = word_at(text, at), paragraph = paragraph_at(text, at);
  promise(word.begin <= word.end && word.end <= text.size(), "a word lies in the text");
  promise(paragraph.begin <= at && paragraph.end >= std::min(at, text.size()) && paragraph.end <= text.size(),
          "a paragraph lies about its place");
  promise(next_word(text, at) <= text.size() && previous_word(text, at) <= at, "words lie on either side");
}

}  // namespace

Outcome check_editor(std::string_view input) {
  Script script(input);
  const float width = static_cast<float>(script.below(12)) * 20;  // 0: never wraps
  EditMetrics metrics(typewriter, width, 3);
  TextState state = make_text_state(script.bytes(200));
  const std::string first = state.text;
  for (int steps = 0; script.any() && steps < 64; ++steps) {
    const bool by_rows = script.below(8) == 0;
    const TextCommand command =
        by_rows ? TextCommand(row_motion(state, metrics, static_cast<RowMotion>(script.below(6)),
                                         script.below(2) == 1))
                : some_command(script, state);
    state = apply(std::move(state), command);
    promise(state.cursor <= state.text.size() && state.anchor <= state.text.size(),
            "the caret is in the text");
    promise(state.selected().size() == state.selection().size(), "what is selected is in the text");
    promise_layout(state.text, metrics);
    promise_boundaries(state.text, script.below(256) * (state.text.size() + 1) / 255);
    promise_boundaries(state.text, state.cursor);
    const std::size_t row = row_of(metrics.rows(state.text), state.cursor, state.upstream);
    promise(row < metrics.rows(state.text).size(), "the caret is in a row");
  }
  const std::string last = state.text;
  const std::size_t undone = state.history.undone.size();
  while (!state.history.done.empty()) state = apply(std::move(state), Undo{});
  promise(state.text == first, "undoing all gives the first text");
  while (state.history.undone.size() > undone) state = apply(std::move(state), Redo{});
  promise(state.text == last, "redoing it gives the last one");
  return Outcome::read;
}

Outcome check_layout(std::string_view input) {
  static const std::shared_ptr<const viz::Fonts> fonts = viz::Fonts::load();
  Script script(input.substr(0, 2));
  const auto style = static_cast<viz::FontStyle>(script.below(4));
  const float size = 6 + static_cast<float>(script.below(40));
  const std::string text(input.substr(std::min<std::size_t>(input.size(), 2)));
  const viz::TextLayout layout = fonts->layout(text, style, size);
  std::size_t at = 0;
  float x = 0;
  for (const viz::Cluster& cluster : layout.clusters) {
    promise(cluster.start == at && cluster.end > at, "characters cover the text");
    promise(std::isfinite(cluster.advance) && std::abs(cluster.x - x) <= 0.01F * (1 + x), "advances add up");
    at = cluster.end;
    x += cluster.advance;
  }
  promise(at == text.size(), "characters cover the whole text");
  promise(std::abs(layout.width - x) <= 0.01F * (1 + x), "advances add up to the width");
  const float room = layout.width * 0.6F;
  const std::string fitted = fonts->fit(text, style, size, room);
  promise(fonts->width(fitted, style, size) <= room + 0.01F, "what is made to fit fits");
  promise(fonts->fit(text, style, size, layout.width + 1) == text, "what fits stays whole");

  viz::Scene scene{.width = 300, .height = 40, .background = {255, 255, 255, 255}, .items = {}};
  scene.add(viz::make_text(*fonts, text, {10, 20}, size, {0, 0, 0, 255}, style));
  const std::string svg = viz::to_svg(scene, *fonts, {.text = script.below(2) == 1, .notes = {}});
  const std::string wrong = viz::testing::XmlCheck(svg).error();
  promise(wrong.empty(), "SVG is XML: " + wrong);
  promise(std::ranges::all_of(svg, [](unsigned char c) { return c >= 0x20 || c == '\n'; }),
          "SVG has no control character");
  promise(is_utf8(svg), "SVG is UTF-8");

  // The editor's picture.
  EditMetrics metrics;
  metrics.use(fonts, 14, 200, 4, script.below(2) == 1);
  const TextState state = make_text_state(text);
  static const viz::Theme theme = viz::light_theme();
  EditorLook look{.rect = {0, 0, 220, 90}, .theme = &theme, .fonts = fonts};
  look.focused = true;
  look.scroll = scroll_to_caret(state, metrics, look);
  const viz::Rect caret = caret_rect(state, metrics, look);
  promise(std::isfinite(caret.x) && std::isfinite(caret.y) && std::isfinite(look.scroll),
          "a caret has a place");
  promise(editor_scene(state, metrics, look).items.size() < 2000, "no more is drawn than is in sight");
  return Outcome::read;
}

Outcome check_shown_text(std::string_view bytes) {
  const auto no_control = [](const std::string& text, std::string_view but) {
    for (std::size_t at = 0; at < text.size();) {
      const viz::Decoded c = viz::decode_utf8(text, at);
      if (!c.valid || (viz::is_control(c.code) && but.find(static_cast<char>(c.code)) == but.npos))
        return false;
      at += c.length;
    }
    return true;
  };
  promise(no_control(viz::visible(bytes), ""), "a label has no control character");
  promise(no_control(viz::drawable(bytes), "\t"), "what is drawn has no control character but tabs");
  promise(no_control(model::quote(bytes), "") && model::quote(bytes).size() <= 64 * 4 + 5,
          "a quoted name is short and printable");
  promise(no_control(terminal_safe(bytes), ""), "what goes to a terminal is no command to it");
  promise(is_utf8(utf8_or_replacement(bytes)), "what is no UTF-8 is replaced");
  promise(!is_utf8(bytes) || utf8_or_replacement(bytes) == bytes, "what is UTF-8 stays");
  promise(bytes_from_json(bytes_to_json(bytes)) == std::string(bytes), "bytes come back out of JSON");
  const std::string json = json_line(token_json(1, bytes));
  promise(no_control(json, ""), "JSON has no control character");
  promise(nlohmann::ordered_json::parse(json) == token_json(1, bytes), "JSON means what it was made of");
  return Outcome::read;
}

Outcome check_recipe_note(std::string_view input) {
  static const std::shared_ptr<const viz::Fonts> fonts = viz::Fonts::load();
  Recipe recipe;
  recipe.figure = Figure{};
  recipe.session.prompt.text = input.substr(0, input.size() / 2);
  recipe.session.model.name = input.substr(input.size() / 2).substr(0, 200);
  recipe.session.edits = {{std::string(input), true}};
  const std::vector<viz::Note> notes{recipe_note(recipe)};
  const viz::Scene scene{.width = 4, .height = 4, .background = {255, 255, 255, 255}, .items = {}};
  std::string file;
  switch (input.size() % 3) {
    case 0: {
      static const viz::Bitmap bitmap = viz::rasterize(scene, *fonts, 1);
      const auto png = viz::encode_png(bitmap, 1, notes);
      file.assign(png.begin(), png.end());
      break;
    }
    case 1:
      file = viz::to_svg(scene, *fonts, {.text = false, .notes = notes});
      break;
    default:
      file = viz::to_pdf(scene, *fonts, notes);
  }
  const Recipe read = recipe_of(file, "figure");
  promise(read.session == recipe.session && read.figure == recipe.figure,
          "a figure tells what it was made of");
  return Outcome::read;
}

}  // namespace headscope::fuzz
