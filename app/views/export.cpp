#include "app/views/export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/ascii.h"
#include "app/views/content.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "system/path_text.h"
#include "viz/players/players.h"

namespace headscope::app {
namespace {

constexpr std::array<std::string_view, 4> kExtensions{".png", ".svg", ".csv", ".pdf"};  // by FileFormat

std::string png_bytes(const viz::Bitmap& bitmap, float scale, std::span<const viz::Note> notes) {
  const std::vector<std::uint8_t> png = viz::encode_png(bitmap, scale, notes);
  return {png.begin(), png.end()};
}

constexpr float kLargestSide = viz::kLongestBitmapSide;  // of a PNG

struct Size {
  float width = 0;
  float height = 0;
  bool operator==(const Size&) const = default;
};

std::string in_words(Size size) {
  return plain(std::ceil(size.width)) + "x" + plain(std::ceil(size.height));
}

/// Moves a drawing that is much narrower than its page to its middle, also vertically if `fills`.
void place_in_middle(Picture& picture, const ViewContext& context, bool fills) {
  const float wide = fills ? 0.06F : 0.2F, high = 0.06F;  // empty parts of the page that are noticed
  const viz::Rect content = viz::content_bounds(picture.scene, *context.fonts);
  const float right = picture.scene.width - content.right() - content.x;
  const float below = picture.scene.height - content.bottom() - content.y;
  const viz::Point by{right > wide * picture.scene.width ? std::floor(right / 2) : 0,
                      fills && below > high * picture.scene.height ? std::floor(below / 2) : 0};
  if (by.x == 0 && by.y == 0) return;
  viz::Scene moved = picture.scene;
  moved.items.clear();
  viz::append(moved, picture.scene, by);
  picture.scene = std::move(moved);
  for (viz::Region& region : picture.regions) region.rect.x += by.x, region.rect.y += by.y;
}

/// A picture without a title below the title and subtitle it names, which wrap to its width.
Picture with_heading(Picture picture, const ViewContext& c) {
  const Heading heading = heading_of(picture.title, picture.subtitle, c);
  viz::Scene scene = blank(c).scene;
  scene.width = picture.scene.width, scene.height = picture.scene.height + heading.height;
  paint_heading(scene, c, heading);
  viz::append(scene, picture.scene, {0, heading.height});
  picture.scene = std::move(scene);
  for (viz::Region& region : picture.regions) region.rect.y += heading.height;
  return picture;
}

/// A figure, its title and its caption on pages of several sizes, all drawn from one content.
struct PagedFigure {
  const View& view;
  ViewContext context;
  bool titled = true;
  std::string caption = {};            ///< empty: none
  bool fills = false;                  ///< the page's height is given: the figure is placed in its middle
  bool subtitled = true;               ///< below the title
  float above = 0, below = 0;          ///< heights of title and caption on the last page
  std::shared_ptr<void> content = {};  ///< null: not drawn yet

  Picture on(Size page) {
    context.width = page.width;
    below = caption.empty() ? 0 : caption_height(caption, page.width, context);
    Picture picture;
    // How high the title is depends on its words, which may say what has no room.
    for (int again = 0; again < 3; ++again) {
      context.height = std::max(1.F, page.height - above - below);
      picture = view.drawn(context, content);
      content = picture.content;
      if (!subtitled) picture.subtitle.clear();
      const float needed = titled ? heading_of(picture.title, picture.subtitle, context).height : 0;
      if (needed == above || (again > 0 && needed < above)) break;
      above = needed;
    }
    // Files cannot scroll. Columns without room are left out of a printed figure, whose width is given.
    for (const Scroll& scroll : view.scrolls(context, picture))
      if (scroll.shown < scroll.total && !scroll.is_zoom && !(context.printed && scroll.sideways))
        picture.whole = false;
    if (context.printed) place_in_middle(picture, context, fills);
    if (titled) picture = with_heading(std::move(picture), context);
    if (!caption.empty()) picture = with_caption(std::move(picture), caption, context);
    if (picture.scene.height > page.height + 0.5F) picture.whole = picture.readable = false;
    picture.scene.height = page.height;
    return picture;
  }

  /// What it wants of a page of this width.
  PageWish wish(float width) {
    const Picture at_width = on({width, width});
    PageWish wish = page_wish(content_of(at_width), context);
    for (float* height : {&wish.height.least, &wish.height.good})
      *height = std::ceil(*height + above + below);
    return wish;
  }

  /// The picture on a page that `fits`: as high as wanted, then larger. None: no page up to `most` does.
  template <class Fits>
  std::optional<Picture> grown(Size page, Size most, float Wish::*wanted, const Fits& fits) {
    constexpr float kStep = 1.15F;
    page.width = std::min(most.width, std::max(page.width, std::ceil(wish(page.width).width.least)));
    page.height = std::min(most.height, std::max(page.height, wish(page.width).height.*wanted));
    while (true) {
      Picture picture = on(page);
      if (fits(picture)) return picture;
      if (page == most) return std::nullopt;
      const bool widens = page.height >= most.height || (page.width < page.height && page.width < most.width);
      float& side = widens ? page.width : page.height;  // the shorter one
      side = std::min(widens ? most.width : most.height, std::ceil(kStep * side));
    }
  }

