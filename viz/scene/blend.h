#pragma once
#include "viz/scene/scene.h"

namespace headscope::viz {

/// The colour at t in [0, 1] between two: a straight line in sRGB, whose steps are about even in lightness,
/// so that between two colours of a colour map lightness changes steadily. A colour counts as much as it is
/// opaque.
Color blend(Color from, Color to, float t);

/// The picture at t in [0, 1] between two, for a transition. At 1 it is `to`; at 0 it is `from` in all but
/// text. In between:
///
/// - Items that correspond move and change their colours. Items of one kind correspond if they begin at the
///   same place, or if rectangles end there or images are equal; those that remain correspond in order, if as
///   many remain in both pictures. Lines and polygons must have the same number of points, and move along one
///   axis only; images must have the same number of pixels in both directions.
/// - Other items fade in or out.
/// - Text is that of `to` from the start, in its own place, so that no number is drawn that is not true. It
///   has the colour of the text at about the same place until halfway, which contrasts with what is under it.
///   Only words without digits that both pictures have once move.
///
/// The picture is `to` at any t if the two cannot be blended.
Scene blend(const Scene& from, const Scene& to, float t);

/// Whether there are pictures between these two: not if they are equal, if their sizes differ, if no shapes
/// correspond, if lists are in another order (see below), or if there is too much to mix in the time of a
/// frame: more than 20,000 items, or 1.3 million pixels of images that differ.
///
/// Lists are in another order if more than one word or name ("the", "L5H1") is at another place than before,
/// or more than two words are replaced by others: what is next to them is then about something else, and a
/// shape between the two would be about nothing.
bool can_blend(const Scene& from, const Scene& to);

}  // namespace headscope::viz
