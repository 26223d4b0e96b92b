#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/ui.h"

namespace headscope::app {

/// Draws the whole window; a Dear ImGui frame must have begun.
void draw_window(Ui& ui);

// Each of these draws one part of the window into a rectangle.
void draw_top_bar(Ui& ui, const viz::Rect& rect, bool with_notice);
/// Heights of the parts of the prompt's card, from the top.
struct PromptHeights {
  float editor = 0;
  float notice = 0;  ///< 0: the card has no room for it, or there is none
  float tokens = 0;
  float below = 0;
  float total() const { return editor + notice + tokens + below; }
};
/// The editor, the notice and the tokens in a card of this width. In a window that is not low the sum is
/// always the same, so that the panes stay where they are while the text grows.
PromptHeights prompt_heights(Ui& ui, float width);
void draw_prompt(Ui& ui, const viz::Rect& rect, const PromptHeights& heights);
/// The height of a prompt's tokens in a number of lines.
float tokens_height(const Ui& ui, int lines);
/// Whether the tokens of a second prompt are shown under it.
bool shows_second_tokens(const UiState& state, const Snapshot& snapshot);
/// What is to be said about the whole prompt, in one or two lines; nothing if there is no need.
void draw_prompt_notice(Ui& ui, const viz::Rect& rect);
/// The Edits bar and the comparison bars, if any are shown.
void draw_edit_bars(Ui& ui, const viz::Rect& rect);
float edit_bars_height(const Ui& ui);
/// The shown side of the comparison: "second prompt".
std::string side_words(const UiState& state);
void draw_edit_menus(Ui& ui);
/// The heads on the left or the next token on the right.
void draw_side_view(Ui& ui, const viz::Rect& rect, Place place);
void draw_tabs(Ui& ui, const viz::Rect& rect,
               bool second_view);  ///< the middle pane or the second view
/// The width of the map of the forward pass, in a room; 0: it has no room.
float pass_map_width(const Ui& ui, float room);
/// The groups of views as the stages of the pass; returns the view to show instead, if one was pressed.
const View* draw_pass_map(Ui& ui, const viz::Rect& rect, const View& shown);
void draw_tour(Ui& ui, const viz::Rect& rect);  ///< the open tour or the list of tours
/// Outlines what the open stop points at, above the panes.
void draw_points(Ui& ui);
void draw_status(Ui& ui, const viz::Rect& rect);
/// The error above the status line; the height is 0 if there is none.
float error_height(const Ui& ui, float width);
void draw_error(Ui& ui, const viz::Rect& rect);
/// What the folders of the open models have that is not used, until it is closed; the height is 0 if that is
/// nothing.
float warnings_height(const Ui& ui);
void draw_warnings(Ui& ui, const viz::Rect& rect);
/// The progress of fetching a model, or the offer to fetch one; the height is 0 if there is neither.
float fetching_height(const Ui& ui);
void draw_fetching(Ui& ui, const viz::Rect& rect);
void draw_menus(Ui& ui);
/// The context menu of a field; call it inside the field's dialog, if it has one.
void draw_text_menu(Ui& ui);
void draw_export(Ui& ui);
void draw_open(Ui& ui);
void draw_help(Ui& ui);
void draw_palette(Ui& ui);
void draw_save(Ui& ui);

// Building blocks shared by the panels.

/// A line of controls, placed from both ends.
class RowLayout {
 public:
  RowLayout(const viz::Rect& line, float gap) : rest_(line), gap_(gap) {}
  viz::Rect left(float width);
  viz::Rect right(float width);
  void skip(float width) { rest_.x += width, rest_.w -= width; }
  const viz::Rect& rest() const { return rest_; }

 private:
  viz::Rect rest_;
  float gap_;
};

/// Lines of a menu from top to bottom. Without a place they are only measured.
class MenuLayout {
 public:
  MenuLayout(Ui& ui, std::optional<viz::Rect> place) : ui_(ui), place_(place) {}
  /// Reserves a line for custom drawing; nothing while measuring.
  std::optional<viz::Rect> take(float height);
  /// Whether it was pressed.
  bool row(const Ui::Row& row, float height);
  void row(const Ui::Row& row, float height, Action action);
  void gap();
  void heading(std::string_view words, float height);
  float height() const { return height_; }

 private:
  Ui& ui_;
  std::optional<viz::Rect> place_;
  float height_ = 0;  // total height of the lines so far
};

/// Draws a menu if it is open, with the lines that `add` adds. Returns whether it was drawn.
bool draw_menu(Ui& ui, Menu menu, viz::Point at, float width, const std::function<void(MenuLayout&)>& add);

/// Places controls from left to right, in as many rows as needed.
class FlowLayout {
 public:
  /// The first row begins `taken` further right.
  FlowLayout(const viz::Rect& first, float gap, float taken = 0)
      : first_(first), x_(first.x + taken), y_(first.y), gap_(gap) {}
  viz::Rect take(float width);
  float bottom() const { return y_ + first_.h; }
  float room() const { return first_.right() - x_; }  ///< left in the last row

 private:
  viz::Rect first_;
  float x_, y_, gap_;
};

/// The controls of a view's options and the buttons of its commands, in rows starting at `first`, which
/// scroll if they are higher than `most`; returns their bottom, which is the top of `first` if there are
/// none. The first row begins `taken` further right. Tabs leave out the controls of the side panes.
float draw_controls(Ui& ui, const View& view, const viz::Rect& first, float most, float taken = 0);

/// The message under a path in a dialog: why it cannot be written, or that the file exists. Returns whether
/// there was one.
bool draw_path_message(Ui& ui, const viz::Rect& rect, const FileForm& form);
/// The button in the lower right corner of a dialog that writes a file.
bool draw_write_button(Ui& ui, const viz::Rect& body, const std::string& label, const std::string& name,
                       const FileForm& form);

}  // namespace headscope::app
