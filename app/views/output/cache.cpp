#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace cache {

enum Role { kCell };  // a row for each pass, a column for each position

struct Pass {
  int kept = 0;      ///< positions whose keys and values it found in the cache
  int computed = 0;  ///< positions after these, whose keys and values it added
  int length() const { return kept + computed; }
};

struct Passes {
  std::vector<Pass> passes;         ///< the first one is the run's own
  std::vector<std::string> names;   ///< names of the passes: the token that was added
  std::vector<std::string> labels;  ///< labels of all positions
  std::size_t bytes_a_token = 0;    ///< bytes of a token's keys and values in all layers
  bool full = false;                ///< n_ctx is reached
  int length() const { return passes.back().length(); }
};

/// Greedy: the cache does not depend on which tokens are drawn.
ContinuationsOf question_of(const ViewContext& c) {
  return {.texts = 1, .tokens = c.options[kAhead], .temperature = 0, .read_last = true};
}

std::optional<Passes> passes_of(const ViewContext& c) {
  const auto drawn = c.ask(question_of(c));
  if (!c.run || !drawn) return std::nullopt;
  const model::Run& run = *c.run->run;
  Passes p;
  p.passes.push_back({0, run.length()});  // starts with an empty cache
  p.names.emplace_back("prompt");
  p.labels.assign(c.run->tokens.labels.begin(), c.run->tokens.labels.begin() + run.length());
  if (!drawn->texts.empty()) {
    for (const DrawnToken& token : drawn->texts.front()) {
      p.labels.push_back(label_of(c, token.id));
      p.names.push_back(p.labels.back());
      p.passes.push_back({token.kept, token.computed});
    }
  }
  const model::Config& config = run.config;
  p.bytes_a_token =
      2 * sizeof(float) * static_cast<std::size_t>(config.n_layer) * static_cast<std::size_t>(config.n_embd);
  p.full = p.length() >= config.n_ctx;
  return p;
}

std::string bytes_words(std::size_t bytes) {
  const auto n = static_cast<double>(bytes);
  if (n < 1024) return std::to_string(bytes) + " bytes";
  return n < 1024 * 1024 ? viz::number(n / 1024, 3) + " KiB" : viz::number(n / 1024 / 1024, 3) + " MiB";
}

/// Positions that would be computed without a cache: all of them in every pass.
int without_cache(const Passes& p) {
  return std::accumulate(p.passes.begin(), p.passes.end(), 0,
                         [](int sum, const Pass& pass) { return sum + pass.length(); });
}
int with_cache(const Passes& p) {
  return std::accumulate(p.passes.begin(), p.passes.end(), 0,
                         [](int sum, const Pass& pass) { return sum + pass.computed; });
}

std::vector<std::string> notes_of(const ViewContext& c, const Passes& p) {
  const model::Config& config = c.run->run->config;
  std::vector<std::string> notes{
      "Keys and values of one position: 2 × " + counted(config.n_layer, "layer") + " × " +
          counted(config.n_head, "head") + " × " + std::to_string(config.n_embd / config.n_head) +
          " float32 = " + bytes_words(p.bytes_a_token) + "; of " +
          (p.length() == 1 ? std::string("one position ") : "all " + grouped(p.length()) + " positions ") +
          bytes_words(p.bytes_a_token * static_cast<std::size_t>(p.length())) + ".",
      "Computed with the cache: " + grouped(with_cache(p)) +
          " positions. Without it, recomputing all in every pass: " + grouped(without_cache(p)) + "."};
  if (p.full) notes.push_back("The context of " + grouped(config.n_ctx) + " tokens is full.");
  return notes;
}

/// The largest cell, in ems: in print, where nothing else shows the cache, cells fill the figure.
viz::Point largest_cell(const ViewContext& c) {
  return c.printed ? viz::Point{6, 8} : viz::Point{2.2F, 1.9F};
}

std::string pass_words(const Pass& pass) {
  return grouped(pass.computed) + (pass.kept > 0 ? " + " + grouped(pass.kept) + " kept" : "");
}

/// The same for readers without tooltips.
std::string whole_pass_words(const Pass& pass) {
  return grouped(pass.computed) + " computed" + (pass.kept > 0 ? ", " + grouped(pass.kept) + " kept" : "");
}

