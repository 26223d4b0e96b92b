#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"
#include "viz/scene/notes.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::app {

// Pictures and their numbers as the bytes of files: one way for the commands that make pictures and for the
// window's export.

enum class FileFormat { png, svg, csv, pdf };
std::string_view extension_of(FileFormat format);  ///< ".png", ".svg", ".csv", ".pdf"

/// By the extension, in any case.
std::optional<FileFormat> format_of(const std::filesystem::path& file);

/// What the context's size means for a view's file.
enum class Page {
  exact,     ///< the file's, caption included; a figure that does not fit is an error
  width,     ///< its width is the file's, an error as above; the file is as high as the figure needs
  at_least,  ///< the file's, or the least that the figure fits
  trimmed,   ///< what there is to draw on, or the least that the figure fits; the file is cut to the figure
};

/// What svg and pdf, which have no pixels, are laid out for: device pixels for a logical one, 384 to the
/// inch.
constexpr float kVectorScale = 4;

struct ExportOptions {
  float scale = 2;        ///< png: device pixels for a logical one; of svg and pdf nothing depends on it
  bool svg_text = false;  ///< svg: text as text, not as outlines
  bool caption = true;    ///< the line under the picture
  Page page = Page::exact;
  std::vector<viz::Note> notes = {};  ///< carried beside the picture
};

/// How high a page of the context's width is made at first: so high that nothing has to scroll, but not
/// higher than a page that can be handled, nor a file of more than 100 million pixels (`scale` as above).
float height_for_width(const View& view, const ViewContext& context, float scale);

/// A view's picture on its page, with its caption. The context's device scale is set to the options', so that
/// no caller can make another picture. Throws std::runtime_error, one sentence that names the least size,
/// when the figure does not fit an exact page or width.
viz::Scene export_scene_of(const View& view, ViewContext context, const ExportOptions& options);

/// The bytes of a view's file: `export_scene_of` (png; svg and pdf at kVectorScale), or its table (csv).
/// Throws as that does, and std::runtime_error when the picture is too large for its format or there is no
/// table.
std::string export_bytes(FileFormat format, const View& view, const ViewContext& context,
                         const ExportOptions& options);

/// Pixels that are there already as the bytes of a png, or of a pdf with that one image. Throws
/// std::runtime_error when the picture is too large for its format.
std::string bitmap_bytes(FileFormat format, const viz::Bitmap& bitmap, float scale,
                         std::span<const viz::Note> notes = {});

}  // namespace headscope::app
