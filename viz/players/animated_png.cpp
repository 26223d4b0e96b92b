#include "viz/players/animated_png.h"

#include <algorithm>
#include <cassert>

#include "viz/scene/pixel_grid.h"

namespace headscope::viz {
namespace {

constexpr int kLongest = 65535;  // milliseconds of a frame
constexpr int kChannels = 3;

/// The smallest rectangle with all pixels that differ; empty if none does.
PixelRect difference(const Bitmap& a, const Bitmap& b) {
  PixelRect found{a.width, a.height, 0, 0};
  for (int y = 0; y < a.height; ++y) {
    const auto row = a.pixels.begin() + std::ptrdiff_t{y} * a.width, end = row + a.width,
               other = b.pixels.begin() + std::ptrdiff_t{y} * b.width;
    const auto [first, unused] = std::mismatch(row, end, other);
    if (first == end) continue;
    int last = a.width - 1;
    while (row[last] == other[last]) --last;
    found.x0 = std::min(found.x0, static_cast<int>(first - row));
    found.x1 = std::max(found.x1, last + 1);
    found.y0 = std::min(found.y0, y);
    found.y1 = y + 1;
  }
  return found;
}

/// Size and offset, as an fcTL chunk has them.
png::Bytes control(const PixelRect& r) {
  png::Bytes data;
  for (const int v : {r.width(), r.height(), r.x0, r.y0})
    png::append_u32(data, static_cast<std::uint32_t>(v));
  return data;
}

}  // namespace

void AnimatedPng::add(const Bitmap& frame, int milliseconds) {
  milliseconds = std::clamp(milliseconds, 1, kLongest);
  const bool first = last_.empty();
  assert(first || (frame.width == last_.width && frame.height == last_.height));
  const PixelRect changed = first ? PixelRect{0, 0, frame.width, frame.height} : difference(last_, frame);
  if (changed.empty() && milliseconds_ + milliseconds <= kLongest) {
    milliseconds_ += milliseconds;
    return;
  }
  if (!first) finish_frame();
  const PixelRect stored = changed.empty() ? PixelRect{0, 0, 1, 1} : changed;
  if (first) header_ = png::header(frame.width, frame.height, kChannels);
  control_ = control(stored);
  pixels_ = png::compressed(frame, stored, kChannels);
  milliseconds_ = milliseconds;
  last_ = frame;
}

/// Writes the last frame, whose duration is known now.
void AnimatedPng::finish_frame() {
  png::Bytes data;
  png::append_u32(data, sequence_++);
  data.insert(data.end(), control_.begin(), control_.end());
  png::append_u16(data, static_cast<std::uint32_t>(milliseconds_));
  png::append_u16(data, 1000);
  data.insert(data.end(), {0, 0});  // the frame stays, and the next one replaces its pixels
  png::append_chunk(body_, "fcTL", data);
  if (frames_++ == 0) {
    png::append_chunk(body_, "IDAT", pixels_);
    return;
  }
  png::Bytes numbered;
  png::append_u32(numbered, sequence_++);
  numbered.insert(numbered.end(), pixels_.begin(), pixels_.end());
  png::append_chunk(body_, "fdAT", numbered);
}

std::string AnimatedPng::take() && {
  finish_frame();
  png::Bytes file = std::move(header_);
  png::append_information(file, scale_, notes_);
  png::Bytes animation;
  png::append_u32(animation, frames_);
  png::append_u32(animation, 0);  // plays: for ever
  png::append_chunk(file, "acTL", animation);
  std::string bytes(file.begin(), file.end());
  bytes.append(body_.begin(), body_.end());
  png::Bytes end;
  png::append_chunk(end, "IEND", {});
  return bytes.append(end.begin(), end.end());
}

}  // namespace headscope::viz
