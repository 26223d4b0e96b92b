// animate: its arguments, and the frames of its files, read from their chunks.
#include <map>

#include "app/cli/arguments/command.h"
#include "app/cli/commands/animate.h"
#include "app/cli/program.h"
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/pictures.h"
#include "viz/players/animated_png.h"
#include "viz/scene/crc32.h"

namespace headscope::app::animate_command_test {
namespace {

constexpr const char* kPrompt = "The old king had a dog";

std::uint32_t number_at(std::string_view bytes, std::size_t at, int count = 4) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes.at(at + i));
  return number;
}

struct Chunk {
  std::string type, data;
};

/// The chunks of a PNG file; their checksums must be right.
std::vector<Chunk> chunks_of(const std::string& file) {
  std::vector<Chunk> chunks;
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = number_at(file, at);
    chunks.push_back({file.substr(at + 4, 4), file.substr(at + 8, length)});
    EXPECT_EQ(number_at(file, at + 8 + length), viz::crc32(file.substr(at + 4, length + 4)));
    at += length + 12;
  }
  return chunks;
}

/// One frame: its place and duration, and what it stores as a PNG of its own would.
struct Frame {
  std::uint32_t width = 0, height = 0, x = 0, y = 0;
  int milliseconds = 0;
  std::string pixels;
};

struct Animation {
  std::uint32_t width = 0, height = 0;
  std::uint32_t announced = 0, plays = 9;
  std::vector<Frame> frames;
  int duration() const {
    int sum = 0;
    for (const Frame& frame : frames) sum += frame.milliseconds;
    return sum;
  }
};

/// Reads an animated PNG and checks what every reader relies on.
Animation animation_of(const std::string& file) {
  Animation found;
  std::uint32_t sequence = 0;
  const std::vector<Chunk> chunks = chunks_of(file);
  EXPECT_EQ(chunks.front().type, "IHDR");
  EXPECT_EQ(chunks.back().type, "IEND");
  for (const Chunk& chunk : chunks) {
    if (chunk.type == "IHDR") found.width = number_at(chunk.data, 0), found.height = number_at(chunk.data, 4);
    if (chunk.type == "acTL") {
      EXPECT_TRUE(found.frames.empty());
      found.announced = number_at(chunk.data, 0), found.plays = number_at(chunk.data, 4);
    }
    if (chunk.type == "fcTL") {
      EXPECT_EQ(chunk.data.size(), 26U);
      EXPECT_EQ(number_at(chunk.data, 0), sequence++);
      Frame frame;
      frame.width = number_at(chunk.data, 4), frame.height = number_at(chunk.data, 8);
      frame.x = number_at(chunk.data, 12), frame.y = number_at(chunk.data, 16);
      EXPECT_EQ(number_at(chunk.data, 22, 2), 1000U);
      frame.milliseconds = static_cast<int>(number_at(chunk.data, 20, 2));
      EXPECT_GT(frame.milliseconds, 0);
      EXPECT_LE(frame.x + frame.width, found.width);
      EXPECT_LE(frame.y + frame.height, found.height);
      found.frames.push_back(frame);
    }
    if (chunk.type == "IDAT") found.frames.back().pixels += chunk.data;
    if (chunk.type == "fdAT") {
      EXPECT_EQ(number_at(chunk.data, 0), sequence++);
      found.frames.back().pixels += chunk.data.substr(4);
    }
  }
  EXPECT_EQ(found.announced, found.frames.size());
  EXPECT_EQ(found.plays, 0U) << "for ever";
  return found;
}

std::string pixels_of_png(const std::string& file) {
  std::string pixels;
  for (const Chunk& chunk : chunks_of(file))
    if (chunk.type == "IDAT") pixels += chunk.data;
  return pixels;
}

std::string animate(const Words& words) {
  return succeed(Words{"animate"} + words + Words{"--out", "-", "--format", "png"});
}
std::string plot(const Words& words) {
  return succeed(Words{"plot"} + words + Words{"--out", "-", "--format", "png"});
}

