#include "cpu/pointwise/expression/in_registers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "cpu/pointwise/expression/tile_machine.h"

namespace torchtrt::kernels {
namespace {

using pointwise::Code;
using pointwise::Instruction;
using pointwise::Machine;
using pointwise::Stored;

struct Operator {
  std::string_view op;
  Code code;
  Code reversed;  // with the operands exchanged; unused for one operand
};
constexpr Operator kUnary[] = {
    {"abs", Code::kAbs, {}},       {"neg", Code::kNeg, {}},     {"sqrt", Code::kSqrt, {}},
    {"square", Code::kSquare, {}}, {"rsqrt", Code::kRsqrt, {}}, {"reciprocal", Code::kReciprocal, {}},
};
constexpr Operator kBinary[] = {
    {"sum", Code::kSum, Code::kSum},     {"prod", Code::kProd, Code::kProd}, {"sub", Code::kSub, Code::kSubFrom},
    {"div", Code::kDiv, Code::kDivInto}, {"max", Code::kMax, Code::kMaxOf},  {"min", Code::kMin, Code::kMinOf},
};
constexpr Operator kComparisons[] = {
    {"less", Code::kLess, Code::kGreater},    {"less_equal", Code::kLessEqual, Code::kGreaterEqual},
    {"greater", Code::kGreater, Code::kLess}, {"greater_equal", Code::kGreaterEqual, Code::kLessEqual},
    {"equal", Code::kEqual, Code::kEqual},    {"not_equal", Code::kNotEqual, Code::kNotEqual},
};

template <size_t kCount>
const Operator* findIn(const Operator (&operators)[kCount], std::string_view op) {
  const auto* found =
      std::find_if(std::begin(operators), std::end(operators), [&](const Operator& one) { return one.op == op; });
  return found == std::end(operators) ? nullptr : found;
}

enum class From : uint8_t { kNothing, kInput, kKept, kNumber, kOutput };

struct Operand {
  From from = From::kNothing;
  size_t index = 0;
  Stored stored = Stored::kPlain;

  bool operator==(const Operand&) const = default;
};

struct Line {
  Code code;
  Operand operand;
};

constexpr size_t kMostTiles = 24;  // results that are kept, numbers, and operands that do not lie in rows
constexpr size_t kMostLines = 64;
constexpr size_t kTileBytes = pointwise::kVectors * 64;  // of the largest vectors

using Tile = std::array<std::byte, kTileBytes>;

// Layers as lines; `ok` is false where that cannot be done.
class Compiler {
 public:
  explicit Compiler(const std::vector<ArithmeticLayer>& layers) : layers_(layers), memory_(layers.size()) {
    for (size_t i = 0; i < layers.size() && ok; ++i) {
      ok = layers[i].what.dtype == layers[0].what.dtype && compile(i);
    }
    const size_t tiles = kept_count_ + numbers.size() + inputs.size() + 1;
    ok = ok && !is_mask_.back() && at_hand_ == resultOf(layers.size() - 1) && lines.size() < kMostLines - 2 &&
         tiles <= kMostTiles;
    lines.push_back({Code::kStore, {From::kOutput, 0, output}});
    lines.push_back({Code::kEnd, {}});
  }

  bool ok = true;
  std::vector<Line> lines;
  std::vector<double> numbers;
  std::vector<Stored> inputs;
  Stored output = Stored::kPlain;

  size_t kept() const {
    return kept_count_;
  }

 private:
  static int32_t resultOf(size_t layer) {
    return -1 - static_cast<int32_t>(layer);
  }

  bool compile(size_t i) {
    const ArithmeticLayer& layer = layers_[i];
    is_mask_.push_back(false);
    if (layer.what.op == "widen") {  // when it is read
      const int32_t operand = layer.operands[0];
      const Stored stored = storedAs(layer.what.stored);
      memory_[i] = {From::kInput, static_cast<size_t>(operand), stored};
      return operand >= 0 && layer.what.steps[0] == 1 && addInput(static_cast<size_t>(operand), stored);
    }
    for (size_t k = 0; k < layer.operands.size(); ++k) {
      const int32_t operand = layer.operands[k];
      const bool is_condition = layer.what.op == "select" && k == 0;
      if (operand < 0 ? is_mask_[static_cast<size_t>(-1 - operand)] != is_condition
                      : is_condition || !addInput(static_cast<size_t>(operand),
                                                  layer.what.steps[k] == 0 ? Stored::kRepeated : Stored::kPlain)) {
        return false;
      }
    }
    if (!compileOperator(layer) || !compileActivation(layer.what.activation, layer.what.alpha, layer.what.beta)) {
      return false;
    }
    at_hand_ = resultOf(i);
    if (isReadFromMemory(i)) {
      keep(i);
    }
    return true;
  }

