// Describes the tensors that cross a border into an engine. The user describes the arguments, an earlier engine's
// network its outputs, and example runs the results of PyTorch's own segments. Dimensions that may vary are symbols;
// equal ones are the same symbol.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "compiler/inputs/size_relations.h"
#include "conversion/conversion.h"
#include "lowering/lowering.h"
#include "partitioning/observation.h"
#include "partitioning/partition.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::compiler {

class TORCHTRT_API ValueTypes {
 public:
  // Observations may be null, and made later.
  ValueTypes(const InputLeaves& leaves, const lowering::LoweredGraph& lowered, DataType open_dtype)
      : leaves_(leaves), lowered_(lowered), open_dtype_(open_dtype), symbols_(leaves.symbols) {}

  // Sizes that the symbols of the arguments have in observed run number i.
  void setObservations(const partitioning::Observations* observations, std::vector<RunSizes> sizes_of_symbols);
  void forgetObservations();

  // Fills the inputs and symbols of a request. Gives the first input of which too little is known, if there is one, and
  // why.
  struct Unknown {
    const torch::jit::Value* value;
    Refusal refusal;
  };
  std::optional<Unknown> describe(const partitioning::Segment& segment, conversion::ConversionRequest& request);
  // True if all inputs of the segment are arguments, so that nothing has to be observed.
  bool followsFromArguments(const partitioning::Segment& segment) const;
  // Takes two dims of described inputs to be one where one run alone saw them, as large as each other. False where that
  // changes nothing.
  bool takeForOne(const Dim& a, const Dim& b);
  // Learns the outputs of an engine, once its network is there.
  void learn(const partitioning::Segment& segment, const network::Network& network);

 private:
  std::optional<TensorType> typeOf(const torch::jit::Value& value);
  std::optional<TensorType> observedType(const torch::jit::Value& value);
  Dim observedDim(const torch::jit::Value& value, const partitioning::ObservedType& type, size_t axis);
  std::vector<RunSizes> sizesOfSymbols(const partitioning::ObservedType& type) const;
  int64_t optimumOf(const partitioning::ObservedType& type, size_t axis) const;
  Dim symbolFor(const std::string& key, int64_t min, int64_t opt, int64_t max);
  Symbol symbol(const std::string& name) const;
  void replaceUnboundExpressions(conversion::ConversionRequest& request);
  std::string nameOf(const torch::jit::Value& value) const;
  void findDataDependent(const torch::jit::Block& block);
  // Returns its observed type; null if nothing is known.
  const partitioning::ObservedType* addDataDependent(const torch::jit::Value& value);

  struct SeenOnce {
    std::string key;
    int run;
    size_t axis;
    int64_t size;
  };

  const InputLeaves& leaves_;
  const lowering::LoweredGraph& lowered_;
  DataType open_dtype_;
  const partitioning::Observations* observations_ = nullptr;
  std::vector<RunSizes> sizes_of_symbols_;  // by run
  std::vector<Symbol> symbols_;
  std::map<std::string, std::string> named_;   // what a symbol stands for -> its name
  std::map<std::string, Dim> stands_for_;      // what an engine has a symbol of its own for
  std::map<std::string, SeenOnce> seen_once_;  // symbols of sizes that one run alone saw
  std::unordered_map<const torch::jit::Value*, TensorType> learnt_;
  std::unordered_set<const torch::jit::Value*> data_dependent_;  // sizes follow from elements
  std::set<std::string> late_sizes_;  // that elements decide: how many rows there were in every run
};

}  // namespace torchtrt::compiler
