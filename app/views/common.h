#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view.h"
#include "viz/heatmap.h"
#include "viz/scale.h"

// What the views share. Each view is one file and one row of the table in views.cpp.
namespace headscope::app {

View heatmap_view();
View scores_view();
View query_view();
View positions_view();
View heads_view();
View tokens_view();
View next_view();

/// Options by name, for a view's row: see options.cpp. Asserts that there is one of that name.
OptionSpec option(std::string_view name);

viz::Style style_of(const ViewContext& context);
/// Room between a picture's edge and what is in it.
float margin(const ViewContext& context);

/// Nothing yet, at the context's size.
Picture blank(const ViewContext& context);
/// Some words in the middle of it.
Picture message(const ViewContext& context, std::string_view words);

/// The head's data if it is the selected head's and belongs to the run; null while it is not there yet.
const HeadData* current_head(const ViewContext& context);
const HeadData* current_stages(const ViewContext& context);  ///< null, too, where there is the pattern alone
const Statistics* current_statistics(const ViewContext& context);
const NextToken* current_next(const ViewContext& context);
/// The weights of the selected query, [query + 1]; empty while the head is not there yet.
std::span<const float> current_weights(const ViewContext& context);

/// Why there is no picture: no run, or work under way. Null when there is all that `needed` asks for.
std::optional<Picture> waiting(const ViewContext& context, bool needed);

/// Title and, as far as it fits beside it, a muted subtitle; returns the rest of the picture inside the
/// margins.
viz::Rect paint_title(Picture& picture, const ViewContext& context, std::string_view title,
                      std::string_view subtitle);

std::string head_name(int layer, int head);                        ///< "L5 H1"
std::string token_name(const PromptTokens& tokens, int position);  ///< "8 “·it”"
std::string exact(float value);  ///< shortest text that reads back as this float; real minus sign, −∞
std::string plain(float value);  ///< the same in ASCII, for files
std::string plain(double value);
std::string percent(double fraction);                              ///< "41.2 %", "0.031 %"
std::string grouped(std::int64_t n);                               ///< "50,247"
std::string bytes_as_hex(std::string_view bytes);                  ///< "20 69 74"
std::string scale_factor(const model::Config& config, int layer);  ///< what scores are multiplied by: "1/√64"

enum class Stage { scores, scaled, masked, pattern };
inline constexpr int kStages = 4;
viz::Matrix stage_matrix(const HeadData& head, Stage stage);
float stage_value(const HeadData& head, Stage stage, int query, int key);

/// The scale of weights that lie in `range`, as the options say; of parts of a row's largest where they say
/// per_row.
viz::ColorScale weight_scale(const viz::ValueRange& range, const ViewOptions& options);

/// How a pattern is coloured, as the options say. `row_factors` keeps what the cells refer to.
struct PatternScale {
  viz::ColorScale scale;
  std::vector<float> row_factors;
  int outside_column = -1;
  std::string title;
};
PatternScale pattern_scale(const viz::Matrix& pattern, const ViewOptions& options, std::string_view quantity);

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised = -1);

viz::ShownCells shown_cells(const Zoom& zoom);

}  // namespace headscope::app
