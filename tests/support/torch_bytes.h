#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/safetensors_bytes.h"

namespace headscope::testing {

/// A ZIP archive of stored entries, as torch.save writes one; nothing is checked.
std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& entries, bool zip64 = false);

/// The bytes of a matrix transposed.
std::string transposed(const RawTensor& matrix);

/// How tensors are written into a state dict.
struct TorchLayout {
  bool transposed_views = false;  ///< matrices are stored transposed, and views turn them back
  bool one_storage = false;       ///< all tensors of a type are parts of one storage
  bool parameters = false;        ///< wrapped as torch.nn.Parameter
  std::string_view inside = "";   ///< the key that the state dict is the value of; empty: it is the root
};

/// The opcodes of a state dict's pickle, in protocol 2.
std::string state_dict_pickle(const std::vector<RawTensor>& tensors, const TorchLayout& layout = {});

/// A pytorch_model.bin.
std::string torch_bytes(const std::vector<RawTensor>& tensors, const TorchLayout& layout = {});

}  // namespace headscope::testing
