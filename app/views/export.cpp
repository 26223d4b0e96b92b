#include "app/views/export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/ascii.h"
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
constexpr float kSheet =
    8.25F * 96;  // the text on letter paper without a caption of three lines, logical pixels

struct Size {
  float width = 0;
  float height = 0;
};

std::string in_words(float side) {
  return std::to_string(static_cast<long>(std::ceil(side)));
}
std::string in_words(Size size) {
  return in_words(size.width) + "x" + in_words(size.height);
}

/// Files cannot scroll, so parts that do not fit would be missing.
Picture built(const View& view, const ViewContext& context) {
  Picture picture = view.build(context);
  if (!picture.whole || !context.run) return picture;
  // Columns without room are left out of a printed figure, whose width is given.
  for (const Scroll& scroll : view.scrolls(context, picture))
    if (scroll.shown < scroll.total && !scroll.is_zoom && !(context.printed && scroll.sideways))
      picture.whole = false;
  return picture;
}

/// What stands around a figure on its page.
struct Frame {
  std::string caption;  ///< empty: none
  bool title = true;
  bool subtitle = true;  ///< even if it takes lines of its own
  bool fills = false;    ///< the page's height is given: the figure is placed in its middle
};

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

/// The area around all that carries data, from the first region to the last.
float plot_area(const Picture& picture) {
  if (picture.regions.empty()) return 0;
  float left = picture.scene.width, top = picture.scene.height, right = 0, bottom = 0;
  for (const viz::Region& region : picture.regions) {
    left = std::min(left, region.rect.x), right = std::max(right, region.rect.right());
    top = std::min(top, region.rect.y), bottom = std::max(bottom, region.rect.bottom());
  }
  return (right - left) * (bottom - top);
}

/// The figure on a page of this size with its title and caption in a column at the left, so that the drawing
/// has the page's whole height.
Picture beside_words(const View& view, ViewContext context, const Frame& frame, Size page) {
  constexpr float kColumn = 0.2F;  // a part of the page's width
  const float column = std::floor(kColumn * page.width), left = column - margin(context);
  context.titled = false;
  context.width = page.width - left, context.height = page.height;
  Picture picture = built(view, context);
  place_in_middle(picture, context, true);
  Picture words = blank(context);
  words.scene.width = column, words.scene.height = 0;
  if (frame.title) {
    words.title = picture.title;
    if (frame.subtitle) words.subtitle = picture.subtitle;
    words = with_heading(std::move(words), context);
  }
  if (!frame.caption.empty()) {
    const float below = caption_height(frame.caption, column, context);
    if (words.scene.height + below > page.height) words.whole = false;
    words.scene.height = page.height - below;
    words = with_caption(std::move(words), frame.caption, context);
  }
  viz::Scene scene = std::move(words.scene);
  scene.width = page.width, scene.height = page.height;
  viz::append(scene, picture.scene, {left, 0});
  for (viz::Region& region : picture.regions) region.rect.x += left;
  picture.scene = std::move(scene);
  if (!words.whole) picture.whole = picture.readable = false;
  return picture;
}

/// The figure on a page of this size, title and caption inside.
Picture on_page(const View& view, ViewContext context, const Frame& frame, Size page) {
  context.width = page.width;
  context.titled = false;
  const float below = frame.caption.empty() ? 0 : caption_height(frame.caption, page.width, context);
  const auto drawn = [&](float above) {
    context.height = std::max(1.F, page.height - below - above);
    return built(view, context);
  };
  const auto above = [&](const Picture& picture) {
    return frame.title ? heading_height(picture.title, picture.subtitle, page.width, context) : 0;
  };
  const auto heading_line = [&] {
    const viz::Style style{*context.theme, *context.fonts, context.font_size, context.device_scale};
    return style.line(style.title()) + 2 * style.unit();
  };
  const auto shorten = [&](Picture& picture) {
    if (!frame.subtitle && above(picture) > heading_line()) picture.subtitle.clear();
  };
  // How high the heading is depends on its words, which the view knows when it is drawn.
  float reserved = frame.title ? heading_line() : 0;
  Picture picture = drawn(reserved);
  shorten(picture);
  if (const float needed = above(picture); needed != reserved) {
    picture = drawn(reserved = needed);
    shorten(picture);
    if (above(picture) > reserved) picture = drawn(reserved = above(picture)), shorten(picture);
  }
  if (context.printed) place_in_middle(picture, context, frame.fills);
  if (frame.title) picture = with_heading(std::move(picture), context);
  if (!frame.caption.empty()) picture = with_caption(std::move(picture), frame.caption, context);
  if (picture.scene.height > page.height + 0.5F) picture.whole = picture.readable = false;
  picture.scene.height = page.height;
  if (!frame.fills || !(frame.title || !frame.caption.empty())) return picture;
  if (picture.exact_widths) return picture;  // figures of one size have one scale, whatever their words are
  // What is about as high as it is wide, between the lines above and below it, leaves much of the page empty.
  constexpr float kLarger = 1.15F;
  Picture beside = beside_words(view, context, frame, page);
  const bool as_whole = beside.readable && (beside.whole || !picture.whole);
  return as_whole && plot_area(beside) > kLarger * plot_area(picture) ? beside : picture;
}

