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

/// What is selected, the same in all views.
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
  std::shared_ptr<const PromptRun> run;    ///< the run that is shown; null while the first one is computed
  std::string no_run = "no run yet";       ///< the message of a picture without a run
  Side side = Side::run;                   ///< `baseline`: `run` is the baseline; see `on_side`
  std::shared_ptr<const PromptRun> asked;  ///< what questions are about: `run`, or the run it is baseline of
  Answers* answers = nullptr;              ///< to these questions
  Selection selection;                     ///< inside the run: see `clamped`
  int chosen_query = -1;                   ///< as chosen: -1 stays the last one when the prompt grows
  Options options;
  std::shared_ptr<const Tries> tries;         ///< of this model; null: none
  std::shared_ptr<const PromptList> prompts;  ///< for views of many prompts; null: none is open
  const viz::Theme* theme = nullptr;
  const viz::Fonts* fonts = nullptr;
  float width = 800;  ///< logical pixels
  float height = 600;
  float font_size = 14;
  float device_scale = 1;  ///< device pixels for a logical one: images are pooled to what can be seen
  bool in_pane = false;  ///< a pane of the window has a title: none here, nor a legend, where these cost room
  bool trimmed = false;  ///< the page will be cut to the figure: it stands at the left, not in the middle

  /// The answer to a question about the run, or as much of it as there is; null while there is nothing, and
  /// where it failed. Asking has it computed, also for the first run while there is none yet. On the
  /// difference side: the difference, of questions that have one.
  template <class Q>
  std::shared_ptr<const typename Q::Answer> ask(const Q& question) const {
    return ask_on(side, question);
  }
  /// The same on a given side.
  template <class Q>
  std::shared_ptr<const typename Q::Answer> ask_on(Side of, const Q& question) const {
    if (answers == nullptr) return nullptr;
    const std::shared_ptr<const Answer> known = answers->ask(asked_on(of, question));
    return known ? std::static_pointer_cast<const typename Q::Answer>(known->value) : nullptr;
  }
  /// What is of the model alone differs only between two models.
  Question asked_on(Side of, const Question& question) const {
    if (of == Side::baseline) return question.on_baseline();
    const bool differs = !question.of_model() || (run && compares_models(*run));
    return of == Side::difference && differs && question.has_difference() ? question.difference() : question;
  }
  /// Why a question has no answer; empty while it may still get one.
  std::string failure(const Question& question) const;
  /// The baseline where the run itself or the difference is shown; null: none.
  const PromptRun* compared() const { return run && side != Side::baseline ? run->baseline.get() : nullptr; }
};

// What a view can ask of the program.
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
  int after = -1;  ///< position whose guess it is, replaces what comes later; -1: the last one
  double probability = std::numeric_limits<double>::quiet_NaN();  ///< the model's; NaN: not known
  std::shared_ptr<const PromptRun> of = {};  ///< the run that it is a guess of; null: the one there is
};
struct SetTokens {
  std::vector<int> ids;  ///< what the prompt becomes; a start token that was put first is one of them
  std::vector<double> probabilities = {};    ///< of the last ones, as far as they are known
  std::shared_ptr<const PromptRun> of = {};  ///< the run that they continue; null: the one there is
};
/// Runs another prompt and looks at a place in it.
struct ShowPrompt {
  Prompt prompt;  ///< without edits
  Selection selection;
};
/// Adds an edit unless it is there; the edits of one drag are one step.
struct PaintEdit {
  model::Edit edit;
};
/// Adds an edit, or removes it when it is there.
struct ToggleEdit {
  model::Edit edit;
};
/// Another row of wpe for a token.
struct SetPositionId {
  int position = 0;
  int id = 0;  ///< -1: none; the position itself: unedited
};
/// Lets a query of a head see a key, or not.
struct PaintMask {
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
  bool sees = false;
};
struct CopyText {
  std::string text;  ///< into the clipboard
};
/// Parts of the model that have their own view.
enum class Part { embedding, attention, mlp, unembedding };
struct ShowPart {
  Part part = Part::embedding;  ///< shows the view of it
};
using ViewAction =
    std::variant<SelectHead, MoveHead, SelectQuery, MoveQuery, SelectKey, SetOption, AppendToken, SetTokens,
                 ShowPrompt, PaintEdit, ToggleEdit, SetPositionId, PaintMask, CopyText, ShowPart>;
