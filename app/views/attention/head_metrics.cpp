#include <array>
#include <ranges>

#include "app/run/analyses/heads.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace head_metrics_grid {

/// Roles of regions. cell: row: layer, col: head; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Text { prompt, repeated, list };

const Option<HeadMetric> kMetric = [] {
  std::vector<Choice> choices;
  for (const HeadMetricKind& metric : head_metrics())
    choices.push_back({metric.name, metric.label, metric.help, metric.caption});
  return choice_option<HeadMetric>("metric", "Metric", "fF", "which metric the grid shows",
                                   std::move(choices));
}();
const Option<Text> kText = choice_option<Text>(
    "metrics-text", "Text", "tT", "which text the heads are measured on",
    {{"prompt", "Prompt", "The prompt"},
     {"repeated", "Repeated", "Random tokens repeated once, independent of the prompt",
      "on random tokens repeated once"},
     {"list", "List", "All prompts of the open list, independent of the prompt", "on {}"}});
bool uses_repeated(const Options& options) {
  return options[kText] == Text::repeated;
}
const Option<int> kSequences =
    make_option<int>("repeated-sequences", "Sequences", "number of sequences of random tokens",
                     {.phrase = "{sequence}",
                      .default_value = RepeatedTokens::kDefaultSequences,
                      .low = 1,
                      .high = 100'000,
                      .keys = "qQ",
                      .applies = uses_repeated});
const Option<int> kLength = make_option<int>("repeated-length", "Length",
                                             "tokens of a sequence before they are repeated, if they fit",
                                             {.phrase = "{token} repeated",
                                              .default_value = RepeatedTokens::kDefaultLength,
                                              .low = 1,
                                              .high = 1 << 20,
                                              .keys = "lL",
                                              .applies = uses_repeated});
const Option<int> kSeed = make_option<int>("repeated-seed", "Seed", "seed of the random tokens",
                                           {.flag = "seed",
                                            .phrase = "seed {}",
                                            .default_value = 0,
                                            .low = 0,
                                            .high = std::numeric_limits<int>::max(),
                                            .keys = "jJ",
                                            .applies = uses_repeated});
const Option<bool> kMinFirst = switch_option("least-first", "Lowest first", "rR",
                                             "sort the list from the lowest value", "lowest values first");
const Option<double> kMin = number_option(
    "metric-least", "Threshold", "eE",
    "only heads with at least this value; for differences, in either direction", "heads with at least {}", 0,
    1e-6, 1e6, {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 5, 10, 0}, "none");
const Option<int> kFirstRow = first_row_option("first-head");

bool ignores_prompt(const ViewContext& c) {
  return c.options[kText] != Text::prompt;
}
bool uses_list(const ViewContext& c) {
  return c.options[kText] == Text::list;
}
/// Numbers of the model alone differ only between two models.
bool is_difference(const ViewContext& c) {
  return c.side == Side::difference && (!ignores_prompt(c) || (c.run && compares_models(*c.run)));
}

