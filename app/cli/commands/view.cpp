#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/prompts.h"
#include "app/cli/recipes.h"
#include "app/counted.h"
#include "app/run/analyses/patterns.h"
#include "app/text/output_text.h"
#include "app/views/export.h"
#include "app/views/parts/list_means.h"
#include "app/views/table_fold.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/path_text.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

// A view as a command.
namespace headscope::app {
namespace {

constexpr const char* kFormatsOfViews = "txt|json|csv|png|svg|pdf";
constexpr int kRowsOfText = 40;

// Of an answer that --merge reads.
constexpr std::size_t kMaxPartBytes = std::size_t{512} << 20;
const model::JsonLimits kPartLimits{.values = std::size_t{1} << 25};

FileFormat file_format(Format format) {
  return format == Format::svg ? FileFormat::svg : format == Format::pdf ? FileFormat::pdf : FileFormat::png;
}

/// A view with its arguments, while it answers.
class ViewCommand {
 public:
  ViewCommand(const View& view, const CLI::App& app, Arguments& arguments, const Streams& streams)
      : view_(view),
        app_(app),
        a_(arguments),
        streams_(streams),
        format_(format_of(app, arguments, kFormatsOfViews)) {}

  int run() {
    check();
    if (!a_.merge.empty()) {
      write_merged();
      return 0;
    }
    if (!a_.recipe.empty()) find_subject(a_, a_.recipe);
    Engine engine = start_engine(a_, streams_, Capability::patterns);
    engine_ = &engine;
    if (const std::string why = missing(*engine.model, view_.needs); !why.empty()) throw model::RunError(why);
    prompts_ = a_.over.empty() && a_.session.prompts ? std::make_shared<const PromptList>(*a_.session.prompts)
                                                     : list_of_prompts(a_.over);
    if (engine.mean_over && view_.list_mean.is_in(options())) prompts_ = engine.mean_over->over.list;
    if (prompts_) a_.session.prompts = *prompts_;
    patch_pairs();
    if (view_.needs_list(options()) && !prompts_)
      throw model::RunError("the view " + std::string(view_.id) +
                            " shows a list of prompts; give one with --over");
    const bool picture = is_picture(format_);
    if (picture) fonts_ = viz::Fonts::load();
    if ((picture && !a_.no_recipe) || !a_.recipe.empty()) weights_ = weights_of(engine);
    if (!a_.recipe.empty()) require_weights(a_, weights_);
    if (format_ == Format::json) how_ = how_made(a_, engine);
    answer_all();
    return 0;
  }

 private:
  const View& view_;
  const CLI::App& app_;
  Arguments& a_;
  const Streams& streams_;
  const Format format_;
  Engine* engine_ = nullptr;
  std::shared_ptr<const PromptList> prompts_;  ///< of a view of many prompts
  std::shared_ptr<const viz::Fonts> fonts_;    ///< of pictures
  WeightHashes weights_;
  Json how_;  ///< of JSON
  TableFold means_;
  Selection chosen_;         ///< for the prompt, as given
  int number_ = 1;           ///< of the prompt in its list
  bool is_first_ = true;     ///< of those that succeed: no answer was written yet
  std::string csv_heading_;  ///< of a list; empty: not written yet

  Options& options() { return a_.session.options; }
  bool given(const char* name) const { return is_given(app_, name); }
  bool given(const OptionSpec* option) const {
    return given(("--" + std::string(option->flag_name())).c_str());
  }
  /// Sets an option that the view has and that is not given.
  void choose(Options& options, const OptionSetting& setting) const {
    const auto& [option, value] = setting;
    if (option != nullptr && !given(option)) options.set(*option, value);
  }
  bool is_mean_picture() const { return a_.mean && is_picture(format_); }

  // ---- what goes together ----

