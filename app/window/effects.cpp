// What the core does on request of actions: clipboard, folders, models, files, generating.
#include <cmath>
#include <exception>
#include <stdexcept>
#include <utility>

#include "app/run/analyses/predictions.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/export.h"
#include "app/views/output/continuation.h"
#include "app/window/core.h"
#include "app/window/exporting.h"
#include "app/window/sessions.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"
#include "system/atomic_file.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

using Result = std::optional<Action>;

/// The run whose text goes on: the shown side's. Null while there is none of what is typed.
std::shared_ptr<const PromptRun> continued(const UiState& state, const Snapshot& snapshot) {
  const auto& run = snapshot.run;
  if (!run || run->prompt != prompt_of(state)) return nullptr;
  if (continues_second(state))
    return run->baseline && run->baseline->prompt.text == state.second.text.edit.text ? run->baseline
                                                                                      : nullptr;
  return state.side == Side::baseline && run->baseline ? run->baseline : run;
}

/// What becomes of a session or a picture: what `write` returns, or that it throws.
template <class Write>
WriteEnded outcome(bool session, const fs::path& file, const Write& write) {
  try {
    return {.how = write(), .file = file, .session = session};
  } catch (const std::exception& e) {
    return {.how = Writing::failed, .problem = e.what(), .session = session};
  }
}

}  // namespace

void Core::run(const std::string& topic, std::function<Action()> work) {
  background_.run(topic, [work = std::move(work)]() -> Result {
    try {
      return work();
    } catch (const std::exception& e) {
      return ShowMessage{e.what(), true};
    }
  });
}

void Core::perform(const CopyText& effect) {
  if (options_.set_clipboard) options_.set_clipboard(effect.text);
}

void Core::perform(const Paste& effect) {
  if (!options_.get_clipboard) return;
  std::string text = options_.get_clipboard();
  if (!text.empty()) apply(TypeInField{effect.field, Insert{std::move(text), false}});
}

void Core::perform(const BrowseFolder& effect) {
  apply([](UiState& s, ReduceContext&) { s.open_form.loading = true; });
  const fs::path folder = expanded(system::text_of(effect.folder), options_.environment);
  run("folder", [folder, typed = state_.open_form.path.edit.text]() -> Action {
    return [listing = list_folder(folder), typed](UiState& s, ReduceContext&) {
      OpenForm& form = s.open_form;
      form.loading = false;
      form.listing = listing;
      if (form.path.edit.text == typed)  // else another path is being typed
        form.path = {app::apply(make_text_state(system::text_of(listing.folder)), kSelectAll)};
    };
  });
}

void Core::perform(const FindModels&) {
  if (options_.find_models)
    run("models", [find = options_.find_models] { return change(&UiState::models, find()); });
}

void Core::perform(const FetchModel& effect) {
  if (!state_.can_fetch || state_.fetching.model) return;
  apply([&](UiState& s, ReduceContext&) {
    s.fetching = {.model = effect.model};
    if (s.dialog == Dialog::open) s.dialog = Dialog::none;
  });
  background_.run("fetch",
                  [fetch = options_.fetch, model = effect.model, stop = state_.fetching.stop.get_token()](
                      const Background<Result>::Report& report) -> Result {
                    FetchOptions options;
                    options.cancelled = [&] { return stop.stop_requested(); };
                    options.progress = [&](const FetchProgress& progress) {
                      report(Action([=](UiState& s, ReduceContext&) { s.fetching.progress = progress; }));
                    };
                    try {
                      return FetchEnded{fetch(model, options), ""};
                    } catch (const model::Stopped&) {
                      return FetchEnded{};
                    } catch (const std::exception& e) {
                      return FetchEnded{{}, to_text(model) + ": " + e.what()};
                    }
                  });
}

std::filesystem::path Core::path_to_write(const std::string& typed, std::string_view extension) const {
  fs::path path = expanded(typed, options_.environment);
  if (!path.has_filename() || system::is_folder(path))
    throw std::runtime_error(system::text_of(path) + " is a folder; add a file name, e.g. " +
                             system::text_of(path / ("name" + std::string(extension))) + ".");
  return path;
}

void Core::perform(const SaveSession& effect) {
  apply(outcome(true, {}, [&] {
    fs::path file = path_to_write(system::text_of(effect.file), kSessionExtension);
    if (file.extension() != kSessionExtension) file += kSessionExtension;
    if (state_.pending_session)
      throw std::runtime_error("The session is still opening: its model is not loaded yet.");
    if (!effect.replace && system::is_there(file)) return Writing::exists;
    saved_session_ = file;
    // In order, whatever the files are: the window's session is the one that was saved last.
    background_.run_in_order(
        kSaving,
        [file, recipe = session(), shown = snapshot_, stop = hashing_.get_token()]() mutable -> Result {
          return outcome(true, file, [&] {
            system::write_file_atomically(file, to_json(recipe));  // before the weights are read
            try {
              if (shown->model) recipe.session.weights = weights_hash(*shown->model, stop);
              if (const LoadedModel* second = named_second(recipe.session, *shown))
                recipe.session.second_weights = weights_hash(*second, stop);
            } catch (const std::exception&) {  // stopped, or the files have changed: saved all the same
            }
            system::write_file_atomically(file, to_json(recipe));
            return Writing::saved;
          });
        });
    return Writing::writes;
  }));
}

