#pragma once
#include "app/views/view.h"

// The basics of every picture: style, margins, title, and messages in place of a picture.
namespace headscope::app {

viz::Style style_of(const ViewContext& context);
/// Whether the picture stands in a paper, among text with margins of its own; a slide has none around it.
bool is_on_paper(const ViewContext& context);
inline bool is_slide(const ViewContext& context) {
  return context.printed && !is_on_paper(context);
}
/// Space between a picture's edge and its contents.
float margin(const ViewContext& context);
/// An empty picture of the context's size.
Picture blank(const ViewContext& context);
/// A picture that consists of a message in the middle.
Picture message(const ViewContext& context, std::string_view words);
/// The message that there is too little room.
Picture too_small(const ViewContext& context);
/// The message while an answer is computed.
inline constexpr const char* kComputing = "computing…";
/// The colour of text on a coloured background: the theme's, or its opposite if that is easier to read.
viz::Color text_on(const ViewContext& context, viz::Color ground);
/// The area inside the margins, below a heading of this height.
viz::Rect below_title(const ViewContext& context, float heading = 0);
/// A title and a subtitle, laid out at the top of a picture.
struct Heading {
  struct Line {
    std::string text;
    viz::Point at;
    bool is_title = false;
  };
  std::vector<Line> lines;
  float height = 0;     ///< with the gap below
  bool is_cut = false;  ///< for want of room
};
/// The subtitle is next to the title where it fits there. Else it is under it, in as many lines as it needs
/// and below a title that may wrap, or if a number is given, cut to so many lines; 0: next to the title.
Heading heading_of(std::string_view title, std::string_view subtitle, const ViewContext& context,
                   std::optional<int> lines = {});
void paint_heading(viz::Scene& scene, const ViewContext& context, const Heading& heading);
/// The lines that a pane's subtitle gets under its title if it was cut next to it: more for a difference,
/// which has to say what is subtracted from what. 0: none, or the pane is too low.
int wanted_subtitle_lines(const Picture& picture, const ViewContext& context);
/// A small text in lines of this width.
std::vector<std::string> small_lines(const ViewContext& context, std::string_view text, float width);
/// Draws lines of small, muted words below each other, truncated to `room`; `top`: the top left corner.
void paint_small_lines(viz::Scene& scene, const ViewContext& context, const std::vector<std::string>& lines,
                       viz::Point top, float room = 1e9F);

}  // namespace headscope::app