TEST(AnimatedPng, StoresWhatDiffersAndHowLongEachFrameLasts) {
  viz::Bitmap bitmap = viz::Bitmap::filled(20, 10, {255, 255, 255, 255});
  viz::AnimatedPng file(1, {});
  file.add(bitmap, 500);
  file.add(bitmap, 40);  // the same frame, a little longer
  bitmap.at(3, 2) = bitmap.at(7, 5) = {1, 2, 3, 255};
  file.add(bitmap, 40);
  bitmap.at(19, 9) = {1, 2, 3, 255};
  file.add(bitmap, 30);
  const Animation read = animation_of(std::move(file).take());
  EXPECT_EQ(read.width, 20U);
  EXPECT_EQ(read.height, 10U);
  ASSERT_EQ(read.frames.size(), 3U);
  const auto expect = [&](std::size_t i, const Frame& expected) {
    EXPECT_EQ(read.frames[i].x, expected.x);
    EXPECT_EQ(read.frames[i].y, expected.y);
    EXPECT_EQ(read.frames[i].width, expected.width);
    EXPECT_EQ(read.frames[i].height, expected.height);
    EXPECT_EQ(read.frames[i].milliseconds, expected.milliseconds);
  };
  expect(0, {20, 10, 0, 0, 540, ""});
  expect(1, {5, 4, 3, 2, 40, ""});
  expect(2, {1, 1, 19, 9, 30, ""});
  // Its pixels are those of a picture of that part.
  viz::Bitmap part = viz::Bitmap::filled(5, 4, {255, 255, 255, 255});
  part.at(0, 0) = part.at(4, 3) = {1, 2, 3, 255};
  const auto png = viz::encode_png(part, 1);
  EXPECT_EQ(read.frames[1].pixels, pixels_of_png({png.begin(), png.end()}));
}

TEST(AnimatedPng, AFrameThatLastsLongerThanAFrameCanIsTwo) {
  const viz::Bitmap bitmap = viz::Bitmap::filled(4, 4, {255, 255, 255, 255});
  viz::AnimatedPng file(1, {});
  file.add(bitmap, 60000);
  file.add(bitmap, 60000);
  const Animation read = animation_of(std::move(file).take());
  ASSERT_EQ(read.frames.size(), 2U);
  EXPECT_EQ(read.duration(), 120000);
}

TEST(AnimateCommand, BeginsWithThePictureThatPlotDraws) {
  const Words words{"heatmap", "--prompt", kPrompt, "--layer", "2", "--size", "420x400", "--value-max", "1"};
  const Animation read =
      animation_of(animate(words + Words{"--through", "head", "--fps", "10", "--no-recipe"}));
  EXPECT_EQ(read.width, 420U);
  EXPECT_EQ(read.height, 400U);
  EXPECT_EQ(read.frames.front().pixels,
            pixels_of_png(plot(words + Words{"--head", "0", "--scale", "1", "--no-recipe"})));
  // 8 heads, a second each, with 2 frames to the next.
  EXPECT_EQ(read.frames.front().milliseconds, 1000);
  EXPECT_EQ(read.frames.size(), 8U * (1 + 2));
  EXPECT_EQ(read.duration(), 8 * (1000 + 200));
}

TEST(AnimateCommand, GoesThroughLayersQueriesAndOptions) {
  const Words same{"--prompt", kPrompt, "--size", "300x300", "--fps", "8", "--hold", "0.2", "--no-recipe"};
  const auto frames = [&](const Words& words) { return animation_of(animate(words + same)).frames.size(); };
  EXPECT_EQ(frames({"heatmap", "--through", "layer"}), 6U * 2);
  EXPECT_EQ(frames({"heatmap", "--through", "query", "--range", "2:4"}), 3U * 2);
  EXPECT_EQ(frames({"scores", "--through", "score-stage"}), 4U * 2 - 1)
      << "it does not go back through the stages";
  EXPECT_GE(frames({"heatmap", "--through", "value-scale"}), 3U);
  EXPECT_EQ(frames({"heatmap", "--through", "head", "--range", "3:3"}), 1U)
      << "a picture alone does not move";
}

TEST(AnimateCommand, TakesTheValuesOfARangeWhoseLimitsAreRounded) {
  const Words same{"--prompt", kPrompt, "--size", "500x500", "--fps", "4", "--hold", "0.2", "--no-recipe"};
  const auto frames = [&](const Words& words) { return animation_of(animate(words + same)).frames.size(); };
  EXPECT_EQ(frames({"next", "--through", "temperature", "--range", "0.1:0.15"}), 2U);
  EXPECT_EQ(frames({"sampling", "--through", "seed", "--range", "3:5"}), 3U);
  EXPECT_EQ(frames({"flow", "--through", "flow-edges", "--range", "-1:4"}), 2U) << "auto is no number";
}

TEST(AnimateCommand, UntilHalfwayTheWordsAreThoseOfThePictureBefore) {
  const Words same{"--prompt", kPrompt, "--size", "400x500", "--no-recipe"};
  const Animation read = animation_of(
      animate(Words{"scores", "--through", "score-stage", "--range", "1:2", "--fps", "16"} + same));
  ASSERT_EQ(read.frames.size(), 2U + 3);
  // First the dot and the map change, not the caption below them.
  const Frame &early = read.frames[1], &late = read.frames[2];
  constexpr unsigned kCaption = 450;  // where it begins
  EXPECT_LT(early.y + early.height, kCaption);
  EXPECT_GT(late.y + late.height, kCaption);
}

