#include <algorithm>

#include "app/run/pattern_file.h"
#include "app/run/patterns.h"
#include "app/views/common.h"
#include "app/views/view.h"

namespace headscope::app {
namespace {

// The table of views. Each is one file, and one row here and in common.h.
std::vector<View> make_views() {
  // clang-format off: a row each
  return {
      heatmap_view(),
      scores_view(),
      qkv_view(),
      query_view(),
      cell_view(),
      softmax_view(),
      merge_view(),
      lines_view(),
      search_view(),
      plane_view(),
      head_metrics_view(),
      circuits_view(),
      tokenization_view(),
      embedding_view(),
      positions_view(),
      position_cosines_view(),
      staircase_view(),
      position_shift_view(),
      way_view(),
      mlp_view(),
      predictions_view(),
      lens_view(),
      attribution_view(),
      sweep_view(),
      sampling_view(),
      tree_view(),
      cache_view(),
      parameters_view(),
      heads_view(),
      tokens_view(),
      next_view(),
  };
  // clang-format on
}

std::vector<const OptionSpec*> make_options() {
  std::vector<const OptionSpec*> options;
  for (const View& view : views()) {
    for (const OptionSpec* option : view.options)
      if (std::find(options.begin(), options.end(), option) == options.end()) options.push_back(option);
  }
  return options;
}

std::vector<const View*> make_tabs() {
  std::vector<const View*> tabs;
  for (const View& view : views())
    if (view.place == Place::tab) tabs.push_back(&view);
  std::ranges::stable_sort(tabs, {}, &View::group);
  return tabs;
}

}  // namespace

std::span<const View> views() {
  static const std::vector<View> all = make_views();
  return all;
}

std::span<const View* const> tabs() {
  static const std::vector<const View*> all = make_tabs();
  return all;
}

std::span<const OptionSpec* const> all_options() {
  static const std::vector<const OptionSpec*> all = make_options();
  return all;
}

const View* find_view(std::string_view id) {
  const auto all = views();
  const auto found = std::find_if(all.begin(), all.end(), [&](const View& view) { return view.id == id; });
  return found == all.end() ? nullptr : &*found;
}

const View* view_of(Part part) {
  const auto all = tabs();
  const auto found = std::ranges::find(all, std::optional(part), &View::part);
  return found == all.end() ? nullptr : *found;
}

const View& view_at(Place place) {
  const auto all = views();
  return *std::find_if(all.begin(), all.end(), [&](const View& view) { return view.place == place; });
}

const OptionSpec* find_option(std::string_view name) {
  const auto all = all_options();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const OptionSpec* option) { return option->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::string_view title_of(Group group) {
  switch (group) {
    case Group::input:
      return "Input";
    case Group::attention:
      return "Attention";
    case Group::block:
      return "Block";
    case Group::output:
      return "Output";
    case Group::model:
      return "Model";
  }
  return "";
}

bool is_over_list(const View& view, const Options& options) {
  return view.over_list != nullptr && options.value(*view.over_list) == view.over_list_value;
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

ViewContext on_side(Side side, const View& view, ViewContext c) {
  c.asked = c.run;
  if (c.run && c.run->model && c.run->model->patterns && !view.of_patterns) {
    c.no_run = needs_weights(*c.run->model);
    c.run = nullptr;
    c.answers = nullptr;
    return c;
  }
  if (!c.run || !c.run->other || (side == Side::change && !view.shows_change)) return c;
  c.side = side;
  if (side != Side::other) return c;
  const auto there = [](const std::vector<int>& aligned, int position) {
    return position < 0 ? -1 : aligned[static_cast<std::size_t>(position)];
  };
  c.selection.query = there(c.run->aligned, c.selection.query);
  c.selection.key = there(aligned_keys(*c.run), c.selection.key);
  c.chosen_query = there(c.run->aligned, std::min(c.chosen_query, c.run->run->length() - 1));
  if (is_of_two_models(*c.run)) c.tries = nullptr;  // with the first one's probabilities
  c.run = c.run->other;
  c.selection = clamped(c.selection, *c.run);
  return c;
}

}  // namespace headscope::app