RepeatedTokens repeated_tokens(const ViewContext& c) {
  return {std::min(c.options[kLength], RepeatedTokens::longest(c.run->run->config.n_ctx)),
          c.options[kSequences], static_cast<std::uint64_t>(c.options[kSeed])};
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

/// The metrics of the heads measured so far, in order.
struct Measurement {
  std::shared_ptr<const void> answer;            ///< owns the metrics
  std::vector<const HeadMetricValues*> of_head;  ///< null: none
  std::string texts;                             ///< a description of the texts, for a list
  int sequences = 0;                             ///< number of finished sequences of random tokens
  const ListProgress* list = nullptr;            ///< of a list
};

/// Measured on the prompt. Nothing while there is no answer.
std::optional<Measurement> measured_on_prompt(const ViewContext& c) {
  const auto answer = c.ask(ThumbnailsOfHeads{});
  if (!answer || !c.run) return std::nullopt;
  Measurement m{answer, {}, ""};
  for (int i = 0; i < std::min(answer->done, static_cast<int>(answer->of_head.size())); ++i)
    m.of_head.push_back(answer->of_head[i] ? &answer->of_head[i]->metrics : nullptr);
  return m;
}

/// Measured on a list, or on repeated tokens.
std::optional<Measurement> measured_on_texts(const ViewContext& c) {
  if (!c.run || (uses_list(c) && !c.prompts)) return std::nullopt;
  const auto answer =
      uses_list(c) ? c.ask(MetricsOnList{over_list(c)}) : c.ask(MetricsOnRepeated{repeated_tokens(c)});
  if (!answer) return std::nullopt;
  Measurement m{answer, {}, "", answer->sequences};
  for (const HeadMetricValues& head : answer->heads) m.of_head.push_back(&head);
  if (uses_list(c)) m.texts = list_words(c, answer->progress), m.list = &answer->progress;
  return m;
}

/// The metrics of all heads; NaN if not measured yet, or undefined.
struct Numbers {
  int layers = 0, heads = 0;
  int done = 0;                                         ///< number of measured heads
  std::string pending;                                  ///< progress, while incomplete
  std::string texts;                                    ///< a description of the texts, for a list
  std::array<std::vector<float>, kHeadMetrics> values;  ///< [layers, heads]
  std::vector<std::string> names;
  Measurement measured;  ///< what they are read from

  int count() const { return layers * heads; }
  const std::vector<float>& of(HeadMetric metric) const { return values[static_cast<std::size_t>(metric)]; }
  const std::vector<float>& shown(const ViewContext& c) const { return of(c.options[kMetric]); }
};

std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto now = ignores_prompt(c) ? measured_on_texts(c) : measured_on_prompt(c);
  if (!now) return std::nullopt;
  const model::Config& config = c.run->run->config;
  Numbers n;
  n.layers = config.n_layer, n.heads = config.n_head;
  n.texts = now->texts;
  n.done = static_cast<int>(now->of_head.size());
  const int sequences = repeated_tokens(c).sequences;
  if (!ignores_prompt(c) && n.done < n.count())
    n.pending = std::to_string(n.done) + " of " + std::to_string(n.count()) + " heads";
  if (ignores_prompt(c) && !uses_list(c) && now->sequences < sequences)
    n.pending = std::to_string(now->sequences) + " of " + std::to_string(sequences) + " sequences";
  for (int i = 0; i < n.count(); ++i) n.names.push_back(head_name(i / n.heads, i % n.heads));
  for (const HeadMetricKind& metric : head_metrics()) {
    for (int i = 0; i < n.count(); ++i)
      n.values[static_cast<std::size_t>(metric.id)].push_back(
          i < n.done && now->of_head[i] ? static_cast<float>((*now->of_head[i])[metric.id])
                                        : std::numeric_limits<float>::quiet_NaN());
  }
  n.measured = *now;
  return n;
}

/// Measured heads whose metric passes the threshold, indices into [layers, heads].
std::vector<int> listed_heads(const ViewContext& c, const Numbers& n) {
  const auto least = static_cast<float>(c.options[kMin]);
  std::vector<int> heads;
  for (int i = 0; i < n.done; ++i) {
    const float value = n.shown(c)[i];
    if (least <= 0 || (is_difference(c) ? std::abs(value) : value) >= least) heads.push_back(i);
  }
  return heads;
}

/// The grid with the list, or the list alone.
ChartAndList lay_out(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  const float shape = static_cast<float>(config.n_layer) / static_cast<float>(config.n_head);
  const float beside = c.printed ? 36 : 30;  // ems: wider than a column of a paper
  const float under = style.line(style.small()) + style.unit();
  const ChartAndList l = lay_out_with_list(c, beside, 0.56F, 24, under, shape);
  return l.chart.h < 6 * c.font_size ? ChartAndList{{}, below_title(c)} : l;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "heads", .keys = ListKeys::pages};

