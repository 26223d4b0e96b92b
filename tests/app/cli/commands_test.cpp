// The commands that are no views: generate, trace, info, views and doctor.
#include <cstring>

#include "app/cli/command_line.h"
#include "app/views/view.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"

namespace headscope::app::commands_test {
namespace {

const std::string kPrompt = "The old king had a dog";

// ---- generate ----

TEST(Generate, ContinuesThePromptByItsSeed) {
  const Words command{"generate", "--prompt", kPrompt, "--tokens", "7"};
  const std::string text = succeed(command);
  EXPECT_EQ(succeed(command), text);
  EXPECT_NE(succeed(command + Words{"--seed", "18446744073709551615"}), text);
  EXPECT_EQ(succeed(command + Words{"--echo"}), kPrompt + text);
  const Json answer = answer_of(command);
  EXPECT_EQ(answer["text"], text);
  EXPECT_EQ(answer["end"], "length");
  EXPECT_EQ(answer["how"]["sampling"],
            (Json{{"temperature", 1.0}, {"top_k", 0}, {"top_p", 1.0}, {"seed", 0}}));
  std::string prompt, generated;
  for (const Json& token : answer["tokens"]) prompt += token["text"];
  for (const Json& token : answer["generated"]) generated += token["text"];
  EXPECT_EQ(prompt, kPrompt);
  EXPECT_EQ(generated, text);
  EXPECT_THAT(answer["generated"], SizeIs(7));
}

TEST(Generate, EndsWhereTheContextIsFull) {
  std::string ids = "5";
  for (int i = 1; i < 255; ++i) ids += ",5";
  const Ran ran = run_command({"generate", "--ids", ids, "--tokens", "9", "--json"});
  EXPECT_EQ(Json::parse(ran.out)["end"], "context");
  EXPECT_THAT(ran.err, HasSubstr("stopped after 2 of 9 tokens"));
}

TEST(Generate, IsEditedToItsEnd) {
  const SecondModelFolder second;
  const Words with{"--second-model", second.path().string(), "--edit",
                   "L5.attn_out<-second; L5.mlp_out<-second"};
  std::string text = kPrompt;
  const std::string generated =
      succeed(Words{"generate", "--prompt", text, "--tokens", "4", "--temperature", "0"} + with);
  for (int i = 0; i < 4; ++i) {
    const Json next =
        answer_of(Words{"generate", "--prompt", text, "--tokens", "1", "--temperature", "0"} + with);
    text += next["text"];
  }
  EXPECT_EQ(kPrompt + generated, text);
}

// ---- trace ----

/// A safetensors file.
struct Trace {
  Json header;
  std::string bytes;

  explicit Trace(const Words& more) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "a.safetensors").string();
    succeed(Words{"trace", "--out", out} + more);
    bytes = bytes_of_file(out);
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    header = Json::parse(bytes.substr(8, size));
    bytes.erase(0, 8 + size);
  }
  std::vector<float> values(const std::string& name) const {
    const std::size_t begin = header[name]["data_offsets"][0], end = header[name]["data_offsets"][1];
    std::vector<float> numbers((end - begin) / sizeof(float));
    std::memcpy(numbers.data(), bytes.data() + begin, end - begin);
    return numbers;
  }
};

TEST(Trace, HasTheActivationsThatViewsShow) {
  const Trace trace({"--prompt", kPrompt, "--hooks", "blocks.2.attn.hook_pattern,logits"});
  EXPECT_EQ(trace.header["__metadata__"]["text"], kPrompt);
  EXPECT_EQ(trace.header.size(), 4U) << "metadata, tokens and two hooks";
  const Json heatmap = answer_of({"heatmap", "--prompt", kPrompt, "--layer", "2", "--head", "1"})["columns"];
  const std::vector<float> pattern = trace.values("blocks.2.attn.hook_pattern");
  const std::size_t length = trace.header["logits"]["shape"][0];
  for (std::size_t row = 0; row < heatmap["weight"].size(); ++row) {
    const std::size_t query = heatmap["query"][row], key = heatmap["key"][row];
    EXPECT_EQ(pattern.at((length + query) * length + key), heatmap["weight"][row].get<float>());
  }
  const std::vector<float> logits = trace.values("logits");
  const Json next = answer_of({"next", "--prompt", kPrompt})["columns"];
  const std::size_t last = logits.size() / length * (length - 1);
  for (std::size_t row = 0; row < 10; ++row)
    EXPECT_EQ(logits.at(last + next["id"][row].get<std::size_t>()), next["logit"][row].get<float>());
}

