#include "app/window/news_reducer.h"

namespace headscope::app {

void reduce(UiState& s, const FolderListed& a, const Snapshot&) {
  s.open_form.loading = false;
  s.open_form.listing = a.listing;
  if (s.open_form.path.edit.text == s.open_form.asked)
    s.open_form.path.edit = app::apply(make_edit_state(a.listing.folder.string()), SelectAll{});
}

void reduce(UiState& s, const ModelsFound& a, const Snapshot&) {
  s.models = a.models;
}

void reduce(UiState& s, const FetchGoesOn& a, const Snapshot&) {
  s.fetching.progress = a.progress;
}

void reduce(UiState& s, const CancelLoad&, const Snapshot&) {
  s.load_cancel = s.load_request;
}

void reduce(UiState& s, const ShowMessage& a, const Snapshot&) {
  s.message = {a.text, a.is_error, a.from_worker};
  if (a.is_error) s.generation.running = false;
}

void reduce(UiState& s, const DismissMessage&, const Snapshot&) {
  s.message = {};
}

void reduce(UiState& s, const Quit&, const Snapshot&) {
  s.quit = true;
}

}  // namespace headscope::app
