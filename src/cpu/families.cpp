// The one list of kernels: a family for each layer kind, its implementations in the order in which they are asked, the
// reference last. The first that can take a problem runs it, unless the rule beside it leaves the problem to those
// behind (choice.cpp of the folder). The second name is an earlier one. kTogether: other images or rows of the batch
// show in the bits of one. README.md says what else a new implementation needs.
#include "cpu/backend.h"
#include "cpu/convolution/choice.h"
#include "cpu/convolution/convolution.h"
#include "cpu/convolution/fast.h"
#include "cpu/cumulative/cumulative.h"
#include "cpu/cumulative/fast.h"
#include "cpu/grid_sample/fast.h"
#include "cpu/grid_sample/grid_sample.h"
#include "cpu/matmul/choice.h"
#include "cpu/matmul/fast.h"
#include "cpu/matmul/matmul.h"
#include "cpu/movement/movement.h"
#include "cpu/normalization/fast.h"
#include "cpu/normalization/normalization.h"
#include "cpu/plugin/plugin.h"
#include "cpu/pointwise/fast.h"
#include "cpu/pointwise/pointwise.h"
#include "cpu/pooling/fast.h"
#include "cpu/pooling/pooling.h"
#include "cpu/quantized/choice.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/quantized.h"
#include "cpu/recurrent/recurrent.h"
#include "cpu/reduce/fast.h"
#include "cpu/reduce/reduce.h"
#include "cpu/resize/fast.h"
#include "cpu/resize/resize.h"
#include "cpu/softmax/fast.h"
#include "cpu/softmax/softmax.h"
#include "cpu/topk/fast.h"
#include "cpu/topk/topk.h"

