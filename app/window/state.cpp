#include "app/window/state.h"

#include <algorithm>
#include <limits>

#include "app/run/edits/edit_text.h"
#include "app/run/edits/moved_edits.h"
#include "app/views/output/sampling_options.h"
#include "app/window/edit_reducer.h"
#include "app/window/extent.h"
#include "app/window/forms_reducer.h"
#include "app/window/look_reducer.h"
#include "app/window/news_reducer.h"
#include "app/window/sessions.h"
#include "app/window/visits.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

/// The overloads below change one state for one action each; what has to happen outside goes into `effects`.
class Reducer {
 public:
  Reducer(UiState& state, std::vector<Effect>& effects, const Snapshot& snapshot)
      : s_(state), effects_(effects), snapshot_(snapshot) {}

  /// The prompt, as it was, where the action put another one in its place.
  std::optional<Prompt> replaced() && { return std::move(replaced_); }

  void operator()(const TypeInField& a) {
    TextField& field = field_of(s_, a.field);
    const bool moves_only =
        std::holds_alternative<Move>(a.command) || std::holds_alternative<MoveTo>(a.command) ||
        std::holds_alternative<Select>(a.command) || std::holds_alternative<SelectAll>(a.command);
    field.edit = apply(std::move(field.edit), a.command);
    if (moves_only) return;
    if (a.field == Field::prompt) prompt_changed();
    if (a.field == Field::option) option_typed();
    if (a.field == Field::edits) s_.edits.problem.clear();
    if (a.field == Field::session_path) s_.save_form.asked = false, s_.save_form.problem.clear();
    if (a.field == Field::export_path || a.field == Field::export_size) forget_answer(s_.export_form);
  }

  void operator()(const SetPrompt& a) {
    replace_prompt({a.text, {}, s_.start_token});
    s_.selection.query = s_.selection.key = -1;
    s_.hint = a.hint;
    s_.hint_text = a.text;
    if (a.head) (*this)(SelectHead{a.head->layer, a.head->head});
  }

  void operator()(const ShowIds& a) {
    s_.prompt.edit = make_edit_state(a.text);
    s_.ids = a.ids;
  }

  void operator()(const AppendToken& a) {
    if (is_second_prompt(a.of)) return continue_second(a);
    const bool is_of_this = is_shown_run(a.of), is_of_text = is_of_this || is_other_of_these_tokens(a.of);
    if (a.after >= 0 && !is_of_text) return;  // the guess is of a text that is no more
    auto ids = all_ids();
    if (!ids || (a.of && a.of->model != snapshot_.model && !is_of_text)) return;
    const std::vector<int> before = *ids;
    if (a.after >= 0) ids->resize(std::min(ids->size(), static_cast<std::size_t>(a.after) + 1));
    ids->push_back(a.id);
    const double probability = is_of_this ? a.probability : std::numeric_limits<double>::quiet_NaN();
    become(before, *ids, {&probability, 1}, s_.generation.running);
    if (s_.generation.running && ++s_.generation.made >= Generation::kMost) s_.generation.running = false;
  }

  void operator()(const SetTokens& a) {
    const auto before = all_ids();
    if (!before || !(is_shown_run(a.of) || is_other_of_these_tokens(a.of))) return;
    s_.generation.running = false;
    become(*before, a.ids, is_shown_run(a.of) ? a.probabilities : std::vector<double>(), false);
  }

  void operator()(const ShowPrompt& a) {
    if (!snapshot_.model || snapshot_.model->patterns) return;
    Prompt prompt = a.prompt;
    if (!prompt.ids.empty()) prompt.text = snapshot_.model->tokenizer->decode(prompt.ids);
    replace_prompt(prompt);
    s_.selection = a.selection;  // its run may still be to come
    if (s_.side == Side::baseline) s_.side = Side::run;
  }

  /// A view that is shown in the other pane already changes places with the one of this pane.
  void operator()(const ShowView& a) {
    const View* view = find_view(a.id);
    if (!view || view->place != Place::tab) return;
    std::string& here = a.beside ? s_.beside : s_.view;
    std::string& there = a.beside ? s_.view : s_.beside;
    if (there == a.id) there = here.empty() ? next_tab(a.id, 1) : here;
    here = a.id;
    show_option_text(s_);
    save(effects_);
  }

