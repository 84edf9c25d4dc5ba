#include "compiler/updates/recipe.h"

#include <cstring>
#include <sstream>
#include <tuple>

#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/canonicalize.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "base/hash.h"
#include "compiler/module/placing.h"
#include "compiler/module/source.h"
#include "compiler/rejections.h"
#include "compiler/spec_values.h"
#include "lowering/graph_walk.h"
#include "lowering/source_files.h"
#include "torchtrt/load.h"

namespace torchtrt::compiler {

namespace {

using c10::IValue;
using Refused = std::tuple<int64_t, std::string, std::string>;

// Shapes, strides of zero and dtypes, in the memory of one element.
at::Tensor standIn(const at::Tensor& parameter) {
  const at::Tensor one = at::zeros({}, parameter.options().device(at::kCPU).requires_grad(false));
  return one.expand(parameter.sizes()).set_requires_grad(parameter.requires_grad());
}

// A copy whose parameters are stand-ins.
torch::jit::Module withoutParameters(const Source& source) {
  const torch::jit::Module copy(sharingTensors(source.module->_ivalue()).toObject());
  for (const torch::jit::Module& each : copy.modules()) {
    for (size_t i = 0; i < each.type()->numAttributes(); ++i) {
      const IValue& value = each._ivalue()->getSlot(i);
      if (each.type()->is_parameter(i) && value.isTensor() && value.toTensor().defined()) {
        each._ivalue()->setSlot(i, standIn(value.toTensor()));
      }
    }
  }
  return *placed({std::make_shared<torch::jit::Module>(copy), source.method, nullptr}, at::kCPU).module;
}

torch::jit::Module moduleIn(const std::string& archive) {
  std::istringstream stream(archive);
  checkModule(stream);
  return torch::jit::load(stream, at::kCPU);
}

// By the names of attributes, in submodules too.
void shareTensors(const c10::ivalue::Object& from, c10::ivalue::Object& to) {
  for (size_t i = 0; i < to.type()->numAttributes(); ++i) {
    const IValue value = from.getAttr(to.type()->getAttributeName(i));
    if (value.isTensor()) {
      to.setSlot(i, value);
    } else if (value.isModule()) {
      shareTensors(value.toObjectRef(), *to.getSlot(i).toObject());
    }
  }
}

IValue valueOf(const Choices& choices) {
  std::vector<Refused> refused;
  for (const auto& [number, refusal] : choices.refused) {
    refused.emplace_back(number, refusal.code, refusal.reason);
  }
  return c10::ivalue::Tuple::create({IValue(refused), IValue(choices.late), IValue(choices.kinds)});
}

Choices choicesFrom(const IValue& value) {
  const auto& elements = value.toTupleRef().elements();
  Choices choices;
  for (const IValue& each : elements.at(0).toListRef()) {
    auto [number, code, reason] = each.to<Refused>();
    choices.refused.emplace_back(number, Refusal{std::move(code), std::move(reason)});
  }
  choices.late = elements.at(1).toIntVector();
  choices.kinds = elements.at(2).toStringRef();
  return choices;
}

}  // namespace

std::string hashOfMethod(const torch::jit::Module& compiled, const std::string& method) {
  const auto graph = torch::jit::Canonicalize(compiled.get_method(method).graph(), /*keep_unique_names=*/false);
  // Numbers that libtorch counts up with every graph that it reads.
  static const auto kWarning = c10::Symbol::attr("warn_id");
  lowering::forEachNode(graph->block(), [](torch::jit::Node* node) {
    if (node->hasAttribute(kWarning)) {
      node->removeAttribute(kWarning);
    }
  });
  return hashText(graph->toString(/*print_source_locations=*/false));
}

StoredSource stored(const Source& source) {
  if (tensorsOf(*source.module).empty()) {
    rejectOption("refit is set and what is compiled has no parameters or buffers, whose names an update could give",
                 "compile a module that is not frozen, or leave refit out");
  }
  std::ostringstream first;
  withoutParameters(source).save(first);
  auto module = std::make_shared<torch::jit::Module>(moduleIn(first.str()));
  // The first copy shares its methods with the module that was compiled, whose sources keep their names.
  for (torch::jit::Function* function : module->_ivalue()->compilation_unit()->get_functions()) {
    lowering::showSourceFiles(*torch::jit::toGraphFunction(*function).graph()->block());
  }
  std::ostringstream archive;
  module->save(archive);
  shareTensors(*source.module->_ivalue(), *module->_ivalue());
  return {{std::move(module), source.method, nullptr}, archive.str()};
}

std::string serialize(const StoredSource& stored, ts::CompileSpec spec, const Choices& choices,
                      const std::string& code) {
  spec.sample_inputs = placed(std::move(spec.sample_inputs), at::kCPU);
  for (Input& input : spec.graph_inputs.inputs) {
    input.sample = input.sample.defined() ? input.sample.to(at::kCPU) : input.sample;
  }
  const at::Tensor archive = at::empty({static_cast<int64_t>(stored.archive.size())}, at::kByte);
  std::memcpy(archive.mutable_data_ptr(), stored.archive.data(), stored.archive.size());
  const IValue record = c10::ivalue::Tuple::create(
      {IValue(stored.source.method), IValue(settingsOf(spec)), valueOf(choices), IValue(code), IValue(archive)});
  const std::vector<char> bytes = torch::jit::pickle_save(record);
  return {bytes.begin(), bytes.end()};
}

Recipe parseRecipe(const std::string& bytes) {
  try {
    const IValue record = torch::jit::pickle_load({bytes.begin(), bytes.end()});
    const auto& elements = record.toTupleRef().elements();
    constexpr size_t kParts = 5;  // as serialize() writes them
    TORCH_CHECK(elements.size() == kParts, "expected ", kParts, " parts, got ", elements.size());
    const at::Tensor& archive = elements.at(4).toTensor();
    return {moduleIn({static_cast<const char*>(archive.const_data_ptr()), archive.nbytes()}),
            elements.at(0).toStringRef(), specOfPickled(elements.at(1)), choicesFrom(elements.at(2)),
            elements.at(3).toStringRef()};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
    throw EngineError(ErrorCode::kPlanCorrupt,
                      std::string("what the module keeps for updates cannot be read: ") +
                          (of_torch != nullptr ? of_torch->what_without_backtrace() : error.what()),
                      {}, "the file is damaged, or of another release: copy it again, or compile the module again");
  }
}

}  // namespace torchtrt::compiler
