#include "app/run/edits/edit_text.h"
#include "app/views/parts/parts.h"
#include "viz/charts/small_multiples.h"

namespace headscope::app::heads {

constexpr float kSmallestHatched = 72;  // pixels a tile
constexpr float kCardSide = 220;
constexpr std::uint8_t kFaded = 170;  // opacity of the background over a previous map
enum Role { kHead };  // Region::id: layer * n_head + head; row: query, col: key of the thumbnail's cells

const auto kHeadsZoom = pane_option("heads-zoom", 1.0, 1.0, 8.0);  // 1: all maps fit
const auto kFirstLayer = pane_option("heads-scroll", 0.0, 0.0, 1e6);
const auto kFirstHead = pane_option("heads-scroll-x", 0.0, 0.0, 1e6);

/// Number of rows and columns of a thumbnail.
int row_count(const ViewContext& c) {
  return std::min(c.run->run->length(), Thumbnail::kMax);
}
int col_count(const ViewContext& c) {
  return std::min(key_count(*c.run), Thumbnail::kMax);
}

/// This run's thumbnail; null while pending.
const Thumbnail* thumbnail_of(const Thumbnails& thumbnails, int index) {
  return index < thumbnails.done ? thumbnails.of_head[index].get() : nullptr;
}

/// The previous run's thumbnail, shown while this run's is pending; null if its size differs.
const Thumbnail* previous_of(const ViewContext& c, const Thumbnails& thumbnails, int index) {
  const Thumbnail* t = thumbnails.of_head[index].get();
  return t && t->rows == row_count(c) && t->cols == col_count(c) ? t : nullptr;
}

/// One scale for all heads, so that they can be compared.
viz::ColorScale common_scale(const ViewContext& c, const Thumbnails& thumbnails) {
  const viz::ValueRange all = viz::united(range_of_heads(thumbnails, c.options), common_range(c));
  return c.differs() ? difference_scale(all, c.options) : weight_scale(all, c.options);
}

/// A thumbnail with the values that are coloured. With key 0 excluded, a pooled first column holds its
/// remaining keys; if it is not pooled, it is key 0 itself, and outside the scale.
struct Map {
  std::vector<float> values;
  std::vector<float> row_factors;
  viz::HeatmapCells cells;
};

Map make_map(const Thumbnail& t, const ViewContext& c, const viz::ColorScale& scale) {
  Map map;
  map.values = t.values;
  const bool without_key0 = c.options[kWithoutKey0], pooled = !t.first_column_without_key0.empty();
  for (int row = 0; row < t.rows && without_key0 && pooled; ++row)
    map.values[row * t.cols] = t.first_column_without_key0[row];
  map.cells.matrix = viz::Matrix::row_major(map.values, t.rows, t.cols);
  map.row_factors = pattern_scale(c, map.cells.matrix, "", t.masked.empty()).row_factors;
  map.cells.scale = scale;
  map.cells.masked_above_diagonal = t.masked.empty();
  map.cells.masked = t.masked;
  map.cells.outside_column = without_key0 && !pooled && t.cols > 1 ? 0 : -1;
  map.cells.row_factors = map.row_factors;
  return map;
}

struct Layout {
  viz::Rect area;
  viz::TileGrid tiles;
  float note = 0;  ///< the middle of the line under the maps that says how cells are pooled; 0: none does
};

viz::Region tile_region(const viz::TileGrid& tiles, int layer, int head, int rows, int cols) {
  const viz::Rect whole = tiles.tile_rect(layer, head), &area = tiles.area;
  viz::Region region = viz::Region::grid(kHead, layer * tiles.cols + head, whole, rows, cols);
  const float left = std::max(whole.x, area.x), top = std::max(whole.y, area.y);
  region.rect = {left, top, std::min(whole.right(), area.right()) - left,
                 std::min(whole.bottom(), area.bottom()) - top};
  region.first_row = static_cast<double>(top - whole.y) / whole.h * rows;
  region.first_col = static_cast<double>(left - whole.x) / whole.w * cols;
  region.rows = static_cast<double>(region.rect.h) / whole.h * rows;
  region.cols = static_cast<double>(region.rect.w) / whole.w * cols;
  return region;
}

void paint_names(viz::Scene& scene, const ViewContext& c, const Layout& layout) {
  const viz::Style style = style_of(c);
  const viz::TileGrid& tiles = layout.tiles;
  const float u = style.unit(), pitch = tiles.pitch();
  auto name = [&](const std::string& text, viz::Point at, bool chosen, viz::Align align) {
    viz::add_label(scene, style, text, at, style.small(), chosen ? c.theme->accent : c.theme->text_muted,
                   chosen ? viz::FontStyle::medium : viz::FontStyle::regular, align);
  };
  for (const int layer : viz::labelled_cells(tiles.first_row, tiles.rows_shown(), tiles.rows, pitch,
                                             1.25F * style.small(), c.selection.layer)) {
    name("L" + std::to_string(layer), {tiles.area.x - 1.5F * u, tiles.tile_rect(layer, 0).center().y},
         layer == c.selection.layer, viz::Align::right);
  }
  const float widest =
      style.width("H" + std::to_string(tiles.cols - 1), style.small(), viz::FontStyle::medium) + 1.5F * u;
  for (const int head : viz::labelled_cells(tiles.first_col, tiles.cols_shown(), tiles.cols, pitch, widest,
                                            c.selection.head)) {
    name("H" + std::to_string(head),
         {tiles.tile_rect(0, head).center().x, tiles.area.y - 1.25F * u - style.line(style.small()) / 2},
         head == c.selection.head, viz::Align::center);
  }
}

/// Room for the names of layers, and of heads.
float names_left(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const std::string widest = "L" + std::to_string(c.run->run->config.n_layer - 1);
  return std::ceil(style.width(widest, style.small(), viz::FontStyle::medium) + 2 * style.unit());
}
float names_above(const ViewContext& c) {
  return style_of(c).line(style_of(c).small()) + style_of(c).unit();
}

Layout lay_out(const ViewContext& c, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  const model::Config& config = c.run->run->config;
  Layout layout;
  layout.area = area;
  const bool has_note = area.h >= 9 * line;
  float bar_room = 0;
  const auto fit = [&] {
    const viz::Rect inner{area.x + names_left(c), area.y + names_above(c), area.w - names_left(c) - bar_room,
                          area.h - names_above(c) - (has_note ? line + u : 0) - bar_room};
    layout.tiles = viz::fit_tiles(inner, config.n_layer, config.n_head, c.options[kHeadsZoom],
                                  c.options[kFirstLayer], c.options[kFirstHead], style);
  };
  fit();
  if (c.in_pane &&
      (layout.tiles.rows_shown() < config.n_layer || layout.tiles.cols_shown() < config.n_head)) {
    bar_room = kScrollBar * c.font_size + u;
    fit();
  }
  if (has_note) layout.note = layout.tiles.area.y + layout.tiles.height() + bar_room + u + line / 2;
  return layout;
}

/// The range of queries or keys pooled into a cell of a thumbnail with `size` cells for `length`.
std::pair<int, int> pooled_in_cell(int cell, int size, int length) {
  return {(cell * length + size - 1) / size, ((cell + 1) * length + size - 1) / size - 1};
}

/// "query 8" or, where cells are pooled, "queries 128–135".
std::string cell_name(const PromptTokens& tokens, int length, int size, int cell, const char* one,
                      const char* many) {
  const auto [first, last] = pooled_in_cell(cell, size, length);
  if (first == last) return std::string(one) + " " + token_name(tokens, first);
  return std::string(many) + " " + std::to_string(first) + "–" + std::to_string(last);
}

viz::Scene make_card(const ViewContext& c, const viz::ColorScale& scale, const Thumbnail& t,
                     const viz::Hit& hit) {
  viz::Scene card;
  card.width = card.height = kCardSide;
  card.background = c.theme->surface;
  const viz::Style style = style_of(c);
  viz::Region grid = viz::fit_grid({0, 0, kCardSide, kCardSide}, t.rows, t.cols, {}, 1, style);
  grid.rect.x = std::floor((kCardSide - grid.rect.w) / 2);
  const Map map = make_map(t, c, scale);
  viz::paint_cells(card, map.cells, grid, style);
  viz::paint_crosshair(card, grid, hit.row, hit.col, c.theme->query, c.theme->key, style);
  return card;
}

/// A row for each head and cell of its thumbnail that is not masked: of pooled cells, from which query and
/// key on.
Table table(const ViewContext& c, const Thumbnails& thumbnails) {
  const int heads = c.run->run->config.n_head, rows = row_count(c), cols = col_count(c);
  const int length = c.run->run->length(), keys = key_count(*c.run);
  Table result{key_column("layer"), key_column("head"), key_column("query"), key_column("key"),
               difference_column_prefix(c) + "weight"};
  result.ranked_by = result.columns.back().name;
  if (rows < length) result.about("queries per cell", 1.0 * length / rows);
  if (cols < keys) result.about("keys per cell", 1.0 * keys / cols);
  for (int i = 0; i < c.run->run->config.n_layer * heads; ++i) {
    const Thumbnail* t = thumbnail_of(thumbnails, i);
    for (int query = 0; query < rows && t; ++query)
      for (int key = 0; key < cols; ++key)
        if (!t->is_masked(query, key))
          add_row(result, i / heads, i % heads, pooled_in_cell(query, rows, length).first,
                  pooled_in_cell(key, cols, keys).first, t->values[query * cols + key]);
  }
  return result;
}

SetOption set(const Option<double>& option, double to) {
  return {&option, std::clamp(to, option.low, option.high)};
}

/// Scrolls so that a head's map is visible.
void follow(ViewActions& actions, const Layout& layout, int layer, int head) {
  const auto bring = [&](const Option<double>& option, double first, double shown, int cell) {
    const double to = std::clamp(first, std::min<double>(cell, cell + 1 - shown), static_cast<double>(cell));
    if (to != first) actions.emplace_back(set(option, to));
  };
  bring(kFirstLayer, layout.tiles.first_row, layout.tiles.rows_shown(), layer);
  bring(kFirstHead, layout.tiles.first_col, layout.tiles.cols_shown(), head);
}

ViewActions on_key(const ViewContext& c, const Layout& layout, Key key) {
  const int last_layer = c.run->run->config.n_layer - 1, last_head = c.run->run->config.n_head - 1;
  int layer = c.selection.layer, head = c.selection.head;
  if (key == Key::up) --layer;
  if (key == Key::down) ++layer;
  if (key == Key::left) --head;
  if (key == Key::right) ++head;
  if (key == Key::home) head = 0;
  if (key == Key::end) head = last_head;
  if (key == Key::page_up) layer = 0;
  if (key == Key::page_down) layer = last_layer;
  layer = std::clamp(layer, 0, last_layer), head = std::clamp(head, 0, last_head);
  if (layer == c.selection.layer && head == c.selection.head) return {};
  ViewActions actions{MoveHead{layer - c.selection.layer, head - c.selection.head}};
  follow(actions, layout, layer, head);
  return actions;
}

ViewActions on_wheel(const ViewContext& c, const viz::TileGrid& tiles, const Gesture& gesture) {
  constexpr double kRows = 0.5;  // rows per step of the wheel
  const double up = static_cast<double>(gesture.by.y), left = static_cast<double>(gesture.by.x);
  if (gesture.modifiers.ctrl) return {set(kHeadsZoom, c.options[kHeadsZoom] * std::pow(1.15, up))};
  if (gesture.modifiers.shift) return {set(kFirstHead, tiles.first_col - kRows * up)};
  return {set(kFirstLayer, tiles.first_row - kRows * up), set(kFirstHead, tiles.first_col - kRows * left)};
}

/// `which` is 0: enlarges, about the chosen head.
ViewActions zoom(const ViewContext& c, int which) {
  if (!c.run) return {};
  return {set(kHeadsZoom, c.options[kHeadsZoom] * (which == 0 ? 1.25 : 1 / 1.25)),
          set(kFirstLayer, std::max(0, c.selection.layer - 1)),
          set(kFirstHead, std::max(0, c.selection.head - 1))};
}

ViewActions fit(const ViewContext& c, int) {
  if (!c.run || c.options[kHeadsZoom] == kHeadsZoom.low) return {};
  return {set(kHeadsZoom, kHeadsZoom.low)};
}

ViewActions edit_head(const ViewContext& c, int which) {
  if (!can_edit(c)) return {};
  const auto& [layer, head, query, key] = c.selection;
  return toggled(which == 0 ? head_off(layer, head) : head_at_mean(layer, head));
}

void add_map_facts(Facts& facts, const ViewContext& c, const Thumbnails& thumbnails,
                   const viz::ColorScale& scale, int index, const viz::Hit& hit) {
  const int n_head = c.run->run->config.n_head, layer = index / n_head, head = index % n_head;
  for (const model::Edit& edit : edits_of_head(c, layer, head)) facts.say("edited: " + edit_brief(edit));
  if (output_factor(c, layer, head) == 0) facts.say("off: writes nothing", Fact::Location::tooltip);
  const Thumbnail* t = thumbnail_of(thumbnails, index);
  if (!t || hit.row >= t->rows || hit.col >= t->cols) return facts.say(kComputing, Fact::Location::tooltip);
  facts.say(cell_name(c.run->tokens, c.run->run->length(), t->rows, hit.row, "query", "queries") + " → " +
            cell_name(key_tokens(*c.run), key_count(*c.run), t->cols, hit.col, "key", "keys"));
  if (t->is_masked(hit.row, hit.col)) {
    facts.say("masked");
  } else {
    const bool pooled = t->rows < c.run->run->length() || t->cols < key_count(*c.run);
    facts.number(std::string(pooled ? "this cell's largest " : "") + difference_prefix(c) + "weight",
                 t->values[hit.row * t->cols + hit.col]);
  }
  for (const HeadMetric metric : {HeadMetric::first, HeadMetric::previous, HeadMetric::self})
    if (const double mean = t->metrics[metric]; !c.differs() && std::isfinite(mean))
      facts.say(std::string(kind_of(metric).title) + " " + percent(mean), Fact::Location::tooltip);
  facts.card = make_card(c, scale, *t, hit);
}

std::vector<MenuLine> menu(const ViewContext& c) {
  std::vector<MenuLine> lines;
  if (c.run) add_head_edits(lines, c, c.selection.layer, c.selection.head);
  return lines;
}

/// The maps of all heads, which scroll in both directions.
class Maps final : public Box {
 public:
  Maps(const Thumbnails& thumbnails, viz::ColorScale scale)
      : thumbnails_(thumbnails), scale_(std::move(scale)) {}

