#include "app/run/prompt_run.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "app/counted.h"
#include "app/run/analyses/geometry.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "model/pass/not_finite.h"
#include "system/file.h"
#include "system/path_text.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

/// Whether a file is one of a model's folder that has weights.
bool holds_weights(const std::filesystem::path& file, const std::stop_token& stop) {
  if (file.extension() == ".bin")
    return true;  // no patterns, even if the folder's weights are in another file
  try {
    return weight_files(file.parent_path(), stop).contains(system::text_of(file.filename()));
  } catch (const model::LoadError&) {
    return false;
  }
}

/// A run may have no model.
bool has_patterns_only(const PromptRun& run) {
  return run.model && run.model->patterns;
}

/// Tokens for given ids, as if their texts were the prompt.
std::vector<model::Token> tokens_of_ids(const LoadedModel& model, std::span<const int> ids) {
  std::vector<model::Token> tokens;
  std::size_t end = 0;
  for (const int id : ids) {
    const std::size_t start = end;
    end += model.tokenizer->text(id).size();
    tokens.push_back({id, start, end});
  }
  return tokens;
}

model::Tokenizer tokenizer_in(const std::filesystem::path& folder, const std::stop_token& stop) {
  try {
    return model::Tokenizer::load(folder, stop);
  } catch (const model::ReadError&) {
    throw;
  } catch (const model::LoadError& error) {
    return model::Tokenizer::missing(error.what());
  }
}

/// Throws RunError for a part of a layer, one of `count`, that the model does not have.
void check_part(const LoadedModel& model, const char* kind, int layer, int part, int count) {
  const int layers = model.config().n_layer;
  if (layer >= 0 && layer < layers && part >= 0 && part < count) return;
  throw model::RunError(model.name + " has no " + kind + " " + std::to_string(layer) + "." +
                        std::to_string(part) + ": it has layers 0 to " + std::to_string(layers - 1) +
                        " with " + kind + "s 0 to " + std::to_string(count - 1));
}

