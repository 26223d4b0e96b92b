#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/head_metrics.h"
#include "app/run/analyses/thumbnails.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/figure_tiles.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/prompt_list_words.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

/// Of regions. cell: row: layer, col: head; row: id: layer * n_head + head.
enum Role { kCell, kRow };
enum class Text { prompt, repeated, list };

const Option<HeadMetric> kMetric{{.name = "metric",
                                  .label = "Metric",
                                  .help = "what of each head the grid shows",
                                  .default_value = 0,
                                  .choices = metric_choices(),
                                  .keys = "fF"}};
const Option<Text> kText{
    {.name = "metrics-text",
     .label = "Text",
     .help = "what the heads are measured on",
     .default_value = 0,
     .choices = {{"prompt", "Prompt", "The prompt"},
                 {"repeated", "Repeated", "Random tokens and the same ones again, whatever the prompt"},
                 {"list", "List", "All prompts of the list that is open, whatever the prompt"}},
     .keys = "tT"}};
const Option<bool> kLeastFirst{{.name = "least-first",
                                .label = "Least first",
                                .help = "the list begins with the heads of the least number",
                                .default_value = false,
                                .keys = "rR"}};
const Option<double> kLeast{
    {.name = "metric-least",
     .label = "At least",
     .help = "only heads whose number is at least this; of changes, in either direction",
     .default_value = 0.0,
     .default_name = "all",
     .low = 1e-6,
     .high = 1e6,
     .steps = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 5, 10, 0},
     .keys = "eE"}};
const Option<int> kFirstRow =
    first_row_option("first-head", "First head", "first row of the list that is shown");

/// The numbers of all heads; NaN where they are not there yet, or do not exist.
struct Numbers {
  int layers = 0, heads = 0;
  int done = 0;                                            ///< heads that are there, the first so many
  std::string pending;                                     ///< how much is there, while not all is
  std::string texts;                                       ///< what they are measured on, of a list
  std::array<std::vector<float>, kHeadMetrics> of_metric;  ///< [layers, heads]
  std::vector<std::string> layer_names, head_names, names;

  std::vector<float>& of(HeadMetric metric) { return of_metric[static_cast<std::size_t>(metric)]; }
  const std::vector<float>& of(HeadMetric metric) const {
    return of_metric[static_cast<std::size_t>(metric)];
  }
  const std::vector<float>& shown(const ViewContext& c) const { return of(c.options[kMetric]); }
  /// What is not there is 0 in it.
  std::vector<float> grid(const ViewContext& c) const {
    std::vector<float> values = shown(c);
    for (float& value : values) value = std::isfinite(value) ? value : 0;
    return values;
  }
};

RepeatedTokens repeated_tokens(const ViewContext& c) {
  return RepeatedTokens::usual(c.run->run->config.n_ctx);
}
bool of_model(const ViewContext& c) {
  return c.options[kText] != Text::prompt;
}
bool of_list(const ViewContext& c) {
  return c.options[kText] == Text::list;
}
Question question_of(const ViewContext& c) {
  switch (c.options[kText]) {
    case Text::prompt:
      break;
    case Text::repeated:
      return MetricsOnRepeated{repeated_tokens(c)};
    case Text::list:
      return MetricsOnList{over_list(c)};
  }
  return ThumbnailsOfHeads{};
}

std::shared_ptr<const HeadMetricsOf> figures_of_texts(const ViewContext& c) {
  if (!of_list(c)) return c.ask(MetricsOnRepeated{repeated_tokens(c)});
  return c.prompts ? c.ask(MetricsOnList{over_list(c)}) : nullptr;
}

/// `figures`: of the first heads, as many as are there; null: of that one there are none.
Numbers numbers_of(const model::Config& config, std::span<const HeadMetrics* const> figures) {
  Numbers n;
  n.layers = config.n_layer, n.heads = config.n_head;
  n.done = static_cast<int>(figures.size());
  for (int layer = 0; layer < n.layers; ++layer) n.layer_names.push_back("L" + std::to_string(layer));
  for (int head = 0; head < n.heads; ++head) n.head_names.push_back("H" + std::to_string(head));
  for (int i = 0; i < n.layers * n.heads; ++i) n.names.push_back(head_name(i / n.heads, i % n.heads));
  for (const HeadMetricKind& metric : head_metrics()) {
    std::vector<float>& of = n.of(metric.id);
    of.assign(n.names.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < figures.size(); ++i)
      if (figures[i]) of[i] = static_cast<float>((*figures[i])[metric.id]);
  }
  return n;
}

/// What is of the model alone changes only from one model to another.
bool of_change(const ViewContext& c) {
  return c.side == Side::difference && (!of_model(c) || (c.run && compares_models(*c.run)));
}

