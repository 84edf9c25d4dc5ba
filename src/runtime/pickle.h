// A pickle in the form in which libtorch writes modules, read without making anything of it: which values there are and
// how they hang together. Nothing is trusted: what would make libtorch's reader take memory, go deep or leave its stack
// is an EngineError. See module_file.h for what is asked of the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchtrt::runtime {

class Pickle {
 public:
  enum class Kind : uint8_t {
    kPlain,    // none, bool, floating number
    kInt,      // number
    kText,     // text
    kGlobal,   // text: module and name, with a line end between
    kTuple,    // items, as of the next two
    kList,     //
    kDict,     // keys and values in turn
    kStorage,  // items: of the tuple that names it
    kMade,     // items: what was called, and with what
    kMark,
  };
  using Index = uint32_t;
  struct Value {
    Kind kind = Kind::kPlain;
    int64_t number = 0;
    std::string_view text;
    std::vector<Index> items;
  };

  // The text stays the caller's. Throws EngineError (kPlanCorrupt), without the file's name.
  explicit Pickle(std::string_view bytes);

  const Value& root() const {
    return values_[root_];
  }
  const Value& at(Index index) const {
    return values_[index];
  }
  // Returns the values of one kind, in the order in which they were made.
  std::vector<Index> all(Kind kind) const;
  // Item number `i` of a value; throws where there is none.
  const Value& item(const Value& value, size_t i) const;

 private:
  class Reader;

  std::vector<Value> values_;
  Index root_ = 0;
};

}  // namespace torchtrt::runtime
