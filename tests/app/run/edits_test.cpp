// Edits as text and as JSON: reading, writing and rejecting them.
#include "app/run/edits/edit_json.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "tests/support/matchers.h"
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

class Edits : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = load_model(bundled_model(), {}); }
  static void TearDownTestSuite() { model_.reset(); }
  static model::Edits text(std::string_view edits) { return parse_edits(edits, *model_); }
  static model::Edits json(std::string_view edits) { return parse_edits_json(edits, "edits.json", *model_); }
  static std::vector<int> ids(std::string_view prompt) {
    std::vector<int> result;
    for (const model::Token& token : model_->tokenizer->encode(prompt)) result.push_back(token.id);
    return result;
  }
  static std::shared_ptr<const LoadedModel> model_;
};

std::shared_ptr<const LoadedModel> Edits::model_;

TEST_F(Edits, TextAndJsonSayTheSame) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"L5H1.z[3,4]=0", R"([{"site": "blocks.5.attn.hook_z", "head": 1, "positions": [3, 4], "set": 0}])"},
      {"L2.resid_pre[7]+=2*0.5",
       R"([{"site": "blocks.2.hook_resid_pre", "positions": [7], "add": [0.5], "factor": 2}])"},
      {"L0.mlp_post[*][17]*=0.5", R"([{"site": "blocks.0.mlp.hook_post", "units": [17], "scale": 0.5}])"},
      {"L3H0.pattern[8,3]=0.5",
       R"([{"site": "blocks.3.attn.hook_pattern", "head": 0, "cells": [[8, 3, 0.5]], "renormalise": false}])"},
      {"L3H0.pattern[8,3]~=0.5; L3H0.pattern[8,2]~=0",
       R"([{"site": "blocks.3.attn.hook_pattern", "head": 0, "cells": [[8, 3, 0.5], [8, 2, 0]], "renormalise": true}])"},
      {"L3H0.scores[8,3]=null",
       R"([{"site": "blocks.3.attn.hook_attn_scores", "head": 0, "cells": [[8, 3, null]]}])"},
      {"mask=none", R"([{"mask": "none"}])"},
      {"L2H1.mask=100/110/011", R"([{"mask": [[1,0,0],[1,1,0],[0,1,1]], "layer": 2, "head": 1}])"},
      {"positions=0,0,-1", R"([{"position_ids": [0, 0, -1]}])"},
      {"L4.resid_pre[5]<-\"Once upon a time\"[2]",
       R"([{"site": "blocks.4.hook_resid_pre", "positions": [5], "patch": {"prompt": "Once upon a time", "positions": [2]}}])"},
      {"L4H2.z[5]<-second \"Once upon a time\"[2]",
       R"([{"site": "blocks.4.attn.hook_z", "head": 2, "positions": [5], "patch": {"prompt": "Once upon a time", "positions": [2], "model": "second"}}])"},
      {"L4H2.z[5]<-second",
       R"([{"site": "blocks.4.attn.hook_z", "head": 2, "positions": [5], "patch": {"model": "second"}}])"},
      {"L4H2.pattern[0+2]<-ids(1,2,3)[1,2]",
       R"([{"site": "blocks.4.attn.hook_pattern", "head": 2, "positions": [0, 2], "patch": {"ids": [1, 2, 3], "positions": [1, 2]}}])"},
      {"L1H6.k<-{L0H0.z<-ids(1,2,3); L0.mlp_out*=0.5}",
       R"([{"site": "blocks.1.attn.hook_k", "head": 6, "patch": {"edits": [{"site": "blocks.0.attn.hook_z", "head": 0, "patch": {"ids": [1, 2, 3]}}, {"site": "blocks.0.hook_mlp_out", "scale": 0.5}]}}])"},
      {"L1H6.q[5]<-\"a;}\"{L0H0.z=0}[1]",
       R"([{"site": "blocks.1.attn.hook_q", "head": 6, "positions": [5], "patch": {"prompt": "a;}", "positions": [1], "edits": [{"site": "blocks.0.attn.hook_z", "head": 0, "set": 0}]}}])"},
      {"L1H6.q<-second{L0H0.z<-{L0H1.z=0}}",
       R"([{"site": "blocks.1.attn.hook_q", "head": 6, "patch": {"model": "second", "edits": [{"site": "blocks.0.attn.hook_z", "head": 0, "patch": {"edits": [{"site": "blocks.0.attn.hook_z", "head": 1, "set": 0}]}}]}}])"},
      {"L0H1.z=0 -> L1H6.k",
       R"([{"site": "blocks.1.attn.hook_k", "head": 6, "patch": {"direct": true, "edits": [{"site": "blocks.0.attn.hook_z", "head": 1, "set": 0}]}}])"},
      {"L0H1.z[5] -> L3H6.q[5] <- \"a -> b\"[2]",
       R"([{"site": "blocks.3.attn.hook_q", "head": 6, "positions": [5], "patch": {"direct": true, "edits": [{"site": "blocks.0.attn.hook_z", "head": 1, "positions": [5], "patch": {"prompt": "a -> b", "positions": [2]}}]}}])"},
      {"L2.mlp_out->logits<-second",
       R"([{"site": "blocks.5.hook_resid_post", "patch": {"direct": true, "edits": [{"site": "blocks.2.hook_mlp_out", "patch": {"model": "second"}}]}}])"},
      {"L1H2.z*=0.5->L4.v; L1H2.z=mean -> L4H0.v",
       R"([{"site": "blocks.4.attn.hook_v", "patch": {"direct": true, "edits": [{"site": "blocks.1.attn.hook_z", "head": 2, "scale": 0.5}]}}, {"site": "blocks.4.attn.hook_v", "head": 0, "patch": {"direct": true, "edits": [{"site": "blocks.1.attn.hook_z", "head": 2, "set": "mean"}]}}])"},
      {"L2H1.q<-ids(1,2){L0H1.z -> L1H6.k <- {L0H2.z=0}}",
       R"([{"site": "blocks.2.attn.hook_q", "head": 1, "patch": {"ids": [1, 2], "edits": [{"site": "blocks.1.attn.hook_k", "head": 6, "patch": {"direct": true, "edits": [{"site": "blocks.0.attn.hook_z", "head": 1, "patch": {"direct": false, "edits": [{"site": "blocks.0.attn.hook_z", "head": 2, "set": 0}]}}]}}]}}])"},
      {"L4.scores[0+2-4]*=0.5",
       R"([{"site": "blocks.4.attn.hook_attn_scores", "positions": [0, 2, 3, 4], "scale": 0.5}])"},
      {"L4H2.pattern<-ids(1,2,3)",
       R"([{"site": "blocks.4.attn.hook_pattern", "head": 2, "patch": {"ids": [1, 2, 3]}}])"},
      {"L1H0.z[*][3,4]=[0.5,1] mean over \"a \\\"b\\\\; -> c\"",
       R"([{"site": "blocks.1.attn.hook_z", "head": 0, "units": [3, 4], "set": [0.5, 1], "mean_over": "a \"b\\; -> c"}])"},
      {"L1H0.z[*][3]=2 mean over \"a.txt\" -> L4H0.v",
       R"([{"site": "blocks.4.attn.hook_v", "head": 0, "patch": {"direct": true, "edits": [{"site": "blocks.1.attn.hook_z", "head": 0, "units": [3], "set": 2, "mean_over": "a.txt"}]}}])"},
      {"L1.z=mean", R"([{"site": "blocks.1.attn.hook_z", "set": "mean"}])"},
      {" L1 H2 . z = 0.25 ; ln_final *= 2 ",
       R"([{"site": "blocks.1.attn.hook_z", "head": 2, "set": 0.25}, {"site": "ln_final.hook_normalized", "scale": 2}])"},
  };
  for (const auto& [short_form, list] : same) {
    SCOPED_TRACE(short_form);
    const model::Edits read = text(short_form);
    EXPECT_EQ(read, json(list));
    for (const model::Edit& one : read) EXPECT_EQ(text(edit_text(one)), model::Edits{one}) << edit_text(one);
  }
}

