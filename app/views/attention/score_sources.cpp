#include "app/run/analyses/score_sources.h"

#include <numeric>
#include <tuple>

#include "app/views/attention/score_breakdown.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace score_sources {

using score_breakdown::ScoreTerms;

/// Roles of regions. cell: row: a shown part of q, col: of k; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Parts { heads, layers };
enum class Listed { pairs, query, key };

constexpr std::size_t kMostPairs = 60;  // in the list

const Option<Parts> kParts = choice_option<Parts>(
    "score-parts", "Parts", "pP", "the parts that q and k are taken apart into",
    {{"heads", "Heads", "Every head, bias and MLP of the layers before"},
     {"layers", "Layers", "The heads and the bias of each layer's attention as one part"}});
const Option<Listed> kList =
    choice_option<Listed>("score-list", "List", "cC", "what is listed next to the grid",
                          {{"pairs", "Pairs", "Products of a part of q with a part of k, strongest first"},
                           {"query", "Query", "Each part of q times all of k, strongest first"},
                           {"key", "Key", "Each part of k times all of q, strongest first"}});
const Option<int> kFirstRow = first_row_option("first-product", true);

/// A product of a part of q with a part of k; -1: all of them together.
struct Product {
  int of_query = -1;
  int of_key = -1;
  double value = 0;
};

struct Numbers {
  ScoreTerms terms;                        ///< of the run, also on the difference side
  std::shared_ptr<const ScoreSources> of;  ///< with heads or layers as parts
  std::vector<Product> listed;             ///< strongest first
  double others = 0;                       ///< sum of the pairs that are not listed
};

/// For sorting; numbers that are none come first.
double size_of(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
}

std::vector<Product> products_in(const ScoreSources& of, Listed list) {
  std::vector<Product> products;
  for (int i = 0; i < of.count(); ++i) {
    if (list == Listed::query) products.push_back({i, -1, of.of_query(i)});
    if (list == Listed::key) products.push_back({-1, i, of.of_key(i)});
    for (int j = 0; list == Listed::pairs && j < of.count(); ++j)
      products.push_back({i, j, of.product(i, j)});
  }
  return products;
}

void add_list(Numbers& n, Listed list) {
  n.listed = products_in(*n.of, list);
  const auto key = [](const Product& p) { return std::tuple(-size_of(p.value), p.of_query, p.of_key); };
  const std::size_t most = list == Listed::pairs ? std::min(kMostPairs, n.listed.size()) : n.listed.size();
  std::ranges::partial_sort(n.listed, n.listed.begin() + static_cast<std::ptrdiff_t>(most), {}, key);
  n.listed.resize(most);
  n.others = n.of->sum();
  for (const Product& p : n.listed) n.others -= p.value;
}

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  const auto breakdown = score_breakdown::breakdown_of(it);
  if (!breakdown) return std::nullopt;
  Numbers n;
  n.terms = breakdown->now;
  n.of = it.need(ScoreSourcesOf{n.terms.layer, n.terms.head, n.terms.query, n.terms.key});
  if (!n.of) return std::nullopt;
  if (c.options[kParts] == Parts::layers) n.of = std::make_shared<const ScoreSources>(heads_together(*n.of));
  add_list(n, c.options[kList]);
  return n;
}

/// The parts that the grid shows, in the order of the pass, and of q and k all others together if there is no
/// room for all.
struct Shown {
  std::vector<int> of_query, of_key;  ///< -1: the others
  std::vector<std::string> query_names, key_names;
  std::vector<float> values;  ///< [of_query, of_key]

  int rows() const { return static_cast<int>(of_query.size()); }
  int cols() const { return static_cast<int>(of_key.size()); }
};

/// The parts with the largest sums of magnitudes, at most `most`; -1 at the end for the rest.
std::vector<int> strongest_parts(const ScoreSources& of, int most, bool of_key) {
  std::vector<int> parts(static_cast<std::size_t>(of.count()));
  std::iota(parts.begin(), parts.end(), 0);
  if (of.count() <= most) return parts;
  std::vector<double> sizes(parts.size());
  for (int i = 0; i < of.count(); ++i)
    for (int j = 0; j < of.count(); ++j) sizes[of_key ? j : i] += size_of(of.product(i, j));
  std::ranges::stable_sort(parts, std::greater<>(), [&](int i) { return sizes[i]; });
  parts.resize(static_cast<std::size_t>(most - 1));
  std::ranges::sort(parts);
  parts.push_back(-1);
  return parts;
}

