// The whole program without a window system, on the bundled model: events in, pictures out.
#include "app/window/core.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "app/run/analyses/attention_pattern.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "app/views/parts/weight_colors.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "tests/app/core_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "viz/players/players.h"

namespace headscope::app::core_test {
namespace {

namespace fs = std::filesystem;

TEST_F(CoreTest, TypingShowsTheNewTokens) {
  CoreFixture core(options("The cat"));
  const int before = core.snapshot().run->run->length();
  handle_and_show(core, TextTyped{" sat"});
  EXPECT_EQ(core.snapshot().run->prompt.text, "The cat sat");
  EXPECT_GT(core.snapshot().run->run->length(), before);
}

TEST_F(CoreTest, EmojiAndBrokenBytesAreKept) {
  CoreFixture core(options(""));
  core.handle(TextTyped{"\xF0\x9F\x98\x80"});
  clipboard_ = "\xE2\x82 lone";
  handle_and_show(core, KeyDown{Key::v, {.ctrl = true}});
  EXPECT_EQ(prompt(core), "\xF0\x9F\x98\x80\xE2\x82 lone");
  EXPECT_EQ(core.snapshot().run->prompt.text, "\xF0\x9F\x98\x80\xE2\x82 lone");
}

TEST_F(CoreTest, APasteAboveAMegabyteIsCutAndSaysSo) {
  CoreFixture core(options("é"));
  while (clipboard_.size() < kMaxPasted) clipboard_ += "no play ";
  core.handle(KeyDown{Key::v, {.ctrl = true}});
  EXPECT_EQ(prompt(core), "é" + clipboard_.substr(0, kMaxPasted - 2));
  EXPECT_THAT(core.state().message.text, HasSubstr("1 MB"));
}

TEST_F(CoreTest, TheNewestOfManyKeystrokesWins) {
  CoreFixture core(options(""));
  std::string typed;
  for (int i = 0; i < 200; ++i) {
    const std::string letter(1, static_cast<char>('a' + i % 26));
    core.handle(TextTyped{letter});
    typed += letter;
  }
  shown(core);
  EXPECT_EQ(core.snapshot().run->prompt.text, typed);
}

TEST_F(CoreTest, AClickOnAChipChoosesTheQuery) {
  Core core(options());
  const auto& window = shown(core);
  click(core, cell(picture(window, "tokens"), 2));
  EXPECT_EQ(core.state().selection.query, 2);
}

TEST_F(CoreTest, AClickOnASmallMapChoosesTheHead) {
  Core core(options());
  const auto& window = shown(core);
  const int heads = core.snapshot().run->run->config.n_head;
  click(core, cell(picture(window, "heads"), 1 * heads + 2));
  EXPECT_EQ(core.state().selection.layer, 1);
  EXPECT_EQ(core.state().selection.head, 2);
  shown(core);
  ASSERT_NE(answer(core, PatternOf{1, 2}), nullptr);
  EXPECT_TRUE(says(core, "Attention pattern of L1 H2"));
}

TEST_F(CoreTest, AClickOnARowOfTheHeatmapChoosesTheQuery) {
  Core core(options());
  const auto& window = shown(core);
  click(core, cell(picture(window, "heatmap"), 0, 4, 1));
  EXPECT_EQ(core.state().selection.query, 4);
  shown(core);
  ASSERT_NE(answer(core, NextAfter{4}), nullptr);
  EXPECT_EQ(answer(core, NextAfter{4})->position, 4);
}

TEST_F(CoreTest, AClickOnABarAppendsItsToken) {
  Core core(options("The old king"));
  const auto& window = shown(core);
  const PlacedPicture& next = picture(window, "next");
  ASSERT_FALSE(next.picture->regions.empty()) << "no bars";
  const int id = next.picture->regions.front().id;
  const std::string bytes(core.snapshot().model->tokenizer->bytes(id));
  click(core, cell(next, id));
  EXPECT_EQ(prompt(core), "The old king" + bytes);
}

TEST_F(CoreTest, MovingTheMouseBuildsNoPicture) {
  CoreFixture core(options());
  const int built = core.cache().built();
  WindowFrame frame;
  for (int i = 0; i < 200; ++i) {
    frame.pointer = viz::Point{static_cast<float>(i * 8), static_cast<float>(i * 5)};
    core.draw(frame);
  }
  EXPECT_EQ(core.cache().built(), built);
}

TEST_F(CoreTest, TheEmptyPromptRunsTheStartTokenAndSaysSo) {
  CoreFixture core(options(""));
  ASSERT_TRUE(core.snapshot().run);
  EXPECT_EQ(core.snapshot().run->run->tokens,
            std::vector<int>{*core.snapshot().model->tokenizer->end_of_text()});
  EXPECT_TRUE(says(core, "only the start token <|endoftext|> is run"));
}

TEST_F(CoreTest, ALongPromptRunsAsFarAsItGoesAndTheWindowSaysSo) {
  const std::string text = long_prompt();
  CoreFixture core(options(text));
  const int n_ctx = core.snapshot().run->run->config.n_ctx;
  EXPECT_EQ(core.snapshot().run->run->length(), n_ctx);
  EXPECT_GT(core.snapshot().run->tokens.length(), n_ctx);
  EXPECT_TRUE(says(core, std::to_string(n_ctx) + " of "));
}

TEST_F(CoreTest, AFolderThatIsNoModelLeavesTheLastRunOnTheScreen) {
  CoreFixture core(options());
  const auto run = core.snapshot().run;
  handle_and_show(core, FilesDropped{{folder_.path()}});
  EXPECT_EQ(core.snapshot().run, run);
  EXPECT_TRUE(core.state().message.is_error);
  EXPECT_THAT(core.state().message.text, HasSubstr(folder_.path().string()));
  handle_and_show(core, TextTyped{" again"});
  EXPECT_EQ(core.snapshot().run->prompt.text, run->prompt.text + " again")
      << "and the old model goes on working";
}

TEST_F(CoreTest, AnotherModelTakesOver) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  CoreFixture core(options());
  handle_and_show(core, FilesDropped{{other.path()}});
  EXPECT_EQ(core.snapshot().model->folder, other.path());
  EXPECT_EQ(core.snapshot().run->model, core.snapshot().model);
  EXPECT_EQ(core.snapshot().run->run->config.n_layer, 2);
}

TEST_F(CoreTest, TheExportDialogWritesThePictureOfTheScreen) {
  CoreFixture core(options());
  handle_and_show(core, KeyDown{Key::e, {.ctrl = true}});
  const fs::path file = folder_.path() / "picture.png";
  SetExport bare{core.state().export_form};
  bare.form.recipe = false;
  core.apply(bare);
  core.apply(TypeInField{Field::export_path, Replace{file.string()}});
  core.handle(KeyDown{Key::enter, {}});
  EXPECT_EQ(core.state().dialog, Dialog::none) << core.state().export_form.problem;
  // The exported file has the pane's size in whole pixels at the dialog's scale, and is identical to an
  // export of this view and selection; its map has as many pixels as the map on the screen.
  const PlacedPicture& pane = picture(core.window(), "heatmap");
  const auto scale = static_cast<float>(core.state().export_form.scale);
  ViewContext context = make_context(pane.view, core.state(), core.snapshot(), *pane.answers, *fonts_,
                                     std::floor(pane.where.w), std::floor(pane.where.h), scale);
  context.in_pane = false;
  const viz::Scene page = export_scene_of(*pane.view, context, {.scale = scale, .page = Page::at_least});
  EXPECT_EQ(page.width, std::floor(pane.where.w));
  EXPECT_EQ(page.height, std::floor(pane.where.h));
  const std::vector<std::uint8_t> png = viz::encode_png(viz::rasterize(page, *fonts_, scale), scale);
  EXPECT_TRUE(model::read_file(file) == std::string(png.begin(), png.end()));
  const auto map_of = [](const viz::Scene& scene) {
    for (const viz::Item& item : scene.items)
      if (const auto* image = std::get_if<viz::Image>(&item)) return image->content_id;
    return std::uint64_t{0};
  };
  EXPECT_NE(map_of(page), 0U);
  EXPECT_EQ(map_of(page), map_of(pane.picture->scene));
}

/// Width and height from a PNG's header, or from an SVG's view box.
std::pair<int, int> picture_size(const std::string& file) {
  if (file.starts_with("\x89PNG")) {
    const auto number = [&](std::size_t at) {
      unsigned value = 0;
      for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(file.at(at + i));
      return static_cast<int>(value);
    };
    return {number(16), number(20)};
  }
  double width = 0, height = 0;
  const std::size_t box = file.find("viewBox=\"0 0 ");
  if (box == std::string::npos) return {0, 0};
  std::istringstream(file.substr(box + 13)) >> width >> height;
  return {static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height))};
}

