#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/files/safetensors.h"
#include "system/atomic_file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

constexpr std::size_t kAlignment =
    8;  // alignment of the data in the file, as in the format's reference implementation

std::uint64_t element_bytes(TensorSpec::Type type) {
  return type == TensorSpec::Type::i64 ? 8 : 4;
}

/// The location of a tensor in the file.
struct WrittenTensor {
  TensorSpec::Type type;
  std::uint64_t begin;  // offset in the data, later in the file
  std::uint64_t elements;
};

std::uint64_t element_count(const std::filesystem::path& file, const TensorSpec& tensor) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) ||
        count > std::numeric_limits<std::int64_t>::max() / kAlignment) {
      throw std::runtime_error("cannot write " + system::text_of(file) + ": tensor " + tensor.name +
                               " is too large for any file");
    }
  }
  return count;
}

}  // namespace

struct SafetensorsWriter::State {
  system::AtomicFile file;
  std::map<std::string, WrittenTensor> places;

  template <typename Value>
  void write(TensorSpec::Type type, const std::string& name, std::int64_t offset,
             std::span<const Value> values) {
    const auto found = places.find(name);
    if (found == places.end()) throw std::logic_error("no tensor of the name " + name + " was announced");
    const WrittenTensor& place = found->second;
    if (place.type != type) throw std::logic_error("tensor " + name + " was announced with another type");
    const auto first = static_cast<std::uint64_t>(offset);
    if (offset < 0 || first > place.elements || values.size() > place.elements - first) {
      throw std::logic_error("tensor " + name + " is smaller than what is written to it");
    }
    file.write_at(place.begin + first * sizeof(Value), std::as_bytes(values));
  }
};

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& file,
                                     const std::vector<TensorSpec>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  std::vector<TensorSpec> ordered = tensors;  // wide types first, so that every tensor is aligned
  std::stable_sort(ordered.begin(), ordered.end(), [](const TensorSpec& a, const TensorSpec& b) {
    return element_bytes(a.type) > element_bytes(b.type);
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::map<std::string, WrittenTensor> places;
  std::uint64_t end = 0;
  for (const TensorSpec& tensor : ordered) {
    const WrittenTensor place{tensor.type, end, element_count(file, tensor)};
    if (__builtin_add_overflow(end, place.elements * element_bytes(tensor.type), &end)) {
      throw std::runtime_error("cannot write " + system::text_of(file) +
                               ": its tensors are too large for any file");
    }
    if (tensor.name == "__metadata__" || !places.emplace(tensor.name, place).second) {
      throw std::logic_error("tensor " + tensor.name + " is announced twice, or has the metadata's name");
    }
    header[tensor.name] = {{"dtype", tensor.type == TensorSpec::Type::i64 ? "I64" : "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {place.begin, end}}};
  }

  // Metadata may quote a prompt, which need not be UTF-8; JSON must be.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  char length_bytes[sizeof length];
  std::memcpy(length_bytes, &length, sizeof length);
  text.insert(0, length_bytes, sizeof length);
  for (auto& [name, place] : places) place.begin += text.size();

  state_.reset(new State{system::AtomicFile(file), std::move(places)});
  state_->file.resize(text.size() + end);
  state_->file.write_at(0, std::as_bytes(std::span(text)));
}

SafetensorsWriter::~SafetensorsWriter() = default;

void SafetensorsWriter::write(const std::string& name, std::int64_t offset, std::span<const float> values) {
  state_->write(TensorSpec::Type::f32, name, offset, values);
}

void SafetensorsWriter::write(const std::string& name, std::int64_t offset,
                              std::span<const std::int64_t> values) {
  state_->write(TensorSpec::Type::i64, name, offset, values);
}

void SafetensorsWriter::finish() {
  state_->file.commit();
}

}  // namespace headscope::model
