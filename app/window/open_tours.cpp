#include <stdexcept>
#include <string>
#include <utility>

#include "app/window/core.h"
#include "model/files/quote.h"

namespace headscope::app {

void open_tours(CoreOptions& options, LoadedTours loaded) {
  const std::string& name = options.window.tour;
  if (!name.empty()) {
    options.tour = find_tour(loaded, name);
    const auto stops = std::ssize(loaded.tours[*options.tour].stops);
    if (options.window.stop > stops)
      throw std::runtime_error("the tour " + model::quote(name) + " has " + std::to_string(stops) +
                               " stops; --stop is " + std::to_string(options.window.stop));
  }
  options.tours = std::move(loaded.tours);
}

}  // namespace headscope::app
