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

/// "1200x800", or "1200" with a height of 0; nothing of an empty text.
std::optional<viz::Point> parse_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  int width = 0, height = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, width);
  if (first.ec == std::errc() && width > 0) {
    if (first.ptr == end) return viz::Point{static_cast<float>(width), 0};
    const auto second = std::from_chars(first.ptr + 1, end, height);
    if (*first.ptr == 'x' && second.ec == std::errc() && second.ptr == end && height > 0)
      return viz::Point{static_cast<float>(width), static_cast<float>(height)};
  }
  throw std::runtime_error("The size is a width, or width x height, in whole numbers, as 1200x800; found " +
                           model::quote(text) + ".");
}

viz::Rect place_of(const View& view, std::span<const PlacedPicture> pictures) {
  for (const PlacedPicture& placed : pictures)
    if (placed.view == &view) return placed.where;
  return {0, 0, 800, 600};
}

/// What the file carries: nothing where that is not wanted, or while the weights' hash is still to come.
std::vector<viz::Note> notes_of(const ExportForm& form, const View* view, const Shown& shown,
                                const Figure& page, SnapshotAnswers& answers) {
  if (!form.recipe) return {};
  Recipe recipe = recipe_of(form, view, shown.state, *shown.snapshot, page);
  if (!add_weights(recipe.session, *shown.snapshot, answers)) return {};
  recipe.session.model.precision = shown.precision;
  return {note_of(recipe)};
}

}  // namespace

std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format, const Shown& shown,
                                          const std::shared_ptr<SnapshotAnswers>& answers,
                                          const std::function<bool()>& ready) {
  ExportOptions options{.scale = static_cast<float>(form.scale),
                        .svg_text = form.svg_text,
                        .caption = form.caption,
                        .page = Page::at_least};
  const View* view = find_view(form.subject);
  if (!view) {
    if (format != FileFormat::png && format != FileFormat::pdf)
      throw std::runtime_error(
          "The whole window is pixels: the file's name must end in .png or .pdf, not in " +
          std::string(extension_of(format)) + ".");
    UiState still = shown.state;
    still.dialog = Dialog::none;
    still.message = {};
    still.dark = form.dark;
    WindowFrame frame = shown.frame;
    frame.pointer.reset();
    frame.still = true;
    frame.device_scale = options.scale;
    const auto side = [](float length) { return static_cast<int>(std::lround(length)); };
    const Figure page{.window = true,
                      .width = side(frame.width),
                      .height = side(frame.height),
                      .page = Page::exact,
                      .scale = options.scale};
    static_cast<void>(notes_of(form, nullptr, shown, page, *answers));  // asks
    const auto bitmap = window_bitmap({still, shown.snapshot, shown.fonts, frame, {}}, answers, ready);
    if (!bitmap) return std::nullopt;
    return bitmap_bytes(format, *bitmap, options.scale, notes_of(form, nullptr, shown, page, *answers));
  }
  const viz::Rect where = place_of(*view, shown.pictures);
  // Whole pixels, which a recipe can say.
  ViewContext context = make_context(view, shown.state, *shown.snapshot, *answers, *shown.fonts,
                                     std::floor(where.w), std::floor(where.h), options.scale);
  if (!context.run) throw std::runtime_error(context.no_run);
  context.theme = &theme_of(form.dark);
  context.in_pane = false;
  context.options = without_pane_only(*view, std::move(context.options));
  if (const auto size = parse_size(form.size.edit.text)) {
    const bool exact = size->y > 0;
    context.width = size->x;
    context.height = exact ? size->y : height_for_width(*view, context, options.scale);
    options.page = exact ? Page::exact : Page::width;
  } else if (view->figure_size) {
    const viz::Point size_of_figure = view->figure_size(context);
    context.width = std::ceil(size_of_figure.x), context.height = std::ceil(size_of_figure.y);
  }
  const Figure page{.window = false,
                    .width = static_cast<int>(context.width),
                    .height = options.page == Page::width ? 0 : static_cast<int>(context.height),
                    .page = options.page,
                    .scale = options.scale,
                    .caption = form.caption,
                    .svg_text = form.svg_text};
  // What it asks, before the work of making a file of it.
  if (format == FileFormat::csv) {
    static_cast<void>(view->table(context));
  } else {
    static_cast<void>(view->build(context));
    static_cast<void>(notes_of(form, view, shown, page, *answers));
  }
  if (!ready()) return std::nullopt;
  if (format != FileFormat::csv) options.notes = notes_of(form, view, shown, page, *answers);
  std::string bytes = export_bytes(format, *view, context, options);
  if (!ready()) return std::nullopt;  // a page that had to grow asked for more
  return bytes;
}

std::optional<viz::Bitmap> window_bitmap(const Shown& shown, const std::shared_ptr<SnapshotAnswers>& answers,
                                         const std::function<bool()>& ready) {
  constexpr int kFrames = 3;  // until what finds its size has found it
  MemoryScreen screen;
  Gui gui(shown.fonts, screen);
  Memory memory;
  for (int i = 0; i < kFrames; ++i) {
    WindowPicture out;
    gui.frame(shown.frame, nullptr, shown.state.dark, shown.state.font_size, [&](viz::ImguiPlayer& player) {
      const Seen seen{shown.state, *shown.snapshot, answers, shown.fonts, shown.frame, nullptr};
      Ui ui(seen, memory, player, out);
      draw_window(ui);
    });
  }
  if (!ready()) return std::nullopt;
  return viz::rasterize(*ImGui::GetDrawData(), screen.textures().store(), theme_of(shown.state.dark).window);
}

}  // namespace headscope::app
