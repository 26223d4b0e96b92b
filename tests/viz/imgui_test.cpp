// Dear ImGui's lists: how they are rasterized here, and that the player's show what files show.
#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "viz/players/imgui_compat.h"
#include "viz/players/imgui_player.h"
#include "viz/players/imgui_raster.h"
#include "viz/text/utf8.h"

namespace headscope::viz::imgui_test {
namespace {

using namespace testing;

/// Records the player's calls for its textures.
class CountingTextures : public SoftwareTextures {
 public:
  void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) override {
    SoftwareTextures::update(texture, bitmap, first_row, rows);
    ++updates;
  }

  int updates = 0;
};

class ImguiTest : public ::testing::Test {
 protected:
  ImguiTest() : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    compat::claim_null_renderer(io);
    compat::make_font_texture(io, toolkit_);
  }
  ~ImguiTest() override { ImGui::DestroyContext(context_); }

  SoftwareTextures toolkit_;  ///< its font, and what a test adds
  ImGuiContext* context_;
};

class ImguiPlayerTest : public ImguiTest {
 protected:
  ImguiPlayerTest() { ImGui::GetIO().DisplaySize = ImVec2(2000, 1500); }

  struct PlacedScene {
    Scene scene;
    Point origin;
    float scale = 1;
  };

  /// Draws one frame with these scenes; `look` receives the list while it is valid.
  template <class Look>
  void frame(const std::vector<PlacedScene>& scenes, float pixel_scale, Look&& look) {
    ImGui::GetIO().DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    player_.begin_frame(pixel_scale);
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const auto depth = [&] { return std::pair(list._ClipRectStack.Size, compat::texture_depth(list)); };
    const auto before = depth();
    for (const PlacedScene& placed : scenes) player_.draw(list, placed.scene, placed.origin, placed.scale);
    EXPECT_EQ(depth(), before);
    look(list);
    ImGui::Render();
  }

  Bitmap shown(const PlacedScene& placed, float pixel_scale, int width, int height) {
    ImGuiIO& io = ImGui::GetIO();
    const ImVec2 large = io.DisplaySize;
    io.DisplaySize = {static_cast<float>(width) / pixel_scale, static_cast<float>(height) / pixel_scale};
    io.DisplayFramebufferScale = {pixel_scale, pixel_scale};
    frame({placed}, pixel_scale, [](const ImDrawList&) {});
    io.DisplaySize = large;
    return rasterize(*ImGui::GetDrawData(), textures_.store(), {0, 0, 0, 255});
  }

  /// Draws one frame with one scene at the origin.
  void show(const Scene& scene) {
    frame({{scene, {0, 0}, 1}}, 1, [](const ImDrawList&) {});
  }

  CountingTextures textures_;  // without the toolkit's font
  ImguiPlayer player_{fonts(), textures_};
};

// The guarantee: the picture in the file is the picture on the screen.
TEST_F(ImguiPlayerTest, ShowsWhatTheFileShows) {
  struct Case {
    bool dark;
    float scale, pixel_scale;
  };
  for (const auto& [dark, scale, pixel_scale] :
       {Case{false, 1, 1}, Case{true, 1, 1}, Case{false, 1, 2}, Case{false, 2, 1}, Case{false, 1.25F, 1},
        Case{false, 1, 1.5F}}) {
    const Scene scene = testing::everything(dark ? dark_theme() : light_theme());
    const Bitmap file = rasterize(scene, *fonts(), scale * pixel_scale);
    const Bitmap screen = shown({scene, {0, 0}, scale}, pixel_scale, file.width, file.height);
    EXPECT_LT(testing::differing(file, screen, 48), 0.001) << scale << " " << pixel_scale;
    if (scale * pixel_scale == 1) {
      EXPECT_LT(testing::differing(file, screen, 12), 0.01);
    }
  }
}

TEST_F(ImguiPlayerTest, TextImagesAndRectanglesOfWholePixelsAreTheSameToTheBit) {
  Scene scene = blank(300, 100);
  scene.add(FillRect{{10, 8, 100, 20}, {200, 30, 60, 200}});
  scene.add(StrokeRect{{130.5F, 10.5F, 50, 30}, {0, 0, 0, 255}, 3});
  scene.add(testing::image({200.4F, 7.2F, 83, 61}, testing::noise(17, 9)));
  scene.add(make_text(*fonts(), "Probabilities 0.4123 日本", {10.6F, 60.4F}, 15, {20, 20, 20, 255}));
  scene.add(
      make_text(*fonts(), "up", {190, 90}, 15, {20, 20, 20, 255}, FontStyle::bold, Align::left, -1.5707963F));
  EXPECT_EQ(testing::differing(rasterize(scene, *fonts(), 1), shown({scene, {0, 0}, 1}, 1, 300, 100), 1), 0);
}

