#include "app/run/memo.h"

#include <algorithm>
#include <functional>
#include <set>

#include "app/run/tries.h"

namespace headscope::app {
namespace {

/// Bytes of the pages that a run of the tokens needs beside those it shares with its base (null: none).
std::size_t new_page_bytes(const model::Config& config, const model::Run* base,
                           const std::vector<int>& tokens) {
  const int shared = base != nullptr ? common_tokens(base->tokens, tokens) : 0;
  const int pages =
      model::Page::count_for(static_cast<int>(tokens.size())) - shared / model::Page::kPositions;
  return static_cast<std::size_t>(std::max(pages, 0)) * model::Page::bytes(config);
}

bool same_edits(const model::Run& a, const model::Run& b) {
  return same_interventions(a.plan.get(), b.plan.get());
}

/// Whether a run has all positions of another, and they are the same.
bool has_all_of(const model::Run& run, const model::Run& other) {
  return same_edits(run, other) && common_tokens(run.tokens, other.tokens) == other.length();
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

std::shared_ptr<const Answer> AnswerList::find(const Question& question) const {
  for (const auto& [asked, answer] : answers_)
    if (asked == question) return answer;
  return nullptr;
}

void AnswerList::set(const Question& question, std::shared_ptr<const Answer> answer) {
  for (auto& [asked, kept] : answers_) {
    if (!(asked == question)) continue;
    kept = std::move(answer);
    return;
  }
  answers_.emplace_back(question, std::move(answer));
}

void AnswerList::keep_only(const std::vector<Question>& questions) {
  std::erase_if(answers_, [&](const auto& kept) { return !holds(questions, kept.first); });
}

std::size_t Memo::answers_budget(const model::Config& config) {
  constexpr std::size_t kMatrices = 6;
  const auto length = static_cast<std::size_t>(config.n_ctx);
  return kMatrices * length * length * sizeof(float);
}

std::size_t Memo::budget(const model::Config& config) {
  constexpr std::size_t kLeast = std::size_t{64} << 20;
  return std::max(kLeast, 2 * model::Run::most_bytes(config)) + answers_budget(config);
}

std::shared_ptr<const model::Run> Memo::find_clean(const std::vector<int>& tokens) {
  for (KeptRun& kept : runs_) {
    if (kept.run->plan != nullptr || kept.run->tokens != tokens) continue;
    kept.used = ++clock_;
    return kept.run;
  }
  return nullptr;
}

std::shared_ptr<const model::Run> Memo::best_base(const std::vector<int>& tokens,
                                                  const model::Plan* plan) const {
  std::shared_ptr<const model::Run> best;
  int longest = 0;
  for (const KeptRun& kept : runs_) {
    if (!same_interventions(kept.run->plan.get(), plan)) continue;
    const int shared = common_tokens(kept.run->tokens, tokens);
    if (shared > longest) longest = shared, best = kept.run;
  }
  return best;
}

std::shared_ptr<const model::Run> Memo::make_room_for(const std::vector<int>& tokens,
                                                      const model::Config& config, const model::Plan* plan) {
  const std::shared_ptr<const model::Run> base = best_base(tokens, plan);
  const std::size_t needed = new_page_bytes(config, base.get(), tokens);
  const auto too_much = [&] { return bytes() + needed > budget_; };
  while (too_much() && forget_one(base.get(), {})) {
  }
  if (base == nullptr || base == runs_.front().run || !too_much()) return base;
  // The newest and the base are left.
  runs_.pop_back();
  auto part = whole_pages(*base, common_tokens(base->tokens, tokens));
  if (part != nullptr) runs_.push_back({part, {}, ++clock_});
  return part;
}

void Memo::remember(std::shared_ptr<const model::Run> run) {
  KeptRun newest{std::move(run), {}, ++clock_};
  for (KeptRun& kept : runs_)
    if (kept.run->tokens == newest.run->tokens && same_edits(*kept.run, *newest.run))
      newest.answers = std::move(kept.answers);
  std::erase_if(runs_, [&](const KeptRun& kept) { return has_all_of(*newest.run, *kept.run); });
  runs_.insert(runs_.begin(), std::move(newest));
  // What failed is tried again with the next run.
  const auto failed = [](const KeptAnswer& a) { return a.answer->value == nullptr; };
  for (KeptRun& kept : runs_) std::erase_if(kept.answers, failed);
  std::erase_if(of_model_, failed);
}

void Memo::remember_part(std::shared_ptr<const model::Run> run) {
  if (std::ranges::any_of(runs_, [&](const KeptRun& kept) { return has_all_of(*kept.run, *run); })) return;
  const auto place = runs_.begin() + (runs_.empty() ? 0 : 1);
  runs_.insert(place, KeptRun{std::move(run), {}, ++clock_});
}

std::shared_ptr<const Answer> Memo::find(const Question& question) {
  if (runs_.empty()) return nullptr;
  for (KeptAnswer& kept : answers_like(question)) {
    if (!(kept.question == question)) continue;
    kept.used = runs_.front().used = ++clock_;  // a run goes after its answers
    return kept.answer;
  }
  return nullptr;
}

void Memo::keep(const Question& question, std::shared_ptr<const Answer> answer,
                const std::vector<Question>& wanted) {
  if (runs_.empty()) return;
  std::vector<KeptAnswer>& answers = answers_like(question);
  std::erase_if(answers, [&](const KeptAnswer& kept) { return kept.question == question; });
  runs_.front().used = ++clock_;
  answers.push_back({question, std::move(answer), clock_});
  while (bytes() > budget_ && forget_one(nullptr, wanted)) {
  }
}

void Memo::forget_comparisons() {
  const auto compares = [](const KeptAnswer& kept) { return kept.question.of_comparison(); };
  for (KeptRun& kept : runs_) std::erase_if(kept.answers, compares);
}

void Memo::forget_second_model() {
  forget_comparisons();
  std::erase_if(of_model_, [](const KeptAnswer& kept) { return kept.question.of_comparison(); });
  std::erase_if(runs_, [](const KeptRun& kept) {
    return kept.run->plan && model::patches_from_second(kept.run->plan->edits());
  });
}

AnswerList Memo::newest_answers() const {
  AnswerList list;
  if (runs_.empty()) return list;
  for (const auto* answers : {&runs_.front().answers, &of_model_})
    for (const KeptAnswer& kept : *answers) list.set(kept.question, kept.answer);
  return list;
}

std::size_t Memo::bytes() const {
  std::set<const model::Page*> pages;
  std::set<const model::Plan*> plans;
  std::size_t sum = 0;
  for (const KeptRun& kept : runs_) {
    const model::Plan* plan = kept.run->plan.get();
    if (plan != nullptr && plans.insert(plan).second) sum += plan->source_bytes();
    for (const auto& page : kept.run->pages)
      for (const model::Page* p = page.get(); p != nullptr; p = p->below().get())
        if (pages.insert(p).second) sum += p->bytes();
    for (const KeptAnswer& answer : kept.answers) sum += answer.answer->bytes;
  }
  for (const KeptAnswer& answer : of_model_) sum += answer.answer->bytes;
  return sum;
}

bool Memo::forget_one(const model::Run* base, const std::vector<Question>& wanted) {
  std::uint64_t oldest = clock_ + 1;
  std::function<void()> forget;
  const auto offer_answers = [&](std::vector<KeptAnswer>& answers, bool may_be_wanted) {
    for (auto kept = answers.begin(); kept != answers.end(); ++kept) {
      if (kept->used >= oldest || (may_be_wanted && holds(wanted, kept->question))) continue;
      oldest = kept->used;
      forget = [&answers, kept] { answers.erase(kept); };
    }
  };
  offer_answers(of_model_, true);
  for (auto kept = runs_.begin(); kept != runs_.end(); ++kept) {
    const bool newest = kept == runs_.begin();
    offer_answers(kept->answers, newest);
    if (newest || kept->run.get() == base || kept->used >= oldest) continue;
    oldest = kept->used;
    forget = [this, kept] { runs_.erase(kept); };
  }
  if (forget) forget();
  return forget != nullptr;
}

}  // namespace headscope::app
