// Sources of a score: each product against the definition in double precision, and their sum.
#include "app/run/analyses/score_sources.h"

#include "model/files/error.h"
#include "model/pass/hooks.h"
#include "tests/app/view_fixture.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/textbook.h"

namespace headscope::app::score_sources_test {
namespace {

using Vector = std::vector<double>;
using Kind = StreamSource::Kind;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// The parts of q and k by the textbook, from the reference's own pass.
class Textbook {
 public:
  Textbook(const ReferenceGpt2::Result& result, const std::vector<int>& ids, const model::Config& config,
           int layer, int head)
      : of_(result), ids_(ids), config_(config), layer_(layer), head_(head) {}

  /// [sources][d_head]; column 0: q, 1: k.
  std::vector<Vector> parts(int position, int column) const {
    const Vector stream = of_.blocks[at(layer_)].resid_pre[at(position)];
    const double scale = norm_scale(stream, config_.layer_norm_epsilon);
    std::vector<Vector> parts;
    const auto add = [&](const Vector& written) {
      Vector x = centered(written);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] *= row(block(layer_) + "ln_1.weight")[i] / scale;
      parts.push_back(read(x, column));
    };
    add(row("wte.weight", ids_[at(position)]));
    add(row("wpe.weight", position));
    for (int layer = 0; layer < layer_; ++layer) {
      for (int head = 0; head < config_.n_head; ++head)
        add(head_output(reference_model(), layer, head, of_.heads[at(layer)][at(head)].z[at(position)]));
      add(row(block(layer) + "attn.c_proj.bias"));
      add(of_.blocks[at(layer)].mlp_out[at(position)]);
    }
    parts.push_back(read(row(block(layer_) + "ln_1.bias"), column));
    Vector bias;
    for (int j = 0; j < config_.d_head(); ++j)
      bias.push_back(reference_model().parameter(block(layer_) + "attn.c_attn.bias")[at(first(column) + j)]);
    parts.push_back(bias);
    return parts;
  }
  double score(int query, int key) const {
    return of_.heads[at(layer_)][at(head_)].scaled[at(query)][at(key)];
  }

 private:
  const ReferenceGpt2::Result& of_;
  std::vector<int> ids_;
  model::Config config_;
  int layer_, head_;