// The smallest values of a bar chart are bars of a pixel or less.
TEST_F(ImguiPlayerTest, ThinBarsAreAsDarkAsInTheFile) {
  for (const float scale : {1.0F, 1.25F, 2.0F}) {
    for (const float length : {0.3F, 0.75F, 1.0F, 1.4F, 2.0F, 3.1F, 4.0F}) {
      Scene scene = blank(200, 40);
      scene.add(FillRect{{20.6F, 13.3F, length, 14}, {0, 0, 0, 255}, std::min(2.F, length / 2)});
      scene.add(FillRect{{60, 3.3F, 100.3F, length}, {0, 0, 0, 255}, 3});
      const Bitmap file = rasterize(scene, *fonts(), scale);
      const double drawn = ink(shown({scene, {0, 0}, scale}, 1, file.width, file.height));
      EXPECT_NEAR(drawn / ink(file), 1, 0.2) << scale << ' ' << length;
    }
  }
}

TEST_F(ImguiPlayerTest, ShowsMoreVerticesThan16BitsCanCount) {
  Scene scene = blank(1900, 1400);
  std::string line;
  for (int i = 0; i < 200; ++i) line += static_cast<char>('!' + i % 90);
  for (int row = 0; row < 100; ++row) {  // 20,000 glyphs
    scene.add(make_text(*fonts(), line, {2, 14 + static_cast<float>(row) * 13}, 10, {0, 0, 0, 255}));
  }
  Polyline curve{{}, {200, 0, 0, 255}, 2};
  for (int i = 0; i < 40000; ++i) {
    const float t = static_cast<float>(i);
    curve.points.push_back({t / 22, 700 + 500 * std::sin(t / 900)});
  }
  scene.add(curve);
  // If an index were truncated, triangles would extend from one end of the picture to the other.
  const Bitmap screen = shown({scene, {0, 0}, 1}, 1, 1900, 1400);
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 1 << 16);
  EXPECT_LT(testing::differing(rasterize(scene, *fonts(), 1), screen, 48), 0.03);
}

TEST_F(ImguiPlayerTest, BoundsTheMemoryOfTextures) {
  const std::size_t before = textures_.store().size();
  const auto big =
      std::make_shared<const Bitmap>(Bitmap{4096, 2048, std::vector<Color>(std::size_t{4096} * 2048)});
  for (unsigned i = 0; i < 16; ++i) {  // 16 x 32 MiB, each drawn in one frame
    Scene scene = blank(100, 100);
    scene.add(Image{{0, 0, 50, 50}, big, 1000 + i});
    show(scene);
    EXPECT_LE(textures_.store().size(), before + 10);
  }
}

TEST_F(ImguiPlayerTest, AddsTexturesForGlyphsWhenOneIsFullAndStartsAfresh) {
  const auto crowd = [](float size) {
    Scene scene = blank(2000, 1500);
    for (int i = 0; i < 60; ++i) {
      std::string text;
      for (char32_t k = 0; k < 12; ++k) append_utf8(text, 0x4E00 + static_cast<char32_t>(i) * 12 + k);
      scene.add(make_text(*fonts(), text, {5, 80 + static_cast<float>(i) * 20}, size, {0, 0, 0, 255}));
    }
    return scene;
  };
  const auto count = [&] { return textures_.store().size(); };
  const std::size_t before = count();
  show(crowd(60));
  const std::size_t needed = count();
  EXPECT_GT(needed, before + 1);
  for (int i = 1; i < 8; ++i) {
    const Scene scene = crowd(60 + static_cast<float>(i));
    frame({{scene, {0, 0}, 1}}, 1, [&](const ImDrawList& list) {
      for (const ImDrawCmd& command : list.CmdBuffer) {
        if (command.ElemCount > 0) {
          EXPECT_TRUE(textures_.store().contains(compat::texture_handle(command)));
        }
      }
    });
    EXPECT_LE(count(), 2 * needed + 2);
  }
  for (int i = 0; i < 3; ++i) show(crowd(90));  // larger than all before
  const int updates = textures_.updates;
  show(crowd(90));
  EXPECT_EQ(textures_.updates, updates);
}

constexpr Color kPaper{250, 248, 240, 255};

