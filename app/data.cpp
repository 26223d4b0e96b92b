#include "app/data.h"

#include <algorithm>
#include <cmath>

#include "app/model_discovery.h"
#include "model/error.h"
#include "viz/text.h"

namespace headscope::app {
namespace {

int start_token_of(const LoadedModel& model) {
  if (const auto id = model.tokenizer->end_of_text()) return *id;
  if (const auto id = model.transformer->config().bos_token_id) return *id;
  throw model::RunError(
      "The model \"" + model.name +
      "\" has no start token: its vocabulary lacks <|endoftext|> and its config.json names no bos_token_id.");
}

/// Tokens of given ids, as if their bytes were the prompt.
std::vector<model::Token> tokens_of_ids(const LoadedModel& model, std::span<const int> ids) {
  const int vocabulary = model.transformer->config().vocab_size;
  std::vector<model::Token> tokens;
  tokens.reserve(ids.size());
  std::size_t end = 0;
  for (const int id : ids) {
    if (id < 0 || id >= vocabulary) {
      throw model::RunError("The prompt has the token id " + std::to_string(id) +
                            "; the model's vocabulary has ids 0 to " + std::to_string(vocabulary - 1) + ".");
    }
    const std::size_t start = end;
    end += model.tokenizer->bytes(id).size();
    tokens.push_back({id, start, end});
  }
  return tokens;
}

/// Of two weights the one of larger magnitude; NaN wins, so that it shows.
float stronger(float a, float b) {
  return std::abs(b) <= std::abs(a) || std::isnan(a) ? a : b;
}

}  // namespace

std::vector<int> PromptTokens::ids() const {
  std::vector<int> result;
  result.reserve(static_cast<std::size_t>(run_length));
  for (int i = 0; i < run_length; ++i) result.push_back(tokens[static_cast<std::size_t>(i)].id);
  return result;
}

std::shared_ptr<const LoadedModel> load_model(const std::filesystem::path& folder,
                                              const model::LoadOptions& options) {
  auto loaded = std::make_shared<LoadedModel>();
  loaded->folder = folder;
  loaded->name = model_name(folder);
  // The tokenizer first: what is wrong with it should not take the time of reading the weights to be told.
  loaded->tokenizer = std::make_shared<const model::Tokenizer>(model::Tokenizer::load(folder));
  loaded->transformer = model::Transformer::load(folder, options);
  const int embedded = loaded->transformer->config().vocab_size;
  if (loaded->tokenizer->size() > embedded) {
    throw model::LoadError(folder.string() + ": the tokenizer has ids up to " +
                           std::to_string(loaded->tokenizer->size() - 1) +
                           ", but wte.weight has rows for only " + std::to_string(embedded) +
                           " tokens; the files of two models seem to be mixed.");
  }
  return loaded;
}

PromptTokens tokenize(const LoadedModel& model, const Prompt& prompt) {
  PromptTokens result;
  result.tokens =
      prompt.ids.empty() ? model.tokenizer->encode(prompt.text) : tokens_of_ids(model, prompt.ids);
  result.was_empty = result.tokens.empty();
  if (result.was_empty || prompt.start_token)
    result.tokens.insert(result.tokens.begin(), {start_token_of(model), 0, 0});
  result.labels.reserve(result.tokens.size());
  for (const model::Token& token : result.tokens)
    result.labels.push_back(viz::visible(model.tokenizer->bytes(token.id)));
  result.run_length = std::min(result.length(), model.transformer->config().n_ctx);
  return result;
}

HeadData compute_head(const PromptRun& run, int layer, int head) {
  return {layer, head, run.model->transformer->attention(*run.run, layer, head)};
}

Thumbnail compute_thumbnail(const PromptRun& run, int layer, int head) {
  const auto length = static_cast<std::size_t>(run.run->length());
  std::vector<float> pattern(length * length);
  run.model->transformer->pattern(*run.run, layer, head, pattern);
  return make_thumbnail(std::move(pattern), run.run->length());
}

Thumbnail make_thumbnail(std::vector<float> pattern, int length) {
  const auto n = static_cast<std::size_t>(length);
  Thumbnail thumbnail;
  double first = 0, previous = 0, self = 0;
  for (std::size_t query = 1; query < n; ++query) {
    first += static_cast<double>(pattern[query * n]);
    previous += static_cast<double>(pattern[query * n + query - 1]);
    self += static_cast<double>(pattern[query * n + query]);
  }
  thumbnail.mean_first = static_cast<float>(first / (length - 1));
  thumbnail.mean_previous = static_cast<float>(previous / (length - 1));
  thumbnail.mean_self = static_cast<float>(self / (length - 1));
  thumbnail.size = std::min(length, Thumbnail::kMost);
  if (length <= Thumbnail::kMost) {
    thumbnail.values = std::move(pattern);
    return thumbnail;
  }

  constexpr std::size_t kSize = Thumbnail::kMost;
  thumbnail.values.assign(kSize * kSize, 0.F);
  thumbnail.first_column_without_key0.assign(kSize, 0.F);
  std::vector<std::size_t> bin(n);
  for (std::size_t i = 0; i < n; ++i) bin[i] = i * kSize / n;
  for (std::size_t query = 0; query < n; ++query) {
    float* out = thumbnail.values.data() + bin[query] * kSize;
    float& other = thumbnail.first_column_without_key0[bin[query]];
    const float* row = pattern.data() + query * n;
    for (std::size_t key = 1; key <= query; ++key) {
      float& cell = bin[key] == 0 ? other : out[bin[key]];
      cell = stronger(cell, row[key]);
    }
    out[0] = stronger(out[0], stronger(other, row[0]));
  }
  return thumbnail;
}

Statistics compute_statistics(const PromptRun& run, model::Workspace& workspace, std::stop_token stop) {
  constexpr int kTop = 5;
  return {
      run.model->transformer->statistics(*run.run, 0, run.run->length(), kTop, workspace, std::move(stop))};
}

NextToken compute_next(const PromptRun& run, int position, model::Workspace& workspace) {
  if (position < 0 || position >= run.run->length()) {
    throw model::RunError("The prompt has positions 0 to " + std::to_string(run.run->length() - 1) +
                          ", not " + std::to_string(position) + ".");
  }
  NextToken next{position, std::vector<float>(static_cast<std::size_t>(run.run->config.vocab_size))};
  run.model->transformer->logits(*run.run, position, 1, workspace, next.logits);
  return next;
}

}  // namespace headscope::app
