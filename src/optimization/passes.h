// The factories of all passes, each defined in the file of its name. For pipeline.cpp only.
#pragma once

#include <memory>

#include "optimization/optimization.h"
#include "rewriting/pass_manager.h"

namespace torchtrt::optimization {

using PassPtr = std::unique_ptr<rewriting::Pass>;

PassPtr createRemoveDeadLayers(const Options& options);
PassPtr createFoldConstants(const Options& options);
PassPtr createRemoveNoOps(const Options& options);
PassPtr createMergeShuffles(const Options& options);
PassPtr createMoveConstantsRight(const Options& options);
PassPtr createMergeCommonSubexpressions(const Options& options);
PassPtr createGatherRows(const Options& options);
PassPtr createSimplifyArithmetic(const Options& options);
PassPtr createRecognizeActivations(const Options& options);
PassPtr createRecognizeGlobalPooling(const Options& options);
PassPtr createRecognizeNormalization(const Options& options);
PassPtr createFuseAttention(const Options& options);
PassPtr createFuseAttentionWithBias(const Options& options);
PassPtr createFoldPadding(const Options& options);
PassPtr createFoldTransposeIntoMatrixMultiply(const Options& options);
PassPtr createFoldBatchNorm(const Options& options);
PassPtr createFoldScaleAndShift(const Options& options);
PassPtr createFuseBias(const Options& options);
PassPtr createMergeAttentionProducts(const Options& options);
PassPtr createMergeParallelConvolutions(const Options& options);
PassPtr createFuseResidualAdd(const Options& options);
PassPtr createFuseActivation(const Options& options);
PassPtr createFuseQuantize(const Options& options);

}  // namespace torchtrt::optimization