  void operator()(const ShowPart& a) {
    if (const View* view = view_of(a.part)) (*this)(ShowView{std::string(view->id)});
  }

  void operator()(const StepView& a) {
    std::string id = next_tab(s_.view, a.by);
    if (id == s_.beside) id = next_tab(id, a.by);
    (*this)(ShowView{std::move(id)});
  }

  void operator()(const CloseBeside&) {
    s_.beside.clear();
    save(effects_);
  }

  void operator()(const Revisit& a) {
    auto& from = a.forward ? s_.visits.after : s_.visits.before;
    auto& to = a.forward ? s_.visits.before : s_.visits.after;
    if (from.empty()) return;
    const Visit there = std::move(from.back());
    from.pop_back();
    Visit& here = to.emplace_back(Visit{looked_at(s_), {}});
    s_.visits.by = 0;
    s_.view = there.looked.view;
    s_.beside = there.looked.beside;
    const Selection& selection = there.looked.selection;
    (*this)(SelectHead{selection.layer, selection.head});
    if (there.prompt) {  // its run is still to come
      here.prompt = typed_prompt(s_);
      replace_prompt(*there.prompt);
      s_.selection.query = selection.query, s_.selection.key = selection.key;
    } else {
      (*this)(SelectQuery{selection.query});
      (*this)(SelectKey{selection.key});
    }
    show_option_text(s_);
    save(effects_);
  }

  void operator()(const OpenTour& a) {
    (*this)(CloseTour{});
    s_.tour.open = true;
    s_.tour.tour = a.tour;
    if (a.tour >= 0) (*this)(GoToStop{0});
  }

  void operator()(const CloseTour&) {
    const bool changed = own_options(s_) != s_.options;
    s_.options = own_options(s_);
    change_as_before(s_);
    s_.tour = {};
    if (changed) show_option_text(s_), save(effects_);
  }

  /// Options that the tour sets, and those of the view alone, are as usual where the stop does not name them.
  void operator()(const GoToStop& a) {
    if (s_.tour.tour < 0 || s_.tour.tour >= std::ssize(s_.tours)) return;
    const Tour& tour = s_.tours[s_.tour.tour];
    const int before = s_.tour.entered.view.empty() ? -1 : s_.tour.stop;  // none when it was opened just now
    s_.tour.stop = std::clamp(a.stop, 0, static_cast<int>(tour.stops.size()) - 1);
    const TourStop now = at_stop(tour, s_.tour.stop);
    // What somebody typed stays until a stop is about another text.
    const bool returns = before == s_.tour.stop;
    const bool goes_on = before >= 0 && !returns && at_stop(tour, before).prompt == now.prompt;
    if (!goes_on && now.prompt && *now.prompt != s_.prompt.edit.text) (*this)(SetPrompt{*now.prompt, {}, ""});
    s_.tour.prompt = now.prompt.value_or("");
    if (returns) s_.options = s_.tour.options;
    for (const TourStop& stop : tour.stops)
      for (const auto& [option, value] : stop.options) set_for_tour(*option, option->default_value);
    if (const View* view = find_view(now.view))
      for (const OptionSpec* option : options_shown_with(*view)) set_for_tour(*option, option->default_value);
    for (const auto& [option, value] : now.options) set_for_tour(*option, value);
    if (!now.view.empty()) (*this)(ShowView{now.view});
    show_option_text(s_);
    choose_as_said(now);
    change_as_said(s_, now, snapshot_);
    s_.tour.entered = looked_at(s_);
    s_.tour.options = s_.options;
  }

  void operator()(const SetOption& a) {
    s_.options.set(*a.option, a.value);
    if (list_option(s_) == a.option) show_option_text(s_);
    if (a.option->kept) save(effects_);
  }

  /// Of those that `reduce` handles.
  template <class Handled>
  requires requires(UiState& s, const Handled& a, const Snapshot& now) { reduce(s, a, now); }
  void operator()(const Handled& a) { reduce(s_, a, snapshot_); }
  template <class Handled>
  requires requires(UiState& s, std::vector<Effect>& effects, const Handled& a, const Snapshot& now) {
    reduce(s, effects, a, now);
  }
  void operator()(const Handled& a) { reduce(s_, effects_, a, snapshot_); }

