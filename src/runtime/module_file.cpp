#include "runtime/module_file.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <c10/core/ScalarType.h>

#include "runtime/pickle.h"
#include "torchtrt/error.h"

namespace torchtrt::runtime {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using Value = Pickle::Value;
using Kind = Pickle::Kind;
using Wide = __int128;

constexpr size_t kMostRank = 64;
constexpr size_t kMostExpansion = 64;  // of what is compressed: code, to a tenth or so
constexpr size_t kSmallFile = size_t{16} << 20;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlanCorrupt, problem);
}

std::string quotedName(std::string_view text) {
  return "'" + std::string(text.substr(0, 64)) + "'";
}

// Bytes of an element, by the name of the storage's class.
std::optional<size_t> elementSize(std::string_view storage) {
  static const auto* sizes = [] {
    auto* known = new std::map<std::string, size_t, std::less<>>{{"torch\nUntypedStorage", 1}};
    for (int i = 0; i < static_cast<int>(c10::ScalarType::Undefined); ++i) {
      const auto type = static_cast<c10::ScalarType>(i);
      known->emplace(std::string("torch\n") + c10::toString(type) + "Storage", c10::elementSize(type));
    }
    return known;
  }();
  const auto found = sizes->find(storage);
  return found == sizes->end() ? std::nullopt : std::optional(found->second);
}

int64_t intOf(const Value& value, const char* what) {
  if (value.kind != Kind::kInt) {
    fail(std::string(what) + " is no whole number");
  }
  return value.number;
}

// A storage: its record holds as many bytes as it should.
class Storages {
 public:
  Storages(PyTorchStreamReader& reader, const Pickle& pickle, std::string folder)
      : reader_(reader), pickle_(pickle), folder_(std::move(folder)) {}

  void check(const Value& storage) const {
    const int64_t count = countOf(storage);
    const Value& type = pickle_.item(storage, 1);
    const std::optional<size_t> size = elementSize(type.text);
    if (!size || type.kind != Kind::kGlobal) {
      fail("a storage of the unknown type " + quotedName(type.text));
    }
    if (count == 0) {
      return;
    }
    const std::string name = folder_ + std::string(pickle_.item(storage, 2).text);
    if (!reader_.hasRecord(name)) {
      fail("there is no record " + quotedName(name) + " of a tensor");
    }
    const size_t held = reader_.getRecordSize(name);
    const Wide wanted = static_cast<Wide>(count) * static_cast<Wide>(*size);
    if (static_cast<Wide>(held) < wanted) {
      fail("record " + quotedName(name) + " has " + std::to_string(held) + " bytes, expected " +
           (wanted > std::numeric_limits<int64_t>::max() ? "more than there can be"
                                                         : std::to_string(static_cast<int64_t>(wanted))));
    }
  }

  int64_t countOf(const Value& storage) const {
    if (pickle_.item(storage, 0).text != "storage") {
      fail("a storage has another form than libtorch's");
    }
    const int64_t count = intOf(pickle_.item(storage, 4), "the size of a storage");
    if (count < 0) {
      fail("a storage has a negative size");
    }
    return count;
  }

 private:
  PyTorchStreamReader& reader_;
  const Pickle& pickle_;
  std::string folder_;
};

// Checks the arguments of libtorch's function that makes a tensor: storage, offset, sizes, strides. libtorch takes them
// as they are.
void checkTensor(const Pickle& pickle, const Storages& storages, const Value& arguments) {
  const Value& storage = pickle.item(arguments, 0);
  if (storage.kind != Kind::kStorage) {
    fail("a tensor has no storage");
  }
  const Value& sizes = pickle.item(arguments, 2);
  const Value& strides = pickle.item(arguments, 3);
  if (sizes.items.size() != strides.items.size() || sizes.items.size() > kMostRank) {
    fail("a tensor has " + std::to_string(sizes.items.size()) + " sizes and " + std::to_string(strides.items.size()) +
         " strides");
  }
  Wide last = intOf(pickle.item(arguments, 1), "the offset of a tensor");
  if (last < 0) {
    fail("a tensor begins in front of its storage");
  }
  bool is_empty = false;
  for (size_t axis = 0; axis < sizes.items.size(); ++axis) {
    const int64_t size = intOf(pickle.item(sizes, axis), "the size of a tensor");
    const int64_t stride = intOf(pickle.item(strides, axis), "the stride of a tensor");
    if (size < 0 || stride < 0) {
      fail("a tensor has a negative size or stride");
    }
    is_empty = is_empty || size == 0;
    constexpr Wide kFar = static_cast<Wide>(1) << 100;  // what is beyond stays there
    last = std::min(kFar, last + (size == 0 ? 0 : static_cast<Wide>(size - 1) * stride));
  }
  const int64_t count = storages.countOf(storage);
  if (!is_empty && last >= count) {
    fail("a tensor reaches beyond the " + std::to_string(count) + " elements of its storage");
  }
}

