#include "app/run/continuations.h"

#include <memory>
#include <utility>

namespace headscope::app {

std::size_t Continuations::bytes() const {
  std::size_t sum = 0;
  for (const auto& text : texts) sum += sizeof(text) + text.size() * sizeof(DrawnToken);
  return sum;
}

Continuations ContinuationsOf::compute(const PromptRun& run, const Work<Continuations>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::SamplingOptions sampling{temperature, top_k, top_p};
  const auto end = run.model->tokenizer->end_of_text();
  std::vector<float> logits(static_cast<std::size_t>(run.run->config.vocab_size));
  std::vector<double> probabilities(logits.size());
  Continuations result = work.begun != nullptr ? *work.begun : Continuations();
  if (!result.texts.empty()) result.texts.pop_back();  // the last one may not be whole
  while (std::ssize(result.texts) < texts) {
    const std::uint64_t of_text = seed + result.texts.size();
    result.texts.emplace_back();
    std::shared_ptr<const model::Run> now = run.run;
    for (int made = 0; made < tokens && now->length() < run.run->config.n_ctx; ++made) {
      transformer.logits(*now, now->length() - 1, 1, work.workspace, logits);
      const int id = model::draw_token(logits, sampling, of_text, now->length());
      model::softmax(logits, 1, probabilities);
      std::vector<int> ids = now->tokens;
      ids.push_back(id);
      model::ForwardOptions options;
      options.base = now.get();
      options.stop = work.stop;
      now = transformer.forward(ids, work.workspace, options);
      result.texts.back().push_back({id, probabilities[static_cast<std::size_t>(id)],
                                     now->length() - now->computed_positions, now->computed_positions});
      if (id == end) break;
      const int done = static_cast<int>(result.texts.size() - 1) * tokens + made + 1;
      work.show(result, static_cast<double>(done) / (texts * tokens));
    }
  }
  return result;
}

}  // namespace headscope::app
