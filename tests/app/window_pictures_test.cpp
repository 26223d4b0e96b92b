// Controls of pictures in the window: colours, the field for dimensions, zooming of encodings, and exporting
// the heads.
#include "app/run/analyses/logit_lens.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/weight_colors.h"
#include "model/files/file_io.h"
#include "tests/app/core_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::window_pictures_test {
namespace {

namespace fs = std::filesystem;
using viz::testing::texts;

class PicturesInTheWindow : public CoreTest {
 protected:
  const WindowPicture& shown(float width = 1600, float height = 1000) {
    return CoreTest::shown(core_, width, height);
  }
  const PlacedPicture& placed(std::string_view id) { return picture(core_.window(), id); }

  /// A point in the map of one encoding, as fractions of its width and height.
  viz::Point in_map(float x, float y) {
    const PlacedPicture& positions = placed("positions");
    for (const viz::Region& region : positions.picture->regions) {
      if (region.row_count != core_.snapshot().run->run->config.n_embd) continue;  // a chart of curves
      return {positions.where.x + region.rect.x + x * region.rect.w,
              positions.where.y + region.rect.y + y * region.rect.h};
    }
    throw std::logic_error("no map");
  }

  std::vector<int> dimensions() const {
    return std::get<std::vector<int>>(core_.state().options.value(*find_option("dimensions")));
  }
  Zoom encoding_zoom() const {
    return std::get<Zoom>(core_.state().options.value(*find_option("encoding-zoom")));
  }
  /// The dimensions whose curves are drawn.
  std::vector<int> drawn_dimensions() {
    const PlacedPicture& positions = placed("positions");
    const Table table = positions.view->table(positions.context);
    std::vector<int> found;
    for (const std::string& name : table.header) {  // "learned 5", ..., "sinusoidal 5", ...
      if (name.starts_with("learned")) found.push_back(std::stoi(name.substr(name.rfind(' ') + 1)));
    }
    return found;
  }