bool makesTensor(const Value& called) {
  return called.text == "torch._utils\n_rebuild_tensor_v2" || called.text == "torch._utils\n_rebuild_qtensor";
}

// Types are given as texts, which libtorch reads by calling itself.
void checkTypeText(std::string_view text) {
  constexpr int kDeepest = 200;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '(' ? 1 : (c == ']' || c == ')' ? -1 : 0);
    if (depth > kDeepest) {
      fail("a type lies more than " + std::to_string(kDeepest) + " deep");
    }
  }
}

void checkValues(PyTorchStreamReader& reader, const Pickle& pickle, const std::string& folder) {
  const Storages storages(reader, pickle, folder);
  for (const Pickle::Index index : pickle.all(Kind::kStorage)) {
    storages.check(pickle.at(index));
  }
  for (const Pickle::Index index : pickle.all(Kind::kMade)) {
    const Value& called = pickle.item(pickle.at(index), 0);
    const Value& arguments = pickle.item(pickle.at(index), 1);
    if (called.kind == Kind::kGlobal && makesTensor(called)) {
      checkTensor(pickle, storages, arguments);
    } else if (called.text == "torch.jit._pickle\nrestore_type_tag") {
      checkTypeText(pickle.item(arguments, 1).text);
    }
  }
}

// Checks the origins of code: texts, then ranges that name pieces of them by number. libtorch takes them as they are.
// Ends may lie outside of the texts, as they do in many modules.
void checkSourceRanges(const Pickle& pickle) {
  const Value& root = pickle.root();
  if (root.kind != Kind::kTuple || root.items.empty()) {
    return;  // libtorch refuses it, or finds no ranges
  }
  if (pickle.item(root, 0).text != "FORMAT_WITH_STRING_TABLE") {  // the older form has no table
    for (const Pickle::Index range : root.items) {
      static_cast<void>(pickle.item(pickle.at(range), 1));  // libtorch reads two items without counting
    }
    return;
  }
  const Value& texts = pickle.item(root, 1);
  const Value& ranges = pickle.item(root, 2);
  const auto check_text = [&](const Value& number) {
    const int64_t index = intOf(number, "the number of a text");
    if (index < 0 || static_cast<size_t>(index) >= texts.items.size()) {
      fail("a range of source code names text " + std::to_string(index) + " of " + std::to_string(texts.items.size()));
    }
  };
  for (size_t i = 0; i < ranges.items.size(); ++i) {
    const Value& source = pickle.item(pickle.item(pickle.item(ranges, i), 1), 0);
    const Value& pieces = pickle.item(source, 0);  // made of a list of numbers
    if (pieces.kind == Kind::kMade) {
      for (const Pickle::Index number : pickle.item(pickle.item(pieces, 1), 0).items) {
        check_text(pickle.at(number));
      }
    }
    check_text(pickle.item(source, 1));
  }
}

std::string read(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, size] = reader.getRecord(name);
  return {static_cast<const char*>(data.get()), size};
}

void checkRecord(PyTorchStreamReader& reader, const std::string& name) {
  if (name == "data.pkl" || name == "constants.pkl" || name == "attributes.pkl") {
    const std::string bytes = read(reader, name);
    checkValues(reader, Pickle(bytes), name.substr(0, name.size() - 4) + "/");
  } else if (name.ends_with(".debug_pkl")) {
    const std::string bytes = read(reader, name);
    checkSourceRanges(Pickle(bytes));
  } else if (name.ends_with(".py")) {
    checkCode(read(reader, name));
  }
}

}  // namespace

void checkModuleFile(PyTorchStreamReader& reader, size_t bytes) {
  if (!reader.hasRecord("constants.pkl")) {
    return;  // no module: libtorch says so
  }
  const std::vector<std::string> names = reader.getAllRecords();
  size_t room = std::max(bytes, kSmallFile) > std::numeric_limits<size_t>::max() / kMostExpansion
                    ? std::numeric_limits<size_t>::max()
                    : std::max(bytes, kSmallFile) * kMostExpansion;
  for (const std::string& name : names) {
    const size_t size = reader.getRecordSize(name);
    if (size > room) {
      fail("its records are more than " + std::to_string(kMostExpansion) + " times as large as the file");
    }
    room -= size;
  }
  for (const std::string& name : names) {
    try {
      checkRecord(reader, name);
    } catch (const EngineError& error) {
      throw EngineError(error.code(), "in record " + quotedName(name) + ": " + error.message());
    }
  }
}

}  // namespace torchtrt::runtime
