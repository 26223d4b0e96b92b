#include "model/files/safetensors.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;            // the header's length, before the header
constexpr std::size_t kAlignment = 8;              // of the data, as in the format's reference implementation
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as in the format's reference implementation
constexpr int kMaxDepth = 8;                       // the format itself needs 3
constexpr const char *kMetadata = "__metadata__", *kCutOff = " (the file is truncated; download it again)";

std::string header_text(const OpenFile& file, const std::string& where) {
  const std::string start = file.text(0, std::min<std::uint64_t>(file.size(), 64));
  if (const std::string other = foreign_content(start); !other.empty())
    reject(where, "a safetensors file", other);
  if (start.size() < kLengthBytes)
    reject(where, "a safetensors file", "only " + std::to_string(start.size()) + " bytes" + kCutOff);
  const std::uint64_t length = little_endian(std::string_view(start).substr(0, kLengthBytes));
  if (length > kMaxHeader)
    reject(where, "a safetensors header of at most " + std::to_string(kMaxHeader) + " bytes",
           "a length of " + std::to_string(length));
  if (length > file.size() - kLengthBytes)
    reject(where, "a safetensors header of " + std::to_string(length) + " bytes",
           "only " + std::to_string(file.size() - kLengthBytes) + kCutOff);
  return file.text(kLengthBytes, length);
}

std::map<std::string, std::string> metadata_of(const json& value, const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (value.is_null()) return metadata;
  if (!value.is_object()) reject_value(where + ": __metadata__", "an object of strings", value);
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) reject_value(where + ": __metadata__ " + quote(key), "a string", text);
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

std::vector<std::int64_t> sizes(const json& tensor, const char* key, const std::string& where) {
  const json& list = member(tensor, key);
  if (!list.is_array()) reject_value(where + ": " + key, "an array of whole numbers", list);
  std::vector<std::int64_t> numbers;
  numbers.reserve(list.size());
  for (const json& number : list) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() >> 63 != 0)
      reject_value(where + ": " + key, "whole numbers of 0 to 2^63 - 1", number);
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

/// `first`: the byte of the file after the header, which `data` bytes follow.
TensorView view_of(const std::shared_ptr<const OpenFile>& file, const json& tensor, const std::string& where,
                   std::uint64_t first, std::uint64_t data) {
  if (!tensor.is_object()) reject_value(where, "an object", tensor);
  const json& dtype = member(tensor, "dtype");
  if (!dtype.is_string()) reject_value(where + ": dtype", "a name", dtype);
  TensorView view{.file = file, .dtype = dtype.get<std::string>(), .shape = sizes(tensor, "shape", where)};
  const std::vector<std::int64_t> offsets = sizes(tensor, "data_offsets", where);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    reject(where, "data_offsets [begin, end]", shape_text(offsets));
  const auto begin = static_cast<std::uint64_t>(offsets[0]), end = static_cast<std::uint64_t>(offsets[1]);
  if (end > data)
    reject(where, "data_offsets within the file's " + std::to_string(data) + " bytes of data",
           shape_text(offsets) + " (the file is truncated or damaged; download it again)");
  view.offset = first + begin;
  view.bytes = end - begin;
  const StoredType* type = stored_type(view.dtype);  // of any other type it does not matter how long it is
  const auto count = count_of_elements(view.shape);
  std::uint64_t expected = view.bytes;
  const auto what = [&] { return "the shape " + shape_text(view.shape) + " of " + view.dtype; };
  if (type && (!count || __builtin_mul_overflow(*count, type->bytes, &expected)))
    reject(where, "a size that can be addressed", what());
  if (view.bytes != expected)
    reject(where, std::to_string(expected) + " bytes for " + what(), std::to_string(view.bytes));
  return view;
}

/// The format allows neither overlaps nor bytes that belong to no tensor.
void check_layout(const std::map<std::string, TensorView>& tensors, const std::string& where,
                  std::uint64_t first, std::uint64_t data) {
  std::vector<const std::pair<const std::string, TensorView>*> ordered;
  for (const auto& tensor : tensors) ordered.push_back(&tensor);
  std::ranges::sort(
      ordered, {}, [](const auto* tensor) { return std::pair(tensor->second.offset, tensor->second.bytes); });
  std::uint64_t expected = 0;
  for (const auto* tensor : ordered) {
    const std::uint64_t begin = tensor->second.offset - first;
    if (begin != expected)
      reject(where + ": tensor " + quote(tensor->first),
             "its data at byte " + std::to_string(expected) + ", where the previous tensor ends",
             "it at " + std::to_string(begin) + (begin < expected ? " (overlapping)" : " (a hole)"));
    expected += tensor->second.bytes;
  }
  if (expected != data)
    reject(where, std::to_string(expected) + " bytes of data according to the header", std::to_string(data));
}

std::size_t bytes_per_element(const TensorSpec& tensor) {
  return stored_type(tensor.dtype)->bytes;
}

}  // namespace

TensorFile open_safetensors(const fs::path& path, const std::stop_token& stop) {
  const auto file = std::make_shared<const OpenFile>(path);
  const std::string where = system::text_of(path), text = header_text(*file, where);
  const std::uint64_t first = kLengthBytes + text.size(), data = file->size() - first;
  const json header = parse_json(text, where + ": safetensors header", {.depth = kMaxDepth, .stop = stop});
  if (!header.is_object()) reject_value(where + ": safetensors header", "an object", header);
  std::map<std::string, TensorView> tensors;
  for (const auto& [name, tensor] : header.items())
    if (name != kMetadata)
      tensors.emplace_hint(tensors.end(), name,
                           view_of(file, tensor, where + ": tensor " + quote(name), first, data));
  check_layout(tensors, where, first, data);
  return {std::move(tensors), metadata_of(member(header, kMetadata), where)};
}

SafetensorsWriter::SafetensorsWriter(const fs::path& file, std::vector<TensorSpec> tensors,
                                     std::map<std::string, std::string> metadata, std::size_t room)
    : tensors_(std::move(tensors)), metadata_(std::move(metadata)) {
  // Wide types first, so that every tensor is aligned.
  std::ranges::stable_sort(tensors_, std::ranges::greater(), bytes_per_element);
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
  if (!metadata_.empty()) header[kMetadata] = metadata_;
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
    throw std::runtime_error("the metadata of a safetensors file are longer than the room kept for them");
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
