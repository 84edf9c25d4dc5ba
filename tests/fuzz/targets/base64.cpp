// The text form of a plan in the state of a saved engine.
#include "runtime/base64.h"

#include "fuzz/targets/target.h"

namespace torchtrt::fuzz {
namespace {

bool run(std::string_view input) {
  if (runtime::decodeBase64(runtime::encodeBase64(input)) != input) {
    fail("encoded bytes do not come back");
  }
  const auto bytes = runtime::decodeBase64(input);
  if (bytes && runtime::encodeBase64(*bytes) != input) {
    fail("text was accepted that encodeBase64() does not make");
  }
  return bytes.has_value();
}

}  // namespace

const Target base64 = {"base64", run};

}  // namespace torchtrt::fuzz
