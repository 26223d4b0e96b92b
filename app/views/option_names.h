#pragma once
#include "app/views/view.h"

// What options of views are called on the command line.
namespace headscope::app {

/// The views of a window with this view in the middle and a second one next to it, which may be empty: both,
/// and those that are always there.
std::vector<const View*> views_in_window(std::string_view view, std::string_view second);

/// An option with another value than its default, as the command line takes it: {"metric", "kl"}.
struct WrittenOption {
  std::string name;
  std::string value;
};
/// Those of a view that have an effect, as its command takes them; null: all, by their own names.
std::vector<WrittenOption> written_options(const Options& options, const View* view);

}  // namespace headscope::app
