// The help: keys and mouse, and the guide with its glossary.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "app/ascii.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "viz/scene/picture.h"

namespace headscope::app {

using viz::FontStyle;
using viz::Rect;

/// What the help shows, and what it was laid out for: a page, a search, a width, a font size and the guide.
struct HelpLayout {
  /// Words of one look on a line.
  struct Piece {
    Rect place;  ///< in the content
    std::string words;
    float factor = 1;
    FontStyle face = FontStyle::regular;
    bool muted = true;
    bool on_ground = false;            ///< a line of code
    std::vector<Action> actions = {};  ///< of a link
  };

  std::tuple<std::string, std::string, float, float, std::shared_ptr<const Guide>> key;
  std::vector<Piece> pieces = {};
  std::map<std::string, float> headings = {};  ///< their tops by their anchors
  float height = 0;
};

namespace {

using BlockKind = GuideBlock::Kind;
using Look = GuideSpan::Look;

constexpr const char* kMouse =
    "Click a small map to select its head, a cell of the heatmap or a token to select the query, a bar to "
    "append its token. The wheel zooms the heatmap at the mouse, dragging pans it, and a double click "
    "shows all of it again; Ctrl+wheel resizes the small maps. Right-click a picture for its commands. "
    "Double-click a splitter between panes, or a slider, to reset it. Drop a folder on the window to open "
    "its model, a session or a figure to restore it, a list of prompts (.txt, .jsonl) for views of many "
    "prompts. Rest the mouse on a label to see what the word means. What you type goes into the prompt, "
    "whatever you clicked.";

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

bool is_searching(const HelpForm& form) {
  return form.search.edit.text.find_first_not_of(' ') != std::string::npos;
}

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

FontStyle face_of(const GuideSpan& span, bool bold) {
  if (span.look == Look::code) return FontStyle::mono;
  return bold ? FontStyle::bold : span.look == Look::strong ? FontStyle::medium : FontStyle::regular;
}

/// Lays out blocks of a page below each other in a width. Of tables only the rows are shown that have
/// `search`, unless that is empty.
struct HelpColumn {
  const Ui& ui;
  HelpLayout& laid;
  float width;
  const GuidePage& page;
  std::string_view search;

  void add(const GuideBlock& block) {
    const float gap = ui.u(8);
    float& y = laid.height;
    switch (block.kind) {
      case BlockKind::heading: {
        if (y > 0) y += gap * (block.level < 3 ? 1.5F : 1);
        laid.headings.emplace(anchor_of(block.text), y);
        const float factor = block.level == 1 ? 1.25F : block.level == 2 ? 1.1F : 1;
        if (is_searching(ui.state.help_form)) add_page_name(ui.u(21) * factor);
        add_lines(block.text, 0, factor, true);
        y += gap / 2;
        return;
      }
      case BlockKind::paragraph:
        add_lines(block.text, 0, Ui::kSmall);
        break;
      case BlockKind::item:
        laid.pieces.push_back({{ui.u(4), y, ui.u(8), ui.u(21) * Ui::kSmall}, "•", Ui::kSmall});
        add_lines(block.text, ui.u(16), Ui::kSmall);
        y -= gap / 2;
        break;
      case BlockKind::code:
        for (const std::string& line : block.code) add_code(line);
        break;
      case BlockKind::table:
        add_table(block);
        break;
    }
    y += gap;
  }

