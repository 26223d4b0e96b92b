#include "app/run/memo.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <utility>

#include "app/run/analyses/heads.h"
#include "app/run/edits/edit_text.h"
#include "model/kernels/workers.h"
#include "model/pass/plan.h"
#include "model/pass/run.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using model::common_tokens;

/// Bytes of the pages that a run of the tokens needs in addition to those shared with its base (null: none).
std::size_t new_page_bytes(const model::Config& config, const model::Run* base,
                           const std::vector<int>& tokens) {
  const int shared = base != nullptr ? common_tokens(base->tokens, tokens) : 0;
  const int pages =
      model::Page::count_for(static_cast<int>(tokens.size())) - shared / model::Page::kPositions;
  return static_cast<std::size_t>(std::max(pages, 0)) * model::Page::bytes(config);
}

/// Whether a run contains all positions of another with the same values.
bool has_all_of(const model::Run& run, const model::Run& other) {
  return same_edits(run.plan.get(), other.plan.get()) &&
         common_tokens(run.tokens, other.tokens) == other.length();
}

std::size_t product_of(std::initializer_list<int> factors) {
  std::size_t result = 1;
  for (const int factor : factors) result *= static_cast<std::size_t>(factor);
  return result;
}

}  // namespace

static RunId id_of(const PromptRun& run) {
  const auto of_text = [](const std::string& text) { return std::hash<std::string>{}(text); };
  const auto of_model = [&](const LoadedModel& model) {
    return hash_of(of_text(system::text_of(model.folder)), of_text(model.weights_stamp));
  };
  RunId id;
  id.model = id.how = of_model(*run.model);
  const model::Plan* plan = run.run->plan.get();
  if (plan != nullptr) id.how = hash_of(id.model, of_text(edit_text(plan->edits())));
  if (plan != nullptr && run.second_model && model::patches_from_second(plan->edits()))
    id.how = hash_of(id.how, of_model(*run.second_model));
  id.run = hash_of(id.how, hash_of(run.run->tokens));
  if (plan != nullptr && plan->needs_whole_run()) id.how = id.run;
  return id;
}

RunIds::RunIds(const PromptRun& run) : own(id_of(run)), baseline(run.baseline ? id_of(*run.baseline) : own) {
  if (run.baseline) compared = hash_of(baseline.run, hash_of(run.aligned), hash_of(run.aligned_keys));
}

AnswerKey key_of(const Question& question, const RunIds& ids) {
  if (question.is_on_baseline()) {
    const RunId& of = ids.baseline;
    return {question.about_run(), question.is_model_only() ? of.model : of.run};
  }
  if (question.is_model_only())
    return {question, ids.own.model, question.is_difference() ? ids.baseline.model : 0};
  return {question, ids.own.run, question.reads_baseline() ? ids.compared : 0};
}

std::shared_ptr<const Answer> AnswerCache::find(const AnswerKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() ? found->second->answer : nullptr;
}

std::shared_ptr<const Answer> AnswerCache::use(const AnswerKey& key, std::uint64_t time) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.end(), entries_, found->second);
  found->second->used = time;
  return found->second->answer;
}

void AnswerCache::keep(const AnswerKey& key, std::shared_ptr<const Answer> answer, std::uint64_t time) {
  std::list<Entry> gone;  // freed outside of the lock
  std::list<Entry> added{{key, std::move(answer), time}};
  const std::lock_guard lock(mutex_);
  take_out(key, gone);
  by_key_.emplace(key, added.begin());
  bytes_ += added.front().answer->bytes + kEntryBytes;
  entries_.splice(entries_.end(), added);
}

void AnswerCache::erase(const AnswerKey& key) {
  std::list<Entry> gone;
  const std::lock_guard lock(mutex_);
  take_out(key, gone);
}

void AnswerCache::take_out(const AnswerKey& key, std::list<Entry>& gone) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  bytes_ -= found->second->answer->bytes + kEntryBytes;
  gone.splice(gone.end(), entries_, found->second);
  by_key_.erase(found);
}

std::size_t Memo::budget(const model::Config& config) {
  constexpr std::size_t kMin = std::size_t{16} << 20;
  constexpr int kFloat = sizeof(float), kMatrices = 6;  // of answers
  return std::max(kMin, 2 * model::Run::max_bytes(config)) +
         product_of({kMatrices, config.n_ctx, config.n_ctx, kFloat});
}

