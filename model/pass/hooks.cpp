#include "model/pass/hooks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <set>
#include <utility>

#include "model/files/error.h"

namespace headscope::model {
namespace {

/// In the order of Site; of a site in a block, what follows "blocks.L.".
constexpr std::array<std::string_view, 23> kNames{
    "hook_embed",
    "hook_pos_embed",
    "hook_resid_pre",
    "ln1.hook_scale",
    "ln1.hook_normalized",
    "attn.hook_q",
    "attn.hook_k",
    "attn.hook_v",
    "attn.hook_attn_scores",
    "attn.hook_pattern",
    "attn.hook_z",
    "attn.hook_result",
    "hook_attn_out",
    "hook_resid_mid",
    "ln2.hook_scale",
    "ln2.hook_normalized",
    "mlp.hook_pre",
    "mlp.hook_post",
    "hook_mlp_out",
    "hook_resid_post",
    "ln_final.hook_scale",
    "ln_final.hook_normalized",
    "logits",
};
static_assert(kNames.size() == static_cast<std::size_t>(Site::logits) + 1);

/// Whether `text` matches `glob`, with `*` for any characters and `?` for any one.
bool matches(std::string_view glob, std::string_view text) {
  std::vector<bool> reached(text.size() + 1);  // whether the glob so far matches so much of the text
  reached[0] = true;
  for (const char c : glob) {
    if (c == '*') {
      std::fill(std::ranges::find(reached, true), reached.end(), true);
      continue;
    }
    for (std::size_t i = text.size(); i > 0; --i)
      reached[i] = reached[i - 1] && (c == '?' || c == text[i - 1]);
    reached[0] = false;
  }
  return reached.back();
}

}  // namespace

std::strong_ordering HookPoint::operator<=>(const HookPoint& other) const {
  const auto block_of = [](HookPoint point) {
    if (in_block(point.site)) return point.layer;
    return point.site < Site::resid_pre ? -1 : std::numeric_limits<int>::max();
  };
  return std::pair(block_of(*this), site) <=> std::pair(block_of(other), other.site);
}

bool in_block(Site site) {
  return site >= Site::resid_pre && site <= Site::resid_post;
}

bool has_heads(Site site) {
  return site >= Site::q && site <= Site::result;
}

bool has_cells(Site site) {
  return site == Site::attn_scores || site == Site::pattern;
}

std::string hook_name(HookPoint point) {
  const std::string name(kNames[static_cast<std::size_t>(point.site)]);
  return in_block(point.site) ? "blocks." + std::to_string(point.layer) + "." + name : name;
}

std::vector<HookPoint> all_hook_points(const Config& config) {
  std::vector<HookPoint> points;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto site = static_cast<Site>(i);
    for (int layer = 0; layer < (in_block(site) ? config.n_layer : 1); ++layer)
      points.push_back({site, layer});
  }
  std::ranges::sort(points);
  return points;
}

std::vector<HookPoint> match_hook_points(const Config& config, std::string_view globs) {
  std::string list(globs.empty() ? "*" : globs);
  std::erase(list, ' ');
  std::set<HookPoint> found;
  for (const auto& range : std::views::split(list, ',')) {
    const std::string_view part(range.begin(), range.end()), glob = part.empty() ? "*" : part;
    const bool results_too = glob.find("hook_result") != std::string_view::npos;
    bool any = false;
    for (const HookPoint point : all_hook_points(config)) {
      if ((point.site == Site::result && !results_too) || !matches(glob, hook_name(point))) continue;
      found.insert(point);
      any = true;
    }
    if (!any)
      throw RunError("no hook matches " + quote(glob) +
                     "; names look like blocks.0.attn.hook_pattern, and * and ? are wildcards");
  }
  return {found.begin(), found.end()};
}

std::vector<std::int64_t> hook_shape(const Config& config, HookPoint point, int length) {
  const Site site = point.site;
  if (has_cells(site)) return {config.n_head, length, length};
  if (site == Site::result) return {length, config.n_head, config.n_embd};
  if (has_heads(site)) return {length, config.n_head, config.d_head()};
  if (site == Site::mlp_pre || site == Site::mlp_post) return {length, config.n_inner};
  if (site == Site::logits) return {length, config.vocab_size};
  const bool is_scale = site == Site::ln1_scale || site == Site::ln2_scale || site == Site::ln_final_scale;
  return {length, is_scale ? 1 : config.n_embd};
}

void Hooks::record(HookPoint point, FloatRows into) {
  watch(point, [into](const ConstActivation2d& piece) {
    const int width = has_cells(piece.point.site) ? into.rows : piece.cols;
    copy(piece, into.middle_rows(piece.first_pos, piece.rows).middle_cols(piece.head * width, piece.cols));
  });
}

void Hooks::call(const ConstActivation2d& activation) const {
  const auto [begin, end] = watchers_.equal_range(activation.point);
  for (auto entry = begin; entry != end; ++entry) entry->second(activation);
}

}  // namespace headscope::model
