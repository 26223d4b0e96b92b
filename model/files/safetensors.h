#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/files/open_file.h"

namespace headscope::model {

/// A tensor of a safetensors file and the location of its bytes: little-endian, row-major, not necessarily
/// aligned.
struct TensorView {
  std::string dtype;                ///< as in the file: "F32", "F16", "BF16", "I64", "U8", "BOOL" ...
  std::vector<std::int64_t> shape;  ///< [] for a scalar
  std::uint64_t offset = 0;         ///< byte offset of the data in the file
  std::uint64_t bytes = 0;
};

/// A safetensors file. It is checked completely before any tensor is returned: the header's length, JSON
/// depth and structure, the overflow of every size, and that every range lies inside the file, has the right
/// length, and that together they fill the data without overlaps or gaps. A tensor of an unknown dtype is
/// kept without checking its length; its user must reject it.
class SafetensorsFile {
 public:
  /// Throws LoadError that names the file, the tensor, and what was expected and found.
  static SafetensorsFile open(const std::filesystem::path& file);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Fills `out` with a tensor's bytes from byte `first` on. Throws LoadError if they cannot be read.
  void read(const TensorView& tensor, std::uint64_t first, std::span<std::byte> out) const {
    file_->read(tensor.offset + first, out);
  }
  std::vector<std::byte> read(const TensorView& tensor) const;

  /// The file itself, open as long as it has an owner.
  const std::shared_ptr<const OpenFile>& file() const { return file_; }

 private:
  std::shared_ptr<const OpenFile> file_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

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
