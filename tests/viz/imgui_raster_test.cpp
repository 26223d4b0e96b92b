#include "viz/players/imgui_raster.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "viz/players/imgui_compat.h"

namespace headscope::viz::imgui_raster_test {
namespace {

constexpr Color kPaper{250, 248, 240, 255};

class ImguiRasterTest : public ::testing::Test {
 protected:
  ImguiRasterTest() : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    compat::claim_null_renderer(io);
    compat::make_font_texture(io, textures_);
  }
  ~ImguiRasterTest() override { ImGui::DestroyContext(context_); }

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
    compat::serve_textures(*ImGui::GetDrawData(), textures_);
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

  Bitmap drawn(const ImDrawData& data) const { return rasterize(data, textures_.store(), kPaper); }

  std::uint64_t white() { return textures_.create({1, 1, {{255, 255, 255, 255}}}, true); }

  ImGuiContext* context_;
  SoftwareTextures textures_;
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
  textures_.destroy(gone);
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
}  // namespace headscope::viz::imgui_raster_test
