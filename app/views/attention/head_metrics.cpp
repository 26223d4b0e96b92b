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
    choices.push_back({metric.name, metric.label, metric.help});
  return choice_option<HeadMetric>("metric", "Metric", "fF", "which metric the grid shows",
                                   std::move(choices));
}();
const Option<Text> kText =
    choice_option<Text>("metrics-text", "Text", "tT", "which text the heads are measured on",
                        {{"prompt", "Prompt", "The prompt"},
                         {"repeated", "Repeated", "Random tokens repeated once, independent of the prompt"},
                         {"list", "List", "All prompts of the open list, independent of the prompt"}});
bool uses_repeated(const Options& options) {
  return options[kText] == Text::repeated;
}
const Option<int> kSequences =
    make_option<int>("repeated-sequences", "Sequences", "number of sequences of random tokens",
                     {.default_value = RepeatedTokens::kDefaultSequences,
                      .low = 1,
                      .high = 100'000,
                      .keys = "qQ",
                      .applies = uses_repeated});
const Option<int> kLength = make_option<int>("repeated-length", "Length",
                                             "tokens of a sequence before they are repeated, if they fit",
                                             {.default_value = RepeatedTokens::kDefaultLength,
                                              .low = 1,
                                              .high = 1 << 20,
                                              .keys = "lL",
                                              .applies = uses_repeated});
const Option<int> kSeed = make_option<int>("repeated-seed", "Seed", "seed of the random tokens",
                                           {.flag = "seed",
                                            .default_value = 0,
                                            .low = 0,
                                            .high = std::numeric_limits<int>::max(),
                                            .keys = "jJ",
                                            .applies = uses_repeated});
const Option<bool> kMinFirst =
    switch_option("least-first", "Lowest first", "rR", "sort the list from the lowest value");
const Option<double> kMin =
    number_option("metric-least", "Threshold", "eE",
                  "only heads with at least this value; for differences, in either direction", 0, 1e-6, 1e6,
                  {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 5, 10, 0}, "none");
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
/// The metrics of the heads measured so far, in order.
struct Measurement {
  std::shared_ptr<const void> answer;            ///< owns the metrics
  std::vector<const HeadMetricValues*> of_head;  ///< null: none
  std::string texts;                             ///< a description of the texts, for a list
  int sequences = 0;                             ///< number of finished sequences of random tokens
  const ListProgress* list = nullptr;            ///< of a list
};

/// Nothing while there is no answer; the content says why.
std::optional<Measurement> measured(Content& it) {
  const ViewContext& c = it.c;
  if (uses_list(c) && !c.prompts) {
    it.message = no_list_words(c);
    return std::nullopt;
  }
  const auto on_texts = [&](const auto& question) -> std::optional<Measurement> {
    const auto answer = it.need(question);
    if (!answer) return std::nullopt;
    Measurement m{answer, {}, "", answer->sequences};
    for (const HeadMetricValues& head : answer->heads) m.of_head.push_back(&head);
    if (uses_list(c)) m.texts = list_words(c, answer->progress), m.list = &answer->progress;
    return m;
  };
  if (uses_list(c)) return on_texts(MetricsOnList{over_list(c)});
  if (ignores_prompt(c)) return c.run ? on_texts(MetricsOnRepeated{repeated_tokens(c)}) : std::nullopt;
  const auto answer = it.need(ThumbnailsOfHeads{});
  if (!answer) return std::nullopt;
  Measurement m{answer, {}, ""};
  for (int i = 0; i < std::min(answer->done, static_cast<int>(answer->of_head.size())); ++i)
    m.of_head.push_back(answer->of_head[i] ? &answer->of_head[i]->metrics : nullptr);
  return m;
}

/// The metrics of all heads; NaN if not measured yet, or undefined.
struct Numbers {
  int layers = 0, heads = 0;
  int done = 0;                                         ///< number of measured heads
  std::string pending;                                  ///< progress, while incomplete
  std::array<std::vector<float>, kHeadMetrics> values;  ///< [layers, heads]
  Measurement measured;                                 ///< what they are read from

