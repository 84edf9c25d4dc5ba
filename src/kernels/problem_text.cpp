#include "kernels/problem_text.h"

#include <charconv>

#include "base/check.h"

namespace torchtrt::kernels {
namespace {

constexpr std::string_view kAxes = "0123456789abcdefghijklmnopqrstuvwxyz";

// ---- printing ----

// The shortest text that reads back as the same double, and never looks like an integer.
std::string print(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

std::string print(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return quoted + '"';
}

template <typename Values, typename Print>
std::string printList(const Values& values, Print&& print_one) {
  std::string text;
  for (const auto& value : values) {
    text += (text.empty() ? "" : ", ") + print_one(value);
  }
  return text;
}

struct AttributePrinter {
  std::string operator()(bool value) const {
    return value ? "true" : "false";
  }
  std::string operator()(int64_t value) const {
    return std::to_string(value);
  }
  std::string operator()(double value) const {
    return print(value);
  }
  std::string operator()(const std::string& value) const {
    return print(value);
  }
  std::string operator()(DType value) const {
    return toString(value);
  }
  std::string operator()(const std::vector<int64_t>& values) const {
    return "[" + printList(values, [](int64_t value) { return std::to_string(value); }) + "]";
  }
  std::string operator()(const std::vector<double>& values) const {
    return values.empty() ? "[.]" : "[" + printList(values, [](double value) { return print(value); }) + "]";
  }
  std::string operator()(const Dims& values) const {
    return "(" + printList(values, [](const Dim& value) { return value.toString(); }) + ")";
  }
};

std::string print(const Operand& operand) {
  std::string text = "[";
  for (size_t axis = 0; axis < operand.dims.size(); ++axis) {
    text += axis == 0 ? "" : ",";
    const bool dynamic = operand.dims[axis] < 0;
    const bool tuned = axis < operand.opt_dims.size();
    text += dynamic ? "?" + (tuned ? std::to_string(operand.opt_dims[axis]) : "") : std::to_string(operand.dims[axis]);
  }
  text += "]";
  if (!operand.order.empty()) {
    text += "@";
    for (const uint8_t axis : operand.order) {
      text += kAxes[axis % kAxes.size()];
    }
  }
  return operand.constant != nullptr ? text + "!" : text;
}

std::string print(const std::vector<Operand>& operands, std::optional<DType>& dtype) {
  std::string text;
  for (const Operand& operand : operands) {
    text += text.empty() ? "" : "x";
    if (!operand.present) {
      text += "null";
      continue;
    }
    if (dtype != operand.dtype) {
      dtype = operand.dtype;
      text += std::string(toString(operand.dtype)) + " ";
    }
    text += print(operand);
  }
  return text;
}

// ---- parsing ----

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedProblem parse() {
    ParsedProblem parsed;
    parsed.family = word();
    std::optional<DType> dtype;
    parsed.problem.inputs = operands(dtype, &parsed.constant);
    expect("->");
    parsed.problem.outputs = operands(dtype, nullptr);
    parsed.attributes = std::make_unique<Attributes>();
    expect("{");
    while (!accept("}")) {
      const std::string name = word();
      expect("=");
      parsed.attributes->set(name, value());
      accept(",");
    }
    parsed.problem.batch_invariant = accept("batch_invariant");
    if (position_ != text_.size()) {
      fail("the end of the line");
    }
    parsed.problem.family = parsed.family;
    parsed.problem.attributes = parsed.attributes.get();
    return parsed;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw EngineError(
        ErrorCode::kInvalidOption,
        "problem line: expected " + expected + " at column " + std::to_string(position_ + 1) + ", got '" +
            std::string(text_.substr(position_, 20)) + "'",
        {}, "paste a line as the log prints it, e.g. relu as: activation float32 [2,3] -> [2,3] {op=\"relu\"}");
  }

  void skipSpace() {
    while (position_ < text_.size() && text_[position_] == ' ') {
      ++position_;
    }
  }
  bool peek(std::string_view token) {
    skipSpace();
    return text_.substr(position_, token.size()) == token;
  }
  bool accept(std::string_view token) {
    if (!peek(token)) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) {
      fail("'" + std::string(token) + "'");
    }
  }
  std::string word() {
    skipSpace();
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) != 0 || text_[position_] == '_')) {
      ++position_;
    }
    if (begin == position_) {
      fail("a word");
    }
    return std::string(text_.substr(begin, position_ - begin));
  }
  int64_t integer() {
    skipSpace();
    int64_t result = 0;
    const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), result);
    if (error != std::errc()) {
      fail("an integer");
    }
    position_ = static_cast<size_t>(end - text_.data());
    return result;
  }

  std::vector<Operand> operands(std::optional<DType>& dtype, std::vector<bool>* constant) {
    std::vector<Operand> result;
    skipSpace();
    if (peek("->") || peek("{")) {
      return result;
    }
    do {
      const bool present = !accept("null");
      Operand operand;
      if (present) {
        operand = presentOperand(dtype);
      }
      if (constant != nullptr) {
        constant->push_back(present && accept("!"));
      }
      result.push_back(std::move(operand));
    } while (accept("x"));
    return result;
  }

  Operand presentOperand(std::optional<DType>& dtype) {
    if (!peek("[")) {
      const std::string name = word();
      dtype = parseDType(name);
      if (!dtype) {
        position_ -= name.size();
        fail("a dtype or '['");
      }
    }
    if (!dtype) {
      fail("a dtype");
    }
    Operand operand;
    operand.present = true;
    operand.dtype = *dtype;
    expect("[");
    while (!accept("]")) {
      const bool dynamic = accept("?");
      const int64_t size = integer();
      operand.dims.push_back(dynamic ? -1 : size);
      operand.opt_dims.push_back(size);
      accept(",");
    }
    if (accept("@")) {
      for (size_t i = 0; i < operand.dims.size(); ++i, ++position_) {
        const size_t axis = position_ < text_.size() ? kAxes.find(text_[position_]) : std::string_view::npos;
        if (axis >= operand.dims.size()) {
          fail("a memory order of rank " + std::to_string(operand.dims.size()));
        }
        operand.order.push_back(static_cast<uint8_t>(axis));
      }
    }
    return operand;
  }

  // A number: with a point, an exponent or a name it is a double.
  AttributeValue number() {
    skipSpace();
    const size_t begin = position_;
    const size_t end = std::min(text_.find_first_of(",]}) ", begin), text_.size());
    const std::string_view token = text_.substr(begin, end - begin);
    if (token.find_first_of(".einf") == std::string_view::npos) {
      return integer();
    }
    double result = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), result);
    if (error != std::errc() || stop != token.data() + token.size()) {
      fail("a number");
    }
    position_ = end;
    return result;
  }

  AttributeValue value() {
    if (accept("\"")) {
      return text();
    }
    if (accept("[")) {
      return list();
    }
    if (accept("(")) {
      return dims();
    }
    if (accept("true")) {
      return true;
    }
    if (accept("false")) {
      return false;
    }
    skipSpace();
    const size_t end = std::min(text_.find_first_of(",}", position_), text_.size());
    if (const std::optional<DType> dtype = parseDType(text_.substr(position_, end - position_))) {
      position_ = end;
      return *dtype;
    }
    return number();
  }

  std::string text() {
    std::string result;
    for (; position_ < text_.size() && text_[position_] != '"'; ++position_) {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) {
        ++position_;
      }
      result += text_[position_];
    }
    expect("\"");
    return result;
  }

  AttributeValue list() {
    if (accept(".]")) {
      return std::vector<double>();
    }
    std::vector<int64_t> integers;
    std::vector<double> doubles;
    while (!accept("]")) {
      const AttributeValue element = number();
      if (const int64_t* integer = std::get_if<int64_t>(&element)) {
        integers.push_back(*integer);
      } else {
        doubles.push_back(std::get<double>(element));
      }
      accept(",");
    }
    if (!integers.empty() && !doubles.empty()) {
      fail("a list of one type");
    }
    return doubles.empty() ? AttributeValue(std::move(integers)) : AttributeValue(std::move(doubles));
  }

  // Expressions hold parentheses and commas of their own.
  AttributeValue dims() {
    std::vector<Dim> result;
    while (!accept(")")) {
      skipSpace();
      size_t end = position_;
      for (int depth = 0; end < text_.size(); ++end) {
        const char c = text_[end];
        if (depth == 0 && (c == ',' || c == ')')) {
          break;
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      }
      const std::optional<Dim> dim = Dim::parse(text_.substr(position_, end - position_));
      if (!dim) {
        fail("a dimension");
      }
      position_ = end;
      result.push_back(*dim);
      accept(",");
    }
    return Dims(std::move(result));
  }

  std::string_view text_;
  size_t position_ = 0;
};

