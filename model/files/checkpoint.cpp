#include "model/files/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"
#include "model/pass/transformer.h"

namespace headscope::model {
namespace {

using Entry = TensorSource::Entry;

constexpr const char* kMegatron =
    "a checkpoint of Megatron-LM; convert it first to the layout of Hugging Face, with "
    "convert_megatron_gpt2_checkpoint.py of transformers";

std::string counted(std::int64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// The layer of "h.3.ln_1.bias" and the name in it, "ln_1.bias"; for other names -1 and nothing.
std::pair<int, std::string_view> in_layer(std::string_view name) {
  int layer = -1;
  if (!name.starts_with("h.")) return {-1, ""};
  const char* const end = name.data() + name.size();
  const char* const dot = std::from_chars(name.data() + 2, end, layer).ptr;
  if (layer < 0 || dot == end || *dot != '.') return {-1, ""};
  return {layer, std::string_view(dot + 1, end)};
}

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

class Matching {
 public:
  Matching(const Config& config, const TensorSource& source) : source_(source) {
    result_.config = config;
    result_.warnings = source.warnings;
  }

  Checkpoint match() && {
    find_prefix();
    match_embeddings();
    match_rest();
    find_layout();
    warn_of_unused();
    return std::move(result_);
  }

 private:
  /// What stands before the names of all of the model's tensors.
  void find_prefix() {
    for (const auto& [name, entry] : source_.entries) {
      const bool of_adapter = name.starts_with("base_model.model.");
      if (of_adapter || name.ends_with("embedding.word_embeddings.weight"))
        reject(source_.main_file, "the weights of a GPT-2",
               quote(name) + ": " + (of_adapter ? kAdapter : kMegatron));
    }
    std::vector<std::string> prefixes;
    for (const std::string_view own : {"wpe.weight", "ln_f.weight", "h.0.ln_1.weight"}) {
      for (const auto& [name, entry] : source_.entries)
        if (name == own || name.ends_with("." + std::string(own)))
          prefixes.push_back(name.substr(0, name.size() - own.size()));
      if (!prefixes.empty()) break;
    }
    if (prefixes.empty()) return;
    prefix_ = prefixes.front();
    if (prefixes.size() > 1)
      reject(source_.main_file, "one model", "several: names that begin with " + quoted_list(prefixes));
    if (!prefix_.empty())
      result_.notes.push_back("the tensors' names begin with " + quote(prefix_) + ", which was taken off");
  }

  /// A tensor's name in a GPT-2.
  std::string_view own_name(std::string_view name) const {
    return name.substr(name.starts_with(prefix_) ? prefix_.size() : 0);
  }

  const Entry* take(const std::string& parameter, const std::string& name) {
    const auto found = source_.entries.find(name);
    if (found == source_.entries.end()) return nullptr;
    used_.insert(name);
    return result_.tensors[parameter] = &found->second;
  }

  /// The head may stand behind a part of the prefix: "module.lm_head.weight" beside
  /// "module.transformer.wte.weight".
  const Entry* take_head() {
    for (std::string before = prefix_;;) {
      if (const Entry* head = take("lm_head.weight", before + "lm_head.weight")) return head;
      if (before.empty()) return nullptr;
      before.pop_back();
      before.erase(before.rfind('.') + 1);
    }
  }

  /// With tied embeddings a file may hold only one of the two matrices; some writers keep the head's.
  void match_embeddings() {
    Config& config = result_.config;
    const bool tied = config.tie_word_embeddings;
    const Entry* wte = take("wte.weight", prefix_ + "wte.weight");
    const Entry* head = take_head();
    if (head == nullptr && !tied)
      reject(source_.main_file, "lm_head.weight, since tie_word_embeddings is false in config.json",
             "no such tensor; write true there if the model ties it to wte.weight, as GPT-2 does");
    if (head != nullptr && wte == nullptr && tied)
      result_.tensors["wte.weight"] = wte = std::exchange(head, nullptr);
    const bool have_one_place =
        head != nullptr && wte != nullptr && wte->source == head->source && *wte->view == *head->view;
    config.tie_word_embeddings = tied && (head == nullptr || have_one_place);
    result_.may_be_tied = tied && !config.tie_word_embeddings;
    count_rows(wte, "vocab_size", config.vocab_size, "wte.weight");
    count_rows(take("wpe.weight", prefix_ + "wpe.weight"), "n_positions", config.n_ctx, "wpe.weight");
  }

  /// The rows of an embedding decide, whatever the configuration says.
  void count_rows(const Entry* embedding, const char* key, int& size, const char* name) {
    constexpr std::int64_t kMost = 1 << 24;
    if (embedding == nullptr || embedding->view->shape.size() != 2) return;
    const std::int64_t rows = embedding->view->shape[0];
    if (rows == size || rows < 1 || rows > kMost) return;
    result_.warnings.push_back(embedding->file() + ": " + name + " has " + std::to_string(rows) +
                               " rows, which count, though config.json says " + key + " " +
                               std::to_string(size));
    size = static_cast<int>(rows);
  }

  void match_rest() {
    // Layers up to the first of which there is nothing: a config.json that claims millions takes no memory.
    std::set<int> there;
    for (const auto& [name, entry] : source_.entries) there.insert(in_layer(own_name(name)).first);
    Config config = result_.config;
    config.n_layer = 0;
    while (config.n_layer < result_.config.n_layer && there.contains(config.n_layer)) ++config.n_layer;
    config.n_layer = std::min(config.n_layer + 1, result_.config.n_layer);

    std::vector<std::string> missing, zeros;
    for (const Parameter& parameter : parameters_of(config)) {
      const std::string& name = parameter.name;
      if (result_.tensors.contains(name) || take(name, prefix_ + name)) continue;
      (name.ends_with(".bias") ? zeros : missing).push_back(name);
    }
    if (!missing.empty()) fail_without(missing);
    if (!zeros.empty())
      result_.notes.push_back("biases that are not in the file count as zeros: " + quoted_list(zeros));
  }

  [[noreturn]] void fail_without(const std::vector<std::string>& missing) const {
    constexpr std::size_t kMost = 3, kLongest = 128;
    std::string others;
    const std::vector<std::string> unknown = unused();
    for (std::size_t i = 0; i < std::min(unknown.size(), kMost); ++i) {
      const auto from_unknown = [&](const std::string& expected) {
        return distance(std::string_view(unknown[i]).substr(0, kLongest), expected);
      };
      const std::string& nearest = *std::ranges::min_element(missing, {}, from_unknown);
      others += (i > 0 ? ", " : "; there are tensors of other names: ") + quote(unknown[i]);
      if (3 * from_unknown(nearest) <= nearest.size()) others += " (" + nearest + "?)";
    }
    reject(source_.main_file, "the tensors of a GPT-2 with " + counted(result_.config.n_layer, "layer"),
           "no " + quoted_list(missing) + others + (unknown.size() > kMost ? ", ..." : ""));
  }

  /// A square matrix follows the others: those of attention's queries, keys and values are never square.
  void find_layout() {
    for (const auto& [name, entry] : result_.tensors) {
      const std::int64_t d = result_.config.n_embd;
      if (!name.ends_with("attn.c_attn.weight") || entry->view->shape != std::vector{3 * d, d}) continue;
      result_.linear_layout = true;
      result_.notes.push_back("the matrices of the blocks are stored as [out, in] and were transposed");
      return;
    }
  }

  /// All but the mask buffers of early versions of transformers, of any size and type.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : source_.entries) {
      const std::string_view in = in_layer(own_name(name)).second;
      if (!used_.contains(name) && in != "attn.bias" && in != "attn.masked_bias") names.push_back(name);
    }
    return names;
  }

  void warn_of_unused() {
    const std::vector<std::string> names = unused();
    if (names.empty()) return;
    std::string why;
    for (const std::string& name : names)
      if (in_layer(own_name(name)).first >= result_.config.n_layer)
        why = " (config.json says " + counted(result_.config.n_layer, "layer") + ")";
    for (const std::string& name : names)
      if (name.find(".lora_") != name.npos) why = std::string(" (") + kAdapter + ")";
    result_.warnings.push_back(source_.main_file + ": " + counted(std::ssize(names), "tensor") +
                               (names.size() == 1 ? " is" : " are") + " not used: " + quoted_list(names) +
                               why);
  }

  const TensorSource& source_;
  Checkpoint result_;
  std::string prefix_;
  std::set<std::string> used_;
};

}  // namespace

Checkpoint match_tensors(const Config& config, const TensorSource& source) {
  return Matching(config, source).match();
}

}  // namespace headscope::model
