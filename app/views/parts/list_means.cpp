#include "app/views/parts/list_means.h"

#include "app/run/answers.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"
#include "viz/scene/theme.h"

namespace headscope::app {

const Option<bool> kMeanOverList =
    switch_option("over-list", "Mean over prompts", "rR",
                  "the mean over all prompts of the open list with its standard error, instead of the shown "
                  "prompt",
                  false, {.kept = false, .of_list = true});

void measure_as(const ListedPrompt& line, const View& view, Options& options, Selection& selection) {
  require_measurable(line);
  for (const OptionSpec* option : view.options) {
    const int place = token_place(view, *option);
    const TokenRef& token = place == 0 ? line.token : line.other_token;
    if (place >= 0 && !token.empty()) options.set(*option, token);
  }
  if (!line.other_token.empty()) choose_difference(view, options);
  if (line.position) selection.query = *line.position;
}

namespace list_means {

const Option<int> kFirstMean = first_row_option("first-mean");
constexpr int kMeanRow = 1000;  // no role of the view's own picture
const ListRows kRows{.role = kMeanRow, .first = kFirstMean, .names = "rows"};

/// Throws RunError if a run has no such position, or if its second prompt cannot be matched with it.
void require_places(const MeansOfView& means, const ListedPrompt& line, const ViewContext& c) {
  const int length = c.run->run->length();
  if (line.position.value_or(-1) >= length)
    throw model::RunError("there is no position " + std::to_string(*line.position) + ": the last one is " +
                          std::to_string(length - 1));
  if (means.view->on_baseline == nullptr || !means.view->on_baseline(c)) return;
  if (!c.run->baseline) throw model::RunError("it has no second prompt to patch from");
  const int second = c.run->baseline->run->length();
  if (second != length)
    throw model::RunError("its second prompt has " + counted(second, "token") + ", but the prompt has " +
                          grouped(length));
}

/// The numbers of a table of means, whose columns come in threes after its keys.
struct Numbers {
  std::string name, unit;
  std::span<const double> mean, error, count;
  bool has(int row) const { return count[row] > 0; }
  bool has_error(int row) const { return count[row] > 1; }
};
struct Means {
  std::shared_ptr<const FoldOverPrompts> answer;
  std::vector<const Column*> keys;
  std::vector<Numbers> numbers;  ///< those by which rows rank first
  int rows() const { return static_cast<int>(answer->means->rows()); }
  /// Whether prompts lack some of the rows, such as edges of a circuit.
  bool lacks_rows() const {
    const auto all = static_cast<double>(answer->fold.prompts());
    return std::ranges::any_of(numbers.front().count, [all](double count) { return count != all; });
  }
};

Means means_in(std::shared_ptr<const FoldOverPrompts> answer) {
  Means means{std::move(answer), {}, {}};
  const Table& table = *means.answer->means;
  const auto cells = [&](std::size_t column) {
    return std::span<const double>(std::get<0>(table.columns[column].cells));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.used_as() == Column::Use::key) {
      means.keys.push_back(&column);
      continue;
    }
    const bool ranks = column.name == table.ranked_by;
    means.numbers.insert(ranks ? means.numbers.begin() : means.numbers.end(),
                         {column.name, column.unit, cells(i), cells(i + 1), cells(i + 2)});
    i += 2;
  }
  return means;
}

std::string key_text(const Column& key, int row) {
  return key.has_texts() ? std::get<1>(key.cells)[row] : number_text(std::get<0>(key.cells)[row]);
}

/// The head of a row, if it is about one.
Ref ref_of(const Means& means, int row) {
  Ref ref;
  for (const Column* key : means.keys) {
    const double value = key->has_texts() ? no_number() : std::get<0>(key->cells)[row];
    if (key->name == "layer" && !std::isnan(value)) ref.layer = static_cast<int>(value);
    if (key->name == "head" && !std::isnan(value)) ref.head = static_cast<int>(value);
  }
  return ref.layer >= 0 && ref.head >= 0 ? ref : Ref();
}

std::unique_ptr<List> list_of(const ViewContext& c, const Means& means) {
  auto made = std::make_unique<List>(c, kRows, means.rows());
  List& list = *made;
  list.refers_to = [&means](int row) { return ref_of(means, row); };
  for (const Column* key : means.keys)
    list.text(key->name, 9, [key](int row) { return key_text(*key, row); });
  int importance = 8;
  for (const Numbers& number : means.numbers) {
    const std::string heading = number.name + (number.unit.empty() ? "" : ", " + number.unit);
    const ListLook look{.axis = importance == 8,
                        .most = 24 * c.font_size,
                        .is_signed = std::ranges::any_of(number.mean, [](double mean) { return mean < 0; }),
                        .tip = false,
                        .blank = [&number](int row) { return !number.has(row); }};
    const auto mean = [&number](int row) { return number.mean[row]; };
    if (importance == 8)
      list.bar(heading, importance, mean, look);
    else
      list.number(heading, std::max(1, importance), mean, look);
    list.number("±", std::max(1, importance - 1), [&number](int row) { return number.error[row]; },
                {.color = c.theme->text_muted, .tip = false, .blank = [&number](int row) {
                   return !number.has_error(row);
                 }});
    importance -= 2;
  }
  if (means.lacks_rows()) list.number("prompts", 3, means.numbers.front().count, {.digits = 0, .tip = false});
  if (!means.answer->means->ranked_by.empty())  // the strongest first
    list.order_by([&means](int row) { return std::abs(means.numbers.front().mean[row]); });
  return made;
}

void add_row_facts(Facts& facts, const Means& means, int row) {
  std::string place;
  for (const Column* key : means.keys)
    place += (place.empty() ? "" : ", ") + key->name + " " + key_text(*key, row);
  facts.say(place);
  for (const Numbers& number : means.numbers) {
    const double mean = number.mean[row];
    const std::string error = number.has_error(row) ? " ± " + exact(number.error[row]) : "";
    facts.said.push_back(
        {.label = number.name,
         .value = number.has(row) ? exact(mean) + error : "none",
         .unit = number.unit,
         .copied = number.has(row) ? plain(mean) : "",
         .location = &number == means.numbers.data() ? Fact::Location::both : Fact::Location::tooltip});
  }
  facts.say(counted(static_cast<std::int64_t>(means.numbers.front().count[row]), "prompt"));
}

void declare(Content& it, const View& view) {
  const ViewContext& c = it.c;
  if (!c.run) return;
  if (c.side == Side::difference) {
    it.message = "means over a list are of one model: show that model instead of the difference";
    return;
  }
  const auto answer = it.need(means_of(view, c));
  if (!answer) return;
  const std::string prompts = list_words(c, answer->progress);
  if (!answer->means) {
    it.message = prompts;
    return;
  }
  const Means& means = it.keep(means_in(answer));
  it.title = view.title;
  it.subtitle = answer->progress.done < c.prompts->prompts.size() ? prompts + "; mean so far"
                : answer->fold.prompts() > 1 ? "mean of " + prompts + ", ± standard error"
                                             : "mean of " + prompts;
  if (means.lacks_rows()) it.subtitle += "; each row: of the prompts that have it";
  for (const TableFact& fact : answer->means->facts)  // what all prompts have in common
    if (const auto* words = std::get_if<std::string>(&fact.value))
      it.subtitle += "; " + fact.name + ": " + *words;
  it.table = [answer] { return *answer->means; };
  auto list = list_of(c, means);
  list->row_facts = [&means](Facts& facts, int row) { add_row_facts(facts, means, row); };
  it.body = std::move(list);
}

}  // namespace list_means

