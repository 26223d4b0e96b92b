#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/answers.h"
#include "app/window/gui.h"
#include "app/window/picture_cache.h"
#include "app/window/window_picture.h"
#include "viz/scene/picture.h"

namespace headscope::app {

/// What a frame is drawn from.
struct FrameInput {
  const UiState& state;
  const Snapshot& snapshot;
  const std::shared_ptr<SnapshotAnswers>& answers;
  const std::shared_ptr<const viz::Fonts>& fonts;
  const WindowFrame& frame;
  const Event* event = nullptr;  ///< the event handled in this frame; null: none

  /// The event if it is a T, else null.
  template <class T>
  const T* event_as() const {
    return event ? std::get_if<T>(event) : nullptr;
  }
};

/// What lasts from frame to frame.
struct UiMemory {
  WidgetState widgets;
  FieldMetrics metrics;
  PictureCache cache;
};

// Each of these cuts a part off one side of a rectangle and returns it. The gap behind it is cut off, too.
viz::Rect cut_top(viz::Rect& rest, float height, float gap = 0);
viz::Rect cut_bottom(viz::Rect& rest, float height, float gap = 0);
viz::Rect cut_left(viz::Rect& rest, float width, float gap = 0);
viz::Rect cut_right(viz::Rect& rest, float width, float gap = 0);

/// The widgets of the panels: Dear ImGui's, with text painted as in pictures, so that every script is shown
/// and the window and its figures look alike. Each widget fills the rectangle it is given, in logical pixels
/// of the window, and records its position. User input becomes actions. Lives for one frame.
class Ui {
 public:
  Ui(const FrameInput& frame_input, UiMemory& ui_memory, viz::ImguiPlayer& player, WindowPicture& picture)
      : input(frame_input), memory(ui_memory), out(picture), player_(player) {}

  const FrameInput& input;
  UiMemory& memory;
  WindowPicture& out;
  std::vector<Action>& actions = out.actions;
  const UiState& state = input.state;
  const Snapshot& snapshot = input.snapshot;
  WidgetState& widgets = memory.widgets;

  // --- measures and paint ---
  float u(float n) const { return n * state.font_size / kDefaultFontSize; }
  const viz::Theme& theme() const { return theme_of(state.dark); }
  /// The background of selected tabs, segments, rows and buttons.
  viz::Color selected() const { return viz::blended(theme().surface, theme().accent.with_alpha(46)); }
  const viz::Fonts& fonts() const { return *input.fonts; }
  viz::Style style() const { return {theme(), fonts(), state.font_size, input.frame.device_scale}; }
  /// See make_context.
  ViewContext context(const View* view, float width = 1, float height = 1, float scale = 1) const {
    return make_context(view, state, snapshot, *input.answers, fonts(), width, height, scale);
  }
  float width(std::string_view words, viz::FontStyle style = viz::FontStyle::regular, float factor = 1) const;
  void fill(const viz::Rect& rect, viz::Color color, float radius = 0);
  void stroke(const viz::Rect& rect, viz::Color color, float width = 1, float radius = 0);
  void line(viz::Point a, viz::Point b, viz::Color color);
  /// Text shortened to the rectangle's width, vertically centred.
  void text(std::string_view words, const viz::Rect& rect, viz::Color color,
            viz::FontStyle style = viz::FontStyle::regular, float factor = 1,
            viz::Align align = viz::Align::left);
  /// The same in a smaller font.
  void small(std::string_view words, const viz::Rect& rect, viz::Color color,
             viz::Align align = viz::Align::left) {
    text(words, rect, color, viz::FontStyle::regular, kSmall, align);
  }
  static constexpr float kSmall = 0.93F;  ///< times the font's size
  /// Text wrapped to the width, from the top; returns its height.
  float paragraph(std::string_view words, const viz::Rect& rect, viz::Color color, float factor = 1);
  float paragraph_height(std::string_view words, float width, float factor = 1) const;
  std::vector<std::string> wrapped(std::string_view words, float width, float factor) const;
  viz::Scene& scene() { return layers_.back().scene; }

