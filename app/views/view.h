#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/event.h"
#include "app/run/prompt_list.h"
#include "app/run/prompt_run.h"
#include "app/run/question.h"
#include "app/run/tries.h"
#include "app/views/option.h"
#include "app/views/table.h"
#include "model/pass/edits.h"
#include "viz/scene/picture.h"
#include "viz/scene/region.h"
#include "viz/scene/scene.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

namespace headscope::app {

/// The selection, shared by all views.
struct Selection {
  int layer = 0;
  int head = 0;
  int query = -1;  ///< position; -1: the last one
  int key = -1;    ///< position, of a key that the query sees in this head; -1: none
  bool operator==(const Selection&) const = default;
};

using Picture = viz::Picture;

/// Which side of a comparison is shown: the run, its baseline, or their difference.
enum class Side { run, baseline, difference };

/// All that a picture is made of.
struct ViewContext {
  std::shared_ptr<const PromptRun> run;  ///< the shown run; null while the first one is computed
  std::string no_run = "no run yet";     ///< the message of a picture without a run
  Side side = Side::run;                 ///< `baseline`: `run` is the baseline; see `on_side`
  /// The run that questions are about: `run`, or the run whose baseline it is.
  std::shared_ptr<const PromptRun> asked;
  Answers* answers = nullptr;  ///< answers to these questions
  Selection selection;         ///< inside the run: see `clamped`
  int chosen_query = -1;       ///< as chosen: -1 follows the end when the prompt grows
  Options options;
  std::shared_ptr<const Tries> tries;         ///< tried continuations of this model; null: none
  std::shared_ptr<const PromptList> prompts;  ///< for views of many prompts; null: no list is open
  const viz::Theme* theme = nullptr;
  const viz::Fonts* fonts = nullptr;  ///< null: only a table is wanted
  float width = 800;                  ///< logical pixels
  float height = 600;
  float font_size = 14;
  float min_stroke_width = 0;  ///< the thinnest line that is drawn, whatever it stands for; logical pixels
  float least_label = 0;   ///< letters on labels are at least as large as this, or the text; logical pixels
  float device_scale = 1;  ///< device pixels per logical pixel: images are pooled to what is visible
  bool in_pane = false;    ///< drawn in a pane, which has its own title: no title here, nor a legend if there
                           ///< is little room
  int max_rows = 0;        ///< maximum number of a list's rows; 0: as many as fit
  bool titled = true;      ///< false: the picture has no title, and begins where the title would be
  bool printed =
      false;  ///< for a column, a page or a slide: nobody can scroll it, but it may be as high as needed
  bool note_in_caption = false;  ///< the caption below the picture says `View::caption.note`
  bool trimmed = false;  ///< the page will be cut to the figure: it is placed at the left, not in the middle

  /// The answer to a question about the run, possibly a part; null while there is none, and if it failed.
  /// Also requests it, even without a run yet. On the difference side: the difference, if it has one.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> ask(const Q& question) const {
    return ask_on(side, question);
  }
  /// The same on a given side.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> ask_on(Side of, const Q& question) const {
    if (answers == nullptr) return nullptr;
    const std::shared_ptr<const Answer> known = answers->ask(asked_on(of, question));
    return known ? std::static_pointer_cast<const AnswerOf<Q>>(known->value) : nullptr;
  }
  /// Answers about the model alone differ only between two models.
  Question asked_on(Side of, const Question& question) const {
    if (of == Side::baseline) return question.on_baseline();
    const bool differs = !question.is_model_only() || (run && compares_models(*run));
    return of == Side::difference && differs && question.has_difference() ? question.difference() : question;
  }
  bool differs() const { return side == Side::difference; }
  /// The model's; there must be a run.
  const model::Config& config() const { return run->run->config; }
  /// Why a question has no answer; empty while it may still get one.
  std::string failure(const Question& question) const;
  /// The baseline, if the run or the difference is shown; null: none.
  const PromptRun* compared() const { return run && side != Side::baseline ? run->baseline.get() : nullptr; }
};

