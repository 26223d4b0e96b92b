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

void RunCache::make_room(std::size_t bytes, std::size_t budget) {
  while (runs_.size() > 1 && this->bytes() + bytes > budget) runs_.pop_back();
}

void RunCache::remember(std::shared_ptr<const model::Run> run) {
  insert(0, std::move(run));
}

void RunCache::remember_part(std::shared_ptr<const model::Run> run) {
  insert(1, std::move(run));
}

void RunCache::insert(std::size_t place, std::shared_ptr<const model::Run> run) {
  std::erase_if(runs_, [&](const auto& other) { return other->tokens == run->tokens; });
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(std::min(place, runs_.size())), std::move(run));
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
