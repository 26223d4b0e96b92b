// The help: keys and mouse, and the guide with its glossary.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "app/ascii.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "viz/scene/picture.h"

namespace headscope::app {

using viz::FontStyle;
using viz::Rect;

namespace {

using BlockKind = GuideBlock::Kind;
using Look = GuideSpan::Look;

constexpr const char* kMouse =
    "Click a small map to select its head, a cell of the heatmap or a token to select the query, a bar to "
    "append its token. The wheel zooms the heatmap at the mouse, dragging pans it, and a double click shows "
    "all of it again; Ctrl+wheel resizes the small maps. Right-click a picture for its commands. "
    "Double-click a splitter "
    "between panes, or a slider, to reset it. Drop a folder on the window to open its model, a session or a "
    "figure to restore it, a list of prompts (.txt, .jsonl) for views of many prompts. Rest the mouse on a "
    "label to see what the word means. What you type goes into the prompt, whatever you clicked.";

/// The keys as a page of the guide, without a name.
const GuidePage& keys_page() {
  static const GuidePage kPage = [] {
    std::string text = "# Keys and mouse\n\n" + std::string(kMouse) + "\n\n| | |\n|---|---|\n";
    for (const KeyHelp& line : list_of_keys())
      text += "| **" + line.keys + "** | " + capitalized(line.what) + " |\n";
    return parse_guide_page(text, "");
  }();
  return kPage;
}

/// Words of one look in their place on a line.
struct Piece {
  float x = 0, w = 0;
  const GuideSpan* span = nullptr;
  std::string words;
};
using PieceLine = std::vector<Piece>;

/// A line of the content, from its top.
struct ContentLine {
  float y = 0, h = 0;
  float x = 0;
  float factor = 1;
  bool bold = false;
  bool framed = false;  ///< code on a background
  PieceLine pieces = {};
  std::string anchor = {};  ///< of a heading
  const GuidePage* page = nullptr;
};

FontStyle face_of(const GuideSpan& span, bool bold) {
  if (span.look == Look::code) return FontStyle::mono;
  return bold ? FontStyle::bold : span.look == Look::strong ? FontStyle::medium : FontStyle::regular;
}

/// Lays out blocks below each other in a width.
class HelpColumn {
 public:
  HelpColumn(const Ui& ui, float width) : ui_(ui), width_(width) {}

  void add(const GuidePage& page, GuideSection section, std::string_view search) {
    for (const GuideBlock& block : section) add(page, block, search);
  }
  std::vector<ContentLine> lines() && { return std::move(lines_); }
  float height() const { return y_; }

 private:
  const Ui& ui_;
  float width_, y_ = 0;
  std::vector<ContentLine> lines_;

  /// Breaks a text at spaces; a wider word gets a line of its own.
  std::vector<PieceLine> flow(const GuideText& text, float width, float factor, bool bold) const {
    std::vector<PieceLine> lines(1);
    float x = 0;
    bool space = false;
    const float between = ui_.width(" ", FontStyle::regular, factor);
    for (const GuideSpan& span : text) {
      const FontStyle face = face_of(span, bold);
      const float inside = ui_.width(" ", face, factor);
      std::string_view rest = span.text;
      while (!rest.empty()) {
        if (rest.front() == ' ') {
          space = true;
          rest.remove_prefix(1);
          continue;
        }
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(word.size());
        const float wide = ui_.width(word, face, factor);
        const bool goes_on = !lines.back().empty() && lines.back().back().span == &span;
        const float blank = goes_on ? inside : between;
        if (x > 0 && x + (space ? blank : 0) + wide > width) {
          lines.emplace_back();
          x = 0;
        }
        const float gap = x > 0 && space ? blank : 0;
        PieceLine& line = lines.back();
        if (line.empty() || line.back().span != &span) line.push_back({x + gap, 0, &span, ""});
        Piece& piece = line.back();
        if (!piece.words.empty() && space) piece.words += ' ';
        piece.words += word;
        x += gap + wide;
        piece.w = x - piece.x;
        space = false;
      }
    }
    return lines;
  }

