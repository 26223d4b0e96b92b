#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/activations.h"

namespace headscope::model {

/// The part of a GPT-2 `config.json` that the computation depends on, under the names of the file, and the
/// tokens that begin and end a text.
struct Config {
  int n_layer = 0;
  int n_head = 0;
  int n_embd = 0;      ///< d_model
  int n_ctx = 0;       ///< most positions of a run (`n_positions`, or `n_ctx` in older files)
  int vocab_size = 0;  ///< rows of `wte.weight`
  int n_inner = 0;     ///< width of the MLP; 4 * n_embd where the file has null or no value
  float layer_norm_epsilon = 1e-5F;
  Activation activation = Activation::gelu_new;
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;
  bool tie_word_embeddings = true;
  std::optional<int> bos_token_id;
  std::optional<int> eos_token_id;

  int d_head() const { return n_embd / n_head; }

  /// The factor of the scores q.k of `layer`: 1/sqrt(d_head) if `scale_attn_weights`, times 1/(layer+1) if
  /// `scale_attn_by_inverse_layer_idx`.
  float attention_scale(int layer) const;
};

/// Limit of a `config.json`: the published ones have about 1000 bytes, and those that name classes some more.
inline constexpr std::uint64_t kMaxConfigBytes = 1 << 20;

/// The JSON of a `config.json`, in which NaN and Infinity, as Python writes them, are strings. Throws
/// LoadError.
nlohmann::json parse_config_json(std::string_view text, const std::string& file);

/// Parses `config.json`, with NaN and Infinity as Python writes them, and the names that other configurations
/// have for a size (`hidden_size` for `n_embd`; GPT-2's own counts first). `file` is only named in messages.
/// Unknown and null keys are ignored; `warnings` receives sentences about keys that look as if they counted.
/// Throws LoadError for text that is not JSON, another `model_type`, missing, fractional, negative or absurd
/// sizes (n_embd not a multiple of n_head, sizes above 2^24), an unknown `activation_function`, and any
/// setting that alters the computation in a way this program does not support (e.g. `add_cross_attention`):
/// the key is named.
Config parse_config(std::string_view json, const std::string& file,
                    std::vector<std::string>* warnings = nullptr);

/// Why activations of one model cannot be used in another: "the first has 6 layers, the second 12". Empty:
/// they can.
std::string difference_of_shapes(const Config& first, const Config& second);

}  // namespace headscope::model
