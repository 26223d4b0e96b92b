#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/view.h"
#include "viz/scene.h"
#include "viz/text.h"

namespace headscope::app {

// Pictures and their numbers as files: one way for `headscope plot`, `headscope shot` and the window's
// export.

enum class FileFormat { png, svg, csv };
std::string_view extension_of(FileFormat format);  ///< ".png", ".svg", ".csv"

/// By the extension, in any case.
std::optional<FileFormat> format_of(const std::filesystem::path& file);

struct ExportOptions {
  float scale = 2;        ///< png: device pixels for a logical one
  bool svg_text = false;  ///< svg: text as text, not as outlines
  bool caption = true;    ///< the line under the picture
};

/// The bytes of a view's file: its picture with its caption (png, svg), or its table (csv). The context's
/// size is the picture's; its device scale is set to the scale of the file, so that no caller can make
/// another picture. Throws std::runtime_error when the picture is too large for its format.
std::string export_bytes(FileFormat format, const View& view, ViewContext context,
                         const ExportOptions& options);

/// Writes `export_bytes` in the format of the file's extension, whole or not at all.
/// Throws std::runtime_error, one sentence: an extension that is none of the three, an unwritable path, a
/// full disk.
void export_view(const std::filesystem::path& file, const View& view, const ViewContext& context,
                 const ExportOptions& options);

/// A scene that is no view (the whole window) as png or svg. Throws as export_view.
void export_scene(const std::filesystem::path& file, const viz::Scene& scene, const viz::Fonts& fonts,
                  const ExportOptions& options);

/// Pixels that are there already, as png. Throws as export_view.
void export_bitmap(const std::filesystem::path& file, const viz::Bitmap& bitmap, float scale);

}  // namespace headscope::app