  void operator()(const DoAll& a) {
    const bool of_another =
        s_.side == Side::baseline && snapshot_.run && compares_different_inputs(*snapshot_.run);
    for (const ViewAction& action : of_another ? on_own_side(a.actions, *snapshot_.run) : a.actions)
      std::visit(*this, action);
  }

  void operator()(const SetPanes& a) {
    const auto clamped = [](float width) {
      return width > 0 ? std::clamp(width, kNarrowestPane, kWidestPane) : 0;
    };
    s_.panes = {clamped(a.panes.heads), clamped(a.panes.next), clamped(a.panes.beside)};
    if (a.done) save(effects_);
  }

  void operator()(const SetDark& a) {
    s_.dark = a.dark;
    save(effects_);
  }

  void operator()(const SetFontSize& a) {
    const float before = s_.font_size;
    s_.font_size = std::clamp(a.size, kSmallestFont, kLargestFont);
    s_.prompt.scroll *= s_.font_size / before;  // the same lines stay in sight
    save(effects_);
  }

  void operator()(const SetStartToken& a) {
    if (s_.start_token != a.on) replaced_ = typed_prompt(s_);
    s_.start_token = a.on;
    s_.selection.query = -1;
    scroll_to_start(s_);
    save(effects_);
  }

  void operator()(const Generate& a) {
    if (a.on && snapshot_.model && snapshot_.model->patterns)
      return (*this)(ShowMessage{missing(*snapshot_.model, Capability::weights)});
    s_.generation.running = a.on;
    s_.generation.made = 0;
    if (a.on) {
      // Once more from the same place: another text.
      Generation& g = s_.generation;
      if (g.began == prompt_of(s_) && g.seed == s_.options[kSeed]) s_.options.set(kSeed, next_seed(g.seed));
      g.began = prompt_of(s_);
      g.seed = s_.options[kSeed];
      // A move of the caret: what is generated now is a step of the history for itself.
      s_.prompt.edit = apply(std::move(s_.prompt.edit), Move{Motion::text_end});
      s_.selection.query = -1;
      scroll_to_start(s_);
    }
  }

  void operator()(const ShowDialog& a) {
    if (a.dialog != Dialog::none && a.dialog == s_.dialog && a.subject.empty()) return;  // it is open
    s_.dialog = a.dialog;
    s_.export_form.waiting = false;
    if (a.dialog == Dialog::export_) {
      ExportForm& form = s_.export_form;
      const bool gone = !form.subject.empty() && !is_shown(form.subject);
      if (!a.subject.empty()) {
        form.subject = a.subject;
      } else if (gone || form.path.edit.text.empty()) {
        form.subject = s_.view;
      }
      form.dark = s_.dark;
      form.path.edit = make_edit_state(suggested_figure(s_, snapshot_));
      forget_answer(s_.export_form);
    } else if (a.dialog == Dialog::save) {
      s_.save_form = {};
      s_.save_form.path.edit = make_edit_state(suggested_session(s_, snapshot_));
    } else if (a.dialog == Dialog::open) {
      s_.open_form.second = a.second;
      (*this)(BrowseFolder{s_.open_form.listing.folder});
    }
  }

  void operator()(const ModelOpened& a) {
    s_.tries = std::make_shared<const Tries>();
    s_.ids.clear();  // ids mean other tokens now
    s_.visits = {};  // heads of another model
    compare_with_its_kind();
    s_.edits.before.clear(), s_.edits.after.clear(), s_.edits.problem.clear();
    if (snapshot_.model && snapshot_.model->patterns && !s_.pending_session) {
      s_.view = tab_of_attention(s_.view);
      if (!s_.beside.empty() && (tab_of_attention(s_.beside) != s_.beside || s_.view == s_.beside))
        s_.beside.clear();
    }
    if (snapshot_.model && !snapshot_.model->patterns) {
      const model::Config config = snapshot_.model->config();
      if (s_.tour.edits_before) keep_possible(*s_.tour.edits_before, config);
      if (const int gone = keep_possible(s_.edits.list, config))
        (*this)(
            ShowMessage{"Changes that this model cannot have were taken out: " + std::to_string(gone) + "."});
    }
    // Only now is it known which ones a stop means.
    if (s_.tour.tour >= 0 && looked_at(s_) == s_.tour.entered) {
      const TourStop stop = at_stop(s_.tours.at(static_cast<std::size_t>(s_.tour.tour)), s_.tour.stop);
      choose_as_said(stop);
      change_as_said(s_, stop, snapshot_);
      s_.tour.entered = looked_at(s_);
    }
    if (s_.pending_session && is_open(s_.model, snapshot_)) finish();
    if (!a.bundled) {
      s_.offer_models = false;
      remember(s_.recent_models, a.folder);
      remember(s_.recent_folders, shelf_of(a.folder));
    }
    save(effects_);
  }

