// A module made by hand that holds an engine and calls it, as compile() makes them.
#pragma once

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/script.h>

#include "runtime/small_engine.h"

namespace torchtrt::runtime {

// Its method has the engine run on `operand`, which `body` makes of %x.
inline torch::jit::Module moduleThatCalls(const c10::intrusive_ptr<Engine>& held, const std::string& operand = "%x",
                                          const std::string& body = "",
                                          const std::string& arguments = "%self, %x : Tensor") {
  torch::jit::Module module("Net", std::make_shared<torch::jit::CompilationUnit>());
  const c10::IValue engine(held);
  module.register_attribute("engine", engine.type(), engine);
  const std::string rest = R"IR(
  %engine : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="engine"](%self)
  %inputs : Tensor[] = prim::ListConstruct()IR" +
                           operand + R"IR()
  %outputs : Tensor[] = tensorrt::execute_engine(%inputs, %engine)
  %y : Tensor = prim::ListUnpack(%outputs)
  return (%y))IR";
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR("graph(" + arguments + "):" + body + rest, graph.get());
  graph->inputs()[0]->setType(module.type());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  return module;
}

}  // namespace torchtrt::runtime
