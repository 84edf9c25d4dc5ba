#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

// Whole recurrent networks: for every layer and direction one product for all steps, then RECURRENT.

namespace torchtrt::conversion::converters {
namespace {

struct Settings {
  std::string op;
  bool has_biases = true;
  int64_t layers = 1;
  bool both_ways = false;
  bool batch_first = false;
  int64_t directions() const {
    return both_ways ? 2 : 1;
  }
  size_t tensorsPerDirection() const {
    return has_biases ? 4 : 2;
  }
};

// The weights of one direction of one layer.
struct Weighing {
  Tensor *input, *hidden, *input_bias, *hidden_bias;
};

Weighing weighingOf(const Settings& settings, const std::vector<Tensor*>& parameters, size_t number) {
  Tensor* const* first = parameters.data() + number * settings.tensorsPerDirection();
  return {first[0], first[1], settings.has_biases ? first[2] : nullptr, settings.has_biases ? first[3] : nullptr};
}

// Row `number` of states [layers * directions, N, H].
Tensor& stateOf(const Call& call, Tensor& states, int64_t number) {
  return call.squeeze(call.slice(states, 0, number, 1), 0);
}

// Outputs of RECURRENT over x [T,N,I]. But for gru, whose new gate needs it apart, the hidden bias joins the input's.
Layer* runDirection(const Call& call, const Settings& settings, Tensor& x, const Weighing& w,
                    const std::vector<Tensor*>& states, bool reverse) {
  Tensor* bias = w.input_bias;
  Tensor* hidden_bias = w.hidden_bias;
  if (bias && settings.op != "gru") {
    bias = &call.elementwise("sum", *bias, *hidden_bias);
    hidden_bias = nullptr;
  }
  Tensor& projected = call.add(LayerType::kMATRIX_MULTIPLY, {&x, w.input, bias}, attributes({{"transpose_b", true}}));
  std::vector<Tensor*> operands = {&projected, w.hidden, hidden_bias};
  operands.insert(operands.end(), states.begin(), states.end());
  return call.net.addLayer(LayerType::kRECURRENT, operands, attributes({{"op", settings.op}, {"reverse", reverse}}));
}

Tensor& joined(const Call& call, const std::vector<Tensor*>& tensors, int64_t axis) {
  return tensors.size() == 1 ? *tensors[0] : *call.net.addConcatenation(tensors, axis)->getOutput(0);
}

// The sequence [T,N,D*H] and the last states, each [layers * directions, N, H].
std::vector<Tensor*> runLayers(const Call& call, const Settings& settings, const std::vector<Tensor*>& states,
                               const std::vector<Tensor*>& parameters) {
  const auto lines = static_cast<size_t>(settings.layers * settings.directions());
  if (parameters.size() != lines * settings.tensorsPerDirection()) {
    call.refuse("argument", "expected " + std::to_string(lines * settings.tensorsPerDirection()) + " weights, got " +
                                std::to_string(parameters.size()) + "; projections of the hidden state are not taken");
  }
  Tensor* x = settings.batch_first ? &call.permute(call.tensor(0), {1, 0, 2}) : &call.tensor(0);
  std::vector<std::vector<Tensor*>> last(states.size());
  for (size_t layer = 0; layer < static_cast<size_t>(settings.layers); ++layer) {
    std::vector<Tensor*> outputs;
    for (size_t direction = 0; direction < static_cast<size_t>(settings.directions()); ++direction) {
      const size_t number = layer * static_cast<size_t>(settings.directions()) + direction;
      std::vector<Tensor*> first;
      for (Tensor* state : states) {
        first.push_back(&stateOf(call, *state, static_cast<int64_t>(number)));
      }
      const Layer* run =
          runDirection(call, settings, *x, weighingOf(settings, parameters, number), first, direction == 1);
      outputs.push_back(run->getOutput(0));
      for (size_t i = 0; i < states.size(); ++i) {
        last[i].push_back(&call.unsqueeze(*run->getOutput(static_cast<int>(i) + 1), 0));
      }
    }
    x = &joined(call, outputs, 2);
  }
  std::vector<Tensor*> results = {settings.batch_first ? &call.permute(*x, {1, 0, 2}) : x};
  for (const std::vector<Tensor*>& rows : last) {
    results.push_back(&joined(call, rows, 0));
  }
  return results;
}

// input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
Settings settingsOf(const Call& call, const std::string& op) {
  if (call.flag(6) && call.real(5) != 0) {
    call.refuse("random", "train=True with dropout draws at random");
  }
  return {op, call.flag(3), call.integer(4), call.flag(7), call.flag(8)};
}

std::vector<Tensor*> lstm(Call& call) {
  return runLayers(call, settingsOf(call, "lstm"), call.tensors(1), call.tensors(2));
}

constexpr char kGru[] = "gru", kRnnTanh[] = "rnn_tanh", kRnnRelu[] = "rnn_relu";

template <const char* op>
std::vector<Tensor*> withOneState(Call& call) {
  return runLayers(call, settingsOf(call, op), {&call.tensor(1)}, call.tensors(2));
}

}  // namespace

void addRecurrences(NodeConverterRegistry& registry) {
  registry.add(
      "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
      "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
      many(lstm));
  registry.add(
      "aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
      many(withOneState<kGru>));
  registry.add(
      "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
      "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
      many(withOneState<kRnnTanh>));
  registry.add(
      "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
      "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
      many(withOneState<kRnnRelu>));
}

}  // namespace torchtrt::conversion::converters
