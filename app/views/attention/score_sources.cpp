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

const Option<Parts> kParts =
    choice_option<Parts>("score-parts", "Parts", "pP", "the parts that q and k are taken apart into",
                         {{"heads", "Heads", "Every head, bias and MLP of the layers before"},
                          {"layers", "Layers", "The heads and the bias of each layer's attention as one part",
                           "attention by layer"}});
const Option<Listed> kList = choice_option<Listed>(
    "score-list", "List", "cC", "what is listed next to the grid",
    {{"pairs", "Pairs", "Products of a part of q with a part of k, strongest first"},
     {"query", "Query", "Each part of q times all of k, strongest first", "the query's parts"},
     {"key", "Key", "Each part of k times all of q, strongest first", "the key's parts"}});
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

ScoreSourcesOf question_of(const ScoreTerms& terms) {
  return {terms.layer, terms.head, terms.query, terms.key};
}

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

std::optional<Numbers> numbers_of(const ViewContext& c) {
  Content content(c);
  const auto breakdown = score_breakdown::breakdown_of(content);
  if (!breakdown) return std::nullopt;
  Numbers n;
  n.terms = breakdown->now;
  n.of = c.ask(question_of(n.terms));
  if (!n.of) return std::nullopt;
  if (c.options[kParts] == Parts::layers) n.of = std::make_shared<const ScoreSources>(heads_together(*n.of));
  add_list(n, c.options[kList]);
  return n;
}

/// The parts that the grid shows, in the order of the pass, and of q and k all others together if there is no
/// room for all.
struct Grid {
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

/// As many parts as have room for their names.
Grid grid_of(const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  constexpr float kCells = 0.68F, kPitch = 1.7F;  // fraction of the side that the cells take; ems of a name
  constexpr int kLeast = 4, kMost = 24;
  const ScoreSources& of = *n.of;
  const float room = kCells * std::min(area.w, area.h) / (kPitch * style_of(c).small());
  const int most = std::clamp(static_cast<int>(room), kLeast, kMost);
  Grid grid{strongest_parts(of, most, false), strongest_parts(of, most, true), {}, {}, {}};
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

ChartAndList layout_of(const ViewContext& c) {
  const viz::Style style = style_of(c);
  return lay_out_with_list(c, 46, 0.6F, 34, 4 * style.line(style.small()) + style.unit(), 1);
}

std::string number_title(const ViewContext& c) {
  return c.side == Side::difference ? "difference" : "scaled score";
}

/// Returns the bottom of its cells, or of the scale under them.
float paint_grid(Picture& picture, const ViewContext& c, const Grid& grid, const viz::Rect& area) {
  const viz::Matrix values = viz::Matrix::row_major(grid.values, grid.rows(), grid.cols());
  const auto magnitude = static_cast<double>(viz::value_range(values).magnitude());
  viz::Heatmap map;
  map.cells.matrix = values;
  map.cells.scale =
      c.side == Side::difference ? scale_of_differences(magnitude) : viz::diverging_scale(magnitude);
  map.rows = {grid.query_names, "part of q", c.theme->query};
  map.cols = {grid.key_names, "part of k", c.theme->key};
  map.scale_title = number_title(c);
  map.centered = !c.trimmed;
  map.saves_width = c.printed;
  map.role = kCell;
  const viz::Region region = viz::paint_heatmap(picture, map, area, style_of(c));
  return region.rect.bottom() + viz::flat_scale_height(map, area, style_of(c));
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "products", .keys = ListKeys::pages};

List list_of(const ViewContext& c, const Numbers& n) {
  List list(c, kRows, static_cast<int>(n.listed.size()));
  const Listed listed = c.options[kList];
  if (listed != Listed::key)
    list.text("part of q", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_query, false); },
              {.heading = c.theme->query});
  if (listed != Listed::query)
    list.text("part of k", 9, [&n](int row) { return name_in(*n.of, n.listed[row].of_key, true); },
              {.heading = c.theme->key});
  list.bar(number_title(c), 8, [&n](int row) { return n.listed[row].value; },
           {.digits = 4, .most = 16 * c.font_size, .is_signed = true});
  list.table.strength = list.last();
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
  return list;
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

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  const std::string head = head_title(c, n.terms.layer, n.terms.head);
  const std::string key = c.selection.key >= 0 ? "the chosen key" : "the strongest key";
  if (c.side == Side::difference)
    return query_difference_words(c) + "; " + head + ", each with its own ln_1 scales";
  return head + ", " + key + ": q · k × " + scale_factor(c.run->run->config, n.terms.layer) + " = " +
         viz::fixed_number(n.of->score, 4) + ", by what earlier parts wrote into q and k";
}

