#include "app/window/core.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/run/next_token.h"
#include "app/run/paths.h"
#include "app/views/export.h"
#include "app/views/temperature.h"
#include "model/error.h"
#include "model/file_io.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstPrompt =
    "Once there was a little girl who lived by the sea with a big black dog. Every morning she";

UiState first_state(const CoreOptions& options) {
  const Settings& settings = options.settings;
  UiState s;
  s.dark = settings.dark;
  s.font_size = settings.font_size;
  s.panes = {settings.heads_pane, settings.next_pane};
  s.start_token = settings.start_token;
  if (const View* view = find_view(settings.view); view && view->place == Place::tab) s.view = settings.view;
  for (const auto& [name, text] : settings.options)
    if (const OptionSpec* option = find_option(name)) s.options.set(*option, parse_option(*option, text));
  show_option_text(s);
  s.model = options.window.model;
  s.load_request = 1;
  s.examples = options.examples;
  s.examples_model = options.examples_model;
  std::string text(kFirstPrompt);
  if (!options.examples.empty()) {
    const ExamplePrompt& first = options.examples.front();
    text = first.text;
    s.hint = first.look_for;
    if (first.head) s.selection.layer = first.head->layer, s.selection.head = first.head->head;
  }
  if (settings.has_prompt) text = settings.last_prompt.text, s.hint.clear();
  if (options.window.prompt) {
    text = options.window.prompt->text;
    s.start_token = options.window.prompt->start_token;
    s.hint.clear();
  }
  s.prompt.edit = make_edit_state(std::move(text));
  s.open_form.folder = options.start_folder;
  s.export_form.folder = options.start_folder;
  return s;
}

std::vector<FolderEntry> folder_entries(const fs::path& folder) {
  std::vector<FolderEntry> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    if (!entry.is_directory(error)) continue;
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    entries.push_back({name, is_gpt2(entry.path())});
  }
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace

std::vector<ExamplePrompt> bundled_examples() {
  try {
    return load_example_prompts(assets_folder() / "prompts.txt");
  } catch (const std::exception&) {
    return {};
  }
}

Core::Core(CoreOptions options)
    : options_(std::move(options)),
      state_(first_state(options_)),
      window_width_(options_.settings.window_width),
      window_height_(options_.settings.window_height),
      worker_({options_.window.threads, options_.window.precision, options_.wake}) {
  snapshot_ = worker_.snapshot();
  worker_.want(wanted(state_, questions_));
}

Core::~Core() {
  save();
}

void Core::handle(const Event& event) {
  for (const Action& action : actions_for(event, state_, *snapshot_, window_, metrics_)) apply(action);
}

void Core::apply(const Action& action) {
  Update update = app::apply(std::move(state_), action, *snapshot_);
  state_ = std::move(update.state);
  for (const Effect& effect : update.effects) carry_out(effect);
  if (const auto* edit = std::get_if<EditField>(&action)) follow_caret(edit->field);
  if (std::holds_alternative<AppendToken>(action) || std::holds_alternative<SetPrompt>(action))
    follow_caret(Field::prompt);
  worker_.want(wanted(state_, questions_));
  if (std::holds_alternative<Generate>(action)) generate_step();  // what it needs may be there already
}

void Core::follow_caret(Field field) {
  for (PlacedField& placed : window_.fields) {
    if (placed.field != field) continue;
    TextField& text = *field_of(state_, field);
    placed.look.scroll = text.scroll;
    text.scroll = scroll_to_caret(text.edit, metrics_.of(field), placed.look);
  }
}

bool Core::take_results() {
  auto newest = worker_.snapshot();
  if (newest == snapshot_) return false;
  snapshot_ = std::move(newest);
  if (snapshot_->error_count > state_.errors_seen) {
    state_.errors_seen = snapshot_->error_count;
    apply(ShowMessage{snapshot_->error, true});
  }
  if (auto& given = options_.window.prompt; given && !given->ids.empty() && snapshot_->model) {
    apply(ShowIds{given->ids, snapshot_->model->tokenizer->decode(given->ids)});
    given->ids.clear();
  }
  generate_step();
  if (waiting_) carry_out(*std::exchange(waiting_, std::nullopt));
  return true;
}