/// The index among the shown parts; the last one for what is not among them.
std::vector<int> places_of(const std::vector<int>& shown, int count) {
  std::vector<int> places;
  for (int i = 0; i < count; ++i) {
    const auto found = std::ranges::find(shown, i);
    places.push_back(static_cast<int>(found == shown.end() ? std::ssize(shown) - 1 : found - shown.begin()));
  }
  return places;
}

/// "token embedding", "L3 H2", "L3 bias" (attention's), "L3 MLP", "ln_1 bias", "W_Q bias" (or of W_K),
/// "edits"; for all of a layer's heads "L3 attention".
std::string name_of(const ScoreSource& source, bool of_key) {
  using Kind = ScoreSource::Kind;
  const std::string layer = "L" + std::to_string(source.layer);
  switch (source.kind) {
    case Kind::token_embedding:
      return "token embedding";
    case Kind::position_embedding:
      return "position embedding";
    case Kind::head:
      return source.head < 0 ? layer + " attention" : head_name(source.layer, source.head);
    case Kind::attention_bias:
      return layer + " bias";
    case Kind::mlp:
      return layer + " MLP";
    case Kind::norm_bias:
      return "ln_1 bias";
    case Kind::own_bias:
      return of_key ? "W_K bias" : "W_Q bias";
    case Kind::edits:
      break;
  }
  return "edits";
}

/// Short, for the grid and the list.
std::string name_in(const ScoreSources& of, int part, bool of_key) {
  if (part < 0) return "others";
  using Kind = ScoreSource::Kind;
  const Kind kind = of.sources[part].kind;
  if (kind == Kind::token_embedding) return "token";
  return kind == Kind::position_embedding ? "position" : name_of(of.sources[part], of_key);
}

Shown shown_of(const Numbers& n) {
  constexpr int kMost = 16;
  const ScoreSources& of = *n.of;
  Shown grid{strongest_parts(of, kMost, false), strongest_parts(of, kMost, true), {}, {}, {}};
  for (const int part : grid.of_query) grid.query_names.push_back(name_in(of, part, false));
  for (const int part : grid.of_key) grid.key_names.push_back(name_in(of, part, true));
  const std::vector<int> rows = places_of(grid.of_query, of.count()),
                         cols = places_of(grid.of_key, of.count());
  std::vector<double> sums(grid.query_names.size() * grid.key_names.size());
  for (int i = 0; i < of.count(); ++i)
    for (int j = 0; j < of.count(); ++j)
      sums[std::ptrdiff_t{rows[i]} * grid.cols() + cols[j]] += of.product(i, j);
  grid.values.assign(sums.begin(), sums.end());
  return grid;
}

std::string number_title(const ViewContext& c) {
  return c.side == Side::difference ? "difference" : "scaled score";
}

/// A product as an item: 1 + the part of q, and of k, 0 for all or the others of it; the list's products are
/// apart from the grid's, whose 0 is another thing.
constexpr int kStride = 20'000, kInGrid = kStride * kStride;  // no model has as many parts
int item_of(int of_query, int of_key, bool in_grid) {
  return (of_query < 0 || of_key < 0) && in_grid ? kInGrid + (of_query + 1) * kStride + of_key + 1
                                                 : (of_query + 1) * kStride + of_key + 1;
}
Product product_of(int item, double value) {
  item %= kInGrid;
  return {item / kStride - 1, item % kStride - 1, value};
}

