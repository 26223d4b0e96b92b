// Reading JSON: the time for an object of N objects, as the header of a safetensors file has them, and for
// each byte, which stays the same however many there are.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/files/json.h"

namespace headscope::model {
namespace {

void json_of_objects(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < state.range(0); ++i)
    text += (i == 0 ? "{" : ",") + ("\"h." + std::to_string(i)) +
            R"(.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  text += '}';
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
