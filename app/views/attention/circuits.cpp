#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/parts.h"

namespace headscope::app::circuits {

enum Role { kRow, kCell };  // row: id: a row of the list; cell: row: layer, col: head
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

/// What a circuit's numbers, and its columns of tokens in pictures and in files, are called.
struct Words {
  const char *does, *quantity;
  std::array<const char*, 2> headings, files;
};
constexpr Words kWords[]{
    {" would write", "logit", {"raises", "lowers"}, {"raised", "lowered"}},
    {" would look for", "score", {"looks for", "looks for least"}, {"sought", "avoided"}},
    {"", "score", {"query", "key"}, {"query", "key"}}};
const Words& words_of(const ViewContext& c) {
  return kWords[static_cast<std::size_t>(c.options[kCircuit])];
}

/// Two columns of tokens, with a number for each; of pairs only the second one has numbers.
struct Numbers {
  std::array<std::vector<int>, 2> ids;
  std::array<std::vector<float>, 2> values;
  std::shared_ptr<const HeadTokens> tokens;  ///< null: pairs
  std::shared_ptr<const double> copying;     ///< null: it is not known, or of no interest
};

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  const auto [layer, head] = std::pair(c.selection.layer, c.selection.head);
  Numbers n;
  if (is_of_pairs(c)) {
    const auto pairs = it.need(PairsOfHead{layer, head, reading_of(c)});
    if (!pairs) return std::nullopt;
    for (const auto& [query, key, score] : *pairs)
      n.ids[0].push_back(query), n.ids[1].push_back(key), n.values[1].push_back(score);
    return n;
  }
  const bool ov = c.options[kCircuit] == Circuit::ov;
  if (ov) n.copying = c.ask(CopyingOfHead{layer, head, reading_of(c)});
  if (!c.run) return std::nullopt;
  const int id = c.run->run->tokens[position_of(c)];
  n.tokens = ov ? it.need(TokensOfHead{layer, head, reading_of(c), id})
                : it.need(KeysOfToken{layer, head, reading_of(c), id});
  if (!n.tokens) return std::nullopt;
  for (const bool down : {false, true})
    for (const model::Guess& push : down ? n.tokens->down : n.tokens->up)
      n.ids[down].push_back(push.id), n.values[down].push_back(push.logit);
  return n;
}

/// The token's own number, a writing head's copying score, of which layer 0 has only one, and the formula.
std::vector<std::string> notes_of(const ViewContext& c, const Numbers& n) {
  const bool mlp = reading_of(c).after_first_mlp;
  std::vector<std::string> words;
  if (n.tokens)
    words.push_back("“" + label_of(c, n.tokens->own.id) +
                    "” itself: " + viz::number(double{n.tokens->own.logit}, 3) + ", rank " +
                    grouped(n.tokens->own_rank + 1) + " of " + grouped(c.config().vocab_size));
  const char* by = c.selection.layer == 0 ? "" : mlp ? " (through MLP 0)" : " (plain embeddings)";
  if (n.copying)
    words.push_back("copying score " + (std::isnan(*n.copying) ? "none" : viz::number(*n.copying, 3)) + by);
  const std::string token = mlp ? "x[token]" : "W_E[token]";
  const std::string read = c.options[kNormalized] ? "ln_1(" + token + ")" : token + " × ln_1's gain";
  const std::string scores = "scores = " + read + " W_Q · " + read + " W_K × " +
                             scale_factor(c.config(), c.selection.layer) + ", without biases and positions";
  const std::string logits =
      "logits = " + read + " W_V W_O W_U, with ln_f's gain; without biases, positions and ln_f's scale";
  words.push_back((c.options[kCircuit] == Circuit::ov ? logits : scores) +
                  (mlp ? ", x = W_E + MLP_0(ln_2(W_E))" : ""));
  return words;
}