/// The font size, up to twice the context's, at which a picture that would leave a part of its page empty
/// fills it, without leaving anything out.
float filling_font_size(const View& view, ViewContext context, Frame frame, Size page) {
  constexpr float kStep = 1.15F, kFull = 0.78F;  // a part of the page's height
  frame.fills = false;
  const std::string words = std::exchange(frame.caption, "");
  const auto texts = [](const Picture& picture) {
    return std::ranges::count_if(picture.scene.items, [](const viz::Item& item) {
      return std::holds_alternative<viz::GlyphRun>(item);
    });
  };
  const auto drawn = [&] {
    const float below = words.empty() ? 0 : caption_height(words, page.width, context);
    return on_page(view, context, frame, {page.width, page.height - below});
  };
  Picture picture = drawn();
  float size = context.font_size;
  for (const float most = 2 * size; picture.whole && context.font_size * kStep <= most;) {
    if (viz::content_bounds(picture.scene, *context.fonts).bottom() >= kFull * picture.scene.height) break;
    context.font_size *= kStep;
    Picture larger = drawn();
    if (!larger.whole || !larger.readable || texts(larger) < texts(picture)) break;
    size = context.font_size;
    picture = std::move(larger);
  }
  return size;
}

/// Makes lines as wide as the target wants them.
void set_line_widths(Picture& picture, const TargetSpec& target) {
  const float scale = picture.exact_widths ? 1 : target.line_scale;
  if (scale == 1 && target.least_line == 0) return;
  for (viz::Item& item : picture.scene.items) {
    std::visit(
        [&](auto& it) {
          if constexpr (requires { it.width = 1.F; })
            it.width = std::max(target.least_line, scale * it.width);
        },
        item);
  }
}

