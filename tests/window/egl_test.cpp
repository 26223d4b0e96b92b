// The picture on the screen equals the picture in the file: compares scenes played through Dear ImGui and
// OpenGL, in a context without a display, with those of the raster player.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <memory>

#include "app/window/core.h"
#include "app/window/gl_screen.h"
#include "app/window/gui.h"
#include "tests/support/source_folders.h"
#include "tests/viz/pictures.h"
#include "viz/players/players.h"

namespace headscope::app::egl_test {
namespace {

/// Reads back what was drawn, top row first.
viz::Bitmap gl_read_pixels(int width, int height) {
  viz::Bitmap bitmap{width, height, {}};
  bitmap.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const auto read_pixels = reinterpret_cast<decltype(glReadPixels)*>(eglGetProcAddress("glReadPixels"));
  read_pixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, bitmap.pixels.data());
  for (int y = 0; y < height / 2; ++y)
    std::swap_ranges(bitmap.pixels.begin() + static_cast<std::ptrdiff_t>(y) * width,
                     bitmap.pixels.begin() + static_cast<std::ptrdiff_t>(y + 1) * width,
                     bitmap.pixels.begin() + static_cast<std::ptrdiff_t>(height - 1 - y) * width);
  for (viz::Color& pixel : bitmap.pixels) pixel.a = 255;
  return bitmap;
}

/// A current OpenGL 3.3 core context with a framebuffer of its own.
class EglContext {
 public:
  EglContext(int width, int height) {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (!get_display) return;
    display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display_ == EGL_NO_DISPLAY || !eglInitialize(display_, nullptr, nullptr)) return;
    constexpr EGLint kWanted[][2] = {{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT},
                                     {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT},
                                     {EGL_RED_SIZE, 8},
                                     {EGL_GREEN_SIZE, 8},
                                     {EGL_BLUE_SIZE, 8},
                                     {EGL_ALPHA_SIZE, 8},
                                     {EGL_NONE, 0}};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (!eglChooseConfig(display_, &kWanted[0][0], &config, 1, &count) || count == 0) return;
    const EGLint size[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    surface_ = eglCreatePbufferSurface(display_, config, size);
    eglBindAPI(EGL_OPENGL_API);
    constexpr EGLint kVersion[][2] = {{EGL_CONTEXT_MAJOR_VERSION, 3},
                                      {EGL_CONTEXT_MINOR_VERSION, 3},
                                      {EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT},
                                      {EGL_NONE, 0}};
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, &kVersion[0][0]);
    current_ = surface_ != EGL_NO_SURFACE && context_ != EGL_NO_CONTEXT &&
               eglMakeCurrent(display_, surface_, surface_, context_);
  }
  ~EglContext() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
    eglTerminate(display_);
  }
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;
  bool current() const { return current_; }

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLSurface surface_ = EGL_NO_SURFACE;
  EGLContext context_ = EGL_NO_CONTEXT;
  bool current_ = false;
};

class EglTest : public ::testing::TestWithParam<std::tuple<std::string, bool, float>> {};

TEST_P(EglTest, TheScreenShowsWhatTheFileShows) {
  const auto& [view, dark, scale] = GetParam();
  constexpr int kWidth = 1200;
  constexpr int kHeight = 800;
  const int width = static_cast<int>(kWidth * scale);
  const int height = static_cast<int>(kHeight * scale);
  const EglContext egl(width, height);
  ASSERT_TRUE(egl.current()) << "no surfaceless EGL with OpenGL 3.3 (packages libegl1 and libgl1-mesa-dri)";

  GlScreen gl(eglGetProcAddress);
  CoreOptions options;
  options.window.model = headscope::testing::source_dir() / "assets/models/tales";
  options.window.prompt = Prompt{"The old king had a daughter, and the old king had a son.", {}, false};
  options.settings.session.view = view;
  options.settings.session.dark = dark;
  options.fonts = viz::testing::fonts();
  options.screen = &gl;
  Core core(std::move(options));
  core.settle();
  WindowFrame frame;
  frame.width = kWidth;
  frame.height = kHeight;
  frame.device_scale = scale;
  frame.still = true;
  core.draw(frame);
  core.make_current();
  gl.show(width, height, theme_of(dark).window);
  const viz::Bitmap screen = gl_read_pixels(width, height);
  const viz::Bitmap file = core.picture(frame);
  ASSERT_EQ(screen.pixels.size(), file.pixels.size());
  // Edges of images that end between two pixels; vectors are images, too.
  EXPECT_LT(viz::testing::differing(screen, file, 64), view == "query" ? 1.2e-3 : 3e-4);
}

INSTANTIATE_TEST_SUITE_P(Views, EglTest,
                         ::testing::Values(std::tuple{"heatmap", false, 1.0F},
                                           std::tuple{"scores", true, 1.0F}, std::tuple{"query", false, 1.0F},
                                           std::tuple{"positions", true, 1.0F},
                                           std::tuple{"heatmap", true, 2.0F}));

// Large and small cells at fractional positions: an image in the window, including its borders, equals the
// one in a file.
TEST(Egl, ImagesAreNotSmoothed) {
  for (const float scale : {1.0F, 1.25F, 2.0F}) {
    const int width = static_cast<int>(400 * scale), height = static_cast<int>(300 * scale);
    const EglContext egl(width, height);
    ASSERT_TRUE(egl.current());
    viz::Scene scene = viz::testing::blank(400, 300);
    scene.add(viz::testing::image({10.3F, 8.6F, 380, 180}, viz::testing::noise(17, 9)));
    scene.add(viz::testing::image({10.3F, 200.2F, 180, 90}, viz::testing::noise(61, 31)));
    scene.add(viz::make_text(*viz::testing::fonts(), "between two images", {200, 250}, 15, {0, 0, 0, 255}));
    GlScreen gl(eglGetProcAddress);
    Gui gui(viz::testing::fonts(), gl);
    WindowFrame frame;
    frame.width = 400;
    frame.height = 300;
    frame.device_scale = scale;
    gui.frame(frame, nullptr, false, 14, [&](viz::ImguiPlayer& player) {
      player.draw(*ImGui::GetBackgroundDrawList(), scene, {0, 0}, 1);
    });
    gl.show(width, height, scene.background);
    const viz::Bitmap screen = gl_read_pixels(width, height);
    EXPECT_EQ(viz::testing::differing(screen, viz::rasterize(scene, *viz::testing::fonts(), scale), 2), 0)
        << scale;
  }
}

}  // namespace
}  // namespace headscope::app::egl_test