/// The chosen metric comes first, with bars.
List list_of(const ViewContext& c, const Numbers& n, const std::vector<int>& heads) {
  const auto value = [&](HeadMetric metric) {
    return [&of = n.of(metric), &heads](int row) { return of[heads[row]]; };
  };
  const auto none = [&](HeadMetric metric) {
    return [of = value(metric)](int row) { return std::isnan(of(row)); };
  };
  List list(c, kRows, static_cast<int>(heads.size()));
  const auto label = [&](int row) {
    const int head = heads[row];
    return ignores_prompt(c) ? n.names[head] : head_label(c, head / n.heads, head % n.heads);
  };
  const viz::Style style = style_of(c);
  float widest = 0;  // what follows the number, as "off", must not be cut off
  for (int row = 0; row < std::ssize(heads); ++row)
    widest = std::max(widest, style.width(label(row), style.font_size));
  list.text("head", 9, label, {.least = std::ceil(widest) + 1});
  const HeadMetricKind& chosen = kind_of(c.options[kMetric]);
  list.bar(std::string(chosen.heading), 8, value(chosen.id),
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
  int order = 1;
  if (is_difference(c)) {  // the largest in either direction first
    list.number("", 0, [of = value(chosen.id)](int row) { return std::abs(of(row)); }, {.hidden = true});
    order = list.last();
  }
  list.table.order = {order, !c.options[kMinFirst]};
  const auto marked = std::ranges::find(heads, c.selection.layer * n.heads + c.selection.head);
  list.table.marked = marked == heads.end() ? -1 : static_cast<int>(marked - heads.begin());
  return list;
}

/// Returns the bottom of its cells, or of the scale under them.
float paint_grid(Picture& picture, const ViewContext& c, const Numbers& n, const viz::Rect& area) {
  std::vector<float> grid_values = n.shown(c);
  std::ranges::replace_if(
      grid_values, [](float v) { return !std::isfinite(v); }, 0.F);
  const viz::Matrix values = viz::Matrix::row_major(grid_values, n.layers, n.heads);
  const viz::ValueRange range = viz::value_range(values);
  const bool all = std::ranges::all_of(n.shown(c), [](float v) { return std::isfinite(v); });
  viz::Heatmap map;
  map.cells.matrix = values;
  map.cells.scale = is_difference(c) ? scale_of_differences(static_cast<double>(range.magnitude()))
                                     : viz::linear_scale(range.high);
  std::vector<std::string> layers, heads;
  for (int layer = 0; layer < n.layers; ++layer) layers.push_back("L" + std::to_string(layer));
  for (int head = 0; head < n.heads; ++head) heads.push_back("H" + std::to_string(head));
  map.rows = selectable_axis(c, layers, "layer", c.selection.layer);
  map.cols = selectable_axis(c, heads, "head", c.selection.head);
  map.scale_title =
      std::string(is_difference(c) ? "difference, " : "") + std::string(kind_of(c.options[kMetric]).unit);
  map.cell_values = all;
  map.centered = !c.trimmed;
  map.saves_width = c.printed;
  map.role = kCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style_of(c));
  const auto cover = [&](int head, viz::Color color) {
    picture.scene.add(viz::FillRect{grid.cell_rect(head / n.heads, head % n.heads).inset(0.5F), color});
  };
  const std::vector<int> listed = listed_heads(c, n);  // all others are dimmed
  for (int head = 0; head < n.done && c.options[kMin] > 0; ++head)
    if (!std::ranges::binary_search(listed, head)) cover(head, c.theme->surface.with_alpha(215));
  // Pending, or nothing to measure.
  for (int head = 0; head < n.count() && !all; ++head)
    if (!std::isfinite(n.shown(c)[head])) cover(head, c.theme->raised);
  picture.scene.add(
      viz::StrokeRect{grid.cell_rect(c.selection.layer, c.selection.head), c.theme->accent, 2, 1});
  return grid.rect.bottom() + viz::flat_scale_height(map, area, style_of(c));
}

/// A note on what the picture cannot show; empty: nothing is missing.
std::string note_of(const ViewContext& c, const Numbers& n) {
  if (!n.pending.empty()) return "computing… " + n.pending;
  if (std::ranges::any_of(n.shown(c), [](float v) { return std::isfinite(v); })) return "";
  if (ignores_prompt(c)) return "no finite numbers";
  if (c.run->run->length() == 1) return "a single token can only attend to itself";
  if (is_difference(c)) return "no finite differences";
  if (!has_own_keys(*c.run)) return "the keys are not tokens of the queries' text";
  const std::string_view lacking = kind_of(c.options[kMetric]).lacking;
  return lacking.empty() ? "no finite numbers" : std::string(lacking);
}

/// Why the numbers in a row of the list may add up to more than 1.
constexpr std::string_view kSumWords =
    "A head's metrics can add up to more than 1: each is a mean over its own queries, and one key can count "
    "for several.";

/// The measured heads' numbers of queries that are left out.
std::vector<std::int64_t> left_out_of(const Numbers& n) {
  std::vector<std::int64_t> counts;
  for (const HeadMetricValues* head : n.measured.of_head)
    if (head != nullptr) counts.push_back(head->left_out);
  return counts;
}

/// "1 query": those of the prompt that a metric is about, where not all are; of all measured heads "2 to 3
/// queries". A mean over few of them says little.
std::string queries_of(const ViewContext& c, const Numbers& n, const HeadMetricKind& metric,
                       std::optional<int> head = {}) {
  if (ignores_prompt(c) || is_difference(c) || metric.lacking.empty()) return "";
  std::vector<std::int64_t> counts;
  for (int i = 0; i < n.done; ++i)
    if (const HeadMetricValues* of = n.measured.of_head[i]; of != nullptr && i == head.value_or(i))
      counts.push_back(of->queries[static_cast<std::size_t>(metric.id)]);
  if (counts.empty()) return "";
  const auto [least, most] = std::ranges::minmax(counts);
  return (least < most ? std::to_string(least) + " to " : "") + std::to_string(most) +
         (most == 1 ? " query" : " queries");
}

