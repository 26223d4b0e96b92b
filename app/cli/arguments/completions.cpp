#include "app/cli/arguments/completions.h"

#include <algorithm>
#include <map>
#include <set>

namespace headscope::app {
namespace {

using Kind = Offer::Kind;

/// A word that no shell reads anything into.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// A help text on one line.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::vector<std::string> names_of(const std::vector<CommandTree>& commands) {
  std::vector<std::string> names;
  for (const CommandTree& command : commands) names.push_back(command.name);
  return names;
}

/// `visit(path, command)` for the program, whose path is empty, its commands ("plot") and theirs ("plot
/// heatmap").
template <class Visit>
void walk(const CommandTree& tree, const std::string& path, const Visit& visit) {
  visit(path, tree);
  for (const CommandTree& command : tree.commands)
    walk(command, path.empty() ? command.name : path + " " + command.name, visit);
}

/// The options whose value is an argument of its own, so that it is no command's name.
std::vector<std::string> options_with_values(const CommandTree& program) {
  std::set<std::string> names;
  walk(program, "", [&](const std::string&, const CommandTree& command) {
    for (const OptionDescription& option : command.options)
      if (!option.values.empty()) names.insert(option.name);
  });
  return {names.begin(), names.end()};
}

/// Whether a file's name may stand on its own: as a word, or as one of several values of an option.
bool takes_files(const CommandTree& command) {
  const auto files = [](const std::string& values) { return offer_of(values).kind == Kind::files; };
  return std::ranges::any_of(command.words, files, &OptionDescription::name) ||
         std::ranges::any_of(command.options, [&](const OptionDescription& option) {
           return option.values.ends_with("...") && files(option.values);
         });
}

/// All paths but the program's own.
std::vector<std::string> paths_of(const CommandTree& program) {
  std::vector<std::string> paths;
  walk(program, "", [&](const std::string& path, const CommandTree&) {
    if (!path.empty()) paths.push_back(quoted(path));
  });
  return paths;
}

// --- bash

std::string bash_action(const Offer& offer) {
  switch (offer.kind) {
    case Kind::words:
      return "words=" + quoted(joined(offer.words));
    case Kind::files:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return";
    case Kind::folders:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return";
    case Kind::nothing:
      break;
  }
  return "return";
}

/// For each option what it takes by the path it is given on: once for all where that is everywhere the same.
std::string bash_values(const CommandTree& program) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> paths;  // option, action
  walk(program, "", [&](const std::string& path, const CommandTree& command) {
    for (const OptionDescription& option : command.options)
      if (!option.values.empty()) paths[option.name][bash_action(offer_of(option.values))].push_back(path);
  });
  std::string cases;
  for (const auto& [option, actions] : paths) {
    for (const auto& [action, of_paths] : actions) {
      std::vector<std::string> patterns;
      for (const std::string& path : of_paths) patterns.push_back(quoted(path + " " + option));
      cases += "    " + (actions.size() == 1 ? "*' " + option + "'" : joined(patterns, " | ")) + ") " +
               action + " ;;\n";
    }
  }
  return cases;
}

}  // namespace

std::string bash_completion(const CommandTree& program) {
  std::string options;
  walk(program, "", [&](const std::string& path, const CommandTree& command) {
    std::vector<std::string> names;
    for (const OptionDescription& option : command.options) names.push_back(option.name);
    options += "    " + quoted(path) + ") options=" + quoted(joined(names)) +
               " commands=" + quoted(joined(names_of(command.commands))) +
               (takes_files(command) ? " files=yes" : "") + " ;;\n";
  });
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
         joined(options_with_values(program), " | ") +
         R"()
        [[ ${COMP_WORDS[i+1]} == '=' ]] && ((i++))
        ((i++))
        ;;
      -*) ;;
      *)
        case "${path:+$path }${COMP_WORDS[i]}" in
          )" +
         joined(paths_of(program), " | ") +
         R"() path=${path:+$path }${COMP_WORDS[i]} ;;
        esac
        ;;
    esac
  done
  case "$path $prev" in
)" + bash_values(program) +
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

/// Inside of brackets, or of a description that a colon ends.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : one_line(text))
    out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out;
}

std::string zsh_spec(const OptionDescription& option) {
  const std::string help = "[" + zsh_escaped(option.help) + "]";
  if (option.values.empty()) {
    if (option.letter.empty()) return quoted(option.name + help);
    return quoted("(" + option.letter + " " + option.name + ")") + "{" + option.letter + "," + option.name +
           "}" + quoted(help);
  }
  const Offer offer = offer_of(option.values);
  const std::string action = offer.kind == Kind::words     ? "(" + joined(offer.words) + ")"
                             : offer.kind == Kind::files   ? "_files"
                             : offer.kind == Kind::folders ? "_files -/"
                                                           : " ";
  return quoted((option.repeated ? "*" : "") + option.name + "=" + help + ":" + zsh_escaped(option.values) +
                ":" + action);
}