  static Stored storedAs(DType dtype) {
    return dtype == DType::kFloat16 ? Stored::kFloat16 : Stored::kBFloat16;
  }

  // The result of a layer, which is at hand.
  void keep(size_t i) {
    memory_[i] = {From::kKept, kept_count_++};
    lines.push_back({Code::kStore, memory_[i]});
  }

  // One input is read in one way.
  bool addInput(size_t index, Stored stored) {
    const bool is_new = index >= inputs.size();
    if (is_new) {
      inputs.resize(index + 1, stored);
    }
    return inputs[index] == stored;
  }

  bool compileOperator(const ArithmeticLayer& layer) {
    const std::vector<int32_t>& operands = layer.operands;
    if (layer.what.op == "select") {
      const bool has_else = operands[2] == at_hand_;
      const int32_t other = operands[has_else ? 1 : 2];
      if (other < 0 && memory(other).from == From::kInput) {  // of 16 bits
        if (has_else || operands[1] == at_hand_) {
          return false;
        }
        takeUp(other);
        keep(static_cast<size_t>(-1 - other));
        at_hand_ = other;
      }
      takeUp(operands[has_else ? 2 : 1]);
      lines.push_back({has_else ? Code::kChooseElse : Code::kChoose, memory(operands[0])});
      lines.push_back({Code::kEnd, memory(other)});
      return true;
    }
    if (layer.what.op == "narrow") {
      output = storedAs(layer.what.stored);
      takeUp(operands[0]);
      return &layer == &layers_.back();
    }
    if (operands.size() == 1) {
      takeUp(operands[0]);
      if (const Operator* found = findIn(kUnary, layer.what.op)) {
        lines.push_back({found->code, {}});
        return true;
      }
      return compileActivation(layer.what.op, layer.what.alpha, layer.what.beta);
    }
    const Operator* comparison = findIn(kComparisons, layer.what.op);
    const Operator* found = comparison == nullptr ? findIn(kBinary, layer.what.op) : comparison;
    if (found == nullptr) {
      return false;
    }
    is_mask_.back() = comparison != nullptr;
    const bool reversed = operands[1] == at_hand_;
    takeUp(operands[reversed ? 1 : 0]);
    lines.push_back({reversed ? found->reversed : found->code, memory(operands[reversed ? 0 : 1])});
    return true;
  }

  bool compileActivation(const std::string& op, double alpha, double beta) {
    if (op == "relu") {
      lines.push_back({Code::kAtLeast, number(0)});
    } else if (op == "clip") {
      lines.push_back({Code::kAtLeast, number(alpha)});
      lines.push_back({Code::kAtMost, number(beta)});
    } else {
      return op.empty();
    }
    return true;
  }

  // True if a layer reads the result of this one from memory, not from registers right behind it.
  bool isReadFromMemory(size_t i) const {
    for (size_t j = i + 1; j < layers_.size(); ++j) {
      const std::vector<int32_t>& operands = layers_[j].operands;
      const auto reads = std::count(operands.begin(), operands.end(), resultOf(i));
      const bool at_hand = j == i + 1 && !is_mask_[i];
      if (reads > (at_hand ? 1 : 0)) {
        return true;
      }
    }
    return false;
  }

  void takeUp(int32_t operand) {
    if (operand != at_hand_) {
      lines.push_back({Code::kLoad, memory(operand)});
    }
  }

  Operand memory(int32_t operand) const {
    const auto index = static_cast<size_t>(operand);
    return operand >= 0 ? Operand{From::kInput, index, inputs[index]} : memory_[static_cast<size_t>(-1 - operand)];
  }

  Operand number(double value) {
    numbers.push_back(value);
    return {From::kNumber, numbers.size() - 1, Stored::kRepeated};
  }

  const std::vector<ArithmeticLayer>& layers_;
  std::vector<Operand> memory_;  // by layer: where its result is read
  size_t kept_count_ = 0;
  std::vector<bool> is_mask_;  // by layer: whether it is a comparison
  int32_t at_hand_ = std::numeric_limits<int32_t>::min();
};

template <typename T>
class InRegisters final : public Prepared, public RunsPieces {
 public:
  InRegisters(const Compiler& compiled, const Machine& machine, int64_t count)
      : lines_(compiled.lines), inputs_(compiled.inputs), kept_(compiled.kept()), machine_(machine), count_(count) {
    for (const double number : compiled.numbers) {
      numbers_.push_back(static_cast<T>(number));
    }
    for (const Line& line : lines_) {
      functions_.push_back(machine.find(line.code, line.operand.stored));
    }
  }

