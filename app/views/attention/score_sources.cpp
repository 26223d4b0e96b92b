#include "app/run/analyses/score_sources.h"

#include <numeric>

#include "app/views/attention/score_breakdown.h"
#include "app/views/parts/parts.h"

namespace headscope::app::score_sources {

/// Roles of regions. cell: row: a shown part of q, col: of k; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Listed { pairs, query, key };
using Kind = StreamSource::Kind;

const Option<Listed> kList =
    choice_option<Listed>("score-list", "List", "cC", "what is listed next to the grid",
                          {{"pairs", "Pairs", "Products of a part of q with a part of k, strongest first"},
                           {"query", "Query", "Each part of q times all of k, strongest first"},
                           {"key", "Key", "Each part of k times all of q, strongest first"}});

// In place of a part's number: all of them together, and those that the grid does not show.
constexpr int kAll = ScoreSources::kAll, kOthers = -2;

/// A product of a part of q with a part of k.
struct Product {
  int of_query = kAll, of_key = kAll;
  double value = 0;
};

/// What the picture shows.
struct Numbers {
  score_breakdown::ScoreTerms terms;  ///< of the run, also on the difference side
  std::shared_ptr<const ScoreSources> of;
  std::vector<Product> listed;  ///< strongest first
  std::vector<int> rows, cols;  ///< parts of q and k in the grid, in the order of the pass
  std::vector<float> grid;      ///< [rows, cols]

  /// A product as an item.
  Ref ref(int of_query, int of_key) const {
    return {.other = (of_query - kOthers) * (of->count() - kOthers) + of_key - kOthers};
  }
  std::pair<int, int> parts(const Ref& ref) const {
    const int all = of->count() - kOthers;
    return {ref.other / all + kOthers, ref.other % all + kOthers};
  }
};

/// For sorting; numbers that are none come first.
double size_of(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
}

std::vector<Product> products_in(const ScoreSources& of, Listed list) {
  std::vector<Product> products;
  for (int q = list == Listed::key ? kAll : 0; q < (list == Listed::key ? 0 : of.count()); ++q)
    for (int k = list == Listed::query ? kAll : 0; k < (list == Listed::query ? 0 : of.count()); ++k)
      products.push_back({q, k, of.product(q, k)});
  return products;
}

std::vector<Product> listed_products(const ScoreSources& of, Listed list) {
  constexpr std::size_t kMaxPairs = 60;
  std::vector<Product> products = products_in(of, list);
  std::ranges::stable_sort(products, std::greater<>(), [](const Product& p) { return size_of(p.value); });
  if (list == Listed::pairs) products.resize(std::min(kMaxPairs, products.size()));
  return products;
}

/// The parts with the largest sums of magnitudes, and all others together if there are more than `most`.
std::vector<int> strongest_parts(const ScoreSources& of, bool of_key, int most) {
  std::vector<int> parts(static_cast<std::size_t>(of.count()));
  std::iota(parts.begin(), parts.end(), 0);
  if (of.count() <= most) return parts;
  std::vector<double> sizes(parts.size());
  for (int i = 0; i < of.count(); ++i)
    for (int j = 0; j < of.count(); ++j) sizes[of_key ? j : i] += size_of(of.product(i, j));
  std::ranges::stable_sort(parts, std::greater<>(), [&](int i) { return sizes[i]; });
  parts.resize(most - 1);
  std::ranges::sort(parts);
  parts.push_back(kOthers);
  return parts;
}

/// The sums of the products in each cell.
std::vector<float> grid_numbers(const Numbers& n) {
  const auto place = [](const std::vector<int>& shown, int part) {
    return std::min(std::ranges::find(shown, part) - shown.begin(), std::ssize(shown) - 1);
  };
  std::vector<double> sums(n.rows.size() * n.cols.size());
  for (int i = 0; i < n.of->count(); ++i) {
    const std::ptrdiff_t row = place(n.rows, i) * std::ssize(n.cols);
    for (int j = 0; j < n.of->count(); ++j) sums[row + place(n.cols, j)] += n.of->product(i, j);
  }
  return {sums.begin(), sums.end()};
}

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const auto breakdown = score_breakdown::breakdown_of(it);
  if (!breakdown) return std::nullopt;
  Numbers n;
  n.terms = breakdown->now;
  n.of = it.need(ScoreSourcesOf{n.terms.layer, n.terms.head, n.terms.query, n.terms.key});
  if (!n.of) return std::nullopt;
  n.listed = listed_products(*n.of, it.c.options[kList]);
  const int most = is_slide(it.c) ? 11 : 16;  // a slide has room for so many names
  n.rows = strongest_parts(*n.of, false, most), n.cols = strongest_parts(*n.of, true, most);
  n.grid = grid_numbers(n);
  return n;
}

