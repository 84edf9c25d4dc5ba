#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "plan/plan.h"

namespace torchtrt::plan {

namespace {

template <typename List, typename Text>
std::string bracketed(const List& values, Text text) {
  std::string out = "[";
  for (const auto& value : values) {
    out += (out.size() > 1 ? ", " : "") + text(value);
  }
  return out + "]";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// The shortest text that reads back as the same number.
std::string number(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

struct ValuePrinter {
  std::string operator()(bool value) const {
    return value ? "true" : "false";
  }
  std::string operator()(int64_t value) const {
    return std::to_string(value);
  }
  std::string operator()(double value) const {
    return number(value);
  }
  std::string operator()(const std::string& value) const {
    return quoted(value);
  }
  std::string operator()(DType value) const {
    return toString(value);
  }
  std::string operator()(const std::vector<int64_t>& value) const {
    return bracketed(value, [](int64_t v) { return std::to_string(v); });
  }
  std::string operator()(const std::vector<double>& value) const {
    return bracketed(value, number);
  }
  std::string operator()(const Dims& value) const {
    return value.toString();
  }
};

std::string registers(const Plan& plan, const std::vector<Register>& list) {
  return bracketed(list, [&](Register r) { return printRegister(plan, r); });
}

std::string operands(const std::vector<int32_t>& tensors) {
  std::string out;
  for (const int32_t tensor : tensors) {
    out += (out.empty() ? "" : ", ") + (tensor < 0 ? std::string("null") : "%" + std::to_string(tensor));
  }
  return "(" + out + ")";
}

// One line for each architecture.
void printBinaries(const Plan& plan, std::ostringstream& out) {
  std::map<std::string, std::pair<size_t, uint64_t>> sizes;  // number and bytes
  for (const Binary& binary : plan.binaries) {
    auto& [count, bytes] = sizes[binary.architecture];
    ++count;
    bytes += binary.bytes;
  }
  for (const auto& [architecture, size] : sizes) {
    out << "binaries for " << quoted(architecture) << ": " << size.first << ", " << size.second << " bytes\n";
  }
}

void printTensors(const Plan& plan, std::ostringstream& out) {
  out << "tensors\n";
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const Tensor& tensor = plan.tensors[i];
    out << "  %" << i << " " << quoted(tensor.name) << " : " << toString(tensor.dtype) << registers(plan, tensor.dims);
    if (!tensor.order.empty()) {
      out << " order=" << bracketed(tensor.order, [](uint8_t axis) { return std::to_string(axis); });
    }
    if (tensor.weight >= 0) {
      out << " = @" << tensor.weight;
    }
    if (tensor.view_of >= 0) {
      out << " view of %" << tensor.view_of;
    }
    out << "\n";
  }
}

void printStep(const Plan& plan, const Step& step, std::ostringstream& out) {
  out << step.family << " " << quoted(step.name) << " " << operands(step.inputs) << " -> " << operands(step.outputs)
      << " {" << printAttributes(step);
  const char* separator = step.attributes.values().empty() ? "" : ", ";
  for (const auto& [name, list] : step.dims) {
    out << separator << name << "=" << registers(plan, list);
    separator = ", ";
  }
  out << "}";
  if (!step.hint.empty()) {
    out << " hint=" << quoted(step.hint);
  }
  if (!step.location.empty()) {
    out << "  # " << toString(step.location);
  }
}

}  // namespace

std::string printAttributes(const Step& step) {
  std::string text;
  for (const auto& [name, value] : step.attributes.values()) {
    text += (text.empty() ? "" : ", ") + name + "=" + std::visit(ValuePrinter(), value);
  }
  return text;
}

std::string print(const Plan& plan, std::span<const std::string> step_notes) {
  std::ostringstream out;
  out << "plan " << quoted(plan.name) << " (format " << kMajorVersion << "." << kMinorVersion << ", made by "
      << plan.producer << ")\n";
  for (const Symbol& symbol : plan.symbols) {
    out << "symbol " << symbol.name << " in [" << symbol.min << ", " << symbol.opt << ", " << symbol.max << "]\n";
  }
  if (!plan.timed_on.empty()) {
    out << "timed on " << quoted(plan.timed_on) << "\n";
  }
  if (plan.batch_invariant) {
    out << "batch invariant\n";
  }
  printBinaries(plan, out);
  for (const auto& [key, value] : plan.options) {
    out << "option " << key << " = " << value << "\n";
  }
  for (const Binding& input : plan.inputs) {
    out << "input " << quoted(input.name) << " %" << input.tensor
        << (input.empty_dims.empty() ? "" : ", zeros where it is " + ValuePrinter()(input.empty_dims)) << "\n";
  }
  for (const Binding& output : plan.outputs) {
    out << "output " << quoted(output.name) << " %" << output.tensor << "\n";
  }
  out << "weights\n";
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const Weight& weight = plan.weights[i];
    out << "  @" << i << " " << toString(weight.dtype) << ValuePrinter()(weight.dims) << " " << weight.bytes
        << " bytes " << weight.hash << "\n";
  }
  printTensors(plan, out);
  out << "steps\n";
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    out << "  " << i << " ";
    printStep(plan, plan.steps[i], out);
    if (i < step_notes.size()) {
      out << "  " << step_notes[i];
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace torchtrt::plan
