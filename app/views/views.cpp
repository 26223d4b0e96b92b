#include <algorithm>
#include <utility>

#include "app/run/analyses/patterns.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "app/views/parts/prompt_list_words.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"

namespace headscope::app {
// The table of views, in the order of their tabs. A view is one file and one row here.
// clang-format off
#define HEADSCOPE_VIEWS(row) \
  row(attention, learn, heatmap) row(attention, learn, scores) row(attention, learn, qkv) \
  row(attention, learn, query) row(attention, research, score_sources) row(attention, learn, softmax) \
  row(attention, learn, merge) row(attention, learn, lines) row(attention, research, search) \
  row(attention, research, query_key_space) row(attention, research, head_metrics_grid) \
  row(attention, research, circuits) row(attention, research, composition) row(input, learn, tokens) \
  row(input, learn, embedding) row(input, learn, positions) row(input, learn, staircase) \
  row(block, learn, pass) row(block, learn, mlp) row(block, research, top_examples) \
  row(output, learn, predictions) row(output, research, lens) row(output, research, attribution) \
  row(output, research, saliency) row(output, research, circuit_graph) row(output, research, flow) \
  row(output, research, sweep) row(output, learn, sampling) row(output, learn, tree) \
  row(output, learn, cache) row(model, learn, parameters) row(attention, learn, heads) \
  row(output, learn, next)
// clang-format on

#define HEADSCOPE_DECLARE(group, audience, name) \
  namespace name {                               \
  View view();                                   \
  }
HEADSCOPE_VIEWS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

namespace {

View placed(View view, Group group, Audience audience) {
  view.group = group, view.audience = audience;
  if (std::ranges::find(view.options, &kTextOf) != view.options.end())
    view.over_list = {&kTextOf, static_cast<int>(TextOf::list)};
  return with_means(std::move(view));
}

std::string joined(std::string words, const std::string& more) {
  if (!words.empty() && !more.empty()) words += " ";
  return words + more;
}

std::string line_of(const Fact& fact) {
  return joined(joined(fact.label, fact.value), fact.unit);
}

}  // namespace

bool View::has_list() const {
  return std::ranges::any_of(options, &OptionSpec::of_rows);
}

std::string View::refusal(const ViewContext& c) const {
  if (std::string why = refuse_tokens(*this, c, false); !why.empty()) return why;
  if (shows_means(*this, c)) return "";  // prompts that cannot be measured are skipped
  const bool lists_means_alone =
      can_show_means(*this) && std::ranges::count(options, true, &OptionSpec::of_rows) == 1;
  if (lists_means_alone && c.max_rows > 0) return "--rows applies only to means, --over-list yes";
  return refuse ? refuse(c) : "";
}

std::span<const View> views() {
#define HEADSCOPE_CALL(group, audience, name) placed(name::view(), Group::group, Audience::audience),
  static const std::vector<View> all{HEADSCOPE_VIEWS(HEADSCOPE_CALL)};
#undef HEADSCOPE_CALL
  return all;
}

std::span<const View* const> tabs() {
  static const std::vector<const View*> all = [] {
    std::vector<const View*> tabs;
    for (const View& view : views())
      if (view.place == Place::tab) tabs.push_back(&view);
    std::ranges::stable_sort(tabs, {},
                             [](const View* view) { return std::pair(view->group, view->audience); });
    return tabs;
  }();
  return all;
}

std::span<const OptionSpec* const> all_options() {
  static const std::vector<const OptionSpec*> all = [] {
    std::vector<const OptionSpec*> options;
    for (const View& view : views())
      for (const OptionSpec* option : view.options)
        if (!option->pane_only && std::ranges::find(options, option) == options.end())
          options.push_back(option);
    return options;
  }();
  return all;
}

const View* find_view(std::string_view id) {
  const auto found = std::ranges::find(views(), id, &View::id);
  return found == views().end() ? nullptr : &*found;
}

const View* view_of(Part part) {
  const auto found = std::ranges::find(tabs(), std::optional(part), &View::part);
  return found == tabs().end() ? nullptr : *found;
}

const View& view_at(Place place) {
  return *std::ranges::find(views(), place, &View::place);
}

const OptionSpec* find_option(std::string_view name) {
  const auto found = std::ranges::find(all_options(), name, &OptionSpec::name);
  return found == all_options().end() ? nullptr : *found;
}

int token_place(const View& view, const OptionSpec& option) {
  int place = 0;
  for (const OptionSpec* one : view.options) {
    if (!std::holds_alternative<TokenRef>(one->default_value)) continue;
    if (one == &option) return place;
    ++place;
  }
  return -1;
}

bool has_effect(const View& view, const OptionSpec& option, const Options& options) {
  if (option.applies != nullptr && !option.applies(options)) return false;
  if (view.metric == nullptr) return true;
  const std::string_view metric = view.metric->choices[std::get<int>(options.value(*view.metric))].name;
  return token_place(view, option) <
         token_count(std::ranges::find(kMetrics, metric, &ChoiceOf<Metric>::name)->value);
}

std::vector<const View*> views_in_window(std::string_view view, std::string_view second) {
  std::vector<const View*> shown;
  for (const std::string_view id : {view, second})
    if (const View* one = find_view(id)) shown.push_back(one);
  for (const View& one : views())
    if (one.place != Place::tab) shown.push_back(&one);
  return shown;
}

std::vector<const OptionSpec*> chosen_options(std::span<const View* const> shown, const Options& options) {
  std::vector<const OptionSpec*> chosen;
  for (const View* view : shown)
    for (const OptionSpec* option : view->options)
      if (!option->pane_only && options.value(*option) != option->default_value &&
          has_effect(*view, *option, options) && std::ranges::count(chosen, option) == 0)
        chosen.push_back(option);
  return chosen;
}

Options options_of(const View& view, const Options& options) {
  Options own;
  for (const OptionSpec* option : view.options)
    if (!option->pane_only) own.set(*option, options.value(*option));
  return own;
}

void choose_difference(const View& view, Options& options) {
  const bool has_other = std::ranges::any_of(view.options, [&](const OptionSpec* option) {
    return token_place(view, *option) == 1 && options.value(*option) != option->default_value;
  });
  const OptionSpec* const metric = view.metric;
  if (!has_other || metric == nullptr || options.value(*metric) != metric->default_value) return;
  const auto difference =
      std::ranges::find(metric->choices, name_of(kMetrics, Metric::difference), &Choice::name);
  options.set(*metric, static_cast<int>(difference - metric->choices.begin()));
}

bool token_comes_from_list(const View& view, const OptionSpec& option, const Options& options,
                           const PromptList* prompts) {
  const int place = token_place(view, option);
  if (prompts == nullptr || place < 0 || !view.over_list.is_in(options)) return false;
  const auto token = place == 0 ? &ListedPrompt::token : &ListedPrompt::other_token;
  return std::ranges::none_of(prompts->prompts,
                              [&](const ListedPrompt& line) { return (line.*token).empty(); });
}

std::vector<MenuLine> menu_at(const View& view, const ViewContext& c, const Picture& picture,
                              const viz::Hit* hit) {
  if (hit != nullptr) return view.facts(c, picture, *hit).menu();
  return view.menu && !shows_means(view, c) ? view.menu(c) : std::vector<MenuLine>();
}

Selection clamped(Selection selection, const PromptRun& run) {
  const model::Config& config = run.run->config;
  const int last = run.run->length() - 1;
  selection.layer = std::clamp(selection.layer, 0, config.n_layer - 1);
  selection.head = std::clamp(selection.head, 0, config.n_head - 1);
  selection.query = selection.query < 0 ? last : std::min(selection.query, last);
  const bool inside = selection.key >= 0 && selection.key < key_count(run);
  if (!inside || !may_see(run, {selection.layer, selection.head}, selection.query, selection.key))
    selection.key = -1;
  return selection;
}

std::string ViewContext::failure(const Question& question) const {
  const auto known = answers != nullptr ? answers->ask(asked_on(side, question)) : nullptr;
  return known ? known->failure : "";
}

bool can_show_difference(const View& view, const ViewContext& c) {
  return view.shows_difference && (!view.is_of_model(c) || (c.run && compares_models(*c.run)));
}

ViewContext on_side(Side side, const View& view, ViewContext c) {
  c.asked = c.run;
  if (std::string why = c.run && c.run->model ? missing(*c.run->model, view.needs) : ""; !why.empty()) {
    c.no_run = std::move(why);
    c.run = nullptr;
    c.answers = nullptr;
    return c;
  }
  if (!c.run || !c.run->baseline || (side == Side::difference && !can_show_difference(view, c))) return c;
  c.side = side;
  if (side != Side::baseline) return c;
  c.selection = in_baseline(c.selection, *c.run);
  const int query = c.selection.query;
  // What follows the end of the run stands at its counterpart, which need not be the end there.
  if (c.chosen_query >= 0 || query + 1 != c.run->baseline->run->length()) c.chosen_query = query;
  if (compares_models(*c.run)) c.tries = nullptr;  // they have the first model's probabilities
  c.run = c.run->baseline;
  c.selection = clamped(c.selection, *c.run);
  return c;
}

std::optional<viz::Rect> Landmark::find(const ViewContext& c, const Picture& picture) const {
  std::optional<viz::Rect> all;
  for (const viz::Region& region : picture.regions) {
    if (region.role != role || (id && region.id != id(c))) continue;
    const bool has_rows = region.row_count > 1;
    const Index of_row = position && has_rows ? position : row,
                of_col = position && !has_rows ? position : col;
    const int at_row = of_row ? of_row(c) : 0, at_col = of_col ? of_col(c) : 0;
    if (at_row < 0 || at_row >= region.row_count || at_col < 0 || at_col >= region.col_count) continue;
    // Out of sight, or of a vector of another kind: its rectangle is empty but for rounding.
    if (of_row && (at_row + 1 <= region.first_row || at_row >= region.first_row + region.rows)) continue;
    const viz::Rect cell = region.cell_rect(at_row, at_col);
    float left = region.rect.x, top = region.rect.y, right = region.rect.right(),
          bottom = region.rect.bottom();
    if (of_row) top = std::max(top, cell.y), bottom = std::min(bottom, cell.bottom());
    if (of_col) left = std::max(left, cell.x), right = std::min(right, cell.right());
    if (left >= right || top >= bottom) continue;
    if (all) {
      left = std::min(left, all->x), top = std::min(top, all->y);
      right = std::max(right, all->right()), bottom = std::max(bottom, all->bottom());
    }
    all = {left, top, right - left, bottom - top};
  }
  return all;
}

void Facts::say(std::string words, Fact::Location location) {
  if (!words.empty()) said.push_back({.label = std::move(words), .location = location});
}

void Facts::value(std::string label, std::string value, Fact::Location location) {
  said.push_back({.label = std::move(label), .value = value, .copied = value, .location = location});
}

void Facts::copy(std::string label, std::string copied) {
  said.push_back({.label = std::move(label), .copied = std::move(copied), .location = Fact::Location::menu});
}

Fact& Facts::number(std::string label, float value, Fact::Location location) {
  return said.emplace_back(Fact{std::move(label), exact(value), {}, plain(value), location});
}

Fact& Facts::number(std::string label, double value, Fact::Location location) {
  return said.emplace_back(Fact{std::move(label), exact(value), {}, plain(value), location});
}

std::vector<std::string> Facts::lines(Fact::Location where) const {
  std::vector<std::string> lines;
  for (const Fact& fact : said)
    if (fact.location == Fact::Location::both || fact.location == where) lines.push_back(line_of(fact));
  return lines;
}

std::string Facts::status() const {
  std::string words;
  for (const std::string& line : lines(Fact::Location::status)) words += (words.empty() ? "" : "   ") + line;
  return words;
}

std::vector<MenuLine> Facts::menu() const {
  std::vector<MenuLine> lines = commands;
  for (const Fact& fact : said)
    if (!fact.copied.empty())
      lines.push_back({"Copy " + joined(fact.label, fact.value), {CopyText{fact.copied}}});
  return lines;
}

}  // namespace headscope::app
