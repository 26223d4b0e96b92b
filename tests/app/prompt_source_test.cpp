#include "app/cli/batch.h"

#include "app/cli/arguments/standard_streams.h"
#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::prompt_source_test {
namespace {

using From = PromptArguments::From;

PromptArguments from_file(From from, const std::filesystem::path& file) {
  PromptArguments arguments;
  arguments.from = from;
  arguments.file = file;
  return arguments;
}

std::string error_of(std::string_view line) {
  try {
    parse_prompt_line(line, "p:7");
  } catch (const model::LoadError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PromptLine, StringsAndObjects) {
  EXPECT_EQ(parse_prompt_line(R"("a\nb\u00e9")", "p").text, "a\nb\xc3\xa9");
  EXPECT_EQ(parse_prompt_line(R"({"prompt": "x", "note": 1})", "p").text, "x");
  EXPECT_THAT(parse_prompt_line(R"({"ids": [1, 2]})", "p").ids, ElementsAre(1, 2));
  EXPECT_EQ(parse_prompt_line(R"("")", "p"), Prompt{});
}

TEST(PromptLine, WhatIsWrongIsSaid) {
  for (const char* line :
       {"x", "5", "null", "[]", "{}", R"({"prompt": 5})", R"({"ids": 5})", R"({"ids": ["a"]})",
        R"({"ids": [1.5]})", R"({"prompt": "x", "ids": [1]})", R"("a" "b")", "\"\xff\"", R"("\ud800")",
        R"({"ids": [99999999999]})", R"({"ids": [-99999999999]})", R"({"ids": [18446744073709551615]})"}) {
    EXPECT_THAT(error_of(line), StartsWith("p:7")) << line;
  }
}

TEST(PromptSource, OfTextALineIsAPromptAsItIs) {
  const TemporaryFolder folder;
  std::istringstream in;
  PromptSource source(
      from_file(From::list, folder.write("a.txt", "\xef\xbb\xbf\"The king\" said\r\n\n{1}\n")), in);
  EXPECT_EQ(source.next()->text, "\"The king\" said");
  EXPECT_EQ(source.next()->text, "{1}");
  EXPECT_EQ(source.next(), std::nullopt);
}

TEST(PromptSource, AFilesBytesAreThePrompt) {
  const TemporaryFolder folder;
  const std::string bytes("a\r\nb\0\xff\n", 7);
  std::istringstream in(bytes);
  EXPECT_EQ(PromptSource(from_file(From::file, folder.write("p", bytes)), in).next()->text, bytes);
  EXPECT_EQ(PromptSource(from_file(From::file, "-"), in).next()->text, bytes);
  EXPECT_THROW(PromptSource(from_file(From::file, folder.path()), in), model::LoadError);
}

TEST(PromptSource, WhatNoModelReadsIsRefused) {
  const TemporaryFolder folder;
  const std::string most(Prompt::kMaxBytes, 'x'), text = most + "x", line(kMaxLineBytes + 1, '[');
  const auto first = [&](const PromptArguments& arguments, const std::string& input) {
    std::istringstream in(input);
    return PromptSource(arguments, in).next();
  };
  EXPECT_EQ(first(from_file(From::file, "-"), most)->text, most);
  EXPECT_THROW(first(from_file(From::file, "-"), text), model::RunError);
  EXPECT_THROW(first(from_file(From::file, folder.write("p", text)), ""), model::RunError);
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(first(from_file(From::file, "-"), mark + most)->text, most);
  EXPECT_EQ(first(from_file(From::file, folder.write("p", mark + most)), "")->text, most);
  EXPECT_THROW(first(from_file(From::file, "-"), mark + text), model::RunError);
  EXPECT_THROW(first({.from = From::text, .text = text, .ids = {}, .file = {}}, ""), model::RunError);
  EXPECT_THROW(first(from_file(From::list, "-"), "\"" + text + "\""), model::RunError);
  EXPECT_THROW(first(from_file(From::list, "-"), line), model::LoadError);
}

TEST(PromptSource, AByteOrderMarkIsNoText) {
  const TemporaryFolder folder;
  std::istringstream in("\xef\xbb\xbf\xef\xbb\xbf");
  EXPECT_EQ(PromptSource(from_file(From::file, folder.write("p", "\xef\xbb\xbfThe king\n")), in).next()->text,
            "The king\n");
  EXPECT_EQ(PromptSource(from_file(From::file, "-"), in).next()->text, "\xef\xbb\xbf") << "but the first one";
}

TEST(PromptSource, AListIsReadLineByLine) {
  const TemporaryFolder folder;
  const auto file = folder.write("list.jsonl", "\"one\"\n\n{\"ids\": [2]}\r\n\"three");
  std::istringstream in;
  PromptSource source(from_file(From::list, file), in);
  EXPECT_EQ(source.next()->text, "one");
  EXPECT_THAT(source.next()->ids, ElementsAre(2));
  EXPECT_EQ(source.number(), 2);
  EXPECT_THAT(source.where(), HasSubstr("list.jsonl:3: "));
  try {
    source.next();
    FAIL();
  } catch (const model::LoadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("list.jsonl:4"));
  }
}

TEST(PromptSource, AListThatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  std::istringstream in;
  for (const auto& path : {folder.path(), folder.path() / "missing"}) {
    try {
      PromptSource(from_file(From::list, path), in);
      FAIL() << path;
    } catch (const model::LoadError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
  EXPECT_FALSE(PromptSource(from_file(From::list, folder.write("empty", "")), in).next());
}

}  // namespace
}  // namespace headscope::app::prompt_source_test
