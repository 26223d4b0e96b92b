#pragma once
#include "app/run/worker.h"
#include "app/text/text_edit.h"
#include "app/views/view.h"

namespace headscope::app {

// The window's state is composed of slices (see UiState). A slice has one header, with the actions on it and
// a `reduce` for each of them, which applies it. A `reduce` takes the state that its action can change: one
// slice, or all of them.

struct UiState;
struct World;

/// A text field of the window.
enum class Field {
  prompt,
  option,
  export_path,
  export_size,
  open_path,
  edits,
  second,
  session_path,
  help,
  palette
};
constexpr std::size_t kFields = 10;

/// An edited text and how far it is scrolled.
struct TextField {
  TextState edit;
  float scroll = 0;  ///< logical pixels
};

}  // namespace headscope::app
