// The one list of kernels: a family for each layer kind, its implementations in the order in which they are asked, the
// reference last. The first that takes a problem runs it. README.md says what else a new implementation needs.
#include "cpu/backend.h"
#include "cpu/convolution/convolution.h"
#include "cpu/convolution/fast.h"
#include "cpu/cumulative/cumulative.h"
#include "cpu/cumulative/fast.h"
#include "cpu/grid_sample/fast.h"
#include "cpu/grid_sample/grid_sample.h"
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
  static const std::vector<Family> list = {
      {"activation",
       {{"half", pointwise::createActivationHalf},
        {"highway", pointwise::createActivationHighway},
        {"reference", createActivationReference}}},
      {"adaptive_pooling",
       {{"highway", pooling::createAdaptiveHighway},
        {"lines", pooling::createAdaptiveLines},
        {"reference", createAdaptivePoolingReference}}},
      {"cast", {{"rows", pointwise::createCastRows}, {"reference", createCastReference}}},
      {"concatenation", {{"reference", createConcatenationReference}}},
      {"convolution",
       {{"onednn_bfloat16", convolution::createOneDnnBFloat16},
        {"depthwise", convolution::createDepthwise},
        {"grouped", convolution::createGrouped},
        {"planes", convolution::createPlanes},
        {"narrow", convolution::createNarrow},
        {"winograd", convolution::createWinograd},
        {"highway", convolution::createHighway},
        {"onednn", convolution::createOneDnn},
        {"onednn_computed", convolution::createOneDnnComputed},
        {"reference", createConvolutionReference}}},
      {"cumulative", {{"lines", cumulative::createLines}, {"reference", createCumulativeReference}}},
      {"deconvolution",
       {{"spread", convolution::createSpread},
        {"phases", convolution::createPhases},
        {"onednn", convolution::createDeconvolutionOneDnn},
        {"onednn_computed", convolution::createDeconvolutionOneDnnComputed},
        {"reference", createDeconvolutionReference}}},
      {"dequantize", {{"highway", quantized::createDequantizeHighway}, {"reference", createDequantizeReference}}},
      {"elementwise",
       {{"half", pointwise::createElementwiseHalf},
        {"highway", pointwise::createElementwiseHighway},
        {"rows", pointwise::createElementwiseRows},
        {"reference", createElementwiseReference}}},
      {"expand", {{"reference", createExpandReference}}},
      {"fill", {{"reference", createFillReference}}},
      {"gather", {{"reference", createGatherReference}}},
      {"grid_sample", {{"highway", grid_sample::createHighway}, {"reference", createGridSampleReference}}},
      {"identity", {{"reference", createIdentityReference}}},
      {"matrix_multiply",
       {{"onednn_bfloat16", matmul::createOneDnnBFloat16},
        {"highway", matmul::createHighway},
        {"run_time", matmul::createRunTime},
        {"onednn", matmul::createOneDnn},
        {"reference", createMatrixMultiplyReference}}},
      {"normalization", {{"highway", normalization::createHighway}, {"reference", createNormalizationReference}}},
      {"padding", {{"reference", createPaddingReference}}},
      {"parametric_relu",
       {{"half", pointwise::createParametricReluHalf},
        {"highway", pointwise::createParametricReluHighway},
        {"reference", createParametricReluReference}}},
      {"plugin_v2", {{"reference", createPluginReference}}},
      {"pooling",
       {{"highway", pooling::createHighway},
        {"bytes", pooling::createBytes},
        {"planes", pooling::createPlanes},
        {"reference", createPoolingReference}}},
      {"quantize", {{"highway", quantized::createQuantizeHighway}, {"reference", createQuantizeReference}}},
      {"quantized_convolution",
       {{"onednn", quantized::createConvolutionOneDnn},
        {"winograd", quantized::createConvolutionWinograd},
        {"highway", quantized::createConvolutionHighway},
        {"reference", createQuantizedConvolutionReference}}},
      {"quantized_matrix_multiply",
       {{"onednn", quantized::createMatmulOneDnn},
        {"highway", quantized::createMatmulHighway},
        {"reference", createQuantizedMatrixMultiplyReference}}},
      {"recurrent", {{"highway", createRecurrentHighway}, {"reference", createRecurrentReference}}},
      {"reduce",
       {{"highway", reduce::createHighway},
        {"wide", reduce::createWide},
        {"truth", reduce::createTruth},
        {"integers", reduce::createIntegers},
        {"reference", createReduceReference}}},
      {"reformat", {{"reference", createReformatReference}}},
      {"resize", {{"highway", resize::createHighway}, {"reference", createResizeReference}}},
      {"scatter", {{"reference", createScatterReference}}},
      {"select", {{"rows", pointwise::createSelectRows}, {"reference", createSelectReference}}},
      {"shuffle", {{"reference", createShuffleReference}}},
      {"slice", {{"reference", createSliceReference}}},
      {"softmax", {{"highway", softmax::createHighway}, {"reference", createSoftmaxReference}}},
      {"topk",
       {{"highway", topk::createHighway}, {"integers", topk::createIntegers}, {"reference", createTopKReference}}},
      {"unary",
       {{"half", pointwise::createUnaryHalf},
        {"highway", pointwise::createUnaryHighway},
        {"rows", pointwise::createUnaryRows},
        {"reference", createUnaryReference}}},
  };
  return list;
}

}  // namespace torchtrt::kernels
