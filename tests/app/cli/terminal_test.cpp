// Output to a terminal is shown but never interpreted; and text in JSON.
#include <nlohmann/json.hpp>

#include "app/cli/status_line.h"
#include "app/text/output_text.h"
#include "tests/app/cli/command_runs.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "viz/text/utf8.h"

namespace headscope::app::terminal_test {
namespace {

/// A window title, colours in both notations, a delete, a text direction control, and invalid bytes.
const std::string kHostile =
    "a\x1b]0;owned\x07 \xc2\x9b"
    "31m\x7f\xe2\x80\xae\xff b";

/// The first place in a text that a terminal would interpret; npos: none.
std::size_t obeyed(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    if (!c.valid || (viz::is_control(c.code) && c.code != '\n')) return at;
    at += c.length;
  }
  return std::string::npos;
}

TEST(TerminalText, IsWhatATerminalDoesNotObey) {
  EXPECT_EQ(terminal_safe("plain \xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x91\x8d"),
            "plain \xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x91\x8d");
  EXPECT_EQ(terminal_safe("\x1b[31m\n\x7f"), "\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(terminal_safe("\xc2\x9b"
                          "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(terminal_safe("\xe2\x80\xae"
                          "gnp.exe"),
            "\\xe2\\x80\\xaegnp.exe");
  EXPECT_EQ(terminal_safe("\x9b\xff\xe2\x82"), "\\x9b\\xff\\xe2\\x82");
  EXPECT_EQ(terminal_safe("a\n\tb\r", "\n\t"), "a\n\tb\\x0d");
  EXPECT_EQ(terminal_safe(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(obeyed(terminal_safe(kHostile)), std::string::npos);
  EXPECT_EQ(obeyed(one_line(kHostile)), std::string::npos);
}

TEST(TerminalText, ACharacterIsWholeOrToCome) {
  EXPECT_EQ(viz::incomplete_tail(""), 0U);
  EXPECT_EQ(viz::incomplete_tail("ab"), 0U);
  EXPECT_EQ(viz::incomplete_tail("a\xc3"), 1U);
  EXPECT_EQ(viz::incomplete_tail("a\xc3\xa9"), 0U);
  EXPECT_EQ(viz::incomplete_tail("\xf0\x9f\x91"), 3U);
  EXPECT_EQ(viz::incomplete_tail("\xf0\x9f\x91\x8d"), 0U);
  EXPECT_EQ(viz::incomplete_tail("\x80\x80\x80\x80"), 0U);
}

/// A model in a folder with a hostile name.
class Terminal : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    outer_ = std::make_unique<TemporaryFolder>();
    const auto parent = outer_->path() / kHostile;
    std::filesystem::create_directories(parent);
    inner_ = std::make_unique<TemporaryFolder>(parent);
    write_other_model(*inner_);
    std::filesystem::rename(inner_->path(), parent / ("m" + kHostile));
    model_ = (parent / ("m" + kHostile)).string();
  }
  static void TearDownTestSuite() {
    inner_.reset();
    outer_.reset();
  }
  static void expect_harmless(const std::vector<std::string>& arguments, int status = 0) {
    for (const bool terminal : {false, true}) {
      const Ran ran = run_command(arguments, "", terminal);
      EXPECT_EQ(ran.status, status) << ::testing::PrintToString(arguments) << ran.err;
      for (const std::string& text : {ran.out, ran.err})
        EXPECT_EQ(obeyed(text), std::string::npos)
            << ::testing::PrintToString(arguments) << ::testing::PrintToString(text.substr(0, 2000));
    }
  }
  static inline std::unique_ptr<TemporaryFolder> outer_, inner_;
  static inline std::string model_;
};

TEST_F(Terminal, NoCommandSendsAnythingButText) {
  const std::string list = (outer_->path() / ("l" + kHostile)).string();
  outer_->write("l" + kHostile, nlohmann::json("a\x1b]0;owned\x07 \xc2\x9b"
                                               "31m\x7f")
                                        .dump() +
                                    "\n");
  for (const View& view : views()) {
    const Words command{std::string(view.id), "--model", model_};
    expect_harmless(command + Words{"--prompt", kHostile});
    expect_harmless(command + Words{"--prompt", kHostile, "--json"});
  }
  expect_harmless({"tokens", "--prompts", list, "--model", model_});
  expect_harmless({"predict", "--prompt", kHostile, "--edit", "L0.z[60]=0", "--model", model_});
  expect_harmless({"info", "--model", model_});
  expect_harmless({"info", "--json", "--model", model_});
  std::string longer;
  for (int i = 0; i < 100; ++i) longer += " many";
  expect_harmless({"shot", "--model", model_, "--prompt", longer, "--size", "900x700", "--out",
                   (outer_->path() / "x.png").string()});
}