/// The averaged quantity, and the queries it is averaged over.
std::string detail_of(const ViewContext& c, const Numbers& n) {
  const HeadMetricKind& kind = kind_of(c.options[kMetric]);
  const std::string detail(kind.detail);
  const std::string queries = queries_of(c, n, kind);
  if (!ignores_prompt(c)) return detail + (queries.empty() ? "" : ": " + queries);
  const std::string model = c.run->prompt.edits.empty() ? "" : "unedited model; ";
  if (uses_list(c)) return model + n.texts + "; " + detail;
  const RepeatedTokens texts = repeated_tokens(c);
  return model + std::to_string(texts.sequences) + " × " + std::to_string(texts.length) +
         " random tokens, repeated once; " + detail;
}

Picture build(const ViewContext& c) {
  const std::optional<Numbers> numbers = numbers_of(c);
  if (auto words = waiting(c)) return *words;
  if (uses_list(c) && !c.prompts) return no_list(c);
  if (auto words = waiting(c, question_of(c), numbers.has_value())) return *words;
  const viz::Style style = style_of(c);
  const Numbers& n = *numbers;
  const auto [chart, list_area] = lay_out(c);
  const std::vector<int> heads = listed_heads(c, n);
  List list = list_of(c, n, heads);
  list.lay_out(list_area);
  const bool lists = list_area.w > 0 && list.layout().places.size() > 1;
  if (chart.w < 10 * c.font_size && (!lists || (!heads.empty() && list.layout().rows.empty())))
    return too_small(c, "for the heads");
  Picture picture = blank(c);
  const std::string title(kind_of(c.options[kMetric]).title);
  paint_title(picture, c, title + (is_difference(c) ? difference_suffix(c) : ""),
              (is_difference(c) ? subtraction_words(c) + "; " : "") + detail_of(c, n));
  const float cells_end = chart.w > 0 ? paint_grid(picture, c, n, chart) : 0;
  std::string note = note_of(c, n);
  if (lists) list.paint(picture);
  // A figure needs both.
  picture.whole = picture.whole && chart.w > 0 && (lists || c.in_pane);
  if (chart.w <= 0) return picture;
  if (note.empty() && c.options[kMin] > 0)
    note = std::to_string(heads.size()) + " of " + std::to_string(n.done) + " heads " +
           (is_difference(c) ? "different by at least " : "at least ") + to_text(kMin, c.options.value(kMin));
  if (lists && note.empty()) note = list.note("listed: ");
  const float note_y = std::min(chart.bottom() + style.unit(), cells_end + 2 * style.unit());
  std::vector<std::string> notes;
  if (!note.empty()) notes.push_back(note);
  const bool several = lists && list.layout().places.size() > 2 && !is_difference(c);
  const bool is_above = list_area.w > 0 && list_area.y > chart.y;
  const float end = is_above ? list_area.y : c.height - margin(c);
  for (const std::string& words : {left_out_words(left_out_of(n)), lists ? list.left_out("") : "",
                                   std::string(several ? kSumWords : "")}) {
    const std::vector<std::string> lines =
        viz::wrap(style, words, style.small(), viz::FontStyle::regular, chart.w);
    const auto count = static_cast<float>(notes.size() + lines.size());
    if (words.empty() || note_y + count * style.line(style.small()) > end) continue;
    notes.insert(notes.end(), lines.begin(), lines.end());
  }
  paint_small_lines(picture, c, notes, {chart.x, note_y}, chart.w);
  return picture;
}

/// The head under the mouse; an index beyond the last head if it no longer exists.
int head_at(const ViewContext& c, const Numbers& n, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (region.role != kRow) return hit.row * n.heads + hit.col;
  const std::vector<int> heads = listed_heads(c, n);
  return region.id < std::ssize(heads) ? heads[region.id] : n.count();
}

