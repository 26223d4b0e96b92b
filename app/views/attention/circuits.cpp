#include <array>

#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace circuits {

/// Region role of the grid; row: layer; col: head.
constexpr int kCopyingCell = 1;

std::string words_of(TokenReading reading) {
  return std::string("sum of the OV circuit's eigenvalues divided by the sum of their magnitudes; ") +
         (reading.after_first_mlp ? "through MLP 0" : "plain embeddings");
}

Picture copying_picture(const ViewContext& c, TokenReading reading) {
  const CopyingOfModel question{reading};
  if (auto words = waiting_for_run(c, question)) return *words;
  const auto copying = c.ask(question);
  if (auto words = waiting(c, question, copying != nullptr)) return *words;
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(picture, c, "Copying scores of all heads", words_of(reading));
  if (area.h < 4 * c.font_size || area.w < 12 * c.font_size) return too_small(c, "for the heads");
  const std::vector<float> scores(copying->scores.begin(), copying->scores.end());
  std::vector<std::string> layers, heads;
  for (int layer = 0; layer < config.n_layer; ++layer) layers.push_back("L" + std::to_string(layer));
  for (int head = 0; head < config.n_head; ++head) heads.push_back("H" + std::to_string(head));
  viz::Heatmap map;
  map.cells.matrix = viz::Matrix::row_major(scores, config.n_layer, config.n_head);
  map.cells.scale = viz::diverging_scale(1);
  // A figure is not about the selected head.
  map.rows = selectable_axis(c, layers, "layer", c.in_pane ? c.selection.layer : -1);
  map.cols = selectable_axis(c, heads, "head", c.in_pane ? c.selection.head : -1);
  map.stretch = 1.7F;
  map.scale_title = "copying score";
  map.centered = !c.trimmed;
  map.saves_width = true;
  map.role = kCopyingCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style);
  if (c.in_pane)
    picture.scene.add(
        viz::StrokeRect{grid.cell_rect(c.selection.layer, c.selection.head), c.theme->accent, 2, 1});
  return picture;
}

/// The head under the mouse and its score.
Facts copying_facts(const ViewContext& c, TokenReading reading, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto copying = c.run ? c.ask(CopyingOfModel{reading}) : nullptr;
  if (!copying || hit.row >= c.run->run->config.n_layer || hit.col >= copying->heads) return facts;
  const viz::Region& grid = picture.regions[static_cast<std::size_t>(hit.region)];
  facts.overlay.add(viz::StrokeRect{grid.cell_rect(hit.row, hit.col).inset(-0.5F), c.theme->text, 1.5F, 1});
  facts.say(head_name(hit.row, hit.col));
  const double score = copying->score(hit.row, hit.col);
  if (std::isnan(score))
    facts.say("copying score none");
  else
    facts.number("copying score", score);
  facts.commands.push_back({"Show " + head_name(hit.row, hit.col), {SelectHead{hit.row, hit.col}}});
  return facts;
}

/// A row for each head.
Table copying_table(const ViewContext& c, TokenReading reading) {
  const auto copying = c.run ? c.ask(CopyingOfModel{reading}) : nullptr;
  if (!copying) return {};
  Table result{key_column("layer"), key_column("head"), "copying score"};
  result.ranked_by = "copying score";
  const int layers = c.run->run->config.n_layer;
  for (int layer = 0; layer < layers; ++layer)
    for (int head = 0; head < copying->heads; ++head)
      add_row(result, layer, head, copying->score(layer, head));
  return result;
}

viz::Point copying_size(const ViewContext& c) {
  const model::Config* config = c.run ? &c.run->run->config : nullptr;
  const auto layers = static_cast<float>(config ? config->n_layer : 1),
             heads = static_cast<float>(config ? config->n_head : 1);
  return {std::max(36.F, 2.8F * heads + 12) * c.font_size, (2.4F * layers + 8) * c.font_size};
}

/// Region::id: the token's id; for pairs their index.
enum Role { kToken };
enum class Circuit { ov, keys, pairs, copying };
constexpr int kSides = 2;
constexpr float kBeside = 34;  // ems: minimum width for two lists side by side
constexpr int kRows = TokenPushes::kMax;

