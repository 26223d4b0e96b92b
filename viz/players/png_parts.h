#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "viz/players/players.h"
#include "viz/scene/pixel_grid.h"

// The parts of PNG files, shared by pictures and animations. Numbers are big-endian.
namespace headscope::viz::png {

using Bytes = std::vector<std::uint8_t>;

void append_u16(Bytes& bytes, std::uint32_t v);
void append_u32(Bytes& bytes, std::uint32_t v);
/// Length, type, data and checksum.
void append_chunk(Bytes& bytes, std::string_view type, const Bytes& data);
/// The chunks between the header and the pixels: resolution, program and notes; see encode_png.
void append_information(Bytes& bytes, float scale, std::span<const Note> notes);

inline constexpr std::size_t kSignature = 8;
/// A file's beginning: its signature and IHDR. `channels`: 3, or 4 with alpha. Throws like encode_png.
Bytes header(int width, int height, int channels);
/// What IDAT chunks hold of a part of a bitmap: its rows, compressed. Throws std::bad_alloc;
/// std::runtime_error for what zlib says else.
Bytes compressed(const Bitmap& bitmap, const PixelRect& part, int channels);

}  // namespace headscope::viz::png
