#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "model/config.h"
#include "model/run.h"

namespace headscope::app {

/// The runs of former prompts, so that going back to one computes nothing, and going on from one only what is
/// new. Bounded by the bytes of their pages, each counted once however many runs share it.
class RunCache {
 public:
  /// What runs of the model may take, with the one that is shown and the one that is being computed: two of
  /// the longest prompt, and at least 64 MiB.
  static std::size_t budget(const model::Config& config);

  void clear();

  /// The run that shares the most positions with the tokens; null when none shares any.
  std::shared_ptr<const model::Run> best_base(const std::vector<int>& tokens) const;

  /// The best base for a pass over the tokens (null: none), with room for the pages that the pass adds: the
  /// runs longest unused are forgotten until all pages together fit `budget` bytes. The newest stays, for it
  /// is shown; of a base that stands in the way only the whole pages stay that the tokens share with it. So
  /// two of the longest runs always have room.
  std::shared_ptr<const model::Run> make_room_for(const std::vector<int>& tokens, const model::Config& config,
                                                  std::size_t budget);

  /// Adds a run as the newest, in place of those that it goes on from with nothing left out.
  void remember(std::shared_ptr<const model::Run> run);

  /// Adds what was finished of a run that was given up, behind the newest; not where a run has all of it.
  void remember_part(std::shared_ptr<const model::Run> run);

  std::size_t bytes() const;  ///< of all pages, each once
  std::size_t size() const { return runs_.size(); }

 private:
  std::vector<std::shared_ptr<const model::Run>> runs_;  // newest first
};

/// Bytes of the pages that a run of the tokens needs beside those it shares with its base (null: none).
std::size_t new_page_bytes(const model::Config& config, const model::Run* base,
                           const std::vector<int>& tokens);

}  // namespace headscope::app