TEST(Trace, HasTheGradientsThatViewsUse) {
  for (const Words& measured : {Words{"logit"}, Words{"logprob", "--token", "rank:3"}, Words{"loss"},
                                Words{"difference", "--token", " dog", "--other-token", "id:5"}}) {
    const Trace trace(Words{"--prompt", kPrompt, "--hooks", "hook_embed", "--gradients"} + measured);
    const std::vector<float> embedding = trace.values("hook_embed"),
                             gradient = trace.values("hook_embed_grad");
    const Json saliency = answer_of(Words{"saliency", "--prompt", kPrompt, "--metric"} + measured);
    const bool in_bits = measured[0] == "logprob" || measured[0] == "loss";
    const double unit = in_bits ? 1 / std::log(2.0) : 1;  // traces are in nats
    const Json& metadata = trace.header["__metadata__"];
    EXPECT_NEAR(std::stod(metadata["gradient_metric_value"].get<std::string>()) * unit,
                saliency["facts"]["value"].get<double>(), 1e-5);
    const Json& shares = saliency["columns"]["share"];
    const std::size_t width = trace.header["hook_embed"]["shape"][1];
    for (std::size_t position = 0; position < shares.size(); ++position) {
      double share = 0;
      for (std::size_t i = position * width; i < (position + 1) * width; ++i)
        share += static_cast<double>(embedding[i]) * static_cast<double>(gradient[i]);
      EXPECT_NEAR(share * unit, shares[position].get<double>(), 1e-4) << measured[0] << " " << position;
    }
  }
}

TEST(Trace, IsOfEditedRuns) {
  const SecondModelFolder second;
  const Words hook{"--prompt", kPrompt, "--hooks", "blocks.2.attn.hook_z"}, other{second.path().string()};
  EXPECT_EQ(Trace(hook + Words{"--second-model"} + other + Words{"--edit", "L2.z<-second"})
                .values("blocks.2.attn.hook_z"),
            Trace(hook + Words{"--model"} + other).values("blocks.2.attn.hook_z"));
  const Trace kl(hook + Words{"--gradients", "kl", "--edit", "L2H1.z=0"});
  EXPECT_EQ(kl.header["__metadata__"]["edits"], "L2H1.z=0");
  EXPECT_EQ(kl.header["__metadata__"]["gradient_metric"], "KL(baseline || run) after position 5, nats");
}

// ---- what there is ----

TEST(Info, HasTheConfigurationParametersAndWarnings) {
  const TemporaryFolder folder;
  write_model_with_warnings(folder);
  const Words info{"info", "--model", folder.path().string()};
  EXPECT_THAT(run_command(info).out,
              AllOf(::testing::ContainsRegex("Warning: [^\n]*h\\.7\\.ln_1\\.weight"),
                    ::testing::ContainsRegex("n_layer +2\n"), HasSubstr("wte.weight")));
  const Json json = Json::parse(run_command(info + Words{"--json"}).out);
  EXPECT_THAT(json["warnings"], SizeIs(4));
  EXPECT_EQ(json["config"]["n_head"], 2);
  std::int64_t count = 0;
  for (const Json& parameter : json["parameters"]) count += parameter["count"].get<std::int64_t>();
  EXPECT_EQ(json["parameter_count"], count);
}

TEST(Views, AreListedWithTheirOptions) {
  const Json all = answer_of({"views"})["views"];
  ASSERT_EQ(all.size(), views().size());
  const std::string text = succeed({"views"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["id"], views()[i].id);
    EXPECT_THAT(text, HasSubstr(std::string(views()[i].id) + " "));
    auto written = all[i]["options"].begin();
    for (const OptionSpec* option : views()[i].options) {
      if (option->pane_only) continue;
      ASSERT_NE(written, all[i]["options"].end()) << option->name;
      EXPECT_EQ((*written)["name"], option->name);
      EXPECT_EQ(parse_option(*option, (*written)["default"].get<std::string>()), option->default_value);
      EXPECT_EQ(written->value("most", option->high), option->high);
      ++written;
    }
    EXPECT_EQ(written, all[i]["options"].end());
  }
}

TEST(Doctor, SaysWhatItFound) {
  const Json answer = Json::parse(run_command({"doctor", "--json"}).out);
  std::set<std::string> parts;
  for (const Json& finding : answer["findings"]) {
    parts.insert(finding["part"]);
    EXPECT_EQ(finding["state"] == "ok", finding["remedy"] == "") << finding;
  }
  EXPECT_THAT(parts, UnorderedElementsAre("program", "computing", "window", "fonts", "models", "desktop"));
  EXPECT_THAT(run_command({"doctor"}).out, HasSubstr("ok       version"));
}

}  // namespace
}  // namespace headscope::app::commands_test
