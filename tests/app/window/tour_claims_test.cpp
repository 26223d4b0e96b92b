// What the bundled tours and the notes of the examples say is true: with foreign prompts, heads, models,
// edits and comparisons every number is the run's, and no sentence about another one is shown; with a tour's
// own prompt and the bundled model, every sentence about them is checked against the run.
#include <iterator>

#include "app/run/analyses/geometry.h"
#include "app/run/analyses/vocabulary.h"
#include "app/tour/tour.h"
#include "model/files/file_io.h"
#include "tests/app/window/tour_claims.h"
#include "tests/app/window/tours_fixture.h"
#include "tests/support/drawn_text.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/source_folders.h"

namespace headscope::app::tour_claims_test {
namespace {

/// The texts between a paragraph's names in braces and, read from what is shown, those in place of the names;
/// nothing if it is another paragraph.
std::optional<std::vector<std::string>> values_shown(std::string_view paragraph, std::string_view shown) {
  std::vector<std::string> values;
  for (const std::string_view name : numbers_in(paragraph)) {
    const std::size_t open = paragraph.find('{');
    if (!shown.starts_with(paragraph.substr(0, open))) return std::nullopt;
    shown.remove_prefix(open);
    paragraph.remove_prefix(open + name.size() + 2);
    const std::string_view until = paragraph.substr(0, paragraph.find('{'));
    const bool last = until.size() == paragraph.size();
    if (last && !shown.ends_with(until)) return std::nullopt;
    const std::size_t end = last ? shown.size() - until.size() : shown.find(until);
    if (end == std::string_view::npos) return std::nullopt;
    values.emplace_back(shown.substr(0, end));
    shown.remove_prefix(end);
  }
  return shown == paragraph ? std::optional(values) : std::nullopt;
}

void expect_value(std::string_view name, const std::string& shown, const RunReader& run) {
  const auto expected = run.value(name);
  if (const auto* words = std::get_if<std::string>(&expected)) {
    EXPECT_EQ(shown, *words) << name;
    return;
  }
  const bool is_bound = shown.starts_with("> ");
  const auto number = viz::testing::read_number(is_bound ? shown.substr(2) : shown);
  ASSERT_TRUE(number) << name << ": " << shown;
  if (is_bound)
    EXPECT_GT(std::get<double>(expected), number->value) << name;
  else
    EXPECT_NEAR(number->value, std::get<double>(expected), number->rounding + 1e-6) << name;
}

/// Whether each query's largest weight in the selected head is on the token before it.
bool attends_back(const Core&, const RunReader& run) {
  return count_of(1, run.length(), [&](int q) {
           return run.strongest(q) == q - 1 && run.weight(q, q - 1) > 0.5F;
         }) == run.length() - 1;
}

/// The mean cosine of rows at a distance, and how much it varies along that diagonal.
std::pair<double, double> cosines_at(const RunReader& run, int distance) {
  constexpr int kPositions = 256;
  double sum = 0, squares = 0;
  for (int p = 0; p + distance < kPositions; ++p) {
    const double cosine = run.cosine_of_positions(p, p + distance);
    sum += cosine, squares += cosine * cosine;
  }
  const double count = kPositions - distance, mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

/// The cosine of the whole position table with the sinusoids that the bundled model's training began with.
double cosine_with_start(const PromptRun& run) {
  const int positions = run.run->config.n_ctx, d = run.run->config.n_embd;
  const auto table = run.model->transformer->position_embedding();
  double dot = 0, squares = 0, start_squares = 0;
  for (int p = 0; p < positions; ++p)
    for (int i = 0; i < d; ++i) {
      const double wavelength = 2.5 * std::pow(2 * positions / 2.5, static_cast<double>(i / 2 * 2) / d);
      const double angle = 2 * std::numbers::pi * p / wavelength,
                   start = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
      const auto value = static_cast<double>(table[static_cast<std::size_t>(p) * d + i]);
      dot += value * start, squares += value * value, start_squares += start * start;
    }
  return dot / std::sqrt(squares * start_squares);
}

bool began_as_sinusoids(const Core& core, const RunReader&) {
  return cosine_with_start(*core.snapshot().run) > 0.75;
}

std::vector<Claim> claims_of_attention() {
  return {
      {"“·young”, “·old” and “·small” are used much like “little”",
       [](const Core& core, const RunReader& run) {
         model::Workspace workspace;
         const auto nearest = NearestTo{core.state().selection.query}.compute(*core.snapshot().run,
                                                                              {workspace, {}, {}, {}, {}});
         std::set<std::string> labels;
         for (const Neighbour& token : nearest.tokens) labels.insert(run.label_of_id(token.id));
         return run.label(run.selected().query) == "·little" && labels.contains("·young") &&
                labels.contains("·old") && labels.contains("·small");
       }},
      {"Training did not discover the waves", began_as_sinusoids},
      {"The learned table of this model has waves", began_as_sinusoids},
      {"From each token, the largest weight is on the token directly before", attends_back},
      {"Next to the diagonal, the similarity is still high",
       [](const Core&, const RunReader& run) {
         return cosines_at(run, 1).first > 0.6 && cosines_at(run, 1).first > 4 * cosines_at(run, 100).first;
       }},
      {"This head does one simple thing", attends_back},
      {"Several heads put most of their weight on the first",
       [](const Core&, const RunReader& run) {
         const auto mean_on_first = [&](int number) {
           double sum = 0;
           for (int q = 1; q < run.length(); ++q)
             sum += static_cast<double>(run.weight(number / 8, number % 8, q, 0));
           return sum / (run.length() - 1);
         };
         return count_of(0, 48, [&](int number) { return mean_on_first(number) > 0.5; }) >= 4;
       }},
      {"So “she” reads most from “girl”",
       [](const Core&, const RunReader& run) {
         const int she = run.selected().query, girl = 5;
         const auto reads_girl = [&](int q) { return run.strongest(q) == girl; };
         return run.label(she) == "·she" && run.label(girl) == "·girl" && reads_girl(she) &&
                count_of(girl + 1, run.length(), reads_girl) == run.length() - girl - 2;
       }},
      {"A nonsense sentence, followed by its own beginning",
       [](const Core&, const RunReader& run) {
         return count_of(1, 6, [&](int i) { return run.id(i) == run.id(i + 11); }) == 5 && run.length() == 17;
       }},
      {"That is what followed “golden” the first time",
       [](const Core&, const RunReader& run) {
         const int last = run.selected().query;
         return run.label(5) == "·golden" && run.id(last) == run.id(5) &&
                RunReader::guesses(run.next())[0] == run.id(6) &&
                count_of(0, 48, [&](int n) { return run.weight(n / 8, n % 8, last, 6) > 0.5F; }) >= 3 &&
                run.weight(2, 5, last, 6) > 0.5F;
       }},
      {"How can the key of “·bread” show",
       [](const Core&, const RunReader& run) {
         return run.label(5) == "·golden" && run.label(6) == "·bread" && run.selected().layer > 0 &&
                count_of(1, run.length(), [&](int q) { return run.weight(0, 0, q, q - 1) > 0.9F; }) ==
                    run.length() - 1;
       }},
      {"Click other tokens of the second sentence",
       [](const Core&, const RunReader& run) {
         return run.label(10) == "·Then" && count_of(10, 17, [&](int q) { return run.copies(q); }) > 3;
       }},
      {"In the second sentence the lines run in parallel",
       [](const Core& core, const RunReader& run) {
         return std::get<bool>(core.state().options.value(*find_option("all-queries"))) &&
                count_of(10, 17, [&](int q) { return run.copies(q); }) > 3 &&
                count_of(1, 10, [&](int q) { return run.strongest(q) == 0; }) > 6;
       }},
      {"“the dog saw the man” and “the man saw the dog”",
       [](const Core&, const RunReader& run) {
         std::vector<int> one, other;
         for (int i = 0; i < 5; ++i) one.push_back(run.id(2 + i)), other.push_back(run.id(9 + i));
         const bool differ = one != other;
         std::ranges::sort(one), std::ranges::sort(other);
         return differ && one == other && run.label(2) == "·the" && run.label(6) == "·man" &&
                run.label(13) == "·dog";
       }},
      {"The learned rows of this model, which began as sines and cosines, are similar",
       [](const Core&, const RunReader& run) {
         return cosines_at(run, 1).first > 0.6 && cosines_at(run, 1).second > 0.02;
       }},
      {"“·P” is how “Pellinor” begins",
       [](const Core&, const RunReader& run) {
         return run.label(5) + run.label(6) + run.label(7) + run.label(8) == "·Pellinor" &&
                RunReader::guesses(run.next())[0] == run.id(5) &&
                count_of(0, run.length(), [&](int i) { return run.id(i) == run.id(5); }) == 1;
       }},
      {"“·P” is the token that followed “Mr.” the first time",
       [](const Core&, const RunReader& run) {
         const int last = run.selected().query;
         return run.label(3) == "·Mr" && run.label(4) == "." && run.label(5) == "·P" &&
                run.strongest(last) == 5 && run.selected().key == 5 && run.label(10) == "·horse" &&
                run.label(11) == "." && run.weight(last, 12) < 0.05F;
       }},
      {"The model is less certain now",
       [](const Core&, const RunReader& run) {
         const int p = run.id(5);
         return RunReader::guesses(run.next())[0] == p &&
                RunReader::probability(run.next(), p) < RunReader::probability(run.next_before(), p) - 0.2;
       }},
      {"Nothing is edited at this stop. Of all heads",
       [](const Core&, const RunReader& run) {
         const int last = run.selected().query, heads = 8;
         std::vector<int> strongest = run.heads_by_push();
         strongest.resize(3);
         return strongest == std::vector{heads + 6, 2 * heads + 5, heads + 1} &&
                std::ranges::all_of(strongest,
                                    [&](int n) { return run.weight(n / heads, n % heads, last, 5) > 0.5F; });
       }},
      {"They are not the only induction heads",
       [](const Core& core, const RunReader& run) {
         const RunReader unedited(*core.snapshot().run->baseline, core.state().selection);
         const int last = unedited.length() - 1, p = run.id(5);
         return unedited.copies(2, 6, last) && unedited.copies(2, 6, last - 1) &&
                RunReader::guesses(run.next())[0] != p && RunReader::probability(run.next(), p) < 0.05;
       }},
      {"L0 H0 attends from each token to the one before it",
       [](const Core& core, const RunReader& run) {
         const RunReader unedited(*core.snapshot().run->baseline, core.state().selection);
         const int last = run.selected().query, p = run.id(5);
         return core.snapshot().run->prompt.edits.size() == 1 && run.label(5) == "·P" &&
                count_of(1, last + 1, [&](int q) { return run.weight(0, 0, q, q - 1) > 0.5F; }) == last &&
                unedited.weight(last, 5) > 0.5F && run.weight(last, 5) < 0.1F &&
                RunReader::probability(run.next(), p) < 0.2;
       }},
  };
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> kClaims = [] {
    std::vector<Claim> all = claims_of_attention();
    std::ranges::move(claims_of_circuits(), std::back_inserter(all));
    return all;
  }();
  return kClaims;
}

/// The check of a paragraph; null: it has none.
const Claim* claim_of(const TourParagraph& paragraph) {
  const auto claim = std::ranges::find_if(
      claims(), [&](const Claim& one) { return paragraph.words.starts_with(one.begins); });
  return claim == claims().end() ? nullptr : &*claim;
}

class TourClaimsTest : public ToursTest {
 protected:
  static RunReader reader(const Core& core) { return {*core.snapshot().run, core.state().selection}; }

  /// The paragraphs of the open stop that are shown, after comparing their numbers with the run, and the
  /// panel's text with them.
  static std::vector<const TourParagraph*> shown_and_true(const Core& core) {
    const RunReader run = reader(core);
    const std::string panel = words_of_panels(core);
    std::vector<const TourParagraph*> shown;
    for (const std::string& words : paragraphs_of(core)) {
      EXPECT_THAT(panel, HasSubstr(words));
      const TourParagraph* found = nullptr;  // the longest: another one's words may be its beginning
      for (const TourParagraph& paragraph : open_stop(core).caption)
        if (values_shown(paragraph.words, words) && (!found || paragraph.words.size() > found->words.size()))
          found = &paragraph;
      EXPECT_NE(found, nullptr) << words;
      if (!found) continue;
      shown.push_back(found);
      const auto names = numbers_in(found->words);
      const auto values = values_shown(found->words, words).value();
      for (std::size_t i = 0; i < names.size(); ++i) expect_value(names[i], values[i], run);
    }
    return shown;
  }

  static bool is_under(const TourParagraph& paragraph, std::string_view condition) {
    return std::ranges::count(paragraph.conditions, condition, &Condition::name) > 0;
  }

  /// Walks through all stops; at each of them `change` is applied, after which no sentence under one of the
  /// conditions may be shown.
  static void walk(Core& core, const std::function<void(Core&)>& change,
                   const std::vector<std::string_view>& conditions) {
    for_each_stop(core, [&] {
      core.apply(GoToStop{core.state().tour.stop});  // back to its prompt
      shown(core);
      change(core);
      shown(core);
      for (const viz::Rect& outline : core.window().outlines)
        EXPECT_TRUE((viz::Rect{0, 0, 1600, 1000}.encloses(outline)));
      const RunReader run = reader(core);
      for (const TourParagraph* paragraph : shown_and_true(core)) {
        for (const std::string_view condition : conditions)
          EXPECT_FALSE(is_under(*paragraph, condition)) << paragraph->words;
        const Claim* claim = claim_of(*paragraph);
        EXPECT_TRUE(claim == nullptr || claim->holds(core, run))
            << "more conditions are needed: " << paragraph->words;
      }
    });
  }

  static void replace_prompt(Core& core, const std::string& text) {
    core.apply(TypeInField{Field::prompt, Replace{text}});
  }
  static void other_head(Core& core) {
    const Selection now = clamped(core.state().selection, *core.snapshot().run);
    core.apply(SelectHead{now.layer, now.head == 3 ? 2 : 3});
  }
};

TEST_F(TourClaimsTest, HoldForOtherPromptsEditsAndComparisons) {
  struct Other {
    std::function<void(Core&)> change;
    std::vector<std::string_view> conditions;
  };
  const std::vector<Other> all{
      {[](Core& c) { replace_prompt(c, "The"); }, {"this prompt"}},
      {[](Core& c) { replace_prompt(c, long_prompt()); }, {"this prompt"}},
      {[](Core& c) {
         replace_prompt(c, "Ein Käfer 🐞 traf die Prinzessin — 王女 ね, ein Käfer 🐞");
         other_head(c);
       },
       {"this prompt", "this head"}},
      {[](Core& c) {
         c.apply(AddEdits{{model::SetMean{{{model::Site::z, 3}, 2, {}, {}}}}});
       },
       {"these edits"}},
      {[](Core& c) {
         c.apply(CompareWith{true, Alignment::position});
         c.apply(TypeInField{Field::second, Replace{"The queen had a son, and the queen"}});
       },
       {"these edits", "this comparison"}},
  };
  for (const Other& other : all) {
    SCOPED_TRACE(&other - all.data());
    CoreFixture core(with_tours());
    walk(core, other.change, other.conditions);
  }
}

TEST_F(TourClaimsTest, HoldForOtherModels) {
  for (const auto& [layers, heads, text] : {std::tuple{1, 1, ""}, {3, 2, "The fox saw the fox"}}) {
    write_other_model(folder_, {.layers = layers, .heads = heads, .positions = 64, .vocabulary = 4096});
    CoreFixture core(with_tours());
    apply_and_show(core, OpenModel{folder_.path()});
    ASSERT_EQ(core.snapshot().model->folder, folder_.path());
    std::vector<std::string_view> conditions{"this model"};
    if (*text) conditions.emplace_back("this prompt");
    const auto change = [text = text](Core& c) {
      if (*text) replace_prompt(c, text);
    };
    walk(core, change, conditions);
  }
}

TEST_F(TourClaimsTest, AreAboutTheBundledModelWhereverItsFilesAre) {
  std::filesystem::copy(bundled_folder(), folder_.path() / "a copy",
                        std::filesystem::copy_options::recursive);
  CoreFixture core(with_tour(
      "# T\n\nAbout.\n\n## S\n- prompt: The old king\n- if: this model\nIt is.\n- otherwise\nNo.\n"));
  EXPECT_THAT(paragraphs_of(core), ElementsAre("It is."));
  apply_and_show(core, OpenModel{folder_.path() / "a copy"});
  ASSERT_EQ(core.snapshot().model->folder, folder_.path() / "a copy");
  EXPECT_THAT(paragraphs_of(core), ElementsAre("It is."));
}

TEST_F(TourClaimsTest, AboutTheToursOwnPromptAndTheBundledModelAreTrue) {
  CoreFixture core(with_tours());
  std::set<std::string_view> used;
  for_each_stop(core, [&] {
    shown(core);
    const auto shown_ones = shown_and_true(core);
    const RunReader run = reader(core);
    for (const TourParagraph& paragraph : open_stop(core).caption) {
      if (!is_under(paragraph, "this prompt") && !is_under(paragraph, "this model")) continue;
      EXPECT_THAT(shown_ones, Contains(&paragraph)) << paragraph.words;
      const Claim* claim = claim_of(paragraph);
      ASSERT_NE(claim, nullptr) << "nothing checks: " << paragraph.words;
      EXPECT_TRUE(claim->holds(core, run)) << paragraph.words;
      used.insert(claim->begins);
    }
  });
  EXPECT_EQ(used.size(), claims().size()) << "a check is of no sentence";
}

TEST_F(TourClaimsTest, TheSampleOfTheGuideHoldsForTheBundledModel) {
  for (const char* file : {"assets/guide/tours.md", "CONTRIBUTING.md"}) {
    const std::string page = model::read_file(testing::source_dir() / file);
    const std::size_t begin = page.find("# Where a head looks");
    CoreFixture core(with_tour(page.substr(begin, page.find("```", begin) - begin)));
    shown(core);
    EXPECT_EQ(shown_and_true(core).size(), 2U);
    EXPECT_THAT(paragraphs_of(core), Contains(HasSubstr("follows an earlier"))) << file;
  }
}

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
}  // namespace headscope::app::tour_claims_test
