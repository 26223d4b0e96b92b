#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/parts.h"

namespace headscope::app::composition {

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

/// What a pair's number is called.
const char* quantity(const ViewContext& c) {
  return c.differs() ? "difference" : "above random";
}

/// The picture's numbers: the grid, and the listed pairs.
struct Numbers {
  std::shared_ptr<const Composition> of;
  std::vector<std::string> names;    ///< of all heads
  std::vector<std::string> layers;   ///< names
  int rows = 0;                      ///< senders, and receivers: all heads but those of one layer
  std::vector<float> excess;         ///< [senders, receivers]
  std::vector<std::uint8_t> masked;  ///< the same, 1: no pair
  std::vector<ComposedPair> listed;

  int receiver(int col) const { return col + of->heads_per_layer; }
  Ref ref(int head) const { return {of->layer_of(head), head % of->heads_per_layer}; }
  /// A pair as an item; nothing where the two are no pair.
  Ref ref(int sender, int receiver) const {
    return of->is_pair(sender, receiver) ? Ref{.other = sender * of->heads() + receiver} : Ref{};
  }
};

Numbers numbers_of(const ViewContext& c, const std::shared_ptr<const Composition>& of) {
  Numbers n;
  n.of = of, n.rows = of->heads() - of->heads_per_layer;
  for (int head = 0; head < of->heads(); ++head)
    n.names.push_back(head_name(n.ref(head).layer, n.ref(head).head));
  for (int layer = 0; layer < c.config().n_layer; ++layer) n.layers.push_back("L" + std::to_string(layer));
  for (int row = 0; row < n.rows; ++row)
    for (int col = 0; col < n.rows; ++col) {
      n.excess.push_back(static_cast<float>(of->excess(row, n.receiver(col))));
      n.masked.push_back(of->is_pair(row, n.receiver(col)) ? 0 : 1);
    }
  const bool all = c.options[kPairs] == Pairs::all;
  const int chosen = c.selection.layer * of->heads_per_layer + c.selection.head;
  n.listed = strongest_pairs(*of, all ? kListed : 0, c.differs(), all ? -1 : chosen);
  return n;
}

/// Lines between the layers, and a frame around the chosen head's column.
void paint_marks(viz::Scene& scene, const ViewContext& c, const Numbers& n, const viz::Region& grid) {
  const int heads = n.of->heads_per_layer;
  for (int i = heads; i < n.rows; i += heads) {
    const viz::Rect cell = grid.cell_rect(i, i);
    const float x = style_of(c).snapped(cell.x), y = style_of(c).snapped(cell.y);
    scene.add_line({x, grid.rect.y}, {x, grid.rect.bottom()}, c.theme->line);
    scene.add_line({grid.rect.x, y}, {grid.rect.right(), y}, c.theme->line);
  }
  if (c.selection.layer == 0) return;
  const viz::Rect cell = grid.cell_rect(0, (c.selection.layer - 1) * heads + c.selection.head);
  scene.add(viz::StrokeRect{viz::Rect{cell.x, grid.rect.y, cell.w, grid.rect.h}.inset(-0.5F), c.theme->accent,
                            1, 1});
}

std::unique_ptr<Grid> grid_of(const ViewContext& c, const Numbers& n) {
  const std::vector<std::string> unnamed(n.rows);
  auto grid = std::make_unique<Grid>(c, kCell, n.excess, unnamed, unnamed);
  viz::Heatmap& map = grid->map;
  map.cells.masked = n.masked;
  map.cells.hatched = false;
  map.rows.title = "sender", map.cols.title = "receiver";
  map.rows.labels = std::span(n.layers).first(n.layers.size() - 1);
  map.cols.labels = std::span(n.layers).subspan(1);
  map.rows.cells_each = map.cols.cells_each = n.of->heads_per_layer;
  map.rows.numbered = map.cols.numbered = true;
  map.cols.emphasised = c.selection.layer - 1;
  map.scale_title = quantity(c);
  map.cell_values = n.of->complete() && n.rows <= 12;
  map.says_pooling = true;
  grid->refers_to = [&n](int row, int col) { return n.ref(row, n.receiver(col)); };
  grid->over = [&n](Picture& picture, const ViewContext& now, const viz::Region& region) {
    paint_marks(picture.scene, now, n, region);
  };
  return grid;
}

const ListRows kRows{kRow, first_row_option("first-pair"), "pairs", ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.listed.size()));
  const auto pair = [&n](int row) -> const ComposedPair& { return n.listed[row]; };
  list->text("sender", 9, [&n, pair](int row) { return n.names[pair(row).sender]; });
  list->text("receiver", 9, [&n, pair](int row) { return n.names[pair(row).receiver]; });
  list->bar(
      quantity(c), 8, [pair](int row) { return pair(row).excess; },
      {.digits = 4, .least = 5.6F * c.font_size, .most = 16 * c.font_size, .is_signed = true, .tip = false});
  list->rank_by([pair](int row) { return pair(row).excess; });
  if (!c.differs()) {
    const auto value = [&n, pair](int row) { return n.of->value(pair(row).sender, pair(row).receiver); };
    list->number("composition", 5, value, {.color = c.theme->text_muted, .digits = 4, .tip = false});
  }
  list->refers_to = [&n, pair](int row) { return n.ref(pair(row).sender, pair(row).receiver); };
  list->least_width = is_slide(c) ? 22.5F : 16.5F, list->good_width = 28, list->most_width = 36;
  list->least_rows = 4;
  return list;
}

