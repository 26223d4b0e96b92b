// Edits as text: reading, writing and rejecting them; and the list of edits that the user works with.
#include <bit>
#include <cmath>
#include <random>

#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "model/files/error.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"

namespace headscope::app::edits_test {
namespace {

using model::Site;
using testing::message_of;

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr float kHidden = -std::numeric_limits<float>::infinity();

model::Edits text(std::string_view edits) {
  return parse_edits(edits, *bundled());
}
model::Edits lines(std::string_view edits) {
  return parse_edit_lines(edits, "edits.txt", *bundled());
}
std::vector<int> ids(std::string_view prompt) {
  std::vector<int> result;
  for (const model::Token& token : bundled()->tokenizer->encode(prompt)) result.push_back(token.id);
  return result;
}

TEST(Edits, AreReadAsTheyWereWritten) {
  for (const char* written : {"L5H1.z[3,4]=0",
                              "L2.resid_pre[7]+=2*0.5",
                              "L0.mlp_post[*][17]*=0.5",
                              "L3H0.pattern[8,3]=0.5",
                              "L3H0.pattern[8,3]~=0.5; L3H0.pattern[8,2]~=0",
                              "L3H0.scores[8,3]=null",
                              "L4.scores[0+2-4]=null",
                              "mask=none",
                              "L2H1.mask=100/110/011",
                              "positions=0*2,-1",
                              "L4H2.z[5]<-second",
                              "L4H2.pattern[0+2]<-ids(1,2,3)[1,2]",
                              "L4H2.z[5]<-second ids(1,2,3)[2]",
                              "L1H6.k<-{L0H0.z<-ids(1,2,3); L0.mlp_out*=0.5}",
                              "L1H6.q<-second{L0H0.z<-{L0H1.z=0}}",
                              "L1H6.q[5]<-ids(4,5){L0H0.z=0}[1]",
                              "L0H1.z=0 -> L1H6.k",
                              "L2.mlp_out -> logits <- second",
                              "L0H1.z[5] -> L3H6.q[5] <- ids(1,2,3)[2]",
                              "L1H2.z*=0.5 -> L4.v; L1H2.z=mean -> L4H0.v",
                              "L2H1.q<-ids(1,2){L0H1.z -> L1H6.k <- {L0H2.z=0}}",
                              "L4.scores[0+2-4]*=0.5",
                              "L1H0.z[*][3,4]=[0.5,1] mean over \"a\\\"b\\\\;->c\"",
                              "L1H0.z[*][3]=2 mean over \"a.txt\" -> L4H0.v",
                              "L1.z=mean"}) {
    const model::Edits read = text(written);
    EXPECT_EQ(edit_text(read), written);
    for (const model::Edit& one : read) EXPECT_EQ(text(edit_text(one)), model::Edits{one}) << edit_text(one);
  }
  EXPECT_EQ(text(" L1 H2 . z = 0.25 ; ln_final *= 2 "), text("L1H2.z=0.25; ln_final*=2"));
}

/// Sessions, recipes and traces hold the numbers of an edit only as text.
TEST(Edits, NumbersComeBackToTheBit) {
  std::mt19937 random(3);
  std::vector<float> values{0.1F, 1.0F / 3, 1e-45F, std::numeric_limits<float>::max(), 16777217.0F};
  while (values.size() < static_cast<std::size_t>(bundled()->transformer->config().d_head())) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) values.push_back(value);
  }
  const model::Edit set = model::SetValues{{{Site::z, 2}, 1, {}, {}}, values};
  EXPECT_EQ(text(edit_text(set)), model::Edits{set});
  for (const float value : values) {
    const model::Edit scale = model::ScaleValues{{{Site::z, 2}, 1, {}, {}}, value};
    EXPECT_EQ(text(edit_text(scale)), model::Edits{scale});
  }
}

TEST(Edits, AFileHasOneOnEachLine) {
  EXPECT_EQ(lines("L5H1.z=0\r\n\n  \nL1.pattern[3,1]~=0.9; L1.pattern[3,2]~=0.1\nL1.pattern[3,1]~=0.5"),
            text("L5H1.z=0; L1.pattern[3,1]~=0.9; L1.pattern[3,2]~=0.1;; L1.pattern[3,1]~=0.5"));
  EXPECT_THAT(lines("\n"), IsEmpty());
  EXPECT_THAT(message_of<model::LoadError>([] { lines("L5H1.z=0\n\nL9.z=0\n"); }),
              StartsWith("edits.txt:3: "));
  EXPECT_THAT(message_of<model::LoadError>([] { lines(repeated("L5H1.pattern[0-255,0-255]=0\n", 200)); }),
              HasSubstr("the edits up to this line name more than 16777216"));
}

