#pragma once
#include <filesystem>

#include "viz/text/font_files.h"

namespace headscope::viz {

/// The fonts that fontconfig chooses for an interface, for systems with other font names than find_font_files
/// knows; only files that FontFace can read. Empty if it finds none, and in a build without fontconfig.
/// `configuration`: a configuration file for fontconfig; empty: the system's and the user's. Takes up to 50
/// ms, or seconds if fontconfig has no cache yet.
FontFiles find_font_files_by_fontconfig(const std::filesystem::path& configuration = {});

}  // namespace headscope::viz
