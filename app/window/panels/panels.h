#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/window/ui.h"

namespace headscope::app {

/// The whole window, in a frame of Dear ImGui that has begun.
void draw_window(Ui& ui);

// Each draws one part of the window into a rectangle of it.
void draw_top_bar(Ui& ui, const viz::Rect& rect);
/// The editor, a line about the prompt, and the tokens. Its height does not depend on what is typed.
void draw_prompt(Ui& ui, const viz::Rect& rect);
float prompt_height(const Ui& ui);
/// What is changed, and what it is compared with; nothing while there is nothing of that.
void draw_changes(Ui& ui, const viz::Rect& rect);
float changes_height(const Ui& ui);
void draw_change_menus(Ui& ui);
void draw_side_view(Ui& ui, const viz::Rect& rect,
                    Place place);                            ///< heads at the left, next token at the right
void draw_tabs(Ui& ui, const viz::Rect& rect, bool beside);  ///< the middle, or the second view beside it
void draw_tour(Ui& ui, const viz::Rect& rect);               ///< the open tour, or the list of them
void draw_status(Ui& ui, const viz::Rect& rect);
/// The line of an error, above the status line; 0 when there is none.
float error_height(const Ui& ui, float width);
void draw_error(Ui& ui, const viz::Rect& rect);
/// How far a model has come from the hub, or the offer of one; its height is 0 when there is nothing of that.
float fetching_height(const Ui& ui);
void draw_fetching(Ui& ui, const viz::Rect& rect);
void draw_menus(Ui& ui);
/// Of the field that was asked for; within the dialog that it is in, if it is.
void draw_text_menu(Ui& ui);
void draw_export(Ui& ui);
void draw_open(Ui& ui);
void draw_help(Ui& ui);
void draw_save(Ui& ui);
void draw_sessions(Ui& ui);

// Pieces that panels share.

/// Places for controls from left to right, in as many rows as they take.
class Rows {
 public:
  Rows(const viz::Rect& first, float gap) : first_(first), x_(first.x), y_(first.y), gap_(gap) {}
  viz::Rect take(float width);
  float bottom() const { return y_ + first_.h; }
  float room() const { return first_.right() - x_; }  ///< left in the last row

 private:
  viz::Rect first_;
  float x_, y_, gap_;
};

/// The controls of a view's options and the buttons of its commands, in rows from `first` on, which scroll
/// when they would be higher than `most`; returns their lower end. Those that a pane which is always shown
/// has are left out.
float draw_controls(Ui& ui, const View& view, const viz::Rect& first, float most);
float controls_width(const Ui& ui, const View& view);

/// The words of a tip: with a capital letter, and the key.
std::string tip_words(std::string_view help, std::string_view keys, std::size_t which);

}  // namespace headscope::app
