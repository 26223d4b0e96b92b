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

/// One tensor of a safetensors file, and where its bytes are: little-endian, row-major, anywhere in the file.
struct TensorView {
  std::string dtype;                ///< as in the file: "F32", "F16", "BF16", "I64", "U8", "BOOL" ...
  std::vector<std::int64_t> shape;  ///< [] for a scalar
  std::uint64_t offset = 0;         ///< of the data in the file, in bytes
  std::uint64_t bytes = 0;
};

/// A safetensors file, checked whole before any tensor is handed out: header length, JSON depth and form,
/// every product of sizes against overflow, every range inside the file, of the right length, and all of them
/// together filling the data without overlap or hole. A tensor of an unknown dtype is kept, its length
/// unchecked; it is for who uses it to refuse it.
class SafetensorsFile {
 public:
  /// Throws LoadError that names the file, the tensor, and what was expected and found.
  static SafetensorsFile open(const std::filesystem::path& file);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Fills `out` with a tensor's bytes from the one of that number on. Throws LoadError when they cannot be
  /// read, or are no longer there.
  void read(const TensorView& tensor, std::uint64_t first, std::span<std::byte> out) const {
    file_->read(tensor.offset + first, out);
  }
  std::vector<std::byte> read(const TensorView& tensor) const;

  /// The file itself, open as long as anybody has it.
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

/// Writes tensors of known shapes in any order and in pieces, beside the goal, and renames when finished, so
/// that no reader ever sees half a file. Without finish() nothing is left behind. What was never written is
/// 0.
class SafetensorsWriter {
 public:
  /// Throws std::runtime_error (one sentence) when the file cannot be made or the disk is full.
  SafetensorsWriter(const std::filesystem::path& file, const std::vector<TensorSpec>& tensors,
                    const std::map<std::string, std::string>& metadata);
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;
  ~SafetensorsWriter();

  /// Writes `values` at element `offset` of tensor `name`, which must have been announced with their type and
  /// have room for them (std::logic_error otherwise). Throws std::runtime_error when the disk is full.
  void write(const std::string& name, std::int64_t offset, std::span<const float> values);
  void write(const std::string& name, std::int64_t offset, std::span<const std::int64_t> values);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::model
