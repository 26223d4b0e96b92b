#include "app/export.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

#include "model/file_io.h"
#include "model/quote.h"
#include "viz/players.h"

namespace headscope::app {
namespace {

std::string png_bytes(const viz::Bitmap& bitmap, float scale) {
  const std::vector<std::uint8_t> png = viz::encode_png(bitmap, scale);
  return {png.begin(), png.end()};
}

std::string scene_bytes(FileFormat format, const viz::Scene& scene, const viz::Fonts& fonts,
                        const ExportOptions& options) {
  if (format == FileFormat::svg) return viz::to_svg(scene, fonts, {.text = options.svg_text});
  return png_bytes(viz::rasterize(scene, fonts, options.scale), options.scale);
}

FileFormat required_format(const std::filesystem::path& file) {
  const auto format = format_of(file);
  if (!format) {
    throw std::runtime_error("cannot write " + model::quote(file.string()) +
                             ": the name must end in .png, .svg or .csv");
  }
  return *format;
}

}  // namespace

std::string_view extension_of(FileFormat format) {
  switch (format) {
    case FileFormat::png:
      return ".png";
    case FileFormat::svg:
      return ".svg";
    case FileFormat::csv:
      return ".csv";
  }
  return "";
}

std::optional<FileFormat> format_of(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::csv}) {
    if (extension == extension_of(format)) return format;
  }
  return std::nullopt;
}

std::string export_bytes(FileFormat format, const View& view, ViewContext context,
                         const ExportOptions& options) {
  if (format == FileFormat::csv) return to_csv(view.table(context));
  context.device_scale = options.scale;
  const Picture picture = view.build(context);
  const viz::Scene scene =
      options.caption ? with_caption(picture, caption(view, context), context) : picture.scene;
  return scene_bytes(format, scene, *context.fonts, options);
}

void export_view(const std::filesystem::path& file, const View& view, const ViewContext& context,
                 const ExportOptions& options) {
  model::write_file_atomically(file, export_bytes(required_format(file), view, context, options));
}

void export_scene(const std::filesystem::path& file, const viz::Scene& scene, const viz::Fonts& fonts,
                  const ExportOptions& options) {
  const FileFormat format = required_format(file);
  if (format == FileFormat::csv) {
    throw std::runtime_error("cannot write " + model::quote(file.string()) +
                             ": this picture has no table of numbers; take .png or .svg");
  }
  model::write_file_atomically(file, scene_bytes(format, scene, fonts, options));
}

void export_bitmap(const std::filesystem::path& file, const viz::Bitmap& bitmap, float scale) {
  model::write_file_atomically(file, png_bytes(bitmap, scale));
}

}  // namespace headscope::app