constexpr const char *kRows = "pass", *kColumns = "position";  // what they are

struct Layout {
  viz::Region grid;  ///< its rectangle is empty if there is no room
  viz::AxisLabels row_axis, column_axis;
  viz::LabelRoom rows, columns;
  float numbers = 0;    ///< width of the words right of the grid; 0: none are there
  bool inside = false;  ///< the words are in the rows, which are high enough for two lines
  float around = 0;     ///< the height of all but the title and the grid
  std::vector<std::string> notes;
  float notes_y = 0;
  std::vector<viz::Point> legend;  ///< left ends and middles of its entries
};

constexpr const char* kLegend[] = {"keys computed", "values computed", "keys kept", "values kept"};

float legend_entry_width(const char* words, const viz::Style& style) {
  return 5 * style.unit() + style.width(words, style.small());
}

/// The legend's entries on as few lines as possible, from (0, 0) on.
std::vector<viz::Point> legend_places(float width, const viz::Style& style) {
  std::vector<viz::Point> places;
  viz::Point at;
  for (const char* words : kLegend) {
    const float entry = legend_entry_width(words, style);
    if (at.x > 0 && at.x + entry > width) at = {0, at.y + style.line(style.small())};
    places.push_back(at);
    at.x += entry + 4 * style.unit();
  }
  return places;
}

Layout lay_out(const ViewContext& c, const Passes& p) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  Layout l;
  viz::Rect area = below_title(c);
  for (const std::string& note : notes_of(c, p))
    for (std::string& words : viz::wrap(style, note, style.small(), viz::FontStyle::regular, area.w))
      l.notes.push_back(std::move(words));
  l.legend = legend_places(area.w, style);
  const float legend = l.legend.back().y + line + 3 * u;
  const auto rows = static_cast<float>(p.passes.size());
  const float least = rows * std::round(0.9F * style.font_size) + 5 * style.font_size;
  const auto notes_height = [&] { return static_cast<float>(l.notes.size()) * line + 2 * u; };
  if (area.h - legend - notes_height() < least) l.notes.clear();
  const float notes = notes_height();
  // In print, where the grid is as large as it can be, the titles are in the corner between the labels.
  l.row_axis = {.labels = p.names, .title = c.printed ? "" : kRows, .color = c.theme->text_muted};
  l.column_axis = {.labels = p.labels, .title = c.printed ? "" : kColumns, .color = c.theme->text_muted};
  l.rows = viz::row_label_room(l.row_axis, style.font_size, 0.25F * area.w, style);
  const float corner = style.width(kColumns, style.small(), viz::FontStyle::medium) + 3 * u;
  if (c.printed) l.rows.size = std::max(l.rows.size, corner);
  for (const Pass& pass : p.passes)
    l.numbers = std::max(l.numbers, style.width(pass_words(pass), style.small()) + 3 * u);
  if (c.printed || area.w - l.rows.size - l.numbers < 12 * style.font_size) l.numbers = 0;
  const float width = area.w - l.rows.size - l.numbers;
  const auto [widest, highest] = largest_cell(c);
  float cell = std::min(widest * style.font_size, width / static_cast<float>(p.length()));
  const auto label_room = [&] {
    const float most = std::min(7 * style.font_size, 0.3F * area.h);
    viz::LabelRoom room = viz::column_label_room(l.column_axis, cell, most, style);
    if (c.printed) room.size = std::max(room.size, 2 * line + u);
    return room;
  };
  l.columns = label_room();
  if (c.printed && l.columns.angle == viz::LabelAngle::slanted) {  // the last one leans out of the grid
    const float out = 0.71F * (style.width(p.labels.back(), style.small()) + 1.5F * style.small());
    cell = std::min(cell, (width - std::max(0.F, out - cell / 2)) / static_cast<float>(p.length()));
    l.columns = label_room();
  }
  l.around = l.columns.size + legend + notes;
  const float row = std::min(highest * style.font_size, (area.h - l.around) / rows);
  l.inside = c.printed && row >= 2 * (line + u);
  if (width < 6 * style.font_size || row < 3) return l;
  l.grid.role = kCell;
  l.grid.rect = {area.x + l.rows.size, area.y + l.columns.size, cell * static_cast<float>(p.length()),
                 row * rows};
  l.grid.rows = l.grid.row_count = static_cast<int>(p.passes.size());
  l.grid.cols = l.grid.col_count = p.length();
  for (viz::Point& entry : l.legend) entry.x += area.x, entry.y += l.grid.rect.bottom() + 2 * u + line / 2;
  l.notes_y = l.legend.back().y + line / 2 + 2 * u;
  return l;
}

