#pragma once
// Every kind of edit at every site of a small model.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/pass/transformer.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model {

constexpr int kLayers = 3, kHeads = 3, kWidth = 12, kVocabulary = 90, kLayer = 1;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline testing::Gpt2Shape shape_for_edits() {
  return {.layers = kLayers, .heads = kHeads, .width = kWidth, .positions = 200, .vocabulary = kVocabulary};
}

inline std::vector<int> tokens_of(int length, int seed = 0, int vocabulary = kVocabulary) {
  std::vector<int> ids;
  for (int i = 0; i < length; ++i) ids.push_back((i * i * 31 + i * (7 + seed) + seed) % vocabulary);
  return ids;
}

/// A model, its float64 reference, and a workspace.
template <class Reference>
class ModelFixture : public ::testing::Test {
 protected:
  template <class Write>
  static void load(const Write& write) {
    folder_ = std::make_unique<testing::TemporaryFolder>();
    write(*folder_);
    transformer_ = Transformer::load(folder_->path());
    reference_ = std::make_unique<Reference>(folder_->path());
  }
  static void TearDownTestSuite() {
    transformer_.reset();
    reference_.reset();
    folder_.reset();
  }

  /// `ids`: of the run that is edited; needed for patches from runs of the same tokens.
  std::shared_ptr<const Plan> plan(const Edits& edits, std::span<const int> ids = {}) {
    return transformer_->plan(edits, workspace_, {}, {nullptr, ids});
  }
  std::shared_ptr<const model::Run> run(std::span<const int> ids,
                                        const std::shared_ptr<const Plan>& plan = nullptr,
                                        const model::Run* base = nullptr, const model::Run* clean = nullptr,
                                        int chunk = 128) {
    ForwardOptions options;
    options.plan = plan;
    options.base = base;
    options.clean = clean;
    options.chunk = chunk;
    return transformer_->forward(ids, workspace_, options);
  }

  Workspace workspace_{2};
  static inline std::unique_ptr<testing::TemporaryFolder> folder_;
  static inline std::shared_ptr<const Transformer> transformer_;
  static inline std::unique_ptr<Reference> reference_;
};

class SmallModel : public ModelFixture<testing::ReferenceGpt2> {
 protected:
  static void SetUpTestSuite() { load_shape(shape_for_edits()); }
  static void load_shape(const testing::Gpt2Shape& shape) {
    load([&](const testing::TemporaryFolder& folder) {
      write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
    });
  }
};

/// A kind of edit at one point, in layer kLayer if it is in a block.
struct EditCase {
  const char* kind;
  HookPoint point;
};

inline std::string name_of(const ::testing::TestParamInfo<EditCase>& info) {
  std::string name = hook_name(info.param.point) + "_" + info.param.kind;
  std::ranges::replace(name, '.', '_');
  return name;
}

inline std::vector<EditCase> edit_cases() {
  std::vector<EditCase> all;
  Config config;
  config.n_layer = kLayers;
  config.n_head = kHeads;
  for (const HookPoint point : all_hook_points(config)) {
    if (in_block(point.site) && point.layer != kLayer) continue;
    for (const char* kind : {"set", "set_vector", "set_heads", "mean", "scale", "add", "add_heads", "patch",
                             "patch_other", "cells", "column", "renormalised"}) {
      const std::string_view name = kind;
      const bool cells = has_cells(point.site);
      if (name == "mean" && (cells || point.site == Site::logits)) continue;
      if (name == "set_vector" && cells) continue;
      if (name.ends_with("_heads") && (cells || !has_heads(point.site))) continue;
      if ((name == "cells" || name == "column") && !cells) continue;
      if (name == "renormalised" && point.site != Site::pattern) continue;
      all.push_back({kind, point});
    }
  }
  return all;
}

/// An equivalent list of edits, for runs of at least 8 positions.
inline Edits edits_from(const EditCase& what, const Config& config) {
  const auto& [kind, point] = what;
  const std::string_view name = kind;
  const bool cells = has_cells(point.site), scale = unit_count(config, point.site) == 1;
  std::optional<int> head;
  if (has_heads(point.site)) head = 1;
  const EditSite at{point, head, {2, 5}, cells || scale ? std::vector<int>{} : std::vector<int>{3, 0}};
  const EditSite all{point, head, {}, {}};
  if (name == "set") return {SetValues{at, {0.75F}}};
  if (name == "set_vector")
    return {SetValues{at, scale ? std::vector<float>{1.5F} : std::vector<float>{0.5F, -2}}};
  const auto of_heads = [](int units) {
    std::vector<float> values;
    for (int i = 0; i < kHeads * units; ++i)
      values.push_back(0.25F * static_cast<float>(i % 11) - static_cast<float>(i % 3));
    return values;
  };
  if (name == "set_heads") return {SetValues{{point, {}, {2, 5}, {3, 0}}, of_heads(2)}};
  if (name == "add_heads")
    return {AddVector{{point, {}, {}, {}}, of_heads(unit_count(config, point.site)), 0.5F}};
  if (name == "mean") return {SetMean{{point, head, {1, 3, 6}, {}}}};
  if (name == "scale") return {ScaleValues{all, 1.75F}};
  if (name == "add") return {AddVector{{point, head, {4}, at.units}, {0.25F}, 3}};
  if (name == "patch") return {PatchFrom{all, tokens_of(5, 3), {}}};
  if (name == "patch_other") return {PatchFrom{{point, head, {6, 3}, {}}, tokens_of(7, 2), {5, 1}}};
  const bool scores = point.site == Site::attn_scores;
  if (name == "column")
    return {SetCells{point, head, {{CellValue::kAllQueries, 3, 0.25F}, {5, 3, 0.5F}}, !scores}};
  return {SetCells{
      point, head, {{5, 2, 0.5F}, {5, 3, scores ? -kInfinity : 0.25F}, {6, 6, 0}}, name == "renormalised"}};
}