  /// Enlarges the letters, up to twice, while a part of the page would be empty and nothing is left out.
  void grow_letters(Size page) {
    constexpr float kStep = 1.15F, kFull = 0.78F;  // a part of the page's height
    PagedFigure larger = *this;
    larger.caption.clear(), larger.fills = false;
    std::ptrdiff_t texts = 0;
    for (float size = context.font_size, most = 2 * size; size <= most; size *= kStep) {
      larger.context.font_size = size, larger.content = nullptr;
      const float under = caption.empty() ? 0 : caption_height(caption, page.width, larger.context);
      const Picture picture = larger.on({page.width, page.height - under});
      const auto there = std::ranges::count_if(picture.scene.items, [](const viz::Item& item) {
        return std::holds_alternative<viz::GlyphRun>(item);
      });
      if (texts > 0 && (!picture.whole || there < texts)) return;
      context.font_size = size, texts = there;
      const float bottom = viz::content_bounds(picture.scene, *context.fonts).bottom();
      if (!picture.whole || bottom >= kFull * picture.scene.height) return;
    }
  }
};

/// Makes lines as wide as the target wants them.
void set_line_widths(Picture& picture, const TargetSpec& target) {
  const float scale = picture.exact_widths ? 1 : target.line_scale;
  if (scale == 1 && target.min_stroke_width == 0) return;
  for (viz::Item& item : picture.scene.items) {
    std::visit(
        [&](auto& it) {
          if constexpr (requires { it.width = 1.F; })
            it.width = std::max(target.min_stroke_width, scale * it.width);
        },
        item);
  }
}

/// The picture without empty space below its drawing. A trimmed one has the drawing's left margin on all
/// sides, and is at least as wide as its caption, up to a readable line length.
void cut(Picture& picture, const std::string& words, const ViewContext& context) {
  constexpr float kMaxForCaption = 34;  // ems
  // What snaps to pixels may be so much lower in one format than in another.
  constexpr float kSnapped = 0.25F;
  const viz::Style style = style_of(context);
  const viz::Rect content = viz::content_bounds(picture.scene, *context.fonts);
  float below = std::max(margin(context), words.empty() ? 0 : 2 * style.unit()) - kSnapped;
  if (context.trimmed) {
    const float caption = std::min(style.width(words, style.small()) + 1, kMaxForCaption * style.font_size);
    below = std::max(0.F, content.x);
    picture.scene.width = std::ceil(std::max(content.right(), content.x + caption) + below);
  }
  picture.scene.height = std::ceil(content.bottom() + below);
}

}  // namespace

std::string_view extension_of(FileFormat format) {
  return kExtensions[static_cast<std::size_t>(format)];
}

std::optional<FileFormat> format_of(const std::filesystem::path& file) {
  const std::string extension = lowered(system::text_of(file.extension()));
  const auto found = std::ranges::find(kExtensions, extension);
  if (found == kExtensions.end()) return std::nullopt;
  return static_cast<FileFormat>(found - kExtensions.begin());
}

Picture export_picture_of(const View& view, ViewContext context, const ExportOptions& options) {
  constexpr float kHighest = 4000;
  constexpr float kSheet = 8.25F * 96;  // letter paper's text without a caption of three lines
  const TargetSpec target = spec_of(options.target);
  const bool exact = options.page == Page::exact, has_width = options.page == Page::width;
  context.device_scale = options.scale;
  context.titled = false;
  context.trimmed = options.page == Page::trimmed;
  context.printed = options.target != Target::screen;
  context.min_stroke_width = target.min_stroke_width, context.least_label = target.least_label;
  context.note_in_caption = options.caption && (context.printed || !options.title);
  const std::string words = options.caption ? caption(view, context) : std::string();
  const bool cuts = has_width || context.trimmed;  // and gets its caption below
  PagedFigure figure{view, context, options.title, cuts ? "" : words, context.printed && exact};
  Size asked{context.width, context.height};
  if (figure.fills && options.letters_grow) figure.grow_letters(asked);
  float highest = kHighest;
  if (context.printed && cuts)
    highest = kSheet - margin(context) - (words.empty() ? 0 : caption_height(words, asked.width, context));
  if (asked.height == 0) asked.height = std::min(highest, figure.wish(asked.width).height.good);
  Picture picture = figure.on(asked);
  if (exact && !picture.readable) {  // it may without its subtitle
    figure.subtitled = false;
    picture = figure.on(asked);
  }
  const auto readable = [](const Picture& it) { return it.readable; };
  const auto whole = [](const Picture& it) { return it.readable && it.whole; };
  const Size most{std::max(kHighest, asked.width), std::max(kHighest, asked.height)};
  if (!exact && !whole(picture)) {
    const Size largest = has_width ? Size{asked.width, std::max(highest, asked.height)} : most;
    if (auto larger = figure.grown(asked, largest, &Wish::good, whole)) picture = *std::move(larger);
  }
  if (!picture.readable) {
    const auto enough = figure.grown(asked, most, &Wish::least, readable);
    const auto named = [&](Size page) {
      return has_width ? "a width of " + plain(std::ceil(page.width)) : in_words(page);
    };
    throw std::runtime_error(
        "the view " + std::string(view.id) + " does not fit " +
        (enough ? named(asked) + " here; " + named({enough->scene.width, enough->scene.height}) + " is enough"
                : "any size with these options"));
  }
  set_line_widths(picture, target);
  if (!cuts) return picture;
  cut(picture, words, figure.context);
  return words.empty() ? picture : with_caption(std::move(picture), words, figure.context);
}

/// What a picture's heading says, even without one, what its view is, and its caption if `captioned`.
static viz::Description description_of(const View& view, const ViewContext& context, const Picture& picture,
                                       bool captioned) {
  viz::Description said;
  said.title = viz::without_superscripts(picture.title);
  if (said.title.empty()) said.title = view.title;
  if (!picture.subtitle.empty()) said.words = viz::without_superscripts(picture.subtitle) + ". ";
  said.words += std::string(view.title) + ": " + std::string(view.help) + ".";
  if (captioned) said.words += " " + caption(view, context) + ".";
  return said;
}

/// Throws std::runtime_error, one sentence that says what would help, if a PNG cannot be so large.
static void require_bitmap_side(const View& view, const viz::Scene& scene, float scale) {
  const float side = std::max(scene.width, scene.height);
  if (side * scale <= kLargestSide) return;
  throw std::runtime_error("the view " + std::string(view.id) + " is " +
                           in_words({scene.width, scene.height}) +
                           " logical pixels here, and a png at most " + plain(kLargestSide) +
                           " device pixels wide and high: give --scale " +
                           plain(std::floor(100 * kLargestSide / side) / 100) + ", or write svg or pdf");
}

Table exported_table(const View& view, const ViewContext& context) {
  Table table = view.table(context);
  if (context.side != Side::difference || table.empty()) return table;
  std::string words = subtraction_words(context);
  constexpr std::string_view kMinus = "−";
  for (std::size_t at = 0; (at = words.find(kMinus, at)) != std::string::npos;)
    words.replace(at, kMinus.size(), "-");
  Column compared = note_column("compared");
  compared.cells = std::vector<std::string>(table.rows(), words);
  table.columns.push_back(std::move(compared));
  return table;
}

std::string export_bytes(FileFormat format, const View& view, const ViewContext& context,
                         const ExportOptions& options) {
  if (format == FileFormat::csv) {
    const Table table = exported_table(view, context);
    if (table.empty()) {
      const bool unmatched = context.side == Side::difference && compared_query(context) < 0;
      throw std::runtime_error("the view " + std::string(view.id) + " has no data to export here" +
                               (unmatched ? ": " + token_name(context.run->tokens, context.selection.query) +
                                                " has " + no_counterpart_words(context)
                                          : ""));
    }
    return to_csv(table);
  }
  ExportOptions layout = options;
  if (format != FileFormat::png) layout.scale = kVectorScale;
  const Picture picture = export_picture_of(view, context, layout);
  const viz::Scene& scene = picture.scene;
  if (format == FileFormat::png) require_bitmap_side(view, scene, options.scale);
  if (format == FileFormat::png)
    return png_bytes(viz::rasterize(scene, *context.fonts, options.scale), options.scale, options.notes);
  ViewContext described = context;
  const bool printed = described.printed = options.target != Target::screen;
  described.min_stroke_width = spec_of(options.target).min_stroke_width;
  // A file without its recipe does not have the prompt as text.
  const bool says_prompt = options.caption && !options.notes.empty();
  const viz::Description description = description_of(view, described, picture, says_prompt);
  if (format == FileFormat::pdf) return viz::to_pdf(scene, *context.fonts, options.notes, description);
  return viz::to_svg(
      scene, *context.fonts,
      {.text = options.svg_text, .notes = options.notes, .description = description, .inches = printed});
}

std::string bitmap_bytes(FileFormat format, const viz::Bitmap& bitmap, float scale,
                         std::span<const viz::Note> notes) {
  if (format != FileFormat::pdf) return png_bytes(bitmap, scale, notes);
  viz::Scene page;
  page.width = static_cast<float>(bitmap.width) / scale,
  page.height = static_cast<float>(bitmap.height) / scale;
  page.add(viz::Image{{0, 0, page.width, page.height}, std::make_shared<viz::Bitmap>(bitmap), 0});
  return viz::to_pdf(page, *viz::Fonts::load(), notes);
}

}  // namespace headscope::app
