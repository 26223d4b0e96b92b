#pragma once
#include <memory>
#include <optional>
#include <string_view>

#include "app/views/view.h"

// What every picture begins with: style, margins, title, and messages in its place.
namespace headscope::app {

viz::Style style_of(const ViewContext& context);
/// Room between a picture's edge and what is in it.
float margin(const ViewContext& context);
/// An empty picture of the context's size.
Picture blank(const ViewContext& context);
/// A picture with words in the middle, in place of a figure.
Picture message(const ViewContext& context, std::string_view words);
/// The message that a figure does not fit: "too small", and after it e.g. "for the table".
Picture too_small(const ViewContext& context, std::string_view words = "");
/// The message while an answer is computed.
inline constexpr const char* kComputing = "computing…";
/// Why there is no picture: no run, computing, or the sentence of what failed. Nothing where there is a run
/// and an answer.
std::optional<Picture> waiting(const ViewContext& context, const Question& question, bool answered);
std::optional<Picture> waiting(const ViewContext& context);  ///< where nothing but a run is needed

/// A question, and what the context said to it.
template <class Answer>
struct Reply {
  Question question;
  std::shared_ptr<const Answer> answer;  ///< null: none yet, or it failed
};
template <class Q>
Reply<typename Q::Answer> reply_to(const ViewContext& c, const Q& question) {
  return {question, c.ask(question)};
}
template <class Answer>
std::optional<Picture> waiting(const ViewContext& c, const Reply<Answer>& reply) {
  return waiting(c, reply.question, reply.answer != nullptr);
}

/// The region that was hit.
const viz::Region& region_of(const Picture& picture, const viz::Hit& hit);
/// The colour of text on a coloured background: the theme's, or its opposite where that reads better.
viz::Color text_on(const ViewContext& context, viz::Color ground);
/// The picture inside its margins, under a title.
viz::Rect below_title(const ViewContext& context);
/// Small, muted words, their left end and middle at a point, cut where they are longer than `room`.
void paint_note(Picture& picture, const ViewContext& context, std::string_view words, viz::Point at,
                float room = 1e9F);
/// Frames the regions of a role with an id.
void frame_regions(Facts& facts, const Picture& picture, int role, int id, viz::Color color);
/// Title and, if it fits, a muted subtitle next to it; returns the area below.
viz::Rect paint_title(Picture& picture, const ViewContext& context, std::string_view title,
                      std::string_view subtitle);

}  // namespace headscope::app