TensorDesc tunedDesc(const Operand& operand) {
  if (!operand.present) {
    return {};
  }
  const std::vector<int64_t>& dims = operand.opt_dims.empty() ? operand.dims : operand.opt_dims;
  return {operand.dtype, dims, denseStrides(dims, operand.order)};
}

}  // namespace

std::string Problem::toString() const {
  std::optional<DType> dtype;
  std::string text = std::string(family) + " " + print(inputs, dtype);
  text += (inputs.empty() ? "-> " : " -> ") + print(outputs, dtype) + " {";
  bool first = true;
  if (attributes != nullptr) {
    for (const auto& [name, value] : attributes->values()) {
      text += (first ? "" : ", ") + name + "=" + std::visit(AttributePrinter(), value);
      first = false;
    }
  }
  return text + (batch_invariant ? "} batch_invariant" : "}");
}

ParsedProblem parseProblem(std::string_view text) {
  return Parser(text).parse();
}

ShapeSet tunedShapes(const Problem& problem) {
  ShapeSet shapes;
  for (const Operand& operand : problem.inputs) {
    shapes.inputs.push_back(tunedDesc(operand));
  }
  for (const Operand& operand : problem.outputs) {
    shapes.outputs.push_back(tunedDesc(operand));
  }
  for (const auto& [name, value] : problem.attributes->values()) {
    if (const Dims* dims = std::get_if<Dims>(&value)) {
      shapes.dims.emplace_back(name, dims->constants());
    }
  }
  shapes.threads = problem.threads;
  return shapes;
}

}  // namespace torchtrt::kernels