// Actions that a view can request from the program.
struct SelectHead {
  int layer = 0;
  int head = 0;
};
struct MoveHead {
  int layers = 0;
  int heads = 0;
};
struct SelectQuery {
  int position = -1;
};
struct MoveQuery {
  int by = 0;
};
struct SelectKey {
  int position = -1;  ///< -1: none
};
struct SetOption {
  const OptionSpec* option = nullptr;
  OptionValue value;
};
struct AppendToken {
  int id = 0;
  int after = -1;  ///< position it is a guess for, replaces later tokens; -1: the last one
  double probability = std::numeric_limits<double>::quiet_NaN();  ///< the model's probability; NaN: not known
  std::shared_ptr<const PromptRun> of = {};  ///< the run that made the guess; null: the current one
};
struct SetTokens {
  std::vector<int> ids;  ///< the new prompt's tokens, including a start token that was put first
  std::vector<double> probabilities = {};    ///< probabilities of the last tokens, as far as known
  std::shared_ptr<const PromptRun> of = {};  ///< the run that they continue; null: the current one
};
/// Runs another prompt and selects a place in it.
struct ShowPrompt {
  Prompt prompt;  ///< without edits
  Selection selection;
};
/// Adds an edit unless it is there, while dragging; all edits of one drag are one undo step.
struct DragEdit {
  model::Edit edit;
};
/// Adds an edit, or removes it if it is there.
struct ToggleEdit {
  model::Edit edit;
};
/// Gives a position another row of wpe.
struct SetPositionId {
  int position = 0;
  int id = 0;  ///< -1: none; the position itself: unedited
};
/// Masks or unmasks a key for a query of a head.
struct SetVisibility {
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
  bool sees = false;
};
struct CopyText {
  std::string text;  ///< into the clipboard
};
/// Parts of the model that have their own view; of attention also the weight of a query on a key.
enum class Part { embedding, attention, weight, mlp, unembedding };
struct ShowPart {
  Part part = Part::embedding;  ///< the part whose view is shown
};
using ViewAction =
    std::variant<SelectHead, MoveHead, SelectQuery, MoveQuery, SelectKey, SetOption, AppendToken, SetTokens,
                 ShowPrompt, DragEdit, ToggleEdit, SetPositionId, SetVisibility, CopyText, ShowPart>;
using ViewActions = std::vector<ViewAction>;

/// A user's gesture on a picture. A click is a press and a release without a drag; keys go to the focus.
struct Gesture {
  enum class Kind { click, double_click, drag, wheel, key };
  Kind kind = Kind::click;
  viz::Point at;  ///< in the picture
  /// Drag: distance since the last one, in logical pixels; wheel: steps, up and left positive.
  viz::Point by;
  Modifiers modifiers;
  Key key = Key::none;
};

/// One line of a picture's context menu.
struct MenuLine {
  std::string label;
  ViewActions actions;
};

/// One fact about a place in a picture: "label value unit".
struct Fact {
  enum class Location { both, tooltip, status, menu };

  std::string label;
  std::string value = {};   ///< as shown: "0.25"
  std::string unit = {};    ///< words after the value, left out in the menu
  std::string copied = {};  ///< the text that the menu copies, a number with all its digits; empty: none
  /// Where it appears: tooltip and status line, one of them, or only in the menu.
  Location location = Location::both;
};

/// The facts about a place in a picture, and its commands.
struct Facts {
  viz::Scene overlay = {};  ///< drawn over the picture
  std::vector<Fact> said = {};
  viz::Scene card = {};  ///< a picture in the tooltip, under its lines; width 0: none
  std::vector<MenuLine> commands = {};