  // --- windows: every begin needs its end ---
  /// The items from here on are another group for Tab. Panes, lists, pictures and fields are groups anyway.
  void begin_group() { ++group_; }
  void begin_window();
  void end_window();
  /// A part of the window with a background and a border.
  void begin_pane(const char* id, const viz::Rect& rect);
  void end_pane();
  /// A layer over all panes, under menus and dialogs, that takes no input.
  void begin_overlay();
  void area(std::string_view name, const viz::Rect& rect) { out.areas.push_back({name, rect}); }
  /// A pane that scrolls over its lines.
  void begin_list(const char* id, const viz::Rect& rect);
  void end_list() { end_pane(); }
  /// Scrolls a list without controls by arrows, Page Up and Down, Home and End.
  void scroll_by_keys();
  /// Scrolls a list to `y` below its top in the first frame that shows `what`.
  void scroll_once(const std::string& what, float y);
  /// Returns whether the menu is open. It opens below its button, or at `widgets.menu_at` if this frame has
  /// no such button, is as high as its lines and scrolls if that is higher than the window.
  bool begin_menu(Menu menu, float width);
  void end_menu() { end_sheet(); }
  /// A menu without a button opens where another one does.
  void open_in_place_of(Menu menu, Menu other) { menu_buttons_[menu] = menu_buttons_[other]; }
  /// A centred dialog with a title; returns the rectangle below the title, nothing if the dialog is not open.
  std::optional<viz::Rect> begin_dialog(Dialog dialog, std::string_view title, float width, float height);
  void end_dialog();

  // --- lines of a list or a menu, from the top ---
  viz::Rect next(float height);
  /// The same with text.
  void heading(std::string_view words);
  void paragraph(std::string_view words, viz::Color color, float factor = 1);
  void separator();
  /// A line that can be chosen; returns whether it was pressed, which closes its menu. The second click of a
  /// double click on a list is ignored, since the list may show something else by then.
  bool row(const MenuItem& item);
  void row(MenuItem item, Action action) {
    item.actions.push_back(std::move(action));
    row(item);
  }

  // --- rows ---
  /// One part of a row: how wide it is and how it is drawn.
  struct Part {
    float width = 0;  ///< minimum width, if there is room
    std::function<void(const viz::Rect&)> draw = {};
    bool grows = false;          ///< takes the room that is left
    std::string_view area = {};  ///< that tours point at
  };
  /// Draws parts side by side. The first one that grows takes the spare room, or shrinks if there is too
  /// little.
  void place(const viz::Rect& rect, const std::vector<Part>& parts, float gap = 8);
  /// Draws parts in as many rows of that height as needed, which scroll if they are higher than `max_height`;
  /// cuts them off the top of a rectangle.
  void flow(viz::Rect& rest, float row, const std::vector<Part>& parts, float max_height);
  /// One part made of several.
  Part joined(std::vector<Part> parts, float gap = 0);
  /// Muted text with a tooltip and, if the glossary has one, the definition of a term.
  Part label(std::string words, std::string tip = {}, std::string_view term = {});
  Part words(std::string words, viz::Color color, float factor = kSmall, bool grows = false);

  // --- widgets ---
  enum class Look { plain, raised, primary };
  struct Button {
    Look look = Look::raised;
    bool on = false;               ///< selected, or a toggle that is set
    std::string unavailable = {};  ///< why it cannot be pressed now, a sentence in the tooltip; empty: it can
    bool menu = false;             ///< opens a menu: has a small arrow
    bool square = false;           ///< has nothing but a sign on it
    std::string tip = {};
    std::string name = {};  ///< if the label is not descriptive enough: "Size −"
  };
  /// Whether it was pressed.
  bool button(const viz::Rect& rect, std::string_view label, const Button& style);
  float button_width(std::string_view label, bool menu = false) const;
  Part button(std::string label, Button style, Action action);
  /// A square button with nothing but a sign on it.
  Part sign(const char* sign, std::string name, std::string tip, Action action, std::string unavailable = {});
  /// A button that opens a menu, and is on while that is open.
  Part menu_button(std::string label, Menu menu, Button style);

  /// Choices side by side or, if `room` is too narrow or they are a `list`, a button that says what is chosen
  /// and opens a menu of them. The items' names begin with `name`.
  Part choice(std::string name, std::vector<MenuItem> items, int chosen, float room, bool list = false);

