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

/// The first position, and the first head there, at which row(head, position) is not finite.
template <class Row>
std::optional<NotFinite> search(const Run& run, HookPoint point, const Row& row) {
  const bool by_head = has_heads(point.site);
  for (int position = 0; position < run.length(); ++position)
    for (int head = 0; head < (by_head ? run.config.n_head : 1); ++head)
      if (!all_finite(row(head, position)))
        return NotFinite{point, position, by_head ? std::optional(head) : std::nullopt};
  return std::nullopt;
}

}  // namespace

std::optional<NotFinite> first_not_finite(const Run& run) {
  const int layers = run.config.n_layer;
  const auto last = search(run, {Site::resid_post, layers - 1},
                           [&](int, int position) { return run.resid(layers, position); });
  for (int layer = 0; last && layer < layers; ++layer) {
    const auto resid = [&](int, int position) { return run.resid(layer, position); };
    const auto q = [&](int head, int position) { return run.q(layer, head, position); };
    const auto k = [&](int head, int position) { return run.k(layer, head, position); };
    const auto v = [&](int head, int position) { return run.v(layer, head, position); };
    if (const auto found = search(run, {Site::resid_pre, layer}, resid)) return found;
    if (const auto found = search(run, {Site::q, layer}, q)) return found;
    if (const auto found = search(run, {Site::k, layer}, k)) return found;
    if (const auto found = search(run, {Site::v, layer}, v)) return found;
  }
  return last;
}

std::string name_of(const NotFinite& place) {
  std::string name = hook_name(place.point);
  if (place.head) name += ", head " + std::to_string(*place.head);
  return name + ", position " + std::to_string(place.position);
}

}  // namespace headscope::model