TEST_F(Edits, WhatIsReadIsWhatIsMeant) {
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
  EXPECT_EQ(parse_receiver(" logits ", *model_), (model::EditSite{{Site::resid_post, 5}, {}, {}, {}}));
  EXPECT_EQ(receiver_text(parse_receiver("L4H2.q", *model_)), "L4H2.q");
  EXPECT_EQ(text("L4.resid_pre[5]<-\"a; \\\"b\\\"\"[2]"),
            (List{model::PatchFrom{{{Site::resid_pre, 4}, {}, {5}, {}}, ids("a; \"b\""), {2}}}));
  const auto column = std::get<model::SetCells>(text("L1H0.pattern[*,250]=0").at(0));
  EXPECT_EQ(column.cells.size(), 6U) << "queries that may see it";
  const auto none = std::get<model::SetPositionIds>(text("positions=none").at(0));
  EXPECT_EQ(none.ids, std::vector<int>(256, -1));
  EXPECT_EQ(edit_text(none), "positions=-1*256");
  EXPECT_EQ(text(edit_text(none)), List{none});
}

TEST_F(Edits, ASiteMayHaveTheFullNameOfItsHook) {
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
  EXPECT_EQ(parse_receiver("blocks.4.attn.hook_k", *model_), parse_receiver("L4.k", *model_));
  for (const char* wrong :
       {"blocks.5.hook_z=0", "blocks.attn.hook_z=0", "blocks.5=0", "hook_z=0", "blocks.9.attn.hook_z=0",
        "blocks.-1.attn.hook_z=0", "blocks.5.z=0", "ln_final.hook_z=0", "blocks.*"})
    EXPECT_THROW(text(wrong), model::RunError) << wrong;
}

