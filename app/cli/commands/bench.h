#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"

namespace headscope::app {

struct BenchCommand : Arguments {
  std::vector<int> tokens;   ///< prompt lengths; empty: the default ones that fit the context
  bool materialize = false;  ///< also measure passes that return every head's pattern
  bool ui = false;           ///< also measure the window
};

/// Times in seconds for one prompt length: of one round, or medians over all rounds.
struct PassTiming {
  int tokens = 0;
  int repetitions = 1;
  double pass = 0;         ///< the whole prompt, no logits
  double all_logits = 0;   ///< the whole prompt and the logits at every position
  double last_logits = 0;  ///< the whole prompt and the logits after it
  double next_token = 0;   ///< one more token and the logits after it, reusing everything before it
  double gradients = 0;    ///< gradients of a token's log probability at every activation, after the pass
  std::optional<double> all_patterns;  ///< the whole prompt and the pattern of every head
  std::optional<double>
      patterns_and_logits;  ///< the whole prompt, every pattern and the logits at every position
};

/// Measures for 1.5 seconds. With `materialize`, memory for the patterns, [n_layer * n_head, tokens, tokens],
/// is allocated before timing starts.
PassTiming measure_passes(Engine& engine, int tokens, bool materialize);

/// Runs once everything that is measured, except the patterns and the gradients.
void warm_up_passes(Engine& engine, int tokens);

/// Times in seconds of opening a view once, after the views before it in tab order.
struct ViewTiming {
  std::string id;
  double first = 0;  ///< until the window shows it or that it is being computed
  double whole = 0;  ///< until all of it is shown
  double frame = 0;  ///< a frame after that
};

/// Response times in seconds, medians: from an action until the whole window is drawn with all its answers,
/// up to the triangles for the graphics card.
struct WindowTiming {
  int tokens = 0;
  double append_letter = 0;          ///< a letter typed at the end
  double append_letter_longest = 0;  ///< the slowest such letter
  double replace_first_letter = 0;   ///< the first letter replaced, so that everything is recomputed
  double select_head = 0;            ///< another head of the same prompt
  double head_off = 0;               ///< a head switched off
  double settled_frame = 0;          ///< a frame while nothing is pending
  std::vector<ViewTiming> views = {};
};

/// Measures an offscreen window of 1600 x 1000 pixels, with prompts of about these lengths. Throws
/// std::runtime_error with the window's message if something fails.
std::vector<WindowTiming> measure_window(const LoadedModel& model, const ModelArguments& arguments,
                                         const std::vector<int>& lengths);

/// The results of `headscope bench`.
struct BenchReport {
  std::string model;
  model::Precision precision = model::Precision::f32;
  std::int64_t parameters = 0;
  int threads = 0;
  std::string kernels;  ///< the processor features that the inner loops use
  std::vector<PassTiming> rows;
  std::vector<WindowTiming> window;  ///< empty if not measured
  double peak_memory =
      0;  ///< bytes: of passes without materialized patterns; with the window, of the whole program
};

/// Runs the benchmarks of the command. `after_row` is called after the passes of each length. Throws
/// model::RunError for lengths beyond n_ctx.
BenchReport measure_bench(const BenchCommand& command, Engine& engine,
                          const std::function<void(const PassTiming&)>& after_row = {});

/// As JSON, without keys whose value was not measured.
nlohmann::ordered_json bench_json(const BenchReport& report);

/// As tables of at most 80 columns.
std::string bench_text(const BenchReport& report);

}  // namespace headscope::app
