// Why there is no window.
#include "app/window/window.h"

#include "system/machine.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app::no_window_test {
namespace {

using testing::environment;

TEST(OpenGlRemedy, SaysWhatToInstallOrSet) {
  if (system::is_windows()) GTEST_SKIP() << "drivers there have no such settings";
  const auto none = environment({});
  EXPECT_THAT(opengl_remedy("GLX: GLX extension not found", none), HasSubstr("+extension GLX"));
  EXPECT_THAT(opengl_remedy("GLX: Failed to load GLX", none), HasSubstr("libglx-mesa0"));
  for (const char* reason : {"GLX: No GLXFBConfigs returned", "GLX: Failed to create context: GLXBadFBConfig",
                             "Requested OpenGL version 3.3, got version 1.4"}) {
    EXPECT_THAT(opengl_remedy(reason, none), HasSubstr("LIBGL_ALWAYS_SOFTWARE=1")) << reason;
    EXPECT_THAT(opengl_remedy(reason, environment({{"LIBGL_ALWAYS_INDIRECT", "1"}})),
                HasSubstr("unset LIBGL_ALWAYS_INDIRECT"));
    EXPECT_THAT(opengl_remedy(reason, environment({{"LIBGL_ALWAYS_SOFTWARE", "1"}})),
                HasSubstr("libgl1-mesa-dri"));
  }
}

TEST(NoWindow, IsOneSentence) {
  const std::string said = NoWindow("there is no display", "start one").what();
  EXPECT_TRUE(is_sentence(said)) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("there is no display"), HasSubstr("start one")));
}

}  // namespace
}  // namespace headscope::app::no_window_test
