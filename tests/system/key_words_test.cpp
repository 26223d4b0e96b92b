#include "system/key_words.h"

#include "system/machine.h"
#include "tests/support/matchers.h"

namespace headscope::system {
namespace {

TEST(KeyWords, OfAMac) {
  EXPECT_EQ(with_mac_key_names("Ctrl+Z returns; Ctrl+Shift+S, Ctrl+wheel"),
            "Cmd+Z returns; Cmd+Shift+S, Cmd+wheel");
  EXPECT_EQ(with_mac_key_names("Alt+S, Alt+Shift+S, Alt+1 … 9, Alt+−"),
            "Control+S, Control+Shift+S, Control+1 … 9, Control+−");
  EXPECT_EQ(with_mac_key_names("Alt+↑, Alt+Shift+←, Alt+Page up"),
            "Option+↑, Option+Shift+←, Option+Page up");
  EXPECT_EQ(with_mac_key_names("F1, Shift+F10, Tab"), "F1, Shift+F10, Tab");
  EXPECT_EQ(with_own_key_names("Ctrl+Z"), is_macos() ? "Cmd+Z" : "Ctrl+Z");
}

}  // namespace
}  // namespace headscope::system
