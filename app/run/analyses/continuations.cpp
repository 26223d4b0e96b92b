#include "app/run/analyses/continuations.h"

#include <cmath>
#include <memory>

#include "model/pass/statistics.h"

namespace headscope::app {

std::size_t Continuations::bytes() const {
  std::size_t sum = 0;
  for (const auto& text : texts) sum += sizeof(text) + bytes_of(text);
  return sum;
}

Continuations ContinuationsOf::compute(const PromptRun& run,
                                       const Computation<Continuations>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::SamplingOptions sampling{temperature, top_k, top_p};
  const auto end = run.model->tokenizer->end_of_text();
  const int n_ctx = run.run->config.n_ctx;
  std::vector<float> first(static_cast<std::size_t>(run.run->config.vocab_size)), logits;
  transformer.logits(*run.run, run.run->length() - 1, 1, computation.workspace, first);
  const auto read = [&](const std::vector<DrawnToken>& text, const model::Run& base) {
    std::vector<int> ids = run.run->tokens;
    for (const DrawnToken& token : text) ids.push_back(token.id);
    model::ForwardOptions options;
    options.base = &base;
    options.plan =
        plan_for(ids, base.plan, *run.model, run.second_model.get(), computation.workspace, computation.stop);
    options.stop = computation.stop;
    return transformer.forward(ids, computation.workspace, options);
  };
  Continuations result = computation.partial != nullptr ? *computation.partial : Continuations();
  if (result.texts.empty()) result.texts.emplace_back();
  while (true) {
    std::vector<DrawnToken>& text = result.texts.back();
    const std::uint64_t of_text = seed + result.texts.size() - 1;
    std::shared_ptr<const model::Run> now = text.empty() ? run.run : read(text, *run.run);
    while (std::ssize(text) < tokens && now->length() < n_ctx && (text.empty() || text.back().id != end)) {
      logits = first;
      if (!text.empty()) transformer.logits(*now, now->length() - 1, 1, computation.workspace, logits);
      DrawnToken token;
      token.id = model::draw_token(logits, sampling, of_text, now->length());
      token.probability = std::exp(static_cast<double>(logits[token.id]) - model::log_sum_exp(logits));
      text.push_back(token);
      if (std::ssize(text) < tokens || read_last) {
        now = read(text, *now);
        text.back().kept = now->length() - now->computed_positions;
        text.back().computed = now->computed_positions;
      }
      const int done = static_cast<int>(result.texts.size() - 1) * tokens + static_cast<int>(text.size());
      computation.show(result, static_cast<double>(done) / (texts * tokens));
    }
    if (std::ssize(result.texts) >= texts) return result;
    result.texts.emplace_back();
  }
}

}  // namespace headscope::app