  void check() {
    const bool picture = is_picture(format_), list = a_.is_list(), to_file = !a_.out.empty() && a_.out != "-";
    const bool numbered = a_.out.find("{n}") != a_.out.npos, many = list && !a_.mean;
    const bool holds_lines = format_ == Format::text || format_ == Format::csv || a_.out.ends_with(".jsonl");
    const bool part = a_.prompt.shard.count > 1;
    const int max_rows = view_.row_count != nullptr ? static_cast<int>(view_.row_count->high)
                                                    : std::numeric_limits<int>::max();
    refuse(
        {{a_.mean && !list, "--mean requires --prompts, the list that the mean is over"},
         {a_.mean && part && format_ != Format::json,
          "a part of a mean is written as JSON, which --merge reads: give --json, or --out FILE.json"},
         {!a_.merge.empty() && (a_.has_prompt() || picture),
          "--merge adds up what --mean --json wrote: it takes no prompt and draws no picture"},
         {many && to_file && !numbered && !holds_lines,
          "with --prompts there is an answer for each: write JSON to a .jsonl file, or put {n} into the "
          "file's name, which becomes the prompt's number"},
         {to_file && !many && numbered, "{n} in a file's name is for an answer to each of --prompts"},
         {many && picture && !to_file,
          "standard output takes one picture; with --prompts name a file with {n}"},
         {is_mean_picture() && a_.prompt.file == "-",
          "--mean draws the prompts of a file, not of standard input"},
         {given("--align") && !given("--second") && !list && a_.second_attention.empty() && a_.recipe.empty(),
          "--align requires --second"},
         {a_.figure.rows > 0 && picture && !view_.has_list() && view_.row_count == nullptr,
          "the view " + std::string(view_.id) + " has no list, so --rows does not apply to its picture"},
         {picture && a_.figure.rows > max_rows, "--rows: a picture of the view " + std::string(view_.id) +
                                                    " has at most " + std::to_string(max_rows) +
                                                    " rows; for more, write a table"}});
    if (!a_.merge.empty()) return refuse_others({"merge", "json", "out", "format", "bom", "rows"}, "--merge");
    if (is_mean_picture())
      for (const char* option : {"--query", "--key", "--second", "--second-model", "--no-special", "--shard",
                                 "--skip-errors", "--show", "--edit", "--edits"})
        if (given(option))
          throw UsageError(std::string(option) +
                           " does not apply to a picture of means: they are of each prompt in the unedited "
                           "model, measured as its line says");
    choose_list();
    if (!a_.has_prompt() && !a_.model.patterns &&
        (needs_no_prompt(options()) || view_.over_list.is_in(options())))
      a_.prompt.from = PromptArguments::From::given;
    refuse(
        {{a_.mean && !is_mean_picture() && (needs_no_prompt(options()) || view_.over_list.is_in(options())),
          "with these options, the view " + std::string(view_.id) +
              " is the same for every prompt; leave out --mean"}});
    require_prompt(a_, true);
    choose_defaults();
    for (const OptionSpec* option : view_.options)
      if (given(option) && !has_effect(view_, *option, options()))
        throw UsageError("--" + std::string(option->flag_name()) + " has no effect with " +
                         obstacle(*option));
    if (!picture) return;
    complete_figure(app_, a_, format_);
    if (format_ != Format::png) a_.figure.how.scale = figure_for(a_.figure.how.target).how.scale;
  }

  /// Throws UsageError for an option other than these.
  void refuse_others(std::initializer_list<std::string_view> allowed, const std::string& beside) const {
    for (const CLI::Option* option : app_.get_options())
      if (option->count() > 0 && std::ranges::count(allowed, option->get_lnames().front()) == 0)
        throw UsageError(option->get_name() + " does not apply to " + beside);
  }

  /// "--metric kl": the option without which another one would have an effect.
  std::string obstacle(const OptionSpec& option) {
    for (const OptionSpec* other : view_.options) {
      OptionValue value = options().value(*other);
      const std::string now = "--" + std::string(other->flag_name()) + " " + to_text(*other, value);
      for (std::size_t i = 0; other != &option && i < std::max<std::size_t>(1, other->choices.size()); ++i) {
        Options changed = options();
        changed.set(*other, value = stepped(*other, value, 1));
        if (has_effect(view_, option, changed)) return now;
      }
    }
    return "the other options; see " + app_.get_name() + " --help";
  }

