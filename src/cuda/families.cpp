// The one list of this backend's kernels: a family for each layer kind, its implementations in the order in which they
// are asked. The last, "host", is the CPU's kernel with copies around it.
#include "cuda/families.h"

#include "cuda/attention/attention.h"
#include "cuda/convolution/convolution.h"
#include "cuda/fourier/fourier.h"
#include "cuda/host/host.h"
#include "cuda/matmul/matmul.h"
#include "cuda/movement/movement.h"
#include "cuda/plugins/plugins.h"
#include "cuda/pointwise/pointwise.h"
#include "cuda/pooling/pooling.h"
#include "cuda/quantized/quantized.h"
#include "cuda/recurrent/recurrent.h"
#include "cuda/reduction/reduction.h"
#include "cuda/resize/resize.h"
#include "cuda/sorting/sorting.h"

namespace torchtrt::cuda {

const std::vector<kernels::Family>& families() {
  constexpr kernels::Samples kTogether = kernels::Samples::kTogether;  // a batch's size shows in the bits
  static const std::vector<kernels::Family> list = {
      {"activation", {{"map", createActivation}, {"host", createHost}}},
      {"adaptive_pooling", {{"direct", createAdaptivePooling}, {"host", createHost}}},
      {"cast", {{"map", createCast}, {"host", createHost}}},
      {"concatenation", {{"copy", createConcatenation}, {"host", createHost}}},
      {"convolution",
       {{"depthwise", createDepthwise, leaveDepthwise, "", kTogether},
        {"few_channels", createFewChannels, leaveFewChannels, "", kTogether},
        {"tensor_cores", createSmallConvolution, leaveLargeConvolution, "", kTogether},
        {"one_tap", createOneTap, leaveOneTap, "", kTogether},
        {"patches", createPatches, leavePatches, "", kTogether},
        {"cudnn", createCudnnConvolution, nullptr, "", kTogether},
        {"direct", createDirectConvolution},
        {"tiles", createFloatTiles, leaveToTiming, "", kTogether},
        {"host", createHost}}},
      {"cumulative", {{"lines", createCumulative}, {"host", createHost}}},
      {"deconvolution",
       {{"cudnn", createCudnnDeconvolution, nullptr, "", kTogether},
        {"direct", createDirectDeconvolution},
        {"host", createHost}}},
      {"dequantize", {{"map", createDequantize}, {"host", createHost}}},
      {"elementwise", {{"map", createElementwise}, {"host", createHost}}},
      {"expand", {{"copy", createExpand}, {"host", createHost}}},
      {"fill", {{"fill", createFill}, {"host", createHost}}},
      {"gather", {{"gather", createGather}, {"host", createHost}}},
      {"grid_sample", {{"direct", createGridSample}, {"host", createHost}}},
      {"identity", {{"copy", createCopy}, {"host", createHost}}},
      {"integer_weight_matrix_multiply", {{"host", createHost}}},
      {"matrix_multiply",
       {{"tensor_cores", createSmallMatmul, leaveLargeMatmul},
        {"cublaslt", createCublasLtMatmul, nullptr, "", kTogether},
        {"tiled", createTiledMatmul},
        {"warpgroups", createWarpgroupMatmul, leaveToTiming},
        {"cublaslt_unsplit", createUnsplitMatmul, leaveToTiming, "", kTogether},
        {"cublaslt_second", createSecondMatmul, leaveToTiming, "", kTogether},
        {"cublaslt_third", createThirdMatmul, leaveToTiming, "", kTogether},
        {"host", createHost}}},
      {"normalization", {{"rows", createNormalization}, {"host", createHost}}},
      {"padding", {{"pad", createPadding}, {"host", createHost}}},
      {"parametric_relu", {{"map", createParametricRelu}, {"host", createHost}}},
      {"plugin_v2",
       {{"tensor_cores", createShortAttention, leaveLongAttention, "", kTogether},
        {"cudnn", createCudnnAttention, nullptr, "", kTogether},
        {"attention", createAttention},
        {"gpt_attention", createGptAttention},
        {"grouped", createGroupedProduct},
        {"search", createSearch},
        {"nonzero", createNonZero},
        {"masked_rows", createMaskedRows},
        {"unique", createUnique},
        {"suppression", createSuppression},
        {"regions", createPoolRegions},
        {"deformed_columns", createDeformedColumns},
        {"antialiased_resize", createAntialiasedResize},
        {"fourier", createFourier},
        {"short_time_fourier", createShortTimeFourier},
        {"inverse_short_time_fourier", createInverseShortTimeFourier},
        {"host", createHost}}},
      {"pooling", {{"direct", createPooling}, {"host", createHost}}},
      {"quantize", {{"map", createQuantize}, {"host", createHost}}},
      {"quantized_convolution",
       {{"tensor_cores", createTensorCoreConvolution, leaveToOldDevices},
        {"direct", createQuantizedConvolution},
        {"host", createHost}}},
      {"quantized_matrix_multiply",
       {{"tensor_cores", createTensorCoreMatmul, leaveToOldDevices},
        {"tiled", createQuantizedMatmul},
        {"host", createHost}}},
      {"recurrent", {{"samples", createRecurrent}, {"host", createHost}}},
      {"reduce", {{"rows", createReduce}, {"host", createHost}}},
      {"reformat", {{"copy", createCopy}, {"host", createHost}}},
      {"resize", {{"direct", createResize}, {"host", createHost}}},
      {"scatter", {{"scatter", createScatter}, {"host", createHost}}},
      {"select", {{"map", createSelect}, {"host", createHost}}},
      {"shuffle", {{"copy", createShuffle}, {"host", createHost}}},
      {"slice", {{"copy", createSlice}, {"host", createHost}}},
      {"softmax", {{"rows", createSoftmax}, {"host", createHost}}},
      {"topk", {{"sort", createTopK}, {"host", createHost}}},
      {"unary", {{"map", createUnary}, {"host", createHost}}},
  };
  return list;
}

}  // namespace torchtrt::cuda