TEST_F(Edits, OfCellsOneAfterTheOtherStayThat) {
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

/// Path patching by hand: the previous-token head writes nothing, for the keys of three induction heads
/// alone, first past the MLP between them, then also through it.
TEST_F(Edits, OfARunThatIsPatchedFromChangeWhatOneHeadWritesForAnotherAlone) {
  const std::string fox = "The king gave Mr. Fox a horse. Then the king gave Mr.";
  const std::vector<int> tokens = ids(fox);
  model::Workspace workspace;
  const auto difference_with = [&](const model::Edits& edits) {
    model::ForwardOptions options;
    options.plan = model_->transformer->plan(edits, workspace, {}, {nullptr, tokens});
    const auto run = model_->transformer->forward(tokens, workspace, options);
    std::vector<float> logits(static_cast<std::size_t>(run->config.vocab_size));
    model_->transformer->logits(*run, run->length() - 1, 1, workspace, logits);
    return logits[ids(" Fox").front()] - logits[ids(" Badger").front()];
  };
  model::Edits edits;
  const auto difference = [&](const std::string& sender) {
    edits.clear();
    for (const int head : {1, 3, 6})
      if (!sender.empty())
        edits.push_back(text("L1H" + std::to_string(head) + ".k<-{" + sender + "}").front());
    return difference_with(edits);
  };
  EXPECT_NEAR(difference(""), 12.930, 1e-3);
  EXPECT_NEAR(difference("L0H0.z=0; L0.mlp_out<-\"" + fox + "\""), 12.891, 1e-3);
  EXPECT_NEAR(difference("L0H0.z=0"), 7.338, 1e-3);
  edits = text("L0H0.z=0 -> L1H1.k; L0H0.z=0 -> L1H3.k; L0H0.z=0 -> L1H6.k");
  EXPECT_NEAR(difference_with(edits), 12.891, 1e-3) << "the direct path, in short";
}

TEST_F(Edits, InWords) {
  const auto words = [](std::string_view edit) { return edit_words(text(edit).at(0)); };
  EXPECT_EQ(words("L5H1.z=0"), "L5 H1 off");
  EXPECT_EQ(words("L5H1.z*=0.5"), "L5 H1 × 0.5");
  EXPECT_EQ(words("L5H1.z[2,8]*=0.5"), "L5 H1 at 2, 8, × 0.5");
  EXPECT_EQ(words("L3.attn_out[8][5]+=2"), "L3 attn_out at 8 unit 5, plus 2");
  EXPECT_EQ(words("L5H1.z=mean"), "L5 H1 = mean over positions");
  EXPECT_EQ(words("L5H1.z[*][0,1]=[1,2] mean over \"names.txt\""), "L5 H1 unit 0, 1 = mean over “names.txt”");
  const auto over_list = [](std::string_view edit) { return edit_words(text(edit).at(0), "the list"); };
  EXPECT_EQ(over_list("L5H1.z=mean"), "L5 H1 = mean over the list");
  EXPECT_EQ(over_list("L1H3.z=mean -> logits"),
            "L1 H3 = mean over the list on the direct path to the logits");
  EXPECT_EQ(over_list("L5H1.z=0"), "L5 H1 off");
  EXPECT_EQ(words("mask=none"), "no mask");
  EXPECT_EQ(words("L2.mask=none"), "no mask in L2");
  EXPECT_EQ(words("L3H0.scores[8,3]=null"), "L3 H0 key 3 masked for query 8");
  const std::string all = "queries 3–" + std::to_string(model_->transformer->config().n_ctx - 1);
  EXPECT_EQ(words("L3H0.scores[*,3]=null"), "L3 H0 key 3 masked for " + all);
  EXPECT_EQ(words("L3H0.scores[3-5,3]=null"), "L3 H0 key 3 masked for queries 3–5") << "not for all";
  EXPECT_EQ(words("L3H0.scores[8,3]=0.5"), "L3 H0 scaled score of query 8 on key 3 = 0.5");
  EXPECT_EQ(words("L3H0.pattern[8,3]=0.5"), "L3 H0 weight of query 8 on key 3 = 0.5");
  EXPECT_EQ(words("L3H0.pattern[8,3]=0"), "L3 H0 weight of query 8 on key 3 = 0");
  EXPECT_EQ(words("L3H0.pattern[8,3]~=0"), "L3 H0 weight of query 8 on key 3 = 0, the others rescaled");
  EXPECT_EQ(words("L3.pattern[*,3]=0"), "L3 weights of " + all + " on key 3 = 0");
  EXPECT_EQ(words("L3H0.pattern[8-9,3-4]=0"), "L3 H0 weights of queries 8, 9 on keys 3, 4 = 0");
  EXPECT_EQ(words("L3H0.pattern[8,3]=0; L3H0.pattern[9,4]=0.5"),
            "L3 H0 some weights of queries 8, 9 on keys 3, 4 set");
  EXPECT_EQ(words("L3.scores=0"), "L3 scores = 0");
  EXPECT_EQ(words("L2.attn_out=0"), "L2 attn_out off");
  EXPECT_EQ(words("pos_embed[3]=0"), "pos_embed at 3 off");
  EXPECT_EQ(words("positions=none"), "no positions");
  EXPECT_EQ(words("L2H1.z<-second"), "L2 H1 from the second model");
  EXPECT_EQ(words("L2H1.q<-{L0H0.z=0}"), "L2 H1 q from this prompt, edited");
  EXPECT_EQ(words("L2H1.q<-ids(1,2){L0H0.z=0}"), "L2 H1 q patched up to position 1, from an edited run");
  EXPECT_EQ(words("L0H0.z=0 -> L2H1.q"), "L0 H0 off on the direct path to L2 H1 q");
  EXPECT_EQ(words("L0.mlp_out -> logits <- ids(1,2)"),
            "L0 mlp_out patched up to position 1 on the direct path to the logits");
  EXPECT_EQ(words("L2H1.z<-second ids(1,2)"), "L2 H1 from the second model, own tokens up to position 1");
}

TEST_F(Edits, InWordsAlone) {
  const auto phrase = [](std::string_view edit) {
    return edit_phrase(text(edit).at(0), [](const std::vector<int>& ids) {
      return "<" + std::to_string(ids.size()) + " tokens>";
    });
  };
  EXPECT_EQ(phrase("L5H1.z=0"), "head L5 H1 zeroed");
  EXPECT_EQ(phrase("L5.z=0"), "the heads of L5 zeroed");
  EXPECT_EQ(phrase("L5H1.z=0.5"), "head L5 H1 set to 0.5");
  EXPECT_EQ(phrase("L5H1.z*=0.5"), "head L5 H1 scaled by 0.5");
  EXPECT_EQ(phrase("L5H1.z[2,5-8]*=0"), "head L5 H1 at positions 2, 5–8 zeroed");
  EXPECT_EQ(phrase("L3.attn_out[8][5]+=2"), "the attention of L3, unit 5, at position 8 increased by 2");
  EXPECT_EQ(phrase("L3.attn_out+=-2"), "the attention of L3 decreased by 2");
  EXPECT_EQ(phrase("L0.mlp_post[*][17]=0"), "the activations of the MLP of L0, neuron 17, zeroed");
  EXPECT_EQ(phrase("L5H1.z=mean"), "head L5 H1 replaced by the mean over positions");
  EXPECT_EQ(phrase("L5H1.z[*][0,1]=[1,2]"), "head L5 H1, units 0, 1, replaced by a given vector");
  EXPECT_EQ(phrase("L5H1.z[*][0,1]=[1,2] mean over \"names.txt\""),
            "head L5 H1, units 0, 1, replaced by the mean over “names.txt”");
  EXPECT_EQ(phrase("mask=none"), "no mask");
  EXPECT_EQ(phrase("positions=none"), "no positions");
  EXPECT_EQ(phrase("L3H0.scores[8,3]=null"), "L3 H0 key 3 masked for query 8");
  EXPECT_EQ(phrase("L3H0.pattern[8,3]~=0"), "L3 H0 weight of query 8 on key 3 set to 0, the others rescaled");
  EXPECT_EQ(phrase("L3.scores=0"), "the scores of L3 set to 0");
  EXPECT_EQ(phrase("L2H1.z<-second"), "head L2 H1 patched from the second model");
  EXPECT_EQ(phrase("L2H1.z<-second ids(1,2)"), "head L2 H1 patched from <2 tokens> in the second model");
  EXPECT_EQ(phrase("L2H1.q<-{L0H0.z=0}"),
            "the queries of L2 H1 patched from this prompt with head L0 H0 zeroed");
  EXPECT_EQ(phrase("L2.resid_pre[5]<-ids(1,2)[1]"),
            "the residual stream before L2 at position 5 patched from <2 tokens> (its position 1)");
  EXPECT_EQ(phrase("L0H0.z=0 -> L2H1.q"), "head L0 H0 zeroed on the direct path to the queries of L2 H1");
  EXPECT_EQ(phrase("L0.mlp_out -> logits <- ids(1,2)"),
            "the MLP of L0 patched from <2 tokens> on the direct path to the logits");
}

TEST_F(Edits, AWrongTextIsOneSentence) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "\"\" is not a site"},
      {"L5H1.zz=0", "\"zz\" is not a site"},
      {"z=0", "this site needs a layer, as in L5.z"},
      {"L1.z[2]<-second[1]", "<-second takes positions only after a \"text\" or ids(...)"},
      {"L1.z<-seccond", "expected \"a text\", ids(...), {edits} or second after <-, found \"seccond\""},
      {"L1.z<-{L0.z=0", "expected \"}\" at the end"},
      {"L1.z<-{ }", "there are no edits in {}"},
      {"L1.z<-{L0.zz=0}", "\"zz\" is not a site"},
      {"L1.z<-{L9.z=0}", "names layer 9"},
      {"L1.z<-{L0.z=0}[2]", "<-{...} takes positions only after a \"text\" or ids(...)"},
      {"L1.z<-second{L0.z<-second}", "patches from the second model a run that patches from it"},
      {"L1.z<-{L1.z<-{L1.z<-{L1.z<-{L1.z<-{L1.z=0}}}}}", "patches through more than 4 runs"},
      {"L1.z<-" + repeated("{L1.z<-", 20000) + "0" + repeated("}", 20000),
       "patches through more than 4 runs"},
      {"L0H0.z -> L1H6.k = 0", "expected <- after the receiver; other operations stand before ->"},
      {"L0H0.z -> L1H6.k", "expected <- after the receiver"},
      {"L0H0.z -> <- \"a\"", "\"\" is not a site"},
      {"L0H0.z=0 ->", "\"\" is not a site"},
      {"L0H0.z=0 -> k", "this site needs a layer, as in L5.k"},
      {"L0H0.z=0 -> L*.k", "a path has one receiver"},
      {"L0H0.z=0 -> L1H6.k -> L2H1.q", "unexpected \"-> L2H1.q\""},
      {"L0H0.z=0 -> L1H9.k", "names head 9"},
      {"L1H0.z=0 -> L1H6.k", "takes a path from blocks.1.attn.hook_z, which is not in an earlier layer"},
      {"L0H0.q=0 -> L1H6.k", "only z and mlp_out send"},
      {"L0H0.pattern[3,1]=0 -> L1H6.k", "only z and mlp_out send"},
      {"L0H0.z=0 -> L1H6.z", "only q, k, v and the logits"},
      {"L0H0.z=0 -> L1.resid_post", "only q, k, v and the logits"},
      {"L*H0.z=0 -> L3H6.k", "takes a path from blocks.3.attn.hook_z, which is not in an earlier layer"},
      {"mask=none -> L1H6.k", "unexpected \"-> L1H6.k\""},
      {"L1.z<-second \"\"", "the prompt to patch from has no tokens"},
      {"L1.logits=0", "\"logits\" takes no layer prefix"},
      {"L5H1.z", "no operation"},
      {"L5H1.z=", "expected a number at the end"},
      {"L5H1.z=nan", "expected a number at \"nan\""},
      {"L5H1.z=1e99", "expected a number at \"1e99\""},
      {"L5H1.z=0 0", "unexpected \"0\""},
      {"L5H1.z[=0", "expected a whole number at \"=0\""},
      {"L5H1.z[3=0", "expected \"]\" at \"=0\""},
      {"L5H1.z[8-3]=0", "invalid range 8-3"},
      {"L5H1.z[0-99999999]=0", "invalid range 0-99999999"},
      {"L5H1.z[0-5000]=0", "invalid range 0-5000"},
      {"L5H1.z[-1]=0", "invalid range -1--1"},
      {"L5H1.z[0-4000,0-4000]=0", "a list of more than 4096 numbers"},
      {"L5H1.pattern[0-4000,0-4000]=0", "there is no position 256"},
      {"positions=0*256,0*1", "the model has only 256 positions"},
      {repeated("L5H1.pattern[0-255,0-255]=0;", 100), "name more than 16777216 positions"},
      {"L5H1.pattern[8,3]~=0.6;L5H1.pattern[8,2]~=0.6", "add up to 1.2"},
      {"L99999999999.z=0", "expected a whole number"},
      {"L5H1.pattern[8,3]*=2", "single cells take only"},
      {"L5H1.z~=2", "~= sets single cells"},
      {"L4.resid_pre<-\"open", R"(expected "\"" at the end)"},
      {"mask=", "expected none, or rows of 0 and 1"},
      {"L1.positions=0", "\"positions\" takes no layer prefix"},
      {"L9.z=0", "names layer 9, but the model has layers 0 to 5"},
      {"L5H1.z[256]=0", "names position 256"},
      {"L5H1.z=\x1b[31m0", "expected a number at \"\\x1b[31m0\""},
      {"mask=10/11/1", "has a mask whose query 0 has 2 keys instead of 3"},
  };
  for (const auto& [edit, says] : wrong) {
    const std::string said = message_of<model::RunError>([&] { text(edit); });
    EXPECT_THAT(said, HasSubstr(says)) << edit;
    EXPECT_EQ(said.find_first_of("\n\x1b"), std::string::npos);
  }
}

