#pragma once
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "app/run/answers.h"
#include "app/views/view.h"
#include "app/window/state.h"

namespace headscope::app {

/// A picture to show, with what it was built from.
struct ShownPicture {
  std::shared_ptr<const Picture> picture;
  std::shared_ptr<const std::vector<Scroll>> scrolls;
  ViewContext context;
  std::shared_ptr<Answers> answers;  ///< that the context asks
  bool stale = false;                ///< a previous one: the new one waits for a quick answer
};

/// The pictures that were drawn last: moving the mouse rebuilds none of them, and one stays until the next
/// one has its answers. A cache, not state.
class PictureCache {
 public:
  /// The view's picture; built again if anything it depends on changed.
  ShownPicture get(const View& view, const ViewContext& context,
                   const std::shared_ptr<SnapshotAnswers>& answers);
  /// Drops the pictures that nobody asked for since the last call: they keep runs alive.
  void forget_others();
  int built() const { return built_; }  ///< how many were built so far

 private:
  struct Slot;
  std::map<std::string_view, std::shared_ptr<const Slot>> slots_;
  std::set<std::string_view> shown_;
  int built_ = 0;
};

/// The context of a view in a pane of this size; `answers` has to outlive it. Without a view: of the run,
/// whichever side of a comparison is shown.
ViewContext make_context(const View* view, const UiState& state, const Snapshot& snapshot, Answers& answers,
                         const viz::Fonts& fonts, float width, float height, float device_scale);

}  // namespace headscope::app