std::string zsh_word(const OptionDescription& word, std::size_t place) {
  const bool file = offer_of(word.name).kind == Kind::files;
  return quoted(std::to_string(place) + ":" + zsh_escaped(word.name) + ":" + (file ? "_files" : " "));
}

std::string zsh_function(const std::string& path) {
  std::string name = path.empty() ? "_headscope" : "_headscope_" + path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace

std::string zsh_completion(const CommandTree& program) {
  std::string functions;
  walk(program, "", [&](const std::string& path, const CommandTree& command) {
    functions += "\n" + zsh_function(path) + "() {\n";
    if (!command.commands.empty())
      functions += "  local context state state_descr line commands\n  typeset -A opt_args\n";
    functions += command.commands.empty() ? "  _arguments" : "  _arguments -C";
    for (const OptionDescription& option : command.options) functions += " \\\n    " + zsh_spec(option);
    for (std::size_t i = 0; command.commands.empty() && i < command.words.size(); ++i)
      functions += " \\\n    " + zsh_word(command.words[i], i + 1);
    if (command.commands.empty()) {
      functions += "\n}\n";
      return;
    }
    functions +=
        " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      commands=(\n";
    for (const CommandTree& below : command.commands)
      functions += "        " + quoted(zsh_escaped(below.name) + ":" + one_line(below.help)) + "\n";
    functions += std::string("      )\n      _describe command commands\n") +
                 (takes_files(command) ? "      _files\n" : "") +
                 "      ;;\n    rest)\n      case $line[1] in\n";
    for (const CommandTree& below : command.commands)
      functions += "        " + below.name + ") " +
                   zsh_function(path.empty() ? below.name : path + " " + below.name) + " ;;\n";
    functions += "      esac\n      ;;\n  esac\n}\n";
  });
  return "#compdef " + program.name + "\n" + functions +
         "\nif [[ $funcstack[1] == _headscope ]]; then\n  _headscope \"$@\"\nelse\n  compdef _headscope " +
         program.name + "\nfi\n";
}

// --- fish

namespace {

std::string fish_quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : one_line(text)) word += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return word + "'";
}

std::string fish_line(const OptionDescription& option) {
  std::string line = " -l " + option.name.substr(2);
  if (!option.letter.empty()) line += " -s " + option.letter.substr(1);
  if (!option.values.empty()) {
    const Offer offer = offer_of(option.values);
    line += offer.kind == Kind::words     ? " -x -a " + fish_quoted(joined(offer.words))
            : offer.kind == Kind::files   ? " -r -F"
            : offer.kind == Kind::folders ? " -x -a '(__fish_complete_directories)'"
                                          : " -x";
  }
  return line + " -d " + fish_quoted(option.help);
}

/// As they stand after the words before them: " plot", "plot heatmap".
std::vector<std::string> fish_paths(const CommandTree& program) {
  std::vector<std::string> paths;
  walk(program, "", [&](const std::string& path, const CommandTree&) {
    if (!path.empty()) paths.push_back(fish_quoted(path.find(' ') == std::string::npos ? " " + path : path));
  });
  return paths;
}

/// Options of the command that those below it take as well are said once, for all of them.
void add_fish_lines(const CommandTree& program, const std::string& path, const CommandTree& command,
                    const CommandTree* above, std::string& lines) {
  const std::string start = "complete -c " + program.name + " -n \"";
  for (const OptionDescription& option : command.options) {
    if (above && std::ranges::count(above->options, option) > 0) continue;
    lines += start + (path.empty() ? "__headscope_at" : "__headscope_in " + path) + "\"" + fish_line(option) +
             "\n";
  }
  if (takes_files(command) && (!above || !takes_files(*above)))
    lines += start + "__headscope_at" + (path.empty() ? "" : " " + path) + "\" -F\n";
  for (const CommandTree& below : command.commands) {
    lines += start + "__headscope_at" + (path.empty() ? "" : " " + path) + "\" -a " + below.name + " -d " +
             fish_quoted(below.help) + "\n";
    add_fish_lines(program, path.empty() ? below.name : path + " " + below.name, below,
                   path.empty() ? nullptr : &command, lines);
  }
}

}  // namespace

std::string fish_completion(const CommandTree& program) {
  std::string lines;
  add_fish_lines(program, "", program, nullptr, lines);
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
         joined(options_with_values(program)) +
         R"(
                set value 1
            case '-*'
            case '*'
                switch "$path $word"
                    case )" +
         joined(fish_paths(program)) +
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
