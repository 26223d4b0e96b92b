#pragma once
#include <memory>
#include <string>

#include "app/window/window_picture.h"

namespace headscope::app {

/// What every panel of the window is drawn with and onto.
struct PanelContext {
  Canvas& canvas;
  const UiState& state;
  const Snapshot& snapshot;
  const std::shared_ptr<SnapshotAnswers>& answers;
  const WindowFrame& frame;
  FieldMetrics& metrics;
  PictureCache& cache;
  const std::shared_ptr<const viz::Fonts>& fonts;
  WindowPicture& out;
  viz::Rect examples_button = {};  ///< where their menus open; set by the top bar
  viz::Rect models_button = {};

  float u(float n) const { return canvas.u(n); }
  const viz::Theme& theme() const { return canvas.theme(); }
};

// Each draws one part of the window into a rectangle of it.
void draw_top_bar(PanelContext& p, const viz::Rect& rect);
/// Returns the height that it took: it grows with the prompt.
float draw_prompt(PanelContext& p, const viz::Rect& rect);
void draw_heads(PanelContext& p, const viz::Rect& rect);
void draw_view(PanelContext& p, const viz::Rect& rect);
void draw_next(PanelContext& p, const viz::Rect& rect);
void draw_status(PanelContext& p, const viz::Rect& rect);
void draw_message(PanelContext& p, const viz::Rect& window);
void draw_dialog(PanelContext& p, const viz::Rect& window);
/// What the mouse adds to the picture under it: overlay, tooltip. Returns the words for the status line.
std::string draw_hover(PanelContext& p, const viz::Rect& window);

// Pieces that panels share.
void draw_card(PanelContext& p, const viz::Rect& rect);
/// Puts a view's picture into a rectangle.
void place_view(PanelContext& p, const View& view, const viz::Rect& rect);
/// The control of an option in a rectangle, by its type, and the width that it wants. Its label is part of
/// it.
void draw_option(PanelContext& p, const OptionSpec& option, const viz::Rect& rect);
float option_width(const PanelContext& p, const OptionSpec& option);
/// How a key is written that is typed as this character: "S", "Shift+S", "−".
std::string key_name(char key);
/// The options of a view that have a control and none in a pane that is always shown.
std::vector<const OptionSpec*> controls_of(const View& view);
/// A one-line text field.
void draw_field(PanelContext& p, Field field, const viz::Rect& rect, std::string placeholder);
/// An editor with the look given; completes what of it the state says.
void draw_editor(PanelContext& p, Field field, EditorLook look);
/// Words beside the mouse, and under the first line a small picture where there is one.
void draw_tooltip(PanelContext& p, const std::vector<std::string>& lines, viz::Point at,
                  const viz::Rect& window, const viz::Scene* card = nullptr);

}  // namespace headscope::app
