#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/canvas.h"
#include "app/state.h"
#include "app/view.h"
#include "app/worker.h"

namespace headscope::app {

/// A view's picture in its place in the window.
struct PlacedPicture {
  const View* view = nullptr;
  std::shared_ptr<const Picture> picture;
  ViewContext context;  ///< its pointers live as long as the snapshot that the window was drawn from
  viz::Rect where;
  std::size_t targets_below = 0;  ///< targets with a smaller index lie under it
};

/// An editable text in its place.
struct PlacedField {
  Field field = Field::none;
  EditorLook look;
  std::size_t targets_below = 0;
};

/// How the fields' texts are wrapped: memos, not state.
struct FieldMetrics {
  EditMetrics prompt;
  EditMetrics export_path;
  EditMetrics open_path;
  EditMetrics dimensions;
  EditMetrics& of(Field field) {
    return field == Field::export_path  ? export_path
           : field == Field::open_path  ? open_path
           : field == Field::dimensions ? dimensions
                                        : prompt;
  }
};

/// The whole window as a value: what is painted and what answers the mouse.
struct WindowPicture {
  viz::Scene scene;
  std::vector<Target> targets;
  std::vector<PlacedPicture> pictures;
  std::vector<PlacedField> fields;
  Cursor cursor = Cursor::arrow;
  bool blinking = false;  ///< a caret blinks: to be drawn again within half a second
};

/// Pictures that were drawn last, so that moving the mouse rebuilds none of them. A memo, not a state.
class PictureCache {
 public:
  /// The view's picture; built when anything that it is made of changed.
  std::shared_ptr<const Picture> get(const View& view, const ViewContext& context, const Snapshot& snapshot);
  int built() const { return built_; }  ///< how many were built so far

 private:
  struct Entry {
    std::shared_ptr<const void> run, head, thumbnails, statistics,
        next;  // kept alive: addresses identify them
    Selection selection;
    ViewOptions options;
    bool dark = false;
    float width = 0, height = 0, font_size = 0, device_scale = 0;
    bool operator==(const Entry&) const = default;
  };
  struct Slot {
    Entry entry;
    std::shared_ptr<const Picture> picture;
  };
  std::map<std::string_view, Slot> slots_;
  int built_ = 0;
};

/// What a frame is drawn for.
struct WindowFrame {
  float width = 1600;  ///< logical pixels
  float height = 1000;
  float device_scale = 1;
  std::optional<viz::Point> pointer;  ///< null: no mouse over the window
  bool caret_on = true;               ///< the bright half of the blink
  bool still = false;                 ///< for a file: no caret, nothing that depends on the moment
};

/// Draws the window. The same for the screen, for `shot` and for the export of the whole window.
WindowPicture draw_window(const UiState& state, const Snapshot& snapshot, const WindowFrame& frame,
                          FieldMetrics& metrics, PictureCache& cache,
                          const std::shared_ptr<const viz::Fonts>& fonts);

/// The context of a view at a size, from what there is.
ViewContext make_context(const UiState& state, const Snapshot& snapshot, const viz::Theme& theme,
                         const viz::Fonts& fonts, float width, float height, float device_scale);

const viz::Theme& theme_of(const UiState& state);

}  // namespace headscope::app
