#include "app/tour/points.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/files/quote.h"

namespace headscope::app {
namespace {

/// The views with a pane of their own.
std::vector<const View*> side_views() {
  std::vector<const View*> side;
  for (const View& view : views())
    if (view.place != Place::tab) side.push_back(&view);
  return side;
}

std::string names_of_landmarks(const View& view) {
  std::string names;
  for (const Landmark& landmark : view.landmarks) names.append(landmark.name).append(", ");
  return names;
}

/// Everything that a stop with this view can point at.
std::string names_of_points(const View* view) {
  std::string names, panes;
  for (const View* side : side_views()) {
    names += names_of_landmarks(*side);
    panes.append("pane ").append(side->id).append(", ");
  }
  return (view ? names_of_landmarks(*view) : "") + names + panes + "pane view, prompt, edits or option NAME";
}

}  // namespace

TourPoint parse_point(std::string_view text, const View* view) {
  using Kind = TourPoint::Kind;
  if (text == "prompt") return {Kind::prompt};
  if (text == "edits") return {Kind::edits};
  if (text == "pane view" && view) return {Kind::pane, view};
  std::vector<const View*> places = side_views();
  for (const View* side : places)
    if (text == "pane " + std::string(side->id)) return {Kind::pane, side};
  if (view) places.insert(places.begin(), view);
  for (const View* place : places) {
    const auto landmark = std::ranges::find(place->landmarks, text, &Landmark::name);
    if (landmark != place->landmarks.end()) return {Kind::landmark, place, &*landmark};
    for (const OptionSpec* option : place->options)
      if (text == "option " + std::string(option->name) && option->control == Control::automatic)
        return {Kind::option, place, nullptr, option};
  }
  throw std::invalid_argument("expected " + names_of_points(view) + ", found " + model::quote(text));
}

}  // namespace headscope::app