const Option<Circuit> kCircuit = choice_option<Circuit>(
    "circuit", "Circuit", "cC", "which circuit of the head is shown",
    {{"ov", "OV", "What the head would write if it attended only to the chosen key, or else the query"},
     {"keys", "QK", "The key tokens that the head would look for from the query's token alone",
      "keys for the query's token"},
     {"pairs", "QK pairs", "The pairs of query and key tokens with the largest scores",
      "highest-scoring token pairs"},
     {"copying", "Copying", "The copying scores of all heads", "copying heads"}});
const Option<bool> kFirstMlp = switch_option(
    "first-mlp", "Through MLP 0", "eE",
    "use layer 0's MLP output (the effective embedding) instead of the plain embeddings; for heads "
    "in later layers, the copying score may be very different",
    "tokens through MLP 0");
const Option<bool> kNormalized =
    switch_option("token-norm", "ln_1", "jJ", "apply ln_1 to each token, not only its gain",
                  "ln_1 by its gain alone", true);

TokenReading reading_of(const ViewContext& c) {
  return {c.options[kFirstMlp] && c.selection.layer > 0, c.options[kNormalized]};
}

/// The position whose token is read: for OV the selected key if any, else the query.
int position_of(const ViewContext& c) {
  const bool key = c.options[kCircuit] == Circuit::ov && c.selection.key >= 0;
  return key ? c.selection.key : c.selection.query;
}

bool is_of_all_heads(const ViewContext& c) {
  return c.options[kCircuit] == Circuit::copying;
}
/// The reading of all heads: those of layer 0 have only one.
TokenReading reading_of_all(const ViewContext& c) {
  return {c.options[kFirstMlp], c.options[kNormalized]};
}

CopyingOfHead copying_question(const ViewContext& c) {
  return {c.selection.layer, c.selection.head, reading_of(c)};
}

/// The texts of a circuit and its lists.
struct CircuitWords {
  std::string title;  ///< around or before the head's name: see `title_of`
  std::string subtitle;
  std::array<std::string, kSides> headings;  ///< headings of the lists
  std::array<std::string, kSides> in_file;   ///< headings of their tokens in files
  std::string quantity;
};

CircuitWords words_of(const ViewContext& c) {
  switch (c.options[kCircuit]) {
    case Circuit::ov:
    case Circuit::copying:  // a grid of its own
      break;
    case Circuit::keys:
      return {" would look for",
              "scores with each key token, scaled",
              {"looks for, score", "looks for least, score"},
              {"sought", "avoided"},
              "score"};
    case Circuit::pairs:
      return {"Strongest pairs of ",
              "over all query and key tokens, scaled scores",
              {"query → key, score", "score"},
              {},
              "score"};
  }
  return {" would write", "", {"raises, logit", "lowers, logit"}, {"raised", "lowered"}, "logit"};
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + viz::number(value, 3);
}

/// A bar of one of the two lists, in the order of the picture.
struct Entry {
  double value = 0;
  int region = 0;  ///< id of its region
  int id = 0;      ///< id of the token; for pairs of the key's
  int query = -1;  ///< for pairs: id of the query's token
};

/// The shown numbers: two lists, and a sentence about the token itself. Nothing while there is no answer.
struct Numbers {
  std::array<std::vector<Entry>, kSides> sides;
  std::string own;
  std::shared_ptr<const HeadTokens> tokens = nullptr;  ///< null: pairs
};

/// The numbers and the question that they answer; none while there is no answer.
std::pair<Question, std::optional<Numbers>> numbers_of(const ViewContext& c) {
  const auto [layer, head] = std::pair(c.selection.layer, c.selection.head);
  if (c.options[kCircuit] == Circuit::pairs) {
    const auto [question, pairs] = reply_to(c, PairsOfHead{layer, head, reading_of(c)});
    if (!pairs) return {question, std::nullopt};
    Numbers n;
    for (int i = 0; const model::ProductEntry& pair : pairs->strongest)
      n.sides[n.sides[0].size() < kRows ? 0 : 1].push_back({pair.value, i++, pair.col, pair.row});
    return {question, n};
  }
  const int id = c.run->run->tokens[position_of(c)];
  const auto [question, tokens] = c.options[kCircuit] == Circuit::ov
                                      ? reply_to(c, TokensOfHead{layer, head, id, reading_of(c)})
                                      : reply_to(c, KeysOfToken{layer, head, id, reading_of(c)});
  if (!tokens) return {question, std::nullopt};
  Numbers n;
  for (const TokenPush& push : tokens->up) n.sides[0].push_back({push.logit, push.id, push.id});
  for (const TokenPush& push : tokens->down) n.sides[1].push_back({push.logit, push.id, push.id});
  n.own = "“" + label_of(c, tokens->own.id) + "” itself: " + signed_number(tokens->own.logit) + ", rank " +
          grouped(tokens->own_rank + 1);
  n.tokens = tokens;
  return {question, n};
}

