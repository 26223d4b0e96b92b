#pragma once
#include <string>
#include <vector>

#include "app/window/ui.h"

namespace headscope::app {

/// Draws a frame of the whole window.
WindowPicture draw_window(Gui& gui, const FrameInput& input, UiMemory& memory);

// Each of these draws one part of the window into a rectangle.
void draw_top_bar(Ui& ui, const viz::Rect& rect);
/// The prompt's text and tokens, cut off the top of `rest`. In a window that is not low their height is
/// always the same, so that the panes stay where they are while the text grows.
void draw_prompt(Ui& ui, viz::Rect& rest);
/// The height of a prompt's tokens in a number of lines.
float tokens_height(const Ui& ui, int lines);
/// Whether the tokens of a second prompt are shown under it.
bool shows_second_tokens(const UiState& state, const Snapshot& snapshot);
/// The Edits bar and the comparison bars, if any are shown, cut off the top of `rest`.
void draw_edit_bars(Ui& ui, viz::Rect& rest);
/// The shown side of the comparison: "second prompt".
std::string side_words(const UiState& state);
void draw_edit_menu(Ui& ui);
/// The heads on the left or the next token on the right.
void draw_side_view(Ui& ui, const viz::Rect& rect, Place place);
void draw_tabs(Ui& ui, const viz::Rect& rect,
               bool second_view);               ///< the middle pane or the second view
void draw_tour(Ui& ui, const viz::Rect& rect);  ///< the open tour or the list of tours
/// Outlines what the open stop points at, above the panes.
void draw_points(Ui& ui);
void draw_status(Ui& ui, const viz::Rect& rect);
/// The bars above the status line, cut off the bottom of `rest`: an error; what the folders of the open
/// models have that is not used, until it is closed; the progress of fetching a model, or the offer to fetch
/// one.
void draw_bars(Ui& ui, viz::Rect& rest);
void draw_menus(Ui& ui);
void draw_export(Ui& ui);
void draw_open(Ui& ui);
void draw_help(Ui& ui);
void draw_palette(Ui& ui);
void draw_save(Ui& ui);

/// The controls of a view's options and the buttons of its commands, for rows as wide as `room`. Tabs leave
/// out the controls of the side panes.
std::vector<Ui::Part> controls(Ui& ui, const View& view, float room);

/// The message under a path in a dialog: why it cannot be written, or that the file exists; else `about`.
void draw_path_message(Ui& ui, const viz::Rect& rect, const FileForm& form, std::string_view about = {});
/// The button of a dialog that writes a file.
Ui::Part write_button(Ui& ui, const std::string& label, const std::string& name, const FileForm& form,
                      Action action);

}  // namespace headscope::app
