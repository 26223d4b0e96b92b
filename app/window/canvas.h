#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/window/state.h"
#include "viz/scene.h"
#include "viz/text.h"
#include "viz/theme.h"

namespace headscope::app {

enum class Cursor { arrow, hand, text, resize_x, move };

/// Something that answers the mouse: a click is an action or starts a drag. The last target that holds a
/// point wins.
struct Target {
  viz::Rect rect;
  std::optional<Action> click;
  std::optional<Drag> drag;
  std::string tip;
  Cursor cursor = Cursor::hand;
};

/// Paints the window's own controls as a scene and notes what answers the mouse. Nothing in it outlives the
/// frame. Lengths are logical pixels; `u(n)` is n of them at the usual font size and grows with it.
class Canvas {
 public:
  Canvas(const viz::Theme& theme, const viz::Fonts& fonts, float font_size,
         std::optional<viz::Point> pointer);

  const viz::Theme& theme() const { return theme_; }
  const viz::Fonts& fonts() const { return fonts_; }
  float font_size() const { return font_size_; }
  float u(float n) const { return n * font_size_ / 14; }
  std::optional<viz::Point> pointer() const { return pointer_; }
  /// Null where another layer lies over what is painted next.
  void set_pointer(std::optional<viz::Point> pointer) { pointer_ = pointer; }
  bool hot(const viz::Rect& rect) const { return pointer_ && rect.contains(*pointer_); }

  void fill(const viz::Rect& rect, viz::Color color, float radius = 0);
  /// A soft shadow, as of a sheet that lies above the window.
  void shadow(const viz::Rect& rect, float radius, float depth);
  void stroke(const viz::Rect& rect, viz::Color color, float width = 1, float radius = 0);
  void line(viz::Point a, viz::Point b, viz::Color color, float width = 1);
  void text(std::string_view text, viz::Point middle_left, viz::Color color,
            viz::FontStyle style = viz::FontStyle::regular, float size_factor = 1,
            viz::Align align = viz::Align::left);
  /// Shortened to the rectangle's width, in the middle of its height.
  void text_in(std::string_view text, const viz::Rect& rect, viz::Color color,
               viz::FontStyle style = viz::FontStyle::regular, float size_factor = 1,
               viz::Align align = viz::Align::left);
  /// Words wrapped to the width from `top` down; returns the height used.
  float paragraph(std::string_view text, viz::Point top_left, float width, viz::Color color,
                  float size_factor = 1);
  float width(std::string_view text, viz::FontStyle style = viz::FontStyle::regular,
              float size_factor = 1) const;

  enum class Look { plain, raised, primary };
  struct ButtonStyle {
    Look look = Look::raised;
    bool on = false;  ///< a toggle that is set
    bool enabled = true;
    bool menu = false;  ///< with a small arrow: opens a menu
    std::string tip;
  };
  void button(const viz::Rect& rect, std::string_view label, Action action, const ButtonStyle& style);
  float button_width(std::string_view label, bool menu = false) const;

  struct Segment {
    std::string label;
    Action action;
    bool on = false;
    std::string tip;
  };
  /// Choices of which one is set, joined into one control.
  void segmented(const viz::Rect& rect, const std::vector<Segment>& segments);
  float segmented_width(const std::vector<Segment>& segments) const;

  /// A slider whose knob stands at `fraction` of its track.
  void slider(const viz::Rect& rect, double fraction, const Drag& drag, std::string tip);
  void checkbox(const viz::Rect& rect, std::string_view label, bool on, Action action, std::string tip);

  void target(Target target);
  /// A modal layer: what was painted before answers nothing any more; a click beside it closes it.
  void begin_layer(const viz::Rect& window, Action close, viz::Color shade);
  void clip(const viz::Rect& rect) { scene_.add(viz::PushClip{rect}); }
  void unclip() { scene_.add(viz::PopClip{}); }

  viz::Scene& scene() { return scene_; }
  std::vector<Target>& targets() { return targets_; }

 private:
  viz::Theme theme_;
  const viz::Fonts& fonts_;
  float font_size_;
  std::optional<viz::Point> pointer_;
  viz::Scene scene_;
  std::vector<Target> targets_;
};

/// `a` over `b` by t in [0, 1].
viz::Color mix(viz::Color a, viz::Color b, float t);

}  // namespace headscope::app
