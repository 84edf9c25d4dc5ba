// The pickles of a saved module.
#include "runtime/pickle.h"

#include "fuzz/targets/target.h"
#include "torchtrt/error.h"

namespace torchtrt::fuzz {
namespace {

using runtime::Pickle;

// Asks for every part of every value, as module_file.cpp does.
bool run(std::string_view input) {
  try {
    const Pickle pickle(input);
    for (const Pickle::Kind kind :
         {Pickle::Kind::kPlain, Pickle::Kind::kInt, Pickle::Kind::kText, Pickle::Kind::kGlobal, Pickle::Kind::kTuple,
          Pickle::Kind::kList, Pickle::Kind::kDict, Pickle::Kind::kStorage, Pickle::Kind::kMade}) {
      for (const Pickle::Index index : pickle.all(kind)) {
        const Pickle::Value& value = pickle.at(index);
        for (size_t i = 0; i < value.items.size(); ++i) {
          if (&pickle.item(value, i) != &pickle.at(value.items[i])) {
            fail("a part of a value is another one");
          }
        }
      }
    }
    return pickle.root().kind != Pickle::Kind::kMark;
  } catch (const EngineError&) {
    return false;
  }
}

}  // namespace

const Target pickle = {"pickle", run};

}  // namespace torchtrt::fuzz