/// "copying score +0.83 (plain embeddings)"; the score belongs to the head, not to a token. Heads in layer 0
/// have only one.
std::string copying_words(const ViewContext& c) {
  const auto copying = c.ask(copying_question(c));
  if (!copying) return c.failure(copying_question(c)).empty() ? "copying score: computing…" : "";
  const std::string reading = c.selection.layer == 0          ? ""
                              : reading_of(c).after_first_mlp ? " (through MLP 0)"
                                                              : " (plain embeddings)";
  return "copying score " + (std::isnan(copying->score) ? "none" : signed_number(copying->score)) + reading;
}

/// The circuits are of weights: they know only one token, not what the head attends to in the prompt.
std::string title_of(const ViewContext& c) {
  const std::string head = head_name(c.selection.layer, c.selection.head), words = words_of(c).title;
  if (c.options[kCircuit] == Circuit::pairs) return words + head;
  return "What " + head + words + " from “" + c.run->tokens.labels[position_of(c)] + "” alone";
}

/// The formula of the numbers, from the longest wording to the shortest.
std::vector<std::string> formulas_of(const ViewContext& c) {
  const bool ov = c.options[kCircuit] == Circuit::ov, mlp = reading_of(c).after_first_mlp;
  const std::string x = mlp ? "x" : "W_E", token = mlp ? "x[token]" : "W_E[token]";
  const std::string read = c.options[kNormalized] ? "ln_1(" + token + ")" : token + " × ln_1's gain";
  const std::string where = mlp ? ", x = W_E + MLP_0(ln_2(W_E))" : "";
  if (ov) {
    return {"logits = " + read +
                " W_V W_O W_U, with ln_f's gain; without biases, positions and ln_f's scale" + where,
            read + " W_V W_O W_U, without biases and ln_f's scale" + where, x + " W_V W_O W_U" + where,
            x + " W_V W_O W_U"};
  }
  const std::string scale = scale_factor(c.run->run->config, c.selection.layer);
  return {
      "scores = " + read + " W_Q · " + read + " W_K × " + scale + ", without biases and positions" + where,
      x + " W_Q · " + x + " W_K × " + scale + ", without biases" + where,
      x + " W_Q · " + x + " W_K × " + scale, x + " W_Q W_Kᵀ " + x + "ᵀ"};
}

/// The longest wording that fits.
std::string fitting(const viz::Style& style, const std::vector<std::string>& choices, float width) {
  for (const std::string& words : choices)
    if (style.width(words, style.small()) <= width) return words;
  return "";
}

/// "·is → ·it", both tokens shortened to fit into `room`.
std::string pair_label(const ViewContext& c, const Entry& pair, float room) {
  const viz::Style style = style_of(c);
  const auto width = [&](std::string_view text) { return style.width(text, style.font_size); };
  const std::string query = label_of(c, pair.query), key = label_of(c, pair.id), arrow = " → ";
  const float both = room - width(arrow), half = both / 2;
  const auto fitted = [&](const std::string& token, const std::string& other) {
    return c.fonts->fit(token, viz::FontStyle::regular, style.font_size, std::max(half, both - width(other)));
  };
  return fitted(query, key) + arrow + fitted(key, query);
}