TEST(AnimateCommand, RefusesWhatChangesNothing) {
  for (const Words& words : {Words{"lens", "--through", "head"}, Words{"flow", "--through", "layer"}})
    EXPECT_THAT(
        fail(Words{"animate"} + words + Words{"--prompt", kPrompt, "--size", "500x500", "--out", "-"} +
                 Words{"--format", "png"},
             2),
        HasSubstr(words[2] + " changes nothing in the view " + words[0]));
}

TEST(AnimateCommand, OneColourIsTheSameWeightInAllPictures) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "loop.png").string();
  // Of layer 1, head 0 has smaller weights than another head.
  const Words same{"heatmap", "--prompt", kPrompt, "--layer", "1", "--size", "420x400", "--cell-values"};
  for (const char* cells : {"weights", "values"}) {
    const Words words = same + Words{cells};
    succeed(Words{"animate"} + words + Words{"--through", "head", "--fps", "4", "--out", file});
    const std::string recipe = succeed({"info", file});
    const std::size_t at = recipe.find("--value-max ");
    ASSERT_NE(at, std::string::npos) << recipe;
    const std::string most = recipe.substr(at + 12, recipe.find_first_of(" \n", at + 12) - at - 12);
    EXPECT_LE(most.size(), 5U) << most << ": it is read in the caption";
    const auto first = [&](const Words& more) {
      return animation_of(animate(words + Words{"--through", "head", "--fps", "4", "--no-recipe"} + more))
          .frames.front()
          .pixels;
    };
    EXPECT_EQ(first({}), first({"--value-max", most}));
    EXPECT_EQ(first({}), pixels_of_png(plot(words + Words{"--head", "0", "--scale", "1", "--no-recipe",
                                                          "--value-max", most})));
    EXPECT_NE(first({}), first({"--range", "0:0"})) << "a picture alone has its own scale";
  }
}

TEST(AnimateCommand, HelpNamesItsOwnScale) {
  EXPECT_THAT(succeed({"animate", "--help"}), HasSubstr("(default: 2; of an animation: 1)"));
}

TEST(AnimateCommand, IsTheSameToTheByte) {
  const Words words{"query", "--prompt", kPrompt, "--through", "layer", "--size", "400x300", "--fps", "8"};
  EXPECT_EQ(animate(words), animate(words));
}

TEST(AnimateCommand, CarriesTheRecipeOfItsFirstPicture) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "loop.png").string();
  succeed({"animate", "heatmap", "--prompt", kPrompt, "--through", "layer", "--range", "1:2", "--size",
           "300x300", "--out", file});
  EXPECT_THAT(succeed({"info", file}), HasSubstr("--layer 1"));
}

TEST(AnimateCommand, SaysWhatIsWrongInOneSentence) {
  EXPECT_THAT(wrong_use({"animate", "--prompt", "x", "--through", "head"}),
              HasSubstr("animate needs one view"));
  EXPECT_THAT(wrong_use({"animate", "heatmap", "--prompt", "x"}), HasSubstr("--through"));
  EXPECT_THAT(wrong_use({"animate", "heatmap", "--prompt", "x", "--through", "stage", "--out", "a.png"}),
              AllOf(HasSubstr("head, layer, query, cell-values"), HasSubstr("not \"stage\"")));
  EXPECT_THAT(wrong_use({"animate", "heatmap", "--prompt", "x", "--through", "head", "--out", "a.gif"}),
              HasSubstr(".png"));
  EXPECT_THAT(wrong_use({"animate", "heatmap", "--prompt", "x", "--through", "head", "--range", "4:2",
                         "--out", "a.png"}),
              HasSubstr("FIRST:LAST"));
  EXPECT_THAT(fail({"animate", "heatmap", "--prompt", "x", "--through", "head", "--range", "90:99", "--out",
                    "a.png"}),
              HasSubstr("no value in --range"));
  EXPECT_THAT(
      fail({"animate", "heatmap", "--prompt", "x", "--through", "head", "--layer", "77", "--out", "a.png"}),
      HasSubstr("there is no layer 77"));
  std::string text;
  for (int i = 0; i < 230; ++i) text += " king";
  EXPECT_THAT(fail({"animate", "heatmap", "--prompt", text, "--through", "query", "--out", "a.png"}),
              HasSubstr("at most 200"));
}

}  // namespace
}  // namespace headscope::app::animate_command_test
