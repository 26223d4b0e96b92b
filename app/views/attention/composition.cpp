#include "app/run/analyses/head_circuit.h"

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace composition {

/// Roles of regions. cell: row: a sender, counted from the first head of layer 0; col: a receiver, from that
/// of layer 1; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Pairs { all, chosen };

constexpr std::size_t kListed = 60;  // of all pairs

const Option<CompositionKind> kKind = choice_option<CompositionKind>(
    "composition", "Composition", "cC", "through which input of the later head the two heads compose",
    {{"q", "Q", "What the earlier head writes, as the later one's queries read it"},
     {"k", "K", "What the earlier head writes, as the later one's keys read it",
      "through the later head's keys"},
     {"v", "V", "What the earlier head writes, as the later one's values read it",
      "through the later head's values"}});
const Option<Pairs> kPairs =
    choice_option<Pairs>("composition-pairs", "List", "pP", "which pairs of heads are listed",
                         {{"all", "All pairs", "Pairs of all heads, the largest number first"},
                          {"chosen", "Chosen head", "Only pairs of the chosen head, as receiver or as sender",
                           "pairs of this head"}});
const Option<std::vector<int>> kSenders =
    list_option("senders", "Senders", "heads that are marked as senders, as LAYER.HEAD", "{sender}", "none",
                {.heads = true, .kept = false, .control = Control::none});
const Option<int> kFirstRow = first_row_option("first-pair");

CompositionOf question_of(const ViewContext& c) {
  return {c.options[kKind]};
}

/// Numbers of the model alone differ only between two models.
bool is_difference(const ViewContext& c) {
  return c.side == Side::difference && c.run && compares_models(*c.run);
}

std::string name_of(const Composition& of, int head) {
  return head_name(of.layer_of(head), head % of.heads_per_layer);
}
SelectHead selection_of(const Composition& of, int head) {
  return {of.layer_of(head), head % of.heads_per_layer};
}

int chosen_head(const ViewContext& c, const Composition& of) {
  return c.selection.layer * of.heads_per_layer + c.selection.head;
}
/// The marked senders that this model has and that a later head can read.
std::vector<int> marked_senders(const ViewContext& c, const Composition& of) {
  std::vector<int> senders;
  for (const int number : c.options[kSenders]) {
    const auto [layer, head] = head_of_number(number);
    if (layer + 1 < of.layers && head < of.heads_per_layer)
      senders.push_back(layer * of.heads_per_layer + head);
  }
  return senders;
}
/// The first of them; -1: none.
int marked_sender(const ViewContext& c, const Composition& of) {
  const std::vector<int> senders = marked_senders(c, of);
  return senders.empty() ? -1 : senders.front();
}

/// The picture's numbers: the grid, and the listed pairs.
struct Numbers {
  std::shared_ptr<const Composition> of;
  int rows = 0;                     ///< senders, and receivers: all heads but those of one layer
  std::vector<float> excess;        ///< [senders, receivers]
  std::vector<std::uint8_t> apart;  ///< the same, 1: no pair
  std::vector<std::string> senders, receivers;
  std::vector<ComposedPair> listed;
  std::size_t pairs = 0;  ///< of which `listed` has the first

  int receiver(int col) const { return col + of->heads_per_layer; }
};

std::optional<Numbers> numbers_of(const ViewContext& c) {
  auto of = c.ask(question_of(c));
  if (!of || !c.run) return std::nullopt;
  Numbers n;
  n.rows = of->heads() - of->heads_per_layer;
  n.of = std::move(of);
  for (int row = 0; row < n.rows; ++row) {
    n.senders.push_back(name_of(*n.of, row));
    n.receivers.push_back(name_of(*n.of, n.receiver(row)));
    for (int col = 0; col < n.rows; ++col) {
      n.excess.push_back(static_cast<float>(n.of->excess(row, n.receiver(col))));
      n.apart.push_back(n.of->is_pair(row, n.receiver(col)) ? 0 : 1);
    }
  }
  const bool all = c.options[kPairs] == Pairs::all;
  n.listed = strongest_pairs(*n.of, all ? kListed : 0, is_difference(c), all ? -1 : chosen_head(c, *n.of));
  n.pairs = all ? static_cast<std::size_t>(
                      std::ranges::count_if(n.of->values, [](float v) { return !std::isnan(v); }))
                : n.listed.size();
  return n;
}

/// Whether each head has room for its name; else only layers are named.
bool names_heads(const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  constexpr float kCells = 0.7F;  // fraction of the side that the cells take at least
  const viz::Style style = style_of(c);
  return kCells * std::min(area.w, area.h) >= static_cast<float>(n.rows) * 1.1F * style.line(style.small());
}

/// The names of layers along the grid of heads, for heads without room for theirs.
struct LayerAxes {
  std::vector<std::string> senders, receivers;
  viz::AxisLabels rows, cols;
  viz::LabelRoom row_room, col_room;

  LayerAxes(const ViewContext& c, const Numbers& n, const viz::Rect& area) {
    const viz::Style style = style_of(c);
    for (int layer = 0; layer + 1 < n.of->layers; ++layer) {
      senders.push_back("L" + std::to_string(layer));
      receivers.push_back("L" + std::to_string(layer + 1));
    }
    const int sender = marked_sender(c, *n.of);
    rows = selectable_axis(c, senders, "sender", sender < 0 ? -1 : n.of->layer_of(sender));
    rows.color = c.theme->text;
    cols = selectable_axis(c, receivers, "receiver", c.selection.layer - 1);
    const float cell = 0.75F * std::min(area.w, area.h) / static_cast<float>(senders.size());
    row_room = viz::row_label_room(rows, cell, 0.24F * area.w, style);
    col_room = viz::column_label_room(cols, cell, 0.24F * area.h, style);
  }
  bool paint(viz::Scene& scene, const ViewContext& c, const viz::Region& of_heads,
             const viz::Rect& area) const {
    const auto layers = static_cast<int>(senders.size());
    const viz::Region grid = viz::Region::grid(0, 0, of_heads.rect, layers, layers);
    const bool whole = viz::paint_row_labels(scene, rows, row_room, grid, style_of(c));
    return viz::paint_column_labels(scene, cols, col_room, grid, area.right(), style_of(c)) && whole;
  }
};

/// Lines between the layers.
void paint_layers(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Region& grid) {
  viz::Segments lines{{}, c.theme->line, 1};
  const viz::Style style = style_of(c);
  for (int i = n.of->heads_per_layer; i < n.rows; i += n.of->heads_per_layer) {
    const viz::Rect cell = grid.cell_rect(i, i);
    const float x = style.snapped(cell.x), y = style.snapped(cell.y);
    lines.points.insert(lines.points.end(), {{x, grid.rect.y}, {x, grid.rect.bottom()}});
    lines.points.insert(lines.points.end(), {{grid.rect.x, y}, {grid.rect.right(), y}});
  }
  if (!lines.points.empty()) picture.scene.add(std::move(lines));
}

/// Marks the chosen head's column, the marked senders' rows, and the cells of both.
void paint_marks(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Region& grid) {
  const int col = chosen_head(c, *n.of) - n.of->heads_per_layer;
  const auto frame = [&](viz::Rect rect, viz::Color color, float width) {
    picture.scene.add(viz::StrokeRect{rect.inset(-0.5F), color, width, 1});
  };
  const std::vector<int> senders = marked_senders(c, *n.of);
  for (const int sender : senders) {
    const viz::Rect cell = grid.cell_rect(sender, 0);
    frame({grid.rect.x, cell.y, grid.rect.w, cell.h}, c.theme->text, 1);
  }
  if (col < 0) return;
  const viz::Rect cell = grid.cell_rect(0, col);
  frame({cell.x, grid.rect.y, cell.w, grid.rect.h}, c.theme->accent, 1);
  for (const int sender : senders)
    if (n.of->is_pair(sender, n.receiver(col)))
      frame(grid.cell_rect(sender, col).inset(-0.5F), c.theme->text, 2);
}

/// The words for the shown number: "above random", or its difference.
std::string quantity(const ViewContext& c) {
  return is_difference(c) ? "difference" : "above random";
}

/// Returns the bottom of its cells, or of the scale under them.
float paint_grid(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  const viz::Matrix values = viz::Matrix::row_major(n.excess, n.rows, n.rows);
  const auto magnitude = static_cast<double>(viz::value_range(values).magnitude());
  viz::Heatmap map;
  map.cells.matrix = values;
  map.cells.masked = n.apart;
  map.cells.hatched = false;
  map.cells.scale = is_difference(c) ? scale_of_differences(magnitude) : viz::diverging_scale(magnitude);
  std::optional<LayerAxes> layers;
  if (names_heads(c, n, area)) {
    map.rows = selectable_axis(c, n.senders, "sender", marked_sender(c, *n.of));
    map.rows.color = c.theme->text;
    map.cols = selectable_axis(c, n.receivers, "receiver", chosen_head(c, *n.of) - n.of->heads_per_layer);
  } else {
    layers.emplace(c, n, area);
    map.row_room = viz::LabelRoom{layers->row_room.size};
    map.col_room = viz::LabelRoom{layers->col_room.size};
  }
  map.scale_title = quantity(c);
  map.cell_values = n.of->complete() && n.rows <= 12;
  map.centered = !c.trimmed;
  map.saves_width = c.printed;
  map.says_pooling = true;
  map.role = kCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style_of(c));
  if (grid.rect.w <= 0 || grid.rect.h <= 0) return area.y;
  if (layers && !layers->paint(picture.scene, c, grid, area)) picture.whole = false;
  paint_layers(picture, c, n, grid);
  paint_marks(picture, c, n, grid);
  return grid.rect.bottom() + viz::flat_scale_height(map, area, style_of(c));
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "pairs", .keys = ListKeys::pages};

