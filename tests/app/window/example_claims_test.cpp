// What the notes of the bundled example prompts say is true of the bundled model.
#include "tests/app/window/tour_claims.h"
#include "tests/app/window/tours_fixture.h"

namespace headscope::app::example_claims_test {
namespace {

class ExamplesTest : public ToursTest {};

/// The fraction of queries from `first` on for which something holds.
template <class Holds>
double fraction(const RunReader& run, int first, const Holds& holds) {
  int count = 0;
  for (int query = first; query < run.length(); ++query) count += holds(query) ? 1 : 0;
  return static_cast<double>(count) / (run.length() - first);
}

/// The fraction whose largest weight is on the token that came next the first time.
double copied(const RunReader& run, int first) {
  return fraction(run, first, [&](int query) { return run.copies(query); });
}

/// The weight of a query on tokens that contain a text.
float weight_on(const RunReader& run, int query, std::string_view text) {
  float sum = 0;
  for (int key = 0; key <= query; ++key)
    if (run.label(key).find(text) != std::string::npos) sum += run.weight(query, key);
  return sum;
}

const std::map<std::string_view, std::function<bool(const RunReader&)>> kNotes{
    {"Who is she?",
     [](const RunReader& run) {
       return fraction(run, 5, [&](int q) { return (run.strongest(q) == 5) != (run.label(q) == "·dog"); }) ==
              1;
     }},
    {"Once upon a time, twice", [](const RunReader& run) { return copied(run, 14) > 0.5; }},
    {"The robot law",
     [](const RunReader& run) {
       return run.label(5) == "·the" && run.label(15) == "·such" && run.weight(5, 1) > run.weight(8, 1) &&
              run.weight(15, 1) > run.weight(8, 1);
     }},
    {"A name that comes again",
     [](const RunReader& run) {
       const int l = run.selected().key;
       return run.strongest(15) == l && run.label(15) == "·Mar" &&
              RunReader::probability(run.next(), run.id(l)) > 0.9;
     }},
    {"Nonsense, repeated",
     [](const RunReader& run) { return run.label(12) == "·green" && copied(run, 12) == 1; }},
    {"A sentence, twice", [](const RunReader& run) { return copied(run, 33) > 0.5; }},
    {"Nothing to repeat",
     [](const RunReader& run) {
       return fraction(run, 1, [&](int q) { return run.weight(q, 0) > 0.85F; }) == 1;
     }},
    {"One token back",
     [](const RunReader& run) {
       return fraction(run, 1, [&](int q) { return run.strongest(q) == q - 1; }) == 1;
     }},
    {"A quotation that must close",
     [](const RunReader& run) {
       return fraction(run, 9, [&](int q) { return run.strongest(q) == 8; }) == 1 && run.strongest(1) == 0 &&
              run.strongest(2) == 0;
     }},
    {"Two who speak",
     [](const RunReader& run) {
       double sum = 0;
       for (int query = 6; query < run.length(); ++query)
         sum += static_cast<double>(weight_on(run, query, "\""));
       const double mean = sum / (run.length() - 6);
       return mean > 0.7 && mean < 0.8;
     }},
    {"A refrain",
     [](const RunReader& run) {
       const auto [layer, head, query, key] = run.selected();
       return query - key == 33 && run.label(query) == "·me" && run.label(key) == "·a";
     }},
};

TEST_F(ExamplesTest, SelectWhatTheirNotesSayAndTheNotesAreTrue) {
  CoreOptions o = options();
  o.examples = bundled_examples();
  ASSERT_EQ(o.examples.size(), kNotes.size());
  CoreFixture core(std::move(o));
  for (int i = 0; const TourStop& example : std::vector(core.state().examples)) {
    SCOPED_TRACE(example.title);
    apply_and_show(core, ShowExample{i++});
    core.settle();
    const RunReader run(*core.snapshot().run, core.state().selection);
    const auto [layer, head, query, key] = run.selected();
    EXPECT_EQ(std::pair(layer, head), std::pair(*example.layer, *example.head));
    EXPECT_GE(core.state().selection.key, 0);
    EXPECT_EQ(run.strongest(query), key);
    EXPECT_TRUE(kNotes.at(example.title)(run)) << example.caption.front().words;
    EXPECT_EQ(core.snapshot().run->tokens.run_length, core.snapshot().run->tokens.length());
  }
}

TEST_F(ExamplesTest, TheFirstIsShownWithItsTokens) {
  CoreOptions o = options(std::nullopt);
  o.examples = bundled_examples();
  CoreFixture core(std::move(o));
  const Selection first = core.state().selection;
  EXPECT_GE(first.key, 0);
  core.apply(ShowExample{0});
  EXPECT_EQ(core.state().selection, first);
}

}  // namespace
}  // namespace headscope::app::example_claims_test
