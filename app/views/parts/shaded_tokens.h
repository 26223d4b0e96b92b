#pragma once
#include "app/views/view.h"
#include "viz/charts/chips.h"

// The prompt as chips, shaded by a number for each token, above a list that has the numbers.
namespace headscope::app {

/// A token's chip in a colour; none: the background's, with an outline.
viz::Chip shaded_chip(const ViewContext& context, const std::string& label, std::optional<viz::Color> fill);

/// The places of the chips, of the line of their scale, and of the list below.
struct ShadedTokens {
  viz::Rect area;  ///< the whole area
  viz::ChipFlow flow;
  std::vector<viz::ChipPlace> places = {};
  int first_line = 0, shown_lines = 0;  ///< 0: no room
  viz::Rect chips = {};
  float legend = 0;  ///< middle of its line
  viz::Rect list = {};

  int lines() const { return places.empty() ? 0 : places.back().line + 1; }
  bool scrolls() const { return lines() != shown_lines; }
  /// Scrolls until the line of a token is the first one, or in the middle, as far as there are lines.
  void show_line_of(int token, bool in_the_middle);
};

/// Places chips below the title. They take at most a part of the height, and none in a small picture.
ShadedTokens lay_out_shaded_tokens(const ViewContext& context, viz::ChipFlow flow);

/// "tokens 12–57 of 256": which are shown.
std::string shown_tokens_words(const Picture& picture, int length);

/// The height of a picture in which all chips and all rows of a list with `fixed` fixed rows are shown.
float shaded_tokens_height(const ViewContext& context, const viz::ChipFlow& flow, int rows, int fixed);

}  // namespace headscope::app
