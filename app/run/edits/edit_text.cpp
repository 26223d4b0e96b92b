#include "app/run/edits/edit_text.h"

#include <cctype>
#include <numeric>
#include <regex>

#include "app/ascii.h"
#include "app/run/edits/edit_kinds.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

std::string_view read_operator(EditReader& in) {
  std::vector<std::string> operators;
  std::string_view found = in.take("~=") ? "~=" : "";
  any_kind([&]<class T>() {
    if constexpr (requires { EditKind<T>::kOperator; }) {
      if (found.empty() && in.take(EditKind<T>::kOperator)) found = EditKind<T>::kOperator;
      if (std::ranges::find(operators, EditKind<T>::kOperator) == operators.end())
        operators.emplace_back(EditKind<T>::kOperator);
    }
    return !found.empty();
  });
  if (!found.empty()) return found;
  const std::string expected = "expected " + listed(operators, " or ");
  in.fail(in.rest().empty() ? "no operation: " + expected : expected + " at " + model::quote(in.rest()));
}

/// What stands before the operation of an edit, "L5H1.z", or the name of a hook, "blocks.5.attn.hook_z".
struct SiteName {
  std::optional<std::vector<int>> layers;
  std::optional<int> head;
  std::string_view name;  ///< of a hook what follows the layer
  bool is_hook = false;
};

