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

/// The first position at which row(position) is not finite.
template <class Row>
std::optional<int> first_position(const Run& run, const Row& row) {
  for (int position = 0; position < run.length(); ++position) {
    if (!all_finite(row(position))) return position;
  }
  return std::nullopt;
}

std::optional<NotFinite> in_resid(const Run& run, int layer) {
  const auto position = first_position(run, [&](int pos) { return run.resid(layer, pos); });
  if (!position) return std::nullopt;
  const bool end = layer == run.config.n_layer;
  const HookPoint point{end ? Site::resid_post : Site::resid_pre, end ? layer - 1 : layer};
  return NotFinite{point, *position, std::nullopt};
}

/// row(head, position): a row of q, k or v.
template <class Row>
std::optional<NotFinite> in_heads(const Run& run, HookPoint point, const Row& row) {
  std::optional<NotFinite> first;
  for (int head = 0; head < run.config.n_head; ++head) {
    const auto position = first_position(run, [&](int pos) { return row(head, pos); });
    if (position && (!first || *position < first->position)) first = {point, *position, head};
  }
  return first;
}

}  // namespace

std::optional<NotFinite> first_not_finite(const Run& run) {
  const int layers = run.config.n_layer;
  const auto last = in_resid(run, layers);
  if (!last) return std::nullopt;
  for (int layer = 0; layer < layers; ++layer) {
    if (const auto found = in_resid(run, layer)) return found;
    const auto q = [&](int head, int pos) { return run.q(layer, head, pos); };
    const auto k = [&](int head, int pos) { return run.k(layer, head, pos); };
    const auto v = [&](int head, int pos) { return run.v(layer, head, pos); };
    if (const auto found = in_heads(run, {Site::q, layer}, q)) return found;
    if (const auto found = in_heads(run, {Site::k, layer}, k)) return found;
    if (const auto found = in_heads(run, {Site::v, layer}, v)) return found;
  }
  return last;
}

std::string name_of(const NotFinite& place) {
  std::string name = hook_name(place.point);
  if (place.head) name += ", head " + std::to_string(*place.head);
  return name + ", position " + std::to_string(place.position);
}

}  // namespace headscope::model