TEST(Edits, WhatIsReadIsWhatIsMeant) {
  using List = model::Edits;
  EXPECT_EQ(text("L5H1.z=0"), (List{model::SetValues{{{Site::z, 5}, 1, {}, {}}, {0}}}));
  EXPECT_EQ(text("L2.mlp_out[3,5-8]*=-1.5"),
            (List{model::ScaleValues{{{Site::mlp_out, 2}, {}, {3, 5, 6, 7, 8}, {}}, -1.5F}}));
  EXPECT_EQ(text("L1H0.scores[2-3,0]=null"),
            (List{model::SetCells{{Site::attn_scores, 1}, 0, {{2, 0, kHidden}, {3, 0, kHidden}}}}));
  EXPECT_EQ(text("L1H0.pattern[2]=0"), (List{model::SetValues{{{Site::pattern, 1}, 0, {2}, {}}, {0}}}));
  EXPECT_EQ(text("L*H3.z=0").size(), 6U);
  EXPECT_EQ(text("L2H1.z[5] -> L4H0.q <- \"a b\"[1]"), text("L2H1.z[5]<-\"a b\"[1] -> L4H0.q"));
  EXPECT_EQ(edit_text(text("L2H1.z <- ids(1,2) -> logits")), "L2H1.z -> logits <- ids(1,2)");
  EXPECT_EQ(edit_text(text("L2H1.z[3]=[0]->L4H0.q[3,4-6]")), "L2H1.z[3]=0 -> L4H0.q[3-6]");
  EXPECT_EQ(text("L*H3.z=0 -> logits").size(), 6U);
  EXPECT_EQ(text("L4.resid_pre[5]<-\"a; \\\"b\\\"\"[2]"),
            (List{model::PatchFrom{{{Site::resid_pre, 4}, {}, {5}, {}}, ids("a; \"b\""), {2}}}));
  const model::Edits column = text("L1H0.pattern[*,250]=0");
  EXPECT_EQ(column,
            (List{model::SetCells{{Site::pattern, 1}, 0, {{model::CellValue::kAllQueries, 250, 0}}}}));
  EXPECT_EQ(edit_text(column), "L1H0.pattern[*,250]=0");
  EXPECT_EQ(edit_words(column.front()), "L1 H0 weight of all queries on key 250 = 0");
  const auto none = std::get<model::SetPositionIds>(text("positions=none").at(0));
  EXPECT_EQ(none.ids, std::vector<int>(256, -1));
  EXPECT_EQ(edit_text(none), "positions=-1*256");
  EXPECT_EQ(text(edit_text(none)), List{none});
}

TEST(Edits, ASiteMayHaveTheFullNameOfItsHook) {
  for (const auto& [full, brief] : {std::pair("blocks.5.attn.hook_z=0", "L5.z=0"),
                                    {"blocks.*.hook_mlp_out*=0.5", "L*.mlp_out*=0.5"},
                                    {"blocks.2.hook_resid_pre[3,5-8]=mean", "L2.resid_pre[3,5-8]=mean"},
                                    {"blocks.1.ln1.hook_normalized=0", "L1.ln1=0"},
                                    {"hook_pos_embed=0", "pos_embed=0"},
                                    {"ln_final.hook_scale=1", "ln_final_scale=1"},
                                    {"blocks.1.attn.hook_attn_scores[2,0]=null", "L1.scores[2,0]=null"},
                                    {"blocks.0.mlp.hook_post[*][17]=0", "L0.mlp_post[*][17]=0"},
                                    {"blocks.2.attn.hook_z=0 -> blocks.4.attn.hook_q", "L2.z=0 -> L4.q"},
                                    {"blocks.4.attn.hook_result=0", "L4.result=0"}})
    EXPECT_EQ(text(full), text(brief)) << full;
  for (const char* wrong :
       {"blocks.5.hook_z=0", "blocks.attn.hook_z=0", "blocks.5=0", "hook_z=0", "blocks.9.attn.hook_z=0",
        "blocks.-1.attn.hook_z=0", "blocks.5.z=0", "ln_final.hook_z=0", "blocks.*"})
    EXPECT_THROW(text(wrong), model::RunError) << wrong;
}