/// What the pictures leave out.
std::string note_of(const ViewContext& c, const Numbers& n) {
  if (!n.of->complete()) return "computing… receivers of layers up to " + std::to_string(n.of->done - 1);
  const auto pairs = std::ranges::count_if(n.excess, [](float excess) { return !std::isnan(excess); });
  return c.options[kPairs] == Pairs::chosen || pairs <= std::ssize(n.listed)
             ? ""
             : "listed: the strongest " + std::to_string(kListed) + " of " + grouped(pairs);
}

void add_pair(Facts& facts, const ViewContext& c, const Numbers& n, int sender, int receiver) {
  facts.say(n.names[sender] + " → " + n.names[receiver]);
  const float value = n.of->value(sender, receiver);
  if (std::isnan(value)) {
    facts.say(n.of->layer_of(receiver) < n.of->done ? "none" : kComputing);
  } else {
    facts.number(difference_prefix(c) + std::string(spec_of(c.options[kKind]).title), value);
    if (!c.differs()) facts.number("above random", n.of->excess(sender, receiver));
  }
  for (const int head : {sender, receiver})
    facts.commands.push_back({"Show " + n.names[head], choice_of(n.ref(head), c)});
}

/// A row for each pair, listed or not.
Table table(const ViewContext& c, const Numbers& n) {
  const bool differs = c.differs();
  Table result{key_column("sender layer"), key_column("sender head"), key_column("receiver layer"),
               key_column("receiver head"), difference_column_prefix(c) + "composition"};
  result.ranked_by = result.columns.back().name;
  const CompositionKindSpec& kind = spec_of(c.options[kKind]);
  result.fact("kind", kind.name);
  result.fact("formula", kind.formula);
  if (!differs) {
    result.columns.emplace_back("above random");
    result.fact("random", n.of->baseline);
  }
  for (int sender = 0; sender < n.rows; ++sender)
    for (int receiver = 0; receiver < n.of->heads(); ++receiver) {
      const Ref from = n.ref(sender), to = n.ref(receiver);
      if (n.of->is_pair(sender, receiver) && to.layer < n.of->done)
        add_row(result, from.layer, from.head, to.layer, to.head, n.of->value(sender, receiver),
                differs ? std::nullopt : std::optional(n.of->excess(sender, receiver)));
    }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto of = it.need(CompositionOf{c.options[kKind]});
  if (!of) return;
  const Numbers& n = it.keep(numbers_of(c, of));
  if (n.rows == 0) it.message = "a single layer: no head reads what another one writes";
  if (!it.message.empty()) return;
  const CompositionKindSpec& kind = spec_of(c.options[kKind]);
  it.title = std::string(kind.title) + " of heads";
  if (!c.differs()) it.subtitle = "minus that of random matrices, " + viz::fixed_number(of->baseline, 4);
  it.on = arrows({1, 0}, MoveHead{0, 1});
  it.table = [&] { return table(c, n); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) add_pair(facts, c, n, ref.other / n.of->heads(), ref.other % n.of->heads());
  };
  it.choose = [&](const ViewContext& now, const Ref& ref) {
    return ref.other < 0 ? ViewActions{} : choice_of(n.ref(ref.other % n.of->heads()), now);
  };
  it.body = beside(boxes(rows(boxes(grid_of(c, n), notes({std::string(kind.formula), note_of(c, n)}),
                                    remarks({"Frobenius norms, with ln_1's gain and means subtracted"}))),
                         may_be_left_out(list_of(c, n), "the list")));
}

View view() {
  View view =
      make_view("composition", "Composition", declare,
                "how much of what a head writes lies where a later head's queries, keys or values read");
  view.options = {&kKind, &kPairs, &kRows.first};
  view.of_model = [](const ViewContext&) { return true; };
  view.shows_parts = true;
  view.caption = {.prompt = false, .head = true};
  return view;
}

}  // namespace headscope::app::composition