/// Keys above values, in their colours; paler if cached.
constexpr std::uint8_t kPale = 70;
void paint_cells(viz::Scene& scene, const ViewContext& c, const viz::Rect& rect, std::uint8_t alpha) {
  if (rect.w <= 0) return;
  scene.add(viz::FillRect{{rect.x, rect.y, rect.w, rect.h / 2}, c.theme->key.with_alpha(alpha)});
  scene.add(
      viz::FillRect{{rect.x, rect.y + rect.h / 2, rect.w, rect.h / 2}, c.theme->value.with_alpha(alpha)});
}

/// Draws words in the keys of a row, over the lines between its cells, if there is room for all.
void paint_inside(viz::Scene& scene, const ViewContext& c, const std::string& words, const viz::Rect& keys,
                  std::uint8_t alpha) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), width = style.width(words, style.small()), line = style.line(style.small());
  if (width + 4 * u > keys.w) return;
  const viz::Color ground = viz::blended(c.theme->surface, c.theme->key.with_alpha(alpha));
  const float middle = keys.center().y;
  scene.add(viz::FillRect{{keys.x + u, middle - line / 2, width + 2 * u, line}, ground});
  viz::add_label(scene, style, words, {keys.x + 2 * u, middle}, style.small(), text_on(c, ground));
}

void paint_grid(Picture& picture, const ViewContext& c, const Passes& p, const Layout& l) {
  const viz::Style style = style_of(c);
  const viz::Rect& grid = l.grid.rect;
  const float cell = grid.w / static_cast<float>(p.length());
  const float row = grid.h / static_cast<float>(p.passes.size());
  const float between = row >= 8 ? 2.F : row >= 4 ? 1.F : 0.F;
  for (std::size_t i = 0; i < p.passes.size(); ++i) {
    const Pass& pass = p.passes[i];
    const float y = grid.y + static_cast<float>(i) * row, h = row - between;
    const float kept = static_cast<float>(pass.kept) * cell, all = static_cast<float>(pass.length()) * cell;
    paint_cells(picture.scene, c, {grid.x, y, kept, h}, kPale);
    paint_cells(picture.scene, c, {grid.x + kept, y, all - kept, h}, 255);
    if (cell >= 5) {
      viz::Segments lines{{}, c.theme->surface, 1};
      for (int column = 1; column < pass.length(); ++column) {
        const float x = grid.x + static_cast<float>(column) * cell;
        lines.points.insert(lines.points.end(), {{x, y}, {x, y + h}});
      }
      if (!lines.points.empty()) picture.scene.add(std::move(lines));
    }
    if (l.inside) {
      paint_inside(picture.scene, c, whole_pass_words(pass), {grid.x, y, pass.kept > 0 ? kept : all, h / 2},
                   pass.kept > 0 ? kPale : 255);
    } else if (l.numbers > 0 && row >= style.line(style.small()) - 3) {
      viz::add_label(picture.scene, style, pass_words(pass), {grid.right() + 2 * style.unit(), y + h / 2},
                     style.small(), c.theme->text_muted);
    }
  }
}

void paint_legend(Picture& picture, const ViewContext& c, const Layout& l) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  const viz::Color colors[] = {c.theme->key, c.theme->value, c.theme->key.with_alpha(kPale),
                               c.theme->value.with_alpha(kPale)};
  for (std::size_t i = 0; i < l.legend.size(); ++i) {
    const viz::Point at = l.legend[i];
    picture.scene.add(viz::FillRect{{at.x, at.y - 1.25F * u, 3 * u, 2.5F * u}, colors[i]});
    viz::add_label(picture.scene, style, kLegend[i], {at.x + 4 * u, at.y}, style.small(),
                   c.theme->text_muted);
  }
}