TEST_F(Edits, AWrongListNamesFileAndEdit) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"{", "edits.json: expected JSON, found its end too early, after byte 1"},
      {"{}", "edits.json: expected a list of edits."},
      {"[3]", "edits.json: edit 1: expected an object."},
      {R"([{"mask": "none"}, {"set": 0}])",
       "edits.json: edit 2: expected the key \"site\", \"mask\" or \"position_ids\"."},
      {R"([{"site": "blocks.9.attn.hook_z", "set": 0}])", "the model has no site \"blocks.9.attn.hook_z\""},
      {R"([{"site": "logits"}])", "expected the key \"set\""},
      {R"([{"site": "logits", "set": 0, "scale": 1}])",
       "has both \"set\" and \"scale\"; split it into two edits"},
      {R"([{"site": "logits", "set": 0, "sclae": 1}])", "unknown key \"sclae\""},
      {R"([{"site": "logits", "set": "median"}])", "\"set\" takes a number, a list or \"mean\""},
      {R"([{"site": "logits", "set": null}])", "\"set\" takes numbers, not \"null\""},
      {R"([{"site": "logits", "scale": 1e400}])",
       "edits.json: expected JSON, found a number that is out of range"},
      {R"([{"site": "logits", "scale": 1e300}])", "has a number outside the range of float32"},
      {R"([{"site": "logits", "positions": [], "set": 0}])", "\"positions\" is empty; omit it to mean all"},
      {R"([{"site": "logits", "positions": [1.5], "set": 0}])",
       "\"positions\" takes whole numbers, not \"1.5\""},
      {R"([{"site": "logits", "positions": [9999999999], "set": 0}])", "which is not a valid index"},
      {R"([{"site": "blocks.0.attn.hook_pattern", "cells": [[1, 2]]}])",
       "\"cells\" takes [query, key, value] each"},
      {R"([{"site": "blocks.0.attn.hook_z", "patch": {}}])",
       "\"patch\" takes an object with \"prompt\" or \"ids\""},
      {R"([{"site": "blocks.0.attn.hook_z", "patch": {"prompt": ""}}])",
       "the prompt to patch from has no tokens"},
      {R"([{"site": "blocks.1.attn.hook_q", "patch": {"direct": 1, "edits": [{"mask": "none"}]}}])",
       "\"direct\" of \"patch\" takes true or false"},
      {R"([{"site": "blocks.1.attn.hook_q", "patch": {"direct": true, "edits": [{"mask": "none"}]}}])",
       "only z and mlp_out send"},
      {R"([{"site": "blocks.1.attn.hook_q", "patch": {"direct": true, "prompt": "a"}}])",
       "takes a path from one edit of a sender, and nothing else"},
      {R"([{"site": "blocks.1.attn.hook_q", "patch": {"direct": true}}])", "\"patch\" takes an object with"},
      {R"([{"site": "blocks.0.attn.hook_z", "patch": {"edits": []}}])",
       "\"edits\" of \"patch\" must name some"},
      {R"([{"site": "blocks.0.attn.hook_z", "patch": {"edits": [{"set": 0}]}}])",
       "edits.json: edit 1: edit 1: expected the key \"site\""},
      {"[" + repeated(R"({"site": "blocks.0.attn.hook_z", "patch": {"edits": [)", 7) + repeated("]}}", 7) +
           "]",
       "an edit patches through more than 4 runs"},
      {R"([{"mask": [[1, 2], [1, 1]]}])", "\"mask\" takes \"none\" or rows of 0 and 1"},
      {R"([{"mask": []}])", "\"mask\" is empty"},
      {R"([{"position_ids": [18446744073709551615]}])",
       "has 18446744073709551615, which is not a valid index"},
      {"[" + std::string(50'000, '[') + std::string(50'000, ']') + "]", "nested at most 32 levels deep"},
      {R"([{"mask": "none", "mask": "none"}])", "\"mask\" twice"},
      {R"([{"site": "blocks.0.attn.hook_z", "head": 8, "set": 0}])",
       "names head 8, but the model has heads 0 to 7"},
  };
  for (const auto& [list, says] : wrong)
    EXPECT_THAT(message_of<model::LoadError>([&] { json(list); }), HasSubstr(says)) << list;
}

}  // namespace
}  // namespace headscope::app::edits_test
