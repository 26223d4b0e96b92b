#include "model/files/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace headscope::model {
namespace {

template <class From>
void floats_of(const std::byte* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    From value{};
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    to[i] = static_cast<float>(value);
  }
}

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

const StoredType* stored_type(std::string_view name, std::string_view StoredType::*whose) {
  static constexpr StoredType kTypes[] = {
      {"F32", "torch.FloatStorage", 4, Precision::f32},
      {"F16", "torch.HalfStorage", 2, Precision::f16},
      {"BF16", "torch.BFloat16Storage", 2, Precision::bf16},
      {"F64", "torch.DoubleStorage", 8, Precision::f32, floats_of<double>},
      {"I64", "torch.LongStorage", 8, Precision::f32, floats_of<std::int64_t>},
      {"I32", "torch.IntStorage", 4, Precision::f32, floats_of<std::int32_t>},
      {"I16", "torch.ShortStorage", 2, Precision::f32, floats_of<std::int16_t>},
      {"I8", "torch.CharStorage", 1, Precision::f32, floats_of<std::int8_t>},
      {"U8", "torch.ByteStorage", 1, Precision::f32, floats_of<std::uint8_t>},
      {"BOOL", "torch.BoolStorage", 1, Precision::f32, floats_of<std::uint8_t>},
  };
  const auto* const type = std::ranges::find(kTypes, name, whose);
  return type == std::end(kTypes) ? nullptr : type;
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

std::vector<std::byte> TensorView::read() const {
  std::vector<std::byte> all(bytes);
  if (strides.empty()) {
    file->read(offset, all);
    return all;
  }
  const std::uint64_t element = stored_type(dtype)->bytes;
  const std::string with_gaps = file->text(offset, *extent_of(*this) * element);
  for (std::uint64_t i = 0; i * element < bytes; ++i)
    std::memcpy(all.data() + i * element, with_gaps.data() + place_of(*this, i) * element, element);
  return all;
}

}  // namespace headscope::model
