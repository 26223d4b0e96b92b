#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/files/safetensors.h"
#include "system/path_text.h"

namespace headscope::model {

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& file,
                                     const std::vector<TensorSpec>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  constexpr std::size_t kAlignment = 8;  // of the data, as in the format's reference implementation
  const auto element_bytes = [](const TensorSpec& tensor) { return stored_type(tensor.dtype)->bytes; };
  std::vector<TensorSpec> ordered = tensors;  // wide types first, so that every tensor is aligned
  std::ranges::stable_sort(ordered, std::ranges::greater(), element_bytes);

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const TensorSpec& tensor : ordered) {
    const std::uint64_t begin = end;
    const auto count = count_of_elements(tensor.shape);
    if (!count || *count > std::numeric_limits<std::int64_t>::max() / kAlignment ||
        __builtin_add_overflow(end, *count * element_bytes(tensor), &end))
      throw std::runtime_error("cannot write " + system::text_of(file) + ": up to tensor " + tensor.name +
                               " its data are too large for any file");
    places_[tensor.name] = {begin, end};
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }

  // Metadata may quote a prompt, which need not be UTF-8; JSON must be.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  char length_bytes[sizeof length];
  std::memcpy(length_bytes, &length, sizeof length);
  text.insert(0, length_bytes, sizeof length);
  for (auto& [name, place] : places_) place = {place.begin + text.size(), place.end + text.size()};

  file_.emplace(file);
  file_->resize(text.size() + end);
  file_->write_at(0, std::as_bytes(std::span(text)));
}

void SafetensorsWriter::write_bytes(const std::string& name, std::uint64_t offset,
                                    std::span<const std::byte> bytes) {
  const Place& place = places_.at(name);
  assert(offset + bytes.size() <= place.end - place.begin);
  file_->write_at(place.begin + offset, bytes);
}

}  // namespace headscope::model
