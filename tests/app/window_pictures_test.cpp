// Pictures in the window: parts of the lens, and the field for dimensions.
#include "app/run/analyses/predictions.h"
#include "tests/app/core_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::window_pictures_test {
namespace {

using viz::testing::texts;

class PicturesInTheWindow : public CoreTest {
 protected:
  const WindowPicture& shown(float width = 1600, float height = 1000) {
    return CoreTest::shown(core_, width, height);
  }
  const PlacedPicture& placed(std::string_view id) { return picture(core_.window(), id); }

  std::vector<int> dimensions() const {
    return std::get<std::vector<int>>(core_.state().options.value(*find_option("curves")));
  }
  /// The dimensions whose curves are drawn.
  std::vector<int> drawn_dimensions() {
    const PlacedPicture& positions = placed("positions");
    const Table table = positions.view->table(positions.context);
    std::vector<int> found;
    for (const auto& [name, unit, use, cells] : table.columns)  // "learned 5", ..., "sinusoidal 5", ...
      if (name.starts_with("learned")) found.push_back(std::stoi(name.substr(name.rfind(' ') + 1)));
    return found;
  }

  Core core_{options("The old king had a daughter, and the old king had a son.")};
};

TEST_F(PicturesInTheWindow, TheLensIsShownInPartsWhereItIsScrolledTo) {
  std::string text;
  while (text.size() < 600) text += "The old king had a daughter, and the daughter had a cat. ";
  core_.apply(TypeInField{Field::prompt, Replace{text}});
  core_.apply(ShowView{"lens"});
  shown();
  const auto first_column = [&] { return static_cast<int>(placed("lens").picture->regions.at(0).first_col); };
  const int block = LensOf::around(first_column()).block, to = LensOf::kPositions * block - 2;
  ASSERT_GT(block, 0);
  ASSERT_EQ(answer(core_, LensOf{block - 1}), nullptr) << "nobody looked there yet";
  EXPECT_FALSE(says(core_, "computing…"));
  core_.apply(SetOption{&option("first-column"), to});
  WindowFrame frame;
  frame.width = 1600, frame.height = 1000;
  core_.draw(frame);
  EXPECT_EQ(first_column(), to) << "it does not wait for the two columns that are missing";
  EXPECT_TRUE(says(core_, "computing…"));
  shown();
  EXPECT_EQ(first_column(), to);
  EXPECT_FALSE(says(core_, "computing…"));
}

TEST_F(PicturesInTheWindow, DimensionsAreTyped) {
  core_.apply(ShowView{"positions"});
  shown();
  click_item(core_, "value");
  type(core_, "5, 17 9");
  EXPECT_THAT(dimensions(), ElementsAre(5, 17, 9));
  shown();
  EXPECT_THAT(texts(placed("positions").picture->scene), Contains("17"));
  type(core_, ", 99999999999");  // not a dimension of this model: no curve
  shown();
  const model::Config& config = core_.snapshot().model->transformer->config();
  EXPECT_THAT(drawn_dimensions(), ElementsAre(5, 17, 9));

  press(core_, Key::a, {.ctrl = true});
  press(core_, Key::backspace);
  EXPECT_TRUE(dimensions().empty());
  shown();
  const std::vector<int> readable = core_.snapshot().model->readable_dimensions;
  EXPECT_EQ(drawn_dimensions(), readable);

  press(core_, Key::enter);
  type(core_, "7");
  EXPECT_THAT(dimensions(), ElementsAre(7)) << "Enter stays in the field";
  press(core_, Key::backspace);
  shown();
  press(core_, Key::d, {.alt = true}, 'd');  // the field shows the value set by keys
  std::string text;
  for (const int d : readable) text += (text.empty() ? "" : ",") + std::to_string((d + 2) % config.n_embd);
  EXPECT_EQ(core_.state().option_text.edit.text, text);
}

}  // namespace
}  // namespace headscope::app::window_pictures_test
