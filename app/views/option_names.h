#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"

// What options of views are called on the command line.
namespace headscope::app {

/// An option of a view.
struct ViewOption {
  const View* view = nullptr;
  const OptionSpec* option = nullptr;
};

/// The options that a flag or a name can mean where these views are shown, each once: those of the shown
/// views or, if none of them has one, those of all views. An option's own name means it alone.
std::vector<ViewOption> options_of_flag(std::string_view flag, std::span<const View* const> shown);

/// The views of a window with this view in the middle and a second one next to it, which may be empty: both,
/// and those that are always there.
std::vector<const View*> views_in_window(std::string_view view, std::string_view second);

/// Options with other values than their defaults, as the command line takes them for a figure of these views:
/// {"metric", "kl"}, {"token", "id:464"}. Where a flag could mean options of several of them, the option has
/// its own name, which is accepted, too. `only_applying`: without those that have no effect.
struct WrittenOption {
  std::string name;
  std::string value;
};
std::vector<WrittenOption> written_options(const Options& options, std::span<const View* const> shown,
                                           bool only_applying);

}  // namespace headscope::app