FoldOverPrompts MeansOfView::compute(const PromptRun& run,
                                     const Computation<FoldOverPrompts>& computation) const {
  static const viz::Theme kTheme = viz::light_theme();  // lists have colours even where nothing is drawn
  const auto add = [&](PromptRun one, std::size_t index, FoldOverPrompts& answer) {
    const ListedPrompt& line = over.list->prompts[index];
    ViewContext c;
    c.options = options;
    c.selection = selection;
    c.theme = &kTheme;
    measure_as(line, *view, c.options, c.selection);
    c.run = c.asked = std::make_shared<const PromptRun>(std::move(one));
    list_means::require_places(*this, line, c);
    c.chosen_query = c.selection.query;
    c.selection = clamped(c.selection, *c.run);
    DirectAnswers answers(c.run, computation.workspace, {}, computation.stop, &answer.of_model);
    c.answers = &answers;
    std::string why = view->refuse ? view->refuse(c) : "";
    why.resize(std::min(why.size(), why.find("; see --")));  // the command line's words
    if (!why.empty()) throw model::RunError(why);
    const Table table = view->table(c);
    const auto is_value = [](const Column& column) { return column.used_as() == Column::Use::value; };
    if (table.rows() == 0 || std::ranges::none_of(table.columns, is_value))
      throw model::RunError("it has no numbers of " + std::string(view->title));
    const std::string where = "prompt " + grouped(static_cast<std::int64_t>(index) + 1) + ": ";
    answer.fold.add(TableFold(table, where), where);
  };
  const auto finish = [](FoldOverPrompts& answer) {
    if (answer.fold.prompts() > 0) answer.means = std::make_shared<const Table>(answer.fold.means());
  };
  FoldOverPrompts answer = over_prompts(
      over, run, computation, add,
      {.compared = view->with_second.option != nullptr || view->on_baseline != nullptr, .finish = finish});
  if (!answer.means)
    throw model::RunError("no prompt of " + model::quote(over.list->name) +
                          " can be measured: " + answer.progress.problem);
  return answer;
}