  Wish width(const ViewContext& c) const override {
    constexpr float kMap = 4.5F;  // ems, of a map that is read
    const auto heads = static_cast<float>(c.run->run->config.n_head);
    return {c.font_size, std::max(50.F, (heads + 2.5F) * kMap) * c.font_size};
  }
  Wish height(const ViewContext& c, float width) const override {
    const auto layers = static_cast<float>(c.run->run->config.n_layer),
               heads = static_cast<float>(c.run->run->config.n_head);
    const float all = 2 * names_above(c) + (width - names_left(c)) / heads * layers;
    if (c.options[kHeadsZoom] > 1) return {c.font_size, all};
    return {c.font_size, all, all};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    layout_ = lay_out(c, area);
    return layout_.tiles.area.w >= 8 && layout_.tiles.area.h >= 8;
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    paint_names(picture.scene, c, layout_);
    paint_tiles(picture, c);
    paint_pooling(picture, c);
  }
  std::optional<Ref> ref_at(const Picture& picture, const viz::Hit& hit) const override {
    const viz::Region& region = region_of(picture, hit);
    if (region.role != kHead) return std::nullopt;
    return Ref{.layer = region.id / layout_.tiles.cols, .head = region.id % layout_.tiles.cols};
  }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    for (const viz::Region& region : picture.regions)
      if (region.role == kHead && region.id == ref.layer * layout_.tiles.cols + ref.head)
        scene.add(viz::StrokeRect{region.rect.inset(-1), c.theme->text, 1.5F, 1});
  }
  void add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                 const viz::Hit& hit) const override {
    const viz::Region& region = region_of(picture, hit);
    if (region.role == kHead) add_map_facts(facts, c, thumbnails_, scale_, region.id, hit);
  }
  std::optional<ViewActions> on(const ViewContext& c, const Picture&, const viz::Hit*,
                                const Gesture& gesture) const override {
    if (gesture.kind == Gesture::Kind::wheel) return on_wheel(c, layout_.tiles, gesture);
    if (gesture.kind == Gesture::Kind::key) return on_key(c, layout_, gesture.key);
    return std::nullopt;
  }
  void add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const override {
    const viz::TileGrid& tiles = layout_.tiles;
    const float clear = style_of(c).unit() / 2;  // for the frame around the selected map
    const viz::Rect maps{tiles.area.x, tiles.area.y, tiles.width(), tiles.height()};
    const auto add = [&](bool sideways, const Option<double>& option, double first, double shown, int all) {
      if (shown >= all) return;
      const viz::Rect along{maps.x, maps.y, maps.w + (sideways ? 0 : clear), maps.h + (sideways ? clear : 0)};
      scrolls.push_back(
          {sideways, along, first, shown, 1.0 * all, [&option, most = all - shown](double to) -> ViewActions {
             return {set(option, std::clamp(to, 0.0, most))};
           }});
    };
    add(false, kFirstLayer, tiles.first_row, tiles.rows_shown(), tiles.rows);
    add(true, kFirstHead, tiles.first_col, tiles.cols_shown(), tiles.cols);
  }

 private:
  void paint_tiles(Picture& picture, const ViewContext& c) const {
    viz::Scene& scene = picture.scene;
    const viz::TileGrid& tiles = layout_.tiles;
    const bool clips = c.options[kHeadsZoom] > 1;
    if (clips) scene.add(viz::PushClip{tiles.area.inset(-2)});
    for (int index = 0; index < tiles.rows * tiles.cols; ++index) {
      const int layer = index / tiles.cols, head = index % tiles.cols;
      if (!tiles.is_visible(layer, head)) continue;
      const viz::Rect rect = tiles.tile_rect(layer, head);
      const Thumbnail* own = thumbnail_of(thumbnails_, index);
      const Thumbnail* t = own ? own : previous_of(c, thumbnails_, index);
      const int rows = t ? t->rows : 1, cols = t ? t->cols : 1;
      picture.regions.push_back(tile_region(tiles, layer, head, rows, cols));
      if (!t) {
        scene.add(viz::FillRect{rect, c.theme->raised});
        continue;
      }
      Map map = make_map(*t, c, scale_);
      map.cells.hatched = tiles.tile >= kSmallestHatched;
      viz::paint_cells(scene, map.cells, viz::Region::grid(kHead, 0, rect, rows, cols), style_of(c));
      if (!own) scene.add(viz::FillRect{rect, c.theme->surface.with_alpha(kFaded)});
      paint_edited_head(scene, c, rect, layer, head);
    }
    const viz::Rect chosen = tiles.tile_rect(c.selection.layer, c.selection.head);
    // A line of the ground between it and the map keeps the first column, often the strongest, in sight.
    scene.add(viz::StrokeRect{chosen.inset(-0.5F), c.theme->surface, 1});
    scene.add(viz::StrokeRect{chosen.inset(-2), c.theme->accent, 2, 2});
    if (clips) scene.add(viz::PopClip{});
  }

  /// Says how many queries and keys a cell stands for.
  void paint_pooling(Picture& picture, const ViewContext& c) const {
    if (layout_.note <= 0) return;
    viz::Region map;
    map.rows = row_count(c), map.cols = col_count(c), map.rect = layout_.tiles.tile_rect(0, 0);
    const viz::PooledCells under = viz::pooled_cells(map, style_of(c));
    const double queries = c.run->run->length() / map.rows * under.rows,
                 keys = key_count(*c.run) / map.cols * under.cols;
    paint_note(picture, c,
               viz::pooling_words(viz::Pooling::strongest, {queries, keys}, layout_.area.w, style_of(c)),
               {layout_.area.x, layout_.note});
  }

  const Thumbnails& thumbnails_;
  viz::ColorScale scale_;
  Layout layout_;
};

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = it.need(ThumbnailsOfHeads{});
  if (!answer) return;
  const Thumbnails& thumbnails = *it.keep(answer);
  it.titled_in_pane = false;
  it.title = "All heads";
  it.subtitle = "rows: layers; in each map queries × keys";
  it.table = [&] { return table(c, thumbnails); };
  const viz::ColorScale scale = common_scale(c, thumbnails);
  const bool per_row = c.options[kValueScale] == ValueScale::per_row && !c.differs();
  BoxPtr key0;
  if (c.options[kWithoutKey0] && key_count(*c.run) <= Thumbnail::kMax)
    key0 = may_be_left_out(
        swatches(std::vector<Swatch>{{.words = "key 0", .fill = viz::outside_color(*c.theme)}}), "key 0");
  it.body = rows(boxes(
      std::make_unique<Maps>(thumbnails, scale),
      may_be_left_out(legend(scale, per_row ? "row max = 1" : std::string(difference_prefix(c)) + "weight"),
                      "the scale"),
      std::move(key0)));
}

View view() {
  View view =
      make_view("heads", "Heads", declare,
                "small attention patterns of all heads: a row for each layer, a column for each head");
  view.place = Place::left;
  view.caption.query = false;
  view.options = {&kValueScale, &kValueMax, &kWithoutKey0, &kHeadsZoom, &kFirstLayer, &kFirstHead};
  view.commands = {
      {"zZ", "", "Enlarge or shrink the maps", zoom},
      {"a", "Show all", "Show all heads", fit},
      {"/?", "", "Turn the chosen head off or replace it by its mean; again to undo", edit_head}};
  view.menu = menu;
  view.needs = Capability::patterns;
  return view;
}

}  // namespace headscope::app::heads