/// The chart of a side, `width` wide.
viz::BarChart chart_of(const ViewContext& c, const Numbers& numbers, int side, std::size_t shown,
                       float width) {
  viz::BarChart chart;
  chart.role = kToken;
  chart.number_title = words_of(c).headings[side];
  chart.widest_number = "−00.00";
  double most = 0;
  for (const std::vector<Entry>& list : numbers.sides)
    if (!list.empty() && std::isfinite(list.front().value))
      most = std::max(most, std::abs(list.front().value));
  chart.longest = viz::round_limit(most);
  const std::vector<Entry>& list = numbers.sides[side];
  const bool pairs = c.options[kCircuit] == Circuit::pairs, up = side == 0 || pairs;
  for (const Entry& entry : std::span(list).first(std::min(shown, list.size()))) {
    viz::Bar bar;
    constexpr float kLabel = 0.33F;  // fraction of the width for a chart's labels
    bar.label = pairs ? pair_label(c, entry, kLabel * width) : label_of(c, entry.id);
    // If a head raises fewer tokens than there are bars, the last ones are empty.
    bar.value = std::isfinite(entry.value) ? std::max(0.0, up ? entry.value : -entry.value) : 0;
    bar.number = signed_number(entry.value);
    bar.color = viz::sign_color(*c.theme, entry.value);
    bar.label_color = c.theme->text;
    bar.id = entry.region;
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

Picture build(const ViewContext& c) {
  if (is_of_all_heads(c)) return copying_picture(c, reading_of_all(c));
  if (auto words = waiting_for_run(c, copying_question(c))) return *words;
  const std::string copying = c.options[kCircuit] == Circuit::ov ? copying_words(c) : "";
  const auto [question, numbers] = numbers_of(c);
  if (auto words = waiting(c, question, numbers.has_value())) return *words;
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  Picture picture = blank(c);
  viz::Rect area = paint_title(picture, c, title_of(c), words_of(c).subtitle);
  area.h -= 2 * line + u;
  const bool side_by_side = area.w >= kBeside * style.font_size;
  const float gap = 3 * style.font_size;
  const float height = side_by_side ? area.h : std::floor((area.h - gap / 3) / kSides);
  const float room = (height - viz::bar_chart_height(0, true, style)) / viz::bar_height(style);
  if (room < 1 || area.w < 12 * style.font_size) return too_small(c, "for the tokens");
  const auto shown = std::min(static_cast<std::size_t>(room), std::size_t{kRows});
  if (shown < numbers->sides[0].size()) picture.whole = false;
  const float width = side_by_side ? std::floor((area.w - gap) / kSides) : area.w;
  for (int side = 0; side < kSides; ++side) {
    const auto at = static_cast<float>(side);
    viz::paint_bar_chart(picture, chart_of(c, *numbers, side, shown, width),
                         {area.x + (side_by_side ? at * (width + gap) : 0),
                          area.y + (side_by_side ? 0 : at * (height + gap / 3)), width, height},
                         style);
  }
  const std::string& own = numbers->own;
  const std::string of_all = " of " + grouped(c.run->run->config.vocab_size);
  const std::string score = copying.empty() ? "" : "; " + copying;
  const std::array notes{own.empty() ? "" : fitting(style, {own + of_all + score, own + score, own}, area.w),
                         fitting(style, formulas_of(c), area.w)};
  const float used =
      viz::bar_chart_height(shown, true, style) * (side_by_side ? 1 : 0) + (side_by_side ? 0 : area.h);
  float middle = area.y + used + u + line / 2;
  for (const std::string& note : notes) {
    if (own.empty() && note.empty()) continue;
    paint_note(picture, c, note, {area.x, middle});
    middle += line;
  }
  return picture;
}

/// The entry of a region; null: none.
const Entry* entry_at(const Numbers& numbers, const viz::Region& region) {
  for (const std::vector<Entry>& list : numbers.sides)
    for (const Entry& entry : list)
      if (entry.region == region.id) return &entry;
  return nullptr;
}

Table table(const ViewContext& c) {
  if (is_of_all_heads(c)) return copying_table(c, reading_of_all(c));
  const bool ov = c.options[kCircuit] == Circuit::ov;
  const auto copying = ov ? c.ask(copying_question(c)) : nullptr;
  const auto numbers = c.run ? numbers_of(c).second : std::nullopt;
  if (!numbers) return {};
  const auto& [up, down] = numbers->sides;
  const CircuitWords words = words_of(c);
  if (c.options[kCircuit] == Circuit::pairs) {
    Table result{key_column("rank"),    note_column("query id"),  note_column("query token"),
                 note_column("key id"), note_column("key token"), words.quantity};
    for (const std::vector<Entry>& side : numbers->sides)
      for (const Entry& pair : side)
        add_row(result, result.rows() + 1, pair.query, label_of(c, pair.query), pair.id, label_of(c, pair.id),
                static_cast<float>(pair.value));
    add_head_facts(result, c);
    return result;
  }
  Table result{key_column("rank")};
  for (const std::string& name : words.in_file)
    result.add_columns(
        {note_column(name + " id"), note_column(name + " token"), name + " " + words.quantity});
  for (std::size_t i = 0; i < std::min(up.size(), down.size()); ++i)
    add_row(result, i + 1, up[i].id, label_of(c, up[i].id), static_cast<float>(up[i].value), down[i].id,
            label_of(c, down[i].id), static_cast<float>(down[i].value));
  add_head_facts(result, c);
  result.about("position", position_of(c));
  result.fact("token", c.run->tokens.labels[position_of(c)]);
  if (const HeadTokens* of = numbers->tokens.get()) {
    result.about("token id", of->own.id);
    result.fact(words.quantity, of->own.logit);
    result.fact("rank", of->own_rank + 1);
  }
  if (copying) result.fact("copying score", copying->score);
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  if (is_of_all_heads(c)) return copying_facts(c, reading_of_all(c), picture, hit);
  Facts facts;
  const viz::Region& region = region_of(picture, hit);
  const auto numbers = c.run ? numbers_of(c).second : std::nullopt;
  const Entry* entry = numbers ? entry_at(*numbers, region) : nullptr;
  if (!entry) return facts;
  facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->accent, 1, 3});
  const auto token = [&](int id) { return label_of(c, id) + "   id " + std::to_string(id); };
  facts.say(title_of(c), Fact::Location::status);
  if (entry->query >= 0) facts.say("query " + token(entry->query));
  facts.say((entry->query >= 0 ? "key " : "") + token(entry->id));
  facts.number(words_of(c).quantity, static_cast<float>(entry->value));
  if (entry->query >= 0) add_copies_of_token(facts, c, entry->query);
  add_copies_of_token(facts, c, entry->id);
  return facts;
}