using ViewActions = std::vector<ViewAction>;

/// What the user does on a picture. A click is a press and a release without a drag between; a key comes to
/// the picture that has the focus.
struct Gesture {
  enum class Kind { click, double_click, drag, wheel, key };
  Kind kind = Kind::click;
  viz::Point at;  ///< in the picture
  viz::Point by;  ///< drag: since the last one, in logical pixels; wheel: steps, up and left positive
  Modifiers modifiers;
  Key key = Key::none;
};

/// One line of the menu that the right button opens on a picture.
struct MenuLine {
  std::string label;
  ViewActions actions;
};

/// One fact about a place in a picture: "label value unit".
struct Fact {
  enum class In { both, tooltip, status, menu };

  std::string label;
  std::string value = {};   ///< as it is shown: "0.25"
  std::string unit = {};    ///< words after it that the menu leaves out
  std::string copied = {};  ///< what the menu copies, a number with all its digits; empty: nothing
  In in = In::both;         ///< where it is said: tooltip and status line, one of them, or neither
};

/// The facts about a place in a picture, and what can be done there.
struct Facts {
  viz::Scene overlay = {};  ///< drawn over the picture
  std::vector<Fact> said = {};
  viz::Scene card = {};  ///< a picture for the tooltip, under its lines; width 0: none
  std::vector<MenuLine> commands = {};

  /// Nothing where the words are empty.
  void say(std::string words, Fact::In in = Fact::In::both);
  /// One line after the other; the first `in_status` are in the status line, too.
  void say(std::vector<std::string> lines, std::size_t in_status = 99);
  /// A value that is copied as it is said.
  void value(std::string label, std::string value, Fact::In in = Fact::In::both);
  void number(std::string label, float value, Fact::In in = Fact::In::both);
  void number(std::string label, double value, Fact::In in = Fact::In::both);
  /// What only the menu has: "Copy the text up to here"; no line where `copied` is empty.
  void copy(std::string label, std::string copied);

  std::vector<std::string> tooltip() const;
  std::string status() const;
  /// The commands, then what can be copied: "Copy score −0.4123".
  std::vector<MenuLine> menu() const;
};

/// Width of a scroll bar on a picture, in ems.
constexpr float kScrollBar = 0.7F;

/// A way in which a picture can be scrolled; the window puts a scroll bar beside it.
struct Scroll {
  bool sideways = false;
  /// The part of the picture that moves. Its bar is as long as this side of it and stands at the rectangle's
  /// right, or under it where sideways: a pane's picture has nothing there, over the bar's whole width.
  viz::Rect along;
  double first = 0;  ///< first line, row or column that is shown
  double shown = 1;  ///< how many are
  double total = 1;  ///< of all; never less than `shown`
  std::function<ViewActions(double first)> to;
};

/// A command with keys, and with a button where it has a label.
struct KeyCommand {
  std::string_view keys;   ///< the characters that, with Alt, stand for it: "dD"
  std::string_view label;  ///< of its button in the window; empty: none
  std::string_view help;   ///< one line, for the list of keys and as a tip
  /// What it does; `which` of the keys it is, 0 for the button. Nothing: it cannot be done now.
  ViewActions (*act)(const ViewContext&, int which) = nullptr;
};

/// Where a view stands on the way of the data.
enum class Group { input, attention, block, output, model };
std::string_view title_of(Group group);

/// Where the window shows a view: in a tab, or always and alone in a place of its own.
enum class Place { tab, left, right, strip };

