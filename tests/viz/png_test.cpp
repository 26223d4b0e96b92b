#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace headscope::viz::png_test {
namespace {

struct Chunk {
  std::string type;
  std::string data;
};

std::uint32_t read_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

/// The CRC bit by bit, as in its definition.
std::uint32_t crc_of(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::uint8_t byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool one = ((crc ^ byte >> bit) & 1) != 0;
      crc = crc >> 1 ^ (one ? 0xEDB88320 : 0);
    }
  }
  return ~crc;
}

std::vector<Chunk> chunks_of(std::span<const std::uint8_t> file) {
  EXPECT_EQ(std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8), 0);
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = read_u32(file, at);
    EXPECT_LE(at + 12 + length, file.size());
    EXPECT_EQ(read_u32(file, at + 8 + length), crc_of(file.subspan(at + 4, 4 + length)));
    const char* text = reinterpret_cast<const char*>(&file[at + 4]);
    chunks.push_back({std::string(text, 4), std::string(text + 4, length)});
    at += 12 + length;
  }
  return chunks;
}

Bitmap decoded(std::span<const std::uint8_t> file) {
  Bitmap bitmap;
  int channels = 0;
  unsigned char* pixels = stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &bitmap.width,
                                                &bitmap.height, &channels, 4);
  EXPECT_NE(pixels, nullptr);
  if (pixels == nullptr) return {};
  for (int i = 0; i < bitmap.width * bitmap.height; ++i) {
    bitmap.pixels.push_back({pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2], pixels[4 * i + 3]});
  }
  stbi_image_free(pixels);
  return bitmap;
}

TEST(EncodePng, ReadsBackToTheSamePixels) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(7, 3), std::pair(200, 131), std::pair(1, 500), std::pair(30000, 2)}) {
    Bitmap bitmap = *testing::noise(width, height);
    EXPECT_EQ(decoded(encode_png(bitmap, 1)).pixels, bitmap.pixels);
    bitmap.pixels[0].a = 0;
    bitmap.pixels.back().a = 77;
    const Bitmap translucent = decoded(encode_png(bitmap, 1));
    EXPECT_EQ(translucent.pixels, bitmap.pixels);
    EXPECT_EQ(translucent.width, width);
  }
}

TEST(EncodePng, HasItsChunksInOrderAndSaysHowLargeItIsInPrint) {
  for (const auto& [scale, per_metre] :
       {std::pair(1.0F, 3780U), std::pair(2.0F, 7559U), std::pair(3.125F, 11811U)}) {
    const std::vector<Chunk> chunks = chunks_of(encode_png(*testing::noise(5, 4), scale));
    std::vector<std::string> types;
    for (const Chunk& chunk : chunks) types.push_back(chunk.type);
    EXPECT_THAT(types, ElementsAre("IHDR", "pHYs", "tEXt", "IDAT", "IEND"));
    ASSERT_EQ(chunks[1].data.size(), 9U);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(chunks[1].data.data());
    EXPECT_EQ(read_u32({bytes, 9}, 0), per_metre);  // 96 dpi x scale / 0.0254 m
    EXPECT_EQ(read_u32({bytes, 9}, 4), per_metre);
    EXPECT_EQ(bytes[8], 1);
  }
}

TEST(EncodePng, RefusesSizesThatNoFileCanHave) {
  EXPECT_THROW(encode_png({0, 5, {}}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({5, 0, {}}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({32768, 1, std::vector<Color>(32768)}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({32767, 32767, {}}, 1), std::runtime_error);  // 3 GiB
  EXPECT_NO_THROW(encode_png({32767, 1, std::vector<Color>(32767)}, 1));
}

}  // namespace
}  // namespace headscope::viz::png_test
