#include "app/cli/arguments/command_tree.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace headscope::app {
namespace {

/// Text escaped for troff. Dashes become ASCII hyphens, as typed.
std::string escaped(const std::string& text) {
  static const std::map<char, std::string> kEscapes{{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                    {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"}};
  std::string out;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) out += "\\&";
    line_starts = c == '\n';
    const auto escape = kEscapes.find(c);
    out += escape == kEscapes.end() ? std::string(1, c) : escape->second;
  }
  return out;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

/// "a|b|c" with a possible line break after each bar.
std::string values_text(const std::string& values) {
  std::string out;
  for (const char c : escaped(values)) out += c == '|' ? std::string("|\\:") : std::string(1, c);
  return "\\fI" + out + "\\fR";
}

class Manual {
 public:
  explicit Manual(const CommandTree& program) : program_(program) {}

  std::string page(const std::string& version, const std::string& date) && {
    out_ << ".TH HEADSCOPE 1 " << date << " \"headscope " << version
         << "\" \"User Commands\"\n.ad l\n.SH NAME\n"
         << program_.name << " \\- see inside GPT\\-2 while it runs\n.SH SYNOPSIS\n"
         << bold(program_.name) << " [\\fIOPTIONS\\fR] [\\fICOMMAND\\fR ...]\n.SH DESCRIPTION\n"
         << "Runs GPT\\-2 and shows what happens inside: in a window, in pictures for papers, and in "
            "numbers. Results go\n"
            "to standard output, messages to standard error.\n"
         << "An option's value may follow it as the next argument or after an equals sign.\n.SH OPTIONS\n"
         << "Options of the window, which opens when no command is given. Each command lists those that it "
            "takes.\n";
    write_words(program_.words);
    write_options(program_.options, {});
    out_ << ".SH COMMANDS\n";
    for (const CommandTree& command : program_.commands) write_command(command);
    if (!edits_.empty()) {
      out_ << ".SH EDITS\n";
      write_block(edits_);
    }
    write_table(
        ".SH EXIT STATUS\n",
        {{"0", "success"}, {"1", "failure; one line says why"}, {"2", "wrong usage; one line says why"}});
    write_table(".SH ENVIRONMENT\n",
                {{"HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME", "where to look for the Hugging Face cache"},
                 {"HF_ENDPOINT", "the hub's address, instead of https://huggingface.co"},
                 {"HF_TOKEN, HF_TOKEN_PATH", "an access token for the hub, or the file that holds it"},
                 {"HF_HUB_OFFLINE", "1: never fetch"},
                 {"https_proxy, http_proxy, all_proxy, no_proxy", "proxies for reaching the hub"},
                 {"XDG_STATE_HOME", "where the window keeps its last session, in the folder headscope"},
                 {"XDG_CONFIG_HOME", "where to look for settings and tours, in the folder headscope"},
                 {"XDG_DATA_HOME, XDG_DATA_DIRS", "where to look for fonts"}});
    write_table(".SH FILES\n", {{"~/.config/headscope/settings.json", "the window's settings"},
                                {"~/.local/state/headscope/last.headscope, before.headscope",
                                 "the window's last session, its prompt included, and the one before"},
                                {"~/.config/headscope/tours/*.md", "your own guided tours"},
                                {"~/.cache/huggingface/hub", "models found by name"}});
    out_ << ".SH EXAMPLES\n";
    write_block(examples());
    out_ << ".SH SEE ALSO\n"
            "The guide explains the views, edits, recipes and output, and has a glossary. F1 in the window "
            "shows "
            "and searches\n"
            "it; its pages are the files\n"
            ".I ../share/headscope/guide/*.md\n"
            "beside the program's folder.\n";
    return std::move(out_).str();
  }

 private:
  const CommandTree& program_;
  std::ostringstream out_;
  std::string edits_;  ///< the footer that commands share

  /// `head` is troff source, `text` is plain text.
  void write_entry(const std::string& head, const std::string& text) {
    out_ << ".TP\n" << head << '\n' << escaped(unwrapped(text)) << '\n';
  }

  void write_table(const char* heading, const std::vector<std::pair<std::string, std::string>>& rows) {
    out_ << heading;
    for (const auto& [name, meaning] : rows) write_entry(bold(name), meaning);
  }

  /// Preformatted text.
  void write_block(const std::string& text) {
    out_ << ".nf\n";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out_ << (line.empty() ? "\\&" : escaped(line)) << '\n';
    out_ << ".fi\n";
  }

  void write_words(const std::vector<OptionDescription>& words) {
    for (const OptionDescription& word : words) write_entry(values_text(word.name), word.help);
  }

  void write_option(const OptionDescription& option) {
    write_entry((option.letter.empty() ? "" : bold(option.letter) + ", ") + bold(option.name) +
                    (option.values.empty() ? "" : " " + values_text(option.values)),
                option.help);
  }

  /// Writes options; those in `elsewhere` are only mentioned by name.
  void write_options(const std::vector<OptionDescription>& options,
                     const std::vector<OptionDescription>& elsewhere) {
    std::string named;
    for (const OptionDescription& option : options) {
      if (option.name == "--help" && !elsewhere.empty()) continue;
      if (std::ranges::count(elsewhere, option) > 0) {
        named += (named.empty() ? "" : ", ") + bold(option.name);
      } else {
        write_option(option);
      }
    }
    if (!named.empty()) out_ << ".PP\nAlso takes, as above: " << named << ".\n";
  }

  /// Writes, indented, the options that the parent command does not have.
  void write_own_options(const CommandTree& below, const CommandTree& command) {
    std::vector<OptionDescription> own;
    for (const OptionDescription& option : below.options)
      if (option.name != "--help" && std::ranges::count(command.options, option) == 0) own.push_back(option);
    if (own.empty()) return;
    out_ << ".RS\n";
    for (const OptionDescription& option : own) write_option(option);
    out_ << ".RE\n";
  }

  void write_command(const CommandTree& command) {
    out_ << ".SS " << program_.name << ' ' << escaped(command.name) << '\n'
         << escaped(unwrapped(command.help)) << ".\n";
    write_words(command.words);
    write_options(command.options, program_.options);
    for (const CommandTree& below : command.commands) {
      write_entry(bold(command.name + " " + below.name), below.help + ".");
      write_own_options(below, command);
    }
    if (command.footer.empty() || command.footer == program_.footer) return;  // which commands inherit
    if (std::ranges::count(program_.commands, command.footer, &CommandTree::footer) > 1) {
      edits_ = command.footer;
    } else {
      out_ << ".PP\n";
      write_block(command.footer);
    }
  }

  /// The lines of the program's footer after "Examples:".
  std::string examples() const {
    const std::size_t at = program_.footer.find("Examples:\n");
    return at == std::string::npos ? program_.footer : program_.footer.substr(at + 10);
  }
};

}  // namespace

std::string manual_page(const CommandTree& program, const std::string& version, const std::string& date) {
  return Manual(program).page(version, date);
}

}  // namespace headscope::app
