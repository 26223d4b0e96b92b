#include "app/desktop/bundled_guide.h"

#include <algorithm>
#include <exception>

#include "app/run/sources/paths.h"
#include "model/files/file_io.h"

namespace headscope::app {
namespace {

constexpr std::string_view kGlossary = "glossary";

}  // namespace

const GuidePage* Guide::find(std::string_view name) const {
  const auto found = std::ranges::find(pages, name, &GuidePage::name);
  return found == pages.end() ? nullptr : &*found;
}

Guide load_guide(const std::filesystem::path& folder) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  Guide guide;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".md") continue;
    guide.pages.push_back(parse_guide_page(model::read_file(file, kMaxBytes), file.string()));
    if (guide.pages.back().name == kGlossary) guide.glossary = Glossary(guide.pages.back(), file.string());
  }
  std::ranges::sort(guide.pages, {}, &GuidePage::title);
  return guide;
}

Guide bundled_guide() {
  try {
    return load_guide(assets_folder() / "guide");
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace headscope::app
