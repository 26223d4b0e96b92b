#include "app/cli/arguments/command_tree.h"

#include <algorithm>
#include <map>
#include <set>

namespace headscope::app {
namespace {

/// Puts a backslash before each of `characters`.
std::string escaped(const std::string& text, std::string_view characters) {
  std::string out;
  for (const char c : text) out += (characters.find(c) == characters.npos ? "" : "\\") + std::string(1, c);
  return out;
}

/// A word, quoted for any shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

template <class Words>
std::string joined(const Words& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string path_below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + " " + name;
}

/// The program, one of its commands, or a choice after one.
struct Place {
  std::string path;  ///< "", "plot", "plot heatmap"
  const CommandTree* command = nullptr;
  const CommandTree* above = nullptr;  ///< the command of this choice; null: not a choice
};

void add_places(const CommandTree& command, const std::string& path, const CommandTree* above,
                std::vector<Place>& places) {
  places.push_back({path, &command, above});
  for (const CommandTree& below : command.commands)
    add_places(below, path_below(path, below.name), path.empty() ? nullptr : &command, places);
}

std::vector<Place> places_of(const CommandTree& program) {
  std::vector<Place> places;
  add_places(program, "", nullptr, places);
  return places;
}

/// The options whose value is a separate argument, which must not be taken for a command's name.
std::set<std::string> options_with_values(const std::vector<Place>& places) {
  std::set<std::string> names;
  for (const Place& place : places)
    for (const OptionDescription& option : place.command->options)
      if (!option.values.empty()) names.insert(option.name);
  return names;
}

bool are_files(const std::string& values) {
  return offer_of(values).kind == Offer::Kind::files;
}

/// Whether a file name may appear alone: as a positional argument, or as one of several values of an option.
bool takes_files(const CommandTree& command) {
  return std::ranges::any_of(command.words, are_files, &OptionDescription::name) ||
         std::ranges::any_of(command.options, [](const OptionDescription& option) {
           return option.values.ends_with("...") && are_files(option.values);
         });
}

/// A script's code for each kind of value.
struct Actions {
  const char *before_words, *after_words, *files, *folders, *nothing;
};

std::string action_for(const std::string& values, const Actions& actions) {
  const Offer offer = offer_of(values);
  switch (offer.kind) {
    case Offer::Kind::words:
      return actions.before_words + joined(offer.words) + actions.after_words;
    case Offer::Kind::files:
      return actions.files;
    case Offer::Kind::folders:
      return actions.folders;
    case Offer::Kind::nothing:
      break;
  }
  return actions.nothing;
}

// --- bash

constexpr Actions kBash{
    "words='", "'", "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return",
    "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return", "return"};

/// The cases for the values of each option, depending on the command; one case if the values are the same
/// everywhere.
std::string bash_values(const std::vector<Place>& places) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> patterns;  // option, action
  for (const Place& place : places)
    for (const OptionDescription& option : place.command->options)
      if (!option.values.empty())
        patterns[option.name][action_for(option.values, kBash)].push_back(
            quoted(place.path + " " + option.name));
  std::string cases;
  for (const auto& [option, actions] : patterns)
    for (const auto& [action, of_paths] : actions)
      cases += "    " + (actions.size() == 1 ? "*' " + option + "'" : joined(of_paths, " | ")) + ") " +
               action + " ;;\n";
  return cases;
}

}  // namespace

std::string bash_completion(const CommandTree& program) {
  const std::vector<Place> places = places_of(program);
  std::string options;
  std::vector<std::string> paths;
  for (const auto& [path, command, above] : places) {
    std::vector<std::string> names, commands;
    for (const OptionDescription& option : command->options) names.push_back(option.name);
    for (const CommandTree& below : command->commands) commands.push_back(below.name);
    options += "    " + quoted(path) + ") options=" + quoted(joined(names)) +
               " commands=" + quoted(joined(commands)) + (takes_files(*command) ? " files=yes" : "") +
               " ;;\n";
    if (!path.empty()) paths.push_back(quoted(path));
  }
  return "# bash completion for " + program.name + R"(                             -*- shell-script -*-
# The words of the commands and views that are complete make the path; an option's value is none of them.
_headscope() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= words= options= commands= files= i
  COMPREPLY=()
  # An equals sign is a word of its own here.
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $prev == '=' ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      )" +
         joined(options_with_values(places), " | ") +
         R"()
        [[ ${COMP_WORDS[i+1]} == '=' ]] && ((i++))
        ((i++))
        ;;
      -*) ;;
      *)
        case "${path:+$path }${COMP_WORDS[i]}" in
          )" +
         joined(paths, " | ") +
         R"() path=${path:+$path }${COMP_WORDS[i]} ;;
        esac
        ;;
    esac
  done
  case "$path $prev" in
)" + bash_values(places) +
         R"(  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  case $path in
)" + options +
         R"(  esac
  words=$commands
  if [[ $cur == -* || -z $commands$files ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if [[ -n $files && $cur != -* ]]; then
    compopt -o filenames
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _headscope )" +
         program.name + "\n";
}

// --- zsh

