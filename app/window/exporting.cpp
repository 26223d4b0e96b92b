#include "app/window/exporting.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "app/ascii.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/figure.h"
#include "app/views/view.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "model/files/error.h"
#include "viz/players/imgui_compat.h"
#include "viz/players/players.h"

namespace headscope::app {
namespace {

/// The recipe that the file carries; empty if it is not wanted or while the weights' hash is unknown.
std::vector<viz::Note> recipe_notes(const ExportForm& form, const View* view, const FrameInput& shown,
                                    const Figure& page) {
  if (!form.recipe) return {};
  Recipe recipe = recipe_of(form, view, shown.state, shown.snapshot, page);
  if (!add_weights(recipe.session, shown.snapshot, *shown.answers)) return {};
  return {recipe_note(recipe)};
}

/// The whole window as a file.
std::optional<std::string> window_bytes(const ExportForm& form, FileFormat format, const FrameInput& shown) {
  if (format != FileFormat::png && format != FileFormat::pdf)
    throw std::runtime_error("A picture of the whole window must be saved as .png or .pdf, not as " +
                             std::string(extension_of(format)) + ".");
  const auto scale = static_cast<float>(form.scale);
  UiState still = shown.state;
  still.dialog = Dialog::none;
  still.message = {};
  still.dark = form.dark;
  WindowFrame frame = shown.frame;
  frame.pointer.reset();
  frame.still = true;
  frame.device_scale = scale;
  const auto side = [](float length) { return static_cast<int>(std::lround(length)); };
  const Figure page{.window = true,
                    .width = side(frame.width),
                    .height = side(frame.height),
                    .how = {.scale = scale, .page = Page::exact}};
  const std::vector<viz::Note> notes = recipe_notes(form, nullptr, shown, page);  // asks for the hash
  const auto bitmap = window_bitmap({still, shown.snapshot, shown.answers, shown.fonts, frame}, true);
  if (!bitmap) return std::nullopt;
  return bitmap_bytes(format, *bitmap, scale, notes);
}

}  // namespace

std::pair<ViewContext, Figure> figure_plan(const View& view, const ExportForm& form, FileFormat format,
                                           const FrameInput& shown, std::span<const PlacedPicture> pictures) {
  const bool printed = form.target != Target::screen;
  Figure figure = figure_for(form.target);
  ExportOptions& how = figure.how;
  how.svg_text = form.svg_text, how.caption = form.caption, how.title = form.title;
  how.letters_grow = printed;
  if (!printed) {
    const auto placed = std::ranges::find(pictures, &view, &PlacedPicture::view);
    const viz::Rect where = placed != pictures.end() ? placed->where : viz::Rect{0, 0, 800, 600};
    // Whole pixels, because a recipe stores integers.
    figure.width = static_cast<int>(where.w), figure.height = static_cast<int>(where.h);
    how.page = Page::at_least;
    if (format == FileFormat::png) how.scale = static_cast<float>(form.scale);
  }
  const std::string& size = form.size.edit.text;
  if (!trimmed(size, " ").empty() && !set_size(figure, size))
    throw std::runtime_error(
        "The size must be a width or WIDTHxHEIGHT, in pixels, in, cm, mm or pt, e.g. 1200x800 or 84mm; "
        "found " +
        model::quote(size) + ".");
  ViewContext context = make_context(&view, shown.state, shown.snapshot, *shown.answers, *shown.fonts,
                                     width_on(form.target, figure.width), 0, how.scale);
  context.height = static_cast<float>(figure.height);
  if (!context.run) throw std::runtime_error(context.no_run);
  context.theme = &theme_of(form.dark);
  context.in_pane = false;
  context.options = options_of(view, context.options);
  if (printed) context.font_size = spec_of(form.target).font_size;
  return {std::move(context), std::move(figure)};
}

std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format, const FrameInput& shown,
                                          std::span<const PlacedPicture> pictures) {
  const View* view = find_view(form.subject);
  if (!view) return window_bytes(form, format, shown);
  auto [context, figure] = figure_plan(*view, form, format, shown, pictures);
  // Ask everything first, before the work of making a file.
  if (format == FileFormat::csv) {
    static_cast<void>(view->table(context));
  } else {
    static_cast<void>(view->whole_height(context));
    figure.how.notes = recipe_notes(form, view, shown, figure);
  }
  if (!are_complete(*shown.answers)) return std::nullopt;
  std::string bytes = export_bytes(format, *view, context, figure.how);
  if (!are_complete(*shown.answers)) return std::nullopt;  // a page that had to grow has asked for more
  return bytes;
}

bool are_complete(SnapshotAnswers& answers) {
  return std::ranges::all_of(answers.asked(), [&](const Question& question) {
    const auto known = answers.ask(question);  // as what is exported was told
    if (known && !known->value) throw std::runtime_error(known->failure);
    return known && known->whole;
  });
}

std::optional<viz::Bitmap> window_bitmap(const FrameInput& shown, bool complete) {
  MemoryScreen screen;
  Gui gui(shown.fonts, screen);
  UiMemory memory;
  for (int i = 0; i < kMaxFrames && draw_window(gui, shown, memory).settling; ++i) continue;
  if (complete && !are_complete(*shown.answers)) return std::nullopt;
  return viz::rasterize(*ImGui::GetDrawData(), screen.textures().store(), theme_of(shown.state.dark).window);
}

}  // namespace headscope::app
