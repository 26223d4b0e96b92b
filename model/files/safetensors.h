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
  std::string name;
  std::vector<std::int64_t> shape;
  const char* dtype = "F32";  ///< or "I64"
};

/// Writes tensors of known shapes, in any order and in pieces, to a file next to the target, and renames it
/// when finished, so that no reader ever sees an incomplete file. Without finish() nothing remains. Parts
/// that were not written are 0.
class SafetensorsWriter {
 public:
  /// Tensors have different names. `room`: bytes of the header kept for the metadata that finish() adds.
  /// Throws std::runtime_error (one sentence) if the file cannot be created or the disk is full.
  SafetensorsWriter(const std::filesystem::path& file, std::vector<TensorSpec> tensors,
                    std::map<std::string, std::string> metadata, std::size_t room = 0);

  /// Writes `values` at element `offset` of tensor `name`, which must have been declared with their type and
  /// be large enough. Throws std::runtime_error if the disk is full.
  void write(const std::string& name, std::int64_t offset, std::span<const float> values) {
    write_bytes(name, offset * sizeof(float), std::as_bytes(values));
  }
  void write(const std::string& name, std::int64_t offset, std::span<const std::int64_t> values) {
    write_bytes(name, offset * sizeof(std::int64_t), std::as_bytes(values));
  }
  /// Completes the file, with further metadata. Throws std::runtime_error if they need more than their room.
  void finish(std::map<std::string, std::string> metadata = {});

 private:
  struct Place {
    std::uint64_t begin, end;  // of a tensor's bytes in the data
  };
  std::string header() const;
  std::uint64_t data_begin() const { return sizeof header_size_ + header_size_; }
  void write_bytes(const std::string& name, std::uint64_t offset, std::span<const std::byte> bytes);

  std::vector<TensorSpec> tensors_;  // wide types first
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Place> places_;
  std::uint64_t header_size_ = 0;
  std::optional<system::AtomicFile> file_;
};

}  // namespace headscope::model
