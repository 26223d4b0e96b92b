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
namespace {

int heads_of(const model::Config& config, model::Site site) {
  return model::has_heads(site) ? config.n_head : 1;
}

/// The activations of one prompt's pass at some points, [pos, heads * units] each.
class WatchedPoints {
 public:
  WatchedPoints(std::span<const model::HookPoint> points, const model::Config& config)
      : points_(points), rows_(points.size()) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      check(config, model::SetMean{{points[i], {}, {}, {}}});
      const model::Site site = points[i].site;
      widths_.push_back(static_cast<std::size_t>(heads_of(config, site)) * model::unit_count(config, site));
      hooks_.watch(
          points[i], [&values = rows_[i], width = widths_[i]](const model::ConstActivation2d& piece) {
            const auto first = static_cast<std::size_t>(piece.first_pos);
            values.resize((first + static_cast<std::size_t>(piece.rows)) * width);
            // Most sites come with all heads at once.
            const std::size_t column = std::size_t(piece.cols) == width ? 0 : piece.head * piece.cols;
            for (int row = 0; row < piece.rows; ++row)
              std::ranges::copy(piece.row(row),
                                values.begin() + static_cast<std::ptrdiff_t>((first + row) * width + column));
          });
    }
  }

  const model::Hooks& hooks() const { return hooks_; }
  std::size_t width(std::size_t point) const { return widths_[point]; }
  std::span<const float> rows(std::size_t point) const { return rows_[point]; }

  /// Throws RunError for values that are not finite, which have no mean.
  void require_finite() const {
    for (std::size_t i = 0; i < points_.size(); ++i)
      if (!std::ranges::all_of(rows_[i], [](float value) { return std::isfinite(value); }))
        throw model::RunError("it has values that are not finite in " + model::hook_name(points_[i]));
  }

 private:
  std::span<const model::HookPoint> points_;
  std::vector<std::vector<float>> rows_;
  std::vector<std::size_t> widths_;
  model::Hooks hooks_;
};

}  // namespace

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
  const WatchedPoints watched(points, config);
  const auto add = [&](const PromptRun& one, std::size_t, ActivationMeans& answer) {
    watched.require_finite();
    if (answer.sums.empty())
      for (std::size_t i = 0; i < points.size(); ++i) answer.sums.emplace_back(watched.width(i));
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::vector<double>& sums = answer.sums[i];
      const std::span<const float> rows = watched.rows(i);
      for (std::size_t first = 0; first < rows.size(); first += sums.size())
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(rows[first + j]);
    }
    answer.tokens += one.run->length();
  };
  ActivationMeans answer = over_prompts(over, run, computation, add, {.hooks = &watched.hooks()});
  if (answer.tokens == 0)
    throw model::RunError("no prompt of " + over.list->name +
                          " has activations whose mean could be taken: " + answer.progress.problem);
  for (std::size_t i = 0; i < points.size(); ++i) {
    PointMeans& point =
        answer.points.emplace_back(PointMeans{points[i], heads_of(config, points[i].site), {}});
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