List list_of(const ViewContext& c, const Numbers& n) {
  List list(c, kRows, static_cast<int>(n.listed.size()));
  const auto pair = [&n](int row) -> const ComposedPair& { return n.listed[row]; };
  list.text("sender", 9, [&n, pair](int row) { return name_of(*n.of, pair(row).sender); });
  list.text("receiver", 9, [&n, pair](int row) { return name_of(*n.of, pair(row).receiver); });
  list.bar(quantity(c), 8, [pair](int row) { return pair(row).excess; },
           {.digits = 4, .most = 16 * c.font_size, .is_signed = true});
  list.table.strength = list.last();
  if (!is_difference(c)) {
    const auto value = [&n, pair](int row) { return n.of->value(pair(row).sender, pair(row).receiver); };
    list.number("composition", 5, value, {.color = c.theme->text_muted, .digits = 4});
  }
  const auto marked = std::ranges::find_if(n.listed, [&](const ComposedPair& of) {
    return of.sender == marked_sender(c, *n.of) && of.receiver == chosen_head(c, *n.of);
  });
  if (marked != n.listed.end()) list.table.marked = static_cast<int>(marked - n.listed.begin());
  return list;
}

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  const std::string reads =
      "what a head writes, as a later head's " + std::string(spec_of(c.options[kKind]).reads) + " read it";
  if (is_difference(c)) return subtraction_words(c) + "; " + reads;
  return reads + "; minus " + viz::fixed_number(n.of->baseline, 4) + ", that of random matrices";
}