void Core::perform(const OpenFile& effect) {
  const fs::path file = expanded(system::text_of(effect.file), options_.environment);
  const auto kind = kind_by_name(file);
  if (!kind || kind == FolderEntry::Kind::patterns) {
    const bool is_in_model = !may_hold_tensors(file) && system::is_file(file);
    return apply(OpenModel{is_in_model ? file.parent_path() : file});
  }
  apply(ShowDialog{});
  if (may_hold_prompts(file))
    return run("prompts",
               [file] { return PromptsRead{std::make_shared<const PromptList>(read_prompt_list(file))}; });
  std::vector<fs::path> known;  // open and recent models and files, which a search need not find
  for (const auto& open : {snapshot_->model, snapshot_->second_model})
    if (open) known.push_back(open->folder);
  if (state_.second.is_file) known.push_back(system::path_of(state_.second.text.edit.text));
  known.insert(known.end(), state_.recent_models.begin(), state_.recent_models.end());
  const bool has_model = !snapshot_->model || !snapshot_->model->patterns;
  run("session", [=, find = options_.find_models] {
    return read_session(file, find ? find() : std::vector<DiscoveredModel>(), known, has_model);
  });
}

void Core::await_answers(const Effect& effect, const SnapshotAnswers& answers) {
  pending_export_ = effect;
  pending_questions_ = answers.asked();
  request_answers();
}

void Core::perform(const CopyNumbers& effect) {
  const View* view = find_view(effect.view.empty() ? state_.view : effect.view);
  if (!view || !snapshot_->run || !options_.set_clipboard) return;
  SnapshotAnswers answers(snapshot_);
  const ViewContext context = make_context(view, state_, *snapshot_, answers, *options_.fonts, 1, 1, 1);
  if (!context.run) throw std::runtime_error(context.no_run);
  const Table table = exported_table(*view, context);
  if (!are_complete(answers)) return await_answers(CopyNumbers{std::string(view->id)}, answers);
  options_.set_clipboard(to_tsv(table));
  apply(ShowMessage{"Copied the data of “" + std::string(view->title) + "”."});
}

void Core::perform(const DoExport& effect) {
  const ExportForm form = effect.form.value_or(state_.export_form);
  const bool copies = effect.copy;
  apply(outcome(false, {}, [&] {
    if (!snapshot_->run) throw std::runtime_error("There is no picture yet: no prompt has been run.");
    fs::path path = copies ? "" : path_to_write(form.path.edit.text, extension_of(form.kind));
    if (!format_of(path)) path += extension_of(form.kind);
    if (!copies && !effect.replace && system::is_there(path)) return Writing::exists;
    const auto answers = std::make_shared<SnapshotAnswers>(snapshot_);
    const FrameInput shown{state_, *snapshot_, answers, options_.fonts, frame_};
    const FileFormat format = copies ? FileFormat::png : format_of(path).value();
    auto bytes = exported_bytes(form, format, shown, window_.pictures);
    if (!bytes) {
      await_answers(DoExport{effect.replace, copies, form}, *answers);
      return Writing::waits;
    }
    if (copies) {
      background_.run("clipboard", [clipboard = options_.pictures.value(), png = *bytes]() -> Result {
        std::string problem = system::copy_picture(clipboard, png);
        const Writing how = problem.empty() ? Writing::copied : Writing::failed;
        return WriteEnded{.how = how, .problem = std::move(problem)};
      });
      return Writing::none;
    }
    background_.run_in_order(system::text_of(path), [path, bytes = *std::move(bytes)]() -> Result {
      return outcome(false, path, [&] {
        system::write_file_atomically(path, bytes);
        return Writing::saved;
      });
    });
    return Writing::writes;
  }));
}

Question Core::next_token_question() const {
  const Question next = NextAfter{-1};
  const auto run = continued(state_, *snapshot_);
  return run && run != snapshot_->run ? next.on_baseline() : next;
}

/// Appends a token sampled once the model has answered for the whole prompt, or stops and shows why.
void Core::generate_step() {
  const auto shown = state_.generation.running ? continued(state_, *snapshot_) : nullptr;
  const auto known = shown ? snapshot_->answers.find(next_token_question()) : nullptr;
  if (!known) return;
  const auto stop = [this](std::string why, bool is_error = false) {
    apply(Generate{false});
    apply(ShowMessage{std::move(why), is_error});
  };
  if (!known->value) return stop(known->failure, true);
  const auto& next = *std::static_pointer_cast<const NextToken>(known->value);
  const int n_ctx = shown->run->config.n_ctx;
  if (shown->tokens.length() >= n_ctx)
    return stop("Context full: generation stopped at this model's limit of " + std::to_string(n_ctx) +
                " tokens.");
  int id = 0;
  try {
    id = model::draw_token(next.logits, sampling_of(state_.options), seed_of(state_.options),
                           shown->run->length());
  } catch (const model::RunError& e) {
    return stop(e.what(), true);
  }
  if (id == shown->model->tokenizer->end_of_text())
    return stop("The model ended the text (<|endoftext|>): generation stopped.");
  const auto logit = static_cast<double>(next.logits[id]);
  apply(AppendToken{id, -1, std::exp(logit - model::log_sum_exp(next.logits)), shown});
}

}  // namespace headscope::app
