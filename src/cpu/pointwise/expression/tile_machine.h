// The machine behind in_registers.h: instructions on a tile, as many elements as eight vectors hold. It knows nothing
// of layers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchtrt::kernels::pointwise {

// The operations on x, the vectors at hand, with an operand m from memory.
enum class Code : uint8_t {
  kLoad,   // m
  kStore,  // x, which goes to m, too
  kEnd,
  kSum,
  kProd,
  kSub,
  kSubFrom,  // m - x
  kDiv,
  kDivInto,  // m / x
  kMax,      // as max(x, m), for the signs of zeros
  kMaxOf,    // max(m, x)
  kMin,
  kMinOf,
  kAtLeast,  // limits of an activation
  kAtMost,
  kLess,  // comparisons give masks
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kChoose,      // where the mask m says so x, else the next instruction's m
  kChooseElse,  // the other way round
  kAbs,
  kNeg,
  kSquare,
  kSqrt,
  kReciprocal,
  kRsqrt,
};

// Each function ends with a jump to that of the next instruction, and vectors are passed on in registers.
struct Instruction {
  void (*function)();
  std::byte* operand;  // of element 0
  int64_t step;        // bytes from one element to the next; 0 for a tile that does not move
};

constexpr int64_t kVectors = 8;  // of a tile

// The form of an operand in memory: vectors of the machine's dtype, one element for each place, or 16 bits, which only
// the machine of float reads and writes.
enum class Stored : uint8_t { kPlain, kRepeated, kFloat16, kBFloat16 };

// The machine for one dtype and instruction set.
struct Machine {
  void (*(*find)(Code code, Stored stored))();
  void (*run)(const Instruction* first, int64_t begin, int64_t end);  // whole tiles of elements
  int64_t tile;                                                       // elements
};

// Returns the machine for this CPU; T is float or double.
template <typename T>
Machine tileMachine();

}  // namespace torchtrt::kernels::pointwise
