#pragma once
#include <optional>
#include <string_view>

#include "app/views/view.h"

// What every picture begins with: its style, its margins, its title, and the words in its place.
namespace headscope::app {

viz::Style style_of(const ViewContext& context);
/// Room between a picture's edge and what is in it.
float margin(const ViewContext& context);
/// Nothing yet, at the context's size.
Picture blank(const ViewContext& context);
/// Some words in the middle of it, in place of a figure.
Picture message(const ViewContext& context, std::string_view words);
/// The message that a figure does not fit: "too small", and after it e.g. "for the table".
Picture too_small(const ViewContext& context, std::string_view words = "");
/// What is said while an answer is computed.
inline constexpr const char* kComputing = "computing…";
/// Why there is no picture: no run, work under way, or the sentence of what failed. `answer` is what the
/// context said to the question. Null when there is a run and the answer.
std::optional<Picture> waiting(const ViewContext& context, const Question& question, bool answered);
std::optional<Picture> waiting(const ViewContext& context);  ///< where nothing but a run is needed
/// The region that was hit.
const viz::Region& region_of(const Picture& picture, const viz::Hit& hit);
/// The colour of text on a coloured ground: the theme's, or its opposite where that reads better.
viz::Color text_on(const ViewContext& context, viz::Color ground);
/// The picture inside its margins, under a title.
viz::Rect below_title(const ViewContext& context);
/// Title and, as far as it fits beside it, a muted subtitle; returns what is below them.
viz::Rect paint_title(Picture& picture, const ViewContext& context, std::string_view title,
                      std::string_view subtitle);

}  // namespace headscope::app
