#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "app/views/view.h"
#include "app/window/picture_cache.h"
#include "viz/scene/scene.h"

namespace headscope::app {

/// Duration of a transition between two pictures of a view, in seconds.
constexpr double kTransition = 0.18;

/// How far a transition is, from 0 to 1, after a number of seconds: fast first, then slower, so that it
/// answers at once.
float progress_of_transition(double seconds);

/// Whether the change from one picture of a view to the next is a step that a transition explains: another
/// head, layer, query or key, an option that `moves`, or an edit switched on or off. Typing, resizing,
/// zooming, another theme or another side of a comparison are none.
bool is_step(const View& view, const ViewContext& before, const ViewContext& after);

/// What each view's pane shows: its picture, or one between the last one and it. Not state: everything else,
/// such as what is under the mouse, depends on the picture alone.
class Transitions {
 public:
  /// The scene to draw at a time (nothing: without transitions), valid until the next call for this view.
  /// A transition starts if `may_start`, with what was shown until now, and sets `moving` until its end.
  const viz::Scene& show(const View& view, const CachedPicture& shown, std::optional<double> time,
                         bool may_start, bool& moving);
  /// Forgets the views that were not shown since the last call, because their pictures keep runs alive.
  void drop_unused();

 private:
  struct Slot {
    std::shared_ptr<const Picture> picture;  ///< the last one
    ViewContext context;                     ///< that it was built from
    std::shared_ptr<const viz::Scene> from;  ///< where its transition began; null: there is none
    double start = 0;
    viz::Scene between;           ///< drawn last
    std::optional<double> drawn;  ///< the time of `between`
  };
  std::map<std::string_view, Slot> slots_;
  std::set<std::string_view> shown_;
};

}  // namespace headscope::app
