#pragma once

namespace headscope::model {

/// A visitor of a variant with one function for each kind; a missing one is a compile error.
template <class... Cases>
struct EachKind : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
EachKind(Cases...) -> EachKind<Cases...>;  // Clang 16 does not deduce it

}  // namespace headscope::model
