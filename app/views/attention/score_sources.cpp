#include "app/run/analyses/score_sources.h"

#include <numeric>
#include <tuple>

#include "app/views/attention/score_breakdown.h"
#include "app/views/parts/parts.h"

namespace headscope::app::score_sources {

/// Roles of regions. cell: row: a shown part of q, col: of k; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Listed { pairs, query, key };
using Kind = ScoreSource::Kind;

const Option<Listed> kList =
    choice_option<Listed>("score-list", "List", "cC", "what is listed next to the grid",
                          {{"pairs", "Pairs", "Products of a part of q with a part of k, strongest first"},
                           {"query", "Query", "Each part of q times all of k, strongest first"},
                           {"key", "Key", "Each part of k times all of q, strongest first"}});
const Option<int> kFirstRow = first_row_option("first-product", true);

// In place of a part's number: all of them together, and those that the grid does not show.
constexpr int kAll = -1, kOthers = -2;

/// A product of a part of q with a part of k.
struct Product {
  int of_query = kAll;
  int of_key = kAll;
  double value = 0;
};

/// What the picture shows.
struct Numbers {
  score_breakdown::ScoreTerms terms;  ///< of the run, also on the difference side
  std::shared_ptr<const ScoreSources> of;
  std::vector<Product> listed;  ///< strongest first
  double others = 0;            ///< sum of the pairs that are not listed
  std::vector<int> rows, cols;  ///< parts of q and k in the grid, in the order of the pass
  std::vector<float> grid;      ///< [rows, cols]

  /// A product as an item.
  Ref ref(int of_query, int of_key) const {
    return {.other = (of_query - kOthers) * (of->count() - kOthers) + of_key - kOthers};
  }
  Product product(const Ref& ref) const {
    const int parts = of->count() - kOthers, q = ref.other / parts + kOthers, k = ref.other % parts + kOthers;
    return {q, k,
            q >= 0 && k >= 0      ? of->product(q, k)
            : q >= 0 && k == kAll ? of->of_query(q)
            : q == kAll && k >= 0 ? of->of_key(k)
                                  : std::numeric_limits<double>::quiet_NaN()};
  }
};

/// For sorting; numbers that are none come first.
double size_of(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
}

std::vector<Product> products_in(const ScoreSources& of, Listed list) {
  std::vector<Product> products;
  for (int i = 0; i < of.count(); ++i) {
    if (list == Listed::query) products.push_back({i, kAll, of.of_query(i)});
    if (list == Listed::key) products.push_back({kAll, i, of.of_key(i)});
    for (int j = 0; list == Listed::pairs && j < of.count(); ++j)
      products.push_back({i, j, of.product(i, j)});
  }
  return products;
}

void set_list(Numbers& n, Listed list) {
  constexpr std::size_t kMostPairs = 60;
  n.listed = products_in(*n.of, list);
  const auto key = [](const Product& p) { return std::tuple(-size_of(p.value), p.of_query, p.of_key); };
  const std::size_t most = list == Listed::pairs ? std::min(kMostPairs, n.listed.size()) : n.listed.size();
  std::ranges::partial_sort(n.listed, n.listed.begin() + static_cast<std::ptrdiff_t>(most), {}, key);
  n.listed.resize(most);
  n.others = n.of->sum();
  for (const Product& p : n.listed) n.others -= p.value;
}

/// The parts with the largest sums of magnitudes, and all others together if there is no room for all.
std::vector<int> strongest_parts(const ScoreSources& of, bool of_key) {
  constexpr int kMost = 16;
  std::vector<int> parts(static_cast<std::size_t>(of.count()));
  std::iota(parts.begin(), parts.end(), 0);
  if (of.count() <= kMost) return parts;
  std::vector<double> sizes(parts.size());
  for (int i = 0; i < of.count(); ++i)
    for (int j = 0; j < of.count(); ++j) sizes[of_key ? j : i] += size_of(of.product(i, j));
  std::ranges::stable_sort(parts, std::greater<>(), [&](int i) { return sizes[i]; });
  parts.resize(kMost - 1);
  std::ranges::sort(parts);
  parts.push_back(kOthers);
  return parts;
}

void set_grid(Numbers& n) {
  n.rows = strongest_parts(*n.of, false), n.cols = strongest_parts(*n.of, true);
  const auto place = [](const std::vector<int>& shown, int part) {
    return std::min(std::ranges::find(shown, part) - shown.begin(), std::ssize(shown) - 1);
  };
  std::vector<double> sums(n.rows.size() * n.cols.size());
  for (int i = 0; i < n.of->count(); ++i) {
    const std::ptrdiff_t row = place(n.rows, i) * std::ssize(n.cols);
    for (int j = 0; j < n.of->count(); ++j) sums[row + place(n.cols, j)] += n.of->product(i, j);
  }
  n.grid.assign(sums.begin(), sums.end());
}

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const auto breakdown = score_breakdown::breakdown_of(it);
  if (!breakdown) return std::nullopt;
  Numbers n;
  n.terms = breakdown->now;
  n.of = it.need(ScoreSourcesOf{n.terms.layer, n.terms.head, n.terms.query, n.terms.key});
  if (!n.of) return std::nullopt;
  set_list(n, it.c.options[kList]);
  set_grid(n);
  return n;
}

