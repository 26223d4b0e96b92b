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
     {"k", "K", "What the earlier head writes, as the later one's keys read it"},
     {"v", "V", "What the earlier head writes, as the later one's values read it"}});
const Option<Pairs> kPairs = choice_option<Pairs>(
    "composition-pairs", "List", "pP", "which pairs of heads are listed",
    {{"all", "All pairs", "Pairs of all heads, the largest number first"},
     {"chosen", "Chosen head", "Only pairs of the chosen head, as receiver or as sender"}});
const Option<std::vector<int>> kSenders =
    list_option("senders", "Senders", "heads that are marked as senders, as LAYER.HEAD", "none",
                {.heads = true, .kept = false, .control = Control::none});
const Option<int> kFirstRow = first_row_option("first-pair");

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
  /// A pair as an item; nothing where the two are no pair.
  Ref ref(int sender, int receiver) const {
    return of->is_pair(sender, receiver) ? Ref{.other = sender * of->heads() + receiver} : Ref{};
  }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Composition> of) {
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

/// Lines between the layers; frames around the chosen head's column, the marked senders' rows, and their
/// cells.
void paint_marks(viz::Scene& scene, const ViewContext& c, const Numbers& n, const viz::Region& grid) {
  viz::Segments lines{{}, c.theme->line, 1};
  for (int i = n.of->heads_per_layer; i < n.rows; i += n.of->heads_per_layer) {
    const viz::Rect cell = grid.cell_rect(i, i);
    const float x = style_of(c).snapped(cell.x), y = style_of(c).snapped(cell.y);
    lines.points.insert(lines.points.end(), {{x, grid.rect.y}, {x, grid.rect.bottom()}});
    lines.points.insert(lines.points.end(), {{grid.rect.x, y}, {grid.rect.right(), y}});
  }
  if (!lines.points.empty()) scene.add(std::move(lines));
  const int col = chosen_head(c, *n.of) - n.of->heads_per_layer;
  const auto frame = [&](viz::Rect rect, viz::Color color, float width) {
    scene.add(viz::StrokeRect{rect.inset(-0.5F), color, width, 1});
  };
  for (const int sender : marked_senders(c, *n.of)) {
    const viz::Rect cell = grid.cell_rect(sender, 0);
    frame({grid.rect.x, cell.y, grid.rect.w, cell.h}, c.theme->text, 1);
    if (col >= 0 && n.of->is_pair(sender, n.receiver(col)))
      frame(grid.cell_rect(sender, col).inset(-0.5F), c.theme->text, 2);
  }
  if (col < 0) return;
  const viz::Rect cell = grid.cell_rect(0, col);
  frame({cell.x, grid.rect.y, cell.w, grid.rect.h}, c.theme->accent, 1);
}

/// The words for the shown number: "above random", or its difference.
std::string quantity(const ViewContext& c) {
  return is_difference(c) ? "difference" : "above random";
}

std::unique_ptr<Grid> grid_of(const ViewContext& c, const Numbers& n) {
  auto grid = std::make_unique<Grid>(c, kCell, n.excess, n.senders, n.receivers);
  viz::Heatmap& map = grid->map;
  const auto magnitude = static_cast<double>(viz::value_range(map.cells.matrix).magnitude());
  map.cells.masked = n.apart;
  map.cells.hatched = false;
  map.cells.scale = is_difference(c) ? scale_of_differences(magnitude) : viz::diverging_scale(magnitude);
  const std::vector<int> senders = marked_senders(c, *n.of);
  map.rows.title = "sender", map.rows.emphasised = senders.empty() ? -1 : senders.front();
  map.rows.color = c.theme->text;
  map.cols.title = "receiver", map.cols.emphasised = chosen_head(c, *n.of) - n.of->heads_per_layer;
  map.scale_title = quantity(c);
  map.cell_values = n.of->complete() && n.rows <= 12;
  map.says_pooling = true;
  grid->refers_to = [&n](int row, int col) { return n.ref(row, n.receiver(col)); };
  grid->over = [&n](Picture& picture, const ViewContext& now, const viz::Region& region) {
    paint_marks(picture.scene, now, n, region);
  };
  return grid;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "pairs", .keys = ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.listed.size()));
  const auto pair = [&n](int row) -> const ComposedPair& { return n.listed[row]; };
  list->text("sender", 9, [&n, pair](int row) { return name_of(*n.of, pair(row).sender); });
  list->text("receiver", 9, [&n, pair](int row) { return name_of(*n.of, pair(row).receiver); });
  list->bar(quantity(c), 8, [pair](int row) { return pair(row).excess; },
            {.digits = 4, .most = 16 * c.font_size, .is_signed = true, .tip = false});
  list->rank_by([pair](int row) { return pair(row).excess; });
  if (!is_difference(c)) {
    const auto value = [&n, pair](int row) { return n.of->value(pair(row).sender, pair(row).receiver); };
    list->number("composition", 5, value, {.color = c.theme->text_muted, .digits = 4, .tip = false});
  }
  list->refers_to = [&n, pair](int row) { return n.ref(pair(row).sender, pair(row).receiver); };
  list->on_key = keys_along_heads;
  const std::vector<int> senders = marked_senders(c, *n.of);
  const auto marked = std::ranges::find_if(n.listed, [&](const ComposedPair& of) {
    return !senders.empty() && of.sender == senders.front() && of.receiver == chosen_head(c, *n.of);
  });
  if (marked != n.listed.end()) list->table.marked = static_cast<int>(marked - n.listed.begin());
  return list;
}

