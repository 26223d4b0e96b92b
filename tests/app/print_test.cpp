// Figures for columns and pages of papers and for slides: every view, with letters and lines that can be
// printed.

#include <map>
#include <set>

#include "app/views/export.h"
#include "app/views/output/sampling_options.h"
#include "app/views/print_target.h"
#include "tests/app/view_fixture.h"
#include "tests/app/views/view_suite.h"
#include "tests/viz/xml_check.h"

namespace headscope::app::print_test {
namespace {

constexpr float kPoint = 96.F / 72;  // logical pixels
constexpr Target kPrinted[] = {Target::column, Target::page, Target::slide};

ViewContext context_for(const View& view, Target target, const Scenario& s,
                        const viz::Theme& theme = light()) {
  const TargetSpec spec = spec_of(target);
  ViewContext c = s.context(spec.width, spec.height, theme);
  c.font_size = spec.font_size;
  if (spec.height == 0) c.height = height_for_width(view, c, spec.scale, target);
  return c;
}

ExportOptions options_for(Target target) {
  const TargetSpec spec = spec_of(target);
  return {.scale = spec.scale,
          .page = spec.height > 0 ? Page::exact : Page::width,
          .target = target,
          .letters_grow = true};
}

std::string name_of(Target target) {
  return std::string(name_of(kTargetNames, target));
}

/// Whether a text that was cut is a token's or the prompt's.
bool is_cut_token_text(std::string text, const Scenario& s) {
  if (text.find("…”") != text.npos) return true;  // a quoted prompt
  std::string prompt;
  for (const std::string& label : s.run->tokens.labels) prompt += label;
  const std::string_view dots = "…";
  for (std::size_t at = 0; (at = text.find(dots)) != text.npos;) text.erase(at, dots.size());
  if (const std::size_t token = text.find_first_not_of("0123456789 "); token != 0 && token != text.npos)
    text.erase(0, token);  // its position
  if (prompt.find(text) != prompt.npos) return true;
  const model::Tokenizer& tokenizer = *s.run->model->tokenizer;
  for (int id = 0; id < s.config().vocab_size; ++id)
    if (viz::visible(tokenizer.bytes(id)).find(text) != text.npos) return true;
  return false;
}

class EveryPrintedFigure : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, EveryPrintedFigure, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryPrintedFigure, HasTheSizeLettersAndLinesOfItsTarget) {
  for (const Target target : kPrinted) {
    const TargetSpec spec = spec_of(target);
    for (const int length : {1, 17, 100}) {
      SCOPED_TRACE(name_of(target) + ", " + std::to_string(length) + " tokens");
      const Scenario& s = scenario(length);
      viz::Scene scene;
      ASSERT_NO_THROW(scene = export_scene_of(view(), context_for(view(), target, s), options_for(target)));
      EXPECT_EQ(scene.width, spec.width);
      if (spec.height > 0) {
        EXPECT_EQ(scene.height, spec.height);
      }
      EXPECT_LE(scene.height, 9 * 96) << "a sheet of paper, title and caption included";
      EXPECT_EQ(text_faults(scene, *fonts()), "");
      for (const viz::GlyphRun& run : items_of<viz::GlyphRun>(scene)) {
        EXPECT_GE(run.size, 6 * kPoint) << run.text;
        const bool is_cut = run.text.find("…") != run.text.npos || run.text.find("...") != run.text.npos;
        EXPECT_TRUE(!is_cut || is_cut_token_text(run.text, s)) << run.text;
      }
      for (const viz::Item& item : scene.items)
        std::visit(
            [](const auto& it) {
              if constexpr (requires { it.width; }) {
                EXPECT_GE(it.width, 0.5F * kPoint - 1e-4F);
              }
            },
            item);
    }
  }
}

TEST(PrintedFlow, ItsStrandsHaveTheWidthsOfTheLegendOnASlide) {
  // Strands are lines, the legend's sample is a rectangle: wider lines would say something else.
  const View& view = *find_view("flow");
  const TargetSpec spec = spec_of(Target::slide);
  const Scenario& s = scenario(17);
  const auto widest = [&](const ExportOptions& options) {
    ViewContext c = s.context(spec.width, spec.height);
    c.font_size = spec.font_size;
    float most = 0;
    for (const auto& line : items_of<viz::Polyline>(export_scene_of(view, c, options)))
      most = std::max(most, line.width);
    return most;
  };
  // Without a caption, which on a slide takes words from the legend and so leaves more room.
  const float slide = widest({.caption = false, .page = Page::exact, .target = Target::slide});
  EXPECT_GT(slide, 3);
  EXPECT_FLOAT_EQ(slide, widest({.caption = false, .page = Page::exact}));
}

TEST_P(EveryPrintedFigure, IsMadeInEveryFormat) {
  for (const Target target : kPrinted) {
    SCOPED_TRACE(name_of(target));
    const ViewContext c = context_for(view(), target, scenario(17));
    const ExportOptions options = options_for(target);
    const std::string png = export_bytes(FileFormat::png, view(), c, options);
    const auto number = [&](std::size_t at) {
      unsigned value = 0;
      for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
      return value;
    };
    EXPECT_EQ(number(16), target == Target::column ? 990U : target == Target::page ? 1950U : 3840U);
    if (target == Target::slide) {
      EXPECT_EQ(number(20), 2160U);
    }
    const std::size_t physical = png.find("pHYs");
    ASSERT_NE(physical, std::string::npos);
    EXPECT_EQ(number(physical + 4), target == Target::slide ? 11339U : 11811U)
        << "pixels per metre: 288, 300 dpi";
    EXPECT_EQ(viz::testing::xml_error(export_bytes(FileFormat::svg, view(), c, options)), "");
    EXPECT_EQ(export_bytes(FileFormat::pdf, view(), c, options).substr(0, 4), "%PDF");
  }
}

/// The part of a figure that its plot takes: all that carries data, from the first region to the last.
double plot_share(const Picture& picture) {
  float left = 1e9F, top = 1e9F, right = 0, bottom = 0;
  for (const viz::Region& region : picture.regions) {
    left = std::min(left, region.rect.x), right = std::max(right, region.rect.right());
    top = std::min(top, region.rect.y), bottom = std::max(bottom, region.rect.bottom());
  }
  return static_cast<double>((right - left) * (bottom - top) / (picture.scene.width * picture.scene.height));
}

TEST_P(EveryPrintedFigure, IsMostlyItsPlot) {
  for (const Target target : kPrinted) {
    const Picture picture =
        export_picture_of(view(), context_for(view(), target, scenario(17)), options_for(target));
    EXPECT_GE(plot_share(picture), 0.45) << name_of(target);
  }
}

/// The words of a whole figure, with their spaces.
std::string all_words(const viz::Scene& scene) {
  std::string all;
  for (const std::string& text : texts(scene)) all += text + " ";
  return all;
}

TEST(Figure, SaysInItsSubtitleThatNothingDiffersAndCoversNothing) {
  Scenario s = edited("L0H0.z=0", {0, 0, -1});
  for (const char* id : {"heatmap", "scores", "lines"}) {
    const View& view = *find_view(id);
    for (const Target target : kPrinted) {
      ViewContext c = on_side(Side::difference, view, context_for(view, target, s));
      const Picture picture = export_picture_of(view, c, options_for(target));
      EXPECT_THAT(picture.subtitle, HasSubstr(": no difference")) << id;
      EXPECT_THAT(all_words(picture.scene), Not(HasSubstr("Logit lens"))) << id;
      EXPECT_EQ(text_faults(picture.scene, *fonts()), "") << id;
    }
  }
}

/// What is laid out for pixels is laid out for those of the target, not of the format.
TEST(Figure, OfEncodingsHasOneLayoutInAllFormats) {
  for (const char* id : {"cosines", "positions"}) {
    const View& view = *find_view(id);
    for (const Target target : kPrinted) {
      const ViewContext c = context_for(view, target, scenario(12));
      ExportOptions options = options_for(target);
      const Picture png = export_picture_of(view, c, options);
      options.scale = kVectorScale;
      const Picture pdf = export_picture_of(view, c, options);
      EXPECT_EQ(png.scene.height, pdf.scene.height) << id;
      const viz::Rect &a = png.regions.front().rect, &b = pdf.regions.front().rect;
      EXPECT_NEAR(a.w, b.w, 0.5) << id;
      EXPECT_NEAR(a.h, b.h, 0.5) << id;
      EXPECT_NEAR(a.y, b.y, 0.5) << id;
    }
  }
}

TEST(Figure, NamesTheColumnsItLeavesOut) {
  const Scenario& s = scenario(100);
  for (const char* id : {"softmax", "query"}) {
    const View& view = *find_view(id);
    const ViewContext column = context_for(view, Target::column, s);
    EXPECT_THAT(export_picture_of(view, column, options_for(Target::column)).subtitle,
                HasSubstr("; columns not shown: "))
        << id;
    const ViewContext wide = s.context(2400, 900);
    EXPECT_THAT(view.build(wide).subtitle, Not(HasSubstr("not shown"))) << id;
  }
}

TEST(Figure, OfTheCacheExplainsItsFourColoursInAColumn) {
  const View& view = *find_view("cache");
  const ViewContext c = context_for(view, Target::column, scenario(17));
  const auto all = texts(export_picture_of(view, c, options_for(Target::column)).scene);
  for (const char* words : {"keys computed", "values computed", "keys kept", "values kept"})
    EXPECT_THAT(all, Contains(words));
}

TEST(Figure, OfLinesHasThinnerLinesInNarrowerRows) {
  const View& view = *find_view("lines");
  const auto part_of_row = [&](int length) {
    const ViewContext c = context_for(view, Target::slide, scenario(length));
    const Picture picture = export_picture_of(view, c, options_for(Target::slide));
    float widest = 0;
    for (const auto& lines : items_of<viz::Segments>(picture.scene))
      if (lines.points.size() > 2) widest = std::max(widest, lines.width);
    EXPECT_GT(widest, 0);
    return widest * static_cast<float>(length) / picture.regions.front().rect.h;
  };
  EXPECT_LE(part_of_row(17), 0.45F);
  EXPECT_LE(part_of_row(100), 0.45F) << "lines of neighbours stay apart";
}

TEST(Figure, OfTokensSaysWhatItsShadesMean) {
  const View& view = *find_view("tokens");
  for (const Target target : kPrinted) {
    const Picture picture =
        export_picture_of(view, context_for(view, target, scenario(17)), options_for(target));
    EXPECT_THAT(picture.title, StartsWith("Attention from query "));
    EXPECT_THAT(all_words(picture.scene), HasSubstr("the stronger a token's colour"));
  }
}

TEST(Figure, OfTokensIsAsLargeAsItsPageAndHasAKeyOfItsColours) {
  const View& view = *find_view("tokens");
  for (const int length : {1, 17, 100}) {
    const Picture picture = export_picture_of(view, context_for(view, Target::slide, scenario(length)),
                                              options_for(Target::slide));
    EXPECT_GT(picture.regions.front().rect.h, length == 1 ? 100 : length == 17 ? 60 : 30) << length;
    EXPECT_THAT(texts(picture.scene), IsSupersetOf({"weight 0", "1"})) << length;
    EXPECT_EQ(text_faults(picture.scene, *fonts()), "") << length;
  }
}

TEST(Figure, OfTokenizationHasItsListBesideTheStepsOnASlide) {
  const View& view = *find_view("tokenization");
  const Picture picture =
      export_picture_of(view, context_for(view, Target::slide, scenario(17)), options_for(Target::slide));
  float steps = 0, list = 1e9F;
  int tokens = 0;
  for (const viz::Region& region : picture.regions) {
    const bool is_token = region.role == 0;
    tokens += is_token ? 1 : 0;
    (is_token ? list : steps) =
        is_token ? std::min(list, region.rect.x) : std::max(steps, region.rect.right());
  }
  EXPECT_GT(list, steps);
  EXPECT_GE(tokens, 14);
}

TEST(Figure, OfASearchRepeatsNoContext) {
  const View& view = *find_view("search");
  const Scenario s("When Mary and John went to the store, John gave");
  const std::vector<std::string> all =
      texts(export_picture_of(view, context_for(view, Target::page, s), options_for(Target::page)).scene);
  EXPECT_EQ(std::ranges::count_if(all, [](const std::string& text) { return text.starts_with("When·Mary"); }),
            1)
      << "all matches are of one query";
  EXPECT_GT(std::ranges::count(all, "″"), 10);
}

TEST(Figure, HasBarsOfTheRowsThatItShows) {
  const Scenario& s = scenario(100);
  for (const char* id : {"softmax", "query"}) {
    const View& view = *find_view(id);
    const Picture picture =
        export_picture_of(view, context_for(view, Target::slide, s), options_for(Target::slide));
    ASSERT_LT(picture.regions.size(), 100U * (std::string_view(id) == "query" ? 3U : 1U));
    float widest = 0;
    for (const viz::FillRect& rect : items_of<viz::FillRect>(picture.scene))
      if (rect.color == viz::sign_color(light(), 1)) widest = std::max(widest, rect.rect.w);
    EXPECT_GT(widest, 2.4F * spec_of(Target::slide).font_size) << id << ": the whole axis of its column";
  }
}

TEST(Figure, OfQueriesAndKeysSaysHowManyAreNamed) {
  const View& view = *find_view("query_key_space");
  const ViewContext c = context_for(view, Target::column, scenario(100));
  EXPECT_THAT(export_picture_of(view, c, options_for(Target::column)).subtitle, HasSubstr(" of 200 named"));
}

TEST(Figure, OfASearchShowsTheQueryAtTheEndOfItsContext) {
  const View& view = *find_view("search");
  const ViewContext c = context_for(view, Target::column, scenario(17));
  const Table table = view.table(c);
  const std::string query = scenario(17).run->tokens.labels.back();
  int excerpts = 0;
  for (const std::string& text : texts(export_picture_of(view, c, options_for(Target::column)).scene)) {
    if (!text.starts_with("…")) continue;
    EXPECT_TRUE(text.ends_with(query)) << text;
    ++excerpts;
  }
  EXPECT_GT(excerpts, 0);
}

TEST(Figure, OfTheLensDropsNoSingleColumn) {
  const View& view = *find_view("lens");
  for (int length = 12; length < 18; ++length) {
    const ViewContext c = context_for(view, Target::page, scenario(length));
    const Picture picture = export_picture_of(view, c, options_for(Target::page));
    const auto shown = static_cast<int>(picture.regions.front().cols);
    EXPECT_TRUE(shown == length || shown < length - 1) << shown << " of " << length;
  }
}

TEST(Figure, OfSamplingListsTheDrawnTokenAndExplainsItsBar) {
  const Scenario s("The king gave the queen a red rose and she smiled.");
  const View& view = *find_view("sampling");
  for (const Target target : kPrinted) {
    SCOPED_TRACE(name_of(target));
    const Picture picture = export_picture_of(view, context_for(view, target, s), options_for(target));
    const std::vector<std::string> all = texts(picture.scene);
    EXPECT_THAT(all_words(picture.scene), HasSubstr("(rank 39, ")) << "it is beyond the list's 30 rows";
    EXPECT_THAT(all, Contains("39"));
    EXPECT_THAT(all, Contains("drawn"));
    EXPECT_THAT(all, Contains("one token each"));
    EXPECT_THAT(all, Contains(StartsWith("the others, each at most ")));
    // The pointer does not touch the words above it.
    float pointer = 0;
    for (const auto& shape : items_of<viz::FillPolygon>(picture.scene))
      pointer = std::min({shape.points[0].y, shape.points[1].y, shape.points[2].y});
    for (const TextBox& box : text_boxes(picture.scene, *fonts()))
      if (box.text.starts_with("seed ")) {
        EXPECT_LT(box.bounds.bottom() + 1, pointer);
      }
  }
}

TEST(Figure, OfSamplingHasNoLabelUnderItsPointer) {
  // The pointer is in the middle of the most probable token.
  const Scenario s(
      "Once there was a little girl who lived by the sea with a big black dog. Every morning she");
  const View& view = *find_view("sampling");
  int labels = 0;
  for (const Target target : kPrinted) {
    const Picture picture = export_picture_of(view, context_for(view, target, s), options_for(target));
    const auto shapes = items_of<viz::FillPolygon>(picture.scene);
    ASSERT_EQ(shapes.size(), 1U);
    const viz::Point tip = shapes.front().points[2];
    for (const TextBox& box : text_boxes(picture.scene, *fonts())) {
      const viz::Rect& b = box.bounds;
      if (b.y < tip.y || b.bottom() > tip.y + 2 * spec_of(target).font_size) continue;
      EXPECT_FALSE(b.x < tip.x && tip.x < b.right()) << box.text;
      labels += box.text == "·was" ? 1 : 0;
    }
  }
  EXPECT_GE(labels, 2) << "next to it";
}

TEST(Figure, OfSamplingListsItsGuessesInTwoColumnsWhereOneWouldLeaveHalfOfItEmpty) {
  const View& view = *find_view("sampling");
  const auto columns = [&](Target target) {
    std::set<float> left;
    std::set<int> ranks;
    for (const viz::Region& region :
         export_picture_of(view, context_for(view, target, scenario(17)), options_for(target)).regions)
      if (region.role == kGuessRole) left.insert(region.rect.x), ranks.insert(region.id);
    EXPECT_EQ(*ranks.rbegin() + 1, std::ssize(ranks)) << "no rank is left out";
    return std::pair{left.size(), ranks.size()};
  };
  EXPECT_EQ(columns(Target::column), (std::pair<std::size_t, std::size_t>(1, 30)));
  EXPECT_EQ(columns(Target::page), (std::pair<std::size_t, std::size_t>(2, 30)));
  EXPECT_EQ(columns(Target::slide).first, 2U);
  EXPECT_GT(columns(Target::slide).second, 15U);
}

TEST(Figure, OfSamplingSaysHowManyGuessesItListsWhateverIsDrawn) {
  const Scenario s("The king gave the queen a red rose and she smiled.");
  const View& view = *find_view("sampling");
  int beyond = 0;
  for (int seed = 0; seed < 40; ++seed) {
    ViewContext c = context_for(view, Target::slide, s);
    c.options.set(kSeed, seed);
    const Picture picture = export_picture_of(view, c, options_for(Target::slide));
    int listed = 0;
    for (const viz::Region& region : picture.regions) listed += region.role == kGuessRole ? 1 : 0;
    EXPECT_THAT(picture.subtitle, HasSubstr("guesses 1 to " + std::to_string(listed) + " of 30")) << seed;
    for (int rank = listed + 1; rank <= 30; ++rank)
      beyond +=
          all_words(picture.scene).find("(rank " + std::to_string(rank) + ", ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(beyond, 0) << "a drawn token that has a row under the list";
}

TEST(Figure, OfPredictionsExplainsShadesAndFramesWhereItHasGuesses) {
  const View& view = *find_view("predictions");
  for (const Target target : kPrinted) {
    const Picture picture =
        export_picture_of(view, context_for(view, target, scenario(100)), options_for(target));
    const std::vector<std::string> all = texts(picture.scene);
    EXPECT_EQ(std::ranges::count(all, "guesses: shaded by probability, framed if that token follows"),
              std::ranges::count(all, "1st guess"))
        << name_of(target);
  }
}

TEST(Figure, OfTokenizationListsMergesAsFarAsThereIsRoom) {
  const Scenario s("Once there was a little girl who lived by the sea with a big black dog.");
  const View& view = *find_view("tokenization");
  for (const Target target : kPrinted) {
    const Picture picture = export_picture_of(view, context_for(view, target, s), options_for(target));
    int lists = 0;
    for (const std::string& text : texts(picture.scene)) {
      EXPECT_FALSE(text.ends_with(" merges")) << text;
      lists += text.find('+') != text.npos && text.find(", ") != text.npos ? 1 : 0;
    }
    EXPECT_GT(lists, 2) << name_of(target);
  }
}

TEST(Figure, OfPositionsSaysInItsCaptionWhatIsDrawn) {
  const std::pair<const char*, const char*> said[] = {
      {"cosines", "curves of some positions over a map of all"},
      {"positions", "curves of some dimensions over a map of all"},
      {"staircase", "nearer parts are thicker"},
      {"shift", "no map: T is the identity"},
      {"parameters", "the values of the marked one"},
  };
  for (const auto& [id, words] : said)
    for (const Target target : kPrinted) {
      const View& view = *find_view(id);
      ExportOptions options = options_for(target);
      options.title = false;
      const Picture picture = export_picture_of(view, context_for(view, target, scenario(17)), options);
      EXPECT_THAT(all_words(picture.scene), HasSubstr(words)) << id << " for " << name_of(target);
    }
}

TEST(Figure, OfPositionsNamesTheNumbersOfItsCurvesAndColours) {
  for (const auto& [id, words] : {std::pair{"cosines", "cosine"}, {"positions", "value"}})
    for (const Target target : kPrinted) {
      const View& view = *find_view(id);
      const auto all =
          texts(export_picture_of(view, context_for(view, target, scenario(17)), options_for(target)).scene);
      EXPECT_EQ(std::ranges::count(all, words), 4) << id << ": two plots and two scales, " << name_of(target);
    }
}

TEST(Title, IsLeftOutWithTheSpaceItTook) {
  for (const char* id : {"heatmap", "query", "lens", "mlp", "heads", "tokens"}) {
    const View& view = *find_view(id);
    for (const Target target : kPrinted) {
      const ViewContext c = context_for(view, target, scenario(17));
      ExportOptions options = options_for(target);
      options.letters_grow = false;
      const Picture with = export_picture_of(view, c, options);
      options.title = false;
      const Picture without = export_picture_of(view, c, options);
      EXPECT_EQ(without.title, with.title) << "files still say it";
      if (with.title.empty()) continue;
      EXPECT_THAT(all_words(with.scene), HasSubstr(with.title)) << id;  // in one line or more
      EXPECT_THAT(all_words(without.scene), Not(HasSubstr(with.title))) << id;
      if (target != Target::slide) {
        EXPECT_LE(without.scene.height, with.scene.height) << id;
      }
    }
  }
}

TEST(Title, WrapsToTheWidthOfItsPage) {
  const Scenario s(std::string(30, 'w') + " " + std::string(30, 'm'));
  const View& view = *find_view("query");
  const Picture picture =
      export_picture_of(view, context_for(view, Target::column, s), options_for(Target::column));
  ViewContext c = context_for(view, Target::column, s);
  const float height = heading_height("Attention from query and a title of many words, too many for a line",
                                      "with a subtitle", c.width, c);
  const viz::Style style{light(), *fonts(), c.font_size};
  EXPECT_GE(height, 2 * style.line(style.title()) + style.line(style.small()));
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
}

TEST(Superscripts, AreSmallerAndHigher) {
  viz::Scene scene;
  const viz::Style style{light(), *fonts(), 14};
  const std::string text = "T" + viz::superscript("k") + " e(t), 10000" + viz::superscript("2i/256");
  EXPECT_EQ(viz::without_superscripts(text), "T^k e(t), 10000^(2i/256)");
  viz::add_label(scene, style, text, {10, 50}, 14, light().text);
  const auto runs = items_of<viz::GlyphRun>(scene);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].text, "k");
  EXPECT_LT(runs[1].size, runs[0].size);
  EXPECT_LT(runs[1].origin.y, runs[0].origin.y);
  EXPECT_EQ(runs[2].origin.y, runs[0].origin.y);
  EXPECT_NEAR(runs[3].origin.x + style.fonts.width("2i/256", viz::FontStyle::regular, runs[3].size),
              10 + style.width(text, 14), 0.01F);
}

TEST(Superscripts, OfTheLeastReadableSizeAreNoHigherThanSmallerOnes) {
  viz::Scene scene;
  viz::Style style{light(), *fonts(), 10};
  const std::string text = "T" + viz::superscript("2");
  viz::add_label(scene, style, text, {10, 20}, 8.5F, light().text);
  style.smallest = 8;
  viz::add_label(scene, style, text, {60, 20}, 8.5F, light().text);
  const auto boxes = text_boxes(scene, *fonts());
  ASSERT_EQ(boxes.size(), 4U);
  EXPECT_NEAR(boxes[1].bounds.y, boxes[3].bounds.y, 0.3F);
  EXPECT_LT(boxes[3].bounds.y, boxes[2].bounds.y - 1);
  EXPECT_EQ(items_of<viz::GlyphRun>(scene)[3].size, 8);
}

TEST(Described, FilesSayWhatTheyShow) {
  const View& view = *find_view("shift");
  const ViewContext c = context_for(view, Target::page, scenario(17));
  ExportOptions options = options_for(Target::page);
  options.title = options.caption = false;
  const std::string svg = export_bytes(FileFormat::svg, view, c, options);
  EXPECT_THAT(svg.substr(0, 1000), HasSubstr("width=\"6.5in\""));
  EXPECT_THAT(svg.substr(0, 1000),
              HasSubstr("role=\"img\">\n<title>From e(t) to e(t+k) by one map T</title>"));
  EXPECT_THAT(svg.substr(0, 1000), HasSubstr("<desc>error of T^k e(t), k up to "));
  EXPECT_LT(svg.find("<title"), svg.find("<path"));
  const std::string pdf = export_bytes(FileFormat::pdf, view, c, options);
  EXPECT_NE(pdf.find("/Title <FEFF00460072006F006D"), pdf.npos) << "From, in UTF-16";
  EXPECT_NE(pdf.find("/Subject <FEFF006500720072006F0072"), pdf.npos) << "error";
}

}  // namespace
}  // namespace headscope::app::print_test