  void operator()(const ModelKept&) {
    s_.model = snapshot_.model->folder;
    compare_with_its_kind();
    if (s_.pending_session) finish(), s_.session.clear(), s_.weights_wanted.clear();  // which are of another
  }

  void operator()(const CopyText& a) { effects_.emplace_back(CopyTextEffect{a.text}); }

  void operator()(const Paste& a) { effects_.emplace_back(PasteEffect{a.field}); }

  void operator()(const CopyNumbers& a) {
    effects_.emplace_back(CopyNumbersEffect{a.view.empty() ? s_.view : a.view});
  }

  void operator()(const OpenModel& a) {
    const bool as_second = s_.dialog == Dialog::open && s_.open_form.second;
    (*this)(ShowDialog{Dialog::none});
    if (as_second) return reduce(s_, CompareModel{a.folder}, snapshot_);
    s_.pending_session.reset();
    s_.weights_wanted.clear();
    open(a.folder);
  }

  void operator()(const OpenFile& a) {
    (*this)(ShowDialog{Dialog::none});
    if (may_hold_prompts(a.file)) {
      effects_.emplace_back(ReadPromptsEffect{a.file});
    } else {
      effects_.emplace_back(ReadSessionEffect{a.file});
    }
  }

  void operator()(const OpenSession& a) {
    if (!a.problem.empty()) return (*this)(ShowMessage{a.problem, true});
    const Session& session = a.recipe.session;
    (*this)(CloseTour{});
    if (session.model.attention.empty()) replace_prompt(session.prompt);
    const std::filesystem::path before = s_.model;
    const bool loads = a.model && (*a.model != before || !session.model.attention.empty());
    if (loads) (*this)(OpenModel{*a.model});
    show_session(s_, a);
    show_option_text(s_);
    const bool of_its_own = !a.recipe.figure && a.file != s_.left_off;
    s_.session = of_its_own && a.model ? a.file : std::filesystem::path();  // saving writes over no other
    if (of_its_own) remember(s_.recent_sessions, a.file);
    if (!loads && is_open(s_.model, snapshot_)) finish();
    if (!a.model) s_.weights_wanted.clear();
    if (std::string warning = warning_of(a); !warning.empty()) (*this)(ShowMessage{std::move(warning), true});
    save(effects_);
  }

  void operator()(const WeightsKnown& a) {
    const std::string wanted = std::exchange(s_.weights_wanted, std::string());
    if (!wanted.empty() && wanted != a.hash) (*this)(ShowMessage{kOtherWeights, true});
  }

  void operator()(const FindModels&) { effects_.emplace_back(FindModelsEffect{}); }

  void operator()(const FetchModel& a) {
    if (!s_.can_fetch || s_.fetching.model) return;
    s_.fetching = {a.model, {}, false};
    if (s_.dialog == Dialog::open) s_.dialog = Dialog::none;
    effects_.emplace_back(FetchEffect{a.model});
  }

  void operator()(const CancelFetch&) {
    if (!s_.fetching.model) return;
    s_.fetching.cancelled = true;
    effects_.emplace_back(CancelFetchEffect{});
  }

  void operator()(const FetchEnded& a) {
    s_.fetching = {};
    if (!a.folder.empty()) {
      open(a.folder);  // a dialog that is open stays
    } else if (!a.problem.empty()) {
      (*this)(ShowMessage{a.problem, true});
    } else {
      (*this)(
          ShowMessage{"Fetching was cancelled. What has come is kept: the next time goes on from there."});
    }
  }

