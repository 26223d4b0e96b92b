#include "model/pass/hooks.h"

#include <algorithm>
#include <array>
#include <ranges>
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

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

bool in_block(Site site) {
  return site >= Site::resid_pre && site <= Site::resid_post;
}

std::string hook_name(HookPoint point) {
  const std::string name(kNames[static_cast<std::size_t>(point.site)]);
  return in_block(point.site) ? "blocks." + std::to_string(point.layer) + "." + name : name;
}

std::vector<HookPoint> all_hook_points(const Config& config) {
  std::vector<HookPoint> points = {{Site::embed}, {Site::pos_embed}};
  for (int layer = 0; layer < config.n_layer; ++layer)
    for (int site = static_cast<int>(Site::resid_pre); site <= static_cast<int>(Site::resid_post); ++site)
      points.push_back({static_cast<Site>(site), layer});
  for (const Site site : {Site::ln_final_scale, Site::ln_final_normalized, Site::logits}) {
    points.push_back({site});
  }
  return points;
}

std::vector<HookPoint> match_hook_points(const Config& config, std::string_view globs) {
  const std::vector<HookPoint> all = all_hook_points(config);
  std::vector<bool> taken(all.size(), false);
  for (const auto& range : std::views::split(globs.empty() ? "*" : globs, ',')) {
    const std::string_view part = trimmed({range.begin(), range.end()}), glob = part.empty() ? "*" : part;
    const bool results_too = glob.find("hook_result") != std::string_view::npos;
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].site == Site::result && !results_too) continue;
      if (!matches(glob, hook_name(all[i]))) continue;
      taken[i] = any = true;
    }
    if (!any) {
      throw RunError("no hook matches " + quote(glob) +
                     "; names look like blocks.0.attn.hook_pattern, and * and ? are wildcards");
    }
  }
  std::vector<HookPoint> points;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) points.push_back(all[i]);
  }
  return points;
}

std::vector<std::int64_t> hook_shape(const Config& config, HookPoint point, int length) {
  switch (point.site) {
    case Site::ln1_scale:
    case Site::ln2_scale:
    case Site::ln_final_scale:
      return {length, 1};
    case Site::q:
    case Site::k:
    case Site::v:
    case Site::z:
      return {length, config.n_head, config.d_head()};
    case Site::attn_scores:
    case Site::pattern:
      return {config.n_head, length, length};
    case Site::result:
      return {length, config.n_head, config.n_embd};
    case Site::mlp_pre:
    case Site::mlp_post:
      return {length, config.n_inner};
    case Site::logits:
      return {length, config.vocab_size};
    default:
      return {length, config.n_embd};
  }
}

void Hooks::watch(HookPoint point, Watcher watcher) {
  entries_.push_back({point, std::move(watcher)});
}

bool Hooks::wants(HookPoint point) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.point == point; });
}

void Hooks::call(const ConstActivation2d& activation) const {
  for (const Entry& entry : entries_)
    if (entry.point == activation.point) entry.watcher(activation);
}

}  // namespace headscope::model