namespace torchtrt::kernels {

const std::vector<Family>& families() {
  constexpr Samples kTogether = Samples::kTogether;
  static const std::vector<Family> list = {
      {"activation",
       {{"half", pointwise::createActivationHalf},
        {"vectors", pointwise::createActivationVectors, nullptr, "highway"},
        {"reference", createActivationReference}}},
      {"adaptive_pooling",
       {{"channels_last", pooling::createAdaptiveChannelsLast, nullptr, "highway"},
        {"lines", pooling::createAdaptiveLines},
        {"reference", createAdaptivePoolingReference}}},
      {"cast", {{"rows", pointwise::createCastRows}, {"reference", createCastReference}}},
      {"concatenation", {{"reference", createConcatenationReference}}},
      {"convolution",
       {{"tiles", convolution::createTilesBFloat16, convolution::leaveTiles},
        {"onednn_bfloat16", convolution::createOneDnnBFloat16, convolution::leaveOneDnnBFloat16, "", kTogether},
        {"depthwise", convolution::createDepthwise},
        {"grouped", convolution::createGrouped},
        {"planes", convolution::createPlanes},
        {"few_outputs", convolution::createFewOutputs, convolution::leaveFewOutputs, "narrow"},
        {"winograd", convolution::createWinograd, convolution::leaveWinograd, "", kTogether},
        {"packed_gemm", convolution::createPackedGemm, convolution::leavePackedGemm, "highway"},
        {"onednn", convolution::createOneDnn, nullptr, "", kTogether},
        {"onednn_computed", convolution::createOneDnnComputed, nullptr, "", kTogether},
        {"reference", createConvolutionReference}}},
      {"cumulative", {{"lines", cumulative::createLines}, {"reference", createCumulativeReference}}},
      {"deconvolution",
       {{"tiles", convolution::createTilesSpread},
        {"spread", convolution::createSpread},
        {"phases", convolution::createPhases, nullptr, "", kTogether},
        {"onednn", convolution::createDeconvolutionOneDnn, nullptr, "", kTogether},
        {"onednn_computed", convolution::createDeconvolutionOneDnnComputed, nullptr, "", kTogether},
        {"reference", createDeconvolutionReference}}},
      {"dequantize",
       {{"vectors", quantized::createDequantizeVectors, nullptr, "highway"}, {"reference", createDequantizeReference}}},
      {"elementwise",
       {{"half", pointwise::createElementwiseHalf},
        {"vectors", pointwise::createElementwiseVectors, nullptr, "highway"},
        {"rows", pointwise::createElementwiseRows},
        {"reference", createElementwiseReference}}},
      {"expand", {{"reference", createExpandReference}}},
      {"fill", {{"reference", createFillReference}}},
      {"gather", {{"reference", createGatherReference}}},
      {"grid_sample",
       {{"gathers", grid_sample::createGathers, nullptr, "highway"}, {"reference", createGridSampleReference}}},
      {"identity", {{"reference", createIdentityReference}}},
      {"integer_weight_matrix_multiply",
       {{"panels", quantized::createIntegerWeightPanels}, {"reference", createIntegerWeightMatrixMultiplyReference}}},
      {"matrix_multiply",
       {{"onednn_blocks", matmul::createOneDnnBlocks, matmul::leaveOneDnnBFloat16},
        {"onednn_bfloat16", matmul::createOneDnnBFloat16, matmul::leaveOneDnnBFloat16, "", kTogether},
        {"packed_gemm", matmul::createPackedGemm, matmul::leavePackedGemm, "highway"},
        {"run_time", matmul::createRunTime, matmul::leaveRunTime},
        {"onednn", matmul::createOneDnn, nullptr, "", kTogether},
        {"reference", createMatrixMultiplyReference}}},
      {"normalization",
       {{"vectors", normalization::createVectors, nullptr, "highway"}, {"reference", createNormalizationReference}}},
      {"padding", {{"reference", createPaddingReference}}},
      {"parametric_relu",
       {{"half", pointwise::createParametricReluHalf},
        {"vectors", pointwise::createParametricReluVectors, nullptr, "highway"},
        {"reference", createParametricReluReference}}},
      {"plugin_v2", {{"reference", createPluginReference}}},
      {"pooling",
       {{"halves", pooling::createHalves},
        {"channels_last", pooling::createChannelsLast, nullptr, "highway"},
        {"bytes", pooling::createBytes},
        {"planes", pooling::createPlanes},
        {"reference", createPoolingReference}}},
      {"quantize",
       {{"vectors", quantized::createQuantizeVectors, nullptr, "highway"}, {"reference", createQuantizeReference}}},
      {"quantized_convolution",
       {{"tiles", quantized::createConvolutionTiles, quantized::leaveTiles},
        {"onednn", quantized::createConvolutionOneDnn, quantized::leaveOneDnn, "", kTogether},
        {"winograd", quantized::createConvolutionWinograd, quantized::leaveWinograd},
        {"integer_gemm", quantized::createConvolutionIntegerGemm, nullptr, "highway"},
        {"reference", createQuantizedConvolutionReference}}},
      {"quantized_matrix_multiply",
       {{"onednn", quantized::createMatmulOneDnn, quantized::leaveOneDnn},
        {"integer_gemm", quantized::createMatmulIntegerGemm, nullptr, "highway"},
        {"reference", createQuantizedMatrixMultiplyReference}}},
      {"recurrent", {{"vectors", createRecurrentVectors, nullptr, "highway"}, {"reference", createRecurrentReference}}},
      {"reduce",
       {{"vectors", reduce::createVectors, nullptr, "highway"},
        {"double_sums", reduce::createDoubleSums, nullptr, "wide"},
        {"truth", reduce::createTruth},
        {"integers", reduce::createIntegers},
        {"reference", createReduceReference}}},
      {"reformat", {{"reference", createReformatReference}}},
      {"resize",
       {{"interpolated_lines", resize::createInterpolatedLines, nullptr, "highway"},
        {"reference", createResizeReference}}},
      {"scatter", {{"reference", createScatterReference}}},
      {"select", {{"rows", pointwise::createSelectRows}, {"reference", createSelectReference}}},
      {"shuffle", {{"reference", createShuffleReference}}},
      {"slice", {{"reference", createSliceReference}}},
      {"softmax", {{"vectors", softmax::createVectors, nullptr, "highway"}, {"reference", createSoftmaxReference}}},
      {"topk",
       {{"floats", topk::createFloats, nullptr, "highway"},
        {"integers", topk::createIntegers},
        {"reference", createTopKReference}}},
      {"unary",
       {{"half", pointwise::createUnaryHalf},
        {"vectors", pointwise::createUnaryVectors, nullptr, "highway"},
        {"rows", pointwise::createUnaryRows},
        {"reference", createUnaryReference}}},
  };
  return list;
}

}  // namespace torchtrt::kernels
