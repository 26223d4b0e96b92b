#include "app/views/input/token_merges.h"

#include "app/views/parts/parts.h"

namespace headscope::app::token_merges {
namespace {

int id_at(const ViewContext& c, int position) {
  return c.run->tokens.tokens[position].id;
}

using Steps = std::vector<model::MergeStep>;
/// The merges that build a token from single bytes; none for a single byte and for a special token.
Steps steps_of(const ViewContext& c, int position) {
  const model::Tokenizer& tokenizer = *c.run->model->tokenizer;
  Steps steps = tokenizer.merges(tokenizer.bytes(id_at(c, position)));
  // If the bytes do not merge to this token, it is special, or was given by its id.
  if (!steps.empty() && steps.back().merged != id_at(c, position)) steps.clear();
  return steps;
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
  bool made = false;  ///< by this row's merge
};
using Pieces = std::vector<Piece>;

/// The bytes, then the pieces after each merge.
std::vector<Pieces> pieces_of(const ViewContext& c, const Steps& steps) {
  const std::string_view bytes = c.run->model->tokenizer->bytes(id_at(c, c.selection.query));
  std::vector<Pieces> rows(1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    rows[0].push_back({static_cast<int>(i), 1, viz::visible(bytes.substr(i, 1)), false});
  for (const model::MergeStep& step : steps) {
    Pieces row = rows.back();
    for (Piece& piece : row) piece.made = false;
    Piece& left = row[step.at];
    left.length += row[step.at + 1].length;
    left.label = label_of(c, step.merged);
    left.made = true;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr float kMaxByte = 3.4F;  // ems

/// Draws pieces below those that they were made from: all rows are as wide as the bytes.
void paint_pieces(viz::Scene& scene, const ViewContext& c, const Pieces& pieces, const viz::Rect& cell) {
  if (pieces.empty()) return;
  const viz::Style style = style_of(c);
  const auto bytes = static_cast<float>(pieces.back().start + pieces.back().length);
  const float byte = std::min(cell.w / bytes, kMaxByte * c.font_size);
  for (const Piece& piece : pieces) {
    const viz::Rect box{cell.x + static_cast<float>(piece.start) * byte + 1, cell.y + 1,
                        std::max(0.F, static_cast<float>(piece.length) * byte - 2), cell.h - 2};
    const viz::Color fill =
        viz::blended(c.theme->surface, piece.made ? c.theme->text_muted.with_alpha(90) : c.theme->raised);
    scene.add(viz::FillRect{box, fill, style.unit()});
    const bool fits = style.width(piece.label, style.font_size) < box.w;
    viz::add_label(scene, style, piece.label, box.center(), fits ? style.font_size : style.small(),
                   text_on(c, fill), viz::FontStyle::regular, viz::Align::center, box.w);
  }
}

void add_step(Facts& facts, const ViewContext& c, const Steps& steps, int row) {
  if (row == 0) {
    facts.say("before any merge");
    return facts.say("bytes " + bytes_at(c, c.selection.query));
  }
  const model::MergeStep& step = steps[row - 1];
  facts.say("merge " + std::to_string(row) + " of " + std::to_string(steps.size()));
  facts.say(pair_words(c, step) + " → “" + label_of(c, step.merged) + "”");
  facts.tip("id " + std::to_string(step.left) + " + id " + std::to_string(step.right) + " → id " +
            std::to_string(step.merged));
}

std::unique_ptr<List> list_of_steps(const ViewContext& c, const Steps& steps,
                                    const std::vector<Pieces>& pieces) {
  const auto bytes = static_cast<float>(pieces[0].size());
  auto list = std::make_unique<List>(c, kStep, static_cast<int>(pieces.size()));
  const std::string unmerged = steps.empty() && pieces[0].size() > 1
                                   ? "not built by merges"
                                   : "its " + counted(std::ssize(pieces[0]), "byte");
  list->table.row_names = "rows";
  list->may_be_cut = true;
  ListColumn& drawn = list->text(
      "", 3, [](int) { return std::string(); },
      {.least = std::min(1.2F * bytes, 12.F) * c.font_size, .most = kMaxByte * bytes * c.font_size});
  drawn.draw = [&](viz::Scene& scene, const ViewContext& now, int row, viz::Rect cell) {
    paint_pieces(scene, now, pieces[row], cell);
  };
  list->number("rank", 2, [&](int row) { return row == 0 ? 0 : steps[row - 1].rank + 1; },
               {.digits = 0, .blank = [](int row) { return row == 0; }});
  list->text("merged", 1,
             [&, unmerged](int row) { return row == 0 ? unmerged : pair_words(c, steps[row - 1]); },
             {.color = c.theme->text_muted});
  list->row_facts = [&](Facts& facts, int row) { add_step(facts, c, steps, row); };
  return list;
}

// ---- all tokens ----

/// "a+b 12, ab+c 400"
std::string merges_words(const ViewContext& c, const Steps& steps) {
  std::string words;
  for (const model::MergeStep& step : steps)
    words += (words.empty() ? "" : ", ") + label_of(c, step.left) + "+" + label_of(c, step.right) + " " +
             grouped(step.rank + 1);
  return words;
}

std::unique_ptr<List> list_of(const ViewContext& c, const ListRows& of) {
  const auto words = [&c](int i) { return merges_words(c, steps_of(c, i)); };
  // Nobody can hover over a figure to read the rest.
  const float least = c.in_pane ? 12 * c.font_size : std::min(18 * c.font_size, 0.5F * c.width);
  auto list = list_of_tokens(c, of, c.run->run->length());
  list->text("merges and their ranks", 6, words, {.least = least, .most = 1e4F});  // all the room there is
  list->row_facts = [&c, words](Facts& facts, int i) {
    facts.say("id " + std::to_string(id_at(c, i)) + ", bytes " + bytes_at(c, i));
    facts.tip(words(i));
  };
  return list;
}

/// A row for each merge of each token; for a token without merges one row.
Table table(const ViewContext& c) {
  Table result{key_column("position"), note_column("token"), note_column("id"),
               note_column("bytes"),   key_column("merge"),  note_column("merge rank"),
               note_column("left"),    note_column("right"), note_column("merged")};
  for (int i = 0; i < c.run->run->length(); ++i) {
    const int id = id_at(c, i);
    const auto add = [&](const auto&... merge) {
      add_row(result, i, c.run->tokens.labels[i], id, bytes_at(c, i), merge...);
    };
    const Steps steps = steps_of(c, i);
    if (steps.empty()) add();
    for (int k = 0; k < std::ssize(steps); ++k)
      add(k + 1, steps[k].rank + 1, label_of(c, steps[k].left), label_of(c, steps[k].right),
          label_of(c, steps[k].merged));
  }
  return result;
}

}  // namespace

std::string bytes_at(const ViewContext& c, int position) {
  const auto& tokenizer = c.run->model->tokenizer;
  return tokenizer ? bytes_as_hex(tokenizer->bytes(id_at(c, position))) : "";
}

std::unique_ptr<List> list_of_tokens(const ViewContext& c, const ListRows& of, int count) {
  const viz::Color muted = c.theme->text_muted;
  auto list = std::make_unique<List>(c, of, count);
  list->refers_to = [&c](int i) { return i < c.run->tokens.run_length ? Ref{.query = i} : Ref(); };
  list->number("", 5, [](int i) { return i; },
               {.file = key_column("position"), .color = muted, .digits = 0, .tip = false});
  list->number("id", 4, [&c](int i) { return id_at(c, i); },
               {.file = note_column("id"), .digits = 0, .tip = false});
  list->text("token", 9, c.run->tokens.labels, {.file = note_column("token")});
  list->text("bytes", 1, [&c](int i) { return bytes_at(c, i); },
             {.file = note_column("bytes"), .color = muted});
  list->table.first_number = 0;
  list->table.marked = list->kept = c.selection.query;
  list->table.mark = c.theme->query;
  return list;
}

void declare(Content& it, const ListRows& rows_of_tokens) {
  const ViewContext& c = it.c;
  it.message = c.run ? missing(*c.run->model, Capability::weights | Capability::tokenizer) : c.no_run;
  if (!it.message.empty()) return;
  if (c.differs()) it.message = "merges are of one prompt: show it instead of the difference";
  const Steps& steps = it.keep(steps_of(c, c.selection.query));
  const auto& pieces = it.keep(pieces_of(c, steps));
  it.title = "How " + token_name(c.run->tokens, c.selection.query) + " is built";
  it.subtitle = "id " + std::to_string(id_at(c, c.selection.query)) + "; " +
                counted(std::ssize(pieces[0]), "byte") + "; " + counted(std::ssize(steps), "merge");
  it.table = [&] { return table(c); };
  it.body =
      rows(boxes(list_of_steps(c, steps, pieces), may_be_left_out(list_of(c, rows_of_tokens), "the list")));
}

}  // namespace headscope::app::token_merges