  void operator()(const DismissOffer&) {
    s_.offer_models = false;
    save(effects_);
  }

  void operator()(const BrowseFolder& a) {
    s_.open_form.loading = true;
    s_.open_form.asked = s_.open_form.path.edit.text;
    effects_.emplace_back(ListFolderEffect{a.folder});
  }

 private:
  void open(const std::filesystem::path& folder) {
    s_.model = folder;
    ++s_.load_request;
    s_.generation.running = false;
    save(effects_);
  }

  /// A path is no prompt.
  void compare_with_its_kind() {
    const bool patterns = snapshot_.model && snapshot_.model->patterns;
    if (patterns) s_.second.model.clear(), s_.tour.compared_before.reset();
    if (s_.second.is_file == patterns) return;
    if (std::exchange(s_.second.on, false)) s_.side = Side::run;
  }

  /// Whether a run is of this model and of the prompt as it is now.
  bool is_shown_run(const std::shared_ptr<const PromptRun>& run) const {
    const std::shared_ptr<const PromptRun>& now = snapshot_.run;
    return now && (!run || run == now) && now->model == snapshot_.model && now->prompt == prompt_of(s_);
  }

  bool is_other_of_these_tokens(const std::shared_ptr<const PromptRun>& run) const {
    return run && is_shown_run(nullptr) && run == snapshot_.run->baseline &&
           compares_one_prompt(*snapshot_.run);
  }

  /// Whether a run is of the second prompt as it is now.
  bool is_second_prompt(const std::shared_ptr<const PromptRun>& run) const {
    return run && snapshot_.run && run == snapshot_.run->baseline && compares_texts(*snapshot_.run) &&
           s_.second.on && !s_.second.is_file && run->prompt.text == s_.second.text.edit.text;
  }

  /// It is text alone, which a token's bytes go on with.
  void continue_second(const AppendToken& a) {
    TextState& edit = s_.second.text.edit;
    const auto after = static_cast<std::size_t>(a.after);
    std::string text = a.after < 0 ? edit.text : edit.text.substr(0, a.of->tokens.tokens.at(after).end);
    text += a.of->model->tokenizer->bytes(a.id);
    edit = apply(std::move(edit), Replace{std::move(text)});
    scroll_to_start(s_);
  }

  /// Of the prompt's tokens, also those beyond n_ctx. None where it has none that can be run.
  std::optional<std::vector<int>> all_ids() const {
    if (!snapshot_.model || snapshot_.model->patterns) return std::nullopt;
    try {
      std::vector<int> ids;
      for (const model::Token& token : tokenize(*snapshot_.model, typed_prompt(s_)).tokens)
        ids.push_back(token.id);
      return ids;
    } catch (const model::RunError&) {  // the worker says why
      return std::nullopt;
    }
  }

  /// Makes the prompt, whose tokens are `before`, one of other tokens, with the start token where one is put
  /// first. It is text again where that has the same tokens. `appended`: by a token that joins the last ones
  /// in one step of the history.
  void become(std::span<const int> before, std::span<const int> ids, std::span<const double> probabilities,
              bool appended) {
    const model::Tokenizer& tokenizer = *snapshot_.model->tokenizer;
    const std::string& text = s_.prompt.edit.text;
    if (text.empty() && s_.ids.empty()) s_.start_token = true;  // what follows it does so behind it
    const std::span<const int> own = ids.subspan(s_.start_token && !ids.empty() ? 1 : 0);
    std::string becomes = tokenizer.decode(own);
    if (becomes.starts_with(text)) {
      Append rest{becomes.substr(text.size()),
                  appended};  // before `text` is moved: no order is sure in a call
      s_.prompt.edit = apply(std::move(s_.prompt.edit), std::move(rest));
    } else {
      s_.prompt.edit = apply(std::move(s_.prompt.edit), Replace{std::move(becomes)});
    }
    s_.ids.clear();
    const auto as_text = all_ids();
    if (!as_text || !std::ranges::equal(*as_text, ids)) s_.ids.assign(own.begin(), own.end());
    const auto most = static_cast<std::size_t>(snapshot_.model->config().n_ctx);
    if (before.size() <= most && ids.size() <= most)
      s_.tries = std::make_shared<const Tries>(with_step(*s_.tries, before, ids, probabilities));
    s_.selection.query = -1;
    scroll_to_start(s_);
  }

