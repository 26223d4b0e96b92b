#include "app/desktop/example_prompts.h"

#include <cctype>

#include "app/run/sources/paths.h"
#include "model/files/config.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/matchers.h"

namespace headscope::app::example_prompts_test {
namespace {

std::vector<ExamplePrompt> parse(std::string_view text) {
  return parse_example_prompts(text, "prompts.txt");
}

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const model::LoadError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ExamplePrompts, ParsesPromptsInOrder) {
  EXPECT_THAT(parse("% about\n% this file\n\n"
                    "# Induction\n> a b ... a\n> looks back\n@ L3 H1\none two one\n\n"
                    "# Plain\n> nothing special\nHello\nworld\n"),
              ElementsAre(ExamplePrompt{"Induction", "a b ... a looks back", ExamplePrompt::Head{3, 1},
                                        "one two one"},
                          ExamplePrompt{"Plain", "nothing special", std::nullopt, "Hello\nworld"}));
}

TEST(ExamplePrompts, TextKeepsItsBlankLinesMarksAndBytes) {
  const auto prompts =
      parse("# T\n> l\n first \n\n> no look-for line\n@ L1 H1\n%x\n\xff\xe2\n\n\n# U\n> l\nu");
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].text, " first \n\n> no look-for line\n@ L1 H1\n%x\n\xff\xe2");
  EXPECT_EQ(prompts[0].head, std::nullopt);
  EXPECT_EQ(prompts[1].text, "u");
}

TEST(ExamplePrompts, WindowsLineEndingsAndNoFinalNewline) {
  EXPECT_EQ(parse("# T\r\n> l\r\n@ L0 H2\r\none\r\ntwo").at(0),
            (ExamplePrompt{"T", "l", ExamplePrompt::Head{0, 2}, "one\ntwo"}));
}

TEST(ExamplePrompts, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(error_of("hello\n"), StartsWith("prompts.txt:1: expected \"# title\", found \"hello\""));
  EXPECT_THAT(error_of("#\n> l\nx\n"), StartsWith("prompts.txt:1: "));
  EXPECT_THAT(error_of("# T\ntext\n"), StartsWith("prompts.txt:2: expected \"> what"));
  EXPECT_THAT(error_of("# T\n> l\n@ L1\nx\n"), StartsWith("prompts.txt:3: expected \"@ L5 H1\""));
  EXPECT_THAT(error_of("# T\n> l\n@ L1 H-2\nx\n"), StartsWith("prompts.txt:3: "));
  EXPECT_THAT(error_of("# T\n> l\n@ L99999999999 H2\nx\n"), StartsWith("prompts.txt:3: "));
  EXPECT_THAT(error_of("# T\n> l\n\n# U\n> l\nx\n"), StartsWith("prompts.txt:3: expected the prompt's text"));
  EXPECT_THAT(error_of("# T\n> l\n"), HasSubstr("found the end of the file"));
}

TEST(ExamplePrompts, TheBundledOnesSuitTheBundledModel) {
  const auto file = bundled_model() / "config.json";
  const model::Config config = model::parse_config(model::read_file(file), file.string());
  const model::Tokenizer tokenizer = model::Tokenizer::load(bundled_model());
  const auto prompts = load_example_prompts(assets_folder() / "prompts.txt");
  EXPECT_FALSE(prompts.empty());
  for (const ExamplePrompt& prompt : prompts) {
    EXPECT_LE(tokenizer.encode(prompt.text).size(), static_cast<std::size_t>(config.n_ctx)) << prompt.title;
    ASSERT_TRUE(prompt.head) << prompt.title;
    EXPECT_LT(prompt.head->layer, config.n_layer) << prompt.title;
    EXPECT_LT(prompt.head->head, config.n_head) << prompt.title;
  }
}

}  // namespace
}  // namespace headscope::app::example_prompts_test