/// One row of the table of views. A view is a file: no other one names its id, its options or what its
/// regions' roles mean.
struct View {
  std::string_view id;     ///< "heatmap"
  std::string_view title;  ///< "Heatmap"
  std::string_view help;   ///< one line
  Group group = Group::attention;
  Place place = Place::tab;
  std::optional<Part> part;  ///< whose view it is; none: not the one that is shown for a part
  std::vector<const OptionSpec*> options;
  std::vector<KeyCommand> commands;
  Picture (*build)(const ViewContext&) = nullptr;
  /// What is said of a place, and offered there beside what the window offers for every picture.
  Facts (*facts)(const ViewContext&, const Picture&, const viz::Hit&) = nullptr;
  Table (*table)(const ViewContext&) = nullptr;
  /// What a gesture means, with the options as of now; the hit is null beside all regions. Null: nothing.
  ViewActions (*on)(const ViewContext&, const Picture&, const viz::Hit*, const Gesture&) = nullptr;
  /// What the menu offers beside all regions and by the keyboard: of what is chosen, and of the whole
  /// picture. Null: nothing.
  std::vector<MenuLine> (*menu)(const ViewContext&) = nullptr;
  /// Where the picture is scrolled to, of what is not all in sight; null: nothing ever is out of it.
  std::vector<Scroll> (*scrolls)(const ViewContext&, const Picture&) = nullptr;
  bool shows_difference = false;  ///< can show signed differences, see Side
  /// Shown as soon as some of what it asks is there; else the previous picture stays until all is.
  bool shows_parts = false;
  bool reads_tries = false;  ///< its picture depends on `ViewContext::tries`
  /// With which value of which option it is about `ViewContext::prompts`. Null: it never is.
  const OptionSpec* over_list = nullptr;
  OptionValue over_list_value = {};
  /// What it can be made of: it asks for nothing else of a run, but in what waits for an answer. Where the
  /// model lacks something of it, the view has no run: see `on_side`.
  Capabilities needs = Capability::weights;
  bool can_be_made_of(Capabilities there) const { return there.has(needs); }
  /// Why an option's value cannot be fulfilled with this model, for the command line: one sentence, or empty.
  std::string (*refuse)(const ViewContext&) = nullptr;
  /// The height at which nothing has to scroll at the context's width; null: the view fits any height.
  float (*whole_height)(const ViewContext&) = nullptr;
  /// The size of a figure in which all of it can be read; null: as large as its pane.
  viz::Point (*figure_size)(const ViewContext&) = nullptr;
  struct {
    bool prompt = true;
    bool head = false;
    bool query = false;
  } caption;  ///< what its caption names beside the model
  /// Whether the picture, with the options as of now, shows the model alone: its caption names no prompt
  /// then. Null: as `caption` says.
  bool (*of_model)(const ViewContext&) = nullptr;
  /// Whether the picture, with the options as of now, is of what the run is compared with, too: its caption
  /// names that then. Null: on the difference side alone.
  bool (*on_baseline)(const ViewContext&) = nullptr;
};

/// All views; of the tabs the one that is open at first comes first.
std::span<const View> views();

/// Those with a tab, group by group by the way of the data.
std::span<const View* const> tabs();
const View* find_view(std::string_view id);
/// The tab that is shown for a part of the model. Null: there is none.
const View* view_of(Part part);
/// The first view of a place.
const View& view_at(Place place);
/// The lines of a view's own in the menu at a place of its picture; null: beside all regions.
std::vector<MenuLine> menu_at(const View& view, const ViewContext& context, const Picture& picture,
                              const viz::Hit* hit);
/// Every option that some view has, each once.
std::span<const OptionSpec* const> all_options();
/// Null: no view has an option of that name.
const OptionSpec* find_option(std::string_view name);

/// Whether the view is about a list of prompts, with these options.
bool is_over_list(const View& view, const Options& options);

/// The selection moved into the run: layer, head and query within their ranges, query -1 resolved to the
/// last position; a key that this query does not see is none.
Selection clamped(Selection selection, const PromptRun& run);

/// The context with a side of its run's comparison: the run's side where it has no baseline, or where the
/// view shows no difference. Where the view needs weights and the run has none, there is no run,
/// and `no_run` says why.
ViewContext on_side(Side side, const View& view, ViewContext context);

/// "tales · “A robot must …” · L5 H1 · query 8 “ it” · temperature 0.5": the line under an exported picture.
/// It names the options that do not have their default value.
std::string caption(const View& view, const ViewContext& context);
/// The picture with its caption under it, wrapped to the picture's width: `caption_height` higher.
Picture with_caption(Picture picture, const std::string& caption, const ViewContext& context);
/// Logical pixels that a caption takes under a picture of `width`.
float caption_height(const std::string& caption, float width, const ViewContext& context);

}  // namespace headscope::app
