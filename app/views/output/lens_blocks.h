#pragma once
#include "app/run/analyses/predictions.h"
#include "app/views/view.h"

// The answers that the logit lens shows, the names of its places on the residual stream, and its table.
namespace headscope::app {

/// What cell colours show.
enum class LensColoring { probability, rank, divergence };
extern const Option<LensColoring> kLensColor;
/// Whether places between attention and MLP are shown, too.
extern const Option<bool> kLensMid;

/// The token whose probability and rank are read; a rank is that at the end of the stream.
extern const Option<TokenRef> kLensToken;

TokenRef lens_token(const ViewContext& context);
/// Whether it is not the final answer.
bool chooses_token(const ViewContext& context);
std::string lens_target(const ViewContext& context);  ///< "the final answer", "“·it”"

/// The lens at positions [first, first + count), as far as known; the rest has been requested.
struct LensBlocks {
  int first = 0, count = 0;
  std::vector<std::shared_ptr<const LogitLens>> blocks;  ///< null: not known yet

  bool knows(int position) const { return block_of(position) && block_of(position)->knows(position); }
  const LogitLens& known_block(int position) const { return *block_of(position); }
  const model::LensReading& at(int position, int place) const {
    return known_block(position).at(position, place);
  }
  const model::LensReading& before(int position, int place) const {
    return known_block(position).before_at(position, place);
  }
  int positions() const {
    int sum = 0;
    for (int i = first; i < first + count; ++i) sum += knows(i) ? 1 : 0;
    return sum;
  }

 private:
  const LogitLens* block_of(int position) const { return blocks[LensOf::around(position).block].get(); }
};

/// Asks for the query's block first, then for the others by their distance from it.
LensBlocks lens_blocks(const ViewContext& context, int first, int count);

/// The places that are shown. The stream runs upwards: the last place comes first.
std::vector<int> shown_places(const ViewContext& context);
std::string place_name(const ViewContext& context, int place);   ///< "5 mid"
std::string place_words(const ViewContext& context, int place);  ///< "block 5, between attention and MLP"
model::HookPoint point_of(int place);                            ///< the hook point of a place

enum class LensAt { all, query };
/// The positions that the lens's table has numbers of. Means over prompts of different lengths need the query
/// alone.
extern const Option<LensAt> kLensAt;

/// A row for each of these positions and each place, shown or not.
Table lens_table(const ViewContext& context);

}  // namespace headscope::app