  /// Whether, with these options, the view is of the weights alone.
  bool needs_no_prompt(const Options& options) const {
    ViewContext context;
    context.options = options;
    return view_.is_of_model(context);
  }

  /// Views that can show a list show one that is given, unless an option says otherwise; a picture of means
  /// is one of its list.
  void choose_list() {
    if (!a_.mean_over.empty()) choose(options(), view_.list_mean);
    if (a_.mean) choose(options(), view_.for_means);
    if (is_mean_picture()) {
      if (!can_show_means(view_))
        throw UsageError("the view " + std::string(view_.id) + " draws no means; its table has them");
      options().set(kMeanOverList, true);
      a_.over = std::exchange(a_.prompt.file, {});
      a_.prompt.from = PromptArguments::From::nothing;
    }
    if (a_.over.empty() || view_.list_mean.is_in(options())) return;
    if (view_.over_list.option == nullptr)
      throw UsageError("--over is for views of many prompts: " +
                       list_of_views([](const View& view) { return view.over_list.option != nullptr; }));
    choose(options(), view_.over_list);
  }

  /// The pairs of a list that is shown are patched, unless an option says otherwise.
  void patch_pairs() {
    if (!prompts_ || !a_.recipe.empty() || view_.with_second.option == nullptr ||
        given(view_.with_second.option) || !view_.over_list.is_in(options()))
      return;
    const auto has_second = [](const ListedPrompt& line) { return line.second.has_value(); };
    if (std::ranges::none_of(prompts_->prompts, has_second)) return;
    if (!all_have_second(*prompts_))
      throw model::RunError(
          model::quote(prompts_->name) +
          ": some lines have a second prompt to patch from and some have none; choose what is "
          "done to all by --" +
          std::string(view_.with_second.option->flag_name()));
    options().set(*view_.with_second.option, view_.with_second.value);
  }

  /// A second prompt or model chooses patching where a view can patch, and another token the difference of
  /// two logits, and --rows the number of rows, unless an option says otherwise.
  void choose_defaults() {
    const bool has_second = given("--second") || a_.second_model;
    if (has_second && a_.recipe.empty() && a_.session.side == Side::run) choose(options(), view_.with_second);
    if (const OptionSpec* count = view_.row_count; count != nullptr && a_.figure.rows > 0 && !given(count))
      options().set(*count, std::min(a_.figure.rows, static_cast<int>(count->high)));
    if (view_.metric != nullptr && !given(view_.metric) && a_.recipe.empty())
      choose_difference(view_, options());
  }

  // ---- answers ----

  void answer_all() {
    const bool one_file = !is_picture(format_) && a_.out.find("{n}") == a_.out.npos;
    AnswerFile file(one_file ? a_.out : "", streams_);
    const Streams& to = file.streams();
    if (one_file && a_.byte_order_mark) to.out << kByteOrderMark;
    if (engine_->model->patterns) {
      answer({}, "", a_.out, to);
    } else {
      const auto work = [&](const PromptSource& source, const ListedPrompt& prompt) {
        number_ = source.number();
        answer(prompt, source.where(), source.file(a_.out), to);
      };
      const PromptsRun done = for_each_prompt(a_, to, work);
      if (a_.mean && !is_picture(format_)) write_means(done, to);
    }
    file.commit();
  }

  void answer(const ListedPrompt& prompt, const std::string& where, const std::string& out,
              const Streams& to) {
    require_measurable(prompt);
    Options options = a_.session.options;
    Selection selection = a_.session.selection;
    measure_as(prompt, view_, options, selection);
    if (view_.metric != nullptr && given(view_.metric))
      options.set(*view_.metric, a_.session.options.value(*view_.metric));
    if (prompt.second) choose(options, view_.with_second);
    const auto run = std::make_shared<const PromptRun>(
        run_prompt(*engine_, a_, prompt, where, ComparedWith::second, prompt.second));
    warn_about(*run, where, streams_.err);
    require_selection(selection, *run, where, [&](const char* option) {
      const bool of_recipe = !a_.recipe.empty() && !given(option);
      return (of_recipe ? "; it comes from the recipe: override it with " : "; see ") + std::string(option);
    });
    chosen_ = selection;
    DirectAnswers answers(run, engine_->workspace, progress_of(where, streams_));
    with_error_prefix(where, [&] {
      const ViewContext context = context_of(run, options, selection, answers);
      if (is_picture(format_))
        write_output(out, format_, picture(context), streams_);
      else
        write_table(context, where, out, to);
    });
    for (const std::string& skipped : answers.skipped())
      streams_.err << "headscope: " << where << one_line(skipped) << '\n';
  }

