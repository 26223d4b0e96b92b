#include "app/data.h"

#include <algorithm>
#include <cmath>

#include "app/model_discovery.h"
#include "app/sinusoidal.h"
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
  const model::Config& config = loaded->transformer->config();
  loaded->readable_dimensions =
      readable_dimensions(loaded->transformer->position_embedding(), config.n_ctx, config.n_embd);
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

HeadData compute_head(const PromptRun& run, int layer, int head, bool stages) {
  const model::Transformer& transformer = *run.model->transformer;
  if (stages) return {layer, head, transformer.attention(*run.run, layer, head)};
  HeadData result{layer, head, {}};
  result.stages.length = run.run->length();
  const auto length = static_cast<std::size_t>(result.stages.length);
  result.stages.pattern.resize(length * length);
  transformer.pattern(*run.run, layer, head, result.stages.pattern);
  return result;
}

std::vector<Thumbnail> compute_thumbnails(const PromptRun& run, std::span<const model::HeadIndex> heads,
                                          model::Workspace& workspace, std::stop_token stop) {
  std::vector<ThumbnailMaker> makers(heads.size(), ThumbnailMaker(run.run->length()));
  run.model->transformer->patterns(
      *run.run, heads, workspace,
      [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
        makers[index].add(first_query, rows);
      },
      std::move(stop));
  std::vector<Thumbnail> thumbnails;
  thumbnails.reserve(heads.size());
  for (ThumbnailMaker& maker : makers) thumbnails.push_back(std::move(maker).finish());
  return thumbnails;
}

ThumbnailMaker::ThumbnailMaker(int length) : length_(length) {
  thumbnail_.size = std::min(length, Thumbnail::kMost);
  const auto size = static_cast<std::size_t>(thumbnail_.size);
  thumbnail_.values.assign(size * size, 0.F);
  if (length > Thumbnail::kMost) thumbnail_.first_column_without_key0.assign(size, 0.F);
}

void ThumbnailMaker::add(int first_query, model::ConstFloatRows rows) {
  const bool pooled = length_ > Thumbnail::kMost;
  for (int i = 0; i < rows.rows; ++i) {
    const int query = first_query + i;
    const float* row = rows.row_data(i);
    if (query > 0) {
      first_ += static_cast<double>(row[0]);
      previous_ += static_cast<double>(row[query - 1]);
      self_ += static_cast<double>(row[query]);
    }
    const auto bin = [&](int position) {
      return pooled ? static_cast<int>(std::int64_t{position} * Thumbnail::kMost / length_) : position;
    };
    float* out = thumbnail_.values.data() + std::ptrdiff_t{bin(query)} * thumbnail_.size;
    if (!pooled) {
      std::copy_n(row, length_, out);
      continue;
    }
    float& other = thumbnail_.first_column_without_key0[static_cast<std::size_t>(bin(query))];
    for (int col = 0, key = 1; key <= query; ++col) {
      // The keys that fall into this column end where the next one's begin.
      const auto next =
          static_cast<int>((std::int64_t{col + 1} * length_ + Thumbnail::kMost - 1) / Thumbnail::kMost);
      float& cell = col == 0 ? other : out[col];
      float most = cell;
      for (const int end = std::min(next, query + 1); key < end; ++key) most = stronger(most, row[key]);
      cell = most;
    }
    out[0] = stronger(out[0], stronger(other, row[0]));
  }
}

Thumbnail ThumbnailMaker::finish() && {
  thumbnail_.mean_first = static_cast<float>(first_ / (length_ - 1));
  thumbnail_.mean_previous = static_cast<float>(previous_ / (length_ - 1));
  thumbnail_.mean_self = static_cast<float>(self_ / (length_ - 1));
  return std::move(thumbnail_);
}

Statistics compute_statistics(const PromptRun& run, model::Workspace& workspace, std::stop_token stop,
                              const Statistics* former) {
  constexpr int kTop = 5;
  Statistics result;
  result.tokens = run.run->tokens;
  if (former != nullptr) {
    const auto ends = std::mismatch(result.tokens.begin(), result.tokens.end(), former->tokens.begin(),
                                    former->tokens.end());
    // What is said of a position depends on the token after it, too; the last one has none.
    const auto same = ends.first - result.tokens.begin();
    const bool all = result.tokens.size() == former->tokens.size() && ends.first == result.tokens.end();
    const auto kept = all ? same : std::max<std::ptrdiff_t>(same - 1, 0);
    result.positions.assign(former->positions.begin(), former->positions.begin() + kept);
  }
  const int first = static_cast<int>(result.positions.size());
  auto computed = run.model->transformer->statistics(*run.run, first, run.run->length() - first, kTop,
                                                     workspace, std::move(stop));
  std::ranges::move(computed, std::back_inserter(result.positions));
  return result;
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