std::vector<const HeadMetrics*> figures_in(const HeadMetricsOf& answer) {
  std::vector<const HeadMetrics*> figures;
  for (const HeadMetrics& head : answer.heads) figures.push_back(&head);
  return figures;
}
std::vector<const HeadMetrics*> figures_in(const Thumbnails& answer) {
  std::vector<const HeadMetrics*> figures;
  for (int i = 0; i < std::min(answer.done, static_cast<int>(answer.of_head.size())); ++i) {
    const auto& head = answer.of_head[i];
    figures.push_back(head ? &head->figures : nullptr);
  }
  return figures;
}

std::optional<Numbers> numbers_of_texts(const ViewContext& c) {
  if (!c.run) return std::nullopt;
  const auto answer = figures_of_texts(c);
  if (!answer) return std::nullopt;
  Numbers n = numbers_of(c.run->run->config, figures_in(*answer));
  const int sequences = repeated_tokens(c).sequences;
  if (of_list(c)) {
    n.texts = list_words(c, answer->progress);
  } else if (answer->sequences < sequences) {
    n.pending = std::to_string(answer->sequences) + " of " + std::to_string(sequences) + " sequences";
  }
  return n;
}

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(const ViewContext& c) {
  if (of_model(c)) return numbers_of_texts(c);
  const auto answer = c.ask(ThumbnailsOfHeads{});
  if (!answer || !c.run) return std::nullopt;
  const model::Config& config = c.run->run->config;
  Numbers n = numbers_of(config, figures_in(*answer));
  const int count = config.n_layer * config.n_head;
  if (n.done < count) n.pending = std::to_string(n.done) + " of " + std::to_string(count) + " heads";
  return n;
}

/// Those that are there and large enough, of [layers, heads].
std::vector<int> listed_heads(const ViewContext& c, const Numbers& n) {
  const auto least = static_cast<float>(c.options[kLeast]);
  std::vector<int> heads;
  for (int i = 0; i < n.done; ++i) {
    const float value = n.shown(c)[i];
    if (least <= 0 || (of_change(c) ? std::abs(value) : value) >= least) heads.push_back(i);
  }
  return heads;
}

// ---- the figure ----

struct Layout {
  viz::Rect grid, list;  ///< no width: no room
  float note_y = 0;      ///< top of a line under the grid
};

Layout lay_out(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto [grid, list] = lay_out_beside_list(c, 30, 0.56F, 24, style.line(style.small()) + style.unit());
  if (grid.h < 6 * c.font_size) return {{}, below_title(c), 0};
  return {grid, list, grid.bottom() + style.unit()};
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "heads", .keys = ListKeys::pages};

/// The chosen number comes first, with bars.
List list_of(const ViewContext& c, const Numbers& n, const std::vector<int>& heads) {
  const auto value = [&](HeadMetric metric) {
    return [&of = n.of(metric), &heads](int row) { return of[heads[row]]; };
  };
  const auto none = [&](HeadMetric metric) {
    return [of = value(metric)](int row) { return std::isnan(of(row)); };
  };
  List list(c, kRows, static_cast<int>(heads.size()));
  list.text("head", 9, [&](int row) { return n.names[heads[row]]; });
  const HeadMetricKind& chosen = kind_of(c.options[kMetric]);
  list.bar(std::string(chosen.heading), 8, c.theme->accent, value(chosen.id),
           {.heading = c.theme->text,
            .digits = chosen.decimals,
            .most = 12 * c.font_size,
            .blank = none(chosen.id)});
  for (const HeadMetricKind& other : head_metrics()) {
    if (&other == &chosen) continue;
    list.number(
        std::string(other.heading), static_cast<int>(kHeadMetrics) - static_cast<int>(other.id),
        value(other.id),
        {.color = c.theme->text_muted, .digits = std::min(other.decimals, 3), .blank = none(other.id)});
  }
  list.table.order = {1, !c.options[kLeastFirst]};
  const auto marked = std::ranges::find(heads, c.selection.layer * n.heads + c.selection.head);
  list.table.marked = marked == heads.end() ? -1 : static_cast<int>(marked - heads.begin());
  return list;
}