  /// Adds words; nothing if they are empty.
  void say(std::string words, Fact::Location location = Fact::Location::both);
  /// Adds words to the tooltip alone.
  void tip(std::string words) { say(std::move(words), Fact::Location::tooltip); }
  /// Adds a value that is copied as shown.
  void value(std::string label, std::string value, Fact::Location location = Fact::Location::both);
  /// Adds a number, with all its digits in the menu; it may be given a unit, or be written in another way.
  Fact& number(std::string label, float value, Fact::Location location = Fact::Location::both);
  Fact& number(std::string label, double value, Fact::Location location = Fact::Location::both);
  /// Adds a menu line only: "Copy the text up to here"; none if `copied` is empty.
  void copy(std::string label, std::string copied);

  std::vector<std::string> tooltip() const { return lines(Fact::Location::tooltip); }
  std::string status() const;
  /// The commands, then lines for copying: "Copy score −0.4123".
  std::vector<MenuLine> menu() const;

 private:
  std::vector<std::string> lines(Fact::Location where) const;
};

/// Width of a picture's scroll bar, in ems.
constexpr float kScrollBar = 0.7F;

/// One direction in which a picture scrolls; the window draws a scroll bar for it.
struct Scroll {
  bool sideways = false;
  /// The part of the picture that moves. The scroll bar has the length of its side, and is drawn to the right
  /// of it, or below it if sideways: a pane's picture keeps that space free.
  viz::Rect along;
  double first = 0;  ///< first line, row or column shown
  double shown = 1;  ///< how many are shown
  double total = 1;  ///< how many there are; at least `shown`
  std::function<ViewActions(double first)> to;
  bool is_zoom = false;  ///< the rest is hidden because an option says so: a figure hides it, too
};

/// A part of a view's picture that a tour can point at: the regions of a role, or what else is said of them.
struct Landmark {
  /// A number that the context has, see `always`; below 0: it is nowhere. Null: whatever it is.
  using Index = int (*)(const ViewContext&);
  std::string_view name;  ///< in a tour's file: "query row"
  int role = 0;
  Index id = nullptr;        ///< of the regions
  Index row = nullptr;       ///< of the cells; of vectors their kind, see viz::VectorStrip::row
  Index col = nullptr;       ///< of the cells
  Index position = nullptr;  ///< of the cells, in regions with a row or else a column for each
  /// The rectangle around all of it that is in sight; nothing if nothing is.
  std::optional<viz::Rect> find(const ViewContext& context, const Picture& picture) const;
};

/// The same index in every context.
template <auto kIndex>
int always(const ViewContext&) {
  return static_cast<int>(kIndex);
}

/// A command with keys, and with a button if it has a label.
struct KeyCommand {
  std::string_view keys;   ///< characters that trigger it together with Alt: "dD"
  std::string_view label;  ///< label of its button in the window; empty: no button
  std::string_view help;   ///< one line, for the list of keys and the button's tooltip
  /// Performs it; `which`: index of the key, 0 for the button. Empty: not possible now.
  std::function<ViewActions(const ViewContext&, int which)> act;
};

/// The stage of the forward pass that a view shows; the model is no stage.
enum class Group { input, attention, block, output, model };

struct GroupSpec {
  Group group;
  std::string_view title;
  std::string_view help;  ///< one line
};

/// All groups, in the order of their values.
inline constexpr GroupSpec kGroups[]{
    {Group::input, "Input", "Views of the input: tokens, embeddings and positions"},
    {Group::attention, "Attention", "Views of attention: what each token reads from earlier ones"},
    {Group::block, "Block", "Views of a whole block: attention, MLP and the residual stream between them"},
    {Group::output, "Output", "Views of the output: logits, probabilities and what leads to them"},
    {Group::model, "Model", "Views of the model's weights, for any prompt"}};

constexpr const GroupSpec& spec_of(Group group) {
  return kGroups[static_cast<std::size_t>(group)];
}

/// Whom a view is for first; the halves of a group's menu.
enum class Audience { learn, research };

constexpr std::string_view audience_title(Audience audience) {
  return audience == Audience::learn ? "Learn" : "Research";
}

/// Where the window shows a view: in a tab, or always in a place of its own.
enum class Place { tab, left, right, strip };

class Content;

