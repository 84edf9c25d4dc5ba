#include <algorithm>

#include "optimization/passes.h"

namespace torchtrt::optimization {

// In order: what is dead or known goes first, then forms are made alike, then layers are folded into their neighbours.
// Biases before residuals before activations, because that is the order in which a layer applies what was fused into
// it.
const std::vector<PassEntry>& pipeline() {
  static const std::vector<PassEntry> entries = {
      {"remove_dead_layers", "layers whose results nobody reads", createRemoveDeadLayers},
      {"fold_constants", "layers of constants become constants", createFoldConstants},
      {"remove_no_ops", "layers that return their operand", createRemoveNoOps},
      {"merge_shuffles", "chains of transposes and reshapes, each in its simplest form", createMergeShuffles},
      {"move_constants_right", "constants become the second operand of commutative operators",
       createMoveConstantsRight},
      {"merge_common_subexpressions", "equal layers of equal operands are computed once",
       createMergeCommonSubexpressions},
      {"simplify_arithmetic", "powers, reciprocals and differences in their simplest form", createSimplifyArithmetic},
      {"recognize_activations", "silu, hard_swish, gelu and others from their pieces", createRecognizeActivations},
      {"recognize_global_pooling", "averages over all of a plane become adaptive pooling",
       createRecognizeGlobalPooling},
      {"fold_padding", "explicit padding becomes that of convolution or pooling", createFoldPadding},
      {"fold_transpose_into_matrix_multiply", "transposed operands become flags",
       createFoldTransposeIntoMatrixMultiply},
      {"fold_batch_norm", "batch normalization into the weights of the layer before", createFoldBatchNorm},
      {"fold_scale_and_shift", "per-channel scale and shift into neighbouring weights", createFoldScaleAndShift},
      {"fuse_bias", "a constant added per channel becomes the bias", createFuseBias},
      {"fuse_residual_add", "an added tensor becomes the residual operand", createFuseResidualAdd},
      {"fuse_activation", "an activation becomes an attribute of its producer", createFuseActivation},
  };
  return entries;
}

namespace {

rewriting::PassManagerOptions managerOptions(const Options& options) {
  rewriting::PassManagerOptions manager;
  manager.disabled = options.disabled;
  manager.dump_after = options.dump_after;
  manager.dump = options.dump;
  manager.verify = options.verify;
  manager.check_changed = options.check_changed;
  return manager;
}

}  // namespace

rewriting::PassManager createManager(const std::vector<std::string>& names, const Options& options) {
  rewriting::PassManager manager("optimization", managerOptions(options));
  for (const std::string& name : names) {
    const auto entry =
        std::find_if(pipeline().begin(), pipeline().end(), [&](const PassEntry& e) { return name == e.name; });
    if (entry == pipeline().end()) {
      throw CompileError(ErrorCode::kInvalidOption, "there is no pass named '" + name + "'", {},
                         "torchtrt-opt --list-passes prints the names");
    }
    manager.add(entry->create(options));
  }
  return manager;
}

void optimize(network::Network& network, const Options& options) {
  std::vector<std::string> names;
  for (const PassEntry& entry : pipeline()) {
    names.push_back(entry.name);
  }
  createManager(names, options).run(network);
}

}  // namespace torchtrt::optimization
