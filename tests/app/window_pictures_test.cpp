// The window about its pictures: where colours are chosen, the field for dimensions, zooming of encodings,
// and the figure of all heads as a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "app/views/matrix_zoom.h"
#include "app/views/weight_colors.h"
#include "app/window/core.h"
#include "model/file_io.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using viz::testing::texts;

class PicturesInTheWindow : public ::testing::Test {
 protected:
  static CoreOptions options() {
    static const auto fonts = viz::Fonts::load();
    CoreOptions o;
    o.window.model = fs::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales";
    o.window.prompt = Prompt{"The old king had a daughter, and the old king had a son.", {}, false};
    o.fonts = fonts;
    return o;
  }

  const WindowPicture& shown(float width = 1600, float height = 1000) {
    core_.settle();
    WindowFrame frame;
    frame.width = width;
    frame.height = height;
    return core_.draw(frame);
  }

  const PlacedPicture& placed(std::string_view id) {
    for (const PlacedPicture& picture : core_.window().pictures)
      if (picture.view->id == id) return picture;
    throw std::logic_error("no such picture");
  }

  /// A point of the map of one encoding, as parts of its width and height.
  viz::Point in_map(float x, float y) {
    const PlacedPicture& picture = placed("positions");
    for (const viz::Region& region : picture.picture->regions) {
      if (region.row_count != core_.snapshot().run->run->config.n_embd) continue;  // a chart of curves
      return {picture.where.x + region.rect.x + x * region.rect.w,
              picture.where.y + region.rect.y + y * region.rect.h};
    }
    throw std::logic_error("no map");
  }

  std::vector<int> dimensions() const {
    return std::get<std::vector<int>>(core_.state().options.value(*find_option("dimensions")));
  }
  Zoom encoding_zoom() const {
    return std::get<Zoom>(core_.state().options.value(*find_option("encoding-zoom")));
  }
  /// Those whose curves are drawn.
  std::vector<int> drawn_dimensions() {
    const PlacedPicture& picture = placed("positions");
    const Table table = picture.view->table(picture.context);
    std::vector<int> found;
    for (const std::string& name : table.header) {  // "learned 5", ..., "sinusoidal 5", ...
      if (name.starts_with("learned")) found.push_back(std::stoi(name.substr(name.rfind(' ') + 1)));
    }
    return found;
  }

  Core core_{options()};
};

TEST_F(PicturesInTheWindow, TheChoiceOfColoursAndTheirLegendAreAlwaysInSight) {
  for (const auto& [width, height] : {std::pair{1600.F, 1000.F}, {1024.F, 700.F}, {800.F, 600.F}}) {
    for (const View& view : views()) {
      if (view.place != Place::tab) continue;
      core_.apply(ShowView{std::string(view.id)});
      shown(width, height);
      const auto words = texts(core_.window().scene);
      for (const char* choice : {"Linear", "Log", "Row", "max auto", "Without key 0"})
        EXPECT_THAT(words, Contains(choice)) << view.id << " " << width;
      EXPECT_THAT(texts(placed("heads").picture->scene), Contains("weight")) << view.id << " " << width;
    }
  }
}

TEST_F(PicturesInTheWindow, AMaximumIsChosenWithTheMouseAndTheKeyboard) {
  shown();
  const auto press = [&](int by) {  // the button that makes it smaller, or larger
    const OptionValue to = stepped(kValueMax, core_.state().options.value(kValueMax), by);
    for (const Target& target : core_.window().targets) {
      const auto* set = target.click ? std::get_if<SetOption>(&*target.click) : nullptr;
      if (!set || set->option != &kValueMax || set->value != to) continue;
      core_.handle(MouseDown{target.rect.center(), 0, 1, {}});
      core_.handle(MouseUp{target.rect.center(), 0});
      shown();
      return;
    }
    FAIL() << "no button: " << by;
  };
  press(-1);
  press(-1);
  EXPECT_EQ(core_.state().options[kValueMax], 0.5);
  EXPECT_THAT(texts(core_.window().scene), Contains("max 0.5"));
  press(1);
  EXPECT_EQ(core_.state().options[kValueMax], 1);
  core_.apply(FocusField{Field::none});
  for (int i = 0; i < 4; ++i) core_.handle(TextTyped{"m"});
  EXPECT_EQ(core_.state().options[kValueMax], 0.05);
  core_.handle(TextTyped{"M"});
  EXPECT_EQ(core_.state().options[kValueMax], 0.1);
  shown();
  EXPECT_THAT(texts(placed("heatmap").picture->scene), Contains("≥ 0.1"));
  EXPECT_THAT(texts(placed("heads").picture->scene), Contains("≥ 0.1"));
}

TEST_F(PicturesInTheWindow, DimensionsAreTyped) {
  core_.apply(FocusField{Field::none});
  shown();
  core_.handle(TextTyped{"f"});
  EXPECT_EQ(core_.state().view, "positions") << "the shown view has no field";
  EXPECT_EQ(core_.state().focus, Field::option);
  shown();
  core_.handle(TextTyped{"5, 17 9"});
  EXPECT_THAT(dimensions(), ElementsAre(5, 17, 9));
  shown();
  EXPECT_THAT(texts(placed("positions").picture->scene), Contains("17"));
  core_.handle(TextTyped{", 99999999999"});  // not of this model: no curve
  shown();
  const model::Config& config = core_.snapshot().model->transformer->config();
  EXPECT_THAT(drawn_dimensions(), ElementsAre(5, 17, 9));

  core_.handle(KeyDown{Key::a, {.ctrl = true}});
  core_.handle(KeyDown{Key::backspace, {}});
  EXPECT_TRUE(dimensions().empty());
  shown();
  const std::vector<int> readable = core_.snapshot().model->readable_dimensions;
  EXPECT_EQ(drawn_dimensions(), readable);

  core_.handle(KeyDown{Key::enter, {}});
  EXPECT_EQ(core_.state().focus, Field::none);
  core_.handle(TextTyped{"d"});  // the field follows what is chosen otherwise
  std::string text;
  for (const int d : readable) text += (text.empty() ? "" : ", ") + std::to_string((d + 4) % config.n_embd);
  EXPECT_EQ(core_.state().option_text.edit.text, text);
}

TEST_F(PicturesInTheWindow, TheFieldOfDimensionsLosesTheFocusWithItsView) {
  core_.apply(ShowView{"positions"});
  shown();
  core_.apply(EditOption{});
  EXPECT_EQ(core_.state().focus, Field::option);
  shown();
  core_.apply(ShowView{"query"});
  EXPECT_EQ(core_.state().focus, Field::none);
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
  EXPECT_EQ(dimensions(), before);  // a drag is no click

  shown();
  const auto row = static_cast<int>(encoding_zoom().row + 0.5 * zoom.rows);
  core_.handle(MouseDown{in_map(0.5F, 0.5F), 0, 1, {}});
  core_.handle(MouseUp{in_map(0.5F, 0.5F), 0});
  EXPECT_THAT(dimensions(), Contains(row));

  core_.apply(FocusField{Field::none});
  core_.handle(TextTyped{"0"});
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
  testing::TemporaryFolder folder;
  const auto exported = [&](const char* name) {
    core_.apply(ShowDialog{Dialog::export_});
    core_.apply(SetExport{Subject::heads, FileFormat::svg, 1, true});
    const std::string path = (folder.path() / name).string();
    core_.apply(EditField{Field::export_path, SelectAll{}});
    core_.apply(EditField{Field::export_path, Insert{path, false}});
    core_.apply(DoExport{});
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
}  // namespace headscope::app