  int count() const { return layers * heads; }
  const std::vector<float>& of(HeadMetric metric) const { return values[static_cast<std::size_t>(metric)]; }
  const std::vector<float>& shown(const ViewContext& c) const { return of(c.options[kMetric]); }
};

Numbers numbers_of(const ViewContext& c, const Measurement& now) {
  const model::Config& config = c.run->run->config;
  Numbers n;
  n.layers = config.n_layer, n.heads = config.n_head;
  n.done = static_cast<int>(now.of_head.size());
  if (!ignores_prompt(c) && n.done < n.count())
    n.pending = std::to_string(n.done) + " of " + std::to_string(n.count()) + " heads";
  if (const int all = repeated_tokens(c).sequences; ignores_prompt(c) && !uses_list(c) && now.sequences < all)
    n.pending = std::to_string(now.sequences) + " of " + std::to_string(all) + " sequences";
  for (const HeadMetricKind& metric : head_metrics()) {
    for (int i = 0; i < n.count(); ++i)
      n.values[static_cast<std::size_t>(metric.id)].push_back(
          i < n.done && now.of_head[i] ? static_cast<float>((*now.of_head[i])[metric.id])
                                       : std::numeric_limits<float>::quiet_NaN());
  }
  n.measured = now;
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

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "heads", .keys = ListKeys::pages};

/// The chosen metric comes first, with bars.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n, const std::vector<int>& heads) {
  const auto value = [&](HeadMetric metric) {
    return [&of = n.of(metric), &heads](int row) { return of[heads[row]]; };
  };
  const auto add = [&](List& list, const HeadMetricKind& metric, int importance,
                       ListLook look) -> ListColumn& {
    look.blank = [of = value(metric.id)](int row) { return std::isnan(of(row)); };
    return list.number(metric.heading(), importance, value(metric.id), look);
  };
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(heads.size()));
  const auto place = [&heads, &n](int row) { return Ref{heads[row] / n.heads, heads[row] % n.heads}; };
  list->refers_to = place;
  list->text("head", 9, [&c, place](int row) {
    const Ref ref = place(row);
    return ignores_prompt(c) ? head_name(ref.layer, ref.head) : head_label(c, ref.layer, ref.head);
  });
  const HeadMetricKind& chosen = kind_of(c.options[kMetric]);
  add(*list, chosen, 8, {.heading = c.theme->text, .digits = chosen.decimals, .most = 12 * c.font_size})
      .kind = viz::TableColumn::Kind::bar;
  for (const HeadMetricKind& other : head_metrics())
    if (&other != &chosen)
      add(*list, other, static_cast<int>(kHeadMetrics) - static_cast<int>(other.id),
          {.color = c.theme->text_muted, .digits = std::min(other.decimals, 3)});
  const auto in_either_direction = [of = value(chosen.id)](int row) { return std::abs(of(row)); };
  if (is_difference(c))
    list->order_by(in_either_direction, !c.options[kMinFirst]);
  else
    list->order_by(value(chosen.id), !c.options[kMinFirst]);
  const auto marked = std::ranges::find(heads, c.selection.layer * n.heads + c.selection.head);
  list->table.marked = marked == heads.end() ? -1 : static_cast<int>(marked - heads.begin());
  return list;
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

/// "1 query": those of the prompt that a metric is about, where not all are; of all measured heads "2 to 3
/// queries". A mean over few of them says little.
std::string queries_of(const ViewContext& c, const Numbers& n) {
  const HeadMetricKind& metric = kind_of(c.options[kMetric]);
  if (ignores_prompt(c) || is_difference(c) || metric.lacking.empty()) return "";
  std::vector<std::int64_t> counts;
  for (const HeadMetricValues* of : n.measured.of_head)
    if (of != nullptr) counts.push_back(of->queries[static_cast<std::size_t>(metric.id)]);
  if (counts.empty()) return "";
  const auto [least, most] = std::ranges::minmax(counts);
  return ": " + (least < most ? std::to_string(least) + " to " : "") + std::to_string(most) +
         (most == 1 ? " query" : " queries");
}

