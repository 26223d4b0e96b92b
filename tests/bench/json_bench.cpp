// Reading JSON: the time for a list of N objects, as tokenizers have them, and the bytes in a second, which
// stay about the same however many there are.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/files/json.h"

namespace headscope::model {
namespace {

void json_of_objects(benchmark::State& state) {
  std::string text = "[";
  for (int i = 0; i < state.range(0); ++i)
    text += (i == 0 ? "" : ",") + (R"({"id":)" + std::to_string(i)) + R"(,"content":"<x>"})";
  text += ']';
  for (auto _ : state) benchmark::DoNotOptimize(parse_json(text, "text"));
  state.SetBytesProcessed(state.iterations() * std::ssize(text));
}

BENCHMARK(json_of_objects)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("N")
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000);

}  // namespace
}  // namespace headscope::model