  void add_lines(const GuideText& text, float indent, float factor, bool bold = false) {
    const float high = ui_.u(21) * factor;
    for (PieceLine& line : flow(text, width_ - indent, factor, bold)) {
      ContentLine& laid =
          lines_.emplace_back(ContentLine{.y = y_, .h = high, .x = indent, .factor = factor, .bold = bold});
      laid.pieces = std::move(line);
      y_ += high;
    }
  }

  void add(const GuidePage& page, const GuideBlock& block, std::string_view search) {
    const float gap = ui_.u(8);
    switch (block.kind) {
      case BlockKind::heading: {
        if (y_ > 0) y_ += gap * (block.level < 3 ? 1.5F : 1);
        const std::size_t first = lines_.size();
        add_lines(block.text, 0, block.level == 1 ? 1.25F : block.level == 2 ? 1.1F : 1, true);
        lines_[first].anchor = anchor_of(block.text);
        lines_[first].page = &page;
        y_ += gap / 2;
        return;
      }
      case BlockKind::paragraph:
        add_lines(block.text, 0, Ui::kSmall);
        break;
      case BlockKind::item: {
        const std::size_t first = lines_.size();
        add_lines(block.text, ui_.u(16), Ui::kSmall);
        static const GuideSpan kBullet{Look::plain, "•"};
        lines_[first].pieces.push_back({-ui_.u(12), ui_.u(8), &kBullet, "•"});
        y_ -= gap / 2;
        break;
      }
      case BlockKind::code:
        for (const std::string& line : block.code) add_code(line);
        break;
      case BlockKind::table:
        add_table(block, search);
        break;
    }
    y_ += gap;
  }

  void add_code(std::string_view code) {
    static const GuideSpan kCode{Look::code, ""};
    constexpr float kFactor = 0.86F;
    const float high = ui_.u(18), room = width_ - ui_.u(16);
    const viz::Style style{ui_.theme(), ui_.fonts(), ui_.state.font_size, 1};
    const std::size_t spaces = std::min(code.find_first_not_of(' '), code.size());
    const float indent = ui_.width("0", FontStyle::mono, kFactor) * static_cast<float>(spaces);
    for (const std::string& line : viz::wrap(style, code.substr(spaces), ui_.state.font_size * kFactor,
                                             FontStyle::mono, room - indent)) {
      ContentLine& laid = lines_.emplace_back(
          ContentLine{.y = y_, .h = high, .x = ui_.u(8) + indent, .factor = kFactor, .framed = true});
      laid.pieces.push_back({0, room, &kCode, line});
      y_ += high;
    }
  }

  /// Columns as wide as their widest cell, within limits; the last one has the rest.
  void add_table(const GuideBlock& table, std::string_view search) {
    std::size_t columns = 1;
    for (const auto& row : table.rows) columns = std::max(columns, row.size());
    const float space = ui_.u(14), high = ui_.u(21) * Ui::kSmall;
    const float max_width = width_ * 0.68F / static_cast<float>(columns);
    std::vector<float> widths(columns);
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        float cell = 0;
        for (const GuideSpan& span : row[i]) cell += ui_.width(span.text, face_of(span, false), Ui::kSmall);
        widths[i] = std::max(widths[i], std::min(max_width, std::ceil(cell) + 1));
      }
    }
    widths.back() = width_;
    for (std::size_t i = 0; i + 1 < columns; ++i) widths.back() -= widths[i] + space;
    const auto found = [&](const std::vector<GuideText>& row) {
      std::string all;
      for (const GuideText& cell : row) all += plain_text(cell) + " ";
      return text_has(all, search);
    };
    const bool some_found = std::any_of(table.rows.begin() + 1, table.rows.end(), found);
    if (!search.empty() && !some_found) return;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& row = table.rows[r];
      if (r > 0 && some_found && !found(row)) continue;
      std::vector<std::vector<PieceLine>> cells;
      std::size_t lines = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        cells.push_back(flow(row[i], widths[i], Ui::kSmall, r == 0));
        const bool blank = cells.back().size() == 1 && cells.back().front().empty();
        if (!blank) lines = std::max(lines, cells.back().size());
      }
      for (std::size_t l = 0; l < lines; ++l) {
        ContentLine& laid =
            lines_.emplace_back(ContentLine{.y = y_, .h = high, .factor = Ui::kSmall, .bold = r == 0});
        float x = 0;
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (l < cells[i].size())
            for (Piece& piece : cells[i][l]) {
              piece.x += x;
              laid.pieces.push_back(std::move(piece));
            }
          x += widths[i] + space;
        }
        y_ += high;
      }
      y_ += ui_.u(2);
    }
  }
};

