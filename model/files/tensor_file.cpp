#include "model/files/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headscope::model {
namespace {

/// The place of row-major element `index`, in elements from the view's first.
std::uint64_t place_of(const TensorView& view, std::uint64_t index) {
  std::uint64_t place = 0;
  for (std::size_t axis = view.shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::uint64_t>(view.shape[axis]);
    place += index % size * static_cast<std::uint64_t>(view.strides[axis]);
    index /= size;
  }
  return place;
}

}  // namespace

std::optional<std::uint64_t> bits_of(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::uint64_t> kBits[] = {
      {"F32", 32},    {"F16", 16},    {"BF16", 16},       {"I64", 64},    {"U8", 8},      {"BOOL", 8},
      {"F64", 64},    {"I32", 32},    {"I16", 16},        {"I8", 8},      {"U64", 64},    {"U32", 32},
      {"U16", 16},    {"C64", 64},    {"F8_E5M2", 8},     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E5M2FNUZ", 8}, {"F4", 4},
  };
  for (const auto& [name, bits] : kBits) {
    if (name == dtype) return bits;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_of_elements(std::span<const std::int64_t> shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) return std::nullopt;
  return count;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t kMost = 8;
  std::string text = "[";
  for (const std::int64_t extent : shape.first(std::min(shape.size(), kMost)))
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + (shape.size() > kMost ? ", ...]" : "]");
}

std::optional<std::uint64_t> extent_of(const TensorView& view) {
  if (view.strides.empty()) return count_of_elements(view.shape);
  if (view.strides.size() != view.shape.size()) return std::nullopt;
  std::uint64_t last = 0;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 0) return 0;
    std::uint64_t steps = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(view.shape[axis] - 1),
                               static_cast<std::uint64_t>(view.strides[axis]), &steps) ||
        __builtin_add_overflow(last, steps, &last))
      return std::nullopt;
  }
  return last + 1;
}

bool is_contiguous(const TensorView& view) {
  std::uint64_t expected = 1;
  for (std::size_t axis = view.strides.size(); axis-- > 0;) {
    if (view.shape[axis] != 1 && static_cast<std::uint64_t>(view.strides[axis]) != expected) return false;
    expected *= static_cast<std::uint64_t>(view.shape[axis]);
  }
  return true;
}

std::vector<std::byte> TensorFile::read(const TensorView& tensor) const {
  std::vector<std::byte> bytes(tensor.bytes);
  if (tensor.strides.empty()) {
    file_->read(tensor.offset, bytes);
    return bytes;
  }
  const std::uint64_t element = *bits_of(tensor.dtype) / 8;
  const std::string all = file_->text(tensor.offset, *extent_of(tensor) * element);
  for (std::uint64_t i = 0; i * element < bytes.size(); ++i)
    std::memcpy(bytes.data() + i * element, all.data() + place_of(tensor, i) * element, element);
  return bytes;
}

}  // namespace headscope::model