/// One row of the table of views. A view is one file: nothing else names its id, options or regions.
struct View {
  std::string_view id;     ///< "heatmap": its name everywhere but in labels
  std::string_view title;  ///< "Heatmap"
  std::string_view help;   ///< one line
  Group group = Group::attention;
  Audience audience = Audience::learn;
  Place place = Place::tab;
  std::optional<Part> part;  ///< the part whose main view it is; none: of no part
  /// The first that is a token is the measured one; a second is the other one, whose logit is subtracted.
  std::vector<const OptionSpec*> options;
  /// The option for the metric that is measured, by the names of kMetrics: as many of the tokens as it names
  /// have an effect, and another token chooses their difference. Null: both have an effect.
  const OptionSpec* metric = nullptr;
  std::vector<KeyCommand> commands;
  std::vector<Landmark> landmarks;  ///< what a tour can point at, besides the whole pane
  /// What it shows, computed once; the frame makes all below of it.
  void (*declare)(Content&) = nullptr;
  bool draws_again = true;  ///< false: its content depends on the picture's width
  /// Menu lines outside all regions and for the menu key: about selection and picture. Null: none.
  std::vector<MenuLine> (*menu)(const ViewContext&) = nullptr;

  Picture build(const ViewContext& context) const;
  /// Its picture from the content of another one, on another page; a new one if that is null or impossible.
  Picture drawn(const ViewContext& context, const std::shared_ptr<void>& content) const;
  /// The facts and commands at a place in the picture, besides those the window offers for all pictures.
  Facts facts(const ViewContext& context, const Picture& picture, const viz::Hit& hit) const;
  Table table(const ViewContext& context) const;
  /// The actions of a gesture, with the current options; the hit is null outside all regions.
  ViewActions on(const ViewContext& context, const Picture& picture, const viz::Hit* hit,
                 const Gesture& gesture) const;
  /// The picture's scroll positions if parts are out of sight.
  std::vector<Scroll> scrolls(const ViewContext& context, const Picture& picture) const;
  /// The height at which nothing scrolls, at the context's width.
  float whole_height(const ViewContext& context) const;

  /// Whether it shows rows of a list, which `ViewContext::max_rows` limits.
  bool has_list() const;
  const OptionSpec* row_count = nullptr;  ///< the option for the number of rows of another list; null: none
  bool shows_difference = true;           ///< can show signed differences, see Side
  /// Shown as soon as parts of its answers are there; else the previous picture stays until all are.
  bool shows_parts = false;
  bool reads_tries = false;  ///< its picture depends on `ViewContext::tries`
  /// With which the view is about `ViewContext::prompts`.
  OptionSetting over_list;
  /// That means over prompts are taken with.
  OptionSetting for_means;
  /// With which an edit of the run sets means over `ViewContext::prompts`. Opening a list does not choose it.
  OptionSetting list_mean;
  /// Whether the view needs a list of prompts for either.
  bool needs_list(const Options& chosen) const { return over_list.is_in(chosen) || list_mean.is_in(chosen); }
  /// That a second prompt or model chooses on the command line, unless the option is given.
  OptionSetting with_second;
  /// The capabilities it needs of the model. If the model lacks one, the view gets no run: see `on_side`.
  Capability needs = Capability::weights;
  bool can_be_made_of(Capability there) const { return has_all(there, needs); }
  /// Why an option's value is not possible with this model, one sentence, or empty; see `refusal`.
  std::string (*refuse)(const ViewContext&) = nullptr;
  /// Why the picture is not possible, for the command line: `refuse`, or a token unknown to the model.
  std::string refusal(const ViewContext& context) const;
  struct {
    bool prompt = true;
    bool head = false;
    bool query = true;  ///< of a view of the prompt
    /// How to read its numbers, which the picture says, too: for figures in print or without a title, whose
    /// readers do not have the program's help.
    std::string note = {};
  } caption;  ///< what its caption names besides the model
  /// The heads that the picture shows, named in its caption in place of the selected one and of options that
  /// are lists of heads. Null: the selected one.
  std::string (*shown_heads)(const ViewContext&) = nullptr;
  /// Whether a prompt's picture, with the current options, shows the model alone. Null: as `caption` says.
  bool (*of_model)(const ViewContext&) = nullptr;
  /// Whether it does, or shows a list of prompts; its caption then names no prompt.
  bool is_of_model(const ViewContext& context) const {
    return over_list.is_in(context.options) || (of_model != nullptr ? of_model(context) : !caption.prompt);
  }
  /// Whether the picture, with the current options, also uses the baseline; its caption then names it. Null:
  /// on the difference side only.
  bool (*on_baseline)(const ViewContext&) = nullptr;
  /// Whether the picture uses an option that applies, so that its caption names it. Null: it uses all.
  bool (*uses)(const ViewContext&, const OptionSpec&) = nullptr;
};

