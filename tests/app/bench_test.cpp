// The output of headscope bench for invented times.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/commands/bench.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using ::testing::Le;

BenchReport some_report() {
  BenchReport report;
  report.model = "some\xffmodel";
  report.parameters = 1234567;
  report.threads = 2;
  report.kernels = "plain";
  report.peak_memory = 3 << 20;
  report.rows.push_back({16, 5, 1e-3, 3e-3, 2e-3, 5e-4, 6e-3, std::nullopt, std::nullopt});
  report.rows.push_back({64, 5, 4e-3, 6e-3, 5e-3, 6e-4, 8e-3, std::nullopt, std::nullopt});
  return report;
}

BenchReport full_report() {
  BenchReport report = some_report();
  for (PassTiming& timing : report.rows) {
    timing.all_patterns = 7e-3;
    timing.patterns_and_logits = 9e-3;
  }
  report.window.push_back({16, 1e-3, 2e-3, 3e-3, 4e-3, 9e-3, 5e-3, {{"some-view", 6e-3, 7e-3, 8e-3}}});
  return report;
}

TEST(BenchJson, SaysMillisecondsOfWhatWasMeasured) {
  const auto json = bench_json(full_report());
  EXPECT_EQ(json["model"], "some\xEF\xBF\xBDmodel");
  EXPECT_EQ(json["precision"], "f32");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["peak_memory_bytes"], 3 << 20);
  const auto& run = json["runs"][1];
  EXPECT_EQ(run["tokens"], 64);
  EXPECT_DOUBLE_EQ(run["pass_ms"], 4);
  EXPECT_DOUBLE_EQ(run["pass_all_logits_ms"], 6);
  EXPECT_DOUBLE_EQ(run["pass_last_logits_ms"], 5);
  EXPECT_DOUBLE_EQ(run["one_more_token_ms"], 0.6);
  EXPECT_DOUBLE_EQ(run["gradients_ms"], 8);
  EXPECT_DOUBLE_EQ(run["pass_all_maps_ms"], 7);
  EXPECT_DOUBLE_EQ(run["pass_all_maps_all_logits_ms"], 9);
  const auto& window = json["window"][0];
  EXPECT_DOUBLE_EQ(window["typed_at_the_end_ms"], 1);
  EXPECT_DOUBLE_EQ(window["typed_at_the_end_longest_ms"], 2);
  EXPECT_DOUBLE_EQ(window["typed_at_the_start_ms"], 3);
  EXPECT_DOUBLE_EQ(window["other_head_ms"], 4);
  EXPECT_DOUBLE_EQ(window["head_off_ms"], 9);
  EXPECT_DOUBLE_EQ(window["settled_frame_ms"], 5);
  const auto& view = window["views"][0];
  EXPECT_EQ(view["view"], "some-view");
  EXPECT_DOUBLE_EQ(view["opened_ms"], 6);
  EXPECT_DOUBLE_EQ(view["whole_ms"], 7);
  EXPECT_DOUBLE_EQ(view["settled_frame_ms"], 8);
}

TEST(BenchJson, LeavesOutWhatWasNot) {
  const auto json = bench_json(some_report());
  EXPECT_FALSE(json.contains("window"));
  EXPECT_FALSE(json["runs"][0].contains("pass_all_maps_ms"));
  EXPECT_FALSE(json["runs"][0].contains("pass_all_maps_all_logits_ms"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(BenchText, FitsInto80ColumnsWithEverythingInIt) {
  BenchReport report = full_report();
  report.model = "gpt2";
  const std::string text = bench_text(report);
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_THAT(lines, Each(SizeIs(Le(80))));
  EXPECT_THAT(text, AllOf(HasSubstr("1,234,567 parameters"), HasSubstr("maps and logits"),
                          HasSubstr("other head"), HasSubstr("peak memory 3.0 MiB")));
  // In both tables the columns end at the same place as their headings.
  int tables = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!lines[i].starts_with("tokens")) continue;
    ++tables;
    EXPECT_EQ(lines[i].size(), lines[i + 1].size());
  }
  EXPECT_EQ(tables, 2);
  EXPECT_THAT(bench_text(some_report()), AllOf(Not(HasSubstr("maps")), Not(HasSubstr("other head"))));
}

}  // namespace
}  // namespace headscope::app