std::string name_of(const StreamSource& source, bool of_key) {
  return name_of(source, "ln_1 bias", of_key ? "W_K bias" : "W_Q bias");
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

const ListRows kRows{kRow, first_row_option("first-product", true), "products", ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.listed.size()));
  list->refers_to = [&n](int row) { return n.ref(n.listed[row].of_query, n.listed[row].of_key); };
  list->least_rows = 4, list->least_width = 16.5F, list->good_width = 23, list->most_width = 34;
  const Listed listed = c.options[kList];
  if (listed != Listed::key)
    list->text("part of q", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_query, false); },
               {.heading = c.theme->query});
  if (listed != Listed::query)
    list->text("part of k", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_key, true); },
               {.heading = c.theme->key});
  list->bar("scaled score", 8, [&n](int row) { return n.listed[row].value; },
            {.digits = 4,
             .least = 5.6F * c.font_size,
             .most = 16 * c.font_size,
             .is_signed = true,
             .differs = true});
  list->rank_by([&n](int row) { return n.listed[row].value; });
  const std::ptrdiff_t parts = n.of->count(), all = listed == Listed::pairs ? parts * parts : parts;
  // With those that are scrolled out of sight, so that what is seen adds up.
  list->footer_of = [&n, &rows = *list, all](std::span<const int> shown) -> viz::FixedRow {
    double others = n.of->sum();
    for (const int row : shown) others -= n.listed[row].value;
    return {rows.cell(0, grouped(all - std::ssize(shown)) + " others"),
            rows.cell(rows.last(), viz::fixed_number(others, 4))};
  };
  list->table.footer = {list->footer_of({})};
  list->add_footer("sum of all " + grouped(all), viz::fixed_number(n.of->sum(), 4));
  if (listed != Listed::pairs) list->table.row_names = "parts";
  return list;
}

/// How the products add up, what became of the score unless it went into the softmax, and what parts are.
std::vector<std::string> notes_of(const ViewContext& c, const Numbers& n) {
  const ScoreSources& of = *n.of;
  const bool differs = c.differs();
  std::vector<std::string> words{
      "sum " + viz::fixed_number(of.sum(), 4) +
      (differs ? ", the difference in scaled score " : ", the model's scaled score ") +
      viz::fixed_number(of.score, 4) + ", rounding error " + viz::number(of.rounding_error(), 2)};
  if (!differs && n.terms.edited())
    words.push_back(std::isinf(n.terms.masked())
                        ? "this key is masked: the score does not count"
                        : "an edit replaces this score by " + viz::fixed_number(double{n.terms.masked()}, 4));
  const std::string scales =
      " (" + viz::number(of.query_scale, 4) + " for q, " + viz::number(of.key_scale, 4) + " for k)";
  words.push_back("a part is what was written, minus its mean, divided by ln_1's scale" +
                  (differs ? "" : scales) +
                  ", times ln_1's gain and W_Q or W_K; biases are parts of their own" +
                  (of.edited() ? "; edits: what they add outside the other parts" : ""));
  return words;
}

/// Ways to the heads that wrote the parts: first that of k's part, at the key's position, then that of q's.
std::vector<MenuLine> ways_of(const ViewContext& c, const Numbers& n, const Ref& ref) {
  std::vector<MenuLine> ways;
  const auto add = [&](int part, int position) {
    if (part < 0 || n.of->sources[part].head < 0) return;
    const auto [kind, layer, head] = n.of->sources[part];
    MenuLine way{"Show " + head_name(layer, head) + " at query " + token_name(c.run->tokens, position),
                 {SelectHead{layer, head}, SelectQuery{position}}};
    if (ways.empty() || ways.front().label != way.label) ways.push_back(std::move(way));
  };
  const auto [of_query, of_key] = n.parts(ref);
  add(of_key, n.terms.key);
  add(of_query, n.terms.query);
  return ways;
}

void add_product(Facts& facts, const ViewContext& c, const Numbers& n, const Ref& ref) {
  const ScoreSources& of = *n.of;
  const auto [of_query, of_key] = n.parts(ref);
  const auto name = [&](int part, bool key) {
    return (part == kAll      ? "all of"
            : part == kOthers ? "others in"
                              : name_of(of.sources[part], key) + " in") +
           (key ? " k" : " q");
  };
  facts.say(name(of_query, false) + " × " + name(of_key, true));
  std::ranges::move(ways_of(c, n, ref), std::back_inserter(facts.commands));
  if (c.differs() || of_query == kOthers || of_key == kOthers) return;
  if (const double value = of.product(of_query, of_key); of.sum() != 0 && !std::isnan(value))
    facts.say(viz::fixed_number(100 * value / of.sum(), 1) + " % of the sum");
  if (of_key == kAll) return;
  if (const Kind kind = of.sources[of_key].kind; kind == Kind::norm_bias || kind == Kind::own_bias)
    facts.tip("the same for every key: no effect on the weight");
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
      const StreamSource source = part == kAll ? StreamSource() : of.sources[part];
      add_cells(row, part == kAll ? "all" : name_of(source, key), index_cell(source.layer),
                index_cell(source.head));
    }
    add_cells(row, product.value);
    result.add(std::move(row));
  }
  add_head_facts(result, c);
  add_query_facts(result, c);
  add_token_facts(result, c.run->tokens, "key", n.terms.key);
  result.about("scale", c.config().attention_scale(n.terms.layer));
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
  it.on = arrows({1, 0});
  it.table = [&] { return table(c, n); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) add_product(facts, c, n, ref);
  };
  it.choose = [&](const ViewContext&, const Ref& ref) {
    const auto ways = ref.other < 0 ? std::vector<MenuLine>() : ways_of(c, n, ref);
    return ways.empty() ? ViewActions() : ways.front().actions;
  };
  it.body = beside(
      boxes(rows(boxes(grid_of(c, n), notes(notes_of(c, n)))), may_be_left_out(list_of(c, n), "the list")));
}

View view() {
  View view = make_view("score_sources", "Score sources", declare,
                        "what earlier heads, MLPs and embeddings, written into q and k, add to a score");
  view.options = {&kList, &kRows.first};
  view.caption.head = true;
  view.landmarks = {{"grid", kCell}};
  return view;
}

}  // namespace headscope::app::score_sources
