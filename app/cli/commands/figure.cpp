#include "app/cli/commands/figure.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "app/cli/commands/output.h"
#include "app/cli/commands/recipes.h"
#include "app/views/table.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/atomic_file.h"
#include "viz/players/players.h"

namespace headscope::app {
namespace {

/// Sets the context's size: as given by the command, or else the view's default.
void set_size(ViewContext& context, const View& view, const PictureArguments& picture, FileFormat format) {
  context.width = width_on(picture.target, picture.width);
  if (picture.height > 0) {
    context.height = static_cast<float>(picture.height);
  } else if (view.figure_size && picture.page == Page::trimmed) {
    const viz::Point size = view.figure_size(context);
    context.width = std::max(context.width, size.x), context.height = size.y;
  } else {
    context.height =
        height_for_width(view, context, format == FileFormat::png ? picture.scale : 1, picture.target);
  }
}

}  // namespace

std::string figure_bytes(const PlotCommand& command, const View& view,
                         const std::shared_ptr<const PromptRun>& run,
                         const std::shared_ptr<const PromptList>& prompts, Answers& answers,
                         const viz::Fonts& fonts, const WeightHashes& weights) {
  if (const std::string why = missing(*run->model, view.needs); !why.empty()) throw model::RunError(why);
  for (const TriedText& tried : command.tries)
    if (!fits_vocabulary(tried, run->model->config().vocab_size))
      throw model::RunError("the recipe's continuations have token ids that the model " +
                            model::quote(run->model->name) + " does not have");
  const viz::Theme theme = command.picture.dark ? viz::dark_theme() : viz::light_theme();
  ViewContext context;
  context.run = run;
  context.answers = &answers;
  context.selection = clamped(command.selection.value_or(Selection{}), *run);
  context.chosen_query = context.selection.query;
  context.options = command.options;
  if (!command.tries.empty()) context.tries = std::make_shared<const Tries>(command.tries);
  context.prompts = prompts;
  if (needs_list(view, command.options) && !prompts)
    throw model::RunError("the view " + std::string(view.id) +
                          " shows a list of prompts; give one with --over");
  context.theme = &theme;
  context.fonts = &fonts;
  context.width = static_cast<float>(command.picture.width);
  context.font_size = command.picture.font_size;
  context.max_rows = command.picture.rows;
  if (view.refuse) {
    if (const std::string sentence = view.refuse(context); !sentence.empty()) throw model::RunError(sentence);
  }
  if (command.picture.rows > 0 && !view.has_list)
    throw model::RunError("the view " + std::string(view.id) +
                          " has no list, so --rows does not apply; those with one are " +
                          list_of_views([](const View& other) { return other.has_list; }));
  if (command.comparison.side == Side::difference && !view.shows_difference)
    throw model::RunError("the view " + std::string(view.id) +
                          " cannot show differences; those that can are " +
                          list_of_views([](const View& other) { return other.shows_difference; }));
  if (command.comparison.side == Side::difference && !can_show_difference(view, context))
    throw model::RunError("with these options, the view " + std::string(view.id) +
                          " is about the unedited model, so there is no difference to show");
  context = on_side(command.comparison.side, view, std::move(context));
  set_size(context, view, command.picture, command.out.format);
  ExportOptions options{.scale = command.picture.scale,
                        .svg_text = command.svg_text,
                        .caption = !command.no_caption,
                        .title = !command.no_title,
                        .page = command.picture.page,
                        .target = command.picture.target,
                        .letters_grow = !command.font_size_given};
  const bool mark = command.picture.byte_order_mark && command.out.format == FileFormat::csv;
  try {
    if (!command.no_recipe)
      options.notes = {recipe_note(recipe_of(command, view, *run, prompts.get(), weights))};
    return std::string(mark ? kByteOrderMark : "") + export_bytes(command.out.format, view, context, options);
  } catch (const std::runtime_error& error) {
    throw model::RunError(error.what());
  }
}

void set_tokens(Options& options, const std::vector<ViewToken>& tokens, const LoadedModel& model) {
  if (!tokens.empty() && model.tokenizer == nullptr)
    throw model::RunError(tokens.front().flag + " names a token, but attention patterns have no vocabulary");
  for (const auto& [flag, token, view, other] : tokens) {
    const OptionSpec &rank = *(other ? view->tokens.other_rank : view->tokens.rank),
                     &id = *(other ? view->tokens.other_id : view->tokens.id);
    options.set(rank, rank.default_value);
    options.set(id, id.default_value);
    const TokenChoice chosen = token_of(model, token, flag, {});
    if (chosen.by == TokenChoice::By::id) {
      options.set(id, chosen.number);
    } else if (const int wanted = chosen.number + 1; wanted <= rank.high) {
      options.set(rank, wanted);
    } else {
      throw model::RunError(flag + " takes ranks from 1 to " + plain(rank.high) + " in the view " +
                            std::string(view->id) + ", not " + std::to_string(wanted));
    }
  }
}

void write_output(const Destination& out, std::string_view bytes, const Streams& streams) {
  if (out.file != "-") return system::write_file_atomically(out.file, bytes);
  if (streams.out_is_terminal && (out.format == FileFormat::png || out.format == FileFormat::pdf))
    throw std::runtime_error(
        "cannot write a picture to a terminal; name a file after --out, or redirect standard output");
  streams.out << bytes;
}

}  // namespace headscope::app