Picture build(const ViewContext& c) {
  Content content(c);
  const auto breakdown = score_breakdown::breakdown_of(content);
  if (!breakdown) return message(c, content.message);
  const auto numbers = numbers_of(c);
  if (auto words = waiting(c, question_of(breakdown->now), numbers.has_value())) return *words;
  const Numbers& n = *numbers;
  const viz::Style style = style_of(c);
  const auto [chart, list_area] = layout_of(c);
  List list = list_of(c, n);
  list.lay_out(list_area);
  const bool lists = list_area.w > 0 && list.layout().places.size() > 1;
  if (chart.w < 12 * c.font_size || chart.h < 9 * c.font_size) return too_small(c, "for the parts");
  Picture picture = blank(c);
  paint_title(picture, c,
              "Score sources: " + token_name(c.run->tokens, n.terms.query) + " → " +
                  token_name(c.run->tokens, n.terms.key) + difference_suffix(c),
              subtitle_of(c, n));
  const float cells_end = paint_grid(picture, c, grid_of(c, n, chart), chart);
  if (lists) list.paint(picture);
  picture.whole = picture.whole && (lists || c.in_pane || c.options[kList] == Listed::pairs);
  std::vector<std::string> notes;
  const float room = chart.w;
  const float y = std::min(chart.bottom() + style.unit(), cells_end + 2 * style.unit());
  const float end = list_area.w > 0 && list_area.y > chart.y ? list_area.y : c.height - margin(c);
  const auto add = [&](const std::string& words) {  // all of them, or none
    const auto lines = viz::wrap(style, words, style.small(), viz::FontStyle::regular, room);
    const auto count = static_cast<float>(notes.size() + lines.size());
    if (words.empty() || y + count * style.line(style.small()) > end) return;
    notes.insert(notes.end(), lines.begin(), lines.end());
  };
  add(sum_words(c, *n.of) + (lists ? list.note("; listed: ") : ""));
  add(replaced_words(c, n));
  add(reading_words(c, *n.of));
  paint_small_lines(picture, c, notes, {chart.x, y}, room);
  return picture;
}

/// The product at a place; nothing outside the numbers.
std::optional<Product> product_at(const ViewContext& c, const Numbers& n, const Picture& picture,
                                  const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (region.role == kRow)
    return region.id < std::ssize(n.listed) ? std::optional(n.listed[region.id]) : std::nullopt;
  const Grid grid = grid_of(c, n, layout_of(c).chart);
  if (hit.row >= grid.rows() || hit.col >= grid.cols()) return std::nullopt;
  return Product{grid.of_query[hit.row], grid.of_key[hit.col],
                 static_cast<double>(grid.values[std::ptrdiff_t{hit.row} * grid.cols() + hit.col])};
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

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  const auto product = n ? product_at(c, *n, picture, hit) : std::nullopt;
  if (!product) return {};
  const std::vector<Way> ways = ways_of(c, *n, *product);
  return ways.empty() ? ViewActions{} : ways.front().actions;
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows&, const Gesture& gesture) {
  return layers_by_lines(c, gesture);
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

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  const auto product = n ? product_at(c, *n, picture, hit) : std::nullopt;
  if (!product) return facts;
  const viz::Region& region = region_of(picture, hit);
  if (region.role == kCell)
    viz::paint_crosshair(facts.overlay, region, hit.row, hit.col, c.theme->query, c.theme->key, style_of(c));
  else
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1.5F, 1});
  facts.say(words_of(*n->of, *product, region.role == kRow));
  const std::string prefix = difference_prefix(c);
  facts.number(prefix + "scaled score", product->value);
  if (prefix.empty() && n->of->sum() != 0)
    facts.say(viz::fixed_number(100 * product->value / n->of->sum(), 1) + " % of the sum");
  if (prefix.empty() && is_constant(*n->of, product->of_key))
    facts.say("the same for every key: no effect on the weight", Fact::Location::tooltip);
  for (Way& way : ways_of(c, *n, *product)) facts.commands.push_back({way.label, std::move(way.actions)});
  return facts;
}

/// A row for each pair, or for each part on one side with all of the other.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const ScoreSources& of = *n->of;
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
  add_token_facts(result, c.run->tokens, "key", n->terms.key);
  result.about("scale", c.run->run->config.attention_scale(n->terms.layer));
  result.fact(value, of.score);
  result.fact("sum", of.sum());
  result.fact("rounding error", of.rounding_error());
  if (c.side == Side::difference) return result;  // each side has its own
  result.fact("weight", n->terms.weight());
  result.fact("ln_1 scale at the query", of.query_scale);
  result.fact("ln_1 scale at the key", of.key_scale);
  if (n->terms.edited()) result.fact("edited score", n->terms.masked());
  return result;
}

}  // namespace score_sources

View score_sources_view() {
  using namespace score_sources;
  View view = make_view(Group::attention, "score_sources", "Score sources",
                        "what earlier heads, MLPs and embeddings, written into q and k, add to a score",
                        build, facts, table);
  view.options = {&kParts, &kList, &kFirstRow};
  add_list(view, kRows, click, on_key);
  view.shows_difference = true;
  view.figure_size = [](const ViewContext& c) -> viz::Point { return {78 * c.font_size, 48 * c.font_size}; };
  view.caption = {true, true, true};
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