TEST(Edits, OfCellsOneAfterTheOtherStayThat) {
  EXPECT_EQ(text("L1.pattern[3,1]~=0.9; L1.pattern[3,2]~=0.1").size(), 1U) << "the row is renormalised once";
  const auto apart = text("L1.pattern[3,1]~=0.9;; L1.pattern[3,2]~=0.9; L1.pattern[4,2]~=0.5");
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(edit_text(apart), "L1.pattern[3,1]~=0.9;; L1.pattern[3,2]~=0.9; L1.pattern[4,2]~=0.5");
  EXPECT_EQ(text(edit_text(apart)), apart);
  EXPECT_EQ(edit_text(text("L1.pattern[3,1]=1; L1.z=0;L1.pattern[3,1]=1")),
            "L1.pattern[3,1]=1; L1.z=0; L1.pattern[3,1]=1");
  const auto below = text("L1.pattern[3,1]~=-0.05; L1.pattern[3,2]~=0.5");
  ASSERT_EQ(below.size(), 1U) << "what is below 0 by itself need not be with the others";
  EXPECT_EQ(edit_text(below), "L1.pattern[3,1]~=-0.05; L1.pattern[3,2]~=0.5");
  EXPECT_EQ(text("L1.pattern[3,1]~=0.9; L1.pattern[3,1]~=0.5").size(), 1U)
      << "of a cell the last value counts";
  // In a prompt that ends before the later key, the set weights would be too large.
  for (const char* wrong :
       {";;", "; L1.z=0", "", "L1.pattern[3,1]~=-0.05", "L1.pattern[3,1]~=1.5; L1.pattern[3,50]~=-0.9"})
    EXPECT_THROW(text(wrong), model::RunError) << wrong;
}

TEST(Edits, InWords) {
  const auto words = [](std::string_view edit) { return edit_words(text(edit).at(0)); };
  EXPECT_EQ(words("L5H1.z=0"), "L5 H1 off");
  EXPECT_EQ(words("L3.attn_out[8][5]+=2"), "L3 attn_out at 8 unit 5, plus 2");
  EXPECT_EQ(words("L5H1.z[*][0,1]=[1,2] mean over \"names.txt\""), "L5 H1 unit 0, 1 = mean over “names.txt”");
  EXPECT_EQ(edit_words(text("L1H3.z=mean -> logits").at(0), {.means_over = "the list"}),
            "L1 H3 = mean over the list on the direct path to the logits");
  EXPECT_EQ(words("L3H0.scores[3-5,3]=null"), "L3 H0 key 3 masked for queries 3–5");
  EXPECT_EQ(words("L3H0.pattern[8,3]~=0"), "L3 H0 weight of query 8 on key 3 = 0, the others rescaled");
  EXPECT_EQ(words("L3.scores=0"), "L3 scores = 0") << "that is not off";
  const auto quoted = [](const std::vector<int>& ids) {
    return "<" + std::to_string(ids.size()) + " tokens>";
  };
  EXPECT_EQ(edit_words(text("L2.resid_pre[5]<-second ids(1,2){L0H0.z=0}[1]").at(0), {.prompt = quoted}),
            "L2 resid_pre at 5 patched from <2 tokens> in the second model with L0 H0 off (its 1)");
}