void Core::settle() {
  do {
    draw(frame_);  // which asks
    worker_.settle();
  } while (take_results());
}

const WindowPicture& Core::draw(const WindowFrame& frame) {
  frame_ = frame;
  window_ = draw_window(state_, snapshot_, frame, metrics_, cache_, options_.fonts);
  std::vector<Question> asked = window_.asked;
  if (state_.generation.running) asked.emplace_back(NextAfter{-1});
  if (waiting_) asked.insert(asked.end(), waiting_for_.begin(), waiting_for_.end());
  questions_ = newest_first(questions_, asked);
  worker_.want(wanted(state_, questions_));
  return window_;
}

/// While generating: draws the next token as soon as the model has answered for the whole prompt.
void Core::generate_step() {
  if (!state_.generation.running || !snapshot_->run) return;
  const PromptRun& run = *snapshot_->run;
  const auto known = snapshot_->answers->find(NextAfter{-1});
  if (run.prompt != prompt_of(state_) || !known) return;
  if (!known->value) {
    apply(Generate{false});
    apply(ShowMessage{known->failure, true});
    return;
  }
  const auto& next = *std::static_pointer_cast<const NextToken>(known->value);
  if (run.run->length() >= run.run->config.n_ctx) {
    apply(Generate{false});
    apply(ShowMessage{"Generating stopped: the prompt has reached the " +
                          std::to_string(run.run->config.n_ctx) + " tokens that this model reads.",
                      false});
    return;
  }
  if (!sampler_ || sampler_seed_ != state_.generation.seed) {
    sampler_seed_ = state_.generation.seed;
    sampler_ = std::make_unique<model::Sampler>(
        model::SamplingOptions{.temperature = state_.options[kTemperature]}, sampler_seed_);
  }
  int id = 0;
  try {
    id = sampler_->draw(next.logits);
  } catch (const model::RunError& e) {
    apply(Generate{false});
    apply(ShowMessage{e.what(), true});
    return;
  }
  if (id == run.model->tokenizer->end_of_text()) {
    apply(Generate{false});
    apply(ShowMessage{"Generating stopped: the model ended the text (<|endoftext|>).", false});
    return;
  }
  apply(AppendToken{id});
}

void Core::carry_out(const Effect& effect) {
  try {
    if (const auto* e = std::get_if<ExportEffect>(&effect)) export_file(*e);
    if (const auto* e = std::get_if<CopyNumbersEffect>(&effect);
        e && options_.set_clipboard && snapshot_->run)
      copy_numbers(*e);
    if (const auto* e = std::get_if<CopyTextEffect>(&effect); e && options_.set_clipboard)
      options_.set_clipboard(e->text);
    if (const auto* e = std::get_if<PasteEffect>(&effect); e && options_.get_clipboard)
      apply(EditField{e->field, Insert{options_.get_clipboard(), false}});
    if (const auto* e = std::get_if<ListFolderEffect>(&effect)) list_folder(e->folder);
    if (std::holds_alternative<FindModelsEffect>(effect)) find_models();
    if (std::holds_alternative<SaveEffect>(effect)) save();
  } catch (const std::exception& e) {
    apply(ShowMessage{e.what(), true});
  }
}

bool Core::all_there(const Effect& effect, const std::vector<Question>& asked) {
  for (const Question& question : asked) {
    const auto known = snapshot_->answers->find(question);
    if (known && !known->value) throw std::runtime_error(known->failure);
    if (known && known->whole) continue;
    waiting_ = effect;
    waiting_for_ = asked;
    worker_.want(wanted(state_, newest_first(questions_, asked)));
    return false;
  }
  return true;
}

void Core::copy_numbers(const CopyNumbersEffect& effect) {
  SnapshotAnswers answers(snapshot_);
  const Table table =
      find_view(state_.view)->table(make_context(state_, *snapshot_, answers, *options_.fonts, 1, 1, 1));
  if (!all_there(effect, answers.asked())) return;
  options_.set_clipboard(to_tsv(table));
  apply(ShowMessage{"The numbers of the view are in the clipboard.", false});
}

