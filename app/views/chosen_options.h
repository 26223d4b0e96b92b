#pragma once
#include "app/views/view.h"

// Which options of views are chosen.
namespace headscope::app {

/// The views of a window with this view in the middle and a second one next to it, which may be empty: both,
/// and those that are always there.
std::vector<const View*> views_in_window(std::string_view view, std::string_view second);

/// The options of these views that have an effect and are not as by default, each once.
std::vector<const OptionSpec*> chosen_options(std::span<const View* const> shown, const Options& options);
/// The values of the options that a view has, without those that say how a pane shows it.
Options options_of(const View& view, const Options& options);

}  // namespace headscope::app