/// The averaged quantity, and what it is averaged over.
std::string detail_of(const ViewContext& c, const Numbers& n) {
  const std::string detail(kind_of(c.options[kMetric]).detail);
  if (!ignores_prompt(c)) return detail + queries_of(c, n);
  const std::string model = c.run->prompt.edits.empty() ? "" : "unedited model; ";
  if (uses_list(c)) return model + n.measured.texts + "; " + detail;
  const RepeatedTokens texts = repeated_tokens(c);
  return model + std::to_string(texts.sequences) + " × " + std::to_string(texts.length) +
         " random tokens, repeated once; " + detail;
}

/// A row for each head, listed or not.
Table table(const ViewContext& c, const Numbers& n) {
  Table result{key_column("layer"), key_column("head")};
  const auto name = [&](const HeadMetricKind& metric) {
    return (is_difference(c) ? difference_column_prefix(c) : "") + std::string(metric.name);
  };
  for (const HeadMetricKind& metric : head_metrics())
    result.columns.emplace_back(name(metric), std::string(metric.unit_in_files()));
  result.columns.emplace_back("queries left out");
  result.ranked_by = name(kind_of(c.options[kMetric]));
  if (const ListProgress* list = n.measured.list) {
    result.fact("prompts", list->done - list->skipped);
    result.fact("skipped prompts", list->skipped);
  } else if (ignores_prompt(c)) {
    const RepeatedTokens texts = repeated_tokens(c);
    result.about("sequences", n.measured.sequences);
    result.about("length", texts.length, "tokens");
    result.about("seed", texts.seed);
  }
  for (int head = 0; head < n.done; ++head) {
    const HeadMetricValues* of = n.measured.of_head[head];
    add_row(result, head / n.heads, head % n.heads,
            n.values | std::views::transform([head](const auto& values) { return values[head]; }),
            of != nullptr ? std::optional(of->left_out) : std::nullopt);
  }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto now = measured(it);
  if (!now) return;
  const Numbers& n = it.keep(numbers_of(c, *now));
  const std::vector<int>& heads = it.keep(listed_heads(c, n));
  const HeadMetricKind& metric = kind_of(c.options[kMetric]);
  it.title = metric.title;
  it.subtitle = detail_of(c, n);
  it.table = [&] { return table(c, n); };

  auto grid = grid_of_heads(c, kCell, n.shown(c), metric.heading(), std::string(metric.unit));
  grid->missing = "none";
  grid->is_dimmed = [&](int layer, int head) {
    return !std::ranges::binary_search(heads, layer * n.heads + head);
  };
  grid->cell_facts = [&](Facts& facts, int layer, int head) {
    const int i = layer * n.heads + head;
    if (i < n.done && n.measured.of_head[i])
      facts.say(left_out_words({&n.measured.of_head[i]->left_out, 1}), Fact::Location::tooltip);
    if (i >= n.done) facts.say(kComputing, Fact::Location::tooltip);
  };
  std::string note = note_of(c, n);
  if (note.empty() && c.options[kMin] > 0)
    note = std::to_string(heads.size()) + " of " + std::to_string(n.done) + " heads " +
           (is_difference(c) ? "different by at least " : "at least ") + to_text(kMin, c.options.value(kMin));
  std::vector<std::int64_t> left_out;
  for (const HeadMetricValues* of : n.measured.of_head)
    if (of != nullptr) left_out.push_back(of->left_out);
  it.body = beside(boxes(rows(boxes(std::move(grid), notes({note, left_out_words(left_out)}))),
                         may_be_left_out(list_of(c, n, heads), "the list")));
}

}  // namespace head_metrics_grid

View head_metrics_view() {
  using namespace head_metrics_grid;
  View view = make_view(Group::attention, "metrics", "Head metrics",
                        "head metrics on this prompt, a list of prompts, or repeated random tokens", declare);
  view.audience = Audience::research;
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.of_model = ignores_prompt;
  view.options = {&kMetric, &kText, &kSequences, &kLength, &kSeed, &kMin, &kMinFirst, &kFirstRow};
  view.has_list = true;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.landmarks = {landmark("grid", kCell), landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