/// What a link on a page does; nothing: it leads out of the guide.
std::vector<Action> actions_of(const Guide& guide, const std::string& page, std::string_view target) {
  if (page == "glossary" && target.starts_with("views.md#")) {  // an entry names the view to see it in
    const View* view = find_view(target.substr(target.rfind('-') + 1));  // "...#forward-pass-pass"
    if (view != nullptr && view->place == Place::tab)
      return {ShowDialog{Dialog::none}, ShowView{std::string(view->id)}};
  }
  const std::size_t sharp = std::min(target.find('#'), target.size());
  std::string_view file = target.substr(0, sharp);
  const std::string anchor(target.substr(std::min(sharp + 1, target.size())));
  if (file.empty()) return {ShowGuide{page, anchor}};
  if (!file.ends_with(".md")) return {};
  file.remove_suffix(3);
  if (guide.find(file) == nullptr) return {};
  return {ShowGuide{std::string(file), anchor}};
}

void draw_piece(Ui& ui, const ContentLine& laid, const Piece& piece, const Rect& rect,
                const std::string& page, int id) {
  std::vector<Action> actions;
  if (piece.span->look == Look::link) actions = actions_of(*ui.state.guide, page, piece.span->target);
  if (!actions.empty()) {
    if (ui.link(rect, piece.words, laid.factor, id))
      std::ranges::move(actions, std::back_inserter(ui.actions));
    return;
  }
  const bool muted = !laid.bold && piece.span->look == Look::plain;
  ui.text(piece.words, {rect.x, rect.y, rect.w + ui.u(2), rect.h},
          muted ? ui.theme().text_muted : ui.theme().text, face_of(*piece.span, laid.bold), laid.factor);
}

bool is_searching(const HelpForm& form) {
  return form.search.edit.text.find_first_not_of(' ') != std::string::npos;
}

/// The chosen page, or the sections in which the search was found.
HelpColumn content(const Ui& ui, float width) {
  const HelpForm& form = ui.state.help_form;
  const GuidePage& keys = keys_page();
  const std::string& search = form.search.edit.text;
  HelpColumn column(ui, width);
  if (!is_searching(form)) {
    const GuidePage* chosen = ui.state.guide->find(form.page);
    const GuidePage& page = form.page.empty() || chosen == nullptr ? keys : *chosen;
    for (const GuideSection& section : sections_of(page)) column.add(page, section, "");
    return column;
  }
  struct Found {
    const GuidePage* page;
    GuideSection section;
    int rank;
  };
  std::vector<Found> all;
  const auto add_found = [&](const GuidePage& page) {
    for (const GuideSection& section : sections_of(page))
      if (const auto rank = section_rank(section, search)) all.push_back({&page, section, *rank});
  };
  // Definitions first among equals: they are what a single word is looked up for.
  if (const GuidePage* glossary = ui.state.guide->find("glossary")) add_found(*glossary);
  add_found(keys);
  for (const GuidePage& page : ui.state.guide->pages)
    if (page.name != "glossary") add_found(page);
  std::ranges::stable_sort(all, {}, &Found::rank);
  // Words that are far apart are rarely meant; their sections are shown whole, if there are no others.
  constexpr int kApart = 4;
  const bool apart = !all.empty() && all.front().rank == kApart;
  for (const Found& found : all)
    if (apart || found.rank < kApart) column.add(*found.page, found.section, apart ? "" : search);
  return column;
}

}  // namespace