/// A mask in which some queries see what comes later, and do not see all that comes before.
inline std::vector<std::vector<bool>> some_mask() {
  std::vector<std::vector<bool>> sees(6, std::vector<bool>(6));
  for (std::size_t query = 0; query < 6; ++query)
    for (std::size_t key = 0; key < 6; ++key)
      sees[query][key] = (query * 5 + key * 3) % 4 == 0 || key == query;
  return sees;
}

/// Edits that belong together, and the length of a run that they are made in.
struct EditList {
  const char* name;
  Edits edits;
  int length = 9;
};

/// Masks, positions, cells of the future, columns, and lists whose order matters.
inline std::vector<EditList> edit_lists() {
  const std::vector<std::vector<bool>> sees = some_mask();
  std::vector<std::vector<bool>> causal = sees;
  for (std::size_t query = 0; query < 6; ++query)
    for (std::size_t key = query + 1; key < 6; ++key) causal[query][key] = false;
  const HookPoint pattern{Site::pattern, 1}, scores{Site::attn_scores, 1};
  const EditSite z{{Site::z, 1}, 0, {}, {}};
  const SetCells first{pattern, 1, {{5, 2, 0.25F}, {7, 1, 0.5F}}, true},
      second{pattern, {}, {{7, 3, 0.125F}}, true};
  const ScaleValues scaled{{pattern, 1, {}, {}}, 0.75F};
  const Edits in_order{ScaleValues{z, 2},
                       AddVector{z, {1}, 0.5F},
                       SetMean{{{Site::z, 1}, 1, {}, {}}},
                       ScaleValues{{{Site::z, 1}, {}, {3}, {}}, -1},
                       SetValues{{{Site::mlp_post, 2}, {}, {}, {17}}, {0}},
                       SetCells{{Site::pattern, 0}, 2, {{4, 1, 0.5F}}, false}};
  return {
      {"no_mask", {SetMask{}}},
      {"no_mask_in_a_layer", {SetMask{1, {}, {}}}},
      {"no_mask_in_a_head", {SetMask{0, 2, {}}}},
      {"no_mask_in_a_long_run", {SetMask{}}, 150},
      {"any_mask", {SetMask{{}, {}, sees}}},
      {"a_heads_mask", {SetMask{2, 1, sees}, ScaleValues{{{Site::attn_scores, 2}, 1, {}, {}}, 2}}},
      {"cells_in_a_mask",
       {SetMask{2, 1, sees}, SetCells{{Site::attn_scores, 2}, 1, {{0, 3, 1}, {2, 1, 0.5F}}, false}}},
      {"a_causal_mask", {SetMask{1, {}, causal}}},
      {"a_hidden_score_times_nothing",
       {SetCells{scores, 2, {{3, 1, -kInfinity}}, false}, ScaleValues{{scores, 2, {}, {}}, 0}}},
      {"a_hidden_score_turned",
       {SetCells{scores, 2, {{3, 1, -kInfinity}}, false}, ScaleValues{{scores, 2, {}, {}}, -2}}},
      {"a_weight_of_the_future", {SetCells{pattern, 0, {{2, 7, 0.5F}}, true}}},
      {"a_score_of_the_future", {SetCells{scores, {}, {{2, 7, 1}}, false}}},
      {"a_pattern_of_the_future", {PatchFrom{{pattern, 2, {1}, {}}, tokens_of(6, 4), {5}}}},
      {"a_column",
       {SetMask{}, SetCells{pattern, 0, {{CellValue::kAllQueries, 2, 0.25F}, {6, 2, 0.5F}}, false}}},
      {"a_renormalised_column",
       {SetMask{1, {}, {}}, SetCells{pattern, 0, {{CellValue::kAllQueries, 4, 0.25F}}, true}}},
      {"other_positions_and_none", {SetPositionIds{{0, 0, -1, 7}}}},
      {"positions_to_the_end", {SetPositionIds{{0, 1, 2, 9, -1}}}},
      {"rows_set_twice", {first, second}},
      {"rows_scaled_between", {first, scaled, second}},
      {"rows_in_another_order", {scaled, second, first}},
      {"rows_set_without_the_rest", {second, first, SetCells{pattern, 1, {{7, 3, 0.5F}}, false}}},
      {"a_list", in_order},
      {"a_list_in_another_order",
       {in_order[3], in_order[2], in_order[1], in_order[0], in_order[4], in_order[5]}},
      {"a_head_in_a_long_run", {ScaleValues{{{Site::z, 1}, 2, {}, {}}, 0}}, 150},
      {"a_unit_in_a_long_run", {SetValues{{{Site::resid_pre, 2}, {}, {100}, {}}, {0.5F}}}, 150},
      {"a_mean_in_a_long_run", {SetMean{{{Site::mlp_out, 0}, {}, {}, {}}}}, 150},
      {"cells_in_a_long_run",
       {SetCells{{Site::attn_scores, 0}, 1, {{130, 3, -kInfinity}, {70, 70, 2}}, false},
        ScaleValues{{pattern, 2, {64, 65}, {}}, 0.5F},
        SetCells{pattern, 0, {{131, 3, 0.25F}, {80, 70, 0.5F}}, true}},
       150},
  };
}

}  // namespace headscope::model
