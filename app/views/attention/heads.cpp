#include "app/run/edits/edit_text.h"
#include "app/views/parts/parts.h"

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

/// One scale for all heads, so that they can be compared.
viz::ColorScale common_scale(const ViewContext& c, const Thumbnails& thumbnails) {
  const viz::ValueRange all = viz::united(range_of_heads(thumbnails, c.options), common_range(c));
  return c.differs() ? difference_scale(all, c.options) : weight_scale(all, c.options);
}

/// A thumbnail with the values that are coloured. With key 0 excluded, a pooled first column holds its
/// remaining keys; if it is not pooled, it is key 0 itself, and outside the scale.
struct Map {
  std::vector<float> values;
  PatternScale colors;
  viz::HeatmapCells cells;
};

Map make_map(const Thumbnail& t, const ViewContext& c, const viz::ColorScale& scale) {
  Map map;
  map.values = t.values;
  const bool without_key0 = c.options[kWithoutKey0], pooled = !t.first_column_without_key0.empty();
  for (int row = 0; row < t.rows && without_key0 && pooled; ++row)
    map.values[row * t.cols] = t.first_column_without_key0[row];
  const viz::Matrix matrix = viz::Matrix::row_major(map.values, t.rows, t.cols);
  map.colors = pattern_scale(c, matrix, "", t.masked.empty());
  map.colors.scale = scale;
  if (pooled) map.colors.outside_column = -1;
  map.cells = colored_cells(matrix, map.colors, {});
  map.cells.masked_above_diagonal = t.masked.empty();
  map.cells.masked = t.masked;
  return map;
}

/// The maps as a grid, whose cells also have the gap after each.
struct Tiles {
  viz::Region grid;
  float side = 0, gap = 0;

  viz::Rect rect_of(int layer, int head) const {
    const viz::Rect cell = grid.cell_rect(layer, head);
    return {cell.x, cell.y, side, side};
  }
  /// What is seen of the maps.
  viz::Rect shown() const { return {grid.rect.x, grid.rect.y, grid.rect.w - gap, grid.rect.h - gap}; }
};

/// Square maps that fit an area, enlarged; scrolled as the options say, but not past the ends.
Tiles tiles_in(const ViewContext& c, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const int layers = c.config().n_layer, heads = c.config().n_head;
  const double fitting = std::min(area.w / static_cast<float>(heads), area.h / static_cast<float>(layers));
  const auto wanted = std::max(3.F, static_cast<float>(fitting * c.options[kHeadsZoom]));
  Tiles tiles{viz::Region::grid(kHead, 0, {}, layers, heads)};
  tiles.gap = wanted >= 40 ? style.unit() : wanted >= 14 ? style.unit() / 2 : 1;
  // The last one has no gap after it: that is distributed over all of them.
  const float all = wanted + tiles.gap / static_cast<float>(std::max(layers, heads));
  const float pitch = std::max(tiles.gap + 2, std::floor(all * style.device_scale) / style.device_scale);
  tiles.side = pitch - tiles.gap;
  const auto fit = [&](const Option<double>& option, float room, int count, double& first, double& shown) {
    constexpr double kRounding = 1e-3;
    const double some = std::max(0.F, (room + tiles.gap) / pitch);
    shown = some + kRounding >= count ? count : some;
    first = std::clamp(c.options[option], 0.0, count - shown);
    return static_cast<float>(shown) * pitch;
  };
  viz::Region& grid = tiles.grid;
  grid.rect = {area.x, area.y, fit(kFirstHead, area.w, heads, grid.first_col, grid.cols),
               fit(kFirstLayer, area.h, layers, grid.first_row, grid.rows)};
  return tiles;
}

/// The part of a head's map that is in sight.
viz::Region map_region(const Tiles& tiles, int layer, int head, int rows, int cols) {
  const viz::Rect whole = tiles.rect_of(layer, head), shown = tiles.shown();
  viz::Region region = viz::Region::grid(kHead, layer * tiles.grid.col_count + head, whole, rows, cols);
  const float left = std::max(whole.x, shown.x), top = std::max(whole.y, shown.y);
  region.rect = {left, top, std::min(whole.right(), shown.right()) - left,
                 std::min(whole.bottom(), shown.bottom()) - top};
  region.first_row = static_cast<double>(top - whole.y) / whole.h * rows;
  region.first_col = static_cast<double>(left - whole.x) / whole.w * cols;
  region.rows = static_cast<double>(region.rect.h) / whole.h * rows;
  region.cols = static_cast<double>(region.rect.w) / whole.w * cols;
  return region;
}

