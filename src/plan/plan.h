// A plan: the serializable result of a build, shared by builder and engine. Graph, raw weights, shape program, hints;
// no packed data, no pointers, nothing of the machine it was built on is needed to run it. Reading validates every byte
// before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::plan {

TORCHTRT_API std::string contentHash(const void* data, size_t bytes);

inline constexpr uint16_t kMajorVersion = 1;
inline constexpr uint16_t kMinorVersion = 5;

// Shape arithmetic: instruction i writes register i. Registers hold int64.
enum class Op : uint8_t { kConstant = 0, kSymbol = 1, kAdd = 2, kMul = 3, kFloorDiv = 4, kMod = 5, kMax = 6, kMin = 7 };
struct Instruction {
  Op op = Op::kConstant;
  uint32_t a = 0, b = 0;  // registers below this one; kSymbol: a = index into Plan::symbols
  int64_t immediate = 0;  // kConstant
  bool operator==(const Instruction&) const = default;
};
using Register = uint32_t;

struct Weight {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;  // row-major
  uint64_t bytes = 0;
  std::string hash;                  // content hash (128 bits, hex)
  std::shared_ptr<const void> data;  // null when stored outside and not given
};

struct Tensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<Register> dims;
  std::vector<uint8_t> order;  // memory order, empty = row-major
  int32_t weight = -1;         // index into Plan::weights for constants
  int32_t view_of = -1;        // is another tensor's memory, dense in this one's dims and order; no step writes it
};

struct Step {
  std::string family;  // kernel family = text name of the layer type
  std::string hint;    // implementation that won when timed, see Plan::timed_on; "" = by rule
  std::string name;    // layer name
  Location location;
  Attributes attributes;                                            // without those of type Dims
  std::vector<std::pair<std::string, std::vector<Register>>> dims;  // the symbolic ones
  std::vector<int32_t> inputs;                                      // tensors; -1 = absent operand
  std::vector<int32_t> outputs;
};

struct Binding {
  std::string name;
  int32_t tensor = -1;
  // Since 1.2, of inputs with fixed dims: a tensor of these dims instead, which has no elements, stands for zeros,
  // where all inputs that have such dims come so. Empty: nothing stands for the input.
  std::vector<int64_t> empty_dims = {};
};

// Machine code for a GPU that was compiled before the plan was loaded. It is a cache: no engine needs
// it, and an engine passes over a binary that is damaged or does not fit its device.
struct Binary {
  std::string architecture;  // "sm_90"
  std::string key;           // hash of the compiled text and of the compiler's options
  uint64_t bytes = 0;
  std::string hash;                         // contentHash() of it
  std::shared_ptr<const std::string> code;  // null in an engine
};

struct Plan {
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Instruction> program;
  std::vector<Weight> weights;  // deduplicated by content
  std::vector<Tensor> tensors;
  std::vector<Step> steps;               // in execution order
  std::vector<Binding> inputs, outputs;  // an output's tensor may be an input's, a constant's, or another output's
  std::vector<std::pair<std::string, std::string>> options;  // what it was built with, for people
  std::string producer;                                      // "torchtrt 0.1.0"
  // Since 1.1. The machine that the steps' hints were found on (kernels::machineKey): others have no use for them, and
  // choose by rule.
  std::string timed_on;
  std::vector<Binary> binaries;  // since 1.3
  // Since 1.4. The bits of a sample do not depend on the others of its batch (kernels::Problem::batch_invariant).
  bool batch_invariant = false;
};

// Returns a hash of architecture, key and code.
TORCHTRT_API std::string contentHash(const Binary& binary);

// Self-contained bytes: magic, version, FlatBuffer, and a 64-byte aligned weight section after it.
TORCHTRT_API std::string serialize(const Plan& plan);
// The same without the weight section: weights travel beside it, in order (Plan::weights[i] <-> external weight i).
TORCHTRT_API std::string serializeWithoutWeights(const Plan& plan);

// Parses and validates: magic, version, FlatBuffers verifier, then validate(). Weights are views into `bytes` (kept
// alive by `owner`) or the external ones. Throws EngineError (kPlanCorrupt, kPlanVersion) and never reads outside of
// `bytes`.
TORCHTRT_API Plan parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                        std::span<const Weight> external_weights = {});
// Every index, register, size, order and family of a plan is in range and consistent.
TORCHTRT_API void validate(const Plan& plan);

// Exact text form for `torchtrtc inspect`; notes, one per step, are appended to the steps' lines.
TORCHTRT_API std::string print(const Plan& plan, std::span<const std::string> step_notes = {});

// Shape arithmetic. Registers for given symbol values; an overflow or a division by zero is an EngineError
// (kShapeArithmetic).
TORCHTRT_API void runProgram(const Plan& plan, std::span<const int64_t> symbol_values, std::vector<int64_t>& registers);
TORCHTRT_API std::string printAttributes(const Step& step);  // "alpha=0, op="relu""; without the symbolic ones
TORCHTRT_API std::string printRegister(const Plan& plan, Register index);  // "2*s0+1"
// Product of dims times the element size; throws EngineError (kShapeArithmetic) for negative dims and beyond int64.
TORCHTRT_API size_t checkedBytes(std::span<const int64_t> dims, DType dtype);

}  // namespace torchtrt::plan
