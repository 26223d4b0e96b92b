#pragma once
#include <array>
#include <filesystem>
#include <string_view>

#include "app/run/named.h"
#include "app/views/table.h"
#include "app/views/view.h"
#include "viz/scene/notes.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::app {

// Exports pictures and their numbers as the bytes of files, for commands and for the window.

enum class FileFormat { png, svg, csv, pdf };
std::string_view extension_of(FileFormat format);  ///< ".png", ".svg", ".csv", ".pdf"

/// The format of a file by its extension, ignoring case.
std::optional<FileFormat> format_of(const std::filesystem::path& file);

/// What a figure is made for.
enum class Target { screen, column, page, slide };

inline constexpr Named<Target> kTargetNames[]{
    {"screen", Target::screen}, {"column", Target::column}, {"page", Target::page}, {"slide", Target::slide}};

/// What a target chooses by default. A logical pixel is 1/96 inch on paper: letters of 10 have 7.5 points.
struct TargetSpec {
  std::string_view label;
  std::string_view words;      ///< its size, for people
  float width = 0;             ///< logical pixels
  float height = 0;            ///< 0: as high as the figure needs
  float font_size = 0;         ///< logical pixels
  float least_label = 0;       ///< letters of its labels are at least as large; logical pixels
  float scale = 0;             ///< png: device pixels per logical pixel
  float min_stroke_width = 0;  ///< the thinnest line, in logical pixels
  float line_scale = 1;        ///< how many times as wide as on the screen lines are
};

/// A column is one of a paper's two, a page a letter page's text. On paper no line is below half a point, and
/// labels have 7 points, on a slide 16, in letters of this size; numbers in cells may be smaller.
constexpr TargetSpec spec_of(Target target) {
  constexpr float kPoint = 96.F / 72, kLine = kPoint / 2, kDpi = 300.F / 96;
  constexpr std::array<TargetSpec, 4> kSpecs{
      {{"Screen", "as large as on the screen, in the window's font size", 1000, 0, 14, 0, 2, 0, 1},
       {"Column", "a column of a paper: 3.3 inches wide, 300 dpi", 316.8F, 0, 10, 7 * kPoint, kDpi, kLine, 1},
       {"Page", "the width of a page: 6.5 inches, 300 dpi", 624, 0, 10.5F, 7 * kPoint, kDpi, kLine, 1},
       {"Slide", "16:9, 13.33 × 7.5 inches, 3840 × 2160 pixels", 1280, 720, 22, 16 * kPoint, 3, 1.4F, 1.4F}}};
  return kSpecs[static_cast<std::size_t>(target)];
}

/// A figure's width in logical pixels: the target's own, maybe fractional, where that rounds to `width`.
constexpr float width_on(Target target, int width) {
  const float own = spec_of(target).width;
  return width == static_cast<int>(own + 0.5F) ? own : static_cast<float>(width);
}

/// How the context's size determines the file's; height 0: nothing has to scroll, on a manageable page.
enum class Page {
  exact,     ///< exactly that size, caption included: lists are cut to the rows that fit; an error only if
             ///< nothing can be read
  width,     ///< exactly that width, and as high as the figure needs; an error if it is too narrow
  at_least,  ///< that size, or the smallest that fits the figure
  trimmed,   ///< drawn on that size, or the smallest that fits, then cut to the figure
};

/// The scale for which svg and pdf, which have no pixels, are laid out: device pixels per logical pixel.
constexpr float kVectorScale = 4;

struct ExportOptions {
  float scale = 2;        ///< png: device pixels per logical pixel; svg and pdf do not depend on it
  bool svg_text = false;  ///< svg: text as text, not as outlines
  bool caption = true;    ///< the line under the picture
  bool title = true;      ///< the line or lines above it
  Page page = Page::exact;
  Target target = Target::screen;     ///< how wide its lines are
  bool letters_grow = false;          ///< slides: letters may be larger than the context's, to fill the slide
  std::vector<viz::Note> notes = {};  ///< metadata stored with the picture
  bool operator==(const ExportOptions&) const = default;
};

/// A view's picture on its page, with its caption. Sets the context's device scale to the options', so that
/// every caller gets the same picture. Throws std::runtime_error, one sentence that names a size that is
/// enough, if the figure cannot be read on an exact page or width.
Picture export_picture_of(const View& view, ViewContext context, const ExportOptions& options);

/// The bytes of a view's file: `export_picture_of` (png; svg and pdf at kVectorScale), or its table (csv).
/// Throws like export_picture_of, also if the picture is too large for its format or there is no table.
std::string export_bytes(FileFormat format, const View& view, const ViewContext& context,
                         const ExportOptions& options);

/// A bitmap as the bytes of a png, or of a pdf with that image. Throws std::runtime_error if it is too large.
std::string bitmap_bytes(FileFormat format, const viz::Bitmap& bitmap, float scale,
                         std::span<const viz::Note> notes = {});

/// A view's numbers as exported and copied. On the difference side, the last column of every row names the
/// subtraction: "edited - unedited", "first - second prompt".
Table exported_table(const View& view, const ViewContext& context);

}  // namespace headscope::app
