#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/files/tensor_file.h"
#include "system/atomic_file.h"

namespace headscope::model {

/// Opens a safetensors file: beside what every TensorFile promises, the header's length, JSON depth and
/// structure are checked, and that the tensors together fill the data without overlaps or gaps. Throws
/// LoadError that names the file, the tensor, and what was expected and found; or Stopped.
TensorFile open_safetensors(const std::filesystem::path& file, const std::stop_token& stop = {});

/// A tensor to be written, row-major.
struct TensorSpec {
  enum class Type { f32, i64 };
  std::string name;
  std::vector<std::int64_t> shape;
  Type type = Type::f32;
};

/// Writes tensors of known shapes, in any order and in pieces, to a file next to the target, and renames it
/// when finished, so that no reader ever sees an incomplete file. Without finish() nothing remains. Parts
/// that were not written are 0.
class SafetensorsWriter {
 public:
  /// Tensors have different names. Throws std::runtime_error (one sentence) if the file cannot be created or
  /// the disk is full.
  SafetensorsWriter(const std::filesystem::path& file, const std::vector<TensorSpec>& tensors,
                    const std::map<std::string, std::string>& metadata);

  /// Writes `values` at element `offset` of tensor `name`, which must have been declared with their type and
  /// be large enough. Throws std::runtime_error if the disk is full.
  void write(const std::string& name, std::int64_t offset, std::span<const float> values) {
    write(TensorSpec::Type::f32, name, offset, std::as_bytes(values));
  }
  void write(const std::string& name, std::int64_t offset, std::span<const std::int64_t> values) {
    write(TensorSpec::Type::i64, name, offset, std::as_bytes(values));
  }
  void finish() { file_->commit(); }

 private:
  /// The location of a tensor in the file.
  struct Place {
    TensorSpec::Type type;
    std::uint64_t begin;  // offset in the data, later in the file
    std::uint64_t elements;
  };
  void write(TensorSpec::Type type, const std::string& name, std::int64_t offset,
             std::span<const std::byte> values);

  std::map<std::string, Place> places_;
  std::optional<system::AtomicFile> file_;
};

}  // namespace headscope::model
