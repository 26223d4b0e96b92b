#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/safetensors_bytes.h"

namespace headscope::testing {

/// The weight of a query's attention to a key in a head of a layer.
using WeightOf = std::function<float(int layer, int head, int query, int key)>;

struct PatternShape {
  int layers = 2, heads = 3, queries = 5, keys = 5;
};

/// A multiple of 1/256 in [0, 1], exact in every precision.
inline float some_weight(int layer, int head, int query, int key) {
  return static_cast<float>((37 * layer + 11 * head + 5 * query + 3 * key) % 64) / 256;
}

/// Rows that sum to 1: half on one key, the rest divided equally; exact if the number of keys is a power of
/// two.
inline WeightOf even_rows(int keys) {
  return [keys](int layer, int head, int query, int key) {
    const int chosen = (layer + 2 * head + query) % keys;
    return (key == chosen ? 0.5F : 0) + 0.5F / static_cast<float>(keys);
  };
}

/// 1/n on each of the n keys up to the query.
inline float causal_weight(int, int, int query, int key) {
  return key <= query ? 1.F / static_cast<float>(query + 1) : 0;
}

/// Tensors with TransformerLens' names; `batch`: with a leading axis of size one.
inline std::vector<RawTensor> pattern_tensors(const PatternShape& shape, const WeightOf& weight,
                                              const std::string& dtype = "F32", bool batch = false) {
  std::vector<RawTensor> tensors;
  for (int layer = 0; layer < shape.layers; ++layer) {
    RawTensor tensor{"blocks." + std::to_string(layer) + ".attn.hook_pattern", dtype, {}, {}};
    if (batch) tensor.shape.push_back(1);
    for (const int extent : {shape.heads, shape.queries, shape.keys}) tensor.shape.push_back(extent);
    for (int head = 0; head < shape.heads; ++head)
      for (int query = 0; query < shape.queries; ++query)
        for (int key = 0; key < shape.keys; ++key)
          tensor.bytes += bytes_of(weight(layer, head, query, key), dtype);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

inline RawTensor id_tensor(const std::string& name, const std::vector<std::int64_t>& ids) {
  RawTensor tensor{name, "I64", {static_cast<std::int64_t>(ids.size())}, std::string(ids.size() * 8, '\0')};
  std::memcpy(tensor.bytes.data(), ids.data(), tensor.bytes.size());
  return tensor;
}

/// `["a","b"]` escaped for a string in JSON; the texts must consist of letters.
inline std::string text_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts)
    list += std::string(list.size() > 1 ? "," : "") + R"(\")" + text + R"(\")";
  return list + "]";
}

}  // namespace headscope::testing