/// The smallest integer in (low, high] for which `holds` is true; it is true for `high`.
template <class Holds>
float least(float low, float high, const Holds& holds) {
  low = std::floor(low);
  high = std::ceil(high);
  while (high - low > 1) {
    const float middle = std::floor((low + high) / 2);
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

/// The smallest page that `holds` the figure: keeps one side of the context's size if growing the other is
/// enough. None if sides of `most` do not suffice.
template <class Holds>
std::optional<Size> least_page(const ViewContext& context, float most, const Holds& holds) {
  const float w = context.width, h = context.height;
  const float most_w = std::max(most, w), most_h = std::max(most, h);
  if (holds(w, h)) return Size{w, h};
  if (holds(w, most_h)) return Size{w, least(h, most_h, [&](float side) { return holds(w, side); })};
  if (holds(most_w, h)) return Size{least(w, most_w, [&](float side) { return holds(side, h); }), h};
  if (!holds(most_w, most_h)) return std::nullopt;
  // Both sides grow equally, then each shrinks as far as the figure still fits.
  const float growth = least(0, std::max(most_w - w, most_h - h), [&](float more) {
    return holds(std::min(w + more, most_w), std::min(h + more, most_h));
  });
  const float high = std::min(h + growth, most_h);
  const float width = least(w, std::min(w + growth, most_w), [&](float side) { return holds(side, high); });
  return Size{width, least(h, high, [&](float side) { return holds(width, side); })};
}

/// The picture cut to its drawing, with its left margin on all sides; at least as wide as its caption, up to
/// a readable line length.
Picture trimmed(Picture picture, const std::string& words, const ViewContext& context) {
  constexpr float kMaxForCaption = 34;  // ems
  const viz::Rect content = viz::content_bounds(picture.scene, *context.fonts);
  const float margin = std::max(0.F, content.x);
  const viz::Style style{*context.theme, *context.fonts, context.font_size, context.device_scale};
  const float caption = std::min(style.width(words, style.small()) + 1, kMaxForCaption * context.font_size);
  const float right = std::max(content.right(), content.x + caption);
  picture.scene.width = std::ceil(right + margin);
  picture.scene.height = std::ceil(content.bottom() + margin);
  return picture;
}

/// The picture without empty space below its drawing, except for its margin or a gap above its caption.
Picture cut_below(Picture picture, const ViewContext& context, bool captioned) {
  // What snaps to pixels may be so much lower in one format than in another.
  constexpr float kSnapped = 0.25F;
  const viz::Style style{*context.theme, *context.fonts, context.font_size, context.device_scale};
  const viz::Rect content = viz::content_bounds(picture.scene, *context.fonts);
  const float end = std::max(margin(context), captioned ? 2 * style.unit() : 0);
  picture.scene.height = std::ceil(content.bottom() + end - kSnapped);
  return picture;
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

float height_for_width(const View& view, ViewContext context, float scale, Target target) {
  const bool printed = context.printed = target != Target::screen;
  context.least_line = spec_of(target).least_line;

  const float highest = printed ? kSheet : 4000;
  constexpr float kMaxPixels = 1e8F;
  return std::min({std::ceil(view.whole_height(context)), highest,
                   std::floor(kMaxPixels / (context.width * scale * scale))});
}

Picture export_picture_of(const View& view, ViewContext context, const ExportOptions& options) {
  constexpr float kMaxGrown = 4000;
  context.device_scale = options.scale;
  context.trimmed = options.page == Page::trimmed;
  context.printed = options.target != Target::screen;
  context.least_line = spec_of(options.target).least_line;
  if (context.printed) context.print_scale = spec_of(options.target).scale;
  context.note_in_caption = options.caption && (context.printed || !options.title);
  const std::string words = options.caption ? caption(view, context) : std::string();
  // A trimmed page gets its caption after trimming.
  const bool cuts = options.page == Page::trimmed || options.page == Page::width;
  const bool exact = options.page == Page::exact;
  Frame frame{cuts ? std::string() : words, options.title, true, context.printed && exact};
  // On paper the caption below is on the sheet, too.
  const bool is_on_sheet = context.printed && options.page == Page::width;
  const float under = words.empty() ? 0 : caption_height(words, context.width, context);
  const float highest = kSheet - under - margin(context);
  const Size asked{context.width, is_on_sheet ? std::min(context.height, highest) : context.height};
  if (frame.fills && options.letters_grow) context.font_size = filling_font_size(view, context, frame, asked);
  // An exact page has what fits, like a pane of the window; other pages have all.
  const auto fits = [&](const Picture& picture) { return picture.readable && (exact || picture.whole); };
  const auto holds = [&](float width, float height) {
    return fits(on_page(view, context, frame, {width, height}));
  };
  Picture picture = on_page(view, context, frame, asked);
  if (exact && !fits(picture)) {  // it may without the lines of its subtitle
    frame.subtitle = false;
    picture = on_page(view, context, frame, asked);
  }
  if (!fits(picture) && is_on_sheet) {
    // A list is cut to the rows that fit a sheet of paper; other pictures are as in a pane of that width.
    const bool is_whole = holds(asked.width, highest);
    const bool is_cut = picture.rows.all > 0 || (context.run && !view.scrolls(context, picture).empty());
    const Size sheet{asked.width, is_whole ? least(asked.height, highest,
                                                   [&](float side) { return holds(asked.width, side); })
                                  : is_cut ? highest
                                           : asked.height};
    Picture on_sheet = on_page(view, context, frame, sheet);
    if (on_sheet.readable) picture = std::move(on_sheet), picture.whole = true;
  }
  if (!fits(picture)) {
    const auto refuse = [&](const std::string& needs) {
      throw std::runtime_error("the view " + std::string(view.id) + needs);
    };
    const float most = exact || options.page == Page::width ? kLargestSide : kMaxGrown;
    const auto page = least_page(context, most, holds);
    if (exact && page) refuse(" needs at least " + in_words(*page) + " here, not " + in_words(asked));
    if (exact) refuse(" does not fit any size with these options");
    if (options.page == Page::width && (!page || page->width > asked.width)) {
      const auto wide = [&](float width) { return holds(width, kLargestSide); };
      if (!wide(kLargestSide)) refuse(" does not fit any width with these options");
      refuse(" needs a width of at least " + in_words(least(asked.width, kLargestSide, wide)) +
             " here, not " + in_words(asked.width));
    }
    if (page) picture = on_page(view, context, frame, *page);
  }
  set_line_widths(picture, spec_of(options.target));
  if (!cuts) return picture;
  picture = context.trimmed ? trimmed(std::move(picture), words, context)
                            : cut_below(std::move(picture), context, !words.empty());
  return words.empty() ? picture : with_caption(std::move(picture), words, context);
}

viz::Scene export_scene_of(const View& view, ViewContext context, const ExportOptions& options) {
  return export_picture_of(view, std::move(context), options).scene;
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

/// Throws std::runtime_error, one sentence that says what would help, for a scene that is too large for a
/// PNG.
static void require_bitmap_side(const View& view, const ViewContext& context, const viz::Scene& scene,
                                float scale) {
  const float side = std::max(scene.width, scene.height);
  if (side * scale <= kLargestSide) return;
  constexpr float kLeastScale = 0.25F;  // that --scale takes
  const float most = std::floor(100 * kLargestSide / side) / 100;
  std::string advice;
  if (most >= kLeastScale) advice += "give --scale " + plain(most) + ", ";
  ViewContext fewer = context;
  fewer.max_rows = 1;
  const bool takes_rows = view.has_list && (view.refuse == nullptr || view.refuse(fewer).empty());
  if (takes_rows) advice += "show fewer rows of its list with --rows, ";
  throw std::runtime_error(
      "the view " + std::string(view.id) + " is " + in_words(Size{scene.width, scene.height}) +
      " logical pixels here, and a png at most " + plain(kLargestSide) +
      " device pixels wide and high: " + advice + (advice.empty() ? "" : "or ") + "write svg or pdf");
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
  if (format == FileFormat::png) require_bitmap_side(view, context, scene, options.scale);
  if (format == FileFormat::png)
    return png_bytes(viz::rasterize(scene, *context.fonts, options.scale), options.scale, options.notes);
  ViewContext described = context;
  const bool printed = described.printed = options.target != Target::screen;
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
