#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"

namespace headscope::app {

struct BenchCommand : Arguments {
  std::vector<int> tokens;   ///< lengths; empty: the default ones, as far as the context goes
  bool materialize = false;  ///< passes that return every head's pattern, too
  bool ui = false;           ///< the window, too
};

/// Of one length of prompt, in seconds: of one round, or the medians of all.
struct PassTiming {
  int tokens = 0;
  int repetitions = 1;
  double pass = 0;                     ///< the whole prompt, no logits
  double all_logits = 0;               ///< the whole prompt and what the model made of every position
  double last_logits = 0;              ///< the whole prompt and the logits after it
  double next_token = 0;               ///< one more token and the logits after it, everything before it kept
  std::optional<double> all_patterns;  ///< the whole prompt and the pattern of every head
  std::optional<double> patterns_and_logits;  ///< the whole prompt, every pattern, and what all_logits has
};

/// Measures for a second and a half. With `materialize` it takes memory for the patterns, [n_layer * n_head,
/// tokens, tokens], before the clock runs.
PassTiming measure_passes(Engine& engine, int tokens, bool materialize);

/// Does once what is measured, all but the patterns.
void warm_up_passes(Engine& engine, int tokens);

/// Of a view that is opened, once, after those before it in the order of the tabs, in seconds.
struct ViewTiming {
  std::string id;
  double first = 0;  ///< until the window shows it, or that it is being computed
  double whole = 0;  ///< until all of it is there
  double frame = 0;  ///< a frame then
};

/// What a user waits for, in seconds: from an action until the whole window is drawn with all that it asked
/// for, up to the triangles that a graphics card is given. Medians.
struct WindowTiming {
  int tokens = 0;
  double append_letter = 0;          ///< a letter typed at the end
  double append_letter_longest = 0;  ///< the slowest of them
  double replace_first_letter = 0;   ///< the first letter changed: everything is computed again
  double select_head = 0;            ///< another head of the same prompt
  double head_off = 0;               ///< a head switched off
  double settled_frame = 0;          ///< nothing: a frame when everything is there
  std::vector<ViewTiming> views = {};
};

/// Works in a window without a screen, of 1600 x 1000 pixels, with prompts of about these lengths. Throws
/// std::runtime_error with the window's sentence when something fails.
std::vector<WindowTiming> measure_window(const LoadedModel& model, const ModelArguments& arguments,
                                         const std::vector<int>& lengths);

/// What `headscope bench` measured, and of what.
struct BenchReport {
  std::string model;
  model::Precision precision = model::Precision::f32;
  std::int64_t parameters = 0;
  int threads = 0;
  std::string kernels;  ///< the kind of processor that the inner loops are for
  std::vector<PassTiming> rows;
  std::vector<WindowTiming> window;  ///< empty when it was not measured
  double peak_memory = 0;            ///< bytes, of the model's passes without materialized patterns
};

/// Measures what the command asks for. `after_row` runs right after the passes of each length. Throws
/// model::RunError for lengths beyond n_ctx.
BenchReport measure_bench(const BenchCommand& command, Engine& engine,
                          const std::function<void(const PassTiming&)>& after_row = {});

/// Keys whose value was not measured are left out.
nlohmann::ordered_json bench_json(const BenchReport& report);

/// Tables of at most 80 columns.
std::string bench_text(const BenchReport& report);

}  // namespace headscope::app
