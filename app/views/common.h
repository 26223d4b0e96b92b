#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/attention_questions.h"
#include "app/run/attribution.h"
#include "app/run/next_token.h"
#include "app/views/matrix_zoom.h"
#include "app/views/view.h"
#include "app/views/weight_colors.h"
#include "viz/heatmap.h"
#include "viz/scale.h"

// What the views share. Each view is one file and one row of the table in views.cpp.
namespace headscope::app {

View heatmap_view();
View scores_view();
View qkv_view();
View query_view();
View cell_view();
View softmax_view();
View merge_view();
View lines_view();
View plane_view();
View search_view();
View positions_view();
View head_metrics_view();
View position_cosines_view();
View staircase_view();
View position_shift_view();
View heads_view();
View tokens_view();
View next_view();
View predictions_view();
View lens_view();
View attribution_view();
View sweep_view();
View sampling_view();
View tree_view();
View cache_view();
View embedding_view();
View tokenization_view();
View parameters_view();
View way_view();
View mlp_view();
View circuits_view();

viz::Style style_of(const ViewContext& context);
/// Room between a picture's edge and what is in it.
float margin(const ViewContext& context);

/// Nothing yet, at the context's size.
Picture blank(const ViewContext& context);
/// Some words in the middle of it, in place of a figure.
Picture message(const ViewContext& context, std::string_view words);

/// The pattern of the selected head; null while it is not there yet.
std::shared_ptr<const Pattern> current_pattern(const ViewContext& context);
std::shared_ptr<const Stages> current_stages(const ViewContext& context);
std::shared_ptr<const NextToken> current_next(const ViewContext& context);
/// What the run that is compared with makes of the same place; null: there is none, or nothing is known yet.
std::shared_ptr<const NextToken> compared_next(const ViewContext& context);
/// The guess of a rank (0: the most probable) after the selected query. Where something is compared, by its
/// id, the same one on all sides: a guess of the original, or of the first of two prompts. Nothing while that
/// is not known.
std::optional<TokenChoice> guess_of_rank(const ViewContext& context, int rank);
/// The selected query in what the run is compared with; -1: nothing stands for it.
int compared_query(const ViewContext& context);
/// What a picture of changes says where nothing stands for a position, or for the selected query.
Picture no_counterpart(const ViewContext& context, int position);
Picture no_counterpart(const ViewContext& context);
/// A pattern's weights of the selected query, up to the last key that it sees and itself; empty of null.
std::span<const float> weights_of_query(const ViewContext& context, const Pattern* pattern);

/// Why there is no picture: no run, work under way, or the sentence of what failed. `answer` is what the
/// context said to the question. Null when there is a run and the answer.
std::optional<Picture> waiting(const ViewContext& context, const Question& question, bool answered);
std::optional<Picture> waiting(const ViewContext& context);  ///< where nothing but a run is needed

/// The picture inside its margins, under a title.
viz::Rect below_title(const ViewContext& context);
/// Title and, as far as it fits beside it, a muted subtitle; returns what is below them.
viz::Rect paint_title(Picture& picture, const ViewContext& context, std::string_view title,
                      std::string_view subtitle);

/// The context's list of prompts, which there is, as questions about it take it: with the start token where
/// the prompt has it.
OverPrompts over_list(const ViewContext& context);
/// What a picture of many prompts says where there are none.
Picture no_list(const ViewContext& context);
/// "120 prompts of “names.jsonl”", while it is computed and where some are left out how many.
std::string list_words(const ViewContext& context, const ListProgress& progress);
/// The same where only the first ones are looked at.
std::string list_words(const ViewContext& context, const ListProgress& progress, std::size_t of_first);
/// Whether one of them is the prompt that is shown.
bool is_shown_prompt(const ViewContext& context, std::size_t index);
/// The action that shows one of them, and a place in it.
ShowPrompt show_prompt(const ViewContext& context, std::size_t index, const Selection& selection);

/// "second prompt", "second model", "second file": what a run of two is compared with, by what tells them
/// apart first.
std::string second_name(const PromptRun& run);
/// The same where both are others: "second prompt in the second model".
std::string second_words(const PromptRun& run);
/// "nothing in the second prompt stands for it".
std::string no_counterpart_words(const ViewContext& context);
/// "changed − original", "first − second prompt".
std::string change_words(const ViewContext& context);
/// What the side of changes shows: a "change", or of two prompts or models, of which none became the other, a
/// "difference".
const char* change_name(const ViewContext& context);
/// That stands behind titles on the side of changes: ": what changed", ": what differs". Else nothing.
const char* what_changed(const ViewContext& context);
/// What stands before the name of a number there: "change of ", "difference of ". Else nothing.
const char* change_of(const ViewContext& context);
std::string head_name(int layer, int head);                        ///< "L5 H1"
std::string token_name(const PromptTokens& tokens, int position);  ///< "8 “·it”"
std::string label_of(const ViewContext& context, int id);  ///< "·it"; "#50300" for an id without a token
std::string exact(float value);  ///< shortest text that reads back as this float; real minus sign, −∞
std::string exact(double value);
std::string plain(float value);  ///< the same in ASCII, for files
std::string plain(double value);
std::string percent(double fraction);                              ///< "41.2 %", "0.031 %"
std::string grouped(std::int64_t n);                               ///< "50,247"
std::string bytes_as_hex(std::string_view bytes);                  ///< "20 69 74"
std::string scale_factor(const model::Config& config, int layer);  ///< what scores are multiplied by: "1/√64"

/// What a key means where the prompt runs from left to right: left and right, Home and End choose the query,
/// left and right with Shift the key. Nothing for other gestures.
ViewActions keys_along_prompt(const ViewContext& context, const Gesture& gesture);
/// The key so many positions further, among those that the query sees; with none chosen, the one at the end
/// that the way leads from.
ViewActions move_key(const ViewContext& context, int by);
/// Whether the query may have weight on the key in the selected head.
bool may_see(const ViewContext& context, int query, int key);
/// "this key comes after the query", or that interventions hide it.
std::string why_masked(int query, int key);
/// A click on a key: chooses it, or takes the choice back.
SelectKey clicked_key(const ViewContext& context, int position);

// Lines of menus.
/// "Copy −0.4123", all digits of it; "Copy score −0.4123" where there are several.
MenuLine copy_value(float value, std::string_view name = "");
/// "Query 8 “·it”".
MenuLine choose_query(const ViewContext& context, int position, std::string_view words = "Query");
/// "Key 1 “·robot”", or the way back from it; nothing where the query `of` does not see it.
void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& context, int position, int of);
/// Its text and its id.
void add_copies_of_token(std::vector<MenuLine>& menu, const ViewContext& context, int id,
                         std::string_view label);

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised = -1);
/// Of the tokens that queries take from, the selected key emphasised.
viz::AxisLabels key_axis(const ViewContext& context);

}  // namespace headscope::app
