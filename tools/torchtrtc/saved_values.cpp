#include "saved_values.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include "file_kind.h"
#include "files.h"
#include "torchtrt/error.h"

namespace torchtrtc {

using torch::jit::IValue;

IValue readSaved(const std::string& file, const std::string& option, const std::string& advice) {
  const auto reject = [&](const std::string& why) {
    return torchtrt::CompileError(torchtrt::ErrorCode::kInvalidOption, option + " " + file + " " + why, {}, advice);
  };
  if (const FileKind kind = kindOf(file); kind != FileKind::kCheckpoint) {
    throw reject("is " + described(kind) + ", expected a file of torch.save");
  }
  const std::string bytes = readFile(file);
  try {
    return torch::jit::pickle_load({bytes.begin(), bytes.end()});
  } catch (const std::exception&) {  // libtorch says of a dictionary with a class of its own that it is a bug
    throw reject("holds something else than tensors, numbers, texts, lists, tuples and dictionaries");
  }
}

bool isSequence(const IValue& value) {
  return value.isList() || value.isTuple();
}

std::vector<IValue> elementsOf(const IValue& sequence) {
  return sequence.isTuple() ? sequence.toTupleRef().elements().vec() : sequence.toList().vec();
}

}  // namespace torchtrtc