namespace {

/// Escapes text inside brackets, or in a description that a colon ends.
std::string zsh_escaped(const std::string& text) {
  return escaped(unwrapped(text), "[]:\\");
}

std::string zsh_spec(const OptionDescription& option) {
  const std::string help = "[" + zsh_escaped(option.help) + "]";
  if (!option.values.empty())
    return quoted((option.repeated ? "*" : "") + option.name + "=" + help + ":" + zsh_escaped(option.values) +
                  ":" + action_for(option.values, {"(", ")", "_files", "_files -/", " "}));
  if (option.letter.empty()) return quoted(option.name + help);
  return quoted("(" + option.letter + " " + option.name + ")") + "{" + option.letter + "," + option.name +
         "}" + quoted(help);
}

std::string zsh_function(const std::string& path) {
  std::string name = path.empty() ? "_headscope" : "_headscope_" + path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace

std::string zsh_completion(const CommandTree& program) {
  std::string functions;
  for (const auto& [path, command, above] : places_of(program)) {
    const bool leaf = command->commands.empty();
    functions += "\n" + zsh_function(path) + "() {\n" +
                 (leaf ? "  _arguments"
                       : "  local context state state_descr line commands\n  typeset -A opt_args\n"
                         "  _arguments -C");
    for (const OptionDescription& option : command->options) functions += " \\\n    " + zsh_spec(option);
    if (leaf) {
      for (int place = 1; const OptionDescription& word : command->words)
        functions += " \\\n    " + quoted(std::to_string(place++) + ":" + zsh_escaped(word.name) + ":" +
                                          (are_files(word.name) ? "_files" : " "));
      functions += "\n}\n";
      continue;
    }
    functions +=
        " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      commands=(\n";
    for (const CommandTree& below : command->commands)
      functions += "        " + quoted(zsh_escaped(below.name) + ":" + unwrapped(below.help)) + "\n";
    functions += std::string("      )\n      _describe command commands\n") +
                 (takes_files(*command) ? "      _files\n" : "") +
                 "      ;;\n    rest)\n      case $line[1] in\n";
    for (const CommandTree& below : command->commands)
      functions += "        " + below.name + ") " + zsh_function(path_below(path, below.name)) + " ;;\n";
    functions += "      esac\n      ;;\n  esac\n}\n";
  }
  return "#compdef " + program.name + "\n" + functions +
         "\nif [[ $funcstack[1] == _headscope ]]; then\n  _headscope \"$@\"\nelse\n  compdef _headscope " +
         program.name + "\nfi\n";
}

// --- fish

namespace {

std::string fish_quoted(const std::string& text) {
  return "'" + escaped(unwrapped(text), "'\\") + "'";
}

std::string fish_line(const OptionDescription& option) {
  std::string line = " -l " + option.name.substr(2);
  if (!option.letter.empty()) line += " -s " + option.letter.substr(1);
  if (!option.values.empty())
    line += action_for(option.values,
                       {" -x -a '", "'", " -r -F", " -x -a '(__fish_complete_directories)'", " -x"});
  return line + " -d " + fish_quoted(option.help);
}

/// Adds the lines of a command. Options that all of its choices take too are written only once.
void add_fish_lines(const Place& place, const std::string& complete, std::string& lines) {
  const auto& [path, command, above] = place;
  const std::string at = complete + " -n \"__headscope_at" + (path.empty() ? "" : " " + path) + "\"";
  const std::string in = path.empty() ? at : complete + " -n \"__headscope_in " + path + "\"";
  for (const OptionDescription& option : command->options)
    if (above == nullptr || std::ranges::count(above->options, option) == 0)
      lines += in + fish_line(option) + "\n";
  if (takes_files(*command) && (above == nullptr || !takes_files(*above))) lines += at + " -F\n";
  for (const CommandTree& below : command->commands) {
    lines += at + " -a " + below.name + " -d " + fish_quoted(below.help) + "\n";
    add_fish_lines({path_below(path, below.name), &below, path.empty() ? nullptr : command}, complete, lines);
  }
}

}  // namespace

std::string fish_completion(const CommandTree& program) {
  const std::vector<Place> places = places_of(program);
  std::string lines;
  add_fish_lines(places.front(), "complete -c " + program.name, lines);
  std::vector<std::string> paths;  // paths of the commands: " plot", "plot heatmap"
  for (const auto& [path, command, above] : places)
    if (!path.empty()) paths.push_back(fish_quoted((above == nullptr ? " " : "") + path));
  return "# fish completion for " + program.name + R"(
# The words of the commands and views that are complete; an option's value is none of them.
function __headscope_path
    set -l path
    set -l value 0
    for word in (commandline -opc)[2..-1]
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case )" +
         joined(options_with_values(places)) +
         R"(
                set value 1
            case '-*'
            case '*'
                switch "$path $word"
                    case )" +
         joined(paths) +
         R"(
                        set -a path $word
                end
        end
    end
    string join ' ' -- $path
end
function __headscope_at
    set -l path (__headscope_path)
    test "$path" = "$argv"
end
function __headscope_in
    set -l path (__headscope_path)
    string match -q -- "$argv *" "$path "
end
complete -c )" +
         program.name + " -f\n" + lines;
}

}  // namespace headscope::app
