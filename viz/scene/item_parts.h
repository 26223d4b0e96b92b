#pragma once

namespace headscope::viz {

// What a scene's items are made of, for functions that treat all kinds alike.
template <class T>
concept HasRect = requires(T t) {
  t.rect;
};
template <class T>
concept HasPoints = requires(T t) {
  t.points;
};

}  // namespace headscope::viz
