#include "model/files/checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"
#include "model/pass/transformer.h"

namespace headscope::model {
namespace {

using Entry = TensorSource::Entry;

constexpr std::string_view kHead = "lm_head.weight";
constexpr std::size_t kMostListed = 3;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostListed); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > kMostListed ? ", ..." : "");
}

std::string counted(std::size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// "h.3." of a name that begins so; else empty.
std::string_view layer_of(std::string_view name) {
  if (!name.starts_with("h.")) return "";
  const std::size_t end = name.find_first_not_of("0123456789", 2);
  return end != name.npos && end > 2 && name[end] == '.' ? name.substr(0, end + 1) : "";
}

/// Where the name that GPT-2 gives a tensor begins, behind what a program put before it; npos: nowhere.
std::size_t start_of_own_name(std::string_view name) {
  for (std::size_t at = 0;;) {
    const std::string_view rest = name.substr(at);
    if (rest == "wte.weight" || rest == "wpe.weight" || rest.starts_with("ln_f.") || !layer_of(rest).empty())
      return at;
    const std::size_t dot = name.find('.', at);
    if (dot == name.npos) return name.npos;
    at = dot + 1;
  }
}

/// Mask buffers of early versions of transformers, of any size and type.
bool is_buffer(std::string_view own_name) {
  const std::string_view rest = own_name.substr(layer_of(own_name).size());
  return rest.size() < own_name.size() && (rest == "attn.bias" || rest == "attn.masked_bias");
}

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

/// Whether two tensors hold the same numbers in the same type.
bool are_equal(const Entry& a, const Entry& b) {
  if (a.view->shape != b.view->shape || a.view->dtype != b.view->dtype) return false;
  if (a.source == b.source && a.view->offset == b.view->offset && a.view->strides == b.view->strides)
    return true;
  constexpr std::uint64_t kPiece = 1 << 20;
  std::vector<std::byte> of_a(kPiece), of_b(kPiece);
  for (std::uint64_t at = 0; at < a.view->bytes; at += kPiece) {
    const std::size_t size = std::min(kPiece, a.view->bytes - at);
    a.source->read(*a.view, at, std::span(of_a).first(size));
    b.source->read(*b.view, at, std::span(of_b).first(size));
    if (std::memcmp(of_a.data(), of_b.data(), size) != 0) return false;
  }
  return true;
}

class Matching {
 public:
  Matching(const Config& config, const TensorSource& source) : source_(source) {
    result_.config = config;
    result_.warnings = source.warnings();
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
  [[noreturn]] void fail(const std::string& what) const {
    throw LoadError(source_.main_file() + ": " + what);
  }

  /// What stands before the names of all of the model's tensors.
  void find_prefix() {
    std::map<std::string, std::size_t> counts;
    for (const auto& [name, entry] : source_.entries()) {
      if (name.starts_with("base_model.model."))
        fail("expected the weights of a GPT-2, found " + quote(name) +
             ": an adapter (of PEFT), or a model around one; merge it first, in Python: "
             "model.merge_and_unload().save_pretrained(new_folder)");
      if (const std::size_t own = start_of_own_name(name); own != name.npos) ++counts[name.substr(0, own)];
    }
    std::vector<std::string> whole;  // prefixes that a whole model stands behind
    for (const auto& [prefix, count] : counts) {
      if (source_.find(prefix + "wpe.weight")) whole.push_back(prefix);
    }
    if (whole.size() > 1) {
      for (std::string& prefix : whole) prefix = quote(prefix);
      fail("expected one model, found several: names that begin with " + listed(whole));
    }
    if (whole.empty()) {
      const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
      whole.push_back(most == counts.end() ? "" : most->first);
    }
    prefix_ = whole.front();
    if (!prefix_.empty())
      result_.notes.push_back("the tensors' names begin with " + quote(prefix_) + ", which was taken off");
  }

  const Entry* take(const std::string& parameter, const std::string& name) {
    const Entry* entry = source_.find(name);
    if (entry == nullptr) return nullptr;
    used_.insert(name);
    result_.tensors[parameter] = entry;
    return entry;
  }

  /// The head may stand behind a part of the prefix: "module.lm_head.weight" beside
  /// "module.transformer.wte.weight".
  std::string name_of_head() const {
    for (std::string before = prefix_;;) {
      if (source_.find(before + std::string(kHead))) return before + std::string(kHead);
      if (before.empty()) return "";
      before.pop_back();
      before.erase(before.rfind('.') + 1);
    }
  }

  /// With tied embeddings a file may hold only one of the two matrices; some writers keep the head's.
  void match_embeddings() {
    const Entry* wte = take("wte.weight", prefix_ + "wte.weight");
    const std::string head_name = name_of_head();
    const Entry* head = head_name.empty() ? nullptr : source_.find(head_name);
    bool& tied = result_.config.tie_word_embeddings;
    if (tied && head && !wte) {
      wte = take("wte.weight", head_name);
    } else if (head) {
      used_.insert(head_name);
      const bool same = wte && are_equal(*wte, *head);
      if (tied && !same) {
        tied = false;
        result_.warnings.push_back(head->file + ": " + quote(head_name) +
                                   " differs from wte.weight, so it is used, though config.json ties them");
      }
      if (!tied) take(std::string(kHead), head_name);
    } else if (!tied) {
      fail(
          "expected lm_head.weight, since tie_word_embeddings is false in config.json, found no such tensor; "
          "write true there if the model ties it to wte.weight, as GPT-2 does");
    }
    count_rows(wte, "vocab_size", result_.config.vocab_size, "wte.weight");
    const Entry* wpe = take("wpe.weight", prefix_ + "wpe.weight");
    count_rows(wpe, "n_positions", result_.config.n_ctx, "wpe.weight");
  }

  /// The rows of an embedding decide, whatever the configuration says.
  void count_rows(const Entry* embedding, const char* key, int& size, const char* name) {
    constexpr std::int64_t kMost = 1 << 24;
    if (embedding == nullptr || embedding->view->shape.size() != 2) return;
    const std::int64_t rows = embedding->view->shape[0];
    if (rows == size || rows < 1 || rows > kMost) return;
    result_.warnings.push_back(embedding->file + ": " + name + " has " + std::to_string(rows) +
                               " rows, which count, though config.json says " + key + " " +
                               std::to_string(size));
    size = static_cast<int>(rows);
  }

  /// Layers up to the first of which there is nothing: a config.json that claims millions takes no memory.
  Config layers_to_visit() const {
    Config config = result_.config;
    std::set<std::string, std::less<>> there;
    for (const auto& [name, entry] : source_.entries())
      if (name.starts_with(prefix_)) there.emplace(layer_of(std::string_view(name).substr(prefix_.size())));
    int layer = 0;
    while (layer < config.n_layer && there.contains("h." + std::to_string(layer) + ".")) ++layer;
    config.n_layer = std::min(layer + 1, config.n_layer);
    return config;
  }

  void match_rest() {
    std::vector<std::string> missing, zeros;
    for (const Parameter& parameter : parameters_of(layers_to_visit())) {
      const std::string& name = parameter.name;
      if (result_.tensors.contains(name) || take(name, prefix_ + name)) continue;
      (name.ends_with(".bias") ? zeros : missing).push_back(name);
    }
    if (!missing.empty()) fail_without(missing);
    if (!zeros.empty())
      result_.notes.push_back("biases that are not in the file count as zeros: " + listed(zeros));
  }

  [[noreturn]] void fail_without(const std::vector<std::string>& missing) const {
    std::vector<std::string> unknown;
    for (const std::string& name : unused()) {
      const auto nearest = std::ranges::min_element(missing, {}, [&](const std::string& expected) {
        return distance(std::string_view(name).substr(0, 128), expected);
      });
      unknown.push_back(quote(name) + " (" + *nearest + "?)");
      if (unknown.size() > kMostListed) break;
    }
    fail("expected the tensors of a GPT-2 with " +
         counted(static_cast<std::size_t>(result_.config.n_layer), "layer") + ", found no " +
         listed(missing) + (unknown.empty() ? "" : "; there are tensors of other names: " + listed(unknown)));
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

  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : source_.entries()) {
      const std::string_view own =
          std::string_view(name).substr(name.starts_with(prefix_) ? prefix_.size() : 0);
      if (!used_.contains(name) && !is_buffer(own)) names.push_back(name);
    }
    return names;
  }

  void warn_of_unused() {
    const std::vector<std::string> names = unused();
    if (names.empty()) return;
    const auto is_beyond = [&](const std::string& name) {
      if (!name.starts_with(prefix_)) return false;
      const std::string layer =
          prefix_ + std::string(layer_of(std::string_view(name).substr(prefix_.size())));
      const auto used = used_.lower_bound(layer);
      return layer != prefix_ && (used == used_.end() || !used->starts_with(layer));
    };
    const bool adapter =
        std::ranges::any_of(names, [](const std::string& name) { return name.find(".lora_") != name.npos; });
    const bool layers = !adapter && std::ranges::any_of(names, is_beyond);
    std::vector<std::string> shown;
    for (const std::string& name : names) {
      shown.push_back(quote(name));
      if (shown.size() > kMostListed) break;
    }
    result_.warnings.push_back(
        source_.main_file() + ": " + counted(names.size(), "tensor") + (names.size() == 1 ? " is" : " are") +
        " not used: " + listed(shown) +
        (layers ? " (config.json says " + counted(static_cast<std::size_t>(result_.config.n_layer), "layer") +
                      ")"
         : adapter ? " (an adapter beside the weights that it changes; merge it first)"
                   : ""));
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
