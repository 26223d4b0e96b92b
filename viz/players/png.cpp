#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "viz/players/players.h"

namespace headscope::viz {
namespace {

/// Limit of the uncompressed size, so that one chunk of 2 GiB holds all pixels: zlib lengthens what it cannot
/// compress by less than a thousandth.
constexpr long long kMaxBytes = INT_MAX - INT_MAX / 1000;

using Bytes = std::vector<std::uint8_t>;  // numbers are big-endian

void append_u32(Bytes& bytes, std::uint32_t v) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(v >> shift));
}

/// Length, type, data and checksum.
void append_chunk(Bytes& bytes, std::string_view type, const Bytes& data) {
  append_u32(bytes, static_cast<std::uint32_t>(data.size()));
  const std::size_t named = bytes.size();
  bytes.insert(bytes.end(), type.begin(), type.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  append_u32(bytes, crc32({reinterpret_cast<const char*>(&bytes[named]), bytes.size() - named}));
}

Bytes resolution(float scale) {
  constexpr double kPerInch = 96, kMetresPerInch = 0.0254;
  const double per_metre = std::clamp(kPerInch * scale / kMetresPerInch, 1.0, 1e9);
  Bytes data;
  for (int axis = 0; axis < 2; ++axis) append_u32(data, static_cast<std::uint32_t>(std::lround(per_metre)));
  data.push_back(1);  // unit: metre
  return data;
}

/// The data of an iTXt chunk: keyword, not compressed, no language, text.
Bytes international_text(const Note& note) {
  const std::string data = note.name + std::string(5, '\0') + note.text;
  return {data.begin(), data.end()};
}

/// A file's beginning: its signature and IHDR. `channels`: 3, or 4 with alpha. Throws like encode_png.
Bytes header(int width, int height, int channels) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (width < 1 || height < 1 || width > kLongestBitmapSide || height > kLongestBitmapSide) {
    throw std::runtime_error("a picture of " + size + " pixels cannot be written as PNG: sides may be 1 to " +
                             std::to_string(kLongestBitmapSide));
  }
  if ((static_cast<long long>(width) * channels + 1) * height > kMaxBytes) {
    throw std::runtime_error("a picture of " + size + " pixels is too large to be written as PNG");
  }
  constexpr std::string_view kStart = "\x89PNG\r\n\x1a\n";
  constexpr std::uint8_t kDepth = 8, kColors = 2, kAlpha = 4;
  Bytes data;
  for (const int side : {width, height}) append_u32(data, static_cast<std::uint32_t>(side));
  data.push_back(kDepth);
  data.push_back(channels == 4 ? kColors | kAlpha : kColors);
  data.insert(data.end(), {0, 0, 0});  // the one kind of compression and of filters there is; not interlaced
  Bytes file(kStart.begin(), kStart.end());
  append_chunk(file, "IHDR", data);
  return file;
}

/// What IDAT chunks hold of a bitmap: its rows, compressed.
Bytes compressed(const Bitmap& bitmap, int channels) {
  // Rows are not filtered: areas of one colour and repeated letters compress better so, and sooner.
  constexpr std::uint8_t kNoFilter = 0;
  Bytes rows;
  rows.reserve((std::size_t{1} * channels * bitmap.width + 1) * bitmap.height);
  for (int y = 0; y < bitmap.height; ++y) {
    rows.push_back(kNoFilter);
    for (int x = 0; x < bitmap.width; ++x) {
      const Color c = bitmap.at(x, y);
      rows.insert(rows.end(), {c.r, c.g, c.b});
      if (channels == 4) rows.push_back(c.a);
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  Bytes packed(size);
  if (compress(packed.data(), &size, rows.data(), static_cast<uLong>(rows.size())) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Bitmap& bitmap, float scale, std::span<const Note> notes) {
  const bool opaque = std::ranges::all_of(bitmap.pixels, [](Color c) { return c.a == 255; });
  const int channels = opaque ? 3 : 4;
  Bytes file = header(bitmap.width, bitmap.height, channels);
  append_chunk(file, "pHYs", resolution(scale));
  constexpr std::string_view kProgram("Software\0headscope", 18);
  append_chunk(file, "tEXt", {kProgram.begin(), kProgram.end()});
  for (const Note& note : notes) append_chunk(file, "iTXt", international_text(note));
  append_chunk(file, "IDAT", compressed(bitmap, channels));
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace headscope::viz
