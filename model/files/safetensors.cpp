#include "model/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/foreign_content.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::size_t kLengthBytes = 8;            // the header's length, before the header
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as in the format's reference implementation
constexpr int kMaxDepth = 8;                       // the format itself needs 3

/// Size of a tensor in bytes; nothing if the product overflows or is not a whole number of bytes.
std::optional<std::uint64_t> byte_size(std::span<const std::int64_t> shape, std::uint64_t bits) {
  std::uint64_t total = 0;
  const std::optional<std::uint64_t> count = count_of_elements(shape);
  if (!count || __builtin_mul_overflow(*count, bits, &total) || total % 8 != 0) return std::nullopt;
  return total / 8;
}

std::string to_text(std::span<const std::int64_t> values) {
  constexpr std::size_t kMax = 8;
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(values.size(), kMax); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(values[i]);
  }
  return out + (values.size() > kMax ? ", ...]" : "]");
}

/// Reads one header, and names the file and tensor in errors.
class HeaderReader {
 public:
  explicit HeaderReader(const OpenFile& file) : file_(file) {}

  std::string header_text() const {
    const std::string start = text(0, std::min<std::uint64_t>(file_.size(), 64));
    if (const std::string other = foreign_content(start); !other.empty())
      fail("expected a safetensors file, found " + other);
    if (start.size() < kLengthBytes)
      fail("expected a safetensors file, found only " + std::to_string(start.size()) +
           " bytes (the file is truncated; download it again)");
    std::uint64_t length = 0;
    std::memcpy(&length, start.data(), kLengthBytes);
    if (length > kMaxHeader) {
      fail("expected a safetensors header of at most " + std::to_string(kMaxHeader) +
           " bytes, found a length of " + std::to_string(length));
    }
    if (length > file_.size() - kLengthBytes) {
      fail("expected a safetensors header of " + std::to_string(length) + " bytes, found only " +
           std::to_string(file_.size() - kLengthBytes) + " (the file is truncated; download it again)");
    }
    return text(kLengthBytes, length);
  }

  std::map<std::string, std::string> metadata(const json& value) const {
    if (value.is_null()) return {};
    if (!value.is_object()) fail("expected an object of strings as __metadata__, found " + kind(value));
    std::map<std::string, std::string> out;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string())
        fail("expected a string as __metadata__ " + quote(key) + ", found " + kind(text));
      out[key] = text.get<std::string>();
    }
    return out;
  }

  /// `first`: the byte after the header.
  TensorView tensor(const std::string& name, const json& value, std::uint64_t first) const {
    const std::string where = "tensor " + quote(name);
    if (!value.is_object()) fail(where + ": expected an object, found " + kind(value));
    const json& dtype = member(value, "dtype", where);
    if (!dtype.is_string()) fail(where + ": expected a name as dtype, found " + kind(dtype));

    TensorView view;
    view.dtype = dtype.get<std::string>();
    view.shape = sizes(member(value, "shape", where), where + ": shape");
    const std::vector<std::int64_t> offsets =
        sizes(member(value, "data_offsets", where), where + ": data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      fail(where + ": expected data_offsets [begin, end], found " + to_text(offsets));
    }
    const auto begin = static_cast<std::uint64_t>(offsets[0]);
    const auto end = static_cast<std::uint64_t>(offsets[1]);
    if (end > file_.size() - first) {
      fail(where + ": expected data_offsets within the file's " + std::to_string(file_.size() - first) +
           " bytes of data, found " + to_text(offsets) +
           " (the file is truncated or damaged; download it again)");
    }
    if (const auto bits = bits_of(view.dtype)) {
      const auto expected = byte_size(view.shape, *bits);
      if (!expected) {
        fail(where + ": expected a size that can be addressed, found the shape " + to_text(view.shape) +
             " of " + view.dtype);
      }
      if (end - begin != *expected) {
        fail(where + ": expected " + std::to_string(*expected) + " bytes for the shape " +
             to_text(view.shape) + " of " + view.dtype + ", found " + std::to_string(end - begin));
      }
    }
    view.offset = first + begin;
    view.bytes = end - begin;
    return view;
  }

  /// The format allows neither overlaps nor bytes that belong to no tensor.
  void check_layout(const std::map<std::string, TensorView>& tensors, std::uint64_t first) const {
    std::vector<std::pair<const std::string*, const TensorView*>> ranges;
    ranges.reserve(tensors.size());
    for (const auto& [name, view] : tensors) ranges.emplace_back(&name, &view);
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second->offset, a.second->bytes) < std::pair(b.second->offset, b.second->bytes);
    });
    std::uint64_t expected = 0;
    for (const auto& [name, view] : ranges) {
      const std::uint64_t begin = view->offset - first;
      if (begin != expected) {
        fail("tensor " + quote(*name) + ": expected its data at byte " + std::to_string(expected) +
             ", where the previous tensor ends, found it at " + std::to_string(begin) +
             (begin < expected ? " (overlapping)" : " (a hole)"));
      }
      expected += view->bytes;
    }
    if (expected != file_.size() - first) {
      fail("expected " + std::to_string(expected) + " bytes of data according to the header, found " +
           std::to_string(file_.size() - first));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw LoadError(system::text_of(file_.path()) + ": " + what);
  }

  static std::string kind(const json& value) {
    return value.is_number() ? "the number " + value.dump() : std::string("a JSON ") + value.type_name();
  }

 private:
  const json& member(const json& object, const char* key, const std::string& where) const {
    const auto found = object.find(key);
    if (found == object.end()) fail(where + ": expected a " + std::string(key) + ", found none");
    return *found;
  }

  std::vector<std::int64_t> sizes(const json& value, const std::string& where) const {
    if (!value.is_array()) fail(where + ": expected an array of whole numbers, found " + kind(value));
    std::vector<std::int64_t> out;
    out.reserve(value.size());
    for (const json& item : value) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() >> 63 != 0) {
        fail(where + ": expected whole numbers of 0 to 2^63 - 1, found " + kind(item));
      }
      out.push_back(item.get<std::int64_t>());
    }
    return out;
  }

  std::string text(std::uint64_t offset, std::uint64_t bytes) const {
    std::string text(bytes, '\0');
    file_.read(offset, std::as_writable_bytes(std::span(text)));
    return text;
  }

  const OpenFile& file_;
};

}  // namespace

TensorFile open_safetensors(const fs::path& path, const std::stop_token& stop) {
  auto file = std::make_shared<const OpenFile>(path);
  const HeaderReader reader(*file);

  const std::string text = reader.header_text();
  const std::uint64_t first = kLengthBytes + text.size();  // offset of the data in the file
  const json header =
      parse_json(text, system::text_of(path) + ": safetensors header", {.depth = kMaxDepth, .stop = stop});
  if (!header.is_object())
    reader.fail("safetensors header: expected an object, found " + reader.kind(header));

  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      metadata = reader.metadata(value);
    } else {
      tensors.emplace(name, reader.tensor(name, value, first));
    }
  }
  reader.check_layout(tensors, first);
  return {std::move(file), std::move(tensors), std::move(metadata)};
}

}  // namespace headscope::model
