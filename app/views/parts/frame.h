#pragma once
#include "app/views/view.h"

// The basics of every picture: style, margins, title, and messages in place of a picture.
namespace headscope::app {

viz::Style style_of(const ViewContext& context);
/// Space between a picture's edge and its contents.
float margin(const ViewContext& context);
/// An empty picture of the context's size.
Picture blank(const ViewContext& context);
/// A picture that consists of a message in the middle.
Picture message(const ViewContext& context, std::string_view words);
/// The message that there is too little room: "too small", followed e.g. by "for the table".
Picture too_small(const ViewContext& context, std::string_view words = "");
/// The message while an answer is computed.
inline constexpr const char* kComputing = "computing…";
/// The region of a hit.
const viz::Region& region_of(const Picture& picture, const viz::Hit& hit);
/// The colour of text on a coloured background: the theme's, or its opposite if that is easier to read.
viz::Color text_on(const ViewContext& context, viz::Color ground);
/// The area inside the margins, below the title.
viz::Rect below_title(const ViewContext& context);
/// Draws small, muted words, with their left end and middle at a point, truncated if longer than `room`.
void paint_note(Picture& picture, const ViewContext& context, std::string_view words, viz::Point at,
                float room = 1e9F);
/// Frames the regions of a role with an id.
void frame_regions(Facts& facts, const Picture& picture, int role, int id, viz::Color color);
/// Draws the title and, if it fits, a muted subtitle next to it, or under it in as many lines as the context
/// says; returns the area below.
viz::Rect paint_title(Picture& picture, const ViewContext& context, std::string_view title,
                      std::string_view subtitle);

/// The lines that a pane's subtitle gets under its title if it was cut next to it: more for a difference,
/// which has to say what is subtracted from what. 0: none, or the pane is too low.
int wanted_subtitle_lines(const Picture& picture, const ViewContext& context);

}  // namespace headscope::app
