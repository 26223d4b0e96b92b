#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/run/asking.h"
#include "app/run/worker.h"
#include "app/views/view.h"
#include "app/window/canvas.h"
#include "app/window/state.h"

namespace headscope::app {

/// A view's picture in its place in the window.
struct PlacedPicture {
  const View* view = nullptr;
  std::shared_ptr<const Picture> picture;
  ViewContext context;               ///< what it was made of
  std::shared_ptr<Answers> answers;  ///< whom the context asks
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
  EditMetrics option;
  EditMetrics& of(Field field) {
    return field == Field::export_path ? export_path
           : field == Field::open_path ? open_path
           : field == Field::option    ? option
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
  bool stale = false;     ///< some picture is a former one, until what it asked for comes; quick answers only
  std::vector<Question> asked;  ///< by its pictures, in their order
};

/// A picture to be shown, with what it was made of.
struct ShownPicture {
  std::shared_ptr<const Picture> picture;
  ViewContext context;
  std::shared_ptr<Answers> answers;
  bool stale = false;  ///< a former one: the new one waits for a quick answer
};

/// Pictures that were drawn last, so that moving the mouse rebuilds none of them, and so that one stays until
/// all is there that the next one asks for. A memo, not a state.
class PictureCache {
 public:
  /// The view's picture; built when anything that it is made of changed.
  ShownPicture get(const View& view, const ViewContext& context,
                   const std::shared_ptr<SnapshotAnswers>& answers);
  /// Drops the pictures that were not asked for since the last call: they would keep their runs alive.
  void forget_others();
  int built() const { return built_; }  ///< how many were built so far

 private:
  struct Slot;
  std::map<std::string_view, std::shared_ptr<const Slot>> slots_;
  std::set<std::string_view> shown_;
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
WindowPicture draw_window(const UiState& state, const std::shared_ptr<const Snapshot>& snapshot,
                          const WindowFrame& frame, FieldMetrics& metrics, PictureCache& cache,
                          const std::shared_ptr<const viz::Fonts>& fonts);

/// The context of a view in a pane of a size, from what there is; `answers` has to outlive it.
ViewContext make_context(const UiState& state, const Snapshot& snapshot, Answers& answers,
                         const viz::Fonts& fonts, float width, float height, float device_scale);

const viz::Theme& theme_of(const UiState& state);

}  // namespace headscope::app