/// Reads a layer, or "*".
std::vector<int> read_layers(EditReader& in) {
  if (!in.take("*")) return {in.whole()};
  std::vector<int> all(in.config().n_layer);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SiteName read_site_name(EditReader& in) {
  SiteName read;
  if (in.take("blocks.")) {
    read.is_hook = true;
    read.layers = read_layers(in);
    in.expect(".");
  } else if (in.sees("hook_") || in.sees("ln_final.")) {
    read.is_hook = true;
  } else if (in.rest().size() > 1 && in.sees("L") &&
             (in.rest()[1] == '*' || std::isdigit(static_cast<unsigned char>(in.rest()[1])))) {
    in.expect("L");
    read.layers = read_layers(in);
    if (in.take("H") && !in.take("*")) read.head = in.whole();
    in.expect(".");
  }
  read.name = in.take_while([&](unsigned char letter) {
    return std::isalnum(letter) || letter == '_' || (read.is_hook && letter == '.');
  });
  return read;
}

/// The site of a name.
model::Site read_site(const EditReader& in, const SiteName& of) {
  const auto& [layers, head, name, is_hook] = of;
  if (is_hook) {
    if (const auto site = site_of_hook(name, layers.has_value())) return *site;
    in.fail(model::quote((layers ? "blocks.L." : "") + std::string(name)) +
            " is not a hook; a name is e.g. blocks.5.attn.hook_z");
  }
  const std::optional<model::Site> site = site_named(name);
  if (name.empty())
    in.fail("expected a site, as in L5H1.z=0, found " +
            (in.rest().empty() ? "none" : model::quote(in.rest())));
  if (!site) in.fail(model::quote(name) + " is not a site; sites are " + site_names());
  const bool block = model::in_block(*site);
  if (block && !layers) in.fail("this site needs a layer, as in L5." + std::string(name));
  if (!block && layers) in.fail(model::quote(name) + " takes no layer prefix");
  return *site;
}

/// The part of a site that is named in brackets.
struct Part {
  std::vector<int> positions, others;  ///< empty: all
  bool cells = false;
};

Part read_part(EditReader& in, model::Site site) {
  Part part;
  if (!in.take("[")) return part;
  const bool of_cells = model::has_cells(site);
  part.positions = in.numbers(of_cells);
  if (of_cells && in.take(",")) {
    part.others = in.numbers(true);
    part.cells = !part.others.empty();
  }
  in.expect("]");
  if (!of_cells && in.take("[")) {
    part.others = in.numbers(false);
    in.expect("]");
  }
  return part;
}

model::EditSite read_receiver(EditReader& in) {
  const SiteName name = read_site_name(in);
  const model::Site site = read_site(in, name);
  const int layer = name.layers ? name.layers->front() : 0;
  if (name.layers && name.layers->size() > 1) in.fail("a path has one receiver");
  const Part part = read_part(in, site);
  const bool end = site == model::Site::logits;  // of the stream
  const model::HookPoint point = end ? model::HookPoint{model::Site::resid_post, in.config().n_layer - 1}
                                     : model::HookPoint{site, layer};
  return {point, name.head, part.positions, part.others};
}

/// Reads what follows the name of a site: one edit for each layer.
model::Edits read_edits_of_site(EditReader& in, const SiteName& of) {
  const model::Site site = read_site(in, of);
  const auto [positions, others, cells] = read_part(in, site);
  std::optional<model::EditSite> receiver;  // of a path
  if (in.take("->")) receiver = read_receiver(in);
  if (receiver && !in.sees("<-"))
    in.fail("expected <- after the receiver; other operations stand before ->, as in L0H0.z=0 -> L1H6.k");
  const std::string_view op = read_operator(in);
  if (cells && op != "=" && op != "~=") in.fail("single cells take only = or ~=");
  if (!cells && op == "~=") in.fail("~= sets single cells of a pattern, as in L3.pattern[8,3]~=0");
  const std::string_view operand = in.rest();
  model::Edits result;
  for (const int layer : of.layers.value_or(std::vector{0})) {
    in.rewind(operand);
    const Place at{{site, layer}, of.head, positions, cells ? std::vector<int>() : others};
    if (cells) {
      result.emplace_back(EditKind<model::SetCells>::read(in, at, positions, others, op == "~="));
      continue;
    }
    any_kind([&]<class T>() {
      std::optional<model::Edit> edit;
      if constexpr (requires { EditKind<T>::kOperator; })
        if (op == EditKind<T>::kOperator) edit = EditKind<T>::read(in, at);
      if (edit) result.push_back(std::move(*edit));
      return edit.has_value();
    });
  }
  if (!receiver && in.take("->")) receiver = read_receiver(in);
  for (model::Edit& edit : result)
    if (receiver) edit = model::PatchFrom{*receiver, {}, {}, false, {std::move(edit)}, true};
  return result;
}

/// Reads one edit, or the same edit in several layers.
model::Edits read_edit(std::string_view text, const LoadedModel& model) {
  EditReader in(text, model);
  const SiteName site = read_site_name(in);
  model::Edits result;
  const bool named = any_kind([&]<class T>() {
    if constexpr (requires { EditKind<T>::kName; })
      if (site.name == EditKind<T>::kName) {
        EditKind<T>::read(in, site.layers, site.head, result);
        return true;
      }
    return false;
  });
  if (!named) result = read_edits_of_site(in, site);
  in.sees("");
  if (!in.rest().empty()) in.fail("unexpected " + model::quote(in.rest()));
  return result;
}

/// The edit that words such as "switch off head 3 of layer 1", "ablate 1.3" or "L1H3 off" probably mean, as
/// an end of a sentence; empty: none.
std::string meant_edit(std::string_view text, const model::Config& config) {
  static const std::regex head(R"((?:\bhead|h) ?(\d{1,4}))"), layer(R"((?:\blayer|\bblock|\bl) ?(\d{1,4}))"),
      both(R"(\b(\d{1,4})[.](\d{1,4})\b)"), mlp(R"(\bmlp ?(\d{1,4}))"), mean(R"(\bmean|\baverage)"),
      off(R"(\boff\b|zero|ablate|remove|disable|knock ?out|kill)");
  constexpr std::size_t kLongest = 200;  // of what somebody types as words
  const std::string words = lowered(text.substr(0, kLongest));
  std::smatch at, of;
  const bool to_mean = std::regex_search(words, mean);
  if (!to_mean && !std::regex_search(words, off)) return "";
  const auto number = [](const std::smatch& found, int group) { return std::stoi(found[group]); };
  const bool has_layer = std::regex_search(words, of, layer);
  std::string place, name;
  if (std::regex_search(words, at, both) || (has_layer && std::regex_search(words, at, head))) {
    const bool dotted = at.size() == 3;
    const int l = dotted ? number(at, 1) : number(of, 1), h = number(at, dotted ? 2 : 1);
    if (l >= config.n_layer || h >= config.n_head) return "";
    name = "head " + std::to_string(h) + " of layer " + std::to_string(l);
    place = "L" + std::to_string(l) + "H" + std::to_string(h) + ".z";
  } else if (std::regex_search(words, at, mlp) && number(at, 1) < config.n_layer) {
    name = "the MLP of layer " + at[1].str();
    place = "L" + at[1].str() + ".mlp_out";
  } else {
    return "";
  }
  return (to_mean ? "to replace " + name + " by its mean, type " : "to switch off " + name + ", type ") +
         place + (to_mean ? "=mean" : "=0");
}

/// Splits at each ";" outside quotes and braces.
std::vector<std::string_view> separate(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = find_outside(text, ';').at) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  if (parts.empty() || text.find_first_not_of(' ') != text.npos) parts.push_back(text);
  return parts;
}

model::Edits read_edit_or_suggest(std::string_view text, const LoadedModel& model) {
  try {
    return read_edit(text, model);
  } catch (const model::RunError&) {
    // A text with an operation is no words: what is wrong in it is said.
    const bool has_operation = text.find_first_of("=*<+") != text.npos;
    const std::string meant = has_operation ? "" : meant_edit(text, model.config());
    if (meant.empty()) throw;
    throw model::RunError("the edit " + model::quote(text) + " cannot be read; " + meant);
  }
}