const ListRows kRows{kRow, first_row_option("first-token-of-head", true), "tokens"};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const Words& words = words_of(c);
  const bool pairs = is_of_pairs(c);
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.ids[0].size()));
  list->good_width = 28;
  list->file(key_column("rank"), [](int row) { return row + 1; });
  const std::array<viz::Color, 2> colors{c.theme->query, c.theme->key};
  double limit = 0;  // one for the bars of both columns, each on its side of zero
  for (const float value : n.values | std::views::join)
    limit = std::max(limit, std::abs(static_cast<double>(value)));
  limit = viz::round_limit(limit);
  for (const std::size_t i : {0, 1}) {
    const std::string name = words.files[i];
    list->file(note_column(name + " id"), n.ids[i]);
    list->text(words.headings[i], 9, [&c, &ids = n.ids[i]](int row) { return label_of(c, ids[row]); },
               {.file = note_column(name + " token"), .heading = pairs ? colors[i] : c.theme->text});
    if (n.values[i].empty()) continue;
    const auto [smallest, largest] = std::ranges::minmax(n.values[i]);
    list->bar(words.quantity, 8, n.values[i],
              {.file = (pairs ? "" : name + " ") + words.quantity,
               .digits = 3,
               .low = smallest < 0 ? -limit : 0,
               .high = largest > 0 ? limit : 0,
               .axis = true,
               .most = 60 * c.font_size,
               .is_signed = true});
  }
  list->row_facts = [&](Facts& facts, int row) {
    for (const auto& ids : n.ids) add_copies_of_token(facts, c, ids[row]);
  };
  return list;
}

Table table(const ViewContext& c, const Numbers& n, const List& list) {
  Table result = list.exported();
  add_head_facts(result, c);
  if (!n.tokens) return result;
  result.about("position", position_of(c));
  add_token(result, c, "token", n.tokens->own.id);
  result.fact(words_of(c).quantity, n.tokens->own.logit);
  result.fact("rank", n.tokens->own_rank + 1);
  if (n.copying) result.fact("copying score", *n.copying);
  return result;
}

void declare_all_heads(Content& it) {
  const ViewContext& c = it.c;  // heads of layer 0 have only one reading
  const auto copying = it.need(CopyingOfModel{{c.options[kFirstMlp], c.options[kNormalized]}});
  if (!copying) return;
  it.title = "Copying scores of all heads";
  it.subtitle = c.options[kFirstMlp] ? "through MLP 0" : "plain embeddings";
  auto grid = grid_of_heads(c, kCell, {copying->begin(), copying->end()}, "copying score");
  grid->map.cells.scale = viz::diverging_scale(1);
  it.body = std::move(grid);
  it.table = [copying, heads = c.config().n_head] {
    Table result{key_column("layer"), key_column("head"), "copying score"};
    result.ranked_by = "copying score";
    for (int i = 0; i < std::ssize(*copying); ++i) add_row(result, i / heads, i % heads, (*copying)[i]);
    return result;
  };
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (is_of_all_heads(c)) return declare_all_heads(it);
  const auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*numbers);
  const std::string head = head_name(c.selection.layer, c.selection.head);
  it.title = is_of_pairs(c) ? "Strongest pairs of " + head
                            : "What " + head + words_of(c).does + " from “" +
                                  c.run->tokens.labels[position_of(c)] + "” alone";
  it.subtitle = c.options[kCircuit] == Circuit::ov ? "" : "scaled score";
  auto list = list_of(c, n);
  it.table = [&c, &n, &list = *list] { return table(c, n, list); };
  it.body = rows(boxes(std::move(list), notes(notes_of(c, n))));
}

View view() {
  View view = make_view("circuits", "Circuits", declare,
                        "the OV and QK circuits of a head: what it would write, and which keys it would look "
                        "for, from one token alone");
  view.options = {&kCircuit, &kFirstMlp, &kNormalized, &kRows.first};
  view.caption = {.prompt = false, .head = true};
  view.of_model = [](const ViewContext& c) { return is_of_pairs(c) || is_of_all_heads(c); };
  return view;
}

}  // namespace headscope::app::circuits
