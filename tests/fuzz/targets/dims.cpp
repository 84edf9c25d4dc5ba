// Expressions of dims, as network text and shared_dims have them.
#include <optional>

#include "fuzz/targets/target.h"
#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt::fuzz {
namespace {

bool run(std::string_view input) {
  const std::optional<Dim> dim = Dim::parse(input);
  if (!dim) {
    return false;
  }
  const std::string text = dim->toString();
  const std::optional<Dim> again = Dim::parse(text);
  if (!again || *again != *dim || again->toString() != text) {
    fail("the printed dim reads back as another one: " + text);
  }
  return true;
}

}  // namespace

const Target dims = {"dims", run};

}  // namespace torchtrt::fuzz