 private:
  /// Breaks a text at spaces into lines, of which the first one is given; a wider word gets a line of its
  /// own. Returns their bottom.
  float add_text(const GuideText& text, Rect line, float factor, bool bold = false) {
    float x = line.x;
    bool space = false;
    for (const GuideSpan& span : text) {
      const FontStyle face = face_of(span, bold);
      HelpLayout::Piece* piece = nullptr;  // of this span on this line
      const std::vector<std::string_view> words = split(span.text, " ");
      for (std::size_t i = 0; i < words.size(); ++i) {
        space = space || i > 0;
        if (words[i].empty()) continue;
        const float wide = ui.width(words[i], face, factor);
        float gap = x > line.x && space ? ui.width(" ", piece ? face : FontStyle::regular, factor) : 0;
        if (x > line.x && x + gap + wide > line.right()) {
          x = line.x;
          line.y += line.h;
          gap = 0;
          piece = nullptr;
        }
        if (piece == nullptr) {
          piece = &laid.pieces.emplace_back(HelpLayout::Piece{
              {x + gap, line.y, 0, line.h}, "", factor, face, !bold && span.look == Look::plain});
          if (span.look == Look::link) piece->actions = actions_of(*ui.state.guide, page.name, span.target);
        } else if (space) {
          piece->words += ' ';
        }
        piece->words += words[i];
        x += gap + wide;
        piece->place.w = x - piece->place.x;
        space = false;
      }
    }
    return x > line.x ? line.bottom() : line.y;
  }

  void add_lines(const GuideText& text, float indent, float factor, bool bold = false) {
    laid.height = add_text(text, {indent, laid.height, width - indent, ui.u(21) * factor}, factor, bold);
  }

  /// At the right end of a line.
  void add_page_name(float height) {
    const float wide = ui.width(page.title, FontStyle::regular, Ui::kSmall);
    laid.pieces.push_back({{width - wide, laid.height, wide, height}, page.title, Ui::kSmall});
  }

  void add_code(std::string_view code) {
    constexpr float kFactor = 0.86F;
    constexpr FontStyle kFace = FontStyle::mono;
    const float high = ui.u(18), room = width - ui.u(16);
    const std::size_t spaces = std::min(code.find_first_not_of(' '), code.size());
    const float indent = ui.width("0", kFace, kFactor) * static_cast<float>(spaces);
    for (const std::string& line :
         viz::wrap(ui.style(), code.substr(spaces), ui.state.font_size * kFactor, kFace, room - indent)) {
      laid.pieces.push_back({{ui.u(8) + indent, laid.height, room, high}, line, kFactor, kFace, false, true});
      laid.height += high;
    }
  }

  /// Columns as wide as their widest cell, within limits; the last one has the rest.
  void add_table(const GuideBlock& table) {
    const auto found = [&](const std::vector<GuideText>& row) {
      std::string all;
      for (const GuideText& cell : row) all += plain_text(cell) + " ";
      return search.empty() || text_has(all, search);
    };
    if (!search.empty() && std::none_of(table.rows.begin() + 1, table.rows.end(), found)) return;
    std::size_t columns = 1;
    for (const auto& row : table.rows) columns = std::max(columns, row.size());
    const float space = ui.u(14), high = ui.u(21) * Ui::kSmall;
    const float max_width = width * 0.68F / static_cast<float>(columns);
    std::vector<float> widths(columns);
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        float cell = 0;
        for (const GuideSpan& span : row[i]) cell += ui.width(span.text, face_of(span, false), Ui::kSmall);
        widths[i] = std::max(widths[i], std::min(max_width, std::ceil(cell) + 1));
      }
    }
    widths.back() = width;
    for (std::size_t i = 0; i + 1 < columns; ++i) widths.back() -= widths[i] + space;
    for (const auto& row : table.rows) {
      const bool heads = &row == table.rows.data();
      if (!heads && !found(row)) continue;
      Rect cell{0, laid.height, 0, high};
      for (std::size_t i = 0; i < row.size(); ++i) {
        cell.w = widths[i];
        laid.height = std::max(laid.height, add_text(row[i], cell, Ui::kSmall, heads));
        cell.x += cell.w + space;
      }
      laid.height += ui.u(2);
    }
  }
};

