#include <algorithm>

#include "optimization/passes.h"

namespace torchtrt::optimization {

// Dead and known layers go first, then forms are made alike, then layers are folded into their neighbours. Biases come
// before residuals before activations, because a layer applies what was fused into it in that order.
const std::vector<PassEntry>& pipeline() {
  static const std::vector<PassEntry> entries = {
      {"remove_dead_layers", "layers whose results nobody reads are removed", createRemoveDeadLayers},
      {"fold_constants", "layers of constants become constants", createFoldConstants},
      {"remove_no_ops", "layers that return their operand are removed", createRemoveNoOps},
      {"merge_shuffles", "chains of transposes and reshapes become one each, in its simplest form",
       createMergeShuffles},
      {"move_constants_right", "constants become the second operand of commutative operators",
       createMoveConstantsRight},
      {"merge_common_subexpressions", "equal layers of equal operands are computed once",
       createMergeCommonSubexpressions},
      {"gather_rows", "rows cut out and put together in another order, as by rolling, are moved once",
       createGatherRows},
      {"simplify_arithmetic", "powers, reciprocals and differences take their simplest form", createSimplifyArithmetic},
      {"recognize_activations", "silu, hard_swish, gelu and others are put together from their pieces",
       createRecognizeActivations},
      {"recognize_normalization", "layer and rms normalization are put together from their pieces",
       createRecognizeNormalization},
      {"recognize_global_pooling", "averages over all of a plane become adaptive pooling",
       createRecognizeGlobalPooling},
      {"fold_padding", "explicit padding becomes that of convolution or pooling", createFoldPadding},
      {"fold_transpose_into_matrix_multiply", "transposed operands become flags",
       createFoldTransposeIntoMatrixMultiply},
      {"fuse_attention",
       "softmax(q k^T) v becomes one layer, which reads heads where they lie and keeps scores in the cache",
       createFuseAttention},
      {"fold_batch_norm", "batch normalization goes into the weights of the layer before, or becomes its scale",
       createFoldBatchNorm},
      {"fold_scale_and_shift", "per-channel scale and shift go into neighbouring weights", createFoldScaleAndShift},
      {"fuse_bias", "a constant added per channel becomes the bias", createFuseBias},
      {"fuse_attention_with_bias", "a constant added to the operand of gpt_attention becomes its qkv_bias",
       createFuseAttentionWithBias},
      {"merge_attention_products",
       "matrix multiplications of one tensor whose heads one attention reads, as queries, keys and values, become one",
       createMergeAttentionProducts},
      {"merge_parallel_convolutions", "summed convolutions of one tensor become one", createMergeParallelConvolutions},
      {"fuse_residual_add", "an added tensor becomes the residual operand", createFuseResidualAdd},
      {"fuse_activation", "an activation becomes an attribute of its producer", createFuseActivation},
      {"fuse_quantize", "a matrix multiplication of integers gives the steps that its reader wants",
       createFuseQuantize},
  };
  return entries;
}

std::string pipelineMarkdown() {
  std::string text =
      "# Passes\n\n"
      "The optimizer's passes in order. They run again and again until nothing changes. Generated from\n"
      "`src/optimization/pipeline.cpp`: do not edit. `torchtrt-opt --pass=NAME` runs one over network text,\n"
      "`torchtrt-opt --pipeline --disable-pass=NAME` all but one.\n\n";
  for (const PassEntry& entry : pipeline()) {
    text += "- `" + std::string(entry.name) + "`: " + entry.summary + "\n";
  }
  return text;
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