void Core::export_file(const ExportEffect& effect) {
  const ExportForm& form = effect.form;
  fs::path path = form.path.edit.text;
  if (!format_of(path)) path += extension_of(form.kind);
  const ExportOptions export_options{
      .scale = static_cast<float>(form.scale), .svg_text = form.svg_text, .page = Page::at_least};
  SnapshotAnswers answers(snapshot_);
  if (form.subject == Subject::window) {
    UiState still = state_;
    still.dialog = Dialog::none;
    still.message.clear();
    WindowFrame frame = frame_;
    frame.pointer.reset();
    frame.still = true;
    frame.device_scale = form.kind == FileFormat::png ? export_options.scale : 1;
    const ViewContext context =
        make_context(still, *snapshot_, answers, *options_.fonts, frame.width, frame.height, 1);
    const std::string words = caption(*find_view(state_.view), context);
    frame.height -= caption_height(words, frame.width, context);  // the file has the window's size
    PictureCache own;
    FieldMetrics metrics;
    Picture whole;
    WindowPicture drawn = draw_window(still, snapshot_, frame, metrics, own, options_.fonts);
    if (!all_there(effect, drawn.asked)) return;
    whole.scene = std::move(drawn.scene);
    export_scene(path, with_caption(std::move(whole), words, context).scene, *options_.fonts, export_options);
  } else {
    const View& view = form.subject == Subject::heads ? view_at(Place::left) : *find_view(state_.view);
    for (const PlacedPicture& placed : window_.pictures)
      if (placed.view == &view) {
        ViewContext context = make_context(state_, *snapshot_, answers, *options_.fonts, placed.where.w,
                                           placed.where.h, export_options.scale);
        context.in_pane = false;
        // All of it, whatever part of it the pane shows.
        for (const OptionSpec* option : view.options)
          if (option->of_pane) context.options.set(*option, option->usual);
        if (view.figure_size) {
          const viz::Point size = view.figure_size(context);
          context.width = size.x, context.height = size.y;
        }
        const std::string bytes = export_bytes(format_of(path).value(), view, context, export_options);
        if (!all_there(effect, answers.asked())) return;
        model::write_file_atomically(path, bytes);
      }
  }
  state_.export_form.folder = fs::absolute(path).parent_path();
  apply(ShowMessage{"Saved " + path.string() + ".", false});
}

void Core::list_folder(const fs::path& folder) {
  apply(FolderListed{fs::weakly_canonical(folder), folder_entries(folder)});
}

void Core::find_models() {
  ModelsFound found;
  if (options_.find_models) found.models = options_.find_models();
  apply(std::move(found));
}

Settings Core::settings() const {
  Settings s = options_.settings;
  s.dark = state_.dark;
  s.font_size = state_.font_size;
  s.window_width = window_width_;
  s.window_height = window_height_;
  s.heads_pane = state_.panes.heads;
  s.next_pane = state_.panes.next;
  s.view = state_.view;
  s.last_model = snapshot_->model ? snapshot_->model->folder : state_.model;
  s.has_prompt = true;
  s.last_prompt.text = state_.prompt.edit.text;
  s.last_prompt.start_token = state_.start_token;
  s.start_token = state_.start_token;
  s.options.clear();
  for (const OptionSpec* option : all_options()) {
    const OptionValue& value = state_.options.value(*option);
    if (option->kept && value != option->usual)
      s.options.emplace(std::string(option->name), to_text(*option, value));
  }
  return s;
}

void Core::save() {
  if (options_.settings_file.empty()) return;
  try {
    save_settings(options_.settings_file, settings());
  } catch (const std::exception& e) {
    if (state_.message != e.what()) apply(ShowMessage{e.what(), true});
  }
}

void Core::set_window_size(int width, int height) {
  window_width_ = width;
  window_height_ = height;
}

}  // namespace headscope::app
