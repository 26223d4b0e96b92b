#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/file_io.h"
#include "model/kernels/precision.h"

namespace headscope::model {

/// A type of numbers in a file.
struct StoredType {
  std::string_view dtype;                ///< safetensors' name
  std::string_view storage;              ///< PyTorch's name of a storage of them
  std::size_t bytes = 4;                 ///< of one
  Precision precision = Precision::f32;  ///< of the kernels
  /// Makes floats of `count` numbers, which need not be aligned; null: they are numbers of that precision.
  void (*to_floats)(const std::byte* from, std::size_t count, float* to) = nullptr;
};

/// The type with that name; null for one that no weights are kept in (8-bit floats, complex numbers).
const StoredType* stored_type(std::string_view name,
                              std::string_view StoredType::*whose = &StoredType::dtype);

/// A tensor of a file and the location of its bytes: little-endian, not necessarily aligned.
struct TensorView {
  std::shared_ptr<const OpenFile> file;  ///< open as long as some tensor of it is kept
  std::string dtype;  ///< safetensors' name: "F32", "F16", "BF16", "F64", "I64", "U8", "BOOL" ...
  std::vector<std::int64_t> shape;  ///< [] for a scalar
  /// Elements from one index of each dimension to the next; empty: row-major, without gaps.
  std::vector<std::int64_t> strides = {};
  std::uint64_t offset = 0;  ///< byte offset of its first element in the file
  std::uint64_t bytes = 0;   ///< of its elements
  bool operator==(const TensorView&) const = default;

  /// All elements in row-major order. What lies between elements with gaps is read, too.
  std::vector<std::byte> read() const;
};

/// The number of elements; nothing if it overflows.
std::optional<std::uint64_t> count_of_elements(std::span<const std::int64_t> shape);

/// "[768, 2304]"; of many axes the first ones.
std::string shape_text(std::span<const std::int64_t> shape);

/// Elements from a view's first to its last, with both; nothing if it overflows.
std::optional<std::uint64_t> extent_of(const TensorView& view);

/// Whether a view's strides are those of row-major elements without gaps.
bool is_contiguous(const TensorView& view);

/// A file of named tensors. It is checked completely before any tensor is returned: every range lies inside
/// the file and fits the tensor's shape. A tensor of a dtype without a stored_type is kept without checking
/// its length; its user must reject it.
struct TensorFile {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

/// Opens a `pytorch_model.bin`: the ZIP archive that torch.save writes since PyTorch 1.6, with the pickle of
/// a state dict, or of a dictionary that has one as "model", "state_dict" or "model_state_dict". No Python
/// and no PyTorch take part, and nothing in the file is executed. Every tensor lies inside the bytes of its
/// storage (torch_file.cpp). Throws LoadError that names the file and, where it is one's fault, the tensor.
TensorFile open_torch_file(const std::filesystem::path& file);

}  // namespace headscope::model