/// How to read the numbers, from the longest wording to the shortest.
std::vector<std::string> formulas_of(const ViewContext& c) {
  const std::string formula(spec_of(c.options[kKind]).formula);
  const std::string minus = is_difference(c) ? "" : " − 1/√" + std::to_string(c.run->run->config.n_embd - 1);
  return {formula + minus + ", Frobenius norms, with ln_1's gain and means subtracted", formula + minus,
          formula};
}

/// "0.0123 above random".
std::string amount_words(const ViewContext& c, const Numbers& n, int sender, int receiver) {
  const double excess = n.of->excess(sender, receiver);
  if (is_difference(c)) return "difference " + viz::fixed_number(excess, 4);
  return viz::fixed_number(std::abs(excess), 4) + (excess < 0 ? " below random" : " above random");
}

std::vector<std::string> notes_of(const ViewContext& c, const Numbers& n, const List& list, bool lists,
                                  float room) {
  const viz::Style style = style_of(c);
  std::vector<std::string> notes;
  for (const std::string& words : formulas_of(c)) {
    if (style.width(words, style.small()) > room) continue;
    notes.push_back(words);
    break;
  }
  const int sender = marked_sender(c, *n.of), receiver = chosen_head(c, *n.of);
  if (sender >= 0 && n.of->is_pair(sender, receiver) && !std::isnan(n.of->value(sender, receiver)))
    notes.push_back(name_of(*n.of, sender) + " → " + name_of(*n.of, receiver) + ": " +
                    amount_words(c, n, sender, receiver));
  std::string words;
  if (!n.of->complete())
    words = "computing… receivers of layers up to " + std::to_string(n.of->done - 1);
  else if (lists)
    words = list.note("listed: ");
  if (lists && n.of->complete() && n.pairs > n.listed.size())
    words += std::string(words.empty() ? "listed: " : "; ") + "the strongest " + std::to_string(kListed) +
             " of " + grouped(static_cast<std::int64_t>(n.pairs));
  if (!words.empty()) notes.push_back(words);
  return notes;
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_run(c, question_of(c))) return *words;
  const auto numbers = numbers_of(c);
  if (auto words = waiting(c, question_of(c), numbers.has_value())) return *words;
  const Numbers& n = *numbers;
  if (n.rows == 0) return message(c, "a single layer: no head reads what another one writes");
  const viz::Style style = style_of(c);
  const float line = style.line(style.small());
  const auto [chart, list_area] = lay_out_with_list(c, 46, 0.64F, 34, 3 * line + style.unit(), 1);
  List list = list_of(c, n);
  list.lay_out(list_area);
  const bool lists = list_area.w > 0 && list.layout().places.size() > 2;
  if (chart.w < 10 * c.font_size || chart.h < 8 * c.font_size) return too_small(c, "for the heads");
  Picture picture = blank(c);
  paint_title(picture, c,
              std::string(spec_of(c.options[kKind]).title) + " of heads" +
                  (is_difference(c) ? difference_suffix(c) : ""),
              subtitle_of(c, n));
  const float cells_end = paint_grid(picture, c, n, chart);
  if (lists) list.paint(picture);
  picture.whole = picture.whole && (lists || c.in_pane);  // a figure needs both
  paint_small_lines(picture, c, notes_of(c, n, list, lists, chart.w),
                    {chart.x, std::min(chart.bottom() + style.unit(), cells_end + 2 * style.unit())},
                    chart.w);
  return picture;
}

