#pragma once
#include <filesystem>

#include "viz/text/font_files.h"

namespace headscope::viz {

/// What fontconfig chooses for an interface, for systems whose fonts have other names than find_font_files
/// knows; only files that FontFace reads. Empty where it knows none, and in a build without fontconfig.
/// `configuration`: a file of fontconfig's; empty: the system's and the user's. Looking takes as long as 50
/// ms, and seconds where fontconfig has no cache yet.
FontFiles find_font_files_by_fontconfig(const std::filesystem::path& configuration = {});

}  // namespace headscope::viz