/// "token embedding", "L3 H2", "L3 bias" (attention's), "L3 MLP", "ln_1 bias", "W_Q bias" (or of W_K),
/// "edits".
std::string name_of(const ScoreSource& source, bool of_key) {
  const std::string layer = "L" + std::to_string(source.layer);
  if (source.kind == Kind::head) return head_name(source.layer, source.head);
  if (source.kind == Kind::attention_bias) return layer + " bias";
  if (source.kind == Kind::mlp) return layer + " MLP";
  return source.kind == Kind::token_embedding      ? "token embedding"
         : source.kind == Kind::position_embedding ? "position embedding"
         : source.kind == Kind::norm_bias          ? "ln_1 bias"
         : source.kind == Kind::edits              ? "edits"
         : of_key                                  ? "W_K bias"
                                                   : "W_Q bias";
}

/// Short, for the grid and the list.
std::string name_in(const ScoreSources& of, int part, bool of_key) {
  if (part < 0) return "others";
  const std::string name = name_of(of.sources[part], of_key);
  return name.substr(0, name.find(" embedding"));
}

std::unique_ptr<Grid> grid_of(const ViewContext& c, const Numbers& n) {
  std::vector<std::string> rows, cols;
  for (const int part : n.rows) rows.push_back(name_in(*n.of, part, false));
  for (const int part : n.cols) cols.push_back(name_in(*n.of, part, true));
  auto grid = std::make_unique<Grid>(c, kCell, n.grid, std::move(rows), std::move(cols));
  viz::Heatmap& map = grid->map;
  map.rows.title = "part of q", map.rows.title_color = c.theme->query;
  map.cols.title = "part of k", map.cols.title_color = c.theme->key;
  map.rows.numbered = map.cols.numbered = true;
  grid->quantity = "scaled score";
  map.scale_title = difference_prefix(c) + grid->quantity;
  grid->refers_to = [&n](int row, int col) { return n.ref(n.rows[row], n.cols[col]); };
  return grid;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "products", .keys = ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.listed.size()));
  list->refers_to = [&n](int row) { return n.ref(n.listed[row].of_query, n.listed[row].of_key); };
  list->least_width = 20, list->good_width = 23, list->most_width = 34;
  const Listed listed = c.options[kList];
  if (listed != Listed::key)
    list->text("part of q", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_query, false); },
               {.heading = c.theme->query});
  if (listed != Listed::query)
    list->text("part of k", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_key, true); },
               {.heading = c.theme->key});
  list->bar("scaled score", 8, [&n](int row) { return n.listed[row].value; },
            {.digits = 4, .most = 16 * c.font_size, .is_signed = true, .differs = true});
  list->rank_by([&n](int row) { return n.listed[row].value; });
  const std::ptrdiff_t pairs = std::ptrdiff_t{n.of->count()} * n.of->count();
  if (listed == Listed::pairs && pairs > std::ssize(n.listed))
    list->add_footer(grouped(pairs - std::ssize(n.listed)) + " not listed", viz::fixed_number(n.others, 4),
                     c.theme->text_muted);
  list->add_footer("sum", viz::fixed_number(n.of->sum(), 4));
  if (listed != Listed::pairs) list->table.row_names = "parts";
  return list;
}

/// "all products 3.2101, the model's scaled score 3.2101, rounding error 1.2e−7".
std::string sum_words(const ViewContext& c, const ScoreSources& of) {
  return "all products " + viz::fixed_number(of.sum(), 4) +
         (c.differs() ? ", the difference in scaled score " : ", the model's scaled score ") +
         viz::fixed_number(of.score, 4) + ", rounding error " + viz::number(of.rounding_error(), 2);
}

