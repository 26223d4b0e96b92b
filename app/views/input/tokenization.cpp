#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/parts.h"
#include "viz/scene/contrast.h"

namespace headscope::app {
namespace tokenization {

/// Roles of regions. token: id: position. step: id: number of merges made, col: byte.
enum Role { kToken, kStep };

/// -1: such that the selected token is visible.
const auto kFirstToken = first_row_option("first-token", true, -1);

std::string_view bytes_of(const ViewContext& c, int id) {
  return c.run->model->tokenizer->bytes(id);
}

const model::Token& token_at(const ViewContext& c, int position) {
  return c.run->tokens.tokens[position];
}

const std::vector<model::MergeStep>& steps_of(const ViewContext& c, const TokenMerges& merges, int position) {
  return merges.of_id.at(token_at(c, position).id);
}

/// "“o” + “b”"
std::string pair_words(const ViewContext& c, const model::MergeStep& step) {
  return "“" + label_of(c, step.left) + "” + “" + label_of(c, step.right) + "”";
}

// ---- one token, step by step ----

/// A part of the token.
struct Piece {
  int start = 0;  ///< in bytes of the token
  int length = 1;
  std::string label;
  bool made = false;  ///< created by this row's step
};

/// All pieces after a step.
struct PieceRow {
  std::vector<Piece> pieces;
  std::string number;  ///< to the right of the pieces, aligned in a column
  std::string note;    ///< after the number, muted; omitted if it does not fit
};

/// One row per step, with each piece below those it was made from.
struct PieceRows {
  std::vector<PieceRow> rows;
  int units = 1;  ///< width of every row, in bytes
};

constexpr float kMaxUnit = 3.4F;  // ems, for a byte
constexpr const char* kNumberTitle = "rank";

float row_height(const viz::Style& style) {
  return std::round(1.6F * style.font_size);
}
float pitch(const viz::Style& style) {
  return row_height(style) + style.unit();
}
float head_height(const viz::Style& style) {
  return style.line(style.small()) + style.unit();
}

/// The width of the widest of the rows' texts.
float widest(const PieceRows& pieces, std::string PieceRow::*text, const viz::Style& style) {
  float width = 0;
  for (const PieceRow& row : pieces.rows) width = std::max(width, style.width(row.*text, style.small()));
  return std::ceil(width);
}

float piece_rows_height(std::size_t rows, const viz::Style& style) {
  return head_height(style) + static_cast<float>(rows) * pitch(style);
}

/// Draws as many rows as fit into `area`, from the first on, and notes how many do not.
void paint_piece_rows(Picture& picture, const PieceRows& p, viz::Rect area, const viz::Style& style) {
  const viz::Theme& theme = style.theme;
  const viz::Color made = theme.text_muted.with_alpha(90);
  const float u = style.unit(), h = row_height(style), line = style.line(style.small());
  const float numbers =
      std::max(widest(p, &PieceRow::number, style), std::ceil(style.width(kNumberTitle, style.small())));
  const float notes = widest(p, &PieceRow::note, style);
  const auto units = static_cast<float>(std::max(1, p.units));
  // Numbers have priority over notes, and both over wide pieces.
  const float least = std::min(1.2F * style.font_size, area.w / 2 / units);
  const bool with_numbers = units * least + 4 * u + numbers <= area.w;
  const float room = area.w - (with_numbers ? 4 * u + numbers : 0);
  const bool with_notes = with_numbers && units * least + 4 * u + notes <= room;
  const float unit_w =
      std::clamp((room - (with_notes ? 4 * u + notes : 0)) / units, 0.F, kMaxUnit * style.font_size);
  const float numbers_at = area.x + units * unit_w + 4 * u + numbers;
  if (with_numbers)
    viz::add_muted(picture.scene, style, kNumberTitle, {numbers_at, area.y + line / 2}, viz::Align::right);
  // All labels have the same size, a smaller one if some would not fit otherwise.
  const auto box_width = [&](const Piece& piece) {
    return std::max(0.F, static_cast<float>(piece.length) * unit_w - 2);
  };
  const bool fits = std::ranges::all_of(p.rows, [&](const PieceRow& row) {
    return std::ranges::all_of(row.pieces, [&](const Piece& piece) {
      return style.width(piece.label, style.font_size) <= box_width(piece) - 1;
    });
  });
  const float size = fits ? style.font_size : style.small();
  float y = area.y + head_height(style);
  const int count = static_cast<int>(p.rows.size());
  const int room_for =
      static_cast<int>(std::max(0.F, (area.bottom() + 0.5F - y + pitch(style) - h) / pitch(style)));
  const bool all = room_for >= count;
  // The last row is needed for the note about those left out.
  const int shown = all ? count : std::max(room_for, 2) - 1;
  for (int i = 0; i < std::min(shown, room_for); ++i, y += pitch(style)) {
    const PieceRow& row = p.rows[i];
    for (const Piece& piece : row.pieces) {
      const viz::Rect box{area.x + static_cast<float>(piece.start) * unit_w + 1, y, box_width(piece), h};
      const viz::Color fill = piece.made ? made : theme.raised;
      picture.scene.add(viz::FillRect{box, fill, u});
      const viz::Color text = viz::text_on(theme, viz::blended(theme.surface, fill));
      viz::add_label(picture.scene, style, piece.label, box.center(), size, text, viz::FontStyle::regular,
                     viz::Align::center, box.w - 1);
    }
    if (with_numbers)
      viz::add_label(picture.scene, style, row.number, {numbers_at, y + h / 2}, style.small(), theme.text,
                     viz::FontStyle::regular, viz::Align::right);
    if (with_notes) viz::add_muted(picture.scene, style, row.note, {numbers_at + 4 * u, y + h / 2});
    picture.regions.push_back(
        viz::Region::grid(kStep, i, {area.x, y, units * unit_w, h}, 1, std::max(1, p.units)));
  }
  if (all || room_for < 2) return;
  viz::add_muted(picture.scene, style, "… and " + std::to_string(count - shown) + " more",
                 {area.x, y + h / 2}, viz::Align::left, area.w);
}

/// The bytes, then the pieces after each merge.
PieceRows pieces_of(const ViewContext& c, const std::vector<model::MergeStep>& steps) {
  const int id = token_at(c, c.selection.query).id;
  const std::string_view bytes = bytes_of(c, id);
  PieceRows result;
  result.units = std::max(1, static_cast<int>(bytes.size()));
  PieceRow row;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    row.pieces.push_back({static_cast<int>(i), 1, viz::visible(bytes.substr(i, 1)), false});
  row.note = bytes.size() == 1 ? "its single byte" : "its " + std::to_string(bytes.size()) + " bytes";
  result.rows.push_back(row);
  for (const model::MergeStep& step : steps) {
    for (Piece& piece : row.pieces) piece.made = false;
    Piece& left = row.pieces[step.at];
    left.length += row.pieces[step.at + 1].length;
    left.label = label_of(c, step.merged);
    left.made = true;
    row.pieces.erase(row.pieces.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    row.number = grouped(step.rank + 1);
    row.note = pair_words(c, step);
    result.rows.push_back(row);
  }
  return result;
}

/// "5 bytes, 4 merges", or why there are no merges.
std::string subtitle_of(const ViewContext& c, const std::vector<model::MergeStep>& steps) {
  const int id = token_at(c, c.selection.query).id;
  const std::size_t bytes = bytes_of(c, id).size();
  const std::string words =
      "id " + std::to_string(id) + ", " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  if (bytes <= 1) return words + ", a base token";
  if (steps.empty()) return words + ", not built by merges";
  return words + ", " + std::to_string(steps.size()) +
         (steps.size() == 1 ? " merge" : " merges, lowest rank first");
}

// ---- all tokens ----

/// "a+b 12, ab+c 400"
std::string merges_words(const ViewContext& c, std::span<const model::MergeStep> steps) {
  std::string words;
  for (const model::MergeStep& step : steps)
    words += (words.empty() ? "" : ", ") + label_of(c, step.left) + "+" + label_of(c, step.right) + " " +
             grouped(step.rank + 1);
  return words;
}

/// The same for a printed figure, which has no tooltip with the rest of a long cell: "a+b 12, 3 more" if all
/// do not fit.
std::string merges_that_fit(const ViewContext& c, std::span<const model::MergeStep> steps, float room) {
  const viz::Style style = style_of(c);
  std::string words = merges_words(c, steps);
  for (std::size_t count = steps.size(); style.width(words, style.font_size) > room;) {
    if (--count == 0) return std::to_string(steps.size()) + " merges";
    words = merges_words(c, steps.first(count)) + ", " + std::to_string(steps.size() - count) + " more";
  }
  return words;
}

const ListRows kRows{.role = kToken, .first = kFirstToken, .names = "tokens", .runs_on = true};

/// `room`: width of the column of merges.
List list_of(const ViewContext& c, const TokenMerges& merges, float room) {
  const viz::Color muted = c.theme->text_muted;
  const auto id = [&c](int position) { return token_at(c, position).id; };
  List list(c, kRows, c.run->run->length());
  list.number("", 1, [](int position) { return position; }, {.color = muted, .digits = 0});
  list.text("token", 4, c.run->tokens.labels);
  list.number("id", 2, id, {.digits = 0});
  list.text("bytes", 0,
            [&c, id](int position) {
              constexpr float kMost = 10;  // ems, as much as the column may take
              const std::string_view bytes = bytes_of(c, id(position));
              std::string words = bytes_as_hex(bytes);
              if (!c.printed || style_of(c).width(words, c.font_size) <= kMost * c.font_size) return words;
              return std::to_string(bytes.size()) + " bytes";
            },
            {.color = muted});
  const float merges_room = std::min((c.printed ? 24 : 12) * c.font_size, 0.4F * c.width);
  list.text("merges and their ranks", 3,
            [&c, &merges, room](int position) {
              const auto& steps = steps_of(c, merges, position);
              return c.printed ? merges_that_fit(c, steps, room) : merges_words(c, steps);
            },
            {.least = merges_room, .most = 1e4F});  // all the room there is
  list.table.first_number = 0;
  list.table.marked = c.selection.query;
  list.table.mark = c.theme->query;
  return list;
}

struct Layout {
  viz::Rect steps;
  viz::Rect table;  ///< h is 0: no room
};

constexpr int kMinRows = 2;  // minimum for the table, if not all steps fit

Layout lay_out(const ViewContext& c, std::size_t rows) {
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  Layout l;
  l.steps = area;
  viz::Table least;
  least.rows = std::min(kMinRows, c.run->run->length());
  const float table = viz::table_height(least, style) + style.font_size,
              steps = piece_rows_height(rows, style);
  // A wide page has room for both side by side, where the list is too long to be below.
  constexpr float kWide = 1.5F, kSteps = 0.32F;
  viz::Table all;
  all.rows = c.run->run->length();
  const bool is_long = steps + style.font_size + viz::table_height(all, style) > area.h;
  if (c.printed && is_long && area.w > kWide * area.h && area.h > 24 * style.font_size) {
    l.steps.w = kSteps * area.w;
    const float x = l.steps.right() + 2 * style.font_size;
    l.table = {x, area.y, area.right() - x, area.h};
    return l;
  }
  if (area.h < std::min(steps + table, 24 * style.font_size)) return l;
  l.steps.h = std::min(steps, area.h - table);
  l.table = {area.x, l.steps.bottom() + style.font_size, area.w, 0};
  l.table.h = std::max(0.F, area.bottom() - l.table.y);
  return l;
}

Picture build(const ViewContext& c) {
  const auto merges = c.ask(MergesOfTokens{});
  if (auto words = waiting(c, MergesOfTokens{}, merges != nullptr)) return *words;
  const viz::Style style = style_of(c);
  const std::vector<model::MergeStep>& steps = steps_of(c, *merges, c.selection.query);
  const PieceRows pieces = pieces_of(c, steps);
  const Layout l = lay_out(c, pieces.rows.size());
  if (l.steps.h < piece_rows_height(1, style) || l.steps.w < 6 * c.font_size) return too_small(c);
  Picture picture = blank(c);
  List measured = list_of(c, *merges, 0);
  measured.lay_out(l.table);
  const viz::TableLayout::Place* place = measured.layout().place_of(measured.last());
  List list = list_of(c, *merges, place ? place->w : 0);
  list.lay_out(l.table);
  if (c.options[kFirstToken] < 0)
    list.table.first = first_row_showing(c.selection.query, static_cast<int>(std::ssize(list.layout().rows)));
  const bool lists = list.lay_out(l.table);
  paint_piece_rows(picture, pieces, l.steps, style);
  if (lists) list.paint(picture);
  picture.whole = true;  // both say which of their rows are shown
  const std::string words = subtitle_of(c, steps) + (list.layout().rows.empty() ? "" : list.note("; "));
  paint_title(picture, c, "How " + token_name(c.run->tokens, c.selection.query) + " is built", words);
  return picture;
}

std::vector<std::string> step_lines(const ViewContext& c, const std::vector<model::MergeStep>& steps,
                                    int row) {
  if (row == 0)
    return {"before any merge", "bytes " + bytes_as_hex(bytes_of(c, token_at(c, c.selection.query).id))};
  const model::MergeStep& step = steps[row - 1];
  return {"merge " + std::to_string(row) + " of " + std::to_string(steps.size()) + ", rank " +
              grouped(step.rank + 1) + " in merges.txt",
          pair_words(c, step) + " → “" + label_of(c, step.merged) + "”",
          "id " + std::to_string(step.left) + " + id " + std::to_string(step.right) + " → id " +
              std::to_string(step.merged)};
}

/// A row for each merge of each token; for a token without merges one row.
Table table(const ViewContext& c) {
  const auto merges = c.run ? c.ask(MergesOfTokens{}) : nullptr;
  if (!merges) return {};
  Table result{key_column("position"), note_column("token"), note_column("id"),
               note_column("bytes"),   key_column("merge"),  note_column("merge rank"),
               note_column("left"),    note_column("right"), note_column("merged")};
  for (int i = 0; i < c.run->run->length(); ++i) {
    const int id = token_at(c, i).id;
    const auto add = [&](const auto&... merge) {
      add_row(result, i, c.run->tokens.labels[i], id, bytes_as_hex(bytes_of(c, id)), merge...);
    };
    const auto& steps = steps_of(c, *merges, i);
    if (steps.empty()) add();
    for (int k = 0; k < std::ssize(steps); ++k)
      add(k + 1, steps[k].rank + 1, label_of(c, steps[k].left), label_of(c, steps[k].right),
          label_of(c, steps[k].merged));
  }
  return result;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (region.role != kToken || region.id >= c.run->run->length()) return {};
  const TableRows rows = rows_in(kRows, c, picture);
  return {SelectQuery{region.id}, rows.from(rows.first)};  // nothing moves under the mouse
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto merges = c.ask(MergesOfTokens{});
  if (!merges || !c.run) return {};
  const bool step = region.role == kStep;
  if (!step && region.id >= c.run->run->length()) return {};
  const auto& steps = steps_of(c, *merges, step ? c.selection.query : region.id);
  if (step && region.id > std::ssize(steps)) return {};
  Facts facts = facts_of_row(c, region.rect);
  if (step) {
    facts.say(step_lines(c, steps, region.id), 2);
    if (region.id > 0)
      facts.value("rank", std::to_string(steps[region.id - 1].rank + 1), Fact::Location::menu);
    return facts;
  }
  const int id = token_at(c, region.id).id;
  facts.say("position " + token_name(c.run->tokens, region.id));
  facts.say("id " + std::to_string(id) + ", bytes " + bytes_as_hex(bytes_of(c, id)));
  if (!steps.empty()) facts.say(merges_words(c, steps), Fact::Location::tooltip);
  facts.commands.push_back(choose_query(c, region.id, "Show merges of"));
  add_copies_of_token(facts, c, id, c.run->tokens.labels[region.id]);
  return facts;
}

/// All steps, and as many tokens as keep the figure manageable.
viz::Point figure_size(const ViewContext& c) {
  constexpr int kMaxTokens = 60;
  const auto merges = c.run ? c.ask(MergesOfTokens{}) : nullptr;
  if (!merges) return {c.width, c.height};
  const viz::Style style = style_of(c);
  viz::Table tokens;
  tokens.rows = std::min(kMaxTokens, c.run->run->length());
  const float steps = piece_rows_height(steps_of(c, *merges, c.selection.query).size() + 1, style);
  return {std::max(c.width, 50 * c.font_size),
          below_title(c).y + steps + c.font_size + viz::table_height(tokens, style) + 2 * margin(c)};
}

}  // namespace tokenization

View tokenization_view() {
  using namespace tokenization;
  View view = make_view(Group::input, "tokenization", "Tokenization",
                        "the merges that built each token, step by step from its bytes, with their ranks",
                        build, facts, table);
  view.options = {&kFirstToken};
  add_list(view, kRows, click);
  view.needs = Capability::weights | Capability::tokenizer;
  view.figure_size = figure_size;
  view.caption = {true, false, true};
  view.landmarks = {landmark("merges", kStep), query_landmark("token", kToken), landmark("tokens", kToken)};
  return view;
}

}  // namespace headscope::app
