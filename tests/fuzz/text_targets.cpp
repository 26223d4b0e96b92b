// Text of any bytes: shown, and written to figures.
#include <nlohmann/json.hpp>

#include "app/recipe/recipe.h"
#include "app/text/json_text.h"
#include "app/text/terminal_text.h"
#include "model/files/quote.h"
#include "tests/fuzz/targets.h"
#include "viz/players/players.h"
#include "viz/text/utf8.h"

namespace headscope::fuzz {

using namespace headscope::app;

Outcome check_shown_text(std::string_view bytes) {
  const auto no_control = [](const std::string& text, std::string_view but) {
    for (std::size_t at = 0; at < text.size();) {
      const viz::Decoded c = viz::decode_utf8(text, at);
      if (!c.valid || (viz::is_control(c.code) && but.find(static_cast<char>(c.code)) == but.npos))
        return false;
      at += c.length;
    }
    return true;
  };
  promise(no_control(viz::visible(bytes), ""), "a label has no control character");
  promise(no_control(viz::drawable(bytes), "\t"), "what is drawn has no control character but tabs");
  promise(no_control(model::quote(bytes), "") && model::quote(bytes).size() <= 64 * 4 + 5,
          "a quoted name is short and printable");
  promise(no_control(terminal_safe(bytes), ""), "what goes to a terminal is no command to it");
  promise(is_utf8(utf8_or_replacement(bytes)), "what is no UTF-8 is replaced");
  promise(!is_utf8(bytes) || utf8_or_replacement(bytes) == bytes, "what is UTF-8 stays");
  promise(bytes_from_json(bytes_to_json(bytes)) == std::string(bytes), "bytes come back out of JSON");
  const std::string json = json_line(token_json(1, bytes));
  promise(no_control(json, ""), "JSON has no control character");
  promise(nlohmann::ordered_json::parse(json) == token_json(1, bytes), "JSON means what it was made of");
  return Outcome::read;
}

Outcome check_recipe_note(std::string_view input) {
  static const std::shared_ptr<const viz::Fonts> fonts = viz::Fonts::load();
  Recipe recipe;
  recipe.figure = Figure{};
  recipe.session.prompt.text = input.substr(0, input.size() / 2);
  recipe.session.model.name = input.substr(input.size() / 2).substr(0, 200);
  recipe.session.edits = {{std::string(input), true}};
  const std::vector<viz::Note> notes{recipe_note(recipe)};
  const viz::Scene scene{.width = 4, .height = 4, .background = {255, 255, 255, 255}, .items = {}};
  std::string file;
  switch (input.size() % 3) {
    case 0: {
      static const viz::Bitmap bitmap = viz::rasterize(scene, *fonts, 1);
      const auto png = viz::encode_png(bitmap, 1, notes);
      file.assign(png.begin(), png.end());
      break;
    }
    case 1:
      file = viz::to_svg(scene, *fonts, {.text = false, .notes = notes});
      break;
    default:
      file = viz::to_pdf(scene, *fonts, notes);
  }
  const Recipe read = recipe_of(file, "figure");
  promise(read.session == recipe.session && read.figure == recipe.figure,
          "a figure tells what it was made of");
  return Outcome::read;
}

}  // namespace headscope::fuzz
