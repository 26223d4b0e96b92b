#include "app/window/exporting.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "app/run/sources/weights_hash.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "model/files/quote.h"
#include "viz/players/imgui_compat.h"
#include "viz/players/players.h"

namespace headscope::app {
namespace {

/// Parses "1200x800", or "1200" as a width with a height of 0; nothing for an empty text.
std::optional<viz::Point> parse_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  int width = 0, height = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, width);
  constexpr int kLargestSide = 32768;
  if (first.ec == std::errc() && width > 0 && width <= kLargestSide) {
    if (first.ptr == end) return viz::Point{static_cast<float>(width), 0};
    const auto second = std::from_chars(first.ptr + 1, end, height);
    if (*first.ptr == 'x' && second.ec == std::errc() && second.ptr == end && height > 0 &&
        height <= kLargestSide)
      return viz::Point{static_cast<float>(width), static_cast<float>(height)};
  }
  throw std::runtime_error(
      "The size must be a width or WIDTHxHEIGHT, in whole pixels, e.g. 1200x800; found " +
      model::quote(text) + ".");
}

viz::Rect place_of(const View& view, std::span<const PlacedPicture> pictures) {
  for (const PlacedPicture& placed : pictures)
    if (placed.view == &view) return placed.where;
  return {0, 0, 800, 600};
}

/// The recipe that the file carries; empty if it is not wanted or while the weights' hash is unknown.
std::vector<viz::Note> recipe_notes(const ExportForm& form, const View* view, const ExportSource& source,
                                    const Figure& page, SnapshotAnswers& answers) {
  if (!form.recipe) return {};
  Recipe recipe = recipe_of(form, view, source.state, *source.snapshot, page);
  if (!add_weights(recipe.session, *source.snapshot, answers)) return {};
  recipe.session.model.precision = source.precision;
  return {recipe_note(recipe)};
}

}  // namespace

std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format,
                                          const ExportSource& source,
                                          const std::shared_ptr<SnapshotAnswers>& answers,
                                          const std::function<bool()>& ready) {
  ExportOptions options{.scale = static_cast<float>(form.scale),
                        .svg_text = form.svg_text,
                        .caption = form.caption,
                        .title = form.title,
                        .page = Page::at_least};
  const View* view = find_view(form.subject);
  if (!view) {
    if (format != FileFormat::png && format != FileFormat::pdf)
      throw std::runtime_error("A picture of the whole window must be saved as .png or .pdf, not as " +
                               std::string(extension_of(format)) + ".");
    UiState still = source.state;
    still.dialog = Dialog::none;
    still.message = {};
    still.dark = form.dark;
    WindowFrame frame = source.frame;
    frame.pointer.reset();
    frame.still = true;
    frame.device_scale = options.scale;
    const auto side = [](float length) { return static_cast<int>(std::lround(length)); };
    const Figure page{.window = true,
                      .width = side(frame.width),
                      .height = side(frame.height),
                      .page = Page::exact,
                      .scale = options.scale};
    static_cast<void>(recipe_notes(form, nullptr, source, page, *answers));  // asks for the hash
    const auto bitmap = window_bitmap({still, source.snapshot, source.fonts, frame, {}}, answers, ready);
    if (!bitmap) return std::nullopt;
    return bitmap_bytes(format, *bitmap, options.scale, recipe_notes(form, nullptr, source, page, *answers));
  }
  const bool printed = form.target != Target::screen;
  const TargetSpec target = spec_of(form.target);
  const Figure chosen = figure_for(form.target);
  if (printed) options.scale = target.scale, options.target = form.target, options.letters_grow = true;
  const viz::Rect where = place_of(*view, source.pictures);
  // Whole pixels, because a recipe stores integers.
  ViewContext context = make_context(view, source.state, *source.snapshot, *answers, *source.fonts,
                                     std::floor(where.w), std::floor(where.h), options.scale);
  if (!context.run) throw std::runtime_error(context.no_run);
  context.theme = &theme_of(form.dark);
  context.in_pane = false;
  context.options = without_pane_only(*view, std::move(context.options));
  if (printed) context.font_size = target.font_size;
  const float scale = format == FileFormat::png ? options.scale : chosen.scale;  // as of a command's recipe
  if (const auto size = parse_size(form.size.edit.text)) {
    const bool exact = size->y > 0;
    context.width = size->x;
    context.height = exact ? size->y : height_for_width(*view, context, scale, form.target);
    options.page = exact ? Page::exact : Page::width;
  } else if (printed) {
    context.width = target.width;
    context.height =
        chosen.page == Page::exact ? target.height : height_for_width(*view, context, scale, form.target);
    options.page = chosen.page;
  } else if (view->figure_size) {
    const viz::Point size_of_figure = view->figure_size(context);
    context.width = std::ceil(size_of_figure.x), context.height = std::ceil(size_of_figure.y);
  }
  const Figure page{.window = false,
                    .width = static_cast<int>(std::lround(context.width)),
                    .height = options.page == Page::width ? 0 : static_cast<int>(context.height),
                    .page = options.page,
                    .scale = scale,
                    .caption = form.caption,
                    .svg_text = form.svg_text,
                    .target = form.target,
                    .title = form.title};
  // Ask everything first, before the work of making a file.
  if (format == FileFormat::csv) {
    static_cast<void>(view->table(context));
  } else {
    static_cast<void>(view->build(context));
    static_cast<void>(recipe_notes(form, view, source, page, *answers));
  }
  if (!ready()) return std::nullopt;
  if (format != FileFormat::csv) options.notes = recipe_notes(form, view, source, page, *answers);
  std::string bytes = export_bytes(format, *view, context, options);
  if (!ready()) return std::nullopt;  // a page that had to grow has asked for more
  return bytes;
}

std::optional<viz::Bitmap> window_bitmap(const ExportSource& source,
                                         const std::shared_ptr<SnapshotAnswers>& answers,
                                         const std::function<bool()>& ready) {
  constexpr int kFrames = 3;  // enough for every size to settle
  MemoryScreen screen;
  Gui gui(source.fonts, screen);
  Memory memory;
  for (int i = 0; i < kFrames; ++i) {
    WindowPicture out;
    gui.frame(source.frame, nullptr, source.state.dark, source.state.font_size,
              [&](viz::ImguiPlayer& player) {
                const FrameInput input{source.state, *source.snapshot, answers,
                                       source.fonts, source.frame,     nullptr};
                Ui ui(input, memory, player, out);
                draw_window(ui);
              });
  }
  if (!ready()) return std::nullopt;
  return viz::rasterize(*ImGui::GetDrawData(), screen.textures().store(), theme_of(source.state.dark).window);
}

}  // namespace headscope::app
