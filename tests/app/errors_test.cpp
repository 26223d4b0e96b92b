// Every error that a command line can cause is one sentence that names what is wrong.
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/variables.h"

namespace headscope::app::errors_test {
namespace {

using namespace headscope::testing;

/// ARGUMENTS => NAMED [& NAMED]: a line each; 'what has blanks' is one argument.
constexpr const char* kWrong[] = {
    // Commands and their options.
    "dance => dance",
    "--nonsense => --nonsense",
    "views extra => extra",
    "predict => --prompt",
    "predict --prompt => --prompt",
    "predict --prompt x --promt y => --promt",
    "predict --prompt x --top many => --top & many",
    "predict --prompt x --top 0 => --top",
    "predict --prompt x --ids 1 => --prompt & --ids",
    "predict --prompt x --precision f64 => --precision & f64",
    "generate --prompt x --temperature nan => --temperature & nan",
    "generate --prompt x --json --echo => --echo",
    "serve => --stdio",
    "get => get",
    "get ../x => ../x",
    "info --get => --get & --model",
    "info '' => FILE is empty",
    "views --format '' => --format is empty",
    "predict --prompt x --edit '' => --edit is empty",
    "shot --tour '' --out a.png => --tour is empty",
    "plot query --prompt x --strongest-first '' --out a.png => --strongest-first is empty",
    "predict --prompt x -- --json => --json",
    "a.safetensors --attention b.safetensors => attention patterns",
    "--second-attention b.safetensors => --attention",
    "a.txt --over b.txt => one list of prompts",
    // Models and prompts.
    "info --model nowhere => nowhere",
    "predict --prompt x --model '' => --model",
    "predict --prompt-file nowhere => nowhere",
    "predict --prompts nowhere => nowhere",
    "tokens --ids 1,x => --ids & x",
    "tokens --ids 99999 => 99999",
    "predict --ids 3,-1 => -1",
    "predict --prompts x --shard 2/2 => --shard",
    "predict --prompt x --shard 0/2 => --shard & --prompts",
    // Edits.
    "predict --prompt a --edit nonsense => nonsense",
    "predict --prompt a --edit L1.z=0 L0.z=0 => unexpected & L0.z=0",
    "predict --prompt a --edit [L1.z=0,L0.z=0] => [L1.z=0,L0.z=0]",
    "predict --prompt a --edit L9.z=0 => layer 9",
    "predict --prompt a --edit L1H99.z=0 => 99",
    "predict --prompt a --edit L1.z=median => median",
    "predict --prompt a --edits nowhere.json => nowhere.json",
    "predict --prompt a --edit L2.z<-second => second model",
    "predict --prompt a --mean-over l.txt => --mean-over",
    "circuit --prompt 'a b' --align token => --align & --second",
    "metrics --repeated 10,2 --edit mask=none => --repeated",
    // Measured tokens and positions.
    "attribute --prompt 'a b' --token '' => --token",
    "attribute --prompt 'a b' --token 4 => text:4 & id:4 & rank:4",
    "attribute --prompt 'a b' --token 'the the' => --token",
    "attribute --prompt 'a b' --token id:4096 => 4096",
    "attribute --prompt 'a b' --position 9 => position 9",
    "attribute --prompt 'a b' --sources 0.99 => head 99",
    "attribute --prompt a --metric logit --other-token b => --other-token & --metric difference",
    "lens --prompt a --position 9 => position 9",
    "lens --prompt a --out a.csv => --mean",
    "lens --merge a.json --prompt x => --merge & --prompt",
    "score --prompt 'a b' --query 0 --key 1 => key 1",
    "score --prompt a --layer 9 => layer 9",
    "composition --kind x => --kind & x",
    "saliency --prompt a --method x => --method & x",
    "saliency --prompt a --metric kl => --metric & kl",
    "saliency --prompt a --baseline mean => --baseline & --method integrated",
    "saliency --prompt a --steps 8 => --steps & --method integrated",
    "saliency --prompt a --metric loss --position 0 => --metric loss & --position",
    "saliency --prompt a --metric loss => 1 token",
    "saliency --prompt a --metric logit --other-token b => --other-token & --metric difference",
    "saliency --prompt a --metric loss --token b => --metric loss & --token",
    "saliency --prompt 'a b' --token 'a b' => --token",
    "circuit --prompt 'a b' --method x => --method & x",
    "circuit --prompt 'a b' --edges 0 => --edges",
    "circuit --prompt 'a b' --steps 3 --method flow => --steps & --method integrated",
    "circuit --prompt 'a b' --second 'c d' --ablate mean => --ablate & --second",
    "circuit --prompt 'a b' --metric loss --token a => --metric loss",
    "circuit --prompt 'a b' --second 'a b c' => --second",
    "circuit --prompt 'a b' --edit L1H1.z=0 => edits",
    "circuit --prompt 'a b' --metric logit --other-token a => --other-token & --metric difference",
    "circuit --prompt 'a b' --metric loss --position 0 => --metric loss & --position",
    "circuit --prompt 'a b' --position 99 => position 99",
    "circuit --prompt 'a b' --token id:4096 => 4096",
    // Sweeps.
    "sweep --prompt a --metric x => --metric & x",
    "sweep --prompt a --sweep-over x => --sweep-over & x",
    "sweep --prompt a --ablate x => --ablate & x",
    "sweep --prompt a --site x => --site & x",
    "sweep --prompt a --site mlp_out => mlp_out",
    "sweep --prompt a --sweep-over layer-position --site pattern => pattern",
    "sweep --prompt a --site pattern --ablate mean => patterns",
    "sweep --prompt a --ablate mean --second b => --ablate & --second",
    "sweep --prompt a --mean-over l.txt => --mean-over & --ablate mean",
    "sweep --prompt a --metric kl --token b => --metric kl & --token",
    "sweep --prompt a --metric kl --other-token b => --metric kl & --other-token",
    "sweep --prompt a --receiver L3H2.k => --receiver & --sweep-over senders",
    "sweep --prompt a --sweep-over senders --receiver L3H2 => L3H2",
    "sweep --prompt a --sweep-over senders --receiver L3H2.z => q, k, v",
    "sweep --prompt a --sweep-over senders --receiver L9H2.q => layer 9",
    "sweep --prompt a --sweep-over senders --receiver L0H2.q => layer 0",
    "sweep --prompt a --sweep-over senders --site z => --site",
    "sweep --prompt a --sweep-over senders --estimates also => --estimates & --sweep-over senders",
    "sweep --prompt a --restored => --restored",
    "sweep --prompt a --align token => --align & --second",
    "sweep --prompt a --token '' => --token",
    "sweep --prompt a --top 5 => --top",
    "sweep --prompt a --estimates x => --estimates & x",
    "sweep --prompt a --estimates also --metric kl => --estimates",
    "sweep --prompt a --estimates only --out a.png => --estimates only",
    "sweep --prompt a --metric probability --other-token b => --other-token & --metric difference",
    "sweep --prompt a --sweep-over neurons --site z => --site",
    "sweep --prompt a --sweep-over neurons --metric kl => neurons",
    "sweep --prompt a --sweep-over senders --receiver L3H2.q[3] => positions",
    "sweep --prompt a --mean => --mean & --prompts",
    "sweep --prompts x --mean --out a.png => means",
    "sweep --merge a.json --metric kl => --merge & --metric",
    "metrics --prompt a --sort x => --sort & x",
    "search --prompt a --heads 9.9 => 9",
    // Traces.
    "trace --prompt x => --out",
    "trace --prompt x --out a.safetensors --hooks blocks.9.* => blocks.9.*",
    "trace --prompt x --out a.safetensors --position 3 => --position & --gradients",
    "trace --prompt x --out a.safetensors --gradients entropy => --gradients & entropy",
    "trace --prompt x --out a.safetensors --gradients logit:7 => --gradients & logit:7",
    "trace --prompt x --out a.safetensors --gradients logit --other-token a => --gradients difference",
    "trace --prompt x --out a.safetensors --gradients loss --token a => --gradients loss & --token",
    "trace --prompt x --out a.safetensors --token a => --token & --gradients",
    "trace --prompt x --out a.safetensors --gradients kl => kl",
    "trace --prompt x --out a.safetensors --gradients logit --second y => --second & kl",
    "trace --prompt x --out a.safetensors --gradients kl --edit L0.z=0 --align token => --align & --second",
    "trace --prompt 'x y' --out a.safetensors --gradients kl --second x => counterpart & --align",
    "trace --prompt x --out a.safetensors --gradients loss => 1 token",
    "trace --prompt 'x y' --out a.safetensors --gradients logit --token id:7 --position 500 => position 500",
    // Pictures.
    "plot --prompt x --out a.png => view",
    "plot heatmap --prompt x --align token --out a.png => --align & --second",
    "shot --prompt x --align token --out a.png => --align & --second",
    "plot sunburst --prompt x --out a.png => sunburst",
    "plot heatmap --prompt x => --out",
    "plot heatmap --prompt x --out a.jpg => a.jpg",
    "plot heatmap --prompt x --out - => --format",
    "plot heatmap --prompt x --out a.png --format png => --format & --out -",
    "plot heatmap --prompt x --out a.png --size 0x0 => --size",
    "plot heatmap --prompt x --out a.png --size 30000x30000 --scale 16 => pixels",
    "plot heatmap --prompt x --out a.png --size 100x80 => heatmap & 100x80",
    "plot heatmap --prompt x --out a.png --layer 9 => layer 9 & --layer",
    "plot heatmap --prompt x --out a.png --head 99 => head 99 & --head",
    "plot heatmap --prompt x --out a.png --query 2147483647 => 2147483647 & --query",
    "plot heatmap --prompt 'a b c' --out a.png --query 1 --key 2 => key 2 & --key",
    "plot heatmap --prompt x --out a.png --arrangement arcs => --arrangement",
    "plot heatmap --prompt x --out a.png --value-scale cubic => --value-scale & cubic",
    "plot heatmap --prompt x --out a.png --show difference => --show",
    "plot heatmap --prompt x --out a.png --theme red => --theme & red",
    "plot heatmap --prompt x --over l.txt --out a.png => --over",
    "plot heatmap --prompts x --mean --out a.png => --mean",
    "plot search --prompt a --over nowhere.txt --out a.png => nowhere.txt",
    "plot sweep --prompt a --mean --out a.png => --mean & --prompts",
    "plot sweep --prompt a --sweep-change list-mean --out a.png => --over",
    "plot heatmap --attention nowhere --out a.png => nowhere",
    "plot --recipe nowhere --out a.png => nowhere",
    "plot heatmap --prompt x --out nowhere/a.png => nowhere",
    "shot --prompt x --size 300x200 --out a.png => 300x200",
    "shot --prompt x --second-attention nowhere --out a.png => --second-attention & --attention",
    "shot --prompt x --view heatmap --strips yes --out a.png => --strips is an option of query & not shown",
    "shot --prompt x --view saliency --steps 8 --out a.png => --steps has no effect with",
    "shot --tour nowhere --out a.png => nowhere",
    "shot --tour 2-attention --show baseline --out a.png => --tour & --show",
    "shot --prompt x --stop 2 --out a.png => --stop & --tour",
    // Answers in files.
    "predict --prompt x --out a.gif => a.gif",
    "predict --prompt x --out a.txt --json => txt & --json",
    "predict --prompt x --out - => --out - & --format",
    "predict --prompt x --format json => --format & --out -",
    "predict --prompts - --out a{n}.json => {n}",
    "predict --prompt x --out nowhere/a.json => nowhere",
};

struct Case {
  Words arguments, named;
};

Words split(std::string_view text, std::string_view separator) {
  Words parts;
  for (std::size_t end = 0; end != text.npos;
       text.remove_prefix(end == text.npos ? 0 : end + separator.size())) {
    end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
  }
  return parts;
}

Case case_of(std::string_view line) {
  const Words halves = split(line, " => ");
  Case read{{}, split(halves.at(1), " & ")};
  const Words quoted = split(halves[0], "'");  // every other part was in quotes
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (i % 2 == 1) read.arguments.push_back(quoted[i]);
    if (i % 2 == 0)
      for (const std::string& word : split(quoted[i], " "))
        if (!word.empty()) read.arguments.push_back(word);
  }
  return read;
}

TEST(Errors, AreOneSentenceThatNamesWhatIsWrong) {
  for (const char* line : kWrong) {
    SCOPED_TRACE(line);
    const auto [arguments, named] = case_of(line);
    const Ran ran = run_command(arguments);
    EXPECT_TRUE(ran.status == 1 || ran.status == 2) << ran.status;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("headscope: "), EndsWith("\n")));
    EXPECT_LT(ran.err.size(), 600U);
    EXPECT_EQ(std::ranges::count_if(ran.err, [](char c) { return static_cast<unsigned char>(c) < 0x20; }), 1);
    for (const std::string& name : named) EXPECT_THAT(ran.err, HasSubstr(name));
  }
}

TEST(Errors, AFolderWithoutAModelThatShadowsOneSaysSo) {
  const TemporaryFolder here, cache;
  std::filesystem::create_directory(here.path() / "gpt2");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  set_variable("HF_HUB_CACHE", cache.path().string());
  EXPECT_THAT(fail({"info", "--model", "gpt2"}), HasSubstr("run headscope get gpt2"));
  const auto model =
      cache.write("models--openai-community--gpt2/snapshots/1/config.json", R"({"model_type":"gpt2"})");
  EXPECT_THAT(fail({"info", "--model", "gpt2"}), HasSubstr(model.parent_path().string()));
  unset_variable("HF_HUB_CACHE");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headscope::app::errors_test