  void replace_prompt(const Prompt& prompt) {
    if (Prompt now = typed_prompt(s_); now != prompt) replaced_ = std::move(now);
    if (prompt.text != s_.prompt.edit.text)
      s_.prompt.edit = apply(std::move(s_.prompt.edit), Replace{prompt.text});
    prompt_changed();
    s_.ids = prompt.ids;
    s_.start_token = prompt.start_token;
    for (const OptionSpec* option : all_options())
      if (option->of_prompt) s_.options.set(*option, option->default_value);
  }

  void set_for_tour(const OptionSpec& option, OptionValue value) {
    auto& before = s_.tour.before;
    if (std::ranges::find(before, &option, [](const auto& kept) { return kept.first; }) == before.end())
      before.emplace_back(&option, s_.options.value(option));
    s_.options.set(option, std::move(value));
  }

  /// The head and the tokens that a stop names, these by their words, in a prompt that may not have been run
  /// yet.
  void choose_as_said(const TourStop& stop) {
    const Extent e = extent(snapshot_);
    const auto index = [](std::optional<int> given, int chosen, int count) {
      return given ? (*given < 0 ? count - 1 : *given) : chosen;
    };
    (*this)(SelectHead{index(stop.layer, s_.selection.layer, e.layers),
                       index(stop.head, s_.selection.head, e.heads)});
    s_.selection.query = s_.selection.key = -1;
    scroll_to_start(s_);
    if (!snapshot_.model || !(stop.token || stop.key)) return;
    try {
      const PromptTokens tokens = tokenize(*snapshot_.model, typed_prompt(s_));
      const std::string& text = s_.prompt.edit.text;
      if (stop.token) s_.selection.query = position_of(*stop.token, text, tokens);
      if (stop.key) s_.selection.key = position_of(*stop.key, text, tokens);
    } catch (const model::RunError&) {  // a prompt that cannot be run: the worker says why
    }
  }

  void finish() {
    const std::string problem = finish_session(s_, snapshot_);
    if (!problem.empty())
      (*this)(ShowMessage{"Not all that was changed can be changed in this model: " + problem, true});
  }

  void prompt_changed() {
    s_.generation.running = false;
    scroll_to_start(s_);
    s_.ids.clear();
  }

  bool is_shown(const std::string& id) const {
    const View* view = find_view(id);
    return view && (view->place != Place::tab || id == s_.view || id == s_.beside);
  }

  /// The option follows what is typed as far as it can be read.
  void option_typed() {
    const OptionSpec* option = list_option(s_);
    if (!option) return;
    s_.options.set(*option, list_as_typed(*option, s_.option_text.edit.text));
    if (option->kept) save(effects_);
  }

  UiState& s_;
  std::vector<Effect>& effects_;
  const Snapshot& snapshot_;
  std::optional<Prompt> replaced_;
};

}  // namespace

std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot) {
  ViewState before = looked_at(state);
  std::optional<std::pair<Prompt, EditList>> edited;  // before
  if (has_positions(state.edits.list)) edited.emplace(typed_prompt(state), state.edits.list);
  std::vector<Effect> effects;
  Reducer reducer(state, effects, snapshot);
  action.visit(reducer);
  if (looked_at(state) != before) state.edits.problem.clear();  // it was of something else
  std::optional<Prompt> replaced = std::move(reducer).replaced();
  const bool is_another = replaced && replaced->text != state.prompt.edit.text;
  if (edited && !is_another && state.edits.list == edited->second && typed_prompt(state) != edited->first)
    follow_tokens(state, edited->first, snapshot);
  remember_visit(state, std::move(before), std::move(replaced), action);
  return effects;
}

Update apply(UiState state, const Action& action, const Snapshot& snapshot) {
  std::vector<Effect> effects = apply_to(state, action, snapshot);
  return {std::move(state), std::move(effects)};
}

}  // namespace headscope::app