void paint_names(viz::Scene& scene, const ViewContext& c, const Tiles& tiles) {
  const viz::Style style = style_of(c);
  const viz::Region& grid = tiles.grid;
  const float u = style.unit(), pitch = tiles.side + tiles.gap;
  const auto name = [&](const std::string& text, viz::Point at, bool chosen, viz::Align align) {
    viz::add_label(scene, style, text, at, style.small(), chosen ? c.theme->accent : c.theme->text_muted,
                   chosen ? viz::FontStyle::medium : viz::FontStyle::regular, align);
  };
  for (const int layer : viz::labelled_cells(grid.first_row, grid.rows, grid.row_count, pitch,
                                             1.25F * style.small(), c.selection.layer))
    name("L" + std::to_string(layer), {grid.rect.x - 1.5F * u, tiles.rect_of(layer, 0).center().y},
         layer == c.selection.layer, viz::Align::right);
  const float widest =
      style.width("H" + std::to_string(grid.col_count - 1), style.small(), viz::FontStyle::medium) + 1.5F * u;
  for (const int head :
       viz::labelled_cells(grid.first_col, grid.cols, grid.col_count, pitch, widest, c.selection.head))
    name("H" + std::to_string(head),
         {tiles.rect_of(0, head).center().x, grid.rect.y - 1.25F * u - style.line(style.small()) / 2},
         head == c.selection.head, viz::Align::center);
}