std::shared_ptr<const model::Run> Memo::find_clean(const std::vector<int>& tokens) {
  for (RunEntry& kept : runs_) {
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
  for (const RunEntry& kept : runs_) {
    if (!same_edits(kept.run->plan.get(), plan)) continue;
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
  while (too_much() && forget_one(base.get(), clock_ + 1)) {
  }
  if (base == nullptr || base == runs_.front().run || !too_much()) return base;
  // Only the newest and the base are left.
  runs_.pop_back();
  const int pages = common_tokens(base->tokens, tokens) / model::Page::kPositions;
  auto part = pages > 0 ? model::shortened(*base, pages * model::Page::kPositions) : nullptr;
  if (part) runs_.push_back({part, ++clock_});
  count_pages();
  return part;
}

void Memo::remember(std::shared_ptr<const model::Run> run) {
  std::erase_if(runs_, [&](const RunEntry& kept) { return has_all_of(*run, *kept.run); });
  runs_.insert(runs_.begin(), {std::move(run), ++clock_});
  count_pages();
}

void Memo::remember_part(std::shared_ptr<const model::Run> run) {
  if (std::ranges::any_of(runs_, [&](const RunEntry& kept) { return has_all_of(*kept.run, *run); })) return;
  runs_.insert(runs_.begin() + (runs_.empty() ? 0 : 1), {std::move(run), ++clock_});
  count_pages();
}

void Memo::forget_patched_from_second() {
  std::erase_if(runs_, [](const RunEntry& kept) {
    return kept.run->plan && model::patches_from_second(kept.run->plan->edits());
  });
  count_pages();
}

void Memo::show(const PromptRun& run) {
  constexpr std::size_t kMaxShown = 16;
  remember(run.run);
  ids_ = RunIds(run);
  wanted_ = clock_ + 1;  // none of the runs before it
  shown_.insert(shown_.begin(), {ids_.own, ids_.baseline});
  shown_.resize(std::min(shown_.size(), kMaxShown));
  for (const AnswerKey& key : std::exchange(failed_, {})) answers_->erase(key);
}

void Memo::want(const std::vector<Question>& questions) {
  wanted_ = clock_ + 1;
  for (const Question& question : questions) find(question);
}

std::shared_ptr<const Answer> Memo::find(const Question& question) {
  auto known = runs_.empty() ? nullptr : answers_->use(key_of(question, ids_), ++clock_);
  if (known) runs_.front().used = clock_;  // so that a run is dropped after its answers
  return known;
}

void Memo::keep(const Question& question, std::shared_ptr<const Answer> answer) {
  if (runs_.empty()) return;
  const AnswerKey key = key_of(question, ids_);
  if (!answer->value) failed_.push_back(key);
  runs_.front().used = ++clock_;
  answers_->keep(key, std::move(answer), clock_);
  while (bytes() > budget_ && forget_one(nullptr, std::min(wanted_, clock_))) {
  }
}

std::shared_ptr<const Answer> Memo::previous_answer(const Question& question) const {
  if (question.is_model_only() || question.reads_baseline()) return nullptr;
  const RunId& now = question.is_on_baseline() ? ids_.baseline : ids_.own;
  for (const RunId& id : shown_)
    if (id.how == now.how && id.run != now.run)
      if (auto known = answers_->find({question.about_run(), id.run}); known && known->value) return known;
  return nullptr;
}

void Memo::count_pages() {
  std::set<const model::Page*> pages;
  std::set<const model::Plan*> plans;
  page_bytes_ = 0;
  for (const RunEntry& kept : runs_) {
    const model::Plan* plan = kept.run->plan.get();
    if (plan != nullptr && plans.insert(plan).second) page_bytes_ += plan->source_bytes();
    for (const auto& page : kept.run->pages)
      for (const model::Page* p = page.get(); p != nullptr; p = p->below().get())
        if (pages.insert(p).second) page_bytes_ += p->bytes();
  }
}

bool Memo::forget_one(const model::Run* base, std::uint64_t time) {
  auto oldest = runs_.end();
  for (auto kept = runs_.begin(); kept != runs_.end(); ++kept)
    if (kept != runs_.begin() && kept->run.get() != base &&
        (oldest == runs_.end() || kept->used < oldest->used))
      oldest = kept;
  if (oldest != runs_.end()) time = std::min(time, oldest->used + 1);  // a run goes after its answers
  if (const auto& answers = answers_->entries(); !answers.empty() && answers.front().used < time) {
    answers_->erase(AnswerKey(answers.front().key));
    return true;
  }
  if (oldest == runs_.end()) return false;
  runs_.erase(oldest);
  count_pages();
  return true;
}

std::size_t memory_budget(const model::Transformer& transformer, int threads) {
  constexpr int kFloat = sizeof(float);
  const model::Config& config = transformer.config();
  // Four images, one per stage of a head, for two pictures; a pixel is as large as a float.
  const std::size_t images = product_of({2, 4, config.n_ctx, config.n_ctx, kFloat});
  // Of all heads, and of those being made: cells, and the first column pooled without key 0.
  const std::size_t thumbnails =
      product_of({config.n_layer, config.n_head, Thumbnail::kMax, Thumbnail::kMax + 1, kFloat});
  // Per position: the residual stream, its norm, z, a branch's output; q, k and v; the MLP's activations.
  const std::size_t activations =
      product_of({model::ForwardOptions{}.chunk, 7 * config.n_embd + config.n_inner + 1});
  // Per thread: scores of 64 queries, or a block of a product.
  constexpr int kBlock = 64, kPanels = 1 << 15;
  const std::size_t scratch = product_of({threads, kBlock * (config.n_ctx + kBlock) + kPanels});
  const std::size_t logits = product_of({config.vocab_size, 2});
  const std::size_t work =
      (model::Buffer::room_for(activations) + model::Buffer::room_for(scratch) + logits) * kFloat;
  // Code, fonts, tokenizer, glyphs and triangles of a frame.
  constexpr std::size_t kProgram = std::size_t{32} << 20;
  return transformer.report().bytes + Memo::budget(config) + images + 4 * thumbnails + work + kProgram;
}

}  // namespace headscope::app
