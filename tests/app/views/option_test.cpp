#include "app/views/option.h"

#include "tests/support/matchers.h"

namespace headscope::app::option_test {
namespace {

enum class Fruit { apple, pear, plum };

const Option<bool> kOn{{.name = "on", .default_value = false}};
const Option<int> kCount{{.name = "count", .default_value = 10, .low = 1, .high = 50}};
const Option<double> kHeat{{.name = "heat", .default_value = 1.0, .low = 0.05, .high = 2, .step = 0.05}};
const Option<Fruit> kFruit{{.name = "fruit",
                            .default_value = 1,
                            .choices = {{"apple", "Apple", ""}, {"pear", "Pear", ""}, {"plum", "Plum", ""}}}};
const Option<Zoom> kPart{{.name = "part", .default_value = Zoom{}}};
const Option<TokenRef> kTokenOption{{.name = "token", .default_value = TokenRef{}, .default_name = "none"}};
const Option<std::vector<int>> kList{
    {.name = "list", .default_value = std::vector<int>{1, 2}, .low = 0, .high = 99}};

TEST(Options, NumbersStayWithinTheirLimits) {
  Options o;
  o.set(kCount, 1000);
  EXPECT_EQ(o[kCount], 50);
  o.set(kHeat, 0.0);
  EXPECT_EQ(o[kHeat], 0.05);
  o.set(kHeat, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(o[kHeat], 0.05);
  o.set(kList, {-5, 7, 200});
  EXPECT_EQ(o[kList], (std::vector<int>{0, 7, 99}));
  o.set(kFruit, static_cast<Fruit>(9));
  EXPECT_EQ(o[kFruit], Fruit::plum);
}

/// Each option of a view reads what it writes, too.
TEST(ParseOption, ReadsATokenThatIsCalledLikeTheDefault) {
  for (const TokenRef& token : {TokenRef{}, TokenRef{TokenRef::By::text, "none"}})
    EXPECT_EQ(parse_option(kTokenOption, to_text(kTokenOption, token)), OptionValue(token));
  EXPECT_EQ(parse_option(kOn, ""), OptionValue(true));
  EXPECT_EQ(to_text(kPart, Zoom{4, 0, 8, 12}), "4:12,0:12");
}

TEST(ParseOption, SaysWhatItTakes) {
  for (const auto& [option, text] : std::vector<std::pair<const OptionSpec*, const char*>>{{&kOn, "maybe"},
                                                                                           {&kCount, "51"},
                                                                                           {&kCount, "3x"},
                                                                                           {&kHeat, "nan"},
                                                                                           {&kFruit, "nut"},
                                                                                           {&kList, "1,,2"}})
    EXPECT_THAT([&] { parse_option(*option, text); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(StartsWith("--" + std::string(option->name) + " takes "), HasSubstr(text))));
  EXPECT_THAT([&] { parse_option(kFruit, "\x1b[2J\xff"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("not \"\\x1b[2J\\xff\".")));
  for (const char* zoom : {"", "4:12", "4:12,0:12,1:2", "12:4,0:12", "a:b,c:d", "-1:4,0:4", "4,0"})
    EXPECT_THROW(parse_option(kPart, zoom), std::invalid_argument) << zoom;
}

TEST(ParseOption, ReadsEachNumberOfAListOnceAndNotTooMany) {
  EXPECT_EQ(parse_option(kList, "7,3,7"), OptionValue(std::vector<int>{7, 3}));
  std::string text = "0";
  for (int i = 1; i < 17; ++i) text += "," + std::to_string(i);
  EXPECT_THAT([&] { parse_option(kList, text); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("at most 16")));
  Options o;
  std::vector<int> many{5, 5};
  for (int i = 0; i < 30; ++i) many.push_back(i);
  o.set(kList, many);
  EXPECT_EQ(o[kList].size(), kMaxInList);
  EXPECT_EQ(o[kList][1], 0) << "each once";
}

TEST(ParseOption, ReadsHeadsAsLayerAndHead) {
  const Option<std::vector<int>> heads{{.name = "heads",
                                        .label = "Heads",
                                        .help = "some heads",
                                        .default_value = std::vector<int>{},
                                        .default_name = "chosen",
                                        .low = 0,
                                        .high = kHeadNumbers * kHeadNumbers - 1,
                                        .heads = true}};
  const std::vector<int> two{head_number(5, 1), head_number(11, 0)};
  EXPECT_EQ(parse_option(heads, "5.1, 11.0"), OptionValue(two));
  EXPECT_EQ(to_text(heads, two), "5.1,11.0");
  EXPECT_EQ(head_of_number(two[1]), (std::pair{11, 0}));
  EXPECT_EQ(parse_option(heads, "chosen"), heads.default_value);
  EXPECT_EQ(values_of(heads), "L.H,L.H,...|chosen");
  for (const char* wrong : {"5", "5.", ".1", "5.1.2", "5.4096", "-1.0", "5,1", ""})
    EXPECT_THAT([&] { parse_option(heads, wrong); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("heads as LAYER.HEAD")))
        << wrong;
}

TEST(Stepped, GoesUpAndDownAndRound) {
  EXPECT_EQ(stepped(kOn, false, 1), OptionValue(true));
  EXPECT_EQ(stepped(kCount, 50, 1), OptionValue(50));
  EXPECT_EQ(stepped(kFruit, 2, 1), OptionValue(0));
  EXPECT_EQ(stepped(kFruit, 0, -1), OptionValue(2));
  const auto token = [](const char* from, int by) {
    return to_text(kTokenOption, stepped(kTokenOption, parse_option(kTokenOption, from), by));
  };
  EXPECT_EQ(token("rank:3", -1), "rank:2");
  EXPECT_EQ(token("rank:1", -1), "none");
  EXPECT_EQ(token("none", 1), "rank:1");
  EXPECT_EQ(token("id:464", 1), "rank:1") << "a text or an id has no rank to go on from";
  OptionValue heat = 1.0;
  for (int i = 0; i < 4; ++i) heat = stepped(kHeat, heat, 1);
  EXPECT_EQ(heat, OptionValue(1.2)) << "not 24 * 0.05, which has other last digits";
  for (int i = 0; i < 4; ++i) heat = stepped(kHeat, heat, -1);
  EXPECT_EQ(heat, OptionValue(1.0));
}

TEST(Stepped, GoesThroughGivenStepsAlsoFromBetweenThem) {
  const Option<double> most{{.name = "most",
                             .default_value = 0.0,
                             .default_name = "auto",
                             .low = 1e-30,
                             .high = 1e9,
                             .steps = {0.01, 0.02, 0.05, 0.1, 0}}};
  const auto step = [&](double from, int by) { return std::get<double>(stepped(most, from, by)); };
  EXPECT_EQ(step(0.02, 1), 0.05);
  EXPECT_EQ(step(0.02, -1), 0.01);
  EXPECT_EQ(step(0.07, 1), 0.1);
  EXPECT_EQ(step(0.07, -1), 0.05);
  EXPECT_EQ(step(0.1, 1), 0) << "the usual value comes last";
  EXPECT_EQ(step(0, -1), 0.1);
  EXPECT_EQ(step(0, 1), 0);
  EXPECT_EQ(step(0.001, -1), 0.01) << "below all of them";
}

}  // namespace
}  // namespace headscope::app::option_test