  /// What the view is made from. Throws model::RunError for what it cannot show.
  ViewContext context_of(const std::shared_ptr<const PromptRun>& run, const Options& options,
                         const Selection& selection, Answers& answers) {
    static const viz::Theme kLight = viz::light_theme(), kDark = viz::dark_theme();
    ViewContext c;
    c.run = run;
    c.answers = &answers;
    c.selection = clamped(selection, *run);
    c.chosen_query = c.selection.query;
    c.options = options;
    if (!a_.session.tries.empty()) c.tries = std::make_shared<const Tries>(a_.session.tries);
    c.prompts = prompts_;
    c.theme = a_.session.dark ? &kDark : &kLight;
    c.fonts = fonts_.get();
    c.font_size = a_.session.font_size;
    const bool is_list = view_.row_count == nullptr, picture = is_picture(format_);
    c.max_rows = picture || !is_list ? a_.figure.rows : 0;
    if (given("--rows") && a_.figure.rows == 0 && picture == is_list)
      c.max_rows = std::numeric_limits<int>::max();  // all, beyond a picture's limit as well
    const auto fits = [&](const TriedText& tried) { return tried.fits(run->model->config().vocab_size); };
    const Side side = a_.session.side;
    const auto fail = [](const std::string& why) {
      if (!why.empty()) throw model::RunError(why);
    };
    if (!std::ranges::all_of(a_.session.tries, fits))
      fail("the recipe's continuations have token ids that the model " + model::quote(run->model->name) +
           " does not have");
    if ((given("--edit") || given("--edits")) && needs_no_prompt(options))
      fail("with these options, the view " + std::string(view_.id) +
           " is about the unedited model; leave the edits out");
    const bool aligned = given("--align") || !a_.recipe.empty();
    if (!aligned && view_.on_baseline != nullptr && view_.on_baseline(c) && run->baseline &&
        run->baseline->run->length() != run->run->length())
      fail("the second prompt has " + counted(run->baseline->run->length(), "token") +
           ", but the prompt has " + grouped(run->run->length()) + "; give --align to match them");
    if (side != Side::run && !run->baseline)
      fail("there is nothing to compare with: --show needs --edit, --second or --second-model");
    if (side == Side::difference && !view_.shows_difference)
      fail("the view " + std::string(view_.id) + " cannot show differences; those that can are " +
           list_of_views([](const View& other) { return other.shows_difference; }));
    if (side == Side::difference && !can_show_difference(view_, c))
      fail("with these options, the view " + std::string(view_.id) +
           " is about the unedited model, so there is no difference to show");
    c = on_side(side, view_, std::move(c));
    fail(view_.refusal(c));
    return c;
  }

  std::string picture(ViewContext c) {
    ExportOptions options = a_.figure.how;
    c.width = width_on(options.target, a_.figure.width);
    c.height = static_cast<float>(a_.figure.height);
    options.letters_grow = a_.session.font_size == spec_of(options.target).font_size;
    if (!a_.no_recipe) options.notes = {recipe_note(recipe_of(a_, view_, c.options, *c.asked, weights_))};
    try {
      return export_bytes(file_format(format_), view_, c, options);
    } catch (const std::runtime_error& error) {
      throw model::RunError(error.what());
    }
  }

  // ---- tables ----

