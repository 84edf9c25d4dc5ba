// The calibration cache.
#include "fuzz/targets/target.h"
#include "quantization/quantization.h"
#include "torchtrt/error.h"

namespace torchtrt::fuzz {
namespace {

bool run(std::string_view input) {
  quantization::Cache cache;
  try {
    cache = quantization::parseCache(input);
  } catch (const CompileError&) {
    return false;
  }
  const std::string text = print(cache);
  if (print(quantization::parseCache(text)) != text) {
    fail("the printed cache reads back as another one:\n" + text);
  }
  return true;
}

}  // namespace

const Target calibration = {"calibration", run};

}  // namespace torchtrt::fuzz