/// Room for the names of layers, and of heads.
float names_left(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const std::string widest = "L" + std::to_string(c.config().n_layer - 1);
  return std::ceil(style.width(widest, style.small(), viz::FontStyle::medium) + 2 * style.unit());
}
float names_above(const ViewContext& c) {
  return style_of(c).line(style_of(c).small()) + style_of(c).unit();
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

/// A row for each unmasked cell of each head's thumbnail; of pooled cells, the first query and key.
Table table(const ViewContext& c, const Thumbnails& thumbnails) {
  const int heads = c.config().n_head, rows = row_count(c), cols = col_count(c);
  const int length = c.run->run->length(), keys = key_count(*c.run);
  Table result{key_column("layer"), key_column("head"), key_column("query"), key_column("key"),
               difference_column_prefix(c) + "weight"};
  result.ranked_by = result.columns.back().name;
  if (rows < length) result.about("queries per cell", 1.0 * length / rows);
  if (cols < keys) result.about("keys per cell", 1.0 * keys / cols);
  for (int i = 0; i < c.config().n_layer * heads; ++i) {
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
void follow(ViewActions& actions, const viz::Region& grid, int layer, int head) {
  const auto bring = [&](const Option<double>& option, double first, double shown, int cell) {
    if (const double to = first_showing(cell, first, shown); to != first)
      actions.emplace_back(set(option, to));
  };
  bring(kFirstLayer, grid.first_row, grid.rows, layer);
  bring(kFirstHead, grid.first_col, grid.cols, head);
}

ViewActions on_key(const ViewContext& c, const viz::Region& grid, Key key) {
  const int last_layer = grid.row_count - 1, last_head = grid.col_count - 1;
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
  follow(actions, grid, layer, head);
  return actions;
}

ViewActions on_wheel(const ViewContext& c, const viz::Region& grid, const Gesture& gesture) {
  constexpr double kRows = 0.5;  // rows per step of the wheel
  const double up = static_cast<double>(gesture.by.y), left = static_cast<double>(gesture.by.x);
  if (gesture.modifiers.ctrl) return {set(kHeadsZoom, c.options[kHeadsZoom] * std::pow(1.15, up))};
  if (gesture.modifiers.shift) return {set(kFirstHead, grid.first_col - kRows * up)};
  return {set(kFirstLayer, grid.first_row - kRows * up), set(kFirstHead, grid.first_col - kRows * left)};
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
  const int n_head = c.config().n_head, layer = index / n_head, head = index % n_head;
  for (const model::Edit& edit : edits_of_head(c, layer, head)) facts.say("edited: " + edit_brief(edit));
  if (output_factor(c, layer, head) == 0) facts.tip("off: writes nothing");
  const Thumbnail* t = thumbnail_of(thumbnails, index);
  if (!t || hit.row >= t->rows || hit.col >= t->cols) return facts.tip(kComputing);
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
      facts.tip(std::string(kind_of(metric).title) + " " + percent(mean));
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
    const auto heads = static_cast<float>(c.config().n_head);
    return {c.font_size, std::max(50.F, (heads + 2.5F) * kMap) * c.font_size};
  }
  Wish height(const ViewContext& c, float width) const override {
    constexpr float kAnyHeight = 1e6F;
    const Tiles tiles = tiles_in(c, {0, 0, width - names_left(c), kAnyHeight});
    const float all = names_above(c) + tiles.grid.rect.h;
    if (c.options[kHeadsZoom] > 1) return {c.font_size, all};
    return {c.font_size, all, all};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    area_ = {area.x + names_left(c), area.y + names_above(c), area.w - names_left(c),
             area.h - names_above(c)};
    tiles_ = tiles_in(c, area_);
    if (c.in_pane && (tiles_.grid.rows < tiles_.grid.row_count || tiles_.grid.cols < tiles_.grid.col_count)) {
      const float bar = kScrollBar * c.font_size + style_of(c).unit();
      area_.w -= bar, area_.h -= bar;
      tiles_ = tiles_in(c, area_);
    }
    return area_.w >= 8 && area_.h >= 8;
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    paint_names(picture.scene, c, tiles_);
    viz::Scene& scene = picture.scene;
    const bool clips = c.options[kHeadsZoom] > 1;
    if (clips) scene.add(viz::PushClip{tiles_.shown().inset(-2)});
    for (int index = 0; index < tiles_.grid.row_count * heads(); ++index) {
      const int layer = index / heads(), head = index % heads();
      const viz::Rect rect = tiles_.rect_of(layer, head);
      if (!rect.overlaps(tiles_.shown())) continue;
      const Thumbnail* own = thumbnail_of(thumbnails_, index);
      // While it is pending, the previous run's if its size is the same.
      const Thumbnail* t = own ? own : thumbnails_.of_head[index].get();
      if (t && (t->rows != row_count(c) || t->cols != col_count(c))) t = nullptr;
      const int rows = t ? t->rows : 1, cols = t ? t->cols : 1;
      picture.regions.push_back(map_region(tiles_, layer, head, rows, cols));
      if (!t) {
        scene.add(viz::FillRect{rect, c.theme->raised});
        continue;
      }
      Map map = make_map(*t, c, scale_);
      map.cells.hatched = tiles_.side >= kSmallestHatched;
      viz::paint_cells(scene, map.cells, viz::Region::grid(kHead, 0, rect, rows, cols), style_of(c));
      if (!own) scene.add(viz::FillRect{rect, c.theme->surface.with_alpha(kFaded)});
      paint_edited_head(scene, c, rect, layer, head);
    }
    const viz::Rect chosen = tiles_.rect_of(c.selection.layer, c.selection.head);
    // A line of the ground between it and the map keeps the first column, often the strongest, in sight.
    scene.add(viz::StrokeRect{chosen.inset(-0.5F), c.theme->surface, 1});
    scene.add(viz::StrokeRect{chosen.inset(-2), c.theme->accent, 2, 2});
    if (clips) scene.add(viz::PopClip{});
  }
  std::optional<Ref> ref_at(const Spot& at) const override {
    if (at.region.role != kHead) return std::nullopt;
    return Ref{.layer = at.region.id / heads(), .head = at.region.id % heads()};
  }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    for (const viz::Region& region : picture.regions)
      if (region.role == kHead && region.id == ref.layer * heads() + ref.head)
        scene.add(viz::StrokeRect{region.rect.inset(-1), c.theme->text, 1.5F, 1});
  }
  void add_facts(Facts& facts, const ViewContext& c, const Spot& at) const override {
    if (at.region.role == kHead) add_map_facts(facts, c, thumbnails_, scale_, at.region.id, at.hit);
  }
  std::optional<ViewActions> on(const ViewContext& c, const Spot*, const Gesture& gesture) const override {
    if (gesture.kind == Gesture::Kind::wheel) return on_wheel(c, tiles_.grid, gesture);
    if (gesture.kind == Gesture::Kind::key) return on_key(c, tiles_.grid, gesture.key);
    return std::nullopt;
  }
  void add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const override {
    const viz::Region& grid = tiles_.grid;
    const float clear = style_of(c).unit() / 2;  // for the frame around the selected map
    const auto add = [&](bool sideways, const Option<double>& option, double first, double shown, int all) {
      if (shown >= all) return;
      viz::Rect along = tiles_.shown();
      (sideways ? along.h : along.w) += clear;
      scrolls.push_back(
          {sideways, along, first, shown, 1.0 * all, [&option, most = all - shown](double to) -> ViewActions {
             return {set(option, std::clamp(to, 0.0, most))};
           }});
    };
    add(false, kFirstLayer, grid.first_row, grid.rows, grid.row_count);
    add(true, kFirstHead, grid.first_col, grid.cols, grid.col_count);
  }
  /// How many queries and keys a cell stands for.
  std::string pooling(const ViewContext& c) const {
    const viz::Region map = viz::Region::grid(kHead, 0, tiles_.rect_of(0, 0), row_count(c), col_count(c));
    const viz::PooledCells under = viz::pooled_cells(map, style_of(c));
    const double queries = c.run->run->length() / map.rows * under.rows,
                 keys = key_count(*c.run) / map.cols * under.cols;
    return viz::pooling_words(viz::Pooling::strongest, {queries, keys}, names_left(c) + area_.w, style_of(c));
  }

 private:
  int heads() const { return tiles_.grid.col_count; }

  const Thumbnails& thumbnails_;
  viz::ColorScale scale_;
  Tiles tiles_;
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
  auto maps = std::make_unique<Maps>(thumbnails, scale);
  const auto pooling = [&box = *maps](const ViewContext& page) {
    return std::vector<Swatch>{{.words = box.pooling(page)}};
  };
  it.body = rows(boxes(
      std::move(maps),
      may_be_left_out(
          legend(scale, per_row ? "row max = 1" : std::string(difference_prefix(c)) + "weight", names_left),
          "the scale"),
      std::move(key0), may_be_left_out(swatches(pooling, 12), "how cells are pooled")));
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
