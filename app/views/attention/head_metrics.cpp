#include <ranges>

#include "app/ascii.h"
#include "app/run/analyses/heads.h"
#include "app/views/parts/parts.h"

namespace headscope::app::head_metrics_grid {

/// Roles of regions. cell: row: layer, col: head; row: id: a row of the list.
enum Role { kCell, kRow };
enum class Text { prompt, repeated, list };

const Option<HeadMetric> kMetric = choice_option<HeadMetric>(
    "metric", "Metric", "fF", "which metric the grid shows", choices_of(head_metrics()));
const Option<Text> kText =
    choice_option<Text>("metrics-text", "Text", "tT", "which text the heads are measured on",
                        {{"prompt", "Prompt", "The prompt"},
                         {"repeated", "Repeated", "Random tokens repeated once, independent of the prompt"},
                         {"list", "List", "All prompts of the open list, independent of the prompt"}});
bool uses_repeated(const Options& options) {
  return options[kText] == Text::repeated;
}
const Option<int> kSequences =
    number_option("repeated-sequences", "Sequences", "qQ", "number of sequences of random tokens",
                  RepeatedTokens::kDefaultSequences, 1, 100'000, {.applies = uses_repeated});
const Option<int> kLength = number_option(
    "repeated-length", "Length", "lL", "tokens of a sequence before they are repeated, if they fit",
    RepeatedTokens::kDefaultLength, 1, 1 << 20, {.applies = uses_repeated});
const Option<int> kSeed =
    number_option("repeated-seed", "Seed", "jJ", "seed of the random tokens", 0, 0,
                  std::numeric_limits<int>::max(), {.flag = "seed", .applies = uses_repeated});

bool ignores_prompt(const ViewContext& c) {
  return c.options[kText] != Text::prompt;
}

RepeatedTokens repeated_tokens(const ViewContext& c) {
  return {std::min(c.options[kLength], RepeatedTokens::longest(c.config().n_ctx)), c.options[kSequences],
          static_cast<std::uint64_t>(c.options[kSeed])};
}

/// The heads' metrics, and what they are measured on.
struct Numbers {
  std::shared_ptr<const void> answer;       ///< owns the metrics
  std::vector<const HeadMetrics*> of_head;  ///< of the heads measured so far, in order; null: none
  std::string pending;                      ///< progress, while incomplete
  const ListProgress* texts = nullptr;      ///< over the texts that they are measured on; null: the prompt

  const HeadMetrics* of(int head) const { return head < std::ssize(of_head) ? of_head[head] : nullptr; }
  /// NaN if not measured yet, or undefined.
  float at(HeadMetric metric, int head) const {
    return of(head) ? static_cast<float>((*of(head))[metric]) : std::numeric_limits<float>::quiet_NaN();
  }
};

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  Numbers n;
  const auto note_progress = [&n](std::ptrdiff_t done, int all, const char* what) {
    if (done < all) n.pending = std::to_string(done) + " of " + std::to_string(all) + what;
  };
  const auto add_texts = [&n](const auto& answer) {
    n.answer = answer, n.texts = &answer->progress;
    for (const HeadMetrics& head : answer->heads) n.of_head.push_back(&head);
  };
  if (c.options[kText] == Text::list) {
    const auto answer = it.need(MetricsOnList{over_list(c)});
    if (answer) add_texts(answer);
  } else if (ignores_prompt(c)) {
    const auto answer = c.run ? it.need(MetricsOnRepeated{repeated_tokens(c)}) : nullptr;
    if (answer) add_texts(answer), note_progress(n.texts->done, repeated_tokens(c).sequences, " sequences");
  } else if (const auto answer = it.need(ThumbnailsOfHeads{})) {
    n.answer = answer;
    for (const auto& head : answer->of_head | std::views::take(answer->done))
      n.of_head.push_back(head ? &head->metrics : nullptr);
    note_progress(std::ssize(n.of_head), c.config().n_layer * c.config().n_head, " heads");
  }
  return n.answer ? std::optional(std::move(n)) : std::nullopt;
}

const ListRows kRows{kRow, first_row_option("first-head", false, -1), "heads", ListKeys::pages};

/// The chosen metric comes first, with bars.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.of_head.size()));
  const int heads = c.config().n_head;
  const auto value = [&n](HeadMetric id) { return [&n, id](int head) { return n.at(id, head); }; };
  const auto add = [&](const HeadMetricKind& metric, int importance, ListLook look) -> ListColumn& {
    look.blank = [of = value(metric.id)](int head) { return std::isnan(of(head)); };
    return list->number(lowered(metric.label), importance, value(metric.id), look);
  };
  list->refers_to = [heads](int head) { return Ref{head / heads, head % heads}; };
  list->text("head", 9, [&c, heads](int head) {
    return ignores_prompt(c) ? head_name(head / heads, head % heads)
                             : head_title(c, head / heads, head % heads);
  });
  const HeadMetricKind& chosen = kind_of(c.options[kMetric]);
  add(chosen, 8, {.heading = c.theme->text, .digits = chosen.decimals, .most = 12 * c.font_size}).kind =
      viz::TableColumn::Kind::bar;
  for (const HeadMetricKind& other : head_metrics())
    if (&other != &chosen)
      add(other, static_cast<int>(kHeadMetrics) - static_cast<int>(other.id),
          {.color = c.theme->text_muted, .digits = std::min(other.decimals, 3)});
  // The largest in either direction first.
  list->order_by([of = value(chosen.id)](int head) { return std::abs(of(head)); });
  list->table.marked = c.selection.layer * heads + c.selection.head;
  list->least_width = 12, list->good_width = 26, list->most_width = 44;
  list->file(key_column("layer"), [heads](int head) { return head / heads; });
  list->file(key_column("head"), [heads](int head) { return head % heads; });
  for (const HeadMetricKind& metric : head_metrics())
    list->file({difference_column_prefix(c) + std::string(metric.name), std::string(metric.unit_in_files())},
               value(metric.id));
  list->file("queries left out",
             [&n](int head) { return n.of(head) ? std::optional(n.of(head)->left_out()) : std::nullopt; });
  return list;
}

