// headscope saliency: its arguments, and its output compared with gradients and single predictions.
#include "app/cli/commands/command_arguments.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/app/command_runs.h"

namespace headscope::app::saliency_command_test {
namespace {

using nlohmann::json;

const Words kSaliency{"saliency", "--prompt", "Once upon a time there was"};

json answer(const Words& more) {
  return json::parse(succeed(kSaliency + Words{"--json"} + more));
}

TEST(SaliencyCommand, IsParsed) {
  const auto defaults = testing::parsed<SaliencyCommand>(kSaliency);
  EXPECT_EQ(defaults.measured.metric, GradientMetric::logit);
  EXPECT_EQ(defaults.method, SaliencyMethod::gradient_input);
  EXPECT_FALSE(defaults.baseline || defaults.steps || defaults.measured.position || defaults.json);
  const auto full = testing::parsed<SaliencyCommand>(
      kSaliency + Words{"--method", "integrated", "--metric", "difference", "--token", " it", "--other-token",
                        "id:5", "--position", "2", "--baseline", "mean", "--steps", "64", "--json"});
  EXPECT_EQ(full.measured.metric, GradientMetric::difference);
  EXPECT_EQ(full.method, SaliencyMethod::integrated);
  EXPECT_EQ(full.baseline, SaliencyBaseline::mean);
  EXPECT_EQ(full.steps, 64);
  EXPECT_EQ(full.measured.position, 2);
  EXPECT_EQ(full.measured.token, (GivenToken{GivenToken::By::text, " it"}));
  EXPECT_EQ(full.measured.other_token, (GivenToken{GivenToken::By::id, "", 5}));
  EXPECT_TRUE(full.json);
}

TEST(SaliencyCommand, JsonDescribesItself) {
  const json found = answer({"--edit", "L1H1.z=0"});
  const json how = found.at("how");
  EXPECT_EQ(how.at("model"), "tales");
  EXPECT_THAT(how.at("weights").get<std::string>(), StartsWith("sha256:"));
  EXPECT_EQ(how.at("prompt"), "Once upon a time there was");
  EXPECT_EQ(how.at("edits"), json::array({"L1H1.z=0"}));
  EXPECT_EQ(found.at("metric"), "logit");
  EXPECT_EQ(found.at("method"), "gradient-input");
  EXPECT_EQ(found.at("position"), 5);
  EXPECT_TRUE(found.at("unit").is_null());
  EXPECT_TRUE(found.at("other_token").is_null());
  EXPECT_FALSE(found.contains("baseline"));
  ASSERT_EQ(found.at("parts").size(), found.at("tokens").size());
  double sum = 0;
  for (const json& part : found.at("parts")) sum += part.get<double>();
  EXPECT_NEAR(found.at("sum"), sum, 1e-9);
  const json loss = answer({"--metric", "loss"});
  EXPECT_EQ(loss.at("unit"), "bits");
  EXPECT_TRUE(loss.at("position").is_null());
  EXPECT_TRUE(loss.at("token").is_null());
}

TEST(SaliencyCommand, TextHasTheStrongestFirst) {
  const std::vector<std::string> lines = lines_of(succeed(kSaliency + Words{"--method", "integrated"}));
  ASSERT_EQ(lines.size(), 1 + 6 + 4U) << "a title, the tokens, the sum and what it is compared with";
  for (std::size_t i = 2; i < 7; ++i)
    EXPECT_LE(std::abs(std::stod(lines[i])), std::abs(std::stod(lines[i - 1])));
  EXPECT_NEAR(std::stod(lines[7]), answer({"--method", "integrated"}).at("sum"), 1e-4);
}

TEST(SaliencyCommand, OfManyPrompts) {
  const auto lines = lines_of(succeed({"saliency", "--prompts", "-", "--json"},
                                      "\"The king had a daughter\"\n\"Once upon a time\"\n"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]).at("position"), 4);
  EXPECT_EQ(json::parse(lines[1]).at("parts").size(), 4U);
}

}  // namespace
}  // namespace headscope::app::saliency_command_test