/// Returns where its cells end below.
float paint_grid(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  const std::vector<float> grid_values = n.grid(c);
  const viz::Matrix values = viz::Matrix::row_major(grid_values, n.layers, n.heads);
  const viz::ValueRange range = viz::value_range(values);
  const bool all = std::ranges::all_of(n.shown(c), [](float v) { return std::isfinite(v); });
  viz::Heatmap map;
  map.cells.matrix = values;
  map.cells.scale =
      of_change(c) ? viz::diverging_scale(range.magnitude() > 0 ? static_cast<double>(range.magnitude()) : 1)
                   : viz::linear_scale(static_cast<double>(range.high));
  map.rows = {n.layer_names, "layer", c.theme->accent, c.selection.layer};
  map.cols = {n.head_names, "head", c.theme->accent, c.selection.head};
  map.scale_title = (of_change(c) ? difference_name(c) + std::string(", ") : "") +
                    std::string(kind_of(c.options[kMetric]).unit);
  map.cell_values = all;
  map.centered = !c.trimmed;
  map.role = kCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style_of(c));
  const std::vector<int> listed = listed_heads(c, n);  // the others step back
  for (int head = 0; head < n.done && c.options[kLeast] > 0; ++head)
    if (!std::ranges::binary_search(listed, head))
      picture.scene.add(viz::FillRect{grid.cell_rect(head / n.heads, head % n.heads).inset(0.5F),
                                      c.theme->surface.with_alpha(215)});
  // Not there yet, or nothing to measure.
  for (int layer = 0; layer < n.layers && !all; ++layer)
    for (int head = 0; head < n.heads; ++head)
      if (!std::isfinite(n.shown(c)[layer * n.heads + head]))
        picture.scene.add(viz::FillRect{grid.cell_rect(layer, head).inset(0.5F), c.theme->raised});
  picture.scene.add(
      viz::StrokeRect{grid.cell_rect(c.selection.layer, c.selection.head), c.theme->accent, 2, 1});
  return grid.rect.bottom();
}

/// What the picture cannot show, in words; empty: nothing is missing.
std::string note_of(const ViewContext& c, const Numbers& n) {
  if (!n.pending.empty()) return "computing… " + n.pending;
  if (std::ranges::any_of(n.shown(c), [](float v) { return std::isfinite(v); })) return "";
  if (of_model(c)) return "no finite numbers";
  if (c.run->run->length() == 1) return "one token has nothing but itself to look at";
  if (of_change(c)) return std::string("no finite ") + difference_name(c) + "s";
  if (!has_own_keys(*c.run)) return "the keys are no tokens of the queries' text";
  const std::string_view lacking = kind_of(c.options[kMetric]).lacking;
  return lacking.empty() ? "no finite numbers" : std::string(lacking);
}

/// What is averaged, and over what.
std::string detail_of(const ViewContext& c, const Numbers& n) {
  const std::string detail(kind_of(c.options[kMetric]).detail);
  if (!of_model(c)) return detail;
  if (of_list(c)) return n.texts + "; " + detail;
  const RepeatedTokens texts = repeated_tokens(c);
  return std::to_string(texts.sequences) + " × " + std::to_string(texts.length) +
         " random tokens, each twice; " + detail;
}

Picture build(const ViewContext& c) {
  const std::optional<Numbers> numbers = numbers_of(c);
  if (auto words = waiting(c)) return *words;
  if (of_list(c) && !c.prompts) return no_list(c);
  if (auto words = waiting(c, question_of(c), numbers.has_value())) return *words;
  const viz::Style style = style_of(c);
  const Numbers& n = *numbers;
  const Layout layout = lay_out(c);
  const std::vector<int> heads = listed_heads(c, n);
  List list = list_of(c, n, heads);
  list.lay_out(layout.list);
  const bool lists = layout.list.w > 0 && list.layout().places.size() > 1;
  if (layout.grid.w < 10 * c.font_size && (!lists || (!heads.empty() && list.layout().rows.empty())))
    return too_small(c, "for the heads");
  Picture picture = blank(c);
  const std::string title(kind_of(c.options[kMetric]).title);
  if (of_change(c)) {
    paint_title(picture, c, title + difference_suffix(c), difference_words(c) + "; " + detail_of(c, n));
  } else {
    paint_title(picture, c, title, detail_of(c, n));
  }
  const float cells_end = layout.grid.w > 0 ? paint_grid(picture, c, n, layout.grid) : 0;
  std::string note = note_of(c, n);
  if (lists) list.paint(picture);
  // One of the two alone is a lesser figure.
  picture.whole = picture.whole && layout.grid.w > 0 && (lists || c.in_pane);
  if (layout.grid.w <= 0) return picture;
  if (note.empty() && c.options[kLeast] > 0)
    note =
        std::to_string(heads.size()) + " of " + std::to_string(n.done) + " heads " +
        (of_change(c) ? compares_different_inputs(*c.run) ? "different by at least " : "changed by at least "
                      : "at least ") +
        to_text(kLeast, c.options.value(kLeast));
  if (lists && note.empty()) note = list.note("listed: ");
  const float note_y = std::min(layout.note_y, cells_end + 2 * style.unit());
  paint_small_lines(picture, c, {note}, {layout.grid.x, note_y}, layout.grid.w);
  return picture;
}

