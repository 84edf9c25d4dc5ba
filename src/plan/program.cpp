#include <algorithm>
#include <limits>

#include "plan/plan.h"

namespace torchtrt::plan {

namespace {

[[noreturn]] void throwArithmetic(const std::string& what) {
  throw EngineError(ErrorCode::kShapeArithmetic, "shape arithmetic: " + what, {},
                    "give inputs of a shape that the module can compute");
}

[[noreturn]] void throwTooLarge() {
  throwArithmetic("a dimension does not fit into 64 bits");
}

int64_t modulo(int64_t a, int64_t b) {
  if (b == 0) {
    throwArithmetic("division of " + std::to_string(a) + " by zero");
  }
  const int64_t remainder = b == -1 ? 0 : a % b;  // the machine's division overflows for -1
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t floorDivide(int64_t a, int64_t b) {
  const int64_t remainder = modulo(a, b);
  if (a == std::numeric_limits<int64_t>::min() && b == -1) {
    throwTooLarge();
  }
  return a / b - (remainder != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t apply(const Instruction& instruction, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (instruction.op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Op::kMul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Op::kFloorDiv:
      result = floorDivide(a, b);
      break;
    case Op::kMod:
      result = modulo(a, b);
      break;
    case Op::kMax:
      result = std::max(a, b);
      break;
    default:
      result = std::min(a, b);
      break;
  }
  if (overflow) {
    throwTooLarge();
  }
  return result;
}

// Expressions share their parts, so a text could grow without bound: longer ones stay a register's name.
constexpr size_t kLongestText = 160;

std::string join(const Instruction& instruction, const std::string& a, const std::string& b) {
  const auto factor = [](const std::string& text) {
    return text.find_first_of("+-%/", 1) == std::string::npos ? text : "(" + text + ")";
  };
  switch (instruction.op) {
    case Op::kAdd:
      return b.starts_with('-') ? a + b : a + "+" + b;
    case Op::kMul:
      return factor(a) + "*" + factor(b);
    case Op::kFloorDiv:
      return factor(a) + "//" + factor(b);
    case Op::kMod:
      return factor(a) + "%" + factor(b);
    case Op::kMax:
      return "max(" + a + "," + b + ")";
    default:
      return "min(" + a + "," + b + ")";
  }
}

}  // namespace

void runProgram(const Plan& plan, std::span<const int64_t> symbol_values, std::vector<int64_t>& registers) {
  registers.resize(plan.program.size());
  for (size_t i = 0; i < plan.program.size(); ++i) {
    const Instruction& instruction = plan.program[i];
    if (instruction.op == Op::kConstant) {
      registers[i] = instruction.immediate;
    } else if (instruction.op == Op::kSymbol) {
      registers[i] = symbol_values[instruction.a];
    } else {
      registers[i] = apply(instruction, registers[instruction.a], registers[instruction.b]);
    }
  }
}

std::string printRegister(const Plan& plan, Register index) {
  std::vector<std::string> texts(index + size_t{1});
  std::vector<char> wanted(index + size_t{1}, 0);
  wanted[index] = 1;
  for (size_t i = index + size_t{1}; i-- > 0;) {
    const Instruction& instruction = plan.program[i];
    if (wanted[i] != 0 && instruction.op != Op::kConstant && instruction.op != Op::kSymbol) {
      wanted[instruction.a] = wanted[instruction.b] = 1;
    }
  }
  for (size_t i = 0; i <= index; ++i) {
    const Instruction& instruction = plan.program[i];
    if (wanted[i] == 0) {
      continue;
    }
    if (instruction.op == Op::kConstant) {
      texts[i] = std::to_string(instruction.immediate);
    } else if (instruction.op == Op::kSymbol) {
      texts[i] = plan.symbols[instruction.a].name;
    } else {
      texts[i] = join(instruction, texts[instruction.a], texts[instruction.b]);
    }
    if (texts[i].size() > kLongestText) {
      texts[i] = "r" + std::to_string(i);
    }
  }
  return texts[index];
}

size_t checkedBytes(std::span<const int64_t> dims, DType dtype) {
  bool empty = false;
  auto bytes = static_cast<int64_t>(sizeOf(dtype));
  bool overflow = false;
  for (const int64_t dim : dims) {
    if (dim < 0) {
      throwArithmetic("a dimension of " + std::to_string(dim));
    }
    empty = empty || dim == 0;
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes);
  }
  // Strides of an empty tensor are computed as well, so even there the product has to fit.
  if (overflow) {
    throwArithmetic("a tensor of more than 2^63 bytes");
  }
  return empty ? 0 : static_cast<size_t>(bytes);
}

}  // namespace torchtrt::plan