  Core core_{options("The old king had a daughter, and the old king had a son.")};
};

TEST_F(PicturesInTheWindow, TheChoiceOfColoursAndTheirLegendAreAlwaysInSight) {
  for (const auto& [width, height] : {std::pair{1600.F, 1000.F}, {1024.F, 700.F}, {800.F, 600.F}}) {
    for (const View& view : all_tabs()) {
      core_.apply(ShowView{std::string(view.id)});
      shown(width, height);
      for (const char* choice : {"Linear", "Log", "Row", "max auto", "Without key 0"})
        EXPECT_TRUE(says(core_, choice)) << choice << " " << view.id << " " << width;
      EXPECT_THAT(texts(placed("heads").picture->scene), Contains("weight")) << view.id << " " << width;
    }
  }
}

TEST_F(PicturesInTheWindow, TheLensIsShownInPartsWhereItIsScrolledTo) {
  std::string text;
  while (text.size() < 600) text += "The old king had a daughter, and the daughter had a cat. ";
  core_.apply(SetPrompt{text, {}, {}});
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

TEST_F(PicturesInTheWindow, AMaximumIsChosenWithTheMouseAndTheKeyboard) {
  shown();
  click_item(core_, "max −");
  click_item(core_, "max −");
  EXPECT_EQ(core_.state().options[kValueMax], 0.5);
  shown();
  EXPECT_TRUE(says(core_, "max 0.5"));
  click_item(core_, "max +");
  EXPECT_EQ(core_.state().options[kValueMax], 1);
  for (int i = 0; i < 4; ++i) press(core_, Key::m, {.alt = true}, 'm');
  EXPECT_EQ(core_.state().options[kValueMax], 0.05);
  press(core_, Key::m, {.shift = true, .alt = true}, 'm');
  EXPECT_EQ(core_.state().options[kValueMax], 0.1);
  shown();
  EXPECT_THAT(texts(placed("heatmap").picture->scene), Contains("≥ 0.1"));
  EXPECT_THAT(texts(placed("heads").picture->scene), Contains("≥ 0.1"));
}

TEST_F(PicturesInTheWindow, DimensionsAreTyped) {
  core_.apply(ShowView{"positions"});
  shown();
  click_item(core_, "numbers");
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
  type(core_, "!");
  EXPECT_TRUE(core_.state().prompt.edit.text.ends_with("!")) << "Enter leads back into the prompt";
  shown();
  press(core_, Key::d, {.alt = true}, 'd');  // the field shows the value set by keys
  std::string text;
  for (const int d : readable) text += (text.empty() ? "" : ", ") + std::to_string((d + 4) % config.n_embd);
  EXPECT_EQ(core_.state().option_text.edit.text, text);
}

TEST_F(PicturesInTheWindow, WithItsViewTheFieldOfDimensionsLosesTheCaret) {
  core_.apply(ShowView{"positions"});
  shown();
  click_item(core_, "numbers");
  core_.apply(ShowView{"query"});
  shown();
  type(core_, "!");
  EXPECT_TRUE(core_.state().prompt.edit.text.ends_with("!")) << core_.state().option_text.edit.text;
}

TEST_F(PicturesInTheWindow, EncodingsAreZoomedAndMoved) {
  core_.apply(ShowView{"positions"});
  shown();
  const std::vector<int> before = dimensions();
  for (int i = 0; i < 6; ++i) {
    core_.handle(MouseWheel{in_map(0.25F, 0.5F), 0, 1, {}});
    shown();
  }
  const model::Config& config = core_.snapshot().model->transformer->config();
  const Zoom zoom = encoding_zoom();
  EXPECT_NEAR(zoom.rows, config.n_embd / std::pow(1.2, 6), 0.01);
  EXPECT_NEAR(zoom.cols, config.n_ctx / std::pow(1.2, 6), 0.01);
  EXPECT_NEAR(zoom.col + 0.25 * zoom.cols, 0.25 * config.n_ctx, 0.5);  // stays under the mouse
  EXPECT_NEAR(zoom.row + 0.5 * zoom.rows, 0.5 * config.n_embd, 0.5);
  EXPECT_EQ(core_.state().options[kZoom], Zoom());  // heatmap and scores have their own

  const viz::Point from = in_map(0.5F, 0.5F), to = in_map(0.4F, 0.4F);
  core_.handle(MouseDown{from, 0, 1, {}});
  core_.handle(MouseMove{to});
  core_.handle(MouseUp{to, 0});
  EXPECT_NEAR(encoding_zoom().col, zoom.col + 0.1 * zoom.cols, 0.01);
  EXPECT_NEAR(encoding_zoom().row, zoom.row + 0.1 * zoom.rows, 0.01);
  EXPECT_EQ(dimensions(), before);  // a drag is not a click

  shown();
  const auto row = static_cast<int>(encoding_zoom().row + 0.5 * zoom.rows);
  core_.handle(MouseDown{in_map(0.5F, 0.5F), 0, 1, {}});
  core_.handle(MouseUp{in_map(0.5F, 0.5F), 0});
  EXPECT_THAT(dimensions(), Contains(row));

  press(core_, Key::zero, {.alt = true}, '0');
  EXPECT_EQ(encoding_zoom(), Zoom());
}

TEST(EncodingZoom, StaysInsideEachAxis) {
  EXPECT_EQ(inside(Zoom{0, 0, 48, 256}, 48, 256), Zoom());
  EXPECT_EQ(inside(Zoom{-5, 300, 20, 100}, 48, 256), (Zoom{0, 156, 20, 100}));
  EXPECT_EQ(inside(Zoom{3, 3, 60, 100}, 48, 256), (Zoom{0, 3, 48, 100}));
  EXPECT_EQ(inside(Zoom{10, 10, 0.5, 0.5}, 48, 256), (Zoom{10, 10, 4, 4}));
  EXPECT_EQ(inside(Zoom{0, 0, 1, 1}, 2, 3), Zoom()) << "all of it is no zoom";
}

TEST_F(PicturesInTheWindow, AllHeadsAreExportedAsAFigureWhateverThePaneShows) {
  const auto exported = [&](const char* name) {
    core_.apply(ShowDialog{Dialog::export_, "heads"});
    SetExport set{core_.state().export_form};
    set.form.kind = FileFormat::svg, set.form.svg_text = true;
    core_.apply(set);
    const std::string path = (folder_.path() / name).string();
    core_.apply(TypeInField{Field::export_path, Replace{path}});
    core_.apply(DoExport{});
    core_.settle();
    return model::read_file(path, 1 << 26);
  };
  shown();
  const std::string figure = exported("whole.svg");
  const model::Config& config = core_.snapshot().model->transformer->config();
  for (int layer = 0; layer < config.n_layer; ++layer)
    EXPECT_THAT(figure, HasSubstr(">L" + std::to_string(layer) + "<"));
  for (int head = 0; head < config.n_head; ++head)
    EXPECT_THAT(figure, HasSubstr(">H" + std::to_string(head) + "<"));
  EXPECT_THAT(figure, HasSubstr("All heads"));
  EXPECT_THAT(figure, HasSubstr(">weight<"));
  EXPECT_THAT(figure, HasSubstr("The old king"));  // the caption

  for (const auto& [name, value] :
       {std::pair{"heads-zoom", 5.0}, {"heads-scroll", 1.5}, {"heads-scroll-x", 2.0}})
    core_.apply(SetOption{find_option(name), value});
  shown(900, 600);
  EXPECT_EQ(exported("scrolled.svg"), figure);
}

}  // namespace
}  // namespace headscope::app::window_pictures_test