ViewActions click(const ViewContext&, const Picture& picture, const viz::Hit& hit) {
  return region_of(picture, hit).role == kCopyingCell ? ViewActions{SelectHead{hit.row, hit.col}}
                                                      : ViewActions();
}

viz::Point figure_size(const ViewContext& c) {
  if (is_of_all_heads(c)) return copying_size(c);
  const viz::Style style = style_of(c);
  return {52 * c.font_size, below_title(c).y + viz::bar_chart_height(kRows, true, style) +
                                3 * style.line(style.small()) + style.unit() + margin(c)};
}

float whole_height(const ViewContext& c) {
  if (is_of_all_heads(c)) return copying_size(c).y;
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const float chart = viz::bar_chart_height(kRows, true, style);
  const float charts = area.w >= kBeside * c.font_size ? chart : 2 * chart + c.font_size + 2;
  return area.y + charts + 2 * style.line(style.small()) + 2 * style.unit() + margin(c) + 1;
}

}  // namespace circuits

View circuits_view() {
  using namespace circuits;
  View view = make_view(
      Group::attention, "circuits", "Circuits",
      "the OV and QK circuits of a head: what it would write, and which keys it would look for, from "
      "one token alone",
      build, facts, table);
  view.options = {&kCircuit, &kFirstMlp, &kNormalized};
  add_gestures(view, click);
  view.figure_size = figure_size;
  view.whole_height = whole_height;
  view.caption = {false, true, false};
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kFirstMlp || is_of_all_heads(c) || reading_of(c).after_first_mlp;
  };
  view.of_model = [](const ViewContext& c) {
    return c.options[kCircuit] == Circuit::pairs || is_of_all_heads(c);
  };
  view.shown_heads = [](const ViewContext& c) {
    return is_of_all_heads(c) ? "all heads" : head_name(c.selection.layer, c.selection.head);
  };
  view.landmarks = {landmark("list", kToken)};
  return view;
}

}  // namespace headscope::app
