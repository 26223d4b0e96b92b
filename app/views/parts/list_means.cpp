#include "app/views/parts/list_means.h"

#include "app/run/answers.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "viz/scene/theme.h"

namespace headscope::app {

const Option<bool> kMeanOverList =
    switch_option("over-list", "Mean over prompts", "rR",
                  "the mean over all prompts of the open list with its standard error, instead of the shown "
                  "prompt",
                  "mean over {}", false, {.kept = false, .of_list = true});

void measure_as(const ListedPrompt& line, const View& view, Options& options, Selection& selection) {
  require_measurable(line);
  for (const OptionSpec* option : view.options) {
    const int place = token_place(view, *option);
    const GivenToken& token = place == 0 ? line.token : line.other_token;
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
};

/// Nothing while no prompt is measured.
std::optional<Means> means_in(const View& view, const ViewContext& c) {
  if (!c.run || !c.prompts) return std::nullopt;
  Means means{c.ask(means_of(view, c)), {}, {}};
  if (!means.answer || !means.answer->means) return std::nullopt;
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

/// The head of a row; nothing if it is about none.
std::optional<SelectHead> head_of(const Means& means, int row) {
  const auto number = [&](std::string_view name) -> std::optional<int> {
    const auto key = std::ranges::find(means.keys, name, &Column::name);
    if (key == means.keys.end() || (*key)->has_texts()) return std::nullopt;
    const double value = std::get<0>((*key)->cells)[row];
    return std::isnan(value) ? std::nullopt : std::optional(static_cast<int>(value));
  };
  const auto layer = number("layer"), head = number("head");
  return layer && head ? std::optional(SelectHead{*layer, *head}) : std::nullopt;
}

List list_of(const ViewContext& c, const Means& means) {
  List list(c, kRows, means.rows());
  for (const Column* key : means.keys)
    list.text(key->name, 9, [key](int row) { return key_text(*key, row); });
  int importance = 8;
  for (const Numbers& number : means.numbers) {
    const std::string heading = number.name + (number.unit.empty() ? "" : ", " + number.unit);
    const ListLook look{.axis = importance == 8,
                        .most = 24 * c.font_size,
                        .is_signed = std::ranges::any_of(number.mean, [](double mean) { return mean < 0; }),
                        .blank = [&number](int row) { return !number.has(row); }};
    const auto mean = [&number](int row) { return number.mean[row]; };
    if (importance == 8)
      list.bar(heading, importance, mean, look);
    else
      list.number(heading, std::max(1, importance), mean, look);
    list.number(
        "±", std::max(1, importance - 1), [&number](int row) { return number.error[row]; },
        {.color = c.theme->text_muted, .blank = [&number](int row) { return !number.has_error(row); }});
    importance -= 2;
  }
  const std::span<const double> counts = means.numbers.front().count;
  const auto prompts = static_cast<double>(means.answer->fold.prompts());
  if (std::ranges::any_of(counts, [&](double count) { return count != prompts; }))
    list.number("prompts", 3, [counts](int row) { return counts[row]; }, {.digits = 0});
  return list;
}

Picture build(const View& view, const ViewContext& c) {
  if (auto words = waiting(c)) return *words;
  if (!c.prompts) return no_list(c);
  if (c.side == Side::difference)
    return message(c, "means over a list are of one model: show that model instead of the difference");
  const auto reply = reply_to(c, means_of(view, c));
  if (auto words = waiting(c, reply)) return *words;
  const ListProgress& progress = reply.answer->progress;
  const std::string prompts = list_words(c, progress);
  const auto means = means_in(view, c);
  if (!means) return message(c, prompts);
  List list = list_of(c, *means);
  if (!list.lay_out(below_title(c))) return too_small(c, "for the list");
  Picture picture = blank(c);
  const bool complete = progress.done == c.prompts->prompts.size();
  std::string about = !complete                           ? prompts + "; mean so far"
                      : means->answer->fold.prompts() > 1 ? "mean of " + prompts + ", ± standard error"
                                                          : "mean of " + prompts;
  for (const TableFact& fact : means->answer->means->facts)  // what all prompts have in common
    if (const auto* words = std::get_if<std::string>(&fact.value)) about += "; " + fact.name + ": " + *words;
  paint_title(picture, c, view.title, about);
  list.paint(picture);
  return picture;
}

/// The row under the mouse; -1: none.
int row_at(const Means& means, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  return region.role == kMeanRow && region.id < means.rows() ? region.id : -1;
}

Facts facts(const View& view, const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto means = means_in(view, c);
  const int row = means ? row_at(*means, picture, hit) : -1;
  if (row < 0) return {};
  Facts facts = facts_of_row(c, region_of(picture, hit).rect);
  std::string place;
  for (const Column* key : means->keys)
    place += (place.empty() ? "" : ", ") + key->name + " " + key_text(*key, row);
  facts.say(place);
  for (const Numbers& number : means->numbers) {
    const double mean = number.mean[row];
    const std::string error = number.has_error(row) ? " ± " + exact(number.error[row]) : "";
    facts.said.push_back(
        {.label = number.name,
         .value = number.has(row) ? exact(mean) + error : "none",
         .unit = number.unit,
         .copied = number.has(row) ? plain(mean) : "",
         .location = &number == means->numbers.data() ? Fact::Location::both : Fact::Location::tooltip});
  }
  facts.say(counted(static_cast<std::int64_t>(means->numbers.front().count[row]), "prompt"));
  if (const auto head = head_of(*means, row))
    facts.commands.push_back({"Show " + head_name(head->layer, head->head), {*head}});
  return facts;
}

ViewActions on(const View& view, const ViewContext& c, const Picture& picture, const viz::Hit* hit,
               const Gesture& gesture) {
  if (gesture.kind != Gesture::Kind::click)
    return list_gesture(kRows, nullptr, nullptr, c, picture, hit, gesture);
  const auto means = hit != nullptr ? means_in(view, c) : std::nullopt;
  const int row = means ? row_at(*means, picture, *hit) : -1;
  const auto head = row >= 0 ? head_of(*means, row) : std::nullopt;
  return head ? ViewActions{*head} : ViewActions{};
}

Table table(const View& view, const ViewContext& c) {
  const auto means = means_in(view, c);
  return means ? *means->answer->means : Table{};
}

std::vector<Scroll> scrolls(const View&, const ViewContext& c, const Picture& picture) {
  return list_scrolls(kRows, c, picture);
}

float whole_height(const View& view, const ViewContext& c) {
  const auto means = means_in(view, c);
  viz::Table table;
  table.rows = means ? means->rows() : 20;
  table.max_rows = c.max_rows;
  return viz::table_height(table, style_of(c)) + 9 * c.font_size;
}

viz::Point figure_size(const View& view, const ViewContext& c) {
  return {56 * c.font_size, whole_height(view, c)};
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
    if (table.rows() == 0) throw model::RunError("it has no numbers of " + std::string(view->title));
    const std::string where = "prompt " + grouped(static_cast<std::int64_t>(index) + 1) + ": ";
    answer.fold.add(TableFold(table, where), where);
  };
  const auto finish = [](FoldOverPrompts& answer) {
    if (answer.fold.prompts() > 0) answer.means = std::make_shared<const Table>(answer.fold.means());
  };
  FoldOverPrompts answer = over_prompts(
      over, run, computation, add,
      {.compared = view->with_second != nullptr || view->on_baseline != nullptr, .finish = finish});
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
  if (view.for_means != nullptr) means.options.set(*view.for_means, view.for_means_value);
  if (view.caption.head) means.selection = {.layer = c.selection.layer, .head = c.selection.head};
  return means;
}

/// Whether the means are shown now.
static bool mean_is_shown(const ViewContext& c) {
  return c.options[kMeanOverList];
}

/// A member of a prompt's view, and while the means are shown, theirs; null: they have none.
template <class Result, class... Rest>
static void add_means(std::function<Result(const ViewContext&, Rest...)>& member, std::string_view id,
                      std::type_identity_t<Result (*)(const View&, const ViewContext&, Rest...)> means) {
  member = [prompt = std::move(member), id, means](const ViewContext& c, Rest... rest) {
    if (mean_is_shown(c)) return means != nullptr ? means(*find_view(id), c, rest...) : Result();
    return prompt ? prompt(c, rest...) : Result();
  };
}

View with_means(View view) {
  using namespace list_means;
  const bool has_numbers = !has_all(view.needs, Capability::tokenizer);  // else it is about tokens alone
  if (view.place != Place::tab || !view.caption.prompt || !has_numbers || view.over_list != nullptr)
    return view;
  add_means(view.build, view.id, build);
  add_means(view.facts, view.id, facts);
  add_means(view.on, view.id, on);
  add_means(view.table, view.id, table);
  add_means(view.scrolls, view.id, scrolls);
  if (view.menu) add_means(view.menu, view.id, nullptr);
  if (view.figure_size) add_means(view.figure_size, view.id, figure_size);
  if (view.whole_height) add_means(view.whole_height, view.id, whole_height);
  if (!view.has_list)
    view.refuse = [prompt = std::move(view.refuse)](const ViewContext& c) {
      return c.max_rows > 0 ? "--rows applies only to means, --over-list yes" : prompt ? prompt(c) : "";
    };
  add_means(view.refuse, view.id, nullptr);  // prompts that cannot be measured are skipped
  view.has_list = true;
  view.options.insert(view.options.begin(), &kMeanOverList);
  view.options.push_back(&kFirstMean);
  view.over_list = &kMeanOverList;
  view.over_list_value = true;
  view.of_model = mean_is_shown;
  return view;
}

}  // namespace headscope::app