/// The pair at a place; nothing if there is none.
std::optional<ComposedPair> pair_at(const Numbers& n, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (region.role == kRow)
    return region.id < std::ssize(n.listed) ? std::optional(n.listed[region.id]) : std::nullopt;
  const int receiver = n.receiver(hit.col);
  if (hit.row >= n.rows || hit.col >= n.rows || !n.of->is_pair(hit.row, receiver)) return std::nullopt;
  return ComposedPair{hit.row, receiver, n.of->excess(hit.row, receiver)};
}

ViewActions mark(const Composition& of, const ComposedPair& pair) {
  const SelectHead sender = selection_of(of, pair.sender);
  return {selection_of(of, pair.receiver),
          SetOption{&kSenders, std::vector<int>{head_number(sender.layer, sender.head)}}};
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  const auto pair = n ? pair_at(*n, picture, hit) : std::nullopt;
  return pair ? mark(*n->of, *pair) : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  const auto pair = n ? pair_at(*n, picture, hit) : std::nullopt;
  if (!pair) return facts;
  const viz::Style style = style_of(c);
  for (const viz::Region& region : picture.regions) {
    if (region.role == kCell)
      viz::paint_crosshair(facts.overlay, region, pair->sender, pair->receiver - n->of->heads_per_layer,
                           c.theme->text, c.theme->text, style);
    else if (region.id < std::ssize(n->listed) && n->listed[region.id].sender == pair->sender &&
             n->listed[region.id].receiver == pair->receiver)
      facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1.5F, 1});
  }
  const std::string sender = name_of(*n->of, pair->sender), receiver = name_of(*n->of, pair->receiver);
  facts.say(sender + " → " + receiver);
  const std::string kind(spec_of(c.options[kKind]).title);
  const float value = n->of->value(pair->sender, pair->receiver);
  if (std::isnan(value)) {
    facts.say(n->of->complete() || n->of->layer_of(pair->receiver) < n->of->done
                  ? "no number: one of the matrices is 0 or not finite"
                  : kComputing);
  } else if (is_difference(c)) {
    facts.number("difference in " + kind, value);
  } else {
    facts.number(kind, value);
    facts.number("above random", pair->excess);
    facts.say("random matrices: " + exact(n->of->baseline), Fact::Location::tooltip);
  }
  facts.commands.push_back({"Choose " + receiver + ", mark " + sender + " as sender", mark(*n->of, *pair)});
  facts.commands.push_back({"Show " + sender, {selection_of(*n->of, pair->sender)}});
  facts.commands.push_back({"Show " + receiver, {selection_of(*n->of, pair->receiver)}});
  return facts;
}

/// A row for each pair, listed or not.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const bool is_change = is_difference(c);
  Table result{key_column("sender layer"), key_column("sender head"), key_column("receiver layer"),
               key_column("receiver head"), (is_change ? difference_column_prefix(c) : "") + "composition"};
  result.ranked_by = result.columns.back().name;
  const CompositionKindSpec& kind = spec_of(c.options[kKind]);
  result.fact("kind", kind.name);
  result.fact("formula", kind.formula);
  if (!is_change) {
    result.columns.emplace_back("above random");
    result.fact("random", n->of->baseline);
  }
  for (int row = 0; row < n->rows; ++row)
    for (int col = 0; col < n->rows; ++col) {
      const int receiver = n->receiver(col);
      const SelectHead from = selection_of(*n->of, row), to = selection_of(*n->of, receiver);
      if (!n->of->is_pair(row, receiver) || to.layer >= n->of->done) continue;
      add_row(result, from.layer, from.head, to.layer, to.head, n->of->value(row, receiver),
              is_change ? std::nullopt : std::optional(n->of->excess(row, receiver)));
    }
  return result;
}

}  // namespace composition

View composition_view() {
  using namespace composition;
  View view =
      make_view(Group::attention, "composition", "Composition",
                "how much of what a head writes lies where a later head's queries, keys or values read",
                build, facts, table);
  view.options = {&kKind, &kPairs, &kSenders, &kFirstRow};
  add_list(view, kRows, click, keys_along_heads);
  view.of_model = [](const ViewContext&) { return true; };
  view.shows_parts = true;
  view.shows_difference = true;
  view.figure_size = [](const ViewContext& c) -> viz::Point { return {78 * c.font_size, 52 * c.font_size}; };
  view.caption = {.prompt = false, .head = true};
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
