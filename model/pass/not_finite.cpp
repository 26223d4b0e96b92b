#include "model/pass/not_finite.h"

#include <bit>
#include <cstdint>
#include <span>

namespace headscope::model {
namespace {

/// Branch-free, so that it is vectorised: every run checks the last row of each position.
bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t not_finite = 0;
  for (const float value : values) {
    not_finite |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  }
  return not_finite == 0;
}

/// Whether the values that a run keeps of a point, of a position and head, are finite.
bool is_finite(const Run& run, HookPoint point, int head, int position) {
  const auto [site, layer] = point;
  if (site == Site::q) return all_finite(run.q(layer, head, position));
  if (site == Site::k) return all_finite(run.k(layer, head, position));
  if (site == Site::v) return all_finite(run.v(layer, head, position));
  return all_finite(run.resid(site == Site::resid_post ? layer + 1 : layer, position));
}

/// The first position, and the first head there, that is not finite.
std::optional<NotFinite> search(const Run& run, HookPoint point) {
  const bool by_head = has_heads(point.site);
  for (int position = 0; position < run.length(); ++position)
    for (int head = 0; head < (by_head ? run.config.n_head : 1); ++head)
      if (!is_finite(run, point, head, position))
        return NotFinite{point, position, by_head ? std::optional(head) : std::nullopt};
  return std::nullopt;
}

}  // namespace

std::optional<NotFinite> first_not_finite(const Run& run) {
  const auto last = search(run, {Site::resid_post, run.config.n_layer - 1});
  if (!last) return std::nullopt;
  for (int layer = 0; layer < run.config.n_layer; ++layer)
    for (const Site site : {Site::resid_pre, Site::q, Site::k, Site::v})
      if (const auto found = search(run, {site, layer})) return found;
  return last;
}

std::string name_of(const NotFinite& place) {
  std::string name = hook_name(place.point);
  if (place.head) name += ", head " + std::to_string(*place.head);
  return name + ", position " + std::to_string(place.position);
}

}  // namespace headscope::model