  void run(const RunArgs& args) const override {
    runPiece(args, 0, count_);
  }

  bool hasDenseOutput() const override {
    return true;
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    alignas(64) std::array<Tile, kMostTiles> tiles;
    const int64_t whole = (end - begin) / machine_.tile * machine_.tile;
    const size_t first_input = kept_ + numbers_.size();
    for (size_t i = 0; i < numbers_.size(); ++i) {
      repeat(numbers_[i], tiles[kept_ + i]);
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == Stored::kRepeated) {
        repeat(*static_cast<const T*>(args.inputs[i]), tiles[first_input + i]);
      }
    }
    std::array<Instruction, kMostLines> instructions;
    for (size_t i = 0; i < lines_.size(); ++i) {
      instructions[i] = {functions_[i], nullptr, 0};
      const Operand& operand = lines_[i].operand;
      if (isInRows(operand)) {
        instructions[i].operand = rowsOf(args, operand);
        instructions[i].step = sizeIn(operand);
      } else if (operand.from != From::kNothing) {
        instructions[i].operand = tiles[tileOf(operand)].data();
      }
    }
    machine_.run(instructions.data(), begin, begin + whole);
    if (begin + whole == end) {
      return;
    }
    // The rest is a tile of its own, on copies.
    std::byte* output = nullptr;
    size_t output_bytes = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const Operand& operand = lines_[i].operand;
      if (isInRows(operand)) {
        const auto bytes = static_cast<size_t>((end - begin - whole) * sizeIn(operand));
        std::byte* const tile = tiles[tileOf(operand)].data();
        std::byte* const rows = instructions[i].operand + (begin + whole) * sizeIn(operand);
        if (operand.from == From::kOutput) {
          output = rows;
          output_bytes = bytes;
        } else {
          std::memcpy(tile, rows, bytes);
          std::memset(tile + bytes, 0, kTileBytes - bytes);
        }
        instructions[i].operand = tile;
        instructions[i].step = 0;
      }
    }
    machine_.run(instructions.data(), 0, machine_.tile);
    std::memcpy(output, tiles[tileOf({From::kOutput, 0})].data(), output_bytes);
  }

 private:
  static void repeat(T value, Tile& tile) {
    std::fill_n(reinterpret_cast<T*>(tile.data()), kTileBytes / sizeof(T), value);
  }

  static bool isInRows(const Operand& operand) {
    return operand.from == From::kOutput || (operand.from == From::kInput && operand.stored != Stored::kRepeated);
  }

  static int64_t sizeIn(const Operand& operand) {  // of an element, in bytes
    return operand.stored == Stored::kPlain ? sizeof(T) : sizeof(uint16_t);
  }

  static std::byte* rowsOf(const RunArgs& args, const Operand& operand) {
    return operand.from == From::kOutput
               ? static_cast<std::byte*>(args.outputs[0])
               : static_cast<std::byte*>(const_cast<void*>(args.inputs[operand.index]));  // nothing is written there
  }

  size_t tileOf(const Operand& operand) const {
    switch (operand.from) {
      case From::kKept:
        return operand.index;
      case From::kNumber:
        return kept_ + operand.index;
      case From::kInput:
        return kept_ + numbers_.size() + operand.index;
      default:
        return kept_ + numbers_.size() + inputs_.size();
    }
  }

  std::vector<Line> lines_;
  std::vector<void (*)()> functions_;
  std::vector<T> numbers_;
  std::vector<Stored> inputs_;
  size_t kept_;
  Machine machine_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Prepared> prepareInRegisters(const std::vector<ArithmeticLayer>& layers, int64_t count) {
  const Compiler compiled(layers);
  if (!compiled.ok) {
    return nullptr;
  }
  switch (layers[0].what.dtype) {
    case DType::kFloat32:
      return std::make_unique<InRegisters<float>>(compiled, pointwise::tileMachine<float>(), count);
    case DType::kFloat64:
      return std::make_unique<InRegisters<double>>(compiled, pointwise::tileMachine<double>(), count);
    default:
      return nullptr;
  }
}

}  // namespace torchtrt::kernels
