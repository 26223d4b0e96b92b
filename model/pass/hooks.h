#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/files/config.h"
#include "model/kernels/view.h"

namespace headscope::model {

/// Places in the forward pass, in execution order, named as by TransformerLens without processing; but
/// hook_normalized comes before gain and bias, as where it has folded these; see `hook_name`.
enum class Site {
  embed,           ///< hook_embed                      [pos, d_model]
  pos_embed,       ///< hook_pos_embed                  [pos, d_model]
  resid_pre,       ///< blocks.L.hook_resid_pre         [pos, d_model]
  ln1_scale,       ///< blocks.L.ln1.hook_scale         [pos, 1]   sqrt(variance + epsilon)
  ln1_normalized,  ///< blocks.L.ln1.hook_normalized    [pos, d_model]   before gain and bias
  q,               ///< blocks.L.attn.hook_q            [pos, head, d_head]
  k,               ///< blocks.L.attn.hook_k            [pos, head, d_head]
  v,               ///< blocks.L.attn.hook_v            [pos, head, d_head]
  attn_scores,     ///< blocks.L.attn.hook_attn_scores  [head, query, key]   scaled and masked (-inf)
  pattern,         ///< blocks.L.attn.hook_pattern      [head, query, key]
  z,               ///< blocks.L.attn.hook_z            [pos, head, d_head]
  result,     ///< blocks.L.attn.hook_result       [pos, head, d_model]   only where its name is asked for
  attn_out,   ///< blocks.L.hook_attn_out          [pos, d_model]
  resid_mid,  ///< blocks.L.hook_resid_mid         [pos, d_model]
  ln2_scale,  ///< blocks.L.ln2.hook_scale         [pos, 1]
  ln2_normalized,       ///< blocks.L.ln2.hook_normalized    [pos, d_model]
  mlp_pre,              ///< blocks.L.mlp.hook_pre           [pos, d_mlp]
  mlp_post,             ///< blocks.L.mlp.hook_post          [pos, d_mlp]
  mlp_out,              ///< blocks.L.hook_mlp_out           [pos, d_model]
  resid_post,           ///< blocks.L.hook_resid_post        [pos, d_model]
  ln_final_scale,       ///< ln_final.hook_scale             [pos, 1]
  ln_final_normalized,  ///< ln_final.hook_normalized     [pos, d_model]
  logits,               ///< logits                          [pos, d_vocab]
};

/// A site of one layer; `layer` is 0 for the sites outside the blocks.
struct HookPoint {
  Site site = Site::embed;
  int layer = 0;
  bool operator==(const HookPoint& other) const { return *this <=> other == 0; }
  std::strong_ordering operator<=>(const HookPoint& other) const;  ///< the order of the pass
};

bool in_block(Site site);   ///< whether every layer has the site
bool has_heads(Site site);  ///< q, k, v, scores, pattern, z and result
bool has_cells(Site site);  ///< scores and pattern: [head, query, key]

std::string hook_name(HookPoint point);                        ///< e.g. "blocks.0.attn.hook_q"
std::vector<HookPoint> all_hook_points(const Config& config);  ///< in order; with `result` too

/// The points whose names match one of the comma-separated globs (`*`, `?`; "" or "*" means all). `result` is
/// included only if a glob contains "hook_result". Throws RunError for a glob that matches nothing.
std::vector<HookPoint> match_hook_points(const Config& config, std::string_view globs);

/// The shape of the whole tensor for a run of `length` tokens.
std::vector<std::int64_t> hook_shape(const Config& config, HookPoint point, int length);

/// A piece of an activation while the pass computes it: `rows` x `cols` floats with a stride of `stride`
/// floats. Rows are positions [first_pos, first_pos + rows); columns are the remaining axes, flattened. At
/// `attn_scores`, `pattern` and `result` the callback is called once per head. Of the first two, rows are
/// queries, and columns the keys 0 .. first_pos + rows - 1, or all keys if edits let the head see later ones.
/// Long runs are passed in chunks of positions.
template <class Float>
struct BasicActivation2d : Rows<Float> {
  HookPoint point;
  int head = 0;
  int first_pos = 0;
  operator BasicActivation2d<const Float>() const
      requires(!std::is_const_v<Float>) {  // NOLINT(google-explicit-constructor): as for pointers
    return {Rows<const Float>(*this), point, head, first_pos};
  }
};
using Activation2d = BasicActivation2d<float>;             ///< may be modified, by edits
using ConstActivation2d = BasicActivation2d<const float>;  ///< read-only

/// Rows of positions from `first_pos` on as a piece.
inline Activation2d piece_of(HookPoint point, FloatRows rows, int first_pos, int head = 0) {
  return {rows, point, head, first_pos};
}

/// Callbacks that watch a pass, which they leave bit-identical; what edits it is a Plan. Called on the thread
/// that called `forward`, one at a time, and at each point in the order in which they were added.
class Hooks {
 public:
  using Watcher = std::function<void(const ConstActivation2d&)>;
  void watch(HookPoint point, Watcher watcher) { watchers_.emplace(point, std::move(watcher)); }
  /// Copies the activation into `into`, [positions, columns]: heads side by side, of scores and patterns with
  /// the keys of all positions each.
  void record(HookPoint point, FloatRows into);
  bool empty() const { return watchers_.empty(); }
  bool wants(HookPoint point) const { return watchers_.contains(point); }
  /// The first watched point in the order of the pass; if none is, the pass's last.
  HookPoint first() const { return empty() ? HookPoint{Site::logits} : watchers_.begin()->first; }
  void call(const ConstActivation2d& activation) const;

 private:
  std::multimap<HookPoint, Watcher> watchers_;
};

}  // namespace headscope::model