/// What became of the score; empty: it went into the softmax.
std::string replaced_words(const ViewContext& c, const Numbers& n) {
  if (c.differs() || !n.terms.edited()) return "";
  if (std::isinf(n.terms.masked())) return "this key is masked: the score does not count";
  return "an edit replaces this score by " + viz::fixed_number(static_cast<double>(n.terms.masked()), 4);
}

/// What parts are.
std::string reading_words(const ViewContext& c, const ScoreSources& of) {
  const std::string scales =
      " (" + viz::number(of.query_scale, 4) + " for q, " + viz::number(of.key_scale, 4) + " for k)";
  return "a part is what was written, minus its mean, divided by ln_1's scale" + (c.differs() ? "" : scales) +
         ", times ln_1's gain and W_Q or W_K; biases are parts of their own" +
         (of.edited() ? "; edits: what they add outside the other parts" : "");
}

/// Ways to the heads that wrote the parts: first that of k's part, at the key's position, then that of q's.
std::vector<MenuLine> ways_of(const ViewContext& c, const Numbers& n, const Product& product) {
  std::vector<MenuLine> ways;
  const auto add = [&](int part, int position) {
    if (part < 0 || n.of->sources[part].head < 0) return;
    const auto [kind, layer, head] = n.of->sources[part];
    MenuLine way{"Show " + head_name(layer, head) + " at query " + token_name(c.run->tokens, position),
                 {SelectHead{layer, head}, SelectQuery{position}}};
    if (ways.empty() || ways.front().label != way.label) ways.push_back(std::move(way));
  };
  add(product.of_key, n.terms.key);
  add(product.of_query, n.terms.query);
  return ways;
}

void add_product(Facts& facts, const ViewContext& c, const Numbers& n, const Product& product) {
  const ScoreSources& of = *n.of;
  const auto name = [&](int part, bool of_key) {
    const std::string vector = of_key ? "k" : "q";
    return part == kAll      ? "all of " + vector
           : part == kOthers ? "others in " + vector
                             : name_of(of.sources[part], of_key) + " in " + vector;
  };
  facts.say(name(product.of_query, false) + " × " + name(product.of_key, true));
  std::ranges::move(ways_of(c, n, product), std::back_inserter(facts.commands));
  if (c.differs()) return;
  if (of.sum() != 0 && !std::isnan(product.value))
    facts.say(viz::fixed_number(100 * product.value / of.sum(), 1) + " % of the sum");
  if (product.of_key < 0) return;
  if (const Kind kind = of.sources[product.of_key].kind; kind == Kind::norm_bias || kind == Kind::own_bias)
    facts.say("the same for every key: no effect on the weight", Fact::Location::tooltip);
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
      const ScoreSource source = part < 0 ? ScoreSource() : of.sources[part];
      const auto number = [](int i) { return i < 0 ? std::nullopt : std::optional(i); };
      add_cells(row, part < 0 ? "all" : name_of(source, key), number(source.layer), number(source.head));
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
  if (c.differs()) return result;  // each side has its own
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
  it.title = "Score sources: " + token_name(c.run->tokens, n.terms.query) + " → " +
             token_name(c.run->tokens, n.terms.key);
  it.subtitle = head_title(c, n.terms.layer, n.terms.head) + (c.selection.key < 0 ? "; strongest key" : "");
  if (!c.differs()) it.subtitle += "; score " + viz::fixed_number(n.of->score, 4);
  it.keys = arrows({1, 0});
  it.table = [&] { return table(c, n); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) add_product(facts, c, n, n.product(ref));
  };
  it.choose = [&](const ViewContext&, const Ref& ref) {
    const auto ways = ref.other < 0 ? std::vector<MenuLine>() : ways_of(c, n, n.product(ref));
    return ways.empty() ? ViewActions() : ways.front().actions;
  };
  it.body = beside(boxes(
      rows(boxes(grid_of(c, n), notes({sum_words(c, *n.of), replaced_words(c, n), reading_words(c, *n.of)}))),
      may_be_left_out(list_of(c, n), "the list")));
}

View view() {
  View view = make_view("score_sources", "Score sources", declare,
                        "what earlier heads, MLPs and embeddings, written into q and k, add to a score");
  view.options = {&kList, &kFirstRow};
  view.caption.head = true;
  view.landmarks = {landmark("grid", kCell)};
  return view;
}

}  // namespace headscope::app::score_sources