/// What the help shows, and what it was laid out for: a page, a search, a width, a font size and the guide,
/// which holds the spans of the lines.
struct HelpLayout {
  std::tuple<std::string, std::string, float, float, std::shared_ptr<const Guide>> key;
  std::vector<ContentLine> lines;
  float height = 0;
};

namespace {

/// Lays the content out only if it is not the same as in the last frame.
const HelpLayout& laid_out(Ui& ui, float width) {
  const HelpForm& form = ui.state.help_form;
  const auto key = std::tuple(form.page, form.search.edit.text, width, ui.state.font_size, ui.state.guide);
  if (!ui.widgets.help || ui.widgets.help->key != key) {
    HelpColumn column = content(ui, width);
    const float height = column.height();
    ui.widgets.help = std::make_shared<const HelpLayout>(HelpLayout{key, std::move(column).lines(), height});
  }
  return *ui.widgets.help;
}

void draw_pages(Ui& ui, const Rect& rect) {
  ui.begin_list("pages", rect);
  const HelpForm& form = ui.state.help_form;
  const bool searching = !form.search.edit.text.empty();
  const auto add = [&](const GuidePage& page) {
    ui.row({.label = page.title, .marked = !searching && page.name == form.page}, ShowGuide{page.name, ""});
  };
  add(keys_page());
  for (const GuidePage& page : ui.state.guide->pages) add(page);
  ui.end_list();
}

void draw_content(Ui& ui, const Rect& rect) {
  const float bar = ui.u(16);
  const HelpLayout& layout = laid_out(ui, rect.w - bar);
  ui.begin_list("content", rect);
  const Rect list = ui.next(layout.height + ui.u(8));
  ui.scroll_by_keys();
  const HelpForm& form = ui.state.help_form;
  if (layout.lines.empty())
    ui.small("Nothing found.", {list.x, list.y, list.w, ui.u(24)}, ui.theme().text_muted);
  constexpr int kMaxPieces = 1000;  // of a line
  const bool searching = is_searching(form);
  const std::string shown = std::to_string(form.request) + form.page;
  std::string page = form.page;
  for (const ContentLine& laid : layout.lines) {
    if (laid.page != nullptr) page = laid.page->name;
    const Rect line{list.x, list.y + laid.y, list.w, laid.h};
    if (!searching && !laid.anchor.empty() && laid.anchor == form.anchor)
      ui.scroll_once(shown + "#" + form.anchor, laid.y);
    if (line.bottom() < rect.y || line.y > rect.bottom()) continue;
    if (laid.framed) ui.fill({list.x, line.y, rect.w - bar, line.h}, ui.theme().raised);
    if (searching && laid.page != nullptr)
      ui.small(laid.page->title, {list.x, line.y, rect.w - bar, line.h}, ui.theme().text_muted,
               viz::Align::right);
    // Links of the same words are told apart by their place in the content.
    int id = static_cast<int>(&laid - layout.lines.data()) * kMaxPieces;
    for (const Piece& piece : laid.pieces)
      draw_piece(ui, laid, piece, {list.x + laid.x + piece.x, line.y, piece.w, line.h}, page, id++);
  }
  if (searching || form.anchor.empty()) ui.scroll_once(shown + "?" + form.search.edit.text, 0);
  ui.end_list();
}

}  // namespace

void draw_help(Ui& ui) {
  const float tall = 0.86F * ui.input.frame.height / ui.u(1);
  const auto body = ui.begin_dialog(Dialog::help, "Help", 940, std::max(720.F, tall));
  if (!body) return;
  const bool guide = !ui.state.guide->pages.empty();
  const float nav = guide ? std::min(ui.u(190), body->w * 0.28F) : 0, gap = guide ? ui.u(16) : 0;
  const float field = ui.u(32), top = body->y + field + ui.u(12);
  ui.field(Field::help, {body->x, body->y, body->w, field}, "Search the keys, the guide and its glossary");
  if (guide) draw_pages(ui, {body->x, top, nav, body->bottom() - top});
  draw_content(ui, {body->x + nav + gap, top, body->w - nav - gap, body->bottom() - top});
  ui.end_dialog();
}

}  // namespace headscope::app
