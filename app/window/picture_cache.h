#pragma once
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/run/answers.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "app/window/state.h"

namespace headscope::app {

/// A picture to show and what it was built from.
struct CachedPicture {
  std::shared_ptr<const Picture> picture;
  ViewContext context;
  std::shared_ptr<Answers> answers;  ///< answers the context's questions
  bool stale = false;                ///< a previous picture: the new one is waiting for a quick answer
};

/// The last picture of each view and of the file that is about to be made: moving the mouse rebuilds none,
/// and a picture stays until the next one has its answers. A cache, not state.
class PictureCache {
 public:
  /// The view's picture, or the one on the page of a file, rebuilt if anything it depends on has changed.
  /// Throws std::runtime_error (one sentence) if the file cannot be made.
  CachedPicture get(const View& view, const ViewContext& context,
                    const std::shared_ptr<SnapshotAnswers>& answers,
                    const std::optional<ExportOptions>& file = {});
  /// Drops pictures that were not requested since the last call, because they keep runs alive.
  void drop_unused();
  int built() const { return built_; }  ///< how many pictures have been built

 private:
  struct Key {
    const View* view;
    bool second_tokens;  ///< shows the tokens of a second prompt
    bool for_file;
    auto operator<=>(const Key&) const = default;
  };
  struct Slot {
    std::optional<ExportOptions> file = {};
    std::vector<std::pair<Question, std::shared_ptr<const Answer>>> replies = {};  ///< to what it asked
    std::shared_ptr<const Picture> picture = {};
    ViewContext context = {};  ///< without answers
    bool used = true;          ///< since the last call of drop_unused
  };
  std::map<Key, Slot> slots_;
  int built_ = 0;
};

/// The context of a view in a pane of this size; `answers` must outlive it. Without a view the context is
/// about the run itself, whichever side of a comparison is shown.
ViewContext make_context(const View* view, const UiState& state, const Snapshot& snapshot, Answers& answers,
                         const viz::Fonts& fonts, float width, float height, float device_scale);

}  // namespace headscope::app