class ImguiRasterTest : public ImguiTest {
 protected:
  /// Draws one frame on a display of that many units.
  template <class Build>
  const ImDrawData& frame(float width, float height, float scale, Build&& build) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(width, height);
    io.DisplayFramebufferScale = ImVec2(scale, scale);
    io.DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    build();
    ImGui::Render();
    compat::serve_textures(*ImGui::GetDrawData(), toolkit_);
    return *ImGui::GetDrawData();
  }
  /// One frame with a single list and this texture.
  template <class Build>
  const ImDrawData& list_frame(float width, float height, float scale, std::uint64_t texture, Build&& build) {
    return frame(width, height, scale, [&] {
      ImDrawList& list = *ImGui::GetBackgroundDrawList();
      compat::push_texture(list, texture);
      build(list);
      compat::pop_texture(list);
    });
  }

  Bitmap drawn(const ImDrawData& data) const { return rasterize(data, toolkit_.store(), kPaper); }

  std::uint64_t white() { return toolkit_.create({1, 1, {{255, 255, 255, 255}}}, true); }
};

void add_triangle(ImDrawList& list, const ImDrawVert (&corners)[3]) {
  list.PrimReserve(3, 3);
  for (const ImDrawVert& v : corners) list.PrimVtx(v.pos, v.uv, v.col);
}

// A pixel on a common side belongs to one of two neighbours: with translucent colours there is neither a gap
// nor a pixel painted twice, for corners in the middle of pixels and between them.
TEST_F(ImguiRasterTest, NeighboursShareNoPixelAndLeaveNone) {
  for (const float offset : {0.0F, 0.5F, 0.3F}) {
    const ImDrawData& data = list_frame(40, 40, 1, white(), [&](ImDrawList& list) {
      const auto at = [&](float x, float y) {
        return ImDrawVert{ImVec2(x + offset, y + offset), ImVec2(0, 0), IM_COL32(0, 0, 0, 128)};
      };
      const ImDrawVert ring[] = {at(-2, -2), at(20, -2), at(42, -2), at(42, 21),
                                 at(42, 42), at(9, 42),  at(-2, 42), at(-2, 13)};
      for (int i = 0; i < 8; ++i) add_triangle(list, {at(17, 23), ring[i], ring[(i + 1) % 8]});
    });
    const Bitmap picture = drawn(data);
    for (const Color c : picture.pixels) ASSERT_EQ(c, (Color{125, 124, 120, 255})) << offset;
  }
}

TEST_F(ImguiRasterTest, CornersBeyondAllPictures) {
  const float none = std::numeric_limits<float>::quiet_NaN(), far = std::numeric_limits<float>::infinity();
  const auto at = [](float x, float y) { return ImDrawVert{ImVec2(x, y), ImVec2(0, 0), IM_COL32_BLACK}; };
  const std::uint64_t texture = white();
  const Bitmap covered = drawn(list_frame(30, 20, 2, texture, [&](ImDrawList& list) {
    add_triangle(list, {at(-3e9F, -3e9F), at(far, -far), at(10, far)});
  }));
  EXPECT_EQ(covered.width, 60);
  for (const Color c : covered.pixels) ASSERT_EQ(c, (Color{0, 0, 0, 255}));
  // Values that are not numbers must do no harm; where they are drawn is unspecified.
  const Bitmap odd = drawn(list_frame(30, 20, 1, texture, [&](ImDrawList& list) {
    ImDrawVert corners[] = {at(none, 3), at(20, none), at(25, 15)};
    corners[0].uv = ImVec2(none, far);
    corners[1].col = IM_COL32_WHITE;
    add_triangle(list, corners);
  }));
  EXPECT_EQ(odd.pixels.size(), 600U);
}

TEST_F(ImguiRasterTest, PassesOverCallbacks) {
  const std::uint64_t texture = white(), gone = white();
  toolkit_.destroy(gone);
  const ImDrawData& data = list_frame(20, 20, 1, texture, [&](ImDrawList& list) {
    compat::push_texture(list, gone);  // a command that draws nothing needs no texture
    list.AddCallback([](const ImDrawList*, const ImDrawCmd*) { ADD_FAILURE() << "a callback was called"; },
                     nullptr);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
    compat::pop_texture(list);
    list.AddRectFilled(ImVec2(0, 0), ImVec2(20, 20), IM_COL32_BLACK);
  });
  EXPECT_EQ(drawn(data).at(10, 10), (Color{0, 0, 0, 255}));
}

}  // namespace
}  // namespace headscope::viz::imgui_test
