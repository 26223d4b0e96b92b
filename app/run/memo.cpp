#include "app/run/memo.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "app/run/analyses/heads.h"
#include "model/kernels/workspace.h"
#include "model/pass/run_pages.h"

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

const AnswerList::Entry* AnswerList::find_entry(const Question& question) const {
  const auto& part = parts_[part_of(question)];
  if (part == nullptr) return nullptr;
  const auto found = std::ranges::find(*part, question, &Entry::question);
  return found != part->end() ? &*found : nullptr;
}

std::shared_ptr<const Answer> AnswerList::find(const Question& question) const {
  const Entry* kept = find_entry(question);
  return kept != nullptr ? kept->answer : nullptr;
}

void AnswerList::set(const Question& question, std::shared_ptr<const Answer> answer, std::uint64_t used) {
  std::shared_ptr<const Part>& part = parts_[part_of(question)];
  auto next = part != nullptr ? std::make_shared<Part>(*part) : std::make_shared<Part>();
  if (const Entry* known = find_entry(question)) {
    --size_, bytes_ -= known->answer->bytes;
    next->erase(next->begin() + (known - part->data()));
  }
  if (answer != nullptr) {
    ++size_, bytes_ += answer->bytes;
    next->push_back({question, std::move(answer), used});
  }
  part = std::move(next);
}

void AnswerList::for_each(const std::function<void(const Entry&)>& visit) const {
  for (const auto& part : parts_)
    if (part != nullptr)
      for (const Entry& kept : *part) visit(kept);
}

void AnswerList::erase_if(const std::function<bool(const Entry&)>& condition) {
  std::vector<Question> gone;
  for_each([&](const Entry& kept) {
    if (condition(kept)) gone.push_back(kept.question);
  });
  for (const Question& question : gone) set(question, nullptr);
}

std::size_t Memo::budget(const model::Config& config) {
  constexpr std::size_t kMin = std::size_t{16} << 20;
  constexpr int kFloat = sizeof(float), kMatrices = 6;  // of answers
  return std::max(kMin, 2 * model::Run::most_bytes(config)) +
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
  while (too_much() && forget_one(base.get(), {})) {
  }
  if (base == nullptr || base == runs_.front().run || !too_much()) return base;
  // Only the newest and the base are left.
  runs_.pop_back();
  const int pages = common_tokens(base->tokens, tokens) / model::Page::kPositions;
  if (pages == 0) return nullptr;
  auto part = model::shortened(*base, pages * model::Page::kPositions);
  runs_.push_back({part, {}, ++clock_});
  return part;
}

void Memo::remember(std::shared_ptr<const model::Run> run) {
  RunEntry newest{std::move(run), {}, ++clock_};
  for (RunEntry& kept : runs_)
    if (kept.run->tokens == newest.run->tokens && same_edits(kept.run->plan.get(), newest.run->plan.get()))
      newest.answers = std::move(kept.answers);
  std::erase_if(runs_, [&](const RunEntry& kept) { return has_all_of(*newest.run, *kept.run); });
  runs_.insert(runs_.begin(), std::move(newest));
  // Failed answers are retried with the next run.
  const auto failed = [](const AnswerList::Entry& kept) { return kept.answer->value == nullptr; };
  for (RunEntry& kept : runs_) kept.answers.erase_if(failed);
  model_answers_.erase_if(failed);
}

void Memo::remember_part(std::shared_ptr<const model::Run> run) {
  if (std::ranges::any_of(runs_, [&](const RunEntry& kept) { return has_all_of(*kept.run, *run); })) return;
  const auto place = runs_.begin() + (runs_.empty() ? 0 : 1);
  runs_.insert(place, RunEntry{std::move(run), {}, ++clock_});
}

std::shared_ptr<const Answer> Memo::find(const Question& question, const std::vector<Question>& wanted) {
  if (runs_.empty()) return nullptr;
  if (const AnswerList::Entry* kept = answers_like(question).find_entry(question)) {
    kept->used = runs_.front().used = ++clock_;  // so that a run is dropped after its answers
    return kept->answer;
  }
  auto known = on_baseline_.find(question);
  if (known) keep(question, known, wanted);
  return known;
}

