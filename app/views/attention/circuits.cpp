#include <array>

#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/parts.h"

namespace headscope::app::circuits {

/// Roles of regions. cell: row: layer, col: head; raised, lowered: id: a row of that list.
enum Role { kRaised, kCell, kLowered };
enum class Circuit { ov, keys, pairs, copying };

const Option<Circuit> kCircuit = choice_option<Circuit>(
    "circuit", "Circuit", "cC", "which circuit of the head is shown",
    {{"ov", "OV", "What the head would write if it attended only to the chosen key, or else the query"},
     {"keys", "QK", "The key tokens that the head would look for from the query's token alone"},
     {"pairs", "QK pairs", "The pairs of query and key tokens with the largest scores"},
     {"copying", "Copying", "The copying scores of all heads"}});
const Option<bool> kFirstMlp = switch_option(
    "first-mlp", "Through MLP 0", "eE",
    "use layer 0's MLP output (the effective embedding) instead of the plain embeddings; for heads "
    "in later layers, the copying score may be very different");
const Option<bool> kNormalized =
    switch_option("token-norm", "ln_1", "jJ", "apply ln_1 to each token, not only its gain", true);

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
bool is_of_pairs(const ViewContext& c) {
  return c.options[kCircuit] == Circuit::pairs;
}

CopyingOfHead copying_question(const ViewContext& c) {
  return {c.selection.layer, c.selection.head, reading_of(c)};
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + viz::number(value, 3);
}

/// A row of a list.
struct Entry {
  double value = 0;
  int id = 0;      ///< id of the token; for pairs of the key's
  int query = -1;  ///< for pairs: id of the query's token
};

/// The shown numbers: two lists, of pairs one, and a sentence about the token itself.
struct Numbers {
  std::vector<std::vector<Entry>> sides = {};
  std::string own = {};
  std::shared_ptr<const HeadTokens> tokens = nullptr;  ///< null: pairs

  double largest() const {
    double most = 0;
    for (const std::vector<Entry>& side : sides)
      if (!side.empty() && std::isfinite(side.front().value))
        most = std::max(most, std::abs(side.front().value));
    return viz::round_limit(most);
  }
};

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  const auto [layer, head] = std::pair(c.selection.layer, c.selection.head);
  Numbers n;
  if (is_of_pairs(c)) {
    const auto pairs = it.need(PairsOfHead{layer, head, reading_of(c)});
    if (!pairs) return std::nullopt;
    n.sides.emplace_back();
    for (const model::ProductEntry& pair : pairs->strongest)
      n.sides[0].push_back({pair.value, pair.col, pair.row});
    return n;
  }
  const int id = c.run->run->tokens[position_of(c)];
  n.tokens = c.options[kCircuit] == Circuit::ov ? it.need(TokensOfHead{layer, head, id, reading_of(c)})
                                                : it.need(KeysOfToken{layer, head, id, reading_of(c)});
  if (!n.tokens) return std::nullopt;
  for (const auto* pushes : {&n.tokens->up, &n.tokens->down})
    for (std::vector<Entry>& side = n.sides.emplace_back(); const TokenPush& push : *pushes)
      side.push_back({push.logit, push.id});
  n.own = "“" + label_of(c, n.tokens->own.id) + "” itself: " + signed_number(n.tokens->own.logit) +
          ", rank " + grouped(n.tokens->own_rank + 1) + " of " + grouped(c.run->run->config.vocab_size);
  return n;
}

/// "copying score +0.83 (plain embeddings)"; the score belongs to the head, not to a token. Heads in layer 0
/// have only one.
std::string copying_words(const ViewContext& c, const HeadCopying* copying) {
  if (copying == nullptr) return c.failure(copying_question(c)).empty() ? "copying score: computing…" : "";
  const std::string reading = c.selection.layer == 0          ? ""
                              : reading_of(c).after_first_mlp ? " (through MLP 0)"
                                                              : " (plain embeddings)";
  return "copying score " + (std::isnan(copying->score) ? "none" : signed_number(copying->score)) + reading;
}

/// The circuits are of weights: they know only one token, not what the head attends to in the prompt.
std::string title_of(const ViewContext& c) {
  const std::string head = head_name(c.selection.layer, c.selection.head);
  if (is_of_pairs(c)) return "Strongest pairs of " + head;
  return "What " + head + (c.options[kCircuit] == Circuit::ov ? " would write" : " would look for") +
         " from “" + c.run->tokens.labels[position_of(c)] + "” alone";
}

/// The formula of the numbers.
std::string formula_of(const ViewContext& c) {
  const bool mlp = reading_of(c).after_first_mlp;
  const std::string token = mlp ? "x[token]" : "W_E[token]";
  const std::string read = c.options[kNormalized] ? "ln_1(" + token + ")" : token + " × ln_1's gain";
  const std::string where = mlp ? ", x = W_E + MLP_0(ln_2(W_E))" : "";
  if (c.options[kCircuit] == Circuit::ov)
    return "logits = " + read + " W_V W_O W_U, with ln_f's gain; without biases, positions and ln_f's scale" +
           where;
  return "scores = " + read + " W_Q · " + read + " W_K × " +
         scale_factor(c.run->run->config, c.selection.layer) + ", without biases and positions" + where;
}

const std::array<Option<int>, 2> kFirst{first_row_option("first-raised", true),
                                        first_row_option("first-lowered", true)};
const std::array<ListRows, 2> kLists{ListRows{.role = kRaised, .first = kFirst[0], .names = "tokens"},
                                     ListRows{.role = kLowered, .first = kFirst[1], .names = "tokens"}};