/// "0.0123 above random".
std::string amount_words(const ViewContext& c, const Numbers& n, int sender, int receiver) {
  const double excess = n.of->excess(sender, receiver);
  if (is_difference(c)) return "difference " + viz::fixed_number(excess, 4);
  return viz::fixed_number(std::abs(excess), 4) + (excess < 0 ? " below random" : " above random");
}

std::vector<std::string> notes_of(const ViewContext& c, const Numbers& n) {
  std::vector<std::string> notes;
  const int receiver = chosen_head(c, *n.of);
  for (const int sender : marked_senders(c, *n.of))
    if (n.of->is_pair(sender, receiver) && !std::isnan(n.of->value(sender, receiver)))
      notes.push_back(name_of(*n.of, sender) + " → " + name_of(*n.of, receiver) + ": " +
                      amount_words(c, n, sender, receiver));
  if (!n.of->complete())
    notes.push_back("computing… receivers of layers up to " + std::to_string(n.of->done - 1));
  else if (n.pairs > n.listed.size())
    notes.push_back("listed: the strongest " + std::to_string(kListed) + " of " +
                    grouped(static_cast<std::int64_t>(n.pairs)));
  return notes;
}

ViewActions mark(const Composition& of, int sender, int receiver) {
  const SelectHead from = selection_of(of, sender);
  return {selection_of(of, receiver),
          SetOption{&kSenders, std::vector<int>{head_number(from.layer, from.head)}}};
}

void add_pair(Facts& facts, const ViewContext& c, const Numbers& n, int from, int to) {
  const std::string sender = name_of(*n.of, from), receiver = name_of(*n.of, to);
  facts.say(sender + " → " + receiver);
  const std::string kind(spec_of(c.options[kKind]).title);
  const float value = n.of->value(from, to);
  if (std::isnan(value)) {
    facts.say(n.of->complete() || n.of->layer_of(to) < n.of->done
                  ? "no number: one of the matrices is 0 or not finite"
                  : kComputing);
  } else {
    facts.number((is_difference(c) ? "difference in " : "") + kind, value);
    if (!is_difference(c)) facts.number("above random", n.of->excess(from, to));
  }
  facts.commands.push_back({"Choose " + receiver + ", mark " + sender + " as sender", mark(*n.of, from, to)});
  facts.commands.push_back({"Show " + sender, {selection_of(*n.of, from)}});
  facts.commands.push_back({"Show " + receiver, {selection_of(*n.of, to)}});
}

/// A row for each pair, listed or not.
Table table(const ViewContext& c, const Numbers& n) {
  const bool is_change = is_difference(c);
  Table result{key_column("sender layer"), key_column("sender head"), key_column("receiver layer"),
               key_column("receiver head"), (is_change ? difference_column_prefix(c) : "") + "composition"};
  result.ranked_by = result.columns.back().name;
  const CompositionKindSpec& kind = spec_of(c.options[kKind]);
  result.fact("kind", kind.name);
  result.fact("formula", kind.formula);
  if (!is_change) {
    result.columns.emplace_back("above random");
    result.fact("random", n.of->baseline);
  }
  for (int row = 0; row < n.rows; ++row)
    for (int col = 0; col < n.rows; ++col) {
      const int receiver = n.receiver(col);
      const SelectHead from = selection_of(*n.of, row), to = selection_of(*n.of, receiver);
      if (!n.of->is_pair(row, receiver) || to.layer >= n.of->done) continue;
      add_row(result, from.layer, from.head, to.layer, to.head, n.of->value(row, receiver),
              is_change ? std::nullopt : std::optional(n.of->excess(row, receiver)));
    }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto of = it.need(CompositionOf{c.options[kKind]});
  if (!of) return;
  const Numbers& n = it.keep(numbers_of(c, of));
  if (n.rows == 0) {
    it.message = "a single layer: no head reads what another one writes";
    return;
  }
  it.title = std::string(spec_of(c.options[kKind]).title) + " of heads" +
             (is_difference(c) ? difference_suffix(c) : "");
  it.says_difference = true;
  it.subtitle = spec_of(c.options[kKind]).formula;
  if (!is_difference(c)) it.subtitle += "; random matrices " + viz::fixed_number(n.of->baseline, 4);
  it.table = [&] { return table(c, n); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) add_pair(facts, c, n, ref.other / n.of->heads(), ref.other % n.of->heads());
  };
  it.choose = [&](const ViewContext&, const Ref& ref) {
    return ref.other < 0 ? ViewActions{} : mark(*n.of, ref.other / n.of->heads(), ref.other % n.of->heads());
  };
  it.body = beside(
      boxes(rows(boxes(grid_of(c, n), notes(notes_of(c, n)))), may_be_left_out(list_of(c, n), "the list")));
}

}  // namespace composition

View composition_view() {
  using namespace composition;
  View view = make_view(
      Group::attention, "composition", "Composition",
      "how much of what a head writes lies where a later head's queries, keys or values read", declare);
  view.audience = Audience::research;
  view.options = {&kKind, &kPairs, &kSenders, &kFirstRow};
  view.has_list = true;
  view.of_model = [](const ViewContext&) { return true; };
  view.shows_parts = true;
  view.shows_difference = true;
  view.caption = {.prompt = false, .head = true};
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
