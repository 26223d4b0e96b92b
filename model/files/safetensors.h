#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/files/tensor_file.h"

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
  /// Throws std::runtime_error (one sentence) if the file cannot be created or the disk is full.
  SafetensorsWriter(const std::filesystem::path& file, const std::vector<TensorSpec>& tensors,
                    const std::map<std::string, std::string>& metadata);
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;
  ~SafetensorsWriter();

  /// Writes `values` at element `offset` of tensor `name`, which must have been declared with their type and
  /// be large enough (std::logic_error otherwise). Throws std::runtime_error if the disk is full.
  void write(const std::string& name, std::int64_t offset, std::span<const float> values);
  void write(const std::string& name, std::int64_t offset, std::span<const std::int64_t> values);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::model