/// All views; the first tab is the default one.
std::span<const View> views();

/// The views with a tab, grouped in the order of the forward pass; in each group those for learners first.
std::span<const View* const> tabs();
/// The view with this id; null: there is none.
const View* find_view(std::string_view id);
/// The main view of a part of the model. Null: there is none.
const View* view_of(Part part);
/// The first view of a place; not the strip's.
const View& view_at(Place place);
/// The prompt's tokens, in the window's strip: not among `views()`. Files have the view of the same id.
const View& token_strip();
/// A view's own menu lines at a place of its picture; null: outside all regions.
std::vector<MenuLine> menu_at(const View& view, const ViewContext& context, const Picture& picture,
                              const viz::Hit* hit);
/// The options of all views, each once, without those that say how a pane shows a view.
std::span<const OptionSpec* const> all_options();
/// The option with this name; null: there is none.
const OptionSpec* find_option(std::string_view name);

/// Whether the view's picture depends on one of its options, given the others.
bool has_effect(const View& view, const OptionSpec& option, const Options& options);
/// The views of a window with one or two tabs (`second` may be empty): these, and those always there.
std::vector<const View*> views_in_window(std::string_view view, std::string_view second);

/// The options of these views that have an effect and are not as by default, each once.
std::vector<const OptionSpec*> chosen_options(std::span<const View* const> shown, const Options& options);
/// The values of the options that a view has, without those that say how a pane shows it.
Options options_of(const View& view, const Options& options);

/// Which of the view's tokens an option is, from 0; -1: none.
int token_place(const View& view, const OptionSpec& option);
/// Another token chooses the difference, unless a metric is chosen that is not the default: View::metric.
void choose_difference(const View& view, Options& options);
/// Whether, with these options, the view is of tokens that each line of the list names, whatever its option
/// for that token says. `prompts`: the open list; null: none.
bool token_comes_from_list(const View& view, const OptionSpec& option, const Options& options,
                           const PromptList* prompts);

/// The selection limited to the run: layer, head and query within their ranges, query -1 resolved to the last
/// position; a key that this query does not see is cleared.
Selection clamped(Selection selection, const PromptRun& run);

/// Whether the view, with the context's options, can show the difference of the run and its baseline: not if
/// it is about the model alone, unless two models are compared.
bool can_show_difference(const View& view, const ViewContext& context);

/// The context for one side of a comparison: the run's side if there is no baseline, or if the view can show
/// no difference. If the view needs weights and the run has none, there is no run, and `no_run` says why.
ViewContext on_side(Side side, const View& view, ViewContext context);

/// "tales · “A robot must …” · L5 H1 · query 8 “ it” · Temperature: 0.5": the line under an exported picture.
/// It says which options have an effect and are not the default.
std::string caption(const View& view, const ViewContext& context);
/// An option and its value in a caption: "Scale: Log", "Edges: 5", "Token: “·it”".
std::string option_words(const OptionSpec& option, const ViewContext& context);
/// Adds the caption under the picture, wrapped to its width; the picture becomes `caption_height` higher.
Picture with_caption(Picture picture, const std::string& caption, const ViewContext& context);
/// Height of a caption under a picture of this width, in logical pixels.
float caption_height(const std::string& caption, float width, const ViewContext& context);

}  // namespace headscope::app
