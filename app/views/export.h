#pragma once
#include <filesystem>

#include "app/views/print_target.h"
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

/// How the context's size determines the file's size; a height of 0 is one at which nothing has to scroll,
/// within the limits of a manageable page.
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
/// Throws like export_picture_of, and std::runtime_error if the picture is too large for its format or there
/// is no table.
std::string export_bytes(FileFormat format, const View& view, const ViewContext& context,
                         const ExportOptions& options);

/// A bitmap as the bytes of a png, or of a pdf with that one image. Throws std::runtime_error if the picture
/// is too large for its format.
std::string bitmap_bytes(FileFormat format, const viz::Bitmap& bitmap, float scale,
                         std::span<const viz::Note> notes = {});

/// A view's numbers as exported and copied. On the difference side, the last column of every row names the
/// subtraction: "edited - unedited", "first - second prompt".
Table exported_table(const View& view, const ViewContext& context);

}  // namespace headscope::app