/// A note on what the picture cannot show; empty: nothing is missing.
std::string note_of(const ViewContext& c, const Numbers& n, const std::vector<float>& shown) {
  if (!n.pending.empty()) return "computing… " + n.pending;
  if (std::ranges::any_of(shown, [](float v) { return std::isfinite(v); })) return "";
  const std::string lacking(kind_of(c.options[kMetric]).lacking);
  return ignores_prompt(c) || c.differs() || lacking.empty() ? "no finite numbers" : lacking;
}

/// "left out: 1 to 3 queries of a head, whose weights are all 0"; empty: none is.
std::string left_out_words(const Numbers& n) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (const HeadMetrics* of : n.of_head)
    if (of != nullptr) least = std::min(least, of->left_out()), most = std::max(most, of->left_out());
  if (most == 0) return "";
  const std::string range = least < most ? std::to_string(least) + " to " : "";
  return "left out: " + range + std::to_string(most) + (most == 1 ? " query" : " queries") +
         " of a head, whose weights are all 0";
}

/// The averaged quantity, and what it is averaged over: ": 1 query" are those of the chosen head that a
/// metric is about, where not all are; a mean over few of them says little.
std::string detail_of(const ViewContext& c, const Numbers& n) {
  const HeadMetricKind& metric = kind_of(c.options[kMetric]);
  const std::string detail(metric.detail);
  if (!ignores_prompt(c)) {
    const HeadMetrics* of = n.of(c.selection.layer * c.config().n_head + c.selection.head);
    if (c.differs() || metric.lacking.empty() || of == nullptr) return detail;
    const auto queries = of->queries(metric.id);
    return detail + ": " + std::to_string(queries) + (queries == 1 ? " query" : " queries");
  }
  const std::string model = c.run->prompt.edits.empty() ? "" : "unedited model; ";
  if (c.options[kText] == Text::list) return model + list_words(c, *n.texts) + "; " + detail;
  const RepeatedTokens texts = repeated_tokens(c);
  return model + std::to_string(texts.sequences) + " × " + std::to_string(texts.length) +
         " random tokens, repeated once; " + detail;
}

/// A row for each head.
Table table(const ViewContext& c, const Numbers& n, const List& list) {
  const std::string metric(kind_of(c.options[kMetric]).name);
  Table result = list.exported(difference_column_prefix(c) + metric);
  if (c.options[kText] == Text::list) {
    result.fact("prompts", n.texts->done - n.texts->skipped);
    result.fact("skipped prompts", n.texts->skipped);
  } else if (ignores_prompt(c)) {
    const RepeatedTokens texts = repeated_tokens(c);
    result.about("sequences", n.texts->done);
    result.about("length", texts.length, "tokens");
    result.about("seed", texts.seed);
  }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*std::move(numbers));
  const HeadMetricKind& metric = kind_of(c.options[kMetric]);
  it.title = metric.title;
  it.subtitle = detail_of(c, n);
  auto list = list_of(c, n);
  it.table = [&c, &n, &list = *list] { return table(c, n, list); };
  std::vector<float> shown;
  for (int head = 0; head < c.config().n_layer * c.config().n_head; ++head)
    shown.push_back(n.at(metric.id, head));
  const std::string note = note_of(c, n, shown);
  const char* const words = "One key can count for two metrics: a head's weights can add up to more than 1.";
  auto grid = grid_of_heads(c, kCell, std::move(shown), lowered(metric.label), std::string(metric.unit));
  grid->unit = metric.unit_in_files();  // on the scale weights are named, too
  it.body = beside(boxes(rows(boxes(std::move(grid), notes({note, left_out_words(n)}),
                                    remarks({metric.unit_in_files().empty() ? words : ""}))),
                         may_be_left_out(std::move(list), "the list")));
}

View view() {
  View view = make_view("metrics", "Head metrics", declare,
                        "head metrics on this prompt, a list of prompts, or repeated random tokens");
  view.over_list = {&kText, static_cast<int>(Text::list)};
  view.of_model = ignores_prompt;
  view.options = {&kMetric, &kText, &kSequences, &kLength, &kSeed, &kRows.first};
  view.needs = Capability::patterns;
  view.caption.query = false;
  view.landmarks = {{"grid", kCell}};
  return view;
}

}  // namespace headscope::app::head_metrics_grid