TEST(Edits, AWrongTextIsOneSentence) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "expected a site"},
      {"L5H1.zz=0", "\"zz\" is not a site"},
      {"z=0", "this site needs a layer, as in L5.z"},
      {"L1.z[2]<-second[1]", "<-second takes positions only after a \"text\" or ids(...)"},
      {"L1.z<-seccond", "expected \"a text\", ids(...), {edits} or second after <-, found \"seccond\""},
      {"L1.z<-{ }", "there are no edits in {}"},
      {"L1.z<-second{L0.z<-second}", "patches from the second model a run that patches from it"},
      {"L1.z<-{L1.z<-{L1.z<-{L1.z<-{L1.z<-{L1.z=0}}}}}", "patches through more than 4 runs"},
      {"L1.z<-" + repeated("{L1.z<-", 20000) + "0" + repeated("}", 20000),
       "patches through more than 4 runs"},
      {"L0H0.z -> L1H6.k = 0", "expected <- after the receiver; other operations stand before ->"},
      {"L0H0.z=0 -> L*.k", "a path has one receiver"},
      {"L1.logits=0", "\"logits\" takes no layer prefix"},
      {"L5H1.z", "no operation"},
      {"L5H1.z=nan", "expected a number at \"nan\""},
      {"L5H1.z[3=0", "expected \"]\" at \"=0\""},
      {"L5H1.z[0-99999999]=0", "invalid range 0-99999999"},
      {"L5H1.pattern[0-4000,0-4000]=0", "there is no position 256"},
      {"positions=0*256,0*1", "the model has only 256 positions"},
      {repeated("L5H1.pattern[0-255,0-255]=0;", 100), "name more than 16777216 positions"},
      {repeated("L5H1.z=0;", 10'001), "at most 10000 edits"},
      {"L5H1.pattern[8,3]~=0.6;L5H1.pattern[8,2]~=0.6", "add up to 1.2"},
      {"L5H1.pattern[8,3]*=2", "single cells take only"},
      {"switch off head 3 of layer 1", "to switch off head 3 of layer 1, type L1H3.z=0"},
      {"Ablate 5.7", "type L5H7.z=0"},
      {"L1H3 off", "type L1H3.z=0"},
      {"replace layer 2 head 4 by its mean", "to replace head 4 of layer 2 by its mean, type L2H4.z=mean"},
      {"zero MLP 4", "to switch off the MLP of layer 4, type L4.mlp_out=0"},
      {"switch off head 9 of layer 1", "\"switch\" is not a site"},
      {"mask=", "expected none, or rows of 0 and 1"},
      {"L5H1.z=\x1b[31m0", "expected a number at \"\\x1b[31m0\""},
  };
  for (const auto& [edit, says] : wrong) {
    const std::string said = message_of<model::RunError>([&] { text(edit); });
    EXPECT_THAT(said, HasSubstr(says)) << edit;
    EXPECT_EQ(said.find_first_of("\n\x1b"), std::string::npos);
  }
}

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

using Seen = std::vector<std::vector<bool>>;

/// What the last edit, a mask, lets each query see.
Seen seen(const EditList& list) {
  return std::get<model::SetMask>(list.edits.back().edit).sees;
}

TEST(EditList, AMaskIsEditedCellByCell) {
  EditList list = with_visibility({}, {1, 2}, 3, 0, 2, true);
  list = with_visibility(list, {1, 2}, 3, 2, 1, false);
  ASSERT_EQ(list.edits.size(), 1U);
  EXPECT_EQ(seen(list), (Seen{{true, false, true}, {true, true, false}, {true, false, true}}));
  // A longer prompt keeps the edited mask.
  list = with_visibility(list, {1, 2}, 4, 3, 0, false);
  EXPECT_EQ(seen(list)[3], (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(seen(list)[2], (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(with_visibility(list, {0, 0}, 4, 3, 0, false).edits.size(), 2U) << "another head";
  // An edit after which a query would see nothing is ignored.
  EXPECT_TRUE(with_visibility({}, {0, 0}, 2, 0, 0, false).edits.empty());
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

TEST(EditList, AMaskIsEditedOnWhatTheListMakesOfItsOwnHead) {
  const EditList open = with_visibility(list_of({model::SetMask{}}), {2, 1}, 3, 2, 0, false);
  ASSERT_EQ(open.edits.size(), 2U);
  EXPECT_EQ(seen(open), (Seen{{true, true, true}, {true, true, true}, {false, true, true}}));
  // Changed again after a mask for all heads: the new mask starts from that one, and comes last.
  EXPECT_EQ(seen(with_visibility(with_edit(open, model::SetMask{}), {2, 1}, 3, 1, 1, false)),
            (Seen{{true, true, true}, {true, false, true}, {true, true, true}}));
  const EditList other = list_of({model::SetMask{1, 2, {{true, true}, {true, true}}}});
  EXPECT_EQ(seen(with_visibility(other, {1, 0}, 2, 1, 0, false)), (Seen{{true, false}, {false, true}}));
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
}  // namespace headscope::app::edits_test