TEST_F(CoreTest, EverySubjectAndFormatCanBeExported) {
  CoreFixture core(options());
  for (const std::string subject : {"heatmap", "heads", "next", "tokens", ""}) {
    std::pair<int, int> size;
    for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::csv}) {
      if (subject.empty() && format != FileFormat::png) continue;
      SCOPED_TRACE(subject + std::string(extension_of(format)));
      core.apply(ShowDialog{Dialog::export_, subject});
      SetExport set{core.state().export_form};
      set.form.subject = subject, set.form.kind = format, set.form.scale = 1, set.form.svg_text = true;
      core.apply(set);
      const fs::path file = core.state().export_form.path.edit.text;
      apply_and_show(core, DoExport{});
      EXPECT_EQ(core.state().export_form.problem, "");
      EXPECT_EQ(core.state().message.text, "Saved " + file.string() + ".");
      ASSERT_TRUE(fs::exists(file)) << file;
      const std::string bytes = model::read_file(file, 1 << 26);
      if (format == FileFormat::csv) {
        const PlacedPicture& pane = picture(core.window(), subject);
        EXPECT_EQ(bytes, to_csv(pane.view->table(pane.context)));
      } else if (format == FileFormat::png) {
        size = picture_size(bytes);
        if (subject.empty()) {
          EXPECT_EQ(size, std::pair(1600, 1000)) << "as on the screen";
        }
      } else {
        EXPECT_EQ(picture_size(bytes), size) << "the same picture in both formats";
        EXPECT_NE(bytes.find(">tales · “The old"), std::string::npos);
      }
    }
  }
}

