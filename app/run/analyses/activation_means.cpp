#include "app/run/analyses/activation_means.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/run/analyses/over_prompts.h"
#include "app/run/edits/edit_text.h"
#include "model/files/error.h"
#include "model/pass/hooks.h"

namespace headscope::app {

const PointMeans& ActivationMeans::at(model::HookPoint point) const {
  const auto found = std::ranges::find(points, point, &PointMeans::point);
  if (found == points.end()) throw model::RunError("there are no means of " + model::hook_name(point));
  return *found;
}

model::SetValues ActivationMeans::edit(const model::EditSite& place) const {
  const PointMeans& of = at(place.point);
  const std::size_t units = of.values.size() / static_cast<std::size_t>(of.heads);
  model::SetValues set{place, {}, list};
  for (int head = place.head.value_or(0); head < (place.head ? *place.head + 1 : of.heads); ++head) {
    const auto row = std::span(of.values).subspan(static_cast<std::size_t>(head) * units, units);
    if (place.units.empty()) set.values.insert(set.values.end(), row.begin(), row.end());
    for (const int unit : place.units) set.values.push_back(row[unit]);
  }
  return set;
}

std::size_t ActivationMeans::bytes() const {
  std::size_t sum = progress.problem.size() + list.size();
  for (const PointMeans& point : points) sum += sizeof(point) + bytes_of(point.values);
  for (const auto& of_point : sums) sum += bytes_of(of_point);
  return sum;
}

ActivationMeans MeansOverList::compute(const PromptRun& run,
                                       const Computation<ActivationMeans>& computation) const {
  const model::Config& config = run.model->transformer->config();
  Recording recording(config);
  for (const model::HookPoint point : points) {
    check(config, model::SetMean{{point, {}, {}, {}}});
    recording.add(point);
  }
  const auto add = [&](const PromptRun& one, std::size_t, ActivationMeans& answer) {
    for (const model::HookPoint point : points)
      if (!std::ranges::all_of(recording.rows(point), [](float value) { return std::isfinite(value); }))
        throw model::RunError("it has values that are not finite in " + model::hook_name(point));
    answer.sums.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::vector<double>& sums = answer.sums[i];
      const std::span<const float> rows = recording.rows(points[i]);
      sums.resize(rows.size() / one.run->tokens.size());
      for (std::size_t first = 0; first < rows.size(); first += sums.size())
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(rows[first + j]);
    }
    answer.tokens += one.run->length();
  };
  ActivationMeans answer = over_prompts(over, run, computation, add, {.hooks = &recording.hooks()});
  if (answer.tokens == 0)
    throw model::RunError("no prompt of " + over.list->name +
                          " has activations whose mean could be taken: " + answer.progress.problem);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const int heads = model::has_heads(points[i].site) ? config.n_head : 1;
    PointMeans& point = answer.points.emplace_back(PointMeans{points[i], heads, {}});
    for (const double sum : answer.sums[i])
      point.values.push_back(static_cast<float>(sum / static_cast<double>(answer.tokens)));
  }
  answer.list = over.list->name;
  answer.sums.clear();
  answer.whole = true;
  return answer;
}

std::vector<model::HookPoint> points_of_means(const model::Edits& edits) {
  std::vector<model::HookPoint> points;
  const auto add = [&](model::HookPoint point) {
    if (std::ranges::find(points, point) == points.end()) points.push_back(point);
  };
  for (const model::Edit& edit : edits) {
    if (const auto* mean = std::get_if<model::SetMean>(&edit)) {
      add(mean->at.point);
    } else if (const auto* patch = std::get_if<model::PatchFrom>(&edit)) {
      const std::vector<model::HookPoint> inner = points_of_means(patch->edits);
      if (patch->second && !inner.empty())
        throw model::RunError("the means over a list are those of the first model, but " + edit_brief(edit) +
                              " sets a mean in the second");
      std::ranges::for_each(inner, add);
    }
  }
  return points;
}

model::Edits with_means(model::Edits edits, const ActivationMeans& means) {
  for (model::Edit& edit : edits) {
    if (const auto* mean = std::get_if<model::SetMean>(&edit))
      edit = means.edit(mean->at);
    else if (auto* patch = std::get_if<model::PatchFrom>(&edit))
      patch->edits = with_means(std::move(patch->edits), means);
  }
  return edits;
}

}  // namespace headscope::app
