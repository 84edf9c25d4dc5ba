// Tables of functions of which one fails when it is called for the n-th time.
#pragma once

#include <string>
#include <vector>

#include "cuda/driver/cublaslt.h"
#include "cuda/driver/driver.h"
#include "cuda/driver/nvrtc.h"

namespace torchtrt::cuda::testing {

// The next call to fail, for all tables.
struct Injection {
  int function = -1;   // its number in the table
  int call = 0;        // counted down; the one that comes to zero fails
  bool stays = false;  // and all behind it, too
  int result = 0;      // what the function then returns
  bool happened = false;
  bool works = false;  // the function does its work all the same

  static Injection& now() {
    static Injection injection;
    return injection;
  }
  bool fails(int asked) {
    if (asked != function || (call <= 0 && !stays)) {
      return false;
    }
    if (--call > 0) {
      return false;
    }
    return happened = true;
  }
};

// Stands in for function number `kNumber`.
template <int kNumber, typename Function>
struct Wrapped;
template <int kNumber, typename Returned, typename... Arguments>
struct Wrapped<kNumber, Returned (*)(Arguments...)> {
  static inline Returned (*inner)(Arguments...) = nullptr;
  static Returned call(Arguments... arguments) {
    if (!Injection::now().fails(kNumber)) {
      return inner(arguments...);
    }
    if (Injection::now().works) {
      inner(arguments...);
    }
    return static_cast<Returned>(Injection::now().result);
  }
};

// TORCHTRT_WRAP needs `table`, `names`, and counts functions from `kFirst`.
#define TORCHTRT_WRAP(member, symbol, ...)                                   \
  {                                                                          \
    using Stand = Wrapped<__COUNTER__ - kFirst - 1, decltype(table.member)>; \
    Stand::inner = table.member;                                             \
    table.member = Stand::call;                                              \
    names.push_back(#symbol);                                                \
  }

// The table with its functions wrapped; their names by number.
inline std::vector<std::string> wrap(Driver& table) {
  std::vector<std::string> names;
  constexpr int kFirst = __COUNTER__;
  TORCHTRT_CUDA_DRIVER_FUNCTIONS(TORCHTRT_WRAP)
  TORCHTRT_CUDA_GRAPH_FUNCTIONS(TORCHTRT_WRAP)
  return names;
}

inline std::vector<std::string> wrap(Nvrtc& table) {
  std::vector<std::string> names;
  constexpr int kFirst = __COUNTER__;
  TORCHTRT_NVRTC_FUNCTIONS(TORCHTRT_WRAP)
  return names;
}

}  // namespace torchtrt::cuda::testing