TEST_F(Terminal, NoErrorSendsAnythingButText) {
  outer_->write("bad" + kHostile, "{\"" + std::string("\x01") + kHostile);
  const std::string bad = (outer_->path() / ("bad" + kHostile)).string();
  expect_harmless({"info", "--model", model_ + kHostile}, 1);
  expect_harmless({"info", bad}, 1);
  expect_harmless({"tokens", "--prompts", bad}, 1);
  expect_harmless({"tokens", "--prompt-file", bad + kHostile}, 1);
  expect_harmless({"predict", "--prompt", "x", "--edits", bad}, 1);
  expect_harmless({"predict", "--prompt", "x", "--edit", kHostile}, 1);
  expect_harmless({"heatmap", "--prompt", "x", "--value-scale", kHostile, "--out", "x.png"}, 2);
  expect_harmless({"heatmap", "--prompt", "x", "--out", "/nowhere" + kHostile + "/x.png"}, 1);
  expect_harmless({"shot", "--tour", bad + ".md", "--out", "x.png"}, 1);
  expect_harmless({"get", kHostile}, 2);
  expect_harmless({kHostile}, 2);
}

TEST_F(Terminal, GeneratedTextIsShownThereAndExactElsewhere) {
  const std::vector<std::string> command{
      "generate", "--model",  model_, "--prompt",      kHostile + "\n\xe6\xbc\xa2",
      "--echo",   "--tokens", "40",   "--temperature", "5",
      "--seed",   "3"};
  const Ran exact = run_command(command), seen = run_command(command, "", true);
  EXPECT_EQ(exact.out.substr(0, kHostile.size() + 4), kHostile + "\n\xe6\xbc\xa2");
  std::string expected = terminal_safe(exact.out, "\n\t");
  if (!expected.ends_with('\n')) expected += '\n';
  EXPECT_EQ(seen.out, expected);
}

TEST_F(Terminal, LongWorkSaysHowFarItIs) {
  using std::chrono::milliseconds;
  std::istringstream in;
  for (const bool terminal : {true, false}) {
    std::ostringstream out, err;
    const Streams streams{in, out, err, terminal, terminal};
    {
      StatusLine line(streams, milliseconds(0), milliseconds(0));
      line.tell_work("prompt 3: ", "where heads look", 0.25);
    }
    const std::string said = "headscope: prompt 3: where heads look: 25 % done";
    EXPECT_EQ(err.str(), terminal ? "\r" + said + "\x1b[K\r\x1b[K" : said + "\n");
    std::ostringstream quiet;
    const Streams soon{in, out, quiet, terminal, terminal};
    StatusLine(soon).tell_work("", "sweep", 0.5);
    EXPECT_EQ(quiet.str(), "") << "what takes no time says nothing";
  }
}

const std::string kBroken = "\xEF\xBF\xBD";

// The expected replacements are those of Python's bytes.decode("utf-8", "replace").
TEST(JsonText, EachMaximalBrokenPartIsOneReplacement) {
  const std::string whole = "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf";
  EXPECT_EQ(utf8_or_replacement(whole), whole);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xff", kBroken},
      {"\x80\x80", kBroken + kBroken},
      {"\xe2\x82", kBroken},      // cut short
      {"\xf0\x9f\x98", kBroken},  // cut short
      {"\xf0\x9f\x98z", kBroken + "z"},
      {"\xe2\x28\xa1", kBroken + "(" + kBroken},
      {"\xc0\xaf", kBroken + kBroken},                              // overlong
      {"\xe0\x80\x80", kBroken + kBroken + kBroken},                // overlong
      {"\xed\xa0\x80", kBroken + kBroken + kBroken},                // a surrogate
      {"\xf4\x90\x80\x80", kBroken + kBroken + kBroken + kBroken},  // beyond U+10FFFF
      {"a\xf1\x80\x80\xe1\x80\xc2z",
       "a" + kBroken + kBroken + kBroken + "z"},  // Unicode's own example, table 3-8
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_FALSE(viz::is_utf8(bytes));
    EXPECT_EQ(utf8_or_replacement(bytes), text) << ::testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace headscope::app::terminal_test
