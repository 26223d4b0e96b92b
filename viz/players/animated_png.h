#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "viz/players/png_parts.h"

namespace headscope::viz {

/// Writes an animated PNG (APNG), which repeats for ever. Readers without animations show its first frame.
/// A frame is stored as the rectangle that differs from the one before; equal frames are one that lasts
/// longer.
class AnimatedPng {
 public:
  /// `scale` and `notes` as of encode_png.
  AnimatedPng(float scale, std::span<const Note> notes) : scale_(scale), notes_(notes.begin(), notes.end()) {}

  /// Adds an opaque frame of the size of the first one, shown for 1 to 65535 milliseconds. Throws like
  /// encode_png.
  void add(const Bitmap& frame, int milliseconds);
  /// The file; there must be a frame.
  std::string take() &&;

 private:
  void finish_frame();

  float scale_;
  std::vector<Note> notes_;
  Bitmap last_;
  int milliseconds_ = 0;  ///< of the frame that may still last longer
  png::Bytes control_;    ///< its fcTL chunk's data without the delay
  png::Bytes pixels_;     ///< its IDAT or fdAT chunk
  png::Bytes header_;     ///< signature and IHDR
  png::Bytes body_;       ///< all finished frames
  std::uint32_t frames_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace headscope::viz