/// Adds the chosen page, or the sections in which the search was found.
void add_content(const Ui& ui, HelpLayout& laid, float width) {
  const HelpForm& form = ui.state.help_form;
  const Guide& guide = *ui.state.guide;
  const auto add = [&](const GuidePage& page, GuideSection section, std::string_view rows) {
    HelpColumn column{ui, laid, width, page, rows};
    for (const GuideBlock& block : section) column.add(block);
  };
  const std::string& search = form.search.edit.text;
  if (!is_searching(form)) {
    const GuidePage* chosen = form.page.empty() ? nullptr : guide.find(form.page);
    const GuidePage& page = chosen ? *chosen : keys_page();
    for (const GuideSection& section : sections_of(page)) add(page, section, "");
    return;
  }
  // Definitions first among equals: they are what a single word is looked up for.
  std::vector<const GuidePage*> pages{&keys_page()};
  for (const GuidePage& page : guide.pages)
    pages.insert(page.name == "glossary" ? pages.begin() : pages.end(), &page);
  std::multimap<int, std::pair<const GuidePage*, GuideSection>> found;  // by their rank, then in order
  for (const GuidePage* page : pages)
    for (const GuideSection& section : sections_of(*page))
      if (const auto rank = section_rank(section, search)) found.emplace(*rank, std::pair(page, section));
  // Words that are far apart are rarely meant; their sections are shown whole, if there are no others.
  constexpr int kApart = 4;
  const bool apart = !found.empty() && found.begin()->first == kApart;
  for (const auto& [rank, place] : found)
    if (apart || rank < kApart) add(*place.first, place.second, apart ? "" : search);
}

/// Lays the content out only if it is not the same as in the last frame.
const HelpLayout& laid_out(Ui& ui, float width) {
  const HelpForm& form = ui.state.help_form;
  auto key = std::tuple(form.page, form.search.edit.text, width, ui.state.font_size, ui.state.guide);
  if (!ui.widgets.help || ui.widgets.help->key != key) {
    const auto laid = std::make_shared<HelpLayout>(HelpLayout{std::move(key)});
    add_content(ui, *laid, width);
    ui.widgets.help = laid;
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
  if (layout.pieces.empty())
    ui.small("Nothing found.", {list.x, list.y, list.w, ui.u(24)}, ui.theme().text_muted);
  for (int i = 0; const HelpLayout::Piece& piece : layout.pieces) {
    const Rect place{list.x + piece.place.x, list.y + piece.place.y, piece.place.w, piece.place.h};
    ++i;
    if (place.bottom() < rect.y || place.y > rect.bottom()) continue;
    if (piece.on_ground) ui.fill({list.x, place.y, rect.w - bar, place.h}, ui.theme().raised);
    if (piece.actions.empty()) {
      ui.text(piece.words, {place.x, place.y, place.w + ui.u(2), place.h},
              piece.muted ? ui.theme().text_muted : ui.theme().text, piece.face, piece.factor);
    } else if (ui.link(place, piece.words, piece.factor, i)) {
      std::ranges::copy(piece.actions, std::back_inserter(ui.actions));
    }
  }
  const auto heading = is_searching(form) ? layout.headings.end() : layout.headings.find(form.anchor);
  ui.scroll_once(std::to_string(form.request) + form.page + "#" + form.anchor + "?" + form.search.edit.text,
                 heading == layout.headings.end() ? 0 : heading->second);
  ui.end_list();
}

}  // namespace

void draw_help(Ui& ui) {
  const float tall = 0.86F * ui.input.frame.height / ui.u(1);
  auto body = ui.begin_dialog(Dialog::help, "Help", 940, std::max(720.F, tall));
  if (!body) return;
  ui.field(Field::help, cut_top(*body, ui.u(32), ui.u(12)), "Search the keys, the guide and its glossary");
  if (!ui.state.guide->pages.empty())
    draw_pages(ui, cut_left(*body, std::min(ui.u(190), body->w * 0.28F), ui.u(16)));
  draw_content(ui, *body);
  ui.end_dialog();
}

}  // namespace headscope::app