TEST_F(CoreTest, NumbersGoToTheClipboardWithTabs) {
  CoreFixture core(options("The old king"));
  core.handle(KeyDown{Key::c, {.ctrl = true, .shift = true}});
  // A header line, then for each query its number, its token and its weights with all digits.
  const auto length = static_cast<std::size_t>(core.snapshot().run->run->length());
  const std::vector<float> pattern = answer(core, PatternOf{0, 0})->values;
  std::istringstream lines(clipboard_);
  std::string line;
  for (std::size_t row = 0; row <= length; ++row) {
    ASSERT_TRUE(std::getline(lines, line)) << row;
    std::vector<std::string> cells(1);
    for (const char c : line) c == '\t' ? cells.emplace_back() : cells.back() += c;
    ASSERT_EQ(cells.size(), length + 2) << line;
    if (row == 0) continue;
    EXPECT_EQ(cells[0], std::to_string(row - 1));
    EXPECT_EQ(cells[1], core.snapshot().run->tokens.labels[row - 1]);
    for (std::size_t key = 0; key < length; ++key) {
      const std::string& cell = cells[key + 2];
      EXPECT_EQ(cell.empty(), key >= row);
      if (!cell.empty()) {
        EXPECT_EQ(std::stof(cell), pattern[(row - 1) * length + key]) << line;
      }
    }
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST_F(CoreTest, WhatIsCopiedOrExportedWaitsForWhatItShows) {
  CoreFixture core(options("The old king"));
  // The answers for the new head are not there yet.
  core.apply(SelectHead{1, 2});
  core.apply(CopyNumbers{});
  EXPECT_EQ(clipboard_, "");
  EXPECT_EQ(core.state().message.text, "");
  shown(core);
  const float weight =
      answer(core, PatternOf{1, 2})->values[core.snapshot().run->run->length()];  // query 1, key 0
  EXPECT_THAT(clipboard_, HasSubstr("\t" + plain(weight) + "\t"));
  EXPECT_THAT(core.state().message.text, HasSubstr("Copied"));
}

TEST_F(CoreTest, WhatIsCopiedOfAViewThatIsNotShownComesToo) {
  CoreFixture core(options("The old king"));
  core.apply(CopyNumbers{"lens"});
  EXPECT_EQ(clipboard_, "");
  shown(core);
  EXPECT_NE(clipboard_, "");
}

TEST_F(CoreTest, WhatADialogWasLeftWithIsNotWrittenLater) {
  CoreFixture core(options("The old king"));
  apply_and_show(core, ShowDialog{Dialog::export_, "heatmap"});
  const fs::path file = folder_.path() / "left.png";
  core.apply(TypeInField{Field::export_path, Replace{file.string()}});
  core.apply(SelectHead{1, 3});  // nothing has been computed for it yet
  core.apply(DoExport{});
  ASSERT_TRUE(core.state().export_form.waiting);
  apply_and_show(core, ShowDialog{Dialog::none});
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(CoreTest, GeneratingStopsWhereTheContextIsFull) {
  const std::string text = long_prompt();
  CoreFixture core(options(text));
  apply_and_show(core, Generate{true});
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_EQ(prompt(core), text);
  EXPECT_THAT(core.state().message.text, HasSubstr("limit of 256 tokens"));
}

TEST_F(CoreTest, GeneratingFillsTheContextToItsLastToken) {
  std::string text = "The";
  for (int i = 1; i < 255; ++i) text += " the";
  CoreFixture core(options(text));
  ASSERT_EQ(core.snapshot().run->tokens.length(), 255);
  apply_and_show(core, Generate{true});
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_EQ(core.snapshot().run->tokens.length(), 256);
  EXPECT_THAT(core.state().message.text, HasSubstr("limit of 256 tokens"));
}

TEST_F(CoreTest, ADenserDisplayGetsPicturesOfItsOwn) {
  Core core(options("The old king"));
  WindowFrame frame;
  core.settle();
  const auto before = picture(core.draw(frame), "heatmap").picture;
  frame.device_scale = 2;
  EXPECT_NE(picture(core.draw(frame), "heatmap").picture, before);
}

TEST_F(CoreTest, GeneratingAppendsTokenAfterTokenAndStops) {
  CoreFixture core(options("Once upon a time"));
  core.handle(KeyDown{Key::g, {.ctrl = true}});
  while (core.state().generation.running && core.state().generation.token_count < 3) {
    if (!core.take_results()) std::this_thread::yield();
  }
  const std::string text = prompt(core);
  EXPECT_GT(text.size(), std::string("Once upon a time").size());
  core.handle(KeyDown{Key::escape, {}});
  EXPECT_FALSE(core.state().generation.running);
  shown(core);
  EXPECT_EQ(prompt(core), text);
  core.handle(KeyDown{Key::z, {.ctrl = true}});
  EXPECT_EQ(prompt(core), "Once upon a time") << "one undo takes back what was generated";
}

TEST_F(CoreTest, WhatWasGeneratedIsTakenBackFromOutsideThePromptToo) {
  CoreFixture core(options("Once upon a time"));
  click(core, cell(picture(core.window(), "heads"), 3));
  handle_and_show(core, KeyDown{Key::g, {.ctrl = true}});  // until the context is full
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_NE(core.moment().keyboard_item, 0U);
  const std::string text = prompt(core);
  core.handle(KeyDown{Key::z, {.ctrl = true}});
  EXPECT_EQ(prompt(core), "Once upon a time");
  core.handle(KeyDown{Key::y, {.ctrl = true}});
  EXPECT_EQ(prompt(core), text);
}

TEST_F(CoreTest, SettingsAndPromptComeBack) {
  CoreOptions first = options("Remember me");
  first.settings_file = folder_.path() / "settings.json";
  {
    CoreFixture core(std::move(first));
    core.apply(SetDark{true});
    core.apply(SetFontSize{17});
    core.apply(ShowView{"query"});
  }
  CoreOptions second = options(std::nullopt);
  second.settings_file = folder_.path() / "settings.json";
  second.settings = load_settings(second.settings_file).settings;
  Core core(std::move(second));
  EXPECT_TRUE(core.state().dark);
  EXPECT_EQ(core.state().font_size, 17);
  EXPECT_EQ(core.state().view, "query");
  EXPECT_EQ(prompt(core), "Remember me");
}

TEST_F(CoreTest, WhatToLookForInAnExampleIsSaidOfItsOwnModelOnly) {
  fs::copy(bundled_folder(), folder_.path() / "another");
  for (const fs::path& model : {bundled_folder(), folder_.path() / "another"}) {
    CoreOptions o = options(std::nullopt);
    o.window.model = model;
    o.examples = {{"Title", "Zebras there", {}, "Once upon a time"}};
    o.examples_model = bundled_folder();
    CoreFixture core(std::move(o));
    EXPECT_EQ(says(core, "Zebras there"), model == bundled_folder()) << model;
    EXPECT_EQ(prompt(core), "Once upon a time");
  }
}

TEST_F(CoreTest, TextIsSelectedWithTheMouseAndCut) {
  Core core(options("alpha beta"));
  const auto& window = shown(core);
  const viz::Rect editor = window.fields.front().look.rect;
  const viz::Point start{editor.x + 30, editor.y + 16};
  click(core, start, 2);
  EXPECT_EQ(core.state().prompt.edit.selected(), "alpha");
  core.handle(KeyDown{Key::x, {.ctrl = true}});
  EXPECT_EQ(clipboard_, "alpha");
  EXPECT_EQ(prompt(core), " beta");
}

TEST_F(CoreTest, TheWheelZoomsAboutTheMouseAndADoubleClickShowsAll) {
  std::string text;
  while (text.size() < 300) text += "The wolf came to the door. ";
  Core core(options(text));
  const auto& window = shown(core);
  const viz::Point at = cell(picture(window, "heatmap"), 0, 20, 10);
  core.handle(MouseWheel{at, 0, 3, {}});
  EXPECT_GT(core.state().options[kZoom].rows, 0);
  shown(core);
  const auto hit = viz::hit_test(
      picture(core.window(), "heatmap").picture->regions,
      {at.x - picture(core.window(), "heatmap").where.x, at.y - picture(core.window(), "heatmap").where.y});
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->row, 20);
  EXPECT_EQ(hit->col, 10);
  click(core, at);
  EXPECT_EQ(core.state().selection.query, 20);
  click(core, at, 2);
  EXPECT_EQ(core.state().options[kZoom], Zoom{});
  EXPECT_EQ(core.state().selection.query, -1) << "as it was before the first of the two clicks";
}

TEST_F(CoreTest, DialogsTakeTheMouseFromWhatLiesUnderThem) {
  Core core(options());
  const viz::Point chip = cell(picture(shown(core), "tokens"), 1);
  handle_and_show(core, KeyDown{Key::f1, {}});
  click(core, chip);
  EXPECT_EQ(core.state().selection.query, -1);
  click_item(core, "Close");
  EXPECT_EQ(core.state().dialog, Dialog::none);
  shown(core);
  click(core, chip);
  EXPECT_EQ(core.state().selection.query, 1);
}

TEST_F(CoreTest, GivenIdsRunAsTheyAreUntilTheTextIsEdited) {
  CoreOptions o = options();
  o.window.prompt = Prompt{"", {5, 5, 6, 7}, false};
  CoreFixture core(std::move(o));
  EXPECT_EQ(core.snapshot().run->run->tokens, (std::vector<int>{5, 5, 6, 7}));
  EXPECT_EQ(prompt(core), core.snapshot().model->tokenizer->decode(std::vector<int>{5, 5, 6, 7}));
  handle_and_show(core, TextTyped{"x"});
  EXPECT_EQ(core.snapshot().run->prompt.ids, std::vector<int>{});
}

TEST_F(CoreTest, TheStartTokenIsPutFirst) {
  CoreFixture core(options());
  click_and_show(core, "Start token");
  EXPECT_EQ(core.snapshot().run->run->tokens.front(), *core.snapshot().model->tokenizer->end_of_text());
}

TEST_F(CoreTest, AnActionThatThrowsLosesNothing) {
  CoreFixture core(options("The old king"));
  const std::string view = core.state().view;
  EXPECT_THROW(core.apply(SetVisibility{0, 0, -1, 0, false}),
               std::out_of_range);  // no view asks for such a cell
  EXPECT_EQ(prompt(core), "The old king");
  EXPECT_EQ(core.state().model, bundled_folder());
  EXPECT_EQ(core.state().view, view);
  apply_and_show(core, TypeInField{Field::prompt, Insert{" had", false}});
  EXPECT_EQ(core.snapshot().run->prompt.text, "The old king had");
}

TEST_F(CoreTest, AFetchEndsBeforeTheCoreDoes) {
  std::atomic<bool> ended = false;
  CoreOptions o = options();
  o.fetch = [&](const HubModel&, const FetchOptions& how) -> std::filesystem::path {
    while (!how.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ended = true;
    throw model::Stopped();
  };
  {
    CoreFixture core(std::move(o));
    core.apply(FetchModel{parse_hub_model("openai-community/gpt2")});
  }
  EXPECT_TRUE(ended);
}

TEST_F(CoreTest, OfSeveralDroppedFilesEachIsTakenOrNamed) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  const auto list = folder_.write("kings.txt", "The king had a dog\nThe queen had a cat\n");
  const auto second_list = folder_.write("more.txt", "x\n");
  CoreFixture core(options());
  core.handle(FilesDropped{{list, other.path(), second_list}});
  EXPECT_THAT(core.state().message.text, HasSubstr(second_list.string()));
  EXPECT_THAT(core.state().message.text, Not(HasSubstr(list.string())));
  for (int i = 0; i < 5000 && !core.state().prompts; ++i) {
    core.take_results();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  shown(core);
  ASSERT_TRUE(core.state().prompts);
  EXPECT_EQ(core.state().prompts->prompts.size(), 2U);
  EXPECT_EQ(core.snapshot().model->folder, other.path());
  EXPECT_THAT(core.state().message.text, HasSubstr(second_list.string())) << "it is still said";
}

TEST_F(CoreTest, OfTwoDroppedModelsTheSecondIsComparedWith) {
  const std::filesystem::path copy = folder_.path() / "copy";
  std::filesystem::copy(bundled_folder(), copy);
  CoreFixture core(options());
  core.handle(FilesDropped{{bundled_folder(), copy}});
  EXPECT_EQ(core.state().second.model, copy);
  EXPECT_EQ(core.state().message.text, "");
}

}  // namespace
}  // namespace headscope::app::core_test
