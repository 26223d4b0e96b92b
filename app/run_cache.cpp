#include "app/run_cache.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::app {
namespace {

int common_prefix(const std::vector<int>& a, const std::vector<int>& b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(ends.first - a.begin());
}

bool begins_with(const model::Run& run, const std::vector<int>& tokens) {
  return common_prefix(run.tokens, tokens) == static_cast<int>(tokens.size());
}

/// The run's first whole pages of no more than `positions`; null where that is none.
std::shared_ptr<const model::Run> whole_pages(const model::Run& run, int positions) {
  const int pages = positions / model::Page::kPositions, length = pages * model::Page::kPositions;
  if (pages == 0) return nullptr;
  auto part = std::make_shared<model::Run>(run);
  part->tokens.resize(static_cast<std::size_t>(length));
  part->pages.resize(static_cast<std::size_t>(pages));
  part->computed_positions = std::max(0, run.computed_positions - (run.length() - length));
  return part;
}

}  // namespace

std::size_t RunCache::budget(const model::Config& config) {
  constexpr std::size_t kLeast = std::size_t{64} << 20;
  return std::max(kLeast, 2 * model::Run::most_bytes(config));
}

void RunCache::clear() {
  runs_.clear();
}

std::shared_ptr<const model::Run> RunCache::best_base(const std::vector<int>& tokens) const {
  std::shared_ptr<const model::Run> best;
  int longest = 0;
  for (const auto& run : runs_) {
    const int shared = common_prefix(run->tokens, tokens);
    if (shared > longest) longest = shared, best = run;
  }
  return best;
}

std::shared_ptr<const model::Run> RunCache::make_room_for(const std::vector<int>& tokens,
                                                          const model::Config& config, std::size_t budget) {
  const std::shared_ptr<const model::Run> base = best_base(tokens);
  const std::size_t needed = new_page_bytes(config, base.get(), tokens);
  const auto too_much = [&] { return bytes() + needed > budget; };
  for (std::size_t i = runs_.size(); i-- > 1 && too_much();) {
    if (runs_[i] != base) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (base == nullptr || base == runs_.front() || !too_much()) return base;
  // The newest and the base are left.
  runs_.pop_back();
  auto part = whole_pages(*base, common_prefix(base->tokens, tokens));
  if (part != nullptr) runs_.push_back(part);
  return part;
}

void RunCache::remember(std::shared_ptr<const model::Run> run) {
  std::erase_if(runs_, [&](const auto& other) { return begins_with(*run, other->tokens); });
  runs_.insert(runs_.begin(), std::move(run));
}

void RunCache::remember_part(std::shared_ptr<const model::Run> run) {
  if (std::ranges::any_of(runs_, [&](const auto& other) { return begins_with(*other, run->tokens); })) return;
  runs_.insert(runs_.begin() + (runs_.empty() ? 0 : 1), std::move(run));
}

std::size_t RunCache::bytes() const {
  std::set<const model::Page*> pages;
  std::size_t sum = 0;
  for (const auto& run : runs_) {
    for (const auto& page : run->pages) {
      if (pages.insert(page.get()).second) sum += page->bytes();
    }
  }
  return sum;
}

std::size_t new_page_bytes(const model::Config& config, const model::Run* base,
                           const std::vector<int>& tokens) {
  const int shared = base != nullptr ? common_prefix(base->tokens, tokens) : 0;
  const int pages =
      model::Page::count_for(static_cast<int>(tokens.size())) - shared / model::Page::kPositions;
  return static_cast<std::size_t>(std::max(pages, 0)) * model::Page::bytes(config);
}

}  // namespace headscope::app
