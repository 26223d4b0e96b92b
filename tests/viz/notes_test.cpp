// Notes in the files of pictures.
#include "viz/scene/notes.h"

#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/viz/pictures.h"
#include "tests/viz/xml_check.h"

namespace headscope::viz::notes_test {
namespace {

const std::string kText = R"({"prompt": "a < b && \"c\" > 'd' ]]> &amp; \u00e9"})";

std::string png_with(std::vector<Note> notes) {
  const std::vector<std::uint8_t> file = encode_png(*testing::noise(9, 7), 2, notes);
  return {file.begin(), file.end()};
}

std::string svg_with(std::vector<Note> notes) {
  return to_svg(testing::blank(40, 30), *testing::fonts(), {.text = false, .notes = std::move(notes)});
}

std::string pdf_with(std::vector<Note> notes) {
  return to_pdf(testing::blank(10, 10), *testing::fonts(), notes);
}

std::string problem_of(const std::string& file) {
  return message_of<std::runtime_error>([&] { find_note(file, "recipe"); });
}

std::string u32(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

/// A minimal PNG with one chunk, sufficient for reading texts.
std::string png_of_chunk(const std::string& type, const std::string& data) {
  return std::string("\x89PNG\r\n\x1a\n") + u32(static_cast<std::uint32_t>(data.size())) + type + data +
         u32(crc32(type + data));
}

TEST(Notes, AreReadBack) {
  const std::vector<Note> notes{{"other", "x"}, {"recipe", kText}};
  for (const std::string& file : {png_with(notes), svg_with(notes), pdf_with(notes)}) {
    EXPECT_EQ(find_note(file, "recipe"), kText);
    EXPECT_EQ(find_note(file, "other"), "x");
    EXPECT_EQ(find_note(file, "recip"), std::nullopt);
    EXPECT_EQ(find_note(file, "recipes"), std::nullopt);
  }
  for (const std::string& file :
       {png_with({}), svg_with({}), pdf_with({}), std::string(), std::string("GIF89a")})
    EXPECT_EQ(find_note(file, "recipe"), std::nullopt);
}

TEST(Notes, LeaveThePictureAsItIs) {
  const std::string with = svg_with({{"recipe", kText}});
  EXPECT_EQ(testing::xml_error(with), "");
  const std::size_t at = with.find("<metadata"), end = with.find("</metadata>\n") + 12;
  EXPECT_EQ(with.substr(0, at) + with.substr(end), svg_with({}));
  EXPECT_THAT(png_with({{"recipe", kText}}), HasSubstr(std::string("iTXtrecipe\0\0\0\0\0{", 16)));
}

TEST(Notes, OfAnSvgSurviveAnEditor) {
  EXPECT_EQ(
      find_note("<?xml?>\n<svg>\n  <metadata\n     id=\"m1\"><rdf:RDF/></metadata>\n"
                "<metadata\n     xml:space=\"preserve\"\n     id=\"recipe\">&quot;a&apos;</metadata></svg>",
                "recipe"),
      "\"a'");
  EXPECT_EQ(
      find_note("\n<!-- saved -->\n<ns0:svg><ns0:metadata id=\"recipe\">&quot;</ns0:metadata></ns0:svg>",
                "recipe"),
      "\"");
  for (const char* other :
       {"<svg><no metadata id=\"recipe\">a</metadata></svg>",
        "<svg></metadata id=\"recipe\">a</metadata></svg>", "<svg>metadata id=\"recipe\">a</metadata></svg>",
        "<svg><xmetadata id=\"recipe\">a</metadata></svg>"})
    EXPECT_EQ(find_note(other, "recipe"), std::nullopt) << other;
  EXPECT_EQ(find_note("<svg><metadata xid=\"recipe\">a</metadata></svg>", "recipe"), std::nullopt);
}

TEST(Notes, ThatAreHostileAreASentence) {
  const std::string nul(1, '\0');
  EXPECT_EQ(find_note(png_of_chunk("tEXt", "recipe" + nul + "a"), "recipe"), "a");
  EXPECT_THAT(problem_of(png_of_chunk("zTXt", "recipe" + nul + nul + "x\x9c")), HasSubstr("compressed"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul + "\x01" + nul + nul + nul + "x\x9c")),
              HasSubstr("compressed"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul)), HasSubstr("truncated"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul + nul + nul + "en")), HasSubstr("truncated"));
  std::string damaged = png_with({{"recipe", kText}});
  damaged[damaged.find("prompt")] = 'P';
  EXPECT_THAT(problem_of(damaged), HasSubstr("damaged"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">abc"), HasSubstr("truncated"));
  EXPECT_THAT(problem_of("<!DOCTYPE x><svg><metadata id=\"recipe\">"), HasSubstr("truncated"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">&lol;</metadata>"), HasSubstr("entity"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">&#65;</metadata>"), HasSubstr("entity"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\"><a/></metadata>"), HasSubstr("elements"));
}

TEST(Notes, OfAFileThatIsCutOffAnywhereAreThereOrAreNot) {
  const std::vector<Note> notes{{"recipe", kText}};
  for (const std::string& file : {png_with(notes), svg_with(notes), pdf_with(notes)}) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      try {
        const auto note = find_note(file.substr(0, size), "recipe");
        EXPECT_EQ(note.value_or(kText), kText) << size;
      } catch (const std::runtime_error& e) {
        EXPECT_THAT(e.what(), HasSubstr("truncated")) << size;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::viz::notes_test