std::unique_ptr<Grid> grid_of(const ViewContext& c, const Shown& shown) {
  auto grid = std::make_unique<Grid>(c, kCell, shown.values, shown.query_names, shown.key_names);
  viz::Heatmap& map = grid->map;
  const auto magnitude = static_cast<double>(viz::value_range(map.cells.matrix).magnitude());
  map.cells.scale =
      c.side == Side::difference ? scale_of_differences(magnitude) : viz::diverging_scale(magnitude);
  map.rows.title = "part of q", map.rows.color = c.theme->query;
  map.cols.title = "part of k", map.cols.color = c.theme->key;
  map.scale_title = number_title(c);
  grid->quantity = "scaled score";
  grid->refers_to = [&shown](int row, int col) {
    return Ref{.other = item_of(shown.of_query[row], shown.of_key[col], true)};
  };
  return grid;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "products", .keys = ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(n.listed.size()));
  List& list = *made;
  list.refers_to = [&n](int row) {
    return Ref{.other = item_of(n.listed[row].of_query, n.listed[row].of_key, false)};
  };
  list.on_key = [](const ViewContext& now, const TableRows&, const Gesture& gesture) {
    return layers_by_lines(now, gesture);
  };
  const Listed listed = c.options[kList];
  if (listed != Listed::key)
    list.text("part of q", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_query, false); },
              {.heading = c.theme->query});
  if (listed != Listed::query)
    list.text("part of k", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_key, true); },
              {.heading = c.theme->key});
  list.bar(number_title(c), 8, [&n](int row) { return n.listed[row].value; },
           {.digits = 4, .most = 16 * c.font_size, .is_signed = true});
  list.rank_by([&n](int row) { return n.listed[row].value; });
  const auto footer = [&](const std::string& name, double value, viz::Color color) {
    viz::FixedRow& row = list.table.footer.emplace_back();
    row = {list.cell(0, name), list.cell(list.last(), viz::fixed_number(value, 4))};
    for (viz::FixedCell& cell : row) cell.color = color;
  };
  const std::ptrdiff_t pairs = std::ptrdiff_t{n.of->count()} * n.of->count();
  if (listed == Listed::pairs && pairs > std::ssize(n.listed))
    footer(grouped(pairs - std::ssize(n.listed)) + " not listed", n.others, c.theme->text_muted);
  footer("sum", n.of->sum(), c.theme->text);
  if (listed != Listed::pairs) list.table.row_names = "parts";
  return made;
}

/// "all products 3.2101, the model's scaled score 3.2101, rounding error 1.2e−7".
std::string sum_words(const ViewContext& c, const ScoreSources& of) {
  return "all products " + viz::fixed_number(of.sum(), 4) +
         (c.side == Side::difference ? ", the difference in scaled score " : ", the model's scaled score ") +
         viz::fixed_number(of.score, 4) + ", rounding error " + viz::number(of.rounding_error(), 2);
}

/// What became of the score; empty: it went into the softmax.
std::string replaced_words(const ViewContext& c, const Numbers& n) {
  if (c.side == Side::difference || !n.terms.edited()) return "";
  if (std::isinf(n.terms.masked())) return "this key is masked: the score does not count";
  return "an edit replaces this score by " + viz::fixed_number(static_cast<double>(n.terms.masked()), 4);
}

/// What parts are.
std::string reading_words(const ViewContext& c, const ScoreSources& of) {
  std::string words = "a part is what was written, minus its mean, divided by ln_1's scale";
  if (c.side != Side::difference)
    words += " (" + viz::number(of.query_scale, 4) + " for q, " + viz::number(of.key_scale, 4) + " for k)";
  words += ", times ln_1's gain and W_Q or W_K; biases are parts of their own";
  return words + (of.edited() ? "; edits: what they add outside the other parts" : "");
}

/// A way to the head that wrote a part: the head, and where it wrote.
struct Way {
  std::string label;
  ViewActions actions;
};

/// First that of k's part, whose head wrote at the key's position, then that of q's.
std::vector<Way> ways_of(const ViewContext& c, const Numbers& n, const Product& product) {
  std::vector<Way> ways;
  const auto add = [&](int part, int position) {
    if (part < 0 || n.of->sources[part].head < 0) return;
    const auto [kind, layer, head] = n.of->sources[part];
    Way way{"Show " + head_name(layer, head) + " at query " + token_name(c.run->tokens, position),
            {SelectHead{layer, head}, SelectQuery{position}}};
    if (ways.empty() || ways.front().label != way.label) ways.push_back(std::move(way));
  };
  add(product.of_key, n.terms.key);
  add(product.of_query, n.terms.query);
  return ways;
}

/// "L1 H2 in q × token embedding in k", "L1 H2 in q × all of k".
std::string words_of(const ScoreSources& of, const Product& product, bool of_list) {
  const std::string whole = of_list ? "all of " : "others in ";
  const auto name = [&](int part, bool of_key) {
    const std::string vector = of_key ? "k" : "q";
    return part < 0 ? whole + vector : name_of(of.sources[part], of_key) + " in " + vector;
  };
  return name(product.of_query, false) + " × " + name(product.of_key, true);
}

/// Whether the part of k is the same for every key.
bool is_constant(const ScoreSources& of, int of_key) {
  return of_key >= 0 && (of.sources[of_key].kind == ScoreSource::Kind::norm_bias ||
                         of.sources[of_key].kind == ScoreSource::Kind::own_bias);
}

