#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "viz/players/players.h"
#include "viz/players/png_parts.h"
#include "viz/players/throwing_malloc.h"
#include "viz/scene/crc32.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBIW_MALLOC(size) headscope::viz::throwing_malloc(static_cast<std::size_t>(size))
#define STBIW_REALLOC(memory, size) headscope::viz::throwing_realloc(memory, static_cast<std::size_t>(size))
#define STBIW_FREE(memory) std::free(memory)
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace headscope::viz {
namespace {

constexpr int kLargestSide = 32768;
/// Limit of the uncompressed size: stb_image_write counts bytes in int, and its worst case is slightly larger
/// than the input.
constexpr long long kMaxBytes = INT_MAX / 2;

using png::append_chunk;
using png::append_u32;
using png::Bytes;

Bytes resolution(float scale) {
  constexpr double kPerInch = 96, kMetresPerInch = 0.0254;
  const double per_metre = std::clamp(kPerInch * scale / kMetresPerInch, 1.0, 1e9);
  Bytes data;
  for (int axis = 0; axis < 2; ++axis) append_u32(data, static_cast<std::uint32_t>(std::lround(per_metre)));
  data.push_back(1);  // unit: metre
  return data;
}

Bytes software() {
  constexpr std::string_view kText("Software\0headscope", 18);
  return {kText.begin(), kText.end()};
}

constexpr std::string_view kNoteChunk = "iTXt";

/// The data of an iTXt chunk: keyword, not compressed, no language, text.
Bytes international_text(const Note& note) {
  const std::string data = note.name + std::string(5, '\0') + note.text;
  return {data.begin(), data.end()};
}

/// Red, green, blue and, if a pixel is not opaque, alpha.
Bytes components(const Bitmap& bitmap, int channels) {
  Bytes bytes;
  bytes.reserve(bitmap.pixels.size() * channels);
  for (const Color c : bitmap.pixels) {
    bytes.push_back(c.r);
    bytes.push_back(c.g);
    bytes.push_back(c.b);
    if (channels == 4) bytes.push_back(c.a);
  }
  return bytes;
}

constexpr std::size_t kHeader = png::kSignature + 25;  // the signature and IHDR

}  // namespace

namespace png {

void append_u16(Bytes& bytes, std::uint32_t v) {
  for (const int shift : {8, 0}) bytes.push_back(static_cast<std::uint8_t>(v >> shift));
}

void append_u32(Bytes& bytes, std::uint32_t v) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(v >> shift));
}

void append_chunk(Bytes& bytes, std::string_view type, const Bytes& data) {
  append_u32(bytes, static_cast<std::uint32_t>(data.size()));
  std::string named(type);
  named.append(data.begin(), data.end());
  bytes.insert(bytes.end(), named.begin(), named.end());
  append_u32(bytes, crc32(named));
}

void append_information(Bytes& bytes, float scale, std::span<const Note> notes) {
  append_chunk(bytes, "pHYs", resolution(scale));
  append_chunk(bytes, "tEXt", software());
  for (const Note& note : notes) append_chunk(bytes, kNoteChunk, international_text(note));
}

Bytes encode(const Bitmap& bitmap, int channels) {
  const std::string size = std::to_string(bitmap.width) + " x " + std::to_string(bitmap.height);
  if (bitmap.width < 1 || bitmap.height < 1 || bitmap.width > kLargestSide || bitmap.height > kLargestSide) {
    throw std::runtime_error("a picture of " + size + " pixels cannot be written as PNG: sides may be 1 to " +
                             std::to_string(kLargestSide));
  }
  if ((static_cast<long long>(bitmap.width) * channels + 1) * bitmap.height > kMaxBytes) {
    throw std::runtime_error("a picture of " + size + " pixels is too large to be written as PNG");
  }
  const Bytes pixels = components(bitmap, channels);
  int length = 0;
  const std::unique_ptr<unsigned char, decltype(&std::free)> png(
      stbi_write_png_to_mem(pixels.data(), bitmap.width * channels, bitmap.width, bitmap.height, channels,
                            &length),
      &std::free);
  if (png == nullptr)
    throw std::runtime_error("not enough memory to write a picture of " + size + " pixels as PNG");
  return {png.get(), png.get() + length};
}

std::span<const std::uint8_t> pixels_of(const Bytes& file) {
  constexpr std::size_t kEnd = 12;  // IEND; before it the checksum of IDAT
  const std::span<const std::uint8_t> rest = std::span(file).subspan(kHeader + 8);
  return rest.first(rest.size() - kEnd - 4);
}

}  // namespace png

std::vector<std::uint8_t> encode_png(const Bitmap& bitmap, float scale, std::span<const Note> notes) {
  const bool opaque = std::ranges::all_of(bitmap.pixels, [](Color c) { return c.a == 255; });
  const Bytes whole = png::encode(bitmap, opaque ? 3 : 4);
  Bytes file(whole.begin(), whole.begin() + kHeader);
  png::append_information(file, scale, notes);  // right after the header
  file.insert(file.end(), whole.begin() + kHeader, whole.end());
  return file;
}

std::string with_notes(std::string_view png, std::span<const Note> notes) {
  png::Bytes before;
  png::append_information(before, 1, {});  // as long for any scale
  png::Bytes chunks;
  for (const Note& note : notes) append_chunk(chunks, kNoteChunk, international_text(note));
  std::string file(png);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(kHeader + before.size()), chunks.begin(),
              chunks.end());
  return file;
}

}  // namespace headscope::viz