  /// The options of the view's numbers that are not as they are by default, as the command line takes them.
  Json options_json(const Options& options, const Selection& selection) const {
    Json json = Json::object();
    const View* const shown[] = {&view_};
    for (const OptionSpec* option : chosen_options(shown, options))
      if (!option->of_drawing)
        json[std::string(option->flag_name())] =
            utf8_or_replacement(to_text(*option, options.value(*option)));
    if (a_.session.side != Side::run) json["show"] = name_of(kSideNames, a_.session.side);
    if (selection.query >= 0) json["query"] = selection.query;
    if (selection.key >= 0) json["key"] = selection.key;
    if (a_.session.prompt.plain) json["no-special"] = true;
    if (a_.mean && given("--second")) json["second"] = utf8_or_replacement(a_.session.second.value_or(""));
    if (a_.session.second_on && a_.session.alignment != Alignment::position)
      json["align"] = name_of(kAlignmentNames, a_.session.alignment);
    if (view_.caption.head) json["layer"] = selection.layer, json["head"] = selection.head;
    return json;
  }

  void write_table(const ViewContext& c, const std::string& where, const std::string& out,
                   const Streams& to) {
    Table table = exported_table(view_, c);
    if (table.empty()) throw model::RunError("the view " + std::string(view_.id) + " has no numbers here");
    if (a_.mean) return means_.add(TableFold(table, where), where);
    const bool one_file = out == a_.out;
    if (format_ == Format::csv && one_file && a_.is_list()) number_rows(table);
    Json json;
    if (format_ == Format::json) {
      json = {{"how", with_prompt(how_, *c.run)},
              {"view", view_.id},
              {"options", options_json(c.options, chosen_)}};
      if (a_.is_list()) json["prompt"] = number_;
    }
    std::string text = written(std::move(table), std::move(json));
    if (format_ == Format::csv && one_file && a_.is_list()) text = below_first_heading(text, where);
    if (format_ == Format::text && one_file && a_.is_list())
      to.out << (std::exchange(is_first_, false) ? "" : "\n") << "prompt " << number_ << ":\n";
    if (one_file)
      to.out << text;
    else
      write_output(out, format_, (a_.byte_order_mark ? std::string(kByteOrderMark) : "") + text, streams_);
  }

  /// The tables of a list's prompts in one CSV: the first column says of which prompt a row is.
  void number_rows(Table& table) const {
    Column numbers = key_column("prompt");
    numbers.cells = std::vector<double>(table.rows(), number_);
    if (table.columns.front().name == numbers.name) return;
    table.columns.insert(table.columns.begin(), std::move(numbers));
  }
  /// All but the heading, unless it is the first. Throws model::RunError for another one.
  std::string below_first_heading(const std::string& csv, const std::string& where) {
    const std::size_t end = csv.find('\n') + 1;
    const std::string heading = csv.substr(0, end);
    if (csv_heading_.empty()) {
      csv_heading_ = heading;
      return csv;
    }
    if (heading != csv_heading_)
      throw model::RunError(where +
                            "its table has other columns than the first one; put {n} into the file's "
                            "name, so that each has a file");
    return csv.substr(end);
  }

  /// The table in the answer's format; `json`: what JSON says before it.
  std::string written(Table table, Json json) const {
    const bool as_text = format_ == Format::text;
    const bool on_screen = as_text && (a_.out.empty() || a_.out == "-");
    const int most = given("--rows") || !on_screen ? a_.figure.rows : kRowsOfText;
    const std::size_t all = table.rows();
    if (as_text || most > 0) table = strongest(std::move(table), static_cast<std::size_t>(most));
    if (format_ == Format::csv) return to_csv(table);
    if (as_text) {
      const auto left = static_cast<std::int64_t>(all - table.rows());
      const bool say = left > 0 && !given("--rows");
      return to_text(table) + (say ? "and " + counted(left, "more row") + ": --rows 0 writes all\n" : "");
    }
    json.update(table_json(table));
    return json_line(json) + '\n';
  }

  // ---- means ----

  void write_means(const PromptsRun& done, const Streams& to) {
    Json json;
    if (format_ == Format::json) {
      json = {{"how", how_},
              {"view", view_.id},
              {"options", options_json(a_.session.options, a_.session.selection)},
              {"skipped", done.skipped}};
      if (done.list) json["how"]["list"] = list_json(*done.list);
      if (const Shard& shard = a_.prompt.shard; shard.count > 1)
        json["shard"] = {{"index", shard.index}, {"count", shard.count}};
    }
    to.out << written(means_.means(), std::move(json));
  }