void add_product(Facts& facts, const ViewContext& c, const Numbers& n, const Product& product, bool of_list) {
  facts.say(words_of(*n.of, product, of_list));
  const bool is_difference = c.side == Side::difference;
  if (!is_difference && n.of->sum() != 0 && !std::isnan(product.value))
    facts.say(viz::fixed_number(100 * product.value / n.of->sum(), 1) + " % of the sum");
  if (!is_difference && is_constant(*n.of, product.of_key))
    facts.say("the same for every key: no effect on the weight", Fact::Location::tooltip);
  for (Way& way : ways_of(c, n, product)) facts.commands.push_back({way.label, std::move(way.actions)});
}

/// A row for each pair, or for each part on one side with all of the other.
Table table(const ViewContext& c, const Numbers& n) {
  const ScoreSources& of = *n.of;
  const std::string value = difference_column_prefix(c) + "scaled score";
  Table result{"part of q", note_column("q layer"), note_column("q head"),
               "part of k", note_column("k layer"), note_column("k head"),
               value};
  result.ranked_by = value;
  for (const Product& product : products_in(of, c.options[kList])) {
    TableRow row;
    for (const bool key : {false, true}) {
      const int part = key ? product.of_key : product.of_query;
      const auto number = [](int i) { return i < 0 ? std::optional<int>() : std::optional(i); };
      if (part < 0)
        add_cells(row, "all", std::nullopt, std::nullopt);
      else
        add_cells(row, name_of(of.sources[part], key), number(of.sources[part].layer),
                  number(of.sources[part].head));
    }
    add_cells(row, product.value);
    result.add(std::move(row));
  }
  add_head_facts(result, c);
  add_query_facts(result, c);
  add_token_facts(result, c.run->tokens, "key", n.terms.key);
  result.about("scale", c.run->run->config.attention_scale(n.terms.layer));
  result.fact(value, of.score);
  result.fact("sum", of.sum());
  result.fact("rounding error", of.rounding_error());
  if (c.side == Side::difference) return result;  // each side has its own
  result.fact("weight", n.terms.weight());
  result.fact("ln_1 scale at the query", of.query_scale);
  result.fact("ln_1 scale at the key", of.key_scale);
  if (n.terms.edited()) result.fact("edited score", n.terms.masked());
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*std::move(numbers));
  const Shown& shown = it.keep(shown_of(n));
  it.title = "Score sources: " + token_name(c.run->tokens, n.terms.query) + " → " +
             token_name(c.run->tokens, n.terms.key);
  it.subtitle = head_title(c, n.terms.layer, n.terms.head) + (c.selection.key < 0 ? "; strongest key" : "");
  if (c.side != Side::difference) it.subtitle += "; score " + viz::fixed_number(n.of->score, 4);
  it.table = [&] { return table(c, n); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other < 0) return;
    Product product = product_of(ref.other, std::numeric_limits<double>::quiet_NaN());
    if (product.of_query >= 0 && product.of_key >= 0)
      product.value = n.of->product(product.of_query, product.of_key);
    else if (ref.other < kInGrid)
      product.value = product.of_query >= 0 ? n.of->of_query(product.of_query) : n.of->of_key(product.of_key);
    add_product(facts, c, n, product, ref.other < kInGrid);
  };
  it.choose = [&](const ViewContext&, const Ref& ref) {
    if (ref.other < 0) return ViewActions{};
    const std::vector<Way> ways = ways_of(c, n, product_of(ref.other, 0));
    return ways.empty() ? ViewActions{} : ways.front().actions;
  };
  it.body =
      beside(boxes(rows(boxes(BoxPtr(grid_of(c, shown)),
                              notes({sum_words(c, *n.of), replaced_words(c, n), reading_words(c, *n.of)}))),
                   BoxPtr(may_be_left_out(list_of(c, n), "the list"))));
}

}  // namespace score_sources

View score_sources_view() {
  using namespace score_sources;
  View view =
      make_view(Group::attention, "score_sources", "Score sources",
                "what earlier heads, MLPs and embeddings, written into q and k, add to a score", declare);
  view.audience = Audience::research;
  view.options = {&kParts, &kList, &kFirstRow};
  view.has_list = true;
  view.shows_difference = true;
  view.caption = {true, true, true};
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