  static std::string block(int layer) { return "h." + std::to_string(layer) + "."; }
  int first(int column) const { return column * config_.n_embd + head_ * config_.d_head(); }
  static Vector row(const std::string& name, int index = 0) { return row_of(reference_model(), name, index); }
  Vector read(const Vector& x, int column) const {
    return times_columns(reference_model().parameter(block(layer_) + "attn.c_attn.weight"), x, first(column),
                         config_.d_head());
  }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

void expect_textbook(const ScoreSources& s, const Textbook& textbook, double factor) {
  const auto q = textbook.parts(s.query, 0), k = textbook.parts(s.key, 1);
  ASSERT_EQ(s.sources.size(), q.size());
  const double largest = largest_of(s.products);
  for (int i = 0; i < s.count(); ++i)
    for (int j = 0; j < s.count(); ++j)
      ASSERT_NEAR(s.product(i, j), factor * dot(q[at(i)], k[at(j)]), 2e-5 * largest) << i << " " << j;
  EXPECT_NEAR(s.score, textbook.score(s.query, s.key), 2e-5 * std::max(largest, std::abs(s.score)));
  EXPECT_LT(std::abs(s.rounding_error()), 1e-5 * largest);
}

TEST(ScoreSourcesOf, AreTheTextbooksAtTheFirstAndTheLastLayer) {
  for (const int length : {1, 12, 256}) {
    const Scenario& s = scenario(length);
    const double factor = 1 / std::sqrt(static_cast<double>(s.config().d_head()));
    for (const int layer : {0, 3, s.config().n_layer - 1})
      for (const auto& [query, key] : std::vector<std::pair<int, int>>{
               {length - 1, 0}, {length - 1, length / 2}, {length / 2, length / 2}}) {
        SCOPED_TRACE(std::to_string(length) + " tokens, layer " + std::to_string(layer) + ", " +
                     std::to_string(query) + " " + std::to_string(key));
        const auto answer = s.ask(ScoreSourcesOf{layer, 5, query, key});
        EXPECT_EQ(answer->count(), 2 + layer * (s.config().n_head + 2) + 2);
        expect_textbook(*answer, Textbook(reference(s), s.run->tokens.ids(), s.config(), layer, 5), factor);
      }
  }
}

/// An edit of one unit at every position, and whether it is outside the parts of layer 3.
constexpr std::pair<const char*, bool> kEdits[]{
    {"embed[*][2]+=1.5", false},     {"L0.resid_pre[*][5]+=1", true},  {"L1.attn_out[*][7]*=0.5", true},
    {"L2.resid_mid[*][3]+=2", true}, {"L2.resid_post[*][9]*=3", true}, {"L3.resid_pre[*][11]+=1", true},
    {"L1.mlp_out[*][4]=0", false},   {"L3.ln1_scale*=1.25", false},    {"L3.ln1[*][6]+=1", true},
    {"L3H2.q[*][3]+=1", true},       {"L3H2.k[*][8]*=2", true},        {"L3H4.q[*][3]+=1", false},
    {"L3.resid_mid[*][1]+=1", false}};

TEST(ScoreSourcesOf, WhatEditsAddIsAPartOfItsOwn) {
  for (const auto& [text, outside] : kEdits) {
    SCOPED_TRACE(text);
    const Scenario s = with_edits(text);
    const Scenario plain(kRobot);
    const int query = s.length() - 1, key = 4;
    const auto a = s.ask(ScoreSourcesOf{3, 2, query, key});
    EXPECT_EQ(a->edited(), outside);
    const double largest = largest_of(a->products);
    EXPECT_LT(std::abs(a->rounding_error()), 1e-5 * largest);
    // The reference's score, with the same edit.
    const model::Edits& edits = s.run->prompt.edits;
    const auto result = reference_model().run(s.run->tokens.ids(), model::by_hand(edits, {}));
    EXPECT_NEAR(a->score, result.heads[3][2].scaled[at(query)][at(key)], 2e-5 * largest);
    // What the parts are does not depend on an edit after them.
    if (model::has_heads(point_of(edits.front()).site)) {
      const auto b = plain.ask(ScoreSourcesOf{3, 2, query, key});
      for (int i = 0; i < b->count(); ++i)
        for (int j = 0; j < b->count(); ++j) ASSERT_EQ(a->product(i, j), b->product(i, j));
    }
  }
}

TEST(ScoreSourcesOf, ADifferenceIsThatOfTheCounterparts) {
  const Scenario s = of_two(), second(PromptRun(*s.run->baseline));
  const int query = counterpart_of(*s.run, 3), key = counterpart_of(*s.run, 1);
  EXPECT_EQ(std::pair(query, key), std::pair(4, 2));
  const auto difference = s.ask_difference(ScoreSourcesOf{3, 2, 3, 1});
  const auto after = s.ask(ScoreSourcesOf{3, 2, 3, 1}), before = second.ask(ScoreSourcesOf{3, 2, query, key});
  EXPECT_EQ(difference->score, after->score - before->score);
  for (std::size_t i = 0; i < after->products.size(); ++i)
    EXPECT_EQ(difference->products[i], after->products[i] - before->products[i]);
  const Scenario edits = edited("L1.attn_out[*][7]*=0.5");
  const auto both = edits.ask_difference(ScoreSourcesOf{3, 2, 5, 4});
  EXPECT_TRUE(both->edited()) << "the unedited run has a part of 0 there";
  const auto whole = edits.ask(ScoreSourcesOf{3, 2, 5, 4});
  EXPECT_NEAR(both->sum(), both->score, 1e-5 * largest_of(whole->products));
}

}  // namespace
}  // namespace headscope::app::score_sources_test