/// Whether both set cells of one head. Adjacent in a text they are one edit, so that a row is renormalised
/// once.
bool are_parts_of_one(const model::Edit& before, const model::Edit& next) {
  const auto *first = std::get_if<model::SetCells>(&before), *second = std::get_if<model::SetCells>(&next);
  return first != nullptr && second != nullptr && EditKind<model::SetCells>::replaces(*second, *first);
}

/// Throws RunError for edits, up to `last`, that name too much: a few letters can expand to a million
/// numbers.
void require_few_numbers(std::size_t numbers, const std::string& last) {
  constexpr std::size_t kMax = std::size_t{1} << 24;
  if (numbers > kMax)
    throw model::RunError("the edits up to " + last + " name more than " + std::to_string(kMax) +
                          " positions, units and values");
}

}  // namespace

void require_few(std::size_t edits) {
  if (edits > kMaxEdits)
    throw model::RunError(
        "expected at most " + std::to_string(kMaxEdits) +
        " edits, found more; one edit may name many positions and units, as in L5.z[1-9]=0");
}

/// Checks an edit against the model; an error quotes what was typed.
static void check_typed(std::string_view text, const LoadedModel& model, const model::Edit& edit) try {
  check(model.transformer->config(), edit);
} catch (const model::RunError& e) {
  throw model::RunError(model::quote(text) + ": " + e.what());
}

model::Edits parse_edits(std::string_view text, const LoadedModel& model) {
  model::Edits all;
  std::size_t numbers = 0;
  bool apart = false;
  for (const std::string_view part : separate(text)) {
    if (!all.empty() && part.find_first_not_of(' ') == part.npos) {
      apart = true;
      continue;
    }
    for (model::Edit& edit : read_edit_or_suggest(part, model)) {
      const auto* cells = std::get_if<model::SetCells>(&edit);
      if (cells == nullptr) check_typed(part, model, edit);  // more cells may follow
      numbers += numbers_of(edit);
      require_few_numbers(numbers, model::quote(part));
      if (!apart && !all.empty() && are_parts_of_one(all.back(), edit))
        std::ranges::copy(cells->cells, std::back_inserter(std::get<model::SetCells>(all.back()).cells));
      else
        all.push_back(std::move(edit));
    }
    require_few(all.size());
    apart = false;
  }
  for (const model::Edit& edit : all)  // merged cells add up
    if (std::holds_alternative<model::SetCells>(edit)) check(model.transformer->config(), edit);
  return all;
}

model::Edits parse_edit_lines(std::string_view lines, const std::string& file, const LoadedModel& model) {
  model::Edits all;
  std::size_t numbers = 0;
  int number = 0;
  for (const std::string_view line : lines_of(lines)) {
    ++number;
    if (line.find_first_not_of(' ') == line.npos) continue;
    try {
      for (model::Edit& edit : parse_edits(line, model)) {
        numbers += numbers_of(edit);
        all.push_back(std::move(edit));
      }
      require_few(all.size());
      require_few_numbers(numbers, "this line");
    } catch (const model::RunError& error) {
      throw model::LoadError(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return all;
}

std::string edit_text(const model::Edit& edit) {
  return std::visit([](const auto& one) { return KindOf<decltype(one)>::text(one); }, edit);
}

std::string edit_text(const model::Edits& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += are_parts_of_one(all[i - 1], all[i]) ? ";; " : "; ";
    text += edit_text(all[i]);
  }
  return text;
}

std::size_t numbers_of(const model::Edit& edit) {
  return std::visit([](const auto& one) { return KindOf<decltype(one)>::numbers(one); }, edit);
}

std::string edit_brief(const model::Edit& edit) {
  constexpr std::size_t kMany = 24;
  const auto length = std::visit([](const auto& one) { return KindOf<decltype(one)>::length(one); }, edit);
  return length > kMany ? edit_words(edit) : edit_text(edit);
}

std::string edit_words(const model::Edit& edit, const EditNames& names) {
  return std::visit([&](const auto& one) { return KindOf<decltype(one)>::words(one, names); }, edit);
}

std::string edit_grammar() {
  std::string text =
      "Edits: a place, then an operation; separate several with ;\n"
      "(adjacent cells of one head are one edit; ;; keeps them apart).\n";
  any_kind([&]<class T>() {
    text += EditKind<T>::kGrammar;
    return false;
  });
  return text +
         "Sites: embed, pos_embed, logits, ln_final_scale, ln_final; in a layer resid_pre, ln1_scale, ln1, "
         "q, k,\n"
         "v, scores, pattern, z, result, attn_out, resid_mid, ln2_scale, ln2, mlp_pre, mlp_post, mlp_out,\n"
         "resid_post. These are TransformerLens hooks; their full names do as well, for all heads:\n"
         "blocks.5.attn.hook_z=0 is L5.z=0.\n";
}

}  // namespace headscope::app
