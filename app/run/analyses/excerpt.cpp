#include "app/run/analyses/excerpt.h"

#include <algorithm>

namespace headscope::app {

std::string Excerpt::text() const {
  std::string text = first > 0 ? "…" : "";
  for (const std::string& label : labels) text += label;
  return text;
}

std::size_t Excerpt::bytes() const {
  std::size_t sum = sizeof *this + ids.size() * sizeof(int) + values.size() * sizeof(float);
  for (const std::string& label : labels) sum += sizeof label + label.size();
  return sum;
}

Excerpt excerpt_of(const PromptRun& run, int position, ExcerptSize size,
                   const std::function<float(int position)>& value) {
  const int last = run.run->length() - 1;
  Excerpt excerpt;
  // Not `position + after`: an excerpt may be asked to be as long as any number.
  const int end = position + std::min(size.after, last - position);
  excerpt.first = position - std::min(size.before, position);
  excerpt.continues = end < last;
  for (int i = excerpt.first; i <= end; ++i) {
    excerpt.ids.push_back(run.run->tokens[i]);
    excerpt.labels.push_back(run.tokens.labels[i]);
    if (value) excerpt.values.push_back(value(i));
  }
  return excerpt;
}

}  // namespace headscope::app
