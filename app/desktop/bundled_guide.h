#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/text/guide.h"

namespace headscope::app {

/// The guide: its pages, sorted by title, and the definitions in one of them.
struct Guide {
  std::vector<GuidePage> pages;
  Glossary glossary;

  /// The page of the file `name`.md; null: there is none.
  const GuidePage* find(std::string_view name) const;
};

/// Reads the `*.md` files of a folder; the definitions are in `glossary.md`, where the name of a view is
/// followed by its place in the window. Throws model::LoadError, or
/// std::filesystem::filesystem_error if the folder cannot be listed.
Guide load_guide(const std::filesystem::path& folder);

/// The guide that is installed with the program; empty if it cannot be read, since the program works without
/// it.
Guide bundled_guide();

}  // namespace headscope::app
