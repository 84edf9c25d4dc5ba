// Which function infers which kind.
#include "network/inference/inference.h"

#include "base/check.h"

namespace torchtrt::network {
namespace {

TensorTypes dispatch(const LayerContext& context) {
  switch (context.layer().getType()) {
    case LayerType::kCONSTANT:
      return inferConstant(context);
    case LayerType::kCONVOLUTION:
      return inferConvolution(context);
    case LayerType::kDECONVOLUTION:
      return inferDeconvolution(context);
    case LayerType::kPOOLING:
      return inferPooling(context);
    case LayerType::kADAPTIVE_POOLING:
      return inferAdaptivePooling(context);
    case LayerType::kUNARY:
      return inferUnary(context);
    case LayerType::kELEMENTWISE:
      return inferElementwise(context);
    case LayerType::kMATRIX_MULTIPLY:
      return inferMatrixMultiply(context);
    case LayerType::kQUANTIZE:
      return inferQuantize(context);
    case LayerType::kDEQUANTIZE:
      return inferDequantize(context);
    case LayerType::kQUANTIZED_CONVOLUTION:
      return inferQuantizedConvolution(context);
    case LayerType::kQUANTIZED_MATRIX_MULTIPLY:
      return inferQuantizedMatrixMultiply(context);
    case LayerType::kREDUCE:
      return inferReduce(context);
    case LayerType::kSHUFFLE:
      return inferShuffle(context);
    case LayerType::kSLICE:
      return inferSlice(context);
    case LayerType::kEXPAND:
      return inferExpand(context);
    case LayerType::kCONCATENATION:
      return inferConcatenation(context);
    case LayerType::kGATHER:
      return inferGather(context);
    case LayerType::kSELECT:
      return inferSelect(context);
    case LayerType::kCAST:
      return inferCast(context);
    case LayerType::kRESIZE:
      return inferResize(context);
    case LayerType::kPADDING:
      return inferPadding(context);
    case LayerType::kTOPK:
      return inferTopK(context);
    case LayerType::kCUMULATIVE:
      return inferCumulative(context);
    case LayerType::kGRID_SAMPLE:
      return inferGridSample(context);
    case LayerType::kRECURRENT:
      return inferRecurrent(context);
    case LayerType::kFILL:
      return inferFill(context);
    case LayerType::kPLUGIN_V2:
      return inferPlugin(context);
    case LayerType::kACTIVATION:
    case LayerType::kPARAMETRIC_RELU:
    case LayerType::kSOFTMAX:
    case LayerType::kNORMALIZATION:
    case LayerType::kSCATTER:
    case LayerType::kIDENTITY:
    case LayerType::kREFORMAT:
      break;
  }
  return inferSameAsInput(context);
}

}  // namespace

TensorTypes inferTypes(const LayerContext& context) {
  TensorTypes types = dispatch(context);
  TORCHTRT_CHECK(types.size() == static_cast<size_t>(context.layer().getNbOutputs()),
                 "inference of " << context.layer().info().name << " gave " << types.size() << " outputs of "
                                 << context.layer().getNbOutputs());
  return types;
}

TensorTypes inferSameAsInput(const LayerContext& context) {
  return {{context.dtype(0), context.dims(0)}};
}

}  // namespace torchtrt::network
