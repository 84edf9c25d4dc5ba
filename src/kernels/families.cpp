// The one list of kernels: a family for each layer kind, its implementations in the order in which they are asked, the
// reference last. The first that takes a problem runs it. README.md says what else a new implementation needs.
#include "kernels/convolution/convolution.h"
#include "kernels/convolution/fast.h"
#include "kernels/cumulative/cumulative.h"
#include "kernels/cumulative/fast.h"
#include "kernels/grid_sample/fast.h"
#include "kernels/grid_sample/grid_sample.h"
#include "kernels/kernel.h"
#include "kernels/matmul/fast.h"
#include "kernels/matmul/matmul.h"
#include "kernels/movement/movement.h"
#include "kernels/normalization/fast.h"
#include "kernels/normalization/normalization.h"
#include "kernels/plugin/plugin.h"
#include "kernels/pointwise/fast.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/pooling/fast.h"
#include "kernels/pooling/pooling.h"
#include "kernels/quantized/fast.h"
#include "kernels/quantized/quantized.h"
#include "kernels/recurrent/recurrent.h"
#include "kernels/reduce/fast.h"
#include "kernels/reduce/reduce.h"
#include "kernels/resize/fast.h"
#include "kernels/resize/resize.h"
#include "kernels/softmax/fast.h"
#include "kernels/softmax/softmax.h"
#include "kernels/topk/fast.h"
#include "kernels/topk/topk.h"

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
