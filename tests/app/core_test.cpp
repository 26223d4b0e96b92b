// The whole program without a window system, on the bundled model: events in, pictures out; mouse, keyboard
// and what the panels show.
#include <atomic>
#include <chrono>

#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/attention_maps.h"
#include "app/views/parts/names.h"
#include "app/window/core.h"
#include "app/window/picture_cache.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "tests/app/core_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/viz/text_boxes.h"
#include "viz/players/players.h"

namespace headscope::app::core_test {
namespace {

namespace fs = std::filesystem;

TEST_F(CoreTest, ATextLongerThanAnyModelReadsIsRefusedWhereItEnters) {
  CoreFixture core(options("é"));
  while (clipboard_.size() < kMaxText) clipboard_ += "no play ";
  clipboard_.pop_back();
  press(core, Key{'v'}, {.ctrl = true});
  EXPECT_EQ(prompt(core), "é");
  EXPECT_THAT(core.state().message.text, HasSubstr(std::to_string(kMaxText)));
  clipboard_.pop_back();
  press(core, Key{'v'}, {.ctrl = true});
  EXPECT_EQ(prompt(core), "é" + clipboard_);
  const std::string full = prompt(core);
  shown(core);
  const PlacedPicture& tokens = picture(core.window(), token_strip().id);
  EXPECT_LT(tokens.view->scrolls(tokens.context, *tokens.picture).at(0).total, 100)
      << "lines of tokens: few of those that are not read";
  core.apply(ShowPrompt{{full + "!", {}, false}, {}});
  EXPECT_EQ(prompt(core), full);
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

TEST_F(CoreTest, TheExportDialogWritesThePictureOfTheScreen) {
  CoreFixture core(options());
  handle_and_show(core, KeyDown{Key{'e'}, {.ctrl = true}});
  const fs::path file = folder_.path() / "picture.png";
  SetExport bare{core.state().export_form};
  bare.form.recipe = false;
  core.apply(bare);
  core.apply(TypeInField{Field::export_path, Replace{file.string()}});
  core.handle(KeyDown{Key::enter, {}});
  wait_until(core, [&] { return core.state().dialog == Dialog::none; });
  // The exported file has the pane's size in whole pixels at the dialog's scale, and is identical to an
  // export of this view and selection.
  const PlacedPicture& pane = picture(core.window(), "heatmap");
  const auto scale = static_cast<float>(core.state().export_form.scale);
  ViewContext context = make_context(pane.view, core.state(), core.snapshot(), *pane.answers, *fonts_,
                                     std::floor(pane.where.w), std::floor(pane.where.h), scale);
  context.in_pane = false;
  const viz::Scene page =
      export_picture_of(*pane.view, context, {.scale = scale, .page = Page::at_least}).scene;
  EXPECT_EQ(page.width, std::floor(pane.where.w));
  EXPECT_EQ(page.height, std::floor(pane.where.h));
  const std::vector<std::uint8_t> png = viz::encode_png(viz::rasterize(page, *fonts_, scale), scale);
  EXPECT_TRUE(model::read_file(file) == std::string(png.begin(), png.end()));
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
  EXPECT_THAT(clipboard_, HasSubstr("\t" + plain(weight) + "\n"));
  EXPECT_THAT(core.state().message.text, HasSubstr("Copied"));
}

TEST_F(CoreTest, WhatADialogWasLeftWithIsNotWrittenLater) {
  CoreFixture core(options("The old king"));
  apply_and_show(core, ShowDialog{Dialog::export_, "heatmap"});
  const fs::path file = folder_.path() / "left.png";
  core.apply(TypeInField{Field::export_path, Replace{file.string()}});
  core.apply(SelectHead{1, 3});  // nothing has been computed for it yet
  core.apply(DoExport{});
  ASSERT_EQ(core.state().export_form.state, Writing::waits);
  apply_and_show(core, ShowDialog{Dialog::none});
  EXPECT_FALSE(fs::exists(file));
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

std::string long_text() {
  std::string text;
  while (text.size() < 300) text += "The wolf came to the door. ";
  return text;
}

TEST_F(CoreTest, TheWheelZoomsAboutTheMouseAndADoubleClickShowsAll) {
  Core core(options(long_text()));
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

TEST_F(CoreTest, AFetchEndsBeforeTheCoreDoes) {
  std::atomic<bool> ended = false;
  CoreOptions o = options();
  o.fetch = [&](const HubModel&, const FetchOptions& how) -> std::filesystem::path {
    while (!how.cancelled()) std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::milliseconds(20));  // a destructor that does not wait comes first
    ended = true;
    throw model::Stopped();
  };
  {
    CoreFixture core(std::move(o));
    core.apply(FetchModel{parse_hub_model("openai-community/gpt2")});
  }
  EXPECT_TRUE(ended);
}

TEST_F(CoreTest, TheFirstOfSeveralDroppedFilesIsOpened) {
  const auto list = folder_.write("kings.txt", "The king had a dog\nThe queen had a cat\n");
  CoreFixture core(options());
  core.handle(FilesDropped{{list, bundled_folder() / "config.json"}});
  EXPECT_THAT(core.state().message.text, HasSubstr(list.string()));
  wait_until(core, [&] { return core.state().prompts != nullptr; });
  EXPECT_EQ(core.state().prompts->prompts.size(), 2U);
}

TEST_F(CoreTest, AClickChoosesWhenTheButtonIsReleased) {
  Core core(options(long_text()));
  const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
  core.handle(MouseDown{at, 0, 1, {}});
  core.handle(MouseMove{{at.x + 1, at.y + 2}});  // the mouse moves slightly
  EXPECT_EQ(core.state().selection.query, -1);
  core.handle(MouseUp{{at.x + 1, at.y + 2}, 0});
  EXPECT_EQ(core.state().selection.query, 20);
  EXPECT_EQ(core.state().options[kZoom], Zoom{});
}

TEST_F(CoreTest, ADragMovesTheHeatmapAndChoosesNothingWithEitherButton) {
  for (const int button : {0, 2}) {
    Core core(options(long_text()));
    const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
    handle_and_show(core, MouseWheel{at, 0, 3, {}});
    const Zoom before = core.state().options[kZoom];
    const viz::Region region = picture(core.window(), "heatmap").picture->regions.front();
    drag(core, at, {at.x - 40, at.y - 80}, button);
    const Zoom after = core.state().options[kZoom];
    EXPECT_EQ(core.state().selection.query, -1);
    EXPECT_NEAR(after.col - before.col, 40 * region.cols / static_cast<double>(region.rect.w), 1e-3);
    EXPECT_NEAR(after.row - before.row, 80 * region.rows / static_cast<double>(region.rect.h), 1e-3);
    EXPECT_EQ(after.rows, before.rows);
    EXPECT_EQ(after.cols, before.cols);
    EXPECT_FALSE(core.widgets().press);
  }
}

TEST_F(CoreTest, NothingIsLostOfWhatComesBetweenTwoFrames) {
  Core core(options(long_text()));
  const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
  core.handle(MouseWheel{at, 0, 3, {}});
  const Zoom at_once = core.state().options[kZoom];
  apply_and_show(core, SetOption{&kZoom, Zoom{}});
  for (int i = 0; i < 3; ++i) core.handle(MouseWheel{at, 0, 1, {}});
  const Zoom in_steps = core.state().options[kZoom];
  EXPECT_NEAR(in_steps.rows, at_once.rows, 1e-6);
  EXPECT_NEAR(in_steps.col, at_once.col, 1e-6);
}

TEST_F(CoreTest, AQueryThatIsChosenWhileGeneratingDoesNotSteerIt) {
  std::vector<std::string> texts;
  for (const int query : {-1, 1, 0}) {
    CoreFixture core(options("Once upon a time"));
    core.apply(Generate{true});  // the first token is drawn at once
    while (core.state().generation.running && core.state().generation.token_count < 12) {
      core.apply(SelectQuery{query});
      core.draw({});
      while (!core.take_results()) std::this_thread::yield();
    }
    core.apply(Generate{false});
    texts.push_back(prompt(core));
    apply_and_show(core, SelectQuery{query});
    EXPECT_NE(answer(core, NextAfter{query}), nullptr) << "and it is answered, too";
    EXPECT_GT(texts.back().size(), std::string("Once upon a time").size());
    EXPECT_EQ(texts.back(), texts.front()) << "nothing is drawn from what follows another query";
  }
}

// --- between two runs ---

/// Checks that a picture is complete and from one run.
void expect_whole(const PlacedPicture& placed) {
  EXPECT_THAT(viz::testing::texts(placed.picture->scene), Not(Contains("computing…"))) << placed.view->id;
  EXPECT_FALSE(placed.picture->regions.empty()) << placed.view->id;
  if (placed.view->id == "heatmap") {
    EXPECT_EQ(placed.picture->regions.front().row_count, placed.context.run->run->length());
  }
}

TEST_F(CoreTest, AFormerPictureStaysUntilTheNextIsWhole) {
  Core core(options(long_text()));
  for (const View& view : some_tabs()) {
    apply_and_show(core, ShowView{std::string(view.id)});
    for (const Event& event :
         {Event(TextTyped{" x"}), Event(TextTyped{"y z"}), Event(KeyDown{Key::backspace, {}})}) {
      core.handle(event);
      bool settled = false;
      while (!settled) {
        const WindowPicture& window = core.draw({});
        for (const PlacedPicture& placed : window.pictures) expect_whole(placed);
        settled = core.snapshot().run->prompt == prompt_of(core.state()) && !window.stale;
        while (!settled && !core.take_results()) std::this_thread::yield();
      }
      const PlacedPicture& placed = picture(shown(core), view.id);  // even if answers are slow
      EXPECT_EQ(placed.context.run, core.snapshot().run) << view.id << ": and then the new one is shown";
    }
  }
}

TEST_F(CoreTest, AFormerPictureTellsNothingOfTheNextRun) {
  Core core(options("The old king had a dog"));
  apply_and_show(core, ShowView{"lens"});
  const auto previous = std::make_shared<const Snapshot>(core.snapshot());
  apply_and_show(core, ShowView{"heatmap"});  // the lens is no longer asked for
  handle_and_show(core, TextTyped{" and"});
  const auto next = std::make_shared<const Snapshot>(core.snapshot());
  ASSERT_NE(next->run, previous->run);
  // The next run's lens is pending, but its patterns are known.
  const View& lens = *find_view("lens");
  PictureCache cache;
  const auto get = [&](const std::shared_ptr<const Snapshot>& now) {
    const auto answers = std::make_shared<SnapshotAnswers>(now);
    return cache.get(lens, make_context(&lens, core.state(), *now, *answers, *fonts_, 900, 600, 1), answers);
  };
  get(previous);
  const CachedPicture placed = get(next);
  ASSERT_EQ(placed.context.run, previous->run);
  const PatternOf pattern{core.state().selection.layer, core.state().selection.head};
  ASSERT_TRUE(answer(core, pattern));
  EXPECT_EQ(placed.context.ask(pattern), nullptr);
}

TEST_F(CoreTest, AnotherHeadOrQueryKeepsTheFormerPictureUntilItsOwnIsThere) {
  CoreFixture core(options(long_text()));
  const auto previous = picture(core.window(), "heatmap").picture;
  core.apply(SelectHead{1, 1});
  core.apply(SelectQuery{9});
  const WindowPicture& at_once = core.draw({});  // no result has been taken since
  EXPECT_TRUE(at_once.stale);
  EXPECT_EQ(picture(at_once, "heatmap").picture, previous);
  EXPECT_EQ(picture(at_once, "heatmap").context.selection,
            Selection({0, 0, previous->regions.front().row_count - 1}))
      << "what the mouse says is of the picture that is shown";
  shown(core);
  EXPECT_FALSE(core.window().stale);
  EXPECT_TRUE(says(core, "Attention pattern of L1 H1"));
  EXPECT_EQ(picture(core.window(), "heatmap").context.selection, (Selection{1, 1, 9}));
}

TEST_F(CoreTest, NoPictureWaitsForWhatTakesItsTime) {
  CoreFixture core(options(long_text()));
  core.handle(TextTyped{" x"});
  while (core.snapshot().run->prompt != prompt_of(core.state()))
    if (!core.take_results()) std::this_thread::yield();
  // The thumbnails may still be missing: nothing else waits for them.
  const WindowPicture& window = core.draw({});
  EXPECT_FALSE(window.stale);
  for (const char* id : {"heatmap", "tokens", "next"})
    EXPECT_EQ(picture(window, id).context.run, core.snapshot().run) << id;
}

TEST_F(CoreTest, TheLensIsShownInPartsWhereItIsScrolledTo) {
  CoreFixture core(options(long_prompt().substr(0, 600)));
  apply_and_show(core, ShowView{"lens"});
  const auto first_column = [&] {
    return static_cast<int>(picture(core.window(), "lens").picture->regions.at(0).first_col);
  };
  const int block = LensOf::around(first_column()).block, to = LensOf::kPositions * block - 2;
  ASSERT_GT(block, 0);
  ASSERT_EQ(answer(core, LensOf{block - 1}), nullptr) << "nobody looked there yet";
  EXPECT_FALSE(says(core, "computing…"));
  core.apply(SetOption{&option("first-column"), to});
  core.draw({});
  EXPECT_EQ(first_column(), to) << "it does not wait for the two columns that are missing";
  EXPECT_TRUE(says(core, "computing…"));
  shown(core);
  EXPECT_EQ(first_column(), to);
  EXPECT_FALSE(says(core, "computing…"));
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

}  // namespace
}  // namespace headscope::app::core_test