Picture build(const ViewContext& c) {
  const auto passes = passes_of(c);
  if (auto words = waiting(c, question_of(c), passes.has_value())) return *words;
  const Layout l = lay_out(c, *passes);
  if (l.grid.rect.w <= 0) return too_small(c, "for the cache");
  const viz::Style style = style_of(c);
  Picture picture = blank(c);
  paint_title(picture, c, "Key-value cache", "one pass for each new token, always the most probable");
  paint_grid(picture, c, *passes, l);
  picture.regions.push_back(l.grid);
  viz::paint_row_labels(picture.scene, l.row_axis, l.rows, l.grid, style);
  viz::paint_column_labels(picture.scene, l.column_axis, l.columns, l.grid, c.width - 2, style);
  if (c.printed) {
    viz::AxisLabels rows = l.row_axis, columns = l.column_axis;
    rows.title = kRows, columns.title = kColumns;
    viz::paint_corner_titles(picture.scene, rows, columns, l.columns, l.grid, style);
  }
  paint_legend(picture, c, l);
  paint_small_lines(picture, c, l.notes, {below_title(c).x, l.notes_y});
  if (!c.in_pane && l.notes.empty()) picture.whole = false;
  return picture;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto passes = passes_of(c);
  if (!passes || hit.row >= std::ssize(passes->passes) || hit.col >= passes->length()) return facts;
  const Pass& pass = passes->passes[hit.row];
  facts.overlay.add(viz::StrokeRect{region_of(picture, hit).cell_rect(hit.row, hit.col), c.theme->text, 1});
  facts.say("position " + std::to_string(hit.col) + " “" + passes->labels[hit.col] + "”");
  facts.say(hit.col < pass.kept       ? "kept: this pass read its keys and values"
            : hit.col < pass.length() ? "computed by this pass"
                                      : "not yet in the prompt");
  facts.say("pass “" + passes->names[hit.row] + "”: " + grouped(pass.computed) + " computed, " +
                grouped(pass.kept) + " kept",
            Fact::Location::tooltip);
  return facts;
}

Table table(const ViewContext& c) {
  const auto passes = passes_of(c);
  if (!passes) return {};
  Table result{key_column("pass"), note_column("token"), "kept", "computed",
               Column("keys and values", "bytes")};
  for (std::size_t i = 0; i < passes->passes.size(); ++i) {
    const Pass& pass = passes->passes[i];
    add_row(result, i, passes->names[i], pass.kept, pass.computed,
            passes->bytes_a_token * static_cast<std::size_t>(pass.length()));
  }
  result.about("keys and values of a position", passes->bytes_a_token, "bytes");
  result.fact("positions computed", with_cache(*passes));
  result.fact("positions computed without a cache", without_cache(*passes));
  return result;
}

ViewActions click(const ViewContext& c, const Picture&, const viz::Hit& hit) {
  if (hit.col >= c.run->run->length()) return {};
  return {SelectQuery{hit.col}};
}

viz::Point figure_size(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto rows = static_cast<float>(c.options[kAhead] + 1);
  const float top = below_title(c).y, end = margin(c);
  if (const auto passes = c.printed ? passes_of(c) : std::nullopt) {
    constexpr float kOfWords = 2.3F;  // the grid is the figure, not what is said around it
    ViewContext tall = c;
    tall.height = 100 * style.font_size;
    const float around = lay_out(tall, *passes).around;
    return {c.width, top + around + std::max(kOfWords * around, 1.9F * style.font_size * rows) + end};
  }
  const float row = largest_cell(c).y * style.font_size;
  return {c.width, top + 9 * style.font_size + row * rows + 6 * style.line(style.small()) + end};
}

}  // namespace cache

View cache_view() {
  using namespace cache;
  View view = make_view(Group::output, "cache", "Cache",
                        "which keys and values each pass computes and which it reads from the cache", build,
                        facts, table);
  view.options = {&kAhead};
  add_gestures(view, click);
  view.figure_size = figure_size;
  view.caption = {true, false, false};
  view.landmarks = {landmark("grid", kCell), {"prompt pass", [](const ViewContext&, const Picture& p) {
                                                return around_cells(p, kCell, 0, -1);
                                              }}};
  return view;
}

}  // namespace headscope::app