MeansOfView means_of(const View& view, const ViewContext& c) {
  MeansOfView means{&view, {}, {}, over_list(c)};
  for (const OptionSpec* option : view.options)
    if (option != &kMeanOverList && !option->pane_only && has_effect(view, *option, c.options))
      means.options.set(*option, c.options.value(*option));
  if (const auto& [option, value] = view.for_means; option != nullptr)
    if (means.options.value(*option) == option->default_value) means.options.set(*option, value);
  if (view.caption.head) means.selection = {.layer = c.selection.layer, .head = c.selection.head};
  return means;
}

/// Whether the means are shown now.
static bool mean_is_shown(const ViewContext& c) {
  return c.options[kMeanOverList];
}

View with_means(View view) {
  using namespace list_means;
  if (view.place != Place::tab || !view.caption.prompt || view.over_list.option != nullptr) return view;
  view.declare = [prompt = std::move(view.declare), id = view.id](Content& it) {
    if (mean_is_shown(it.c))
      declare(it, *find_view(id));
    else
      prompt(it);
  };
  if (view.menu)
    view.menu = [prompt = std::move(view.menu)](const ViewContext& c) {
      return mean_is_shown(c) ? std::vector<MenuLine>() : prompt(c);
    };
  view.refuse = [prompt = std::move(view.refuse), has_list = view.has_list()](const ViewContext& c) {
    if (mean_is_shown(c)) return std::string();  // prompts that cannot be measured are skipped
    if (!has_list && c.max_rows > 0) return std::string("--rows applies only to means, --over-list yes");
    return prompt ? prompt(c) : "";
  };
  view.options.insert(view.options.begin(), &kMeanOverList);
  view.options.push_back(&kFirstMean);
  view.over_list = {&kMeanOverList, true};
  view.of_model = [of_model = view.of_model](const ViewContext& c) {
    return mean_is_shown(c) || (of_model && of_model(c));
  };
  return view;
}

}  // namespace headscope::app