/// See aligned_positions; tokens are ids, or labels.
template <class Tokens>
std::vector<int> aligned_tokens(const Tokens& tokens, const Tokens& others, Alignment by) {
  const std::size_t rows = tokens.size(), cols = others.size();
  std::vector<int> aligned(rows, -1);
  if (by == Alignment::position) {
    for (std::size_t i = 0; i < std::min(rows, cols); ++i) aligned[i] = static_cast<int>(i);
    return aligned;
  }
  // longest[i][j]: the length for tokens from i on and others from j on.
  std::vector<int> longest((rows + 1) * (cols + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return longest[i * (cols + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = cols; j-- > 0;)
      at(i, j) = tokens[i] == others[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  for (std::size_t i = 0, j = 0; i < rows && j < cols;) {
    if (tokens[i] == others[j]) {
      aligned[i++] = static_cast<int>(j++);
    } else if (at(i + 1, j) > at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  return aligned;
}

}  // namespace

std::string missing(const LoadedModel& model, Capability needed) {
  struct Lack {
    Capability capability;
    const char *what, *instead;
  };
  constexpr Lack kLacks[] = {{Capability::weights, "a model's weights", "holds only attention patterns"},
                             {Capability::patterns, "attention patterns", "has no attention"},
                             {Capability::positions_table, "position embeddings (wpe)", "has none"},
                             {Capability::mlp, "an MLP with neurons", "has none"},
                             {Capability::tokenizer, "a tokenizer", "has none"}};
  const Capability lacks = needed - model.capabilities();
  for (const auto& [capability, what, instead] : kLacks)
    if (has_all(lacks, capability))
      return std::string("this needs ") + what + "; " +
             model::quote(system::text_of(model.folder.filename())) + " " + instead +
             (lacks == Capability::tokenizer ? ": " + model.tokenizer->problem() : "");
  return "";
}

void require(const LoadedModel& model, Capability needed) {
  if (const std::string why = missing(model, needed); !why.empty()) throw model::RunError(why);
}

void Resources::poll() const {
  if (stop.stop_requested()) throw model::Stopped();
}

std::vector<int> PromptTokens::ids() const {
  std::vector<int> result;
  for (const model::Token& token : std::span(tokens).first(run_length)) result.push_back(token.id);
  return result;
}

std::vector<int> aligned_positions(std::span<const int> tokens, std::span<const int> others, Alignment by) {
  return aligned_tokens(tokens, others, by);
}

model::Config LoadedModel::config() const {
  if (!patterns) return transformer->config();
  model::Config config;
  config.n_layer = patterns->layers();
  config.n_head = config.n_embd = patterns->heads();
  config.n_ctx = std::max(patterns->query_count(), patterns->key_count());
  return config;
}

Capability LoadedModel::capabilities() const {
  if (patterns) return Capability::patterns;
  const Capability of_gpt2 =
      Capability::patterns | Capability::weights | Capability::positions_table | Capability::mlp;
  return tokenizer && tokenizer->problem().empty() ? of_gpt2 | Capability::tokenizer : of_gpt2;
}

const PromptTokens& key_tokens(const PromptRun& run) {
  return has_patterns_only(run) ? run.model->patterns->keys() : run.tokens;
}

int key_count(const PromptRun& run) {
  return has_patterns_only(run) ? run.model->patterns->key_count() : run.run->length();
}

bool has_own_keys(const PromptRun& run) {
  return !has_patterns_only(run) || run.model->patterns->has_own_keys();
}

const std::vector<int>& aligned_keys(const PromptRun& run) {
  return run.aligned_keys.empty() ? run.aligned : run.aligned_keys;
}

int counterpart_of(const PromptRun& run, int position) {
  if (position < 0 || position >= run.run->length()) position = run.run->length() - 1;
  return run.baseline ? run.aligned[position] : position;
}

bool compares_different_inputs(const PromptRun& run) {
  return run.baseline && (run.baseline->model != run.model || run.baseline->run->tokens != run.run->tokens);
}

bool compares_models(const PromptRun& run) {
  return run.baseline && run.baseline->model != run.model && run.model && !run.model->patterns;
}

bool compares_one_prompt(const PromptRun& run) {
  return run.baseline && run.baseline->run->tokens == run.run->tokens;
}

model::SecondModel second_of(const PromptRun& run) {
  return {run.second_model ? run.second_model->transformer.get() : nullptr, run.run->tokens};
}

std::shared_ptr<const model::Plan> plan_for(std::span<const int> tokens,
                                            std::shared_ptr<const model::Plan> plan, const LoadedModel& model,
                                            const LoadedModel* second, const Resources& with) {
  if (plan == nullptr || !patches_from_own_tokens(plan->edits())) return plan;
  return model.transformer->plan(plan->edits(), with.workspace, with.stop,
                                 {second != nullptr ? second->transformer.get() : nullptr, tokens});
}

bool compares_texts(const PromptRun& run) {
  if (!run.baseline) return false;
  const Prompt &prompt = run.prompt, &baseline = run.baseline->prompt;
  return prompt.text != baseline.text || prompt.ids != baseline.ids ||
         run.tokens.has_start_token != run.baseline->tokens.has_start_token;
}

void check_head(const LoadedModel& model, int layer, int head) {
  check_part(model, "head", layer, head, model.config().n_head);
}

void check_neuron(const LoadedModel& model, int layer, int neuron) {
  check_part(model, "neuron", layer, neuron, model.config().n_inner);
}

void check_comparable(const LoadedModel& first, const LoadedModel& second) {
  for (const LoadedModel* one : {&first, &second}) require(*one, Capability::weights);
  const auto refuse = [&](const std::string& why) {
    throw model::RunError(first.name + " and " + second.name + " cannot be compared: " + why);
  };
  const std::string why = difference_of_shapes(first.transformer->config(), second.transformer->config());
  if (!why.empty()) refuse(why);
  const model::Tokenizer &first_tokenizer = *first.tokenizer, &second_tokenizer = *second.tokenizer;
  if (!first_tokenizer.problem().empty() || !second_tokenizer.problem().empty()) return;
  if (first_tokenizer.size() != second_tokenizer.size())
    refuse("their tokenizers have " + std::to_string(first_tokenizer.size()) + " and " +
           std::to_string(second_tokenizer.size()) + " tokens");
  for (int id = 0; id < first_tokenizer.size(); ++id)
    if (first_tokenizer.bytes(id) != second_tokenizer.bytes(id))
      refuse("token " + std::to_string(id) + " is " + model::quote(first_tokenizer.bytes(id)) +
             " in the first, " + model::quote(second_tokenizer.bytes(id)) + " in the second");
}

void compare_with(PromptRun& run, std::shared_ptr<const PromptRun> other, Alignment by) {
  if (run.model->patterns) {
    // By labels: ids of two files need not mean the same.
    run.aligned = aligned_tokens(run.tokens.labels, other->tokens.labels, by);
    if (!has_own_keys(run) || !has_own_keys(*other))
      run.aligned_keys = aligned_tokens(key_tokens(run).labels, key_tokens(*other).labels, by);
  } else {
    run.aligned = aligned_positions(run.tokens.ids(), other->tokens.ids(), by);
  }
  run.baseline = std::move(other);
}

void compare_with_unedited(PromptRun& run, std::shared_ptr<const model::Run> clean) {
  auto other = std::make_shared<PromptRun>(PromptRun{run.model, run.prompt, run.tokens, std::move(clean)});
  other->prompt.edits.clear();
  compare_with(run, std::move(other), Alignment::position);
}

std::shared_ptr<const LoadedModel> load_model(const std::filesystem::path& folder,
                                              const model::LoadOptions& options) {
  if (system::is_file(folder)) {
    if (is_gpt2(folder.parent_path()) && holds_weights(folder, options.stop) &&
        !PatternFile::is_one(folder, options.stop)) {
      auto whole = load_model(folder.parent_path(), options);
      if (whole->transformer->report().files.contains(system::text_of(folder.filename()))) return whole;
      throw model::LoadError(
          system::text_of(folder) + ": expected a file that the folder's weights are loaded from, found " +
          *whole->transformer->report().files.begin() + " in use; move that file away, or name the folder");
    }
    return load_patterns(folder, options);
  }
  auto loaded = std::make_shared<LoadedModel>();
  loaded->folder = folder;
  loaded->weights_stamp = weights_stamp(folder, options.stop);
  loaded->name = model_name(folder);
  auto tokenizer = std::async([&] { return tokenizer_in(folder, options.stop); });  // takes a while, too
  loaded->transformer = model::Transformer::load(folder, options);
  loaded->tokenizer = std::make_shared<const model::Tokenizer>(tokenizer.get());
  loaded->warnings = loaded->transformer->report().warnings;
  const std::vector<std::string>& more = loaded->tokenizer->warnings();
  loaded->warnings.insert(loaded->warnings.end(), more.begin(), more.end());
  const model::Config& config = loaded->transformer->config();
  loaded->readable_dimensions =
      readable_dimensions(loaded->transformer->position_embedding(), config.n_ctx, config.n_embd);
  return loaded;
}

std::string token_label(const model::Tokenizer& tokenizer, int id) {
  return viz::visible(tokenizer.text(id));
}

std::optional<int> start_token_of(const LoadedModel& model) {
  const auto start = model.tokenizer->start_token();
  return start ? start : model.transformer->config().bos_token_id;
}

bool has_start_token(const LoadedModel& model, std::optional<bool> given) {
  return given.value_or(model.tokenizer && model.tokenizer->adds_start_token());
}

PromptTokens tokenize(const LoadedModel& model, const Prompt& prompt) {
  require(model, Capability::weights);
  PromptTokens result;
  result.tokens = prompt.ids.empty() ? model.tokenizer->encode(prompt.text, !prompt.plain)
                                     : tokens_of_ids(model, prompt.ids);
  result.was_empty = result.tokens.empty();
  result.has_start_token = has_start_token(model, prompt.start_token);
  if (result.was_empty || result.has_start_token) {
    const auto start = start_token_of(model);
    if (!start)
      throw model::RunError("the model \"" + model.name +
                            "\" has no start token: its tokenizer has neither a bos_token nor <|endoftext|>, "
                            "and its config.json names no bos_token_id");
    result.tokens.insert(result.tokens.begin(), {*start, 0, 0});
  }
  const int vocabulary = model.transformer->config().vocab_size;
  for (const model::Token& token : result.tokens) {
    result.labels.push_back(token_label(*model.tokenizer, token.id));
    if (token.id < 0 || token.id >= vocabulary)
      throw model::RunError("the prompt has the token " + model::quote(model.tokenizer->text(token.id)) +
                            " with the id " + std::to_string(token.id) +
                            "; the model's vocabulary has ids 0 to " + std::to_string(vocabulary - 1));
  }
  result.run_length = std::min(result.length(), model.transformer->config().n_ctx);
  return result;
}

std::string beyond_context(const PromptTokens& tokens, const LoadedModel& model) {
  return "the prompt has " + grouped(tokens.length()) + " tokens, but " + model.name + " takes at most " +
         grouped(tokens.run_length) + " (n_ctx)";
}

std::string not_finite_note(const model::Run& run, int position, std::span<const float> logits) {
  const std::string note = "the run has non-finite values, first seen in ";
  if (const auto place = model::first_not_finite(run)) return note + name_of(*place);
  if (std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); })) return {};
  return note + name_of(model::NotFinite{{model::Site::logits}, position, std::nullopt});
}

}  // namespace headscope::app