  /// Adds up the parts in the files of --merge. Throws model::LoadError if they do not belong together.
  void write_merged() {
    Json all;
    int skipped = 0;
    std::set<int> shards;
    int count = 0;  // of the parts that there are
    for (const std::string& name : a_.merge) {
      const auto wrong = [&](const std::string& why) { return model::LoadError(name + ": " + why); };
      const auto no_means = [&] {
        return wrong("expected the JSON that --mean writes, found something else");
      };
      try {
        Json part = model::parse_json<Json>(model::read_file(system::path_of(name), kMaxPartBytes), name,
                                            kPartLimits);
        if (part.at("view") != view_.id)
          throw wrong("expected means of the view " + std::string(view_.id) + ", found those of " +
                      model::quote(part["view"].get<std::string>()));
        const Json shard = part.value("shard", Json({{"index", 0}, {"count", 1}}));
        const double index = shard.at("index").get<double>(), of = shard.at("count").get<double>();
        if (!(index >= 0 && index < of && of <= kMaxShards) || (count > 0 && of != count))
          throw wrong("expected a part of a list in as many parts as the first file's, found part " +
                      shard.dump());
        count = static_cast<int>(of);
        if (!shards.insert(static_cast<int>(index)).second)
          throw wrong("it has the same prompts as another file");
        skipped += part.at("skipped").get<int>();
        const int prompts = part.at("facts").at("prompts").get<int>();
        if (prompts < 0) throw no_means();
        const bool has_prompts = prompts > 0;
        for (const char* member : {"how", "options"})
          if (has_prompts && means_.prompts() > 0 && all.at(member) != part.at(member))
            throw wrong("its \"" + std::string(member) + "\" differs from that of " +
                        model::quote(a_.merge.front()) + "; parts are of one list, model and measurement");
        if (has_prompts) means_.add(TableFold::of_means(table_from(part), name + ": "), name + ": ");
        if (all.is_null() || has_prompts) all = std::move(part);
      } catch (const nlohmann::json::exception&) {
        throw no_means();
      } catch (const std::invalid_argument&) {
        throw no_means();
      }
    }
    if (std::ssize(shards) < count)
      throw model::LoadError("found " + std::to_string(shards.size()) + " of " + std::to_string(count) +
                             " parts; --merge takes all of them");
    AnswerFile file(a_.out, streams_);
    if (a_.byte_order_mark) file.streams().out << kByteOrderMark;
    file.streams().out << written(
        means_.means(),
        {{"how", all["how"]}, {"view", view_.id}, {"options", all["options"]}, {"skipped", skipped}});
    file.commit();
  }
};

}  // namespace

Run describe_view(CLI::App& app, const std::shared_ptr<Arguments>& a, const View& view) {
  a->session.view = view.id;
  for (const OptionSpec* option : view.options)
    if (!option->pane_only) add_view_option(app, *a, *option, std::string(option->flag_name()), "View");
  add_computing(app, *a);
  if (has_all(Capability::patterns, view.needs)) add_attention(app, *a);
  add_prompt(app, *a, true);
  add_over(app, *a);
  add_edits(app, *a);
  add_comparison(app, *a);
  add_selection(app, *a);
  app.add_flag(
      "--mean", a->mean,
      "with --prompts: the mean of each number over the prompts, with its standard\nerror and count");
  app.add_option("--merge", a->merge,
                 "instead of a prompt: add up what --mean --json wrote for parts of a list\n(see --shard)")
      ->type_name("FILE.json...");
  app.add_option("--rows", a->figure.rows,
                 "at most N rows: the strongest, or the first ones if rows have no strength;\n0: all")
      ->type_name("N")
      ->check(within(0, 1 << 30));
  add_out(app, *a, kFormatsOfViews,
          "write the table or the picture to this file (default: the table as text);\nwith --prompts, {n} in "
          "its name is the prompt's number from 1");
  add_picture(app, *a, false);
  return [&view, &app, a](const Streams& streams) { return ViewCommand(view, app, *a, streams).run(); };
}

}  // namespace headscope::app
