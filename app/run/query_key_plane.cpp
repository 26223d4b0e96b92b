#include "app/run/query_key_plane.h"

#include <algorithm>
#include <cmath>

#include "model/row_geometry.h"

namespace headscope::app {

QueryKeyPlane PlaneOf::compute(const PromptRun& run, const Work<QueryKeyPlane>& work) const {
  const model::Run& kept = *run.run;
  const int width = kept.config.d_head();
  std::vector<float> rows;
  for (int position = 0; position < kept.length(); ++position) {
    const auto q = kept.q(layer, head, position);
    rows.insert(rows.end(), q.begin(), q.end());
  }
  for (int position = 0; position < kept.length(); ++position) {
    const auto k = kept.k(layer, head, position);
    rows.insert(rows.end(), k.begin(), k.end());
  }
  QueryKeyPlane plane;
  plane.length = kept.length();
  plane.coordinates.assign(4 * static_cast<std::size_t>(plane.length), 0.F);
  plane.finite = std::ranges::all_of(rows, [](float v) { return std::isfinite(v); });
  if (!plane.finite) return plane;
  const model::PrincipalDirections found =
      model::principal_directions({rows.data(), 2 * plane.length, width, width}, 2, work.stop);
  const auto count = static_cast<std::size_t>(found.count);
  for (std::size_t i = 0; i < found.coordinates.size(); ++i)
    plane.coordinates[2 * (i / count) + i % count] = found.coordinates[i];
  std::ranges::copy(found.shares, plane.shares.begin());
  // Where all lies on one line, or in one place, rounding alone is left of the other directions.
  constexpr double kRounding = 1e-9;
  for (std::size_t axis = 0; axis < plane.shares.size(); ++axis) {
    if (plane.shares[axis] > 1 - kRounding) plane.shares[axis] = 1;
    if (plane.shares[axis] >= kRounding) continue;
    plane.shares[axis] = 0;
    for (std::size_t i = axis; i < plane.coordinates.size(); i += 2) plane.coordinates[i] = 0;
  }
  return plane;
}

}  // namespace headscope::app