void Memo::keep(const Question& question, std::shared_ptr<const Answer> answer,
                const std::vector<Question>& wanted) {
  if (runs_.empty()) return;
  if (baseline_ && question.is_on_baseline() && answer->whole && answer->value)
    on_baseline_.set(question, answer);
  runs_.front().used = ++clock_;
  answers_like(question).set(question, std::move(answer), clock_);
  if (bytes() <= budget_) return;
  const QuestionSet asked(wanted.begin(), wanted.end());
  while (bytes() > budget_ && forget_one(nullptr, asked)) {
  }
}

void Memo::forget_unasked(const std::vector<Question>& questions) {
  if (previous_.size() + on_baseline_.size() == 0) return;
  QuestionSet asked(questions.begin(), questions.end());
  for (const Question& question : questions)
    for (Question& side : question.sides()) asked.insert(std::move(side));
  for (AnswerList* list : {&previous_, &on_baseline_})
    list->erase_if([&](const AnswerList::Entry& kept) { return !asked.contains(kept.question); });
}

void Memo::set_baseline(std::shared_ptr<const model::Run> baseline) {
  if (baseline == baseline_) return;
  forget(Source::baseline);
  baseline_ = std::move(baseline);
}

void Memo::forget(Source changed) {
  const bool all = changed == Source::second_model;
  const auto compares = [](const AnswerList::Entry& kept) { return kept.question.is_comparison(); };
  if (all || changed == Source::edits) previous_ = {};
  if (all || changed == Source::baseline) on_baseline_ = {}, baseline_.reset();
  if (all || changed == Source::comparison)
    for (RunEntry& kept : runs_) kept.answers.erase_if(compares);
  if (!all) return;
  model_answers_.erase_if(compares);
  std::erase_if(runs_, [](const RunEntry& kept) {
    return kept.run->plan && model::patches_from_second(kept.run->plan->edits());
  });
}

KnownAnswers Memo::newest_answers() const {
  return runs_.empty() ? KnownAnswers{} : KnownAnswers{runs_.front().answers, model_answers_};
}

std::size_t Memo::bytes() const {
  std::set<const model::Page*> pages;
  std::set<const model::Plan*> plans;
  std::size_t sum = 0;
  for (const RunEntry& kept : runs_) {
    const model::Plan* plan = kept.run->plan.get();
    if (plan != nullptr && plans.insert(plan).second) sum += plan->source_bytes();
    for (const auto& page : kept.run->pages)
      for (const model::Page* p = page.get(); p != nullptr; p = p->below().get())
        if (pages.insert(p).second) sum += p->bytes();
    sum += kept.answers.bytes();
  }
  return sum + model_answers_.bytes();
}

bool Memo::forget_one(const model::Run* base, const QuestionSet& wanted) {
  std::uint64_t oldest = clock_ + 1;
  std::function<void()> forget;
  const auto offer_answers = [&](AnswerList& answers, bool may_be_wanted) {
    answers.for_each([&](const AnswerList::Entry& kept) {
      if (kept.used >= oldest || (may_be_wanted && wanted.contains(kept.question))) return;
      oldest = kept.used;
      forget = [&answers, &kept] { answers.set(Question(kept.question), nullptr); };
    });
  };
  offer_answers(model_answers_, true);
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
  // Per thread: scores of 64 queries, or a block of a product and logits of a panel.
  constexpr int kBlock = 64, kPanels = 1 << 15;
  const std::size_t scratch = product_of({threads, kBlock * (config.n_ctx + kBlock) + kPanels});
  const std::size_t logits = product_of({config.vocab_size, 2});
  const std::size_t work =
      (model::Buffer::room_for(activations) + model::Buffer::room_for(scratch) + logits) * kFloat;
  // Code, fonts, tokenizer, glyphs and triangles of a frame.
  constexpr std::size_t kProgram = std::size_t{32} << 20;
  return transformer.weight_bytes() + Memo::budget(config) + images + 4 * thumbnails + work + kProgram;
}

}  // namespace headscope::app
