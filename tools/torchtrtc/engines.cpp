#include "engines.h"

#include "file_kind.h"
#include "files.h"
#include "torchtrt/error.h"

namespace torchtrtc {

void withEngine(const std::string& path, const std::function<void(const std::string& engine)>& use) {
  if (kindOf(path) != FileKind::kEngine) {
    rejectFile(path, "an engine that --save-engine wrote");
  }
  try {
    use(readFile(path));
  } catch (const torchtrt::EngineError& error) {
    throw torchtrt::EngineError(error.code(), "\"" + path + "\": " + error.message(), error.location(), error.advice());
  }
}

}  // namespace torchtrtc