std::string quantity(const ViewContext& c) {
  return c.options[kCircuit] == Circuit::ov ? "logit" : "score";
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n, std::size_t side) {
  struct Words {
    const char *heading, *file;
  };
  constexpr Words kWrites[]{{"raises", "raised"}, {"lowers", "lowered"}},
      kLooks[]{{"looks for", "sought"}, {"looks for least", "avoided"}};
  const bool ov = c.options[kCircuit] == Circuit::ov, pairs = is_of_pairs(c);
  const Words words = pairs ? Words{"key", "key"} : ov ? kWrites[side] : kLooks[side];
  const std::vector<Entry>& entries = n.sides[side];
  auto list = std::make_unique<List>(c, kLists[side], static_cast<int>(entries.size()));
  const auto add_token = [&](const std::string& heading, const std::string& name, int Entry::*id,
                             viz::Color color) {
    list->file(note_column(name + " id"), [&entries, id](int row) { return entries[row].*id; });
    list->text(heading, 9, [&c, &entries, id](int row) { return label_of(c, entries[row].*id); },
               {.file = note_column(name + " token"), .heading = color});
  };
  list->good_width = 14;
  list->refers_to = [&entries](int row) { return Ref{.token = entries[row].id}; };
  if (side == 0) list->file(key_column("rank"), [](int row) { return row + 1; });
  if (pairs) add_token("query", "query", &Entry::query, c.theme->query);
  add_token(words.heading, words.file, &Entry::id, pairs ? c.theme->key : c.theme->text);
  const double most = n.largest();
  list->bar(quantity(c), 8, [&entries](int row) { return static_cast<float>(entries[row].value); },
            {.file = pairs ? quantity(c) : words.file + (" " + quantity(c)),
             .digits = 3,
             .low = side == 0 ? 0 : -most,
             .high = side == 0 ? most : 0,
             .axis = true,
             .most = 60 * c.font_size,
             .is_signed = true});
  if (pairs)
    list->row_facts = [&](Facts& facts, int row) { add_copies_of_token(facts, c, entries[row].query); };
  return list;
}

/// The lists' columns. `copying`: the head's score; null: it is not known, or of no interest.
Table table(const ViewContext& c, const Numbers& n, const HeadCopying* copying) {
  Table result;
  for (std::size_t side = 0; side < n.sides.size(); ++side)
    std::ranges::move(list_of(c, n, side)->exported().columns, std::back_inserter(result.columns));
  add_head_facts(result, c);
  if (!n.tokens) return result;
  result.about("position", position_of(c));
  result.fact("token", c.run->tokens.labels[position_of(c)]);
  result.about("token id", n.tokens->own.id);
  result.fact(quantity(c), n.tokens->own.logit);
  result.fact("rank", n.tokens->own_rank + 1);
  if (copying) result.fact("copying score", copying->score);
  return result;
}

void declare_all_heads(Content& it) {
  const ViewContext& c = it.c;  // heads of layer 0 have only one reading
  const auto copying = it.need(CopyingOfModel{{c.options[kFirstMlp], c.options[kNormalized]}});
  if (!copying) return;
  it.title = "Copying scores of all heads";
  it.subtitle = c.options[kFirstMlp] ? "through MLP 0" : "plain embeddings";
  auto grid = grid_of_heads(c, kCell, {copying->scores.begin(), copying->scores.end()}, "copying score");
  grid->map.cells.scale = viz::diverging_scale(1);
  grid->missing = "copying score none";
  if (!c.in_pane) {  // a figure is not about the selected head
    grid->chosen_row = -1;
    grid->map.rows.emphasised = grid->map.cols.emphasised = -1;
  }
  it.body = std::move(grid);
  it.table = [copying] {
    Table result{key_column("layer"), key_column("head"), "copying score"};
    result.ranked_by = "copying score";
    for (int i = 0; i < std::ssize(copying->scores); ++i)
      add_row(result, i / copying->heads, i % copying->heads,
              copying->score(i / copying->heads, i % copying->heads));
    return result;
  };
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (is_of_all_heads(c)) return declare_all_heads(it);
  const bool ov = c.options[kCircuit] == Circuit::ov;
  const auto copying = ov ? c.ask(copying_question(c)) : nullptr;
  if (!c.run) return;
  const auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*numbers);
  it.title = title_of(c), it.subtitle = ov ? "" : "scaled score";
  it.table = [&c, &n, copying, ov] { return table(c, n, ov ? copying.get() : nullptr); };
  it.body = rows(boxes(beside(boxes(list_of(c, n, 0), n.tokens ? list_of(c, n, 1) : nullptr)),
                       notes({n.own, ov ? copying_words(c, copying.get()) : "", formula_of(c)})));
}

View view() {
  View view = make_view("circuits", "Circuits", declare,
                        "the OV and QK circuits of a head: what it would write, and which keys it would look "
                        "for, from one token alone");
  view.options = {&kCircuit, &kFirstMlp, &kNormalized, &kFirst[0], &kFirst[1]};
  view.caption = {.prompt = false, .head = true};
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kFirstMlp || is_of_all_heads(c) || reading_of(c).after_first_mlp;
  };
  view.of_model = [](const ViewContext& c) { return is_of_pairs(c) || is_of_all_heads(c); };
  view.shown_heads = [](const ViewContext& c) {
    return is_of_all_heads(c) ? "all heads" : head_name(c.selection.layer, c.selection.head);
  };
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::circuits
