#include <algorithm>
#include <cassert>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/files/safetensors.h"
#include "system/path_text.h"

namespace headscope::model {

namespace {

constexpr std::size_t kAlignment = 8;  // of the data, as in the format's reference implementation

std::size_t bytes_per_element(const TensorSpec& tensor) {
  return stored_type(tensor.dtype).value().bytes;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& file, std::vector<TensorSpec> tensors,
                                     std::map<std::string, std::string> metadata, std::size_t room)
    : tensors_(std::move(tensors)), metadata_(std::move(metadata)) {
  std::ranges::stable_sort(tensors_, std::ranges::greater(),
                           bytes_per_element);  // so that every one is aligned
  std::uint64_t end = 0;
  for (const TensorSpec& tensor : tensors_) {
    const std::uint64_t begin = end;
    const auto count = count_of_elements(tensor.shape);
    if (!count || *count > std::numeric_limits<std::int64_t>::max() / kAlignment ||
        __builtin_add_overflow(end, *count * bytes_per_element(tensor), &end))
      throw std::runtime_error("cannot write " + system::text_of(file) + ": up to tensor " + tensor.name +
                               " its data are too large for any file");
    places_[tensor.name] = {begin, end};
  }
  header_size_ = (header().size() + room + kAlignment - 1) / kAlignment * kAlignment;
  file_.emplace(file);
  file_->resize(data_begin() + end);
}

std::string SafetensorsWriter::header() const {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata_.empty()) header["__metadata__"] = metadata_;
  for (const TensorSpec& tensor : tensors_) {
    const Place& place = places_.at(tensor.name);
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {place.begin, place.end}}};
  }
  // Metadata may quote a prompt, which need not be UTF-8; JSON must be.
  return header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void SafetensorsWriter::finish(std::map<std::string, std::string> metadata) {
  metadata_.merge(metadata);
  std::string text = header();
  if (text.size() > header_size_)
    throw std::runtime_error("cannot write the file: its metadata are longer than the room kept for them");
  text.resize(header_size_, ' ');
  file_->write_at(0, std::as_bytes(std::span(&header_size_, 1)));
  file_->write_at(sizeof header_size_, std::as_bytes(std::span(text)));
  file_->commit();
}

void SafetensorsWriter::write_bytes(const std::string& name, std::uint64_t offset,
                                    std::span<const std::byte> bytes) {
  const Place& place = places_.at(name);
  assert(offset + bytes.size() <= place.end - place.begin);
  file_->write_at(data_begin() + place.begin + offset, bytes);
}

}  // namespace headscope::model
