#include "app/desktop/bundled_guide.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "app/run/sources/paths.h"
#include "app/views/view.h"
#include "model/files/file_io.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr std::string_view kGlossary = "glossary";
constexpr std::string_view kForLearners[] = {"window", "views", kGlossary, "edits", "tours"};  // first
constexpr std::string_view kView = "View: ";

/// Says where the window has the views that the glossary's entries name: "(in the window: Attention →
/// Merge)".
void add_places(GuidePage& glossary) {
  for (GuideBlock& block : glossary.blocks) {
    const std::string words = plain_text(block.text);
    if (block.kind != GuideBlock::Kind::paragraph || !words.starts_with(kView)) continue;
    const View* view = find_view(std::string_view(words).substr(kView.size()));
    if (view == nullptr) continue;
    const std::string group =
        view->place == Place::tab ? std::string(spec_of(view->group).title) + " → " : "";
    block.text.push_back(
        {GuideSpan::Look::plain, " (in the window: " + group + std::string(view->title) + ")"});
  }
}

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
    guide.pages.push_back(parse_guide_page(model::read_file(file, kMaxBytes), system::text_of(file.stem())));
    if (guide.pages.back().name != kGlossary) continue;
    guide.glossary = glossary_of(guide.pages.back());
    add_places(guide.pages.back());
  }
  std::ranges::sort(guide.pages, {}, [](const GuidePage& page) {
    return std::pair(std::ranges::find(kForLearners, page.name) - std::begin(kForLearners), page.title);
  });
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
