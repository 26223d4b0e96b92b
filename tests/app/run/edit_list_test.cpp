// The list of edits that the user works with.
#include "app/run/edits/edit_list.h"
#include "tests/support/matchers.h"

namespace headscope::app::edit_list_test {
namespace {

using model::Site;

constexpr float kHidden = -std::numeric_limits<float>::infinity();

model::EditSite head(int layer, int index) {
  return {{Site::z, layer}, index, {}, {}};
}
model::SetCells cell(int query, int key, float value, Site site = Site::attn_scores) {
  return {{site, 1}, 2, {{query, key, value}}, false};
}

EditList list_of(std::initializer_list<model::Edit> edits) {
  EditList list;
  for (const model::Edit& edit : edits) list = with_edit(std::move(list), edit);
  return list;
}

TEST(EditList, WhatIsSwitchedOffIsNotActive) {
  EditList list = list_of({model::SetValues{head(0, 1), {0}}, model::SetMean{head(2, 0)}});
  EXPECT_EQ(list.active().size(), 2U);
  list.edits[0].on = false;
  EXPECT_THAT(list.active(), ElementsAre(model::Edit(model::SetMean{head(2, 0)})));
}

TEST(EditList, ANewEditReplacesOneThatItMakesMeaningless) {
  const EditList list = list_of({model::SetValues{head(0, 1), {0}}, model::SetValues{head(0, 2), {0}},
                                 model::SetMean{head(0, 1)}, model::ScaleValues{head(0, 2), 0.5F}});
  EXPECT_THAT(list.active(), ElementsAre(model::Edit(model::SetValues{head(0, 2), {0}}),
                                         model::Edit(model::SetMean{head(0, 1)}),
                                         model::Edit(model::ScaleValues{head(0, 2), 0.5F})))
      << "the new one comes last, and what is scaled is still set before";
  EXPECT_EQ(with_edit(list, model::ScaleValues{head(0, 2), 2}).edits.size(), 3U);
  // Steering edits accumulate, unless they have the same vector.
  EXPECT_EQ(
      list_of({model::AddVector{head(0, 1), {1}, 1}, model::AddVector{head(0, 1), {2}, 1}}).edits.size(), 2U);
  EXPECT_EQ(
      list_of({model::AddVector{head(0, 1), {1}, 1}, model::AddVector{head(0, 1), {1}, 3}}).edits.size(), 1U);
  EXPECT_EQ(
      list_of({model::SetMask{}, model::SetMask{3, {}, {}}, model::SetMask{3, {}, {{true}}}}).edits.size(),
      2U);
  EXPECT_EQ(list_of({model::SetPositionIds{{0, 0}}, model::SetPositionIds{{-1}}}).edits.size(), 1U);
}

TEST(EditList, CellsOfAHeadAreOneEdit) {
  EditList list =
      list_of({cell(3, 1, kHidden), cell(4, 0, 2), cell(3, 1, 7), cell(3, 1, 0.5F, Site::pattern)});
  ASSERT_EQ(list.edits.size(), 2U);
  EXPECT_THAT(std::get<model::SetCells>(list.edits[0].edit).cells,
              ElementsAre(model::CellValue{4, 0, 2}, model::CellValue{3, 1, 7}));
  EXPECT_TRUE(has_edit(list, cell(3, 1, 7)));
  EXPECT_FALSE(has_edit(list, cell(3, 1, 8)));
  list = without_edit(list, cell(4, 0, 2));
  EXPECT_THAT(std::get<model::SetCells>(list.edits[0].edit).cells, ElementsAre(model::CellValue{3, 1, 7}));
  EXPECT_EQ(without_edit(list, cell(3, 1, 7)).edits.size(), 1U) << "nothing is left of it";
}

TEST(EditList, AMaskIsEditedCellByCell) {
  const auto sees = [](const EditList& list) {
    return std::get<model::SetMask>(list.edits.front().edit).sees;
  };
  EditList list = with_visibility({}, {1, 2}, 3, 0, 2, true);
  list = with_visibility(list, {1, 2}, 3, 2, 1, false);
  ASSERT_EQ(list.edits.size(), 1U);
  EXPECT_EQ(sees(list),
            (std::vector<std::vector<bool>>{{true, false, true}, {true, true, false}, {true, false, true}}));
  // A longer prompt keeps the edited mask.
  list = with_visibility(list, {1, 2}, 4, 3, 0, false);
  EXPECT_EQ(sees(list)[3], (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(sees(list)[2], (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(with_visibility(list, {0, 0}, 4, 3, 0, false).edits.size(), 2U) << "another head";
  // An edit after which a query would see nothing is ignored.
  const EditList one = with_visibility({}, {0, 0}, 2, 0, 0, false);
  EXPECT_TRUE(one.edits.empty());
  // Starts from a mask that lets every query see every key.
  const EditList open = with_visibility(list_of({model::SetMask{0, 0, {}}}), {0, 0}, 2, 1, 0, false);
  EXPECT_EQ(sees(open), (std::vector<std::vector<bool>>{{true, true}, {false, true}}));
}

TEST(EditList, AMaskThatChangesNothingIsNotMade) {
  EXPECT_TRUE(with_visibility({}, {1, 2}, 3, 2, 1, true).edits.empty()) << "the query sees the key";
  EXPECT_TRUE(with_visibility({}, {1, 2}, 3, 1, 2, false).edits.empty()) << "the key is masked";
  const EditList masked = with_visibility({}, {1, 2}, 3, 2, 1, false);
  EXPECT_TRUE(with_visibility(masked, {1, 2}, 3, 2, 1, true).edits.empty()) << "undone cell by cell";
  // Over a mask of the whole layer a causal one is an edit.
  const EditList layer = list_of({model::SetMask{1, {}, {{true}, {false, true}}}});
  EXPECT_EQ(with_visibility(layer, {1, 2}, 2, 1, 0, true).edits.size(), 2U);
}

TEST(EditList, ARowThatIsScaledToOneHasOneCellSet) {
  const auto all_on = [](int key) { return model::SetCells{{Site::pattern, 1}, 2, {{5, key, 1}}, true}; };
  const EditList list = list_of({all_on(2), all_on(3)});
  ASSERT_EQ(list.edits.size(), 1U);
  EXPECT_THAT(std::get<model::SetCells>(list.edits[0].edit).cells, ElementsAre(model::CellValue{5, 3, 1}));
}

TEST(EditList, AMaskIsEditedOnWhatTheListMakesOfIt) {
  const EditList open = with_visibility(list_of({model::SetMask{}}), {2, 1}, 3, 2, 0, false);
  ASSERT_EQ(open.edits.size(), 2U);
  const auto painted = std::get<model::SetMask>(open.edits.back().edit);
  EXPECT_EQ(painted.sees,
            (std::vector<std::vector<bool>>{{true, true, true}, {true, true, true}, {false, true, true}}));
  // Changed again after a mask for all heads: the new mask starts from that one, and comes last.
  EditList again = with_edit(open, model::SetMask{});
  again = with_visibility(again, {2, 1}, 3, 1, 1, false);
  EXPECT_EQ(std::get<model::SetMask>(again.edits.back().edit).sees,
            (std::vector<std::vector<bool>>{{true, true, true}, {true, false, true}, {true, true, true}}));
}

TEST(EditList, AMaskIsEditedOnThatOfItsOwnHeadOnly) {
  const model::SetMask of_another{1, 2, {{true, true}, {true, true}}};
  const EditList list = with_visibility(list_of({of_another}), {1, 0}, 2, 1, 0, false);
  ASSERT_EQ(list.edits.size(), 2U);
  EXPECT_EQ(std::get<model::SetMask>(list.edits.back().edit).sees,
            (std::vector<std::vector<bool>>{{true, false}, {false, true}}));
}

TEST(EditList, PositionsArePutBack) {
  EditList list = with_position_id({}, 2, -1);
  list = with_position_id(list, 0, 1);
  EXPECT_EQ(std::get<model::SetPositionIds>(list.edits[0].edit).ids, (std::vector<int>{1, 1, -1}));
  list = with_position_id(list, 2, 2);
  EXPECT_EQ(std::get<model::SetPositionIds>(list.edits[0].edit).ids, (std::vector<int>{1}));
  EXPECT_TRUE(with_position_id(list, 0, 0).edits.empty());
}

TEST(EditList, SlidersMoveWhatHasAStrength) {
  const model::Edit half = model::ScaleValues{head(0, 1), 0.5F};
  ASSERT_TRUE(strength_of(half));
  EXPECT_EQ(strength_of(half)->value, 0.5);
  EXPECT_EQ(with_strength(half, 2), model::Edit(model::ScaleValues{head(0, 1), 2}));
  EXPECT_EQ(strength_of(model::AddVector{head(0, 1), {1}, -30})->low, -30);
  const model::Edit weight = cell(1, 0, 0.25F, Site::pattern);
  EXPECT_EQ(strength_of(weight)->high, 1);
  EXPECT_EQ(with_strength(weight, 0.75), model::Edit(cell(1, 0, 0.75F, Site::pattern)));
  for (const model::Edit& edit :
       {model::Edit(model::SetValues{head(0, 1), {0}}), model::Edit(model::SetMean{head(0, 1)}),
        model::Edit(cell(1, 0, kHidden)), model::Edit(model::SetMask{})}) {
    EXPECT_FALSE(strength_of(edit));
    EXPECT_EQ(with_strength(edit, 3), edit);
  }
}

model::PatchFrom path(model::Edit sender, int receiver = 0) {
  return {{{Site::q, 2}, receiver, {}, {}}, {}, {}, false, {std::move(sender)}, true};
}

TEST(EditList, PathsFromSeveralSendersAddUp) {
  const auto off = [](int of) { return model::SetValues{head(0, of), {0}}; };
  EditList list = with_edit(list_of({path(off(0))}), path(off(1)));
  EXPECT_EQ(list, list_of({path(off(0)), path(off(1))}));
  list = with_edit(list, path(model::SetMean{head(0, 1)}));
  EXPECT_EQ(list, list_of({path(off(0)), path(model::SetMean{head(0, 1)})})) << "another edit of the sender";
  EXPECT_EQ(with_edit(list, path(off(1), 3)).edits.size(), 3U) << "another receiver";
  EXPECT_EQ(with_joined_edit(list, path(off(2))).edits.size(), 3U);
  EXPECT_EQ(without_edit(list, path(off(0))), list_of({path(model::SetMean{head(0, 1)})}));
  const model::Edit set = model::SetValues{path(off(0)).at, {0}};
  EXPECT_EQ(with_edit(list, set), list_of({set})) << "the receiver is set: paths into it mean nothing";
  EXPECT_EQ(with_edit(list_of({set}), path(off(0))), list_of({set, path(off(0))}));
}

TEST(EditList, APathHasTheStrengthAndThePositionsOfItsSender) {
  const model::Edit half = path(model::ScaleValues{head(0, 1), 0.5F});
  ASSERT_TRUE(strength_of(half));
  EXPECT_EQ(strength_of(half)->value, 0.5);
  EXPECT_EQ(with_strength(half, 2), model::Edit(path(model::ScaleValues{head(0, 1), 2})));
  EXPECT_FALSE(strength_of(path(model::SetMean{head(0, 1)})));
  const auto at = [](std::vector<int> positions) {
    return path(model::SetValues{{{Site::z, 0}, 1, std::move(positions), {}}, {0}});
  };
  EXPECT_TRUE(is_beyond(at({7, 8}), 7));
  EXPECT_FALSE(is_beyond(at({6, 8}), 7));
  EXPECT_FALSE(is_beyond(at({}), 7));
  const auto column = [](int key) {
    return model::SetCells{{Site::pattern, 1}, 0, {{model::CellValue::kAllQueries, key, 0}}};
  };
  EXPECT_TRUE(is_beyond(column(7), 7));
  EXPECT_FALSE(is_beyond(column(6), 7));
  EXPECT_TRUE(has_positions(list_of({at({2})})));
  EXPECT_FALSE(has_positions(list_of({at({})})));
  model::PatchFrom both = at({1, 2});
  both.at.positions = {2};
  const auto moved = moved_edits(list_of({both, at({1})}), std::vector<int>{0, -1, 1}, 16);
  both = at({1});
  both.at.positions = {1};
  EXPECT_EQ(moved.list, list_of({both}));
  EXPECT_EQ(moved.gone.size(), 2U);
}

TEST(MovedEdits, TokensAreFoundByWhatBothTextsBeginAndEndWith) {
  const auto moved = [](std::vector<int> before, std::vector<int> now, int fixed = 0) {
    return moved_positions(before, now, fixed);
  };
  EXPECT_THAT(moved({1, 2, 3}, {1, 9, 2, 3}), ElementsAre(0, 2, 3)) << "put in between";
  EXPECT_THAT(moved({1, 2, 3}, {9, 1, 2, 3}), ElementsAre(1, 2, 3)) << "or before";
  EXPECT_THAT(moved({1, 2, 3}, {1, 2, 3, 9}), ElementsAre(0, 1, 2));
  EXPECT_THAT(moved({1, 2, 3}, {1, 3}), ElementsAre(0, -1, 1)) << "taken out";
  EXPECT_THAT(moved({1, 2, 3}, {1, 8, 3}), ElementsAre(0, 1, 2)) << "another in its place";
  EXPECT_THAT(moved({1, 2, 3, 4}, {1, 8, 4}), ElementsAre(0, 1, -1, 2));
  EXPECT_THAT(moved({5, 5}, {5, 5, 5}), ElementsAre(0, 1));
  EXPECT_TRUE(moved({1, 2}, {3, 4, 5}).empty()) << "another text";
  EXPECT_TRUE(moved({0, 1, 2}, {0, 3, 4}, 1).empty()) << "with the same start token";
}

TEST(MovedEdits, PatchesKeepTheirSourcesAndMasksTheirTokens) {
  const std::vector<int> at{0, 2, 3};  // a token was inserted before the second of three
  model::PatchFrom patch{{{Site::resid_pre, 1}, {}, {1, 2}, {}}, {7, 8, 9}, {}, false};
  model::SetMask mask{0, 1, {{true, false, false}, {true, true, false}, {true, false, true}}};
  const auto moved = moved_edits(list_of({patch, mask, model::SetPositionIds{{0, 0}}}), at, 16);
  EXPECT_TRUE(moved.gone.empty());
  ASSERT_EQ(moved.list.edits.size(), 3U);
  patch.at.positions = {2, 3}, patch.positions = {1, 2};
  EXPECT_EQ(moved.list.edits[0].edit, model::Edit(patch)) << "what it takes is of the same tokens";
  mask.sees = {{true, false, false, false},
               {true, true, false, false},
               {true, false, true, false},
               {true, false, false, true}};
  mask.sees[2][1] = mask.sees[3][1] = true;  // a new token is visible to later ones
  EXPECT_EQ(moved.list.edits[1].edit, model::Edit(mask));
  EXPECT_EQ(moved.list.edits[2].edit, model::Edit(model::SetPositionIds{{0, 1, 0}}));

  const std::vector<int> without{0, -1, 1};
  const auto left = moved_edits(list_of({patch, mask, model::SetMask{}, model::SetPositionIds{{-1, -1}}}),
                                std::vector<int>{0, 1, -1, 2}, 16);
  EXPECT_EQ(left.gone.size(), 2U);
  ASSERT_EQ(left.list.edits.size(), 4U);
  const auto& kept = std::get<model::PatchFrom>(left.list.edits[0].edit);
  EXPECT_THAT(kept.at.positions, ElementsAre(2));
  EXPECT_THAT(kept.positions, ElementsAre(2));
  const auto none = moved_edits(list_of({cell(2, 1, kHidden), model::SetMean{head(0, 1)}}), without, 16);
  EXPECT_EQ(none.gone.size(), 1U);
  EXPECT_EQ(none.list, list_of({model::SetMean{head(0, 1)}})) << "what is of all positions stays";
  EXPECT_TRUE(moved_edits(list_of({cell(2, 1, kHidden)}), std::vector<int>{0, 15, 16}, 16).list.edits.empty())
      << "beyond the context";
  EXPECT_FALSE(has_positions(list_of({model::SetMean{head(0, 1)}, model::SetMask{}})));
}

TEST(MovedEdits, WhatDoesNotMoveStaysAsItIsWritten) {
  const model::PatchFrom implicit{{{Site::resid_pre, 1}, {}, {1, 5}, {}}, {7, 8, 9}, {}, false};
  const EditList list = list_of({implicit});
  EXPECT_EQ(moved_edits(list, std::vector<int>{0, 1, 3}, 16).list, list) << "something behind it moves";
  EXPECT_EQ(moved_edits(list, {}, 16).list, list) << "another text";
}

}  // namespace
}  // namespace headscope::app::edit_list_test