/// A row for each head, listed or not.
Table table(const ViewContext& c) {
  const std::optional<Numbers> n = numbers_of(c);
  if (!n) return {};
  Table result{key_column("layer"), key_column("head")};
  const auto name = [&](const HeadMetricKind& metric) {
    return (is_difference(c) ? difference_column_prefix(c) : "") + std::string(metric.name);
  };
  for (const HeadMetricKind& metric : head_metrics())
    result.columns.emplace_back(name(metric), std::string(metric.unit_in_files()));
  result.columns.emplace_back("queries left out");
  result.ranked_by = name(kind_of(c.options[kMetric]));
  if (const ListProgress* list = n->measured.list) {
    result.fact("prompts", list->done - list->skipped);
    result.fact("skipped prompts", list->skipped);
  } else if (ignores_prompt(c)) {
    const RepeatedTokens texts = repeated_tokens(c);
    result.about("sequences", n->measured.sequences);
    result.about("length", texts.length, "tokens");
    result.about("seed", texts.seed);
  }
  for (int head = 0; head < n->done; ++head) {
    const HeadMetricValues* of = n->measured.of_head[head];
    add_row(result, head / n->heads, head % n->heads,
            n->values | std::views::transform([head](const auto& values) { return values[head]; }),
            of != nullptr ? std::optional(of->left_out) : std::nullopt);
  }
  return result;
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows& rows, const Gesture& gesture) {
  if (gesture.key == Key::home) return ViewActions{SelectHead{c.selection.layer, 0}};
  if (gesture.key == Key::end)
    return ViewActions{SelectHead{c.selection.layer, c.run->run->config.n_head - 1}};
  return keys_along_heads(c, rows, gesture);
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const std::optional<Numbers> n = numbers_of(c);
  const int head = n ? head_at(c, *n, picture, hit) : 0;
  if (!n || head >= n->count()) return {};
  return {SelectHead{head / n->heads, head % n->heads}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const std::optional<Numbers> numbers = numbers_of(c);
  if (!numbers) return facts;
  const Numbers& n = *numbers;
  const int head = head_at(c, n, picture, hit);
  if (head >= n.count()) return facts;
  const std::vector<int> listed = listed_heads(c, n);
  const auto row = std::ranges::find(listed, head);
  for (const viz::Region& region : picture.regions) {
    const auto frame = [&](const viz::Rect& rect) {
      facts.overlay.add(viz::StrokeRect{rect, c.theme->text, 1.5F, 1});
    };
    if (region.role == kCell) {
      frame(region.cell_rect(head / n.heads, head % n.heads).inset(-0.5F));
    } else if (row != listed.end() && region.id == row - listed.begin()) {
      frame(region.rect.inset(0.5F));
    }
  }
  facts.say(n.names[head]);
  facts.commands.push_back({"Show " + n.names[head], {SelectHead{head / n.heads, head % n.heads}}});
  add_head_edits(facts.commands, c, head / n.heads, head % n.heads);
  if (head >= n.done) {
    facts.say(kComputing, Fact::Location::tooltip);
    return facts;
  }
  if (const HeadMetricValues* of = n.measured.of_head[head]; of != nullptr)
    if (const std::string words = left_out_words({&of->left_out, 1}); !words.empty())
      facts.say(words, Fact::Location::tooltip);
  for (const HeadMetricKind& metric : head_metrics()) {
    const float value = n.of(metric.id)[head];
    const bool weight = metric.unit == "weight", none = std::isnan(value),
               chosen = metric.id == c.options[kMetric];
    const std::string queries = queries_of(c, n, metric, head);
    facts.said.push_back({.label = (is_difference(c) ? difference_prefix(c) : "") +
                                   std::string(weight ? "weight: " : "") + std::string(metric.heading),
                          .value = none ? "none" : exact(value),
                          .unit = none               ? ""
                                  : !queries.empty() ? "over " + queries
                                  : weight           ? ""
                                                     : std::string(metric.unit),
                          .copied = chosen && std::isfinite(value) ? plain(value) : "",
                          .location = chosen ? Fact::Location::both : Fact::Location::tooltip});
  }
  return facts;
}

viz::Point figure_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  return {64 * c.font_size, std::max(24 * c.font_size, (layers + 6) * 2.2F * c.font_size)};
}

}  // namespace head_metrics_grid

View head_metrics_view() {
  using namespace head_metrics_grid;
  View view = make_view(Group::attention, "metrics", "Head metrics",
                        "head metrics on this prompt, a list of prompts, or repeated random tokens", build,
                        facts, table);
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.of_model = ignores_prompt;
  view.options = {&kMetric, &kText, &kSequences, &kLength, &kSeed, &kMin, &kMinFirst, &kFirstRow};
  add_list(view, kRows, click, on_key);
  view.figure_size = figure_size;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