  /// Returns the new value, in whole steps, while the mouse or arrow keys move it. A double click returns
  /// `default_value`.
  struct Range {
    double low = 0, high = 1, step = 0.1, default_value = 0;
  };
  std::optional<double> slider(const viz::Rect& rect, std::string_view name, double value, const Range& range,
                               const std::string& tip);
  /// Text that can be pressed. `id` tells links of the same words apart.
  bool link(const viz::Rect& rect, std::string_view words, float factor, int id = 0);
  /// The tooltip of a painted label, with its definition if the glossary has one.
  void explain(const viz::Rect& rect, std::string_view label, const std::string& tip);

  /// A one-line text.
  void field(Field field, const viz::Rect& rect, std::string placeholder);
  Part field(Field field, std::string placeholder, float width, bool grows = true);
  /// An editor with this look; the rest of the look comes from the state.
  void editor(Field field, EditorLook look);
  /// A view's picture, which responds to the mouse.
  void picture(const View& view, const viz::Rect& rect, Side side);
  /// A page in the middle of a rectangle, made smaller if it does not fit, without responding to the mouse;
  /// returns where it is.
  viz::Rect page(const viz::Scene& scene, const viz::Rect& rect);
  /// Opens the context menu of a picture: for the place under the mouse or, without `mouse`, for all of it.
  void open_menu(const PlacedPicture& placed, std::optional<viz::Point> mouse);
  void open_menu(const PlacedField& placed, viz::Point at);
  /// A draggable gap beside a pane of this width, which grows by `sign` times the distance. Returns the
  /// pane's new width; 0, the default, after a double click.
  std::optional<float> splitter(const char* name, const viz::Rect& rect, float width, float sign);

  /// Shows below a field why its text is not taken.
  void complain(const viz::Rect& field, std::string words);
  /// The status line's text about what is under the mouse; empty: none.
  const std::string& status() const { return status_; }
  void finish();  ///< draws the tooltip over everything

 private:
  void begin_child(const char* id, const viz::Rect& rect, bool border, int flags);
  /// A Dear ImGui button, which is not seen; returns whether it was pressed.
  static bool invisible_button(std::string_view name, const viz::Rect& rect, int flags = 0);
  float line_height(float factor) const { return state.font_size * factor * 1.45F; }
  /// The content of a Dear ImGui popup that has begun.
  void begin_sheet(float shadow_depth);
  void end_sheet();
  void begin_scene();
  void end_scene();
  /// Records the last submitted item; `ring`: it paints its own keyboard focus.
  void record_item(std::string label, const viz::Rect& rect, bool enabled = true, bool ring = false);
  /// The tooltip of the last submitted item. The glossary explains the label.
  void tip(std::string_view label, const std::string& words, const std::string& unavailable = {});
  /// How far arrow keys move the last submitted item: -1, 0 or 1.
  int steps_by_keys();
  /// Adds the definition of a label's term to the tooltip, once the mouse has rested.
  void define(std::string_view label);
  void hover_picture(const PlacedPicture& placed);
  void define_text(const PlacedPicture& placed, viz::Point at);
  void hold_picture(const PlacedPicture& placed);
  void scroll_bars(const PlacedPicture& placed);
  ViewActions meaning(const PlacedPicture& placed, viz::Point pressed, Gesture gesture) const;
  void hold_text(const PlacedField& placed);
  void open_menu(viz::Point at, std::vector<MenuItem> items);
  void context_menu();
  void act(const PlacedPicture& placed, ViewActions todo);
  void shadow(ImDrawList& list, const viz::Rect& rect, float radius, float depth) const;

  /// An open window.
  struct Layer {
    viz::Scene scene;
    viz::Rect rest;  ///< for the next lines
    float top = 0;   ///< of the first line
    int rows = 0;
  };
  std::vector<Layer> layers_;  // the innermost last
  struct Tooltip {
    std::vector<std::string> lines = {};
    viz::Scene card = {};                 ///< a picture under the first line; width 0: none
    viz::Rect beside = {};                ///< the picture that the card is about
    std::optional<viz::Rect> under = {};  ///< the field that it is about, instead of the mouse
    const GlossaryEntry* term = nullptr;  ///< defined below the lines
  };
  Tooltip tip_;
  std::string status_;
  std::map<Menu, viz::Rect> menu_buttons_;
  int layer_ = 0;
  int group_ = 0;
  viz::ImguiPlayer& player_;
};

}  // namespace headscope::app
