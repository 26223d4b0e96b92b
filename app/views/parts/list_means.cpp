#include "app/views/parts/list_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "app/counted.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list.h"
#include "app/views/parts/names.h"
#include "app/views/parts/prompt_list_words.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace {

std::string text_of(const std::optional<int>& whole) {
  return whole ? std::to_string(*whole) : "";
}

/// A column of a place: its heading, and the cell, empty if the place has none.
struct PlaceColumn {
  const char* heading;
  std::string (*cell)(const CellPlace& place);
};
constexpr std::array kPlaceColumns{
    PlaceColumn{"layer", [](const CellPlace& place) { return text_of(place.layer); }},
    PlaceColumn{"head", [](const CellPlace& place) { return text_of(place.head); }},
    PlaceColumn{"position", [](const CellPlace& place) { return text_of(place.position); }},
    PlaceColumn{"part", [](const CellPlace& place) { return place.part; }},
    PlaceColumn{"hook", [](const CellPlace& place) { return place.hook; }},
    PlaceColumn{"quantity", [](const CellPlace& place) { return place.quantity; }}};

std::string signed_text(std::string number, double value, bool with_sign) {
  return (with_sign && value > 0 ? "+" : "") + number;
}

/// The function of a prompt's view, and while the means are shown, theirs.
template <class Result, class... Rest>
std::function<Result(const ViewContext&, Rest...)> switched(
    std::function<Result(const ViewContext&, Rest...)> prompt, Result (*means)(const ViewContext&, Rest...)) {
  return [prompt = std::move(prompt), means](const ViewContext& c, Rest... rest) {
    if (mean_is_shown(c)) return means ? means(c, rest...) : Result();
    return prompt ? prompt(c, rest...) : Result();
  };
}

}  // namespace

const Option<bool> kMeanOverList = [] {
  auto option = session_only(switch_option(
      "over-list", "Mean over prompts", "vV",
      "the mean over all prompts of the open list with its standard error, instead of the shown "
      "prompt",
      "mean over {}"));
  option.of_list = true;
  return option;
}();

View with_means(View view, const MeansForm& means) {
  view.build = switched(std::move(view.build), means.build);
  view.facts = switched(std::move(view.facts), means.facts);
  view.table = switched(std::move(view.table), means.table);
  view.on = switched(std::move(view.on), means.on);
  view.scrolls = switched(std::move(view.scrolls), means.scrolls);
  view.refuse = switched(std::move(view.refuse), means.refuse);
  view.figure_size = switched(std::move(view.figure_size), means.figure_size);
  view.options.insert(view.options.begin(), &kMeanOverList);
  view.over_list = &kMeanOverList;
  view.over_list_value = true;
  view.of_model = mean_is_shown;
  return view;
}

std::optional<Picture> waiting_for_list(const ViewContext& c) {
  if (auto words = waiting(c)) return words;
  if (!c.prompts) return no_list(c);
  if (c.side == Side::difference)
    return message(c, "means over a list are of one model: show that model instead of the difference");
  return std::nullopt;
}

std::string means_words(const ViewContext& c, const MeansOnList& means) {
  const std::string prompts = list_words(c, means.progress);
  const bool complete = means.progress.done == c.prompts->prompts.size();
  if (!complete) return prompts + "; mean so far";
  const bool has_error = means.progress.done - means.progress.skipped > 1;
  return "mean of " + prompts + (has_error ? ", ± standard error" : "");
}

std::string progress_words(const ViewContext& c, const MeansOnList& means) {
  const std::size_t all = c.prompts->prompts.size(), done = means.progress.done;
  if (done == all) return "";
  return "computing… " + grouped(static_cast<std::int64_t>(done)) + " of " +
         counted(static_cast<std::int64_t>(all), "prompt");
}

std::optional<Picture> waiting_for_first_prompt(const ViewContext& c, const Question& question,
                                                const MeansOnList* means) {
  if (means == nullptr) return waiting(c, question, false);
  if (!means->means.empty()) return std::nullopt;
  return message(c, progress_words(c, *means));
}

std::string mean_text(const SampleMean& mean, bool with_sign) {
  if (mean.count() == 0) return "none";
  const double value = mean.mean(), error = mean.standard_error();
  return signed_text(viz::number(value, 4), value, with_sign) +
         (std::isnan(error) ? "" : " ± " + viz::number(error, 2));
}

void say_mean(Facts& facts, const std::string& label, const SampleMean& mean, bool with_sign) {
  const std::int64_t count = mean.count();
  if (count == 0) return facts.say("no prompt has this number");
  const double value = mean.mean(), error = mean.standard_error();
  facts.said.push_back({.label = "mean " + label,
                        .value = signed_text(exact(value), value, with_sign),
                        .copied = plain(value)});
  if (!std::isnan(error)) facts.number("standard error", error);
  facts.say(counted(count, "prompt"));
}

Table table_of(const CellMeans& means) {
  std::vector<const PlaceColumn*> columns;
  for (const PlaceColumn& column : kPlaceColumns)
    if (std::ranges::any_of(means.cells(),
                            [&](const MeanCell& cell) { return !column.cell(cell.place).empty(); }))
      columns.push_back(&column);
  Table table{{"cell"}, {}};
  for (const PlaceColumn* column : columns) table.header.emplace_back(column->heading);
  for (const char* number : {"unit", "mean", "standard_error", "count"}) table.header.emplace_back(number);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const MeanCell& cell = means.cell(i);
    const SampleMean& mean = means.mean(i);
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{cell.name});
    for (const PlaceColumn* column : columns) row.push_back(column->cell(cell.place));
    row.push_back(cell.unit);
    row.push_back(plain(mean.mean()));
    row.push_back(plain(mean.standard_error()));
    row.push_back(std::to_string(mean.count()));
  }
  return table;
}

}  // namespace headscope::app