/// The head of a row of the list.
int head_of_row(const ViewContext& c, const Numbers& n, int row) {
  const std::vector<int> heads = listed_heads(c, n);
  return row < std::ssize(heads) ? heads[row] : static_cast<int>(std::ssize(n.names));
}

/// The head under the mouse; beyond all of them where it is not there any more.
int head_at(const ViewContext& c, const Numbers& n, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  return region.role == kRow ? head_of_row(c, n, region.id) : hit.row * n.heads + hit.col;
}

/// A row for each head, listed or not.
Table table(const ViewContext& c) {
  Table result;
  const std::optional<Numbers> numbers = numbers_of(c);
  if (!numbers) return result;
  const Numbers& n = *numbers;
  result.header = {"layer", "head"};
  for (const HeadMetricKind& metric : head_metrics())
    result.header.push_back((of_change(c) ? difference_prefix(c) : "") + std::string(metric.heading));
  for (int index = 0; index < n.done; ++index) {
    std::vector<std::string> row{std::to_string(index / n.heads), std::to_string(index % n.heads)};
    for (const auto& values : n.of_metric) row.push_back(plain(values[index]));
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows&, const Gesture& gesture) {
  switch (gesture.key) {
    case Key::up:
      return ViewActions{MoveHead{-1, 0}};
    case Key::down:
      return ViewActions{MoveHead{1, 0}};
    case Key::left:
      return ViewActions{MoveHead{0, -1}};
    case Key::right:
      return ViewActions{MoveHead{0, 1}};
    case Key::home:
      return ViewActions{SelectHead{c.selection.layer, 0}};
    case Key::end:
      return ViewActions{SelectHead{c.selection.layer, c.run->run->config.n_head - 1}};
    default:
      return std::nullopt;
  }
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const std::optional<Numbers> numbers = numbers_of(c);
  const int index = numbers ? head_at(c, *numbers, picture, hit) : 0;
  if (!numbers || index >= std::ssize(numbers->names)) return {};
  return {SelectHead{index / numbers->heads, index % numbers->heads}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const std::optional<Numbers> numbers = numbers_of(c);
  if (!numbers) return facts;
  const Numbers& n = *numbers;
  const int head = head_at(c, n, picture, hit);
  const auto index = static_cast<std::size_t>(head);
  if (index >= n.names.size()) return facts;
  const std::vector<int> listed = listed_heads(c, n);
  const auto row = std::ranges::lower_bound(listed, head) - listed.begin();
  const bool is_listed = row < std::ssize(listed) && listed[row] == head;
  for (const viz::Region& region : picture.regions) {
    const auto frame = [&](const viz::Rect& rect) {
      facts.overlay.add(viz::StrokeRect{rect, c.theme->text, 1.5F, 1});
    };
    if (region.role == kCell) {
      frame(region.cell_rect(head / n.heads, head % n.heads).inset(-0.5F));
    } else if (is_listed && region.id == row) {
      frame(region.rect.inset(0.5F));
    }
  }
  facts.say(n.names[index]);
  facts.commands.push_back({"Show " + n.names[index], {SelectHead{head / n.heads, head % n.heads}}});
  if (head >= n.done) {
    facts.say(kComputing, Fact::In::tooltip);
    return facts;
  }
  for (const HeadMetricKind& metric : head_metrics()) {
    const float value = n.of(metric.id)[index];
    const bool weight = metric.unit == "weight", none = std::isnan(value),
               chosen = metric.id == c.options[kMetric];
    facts.said.push_back({.label = (of_change(c) ? difference_prefix(c) : "") +
                                   std::string(weight ? "weight: " : "") + std::string(metric.heading),
                          .value = none ? "none" : exact(value),
                          .unit = weight || none ? "" : std::string(metric.unit),
                          .copied = chosen && std::isfinite(value) ? plain(value) : "",
                          .in = chosen ? Fact::In::both : Fact::In::tooltip});
  }
  return facts;
}

viz::Point figure_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  return {64 * c.font_size, std::max(24 * c.font_size, (layers + 6) * 2.2F * c.font_size)};
}

}  // namespace

View head_metrics_view() {
  View view;
  view.id = "metrics";
  view.title = "Head metrics";
  view.help = "what each head does with this prompt, a list of prompts, or random tokens said twice";
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.of_model = of_model;
  view.options = {&kMetric, &kText, &kLeast, &kLeastFirst, &kFirstRow};
  add_list<kRows, click, on_key>(view);
  view.figure_size = figure_size;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.build = build;
  view.facts = facts;
  view.table = table;
  return view;
}

}  // namespace headscope::app
