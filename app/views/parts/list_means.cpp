#include "app/views/parts/list_means.h"

#include "app/run/answers.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"

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

constexpr int kMeanRow = 1000;  // no role of the view's own picture
const ListRows kRows{kMeanRow, first_row_option("first-mean"), "rows"};

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

struct Means {
  const TableFold& fold;
  std::vector<std::size_t> numbers = {};  ///< columns of values; that by which rows rank first
  const Tally& at(int row, std::size_t number) const { return fold.rows()[row].values[number]; }
  /// Whether prompts lack some of the rows, such as edges of a circuit.
  bool lacks_rows() const {
    return std::ranges::any_of(fold.rows(), [&](const TableFold::Row& row) {
      return row.values[numbers.front()].count != fold.prompts();
    });
  }
};

Means means_in(const TableFold& fold) {
  Means means{fold};
  for (std::size_t i = 0; i < fold.values().size(); ++i) {
    const bool ranks = fold.values()[i].name == fold.ranked_by();
    means.numbers.insert(ranks ? means.numbers.begin() : means.numbers.end(), i);
  }
  return means;
}

/// The head of a row, if it is about one.
Ref ref_of(const TableFold& fold, int row) {
  Ref ref;
  for (std::size_t i = 0; i < fold.keys().size(); ++i) {
    const auto* number = std::get_if<double>(&fold.rows()[row].keys[i]);
    if (number != nullptr && fold.keys()[i].name == "layer") ref.layer = static_cast<int>(*number);
    if (number != nullptr && fold.keys()[i].name == "head") ref.head = static_cast<int>(*number);
  }
  return ref.layer >= 0 && ref.head >= 0 ? ref : Ref();
}

std::unique_ptr<List> list_of(const ViewContext& c, const Means& means) {
  const TableFold& fold = means.fold;
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(fold.rows().size()));
  list->refers_to = [&fold](int row) { return ref_of(fold, row); };
  for (std::size_t i = 0; i < fold.keys().size(); ++i)
    list->text(fold.keys()[i].name, 9, [&fold, i](int row) { return text_of(fold.rows()[row].keys[i]); });
  int importance = 8;
  for (const std::size_t number : means.numbers) {
    const Column& column = fold.values()[number];
    const auto mean = [&means, number](int row) { return means.at(row, number).value(); };
    const auto is_negative = [number](const TableFold::Row& row) { return row.values[number].mean < 0; };
    const std::string heading = column.name + " mean" + (column.unit.empty() ? "" : ", " + column.unit);
    const ListLook look{.axis = importance == 8,
                        .most = 24 * c.font_size,
                        .is_signed = std::ranges::any_of(fold.rows(), is_negative),
                        .tip = false,
                        .blank = [&means, number](int row) { return means.at(row, number).count == 0; }};
    if (importance == 8)
      list->bar(heading, importance, mean, look);
    else
      list->number(heading, std::max(1, importance), mean, look);
    list->number("±", std::max(1, importance - 1),
                 [&means, number](int row) { return means.at(row, number).standard_error(); },
                 {.color = c.theme->text_muted, .tip = false, .blank = [&means, number](int row) {
                    return means.at(row, number).count < 2;
                  }});
    importance -= 2;
  }
  const auto strongest = [&means](int row) -> const Tally& { return means.at(row, means.numbers.front()); };
  if (means.lacks_rows())
    list->number("prompts", 3, [strongest](int row) { return strongest(row).count; },
                 {.digits = 0, .tip = false});
  if (!fold.ranked_by().empty())
    list->order_by([strongest](int row) { return std::abs(strongest(row).value()); });
  return list;
}

void add_row_facts(Facts& facts, const Means& means, int row) {
  const TableFold& fold = means.fold;
  std::string place;
  for (std::size_t i = 0; i < fold.keys().size(); ++i)
    place += (i > 0 ? ", " : "") + fold.keys()[i].name + " " + text_of(fold.rows()[row].keys[i]);
  facts.say(place);
  for (const std::size_t number : means.numbers) {
    const Column& column = fold.values()[number];
    const Tally& tally = means.at(row, number);
    const std::string error = tally.count > 1 ? " ± " + exact(tally.standard_error()) : "";
    facts.said.push_back(
        {.label = column.name + " mean",
         .value = tally.count > 0 ? exact(tally.mean) + error : "none",
         .unit = column.unit,
         .copied = tally.count > 0 ? plain(tally.mean) : "",
         .location = number == means.numbers.front() ? Fact::Location::both : Fact::Location::tooltip});
  }
  facts.say(counted(means.at(row, means.numbers.front()).count, "prompt"));
}

}  // namespace list_means

void declare_means(Content& it, const View& view) {
  using namespace list_means;
  const ViewContext& c = it.c;
  if (!c.run) return;
  if (c.differs()) {
    it.message = "means over a list are of one model: show that model instead of the difference";
    return;
  }
  const auto answer = it.need(means_of(view, c));
  if (!answer) return;
  const std::string prompts = list_words(c, answer->progress);
  if (answer->fold.prompts() == 0) {
    it.message = prompts;
    return;
  }
  const Means& means = it.keep(means_in(answer->fold));
  it.title = view.title;
  it.subtitle = answer->progress.done < c.prompts->prompts.size() ? prompts + "; mean so far"
                : answer->fold.prompts() > 1 ? "mean of " + prompts + ", ± standard error"
                                             : "mean of " + prompts;
  if (means.lacks_rows()) it.subtitle += "; each row: of the prompts that have it";
  for (const TableFact& fact : answer->fold.about())
    if (const auto* words = std::get_if<std::string>(&fact.value))
      it.subtitle += "; " + fact.name + ": " + *words;
  it.table = [answer] { return answer->fold.means(); };
  auto list = list_of(c, means);
  list->row_facts = [&means](Facts& facts, int row) { add_row_facts(facts, means, row); };
  it.body = std::move(list);
}

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
    std::string why = view->refusal(c);
    why.resize(std::min(why.size(), why.find("; see --")));  // the command line's words
    if (!why.empty()) throw model::RunError(why);
    const Table table = view->table(c);
    const auto is_value = [](const Column& column) { return column.used_as() == Column::Use::value; };
    if (table.rows() == 0 || std::ranges::none_of(table.columns, is_value))
      throw model::RunError("it has no numbers of " + std::string(view->title));
    const std::string where = "prompt " + grouped(static_cast<std::int64_t>(index) + 1) + ": ";
    answer.fold.add(TableFold(table, where), where);
  };
  FoldOverPrompts answer =
      over_prompts(over, run, computation, add,
                   {.compared = view->with_second.option != nullptr || view->on_baseline != nullptr});
  if (answer.fold.prompts() == 0)
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

View with_means(View view) {
  if (view.place != Place::tab || !view.caption.prompt || view.over_list.option != nullptr) return view;
  view.options.insert(view.options.begin(), &kMeanOverList);
  view.options.push_back(&list_means::kRows.first);
  view.over_list = {&kMeanOverList, true};
  return view;
}

}  // namespace headscope::app
