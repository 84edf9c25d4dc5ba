// Types of outputs, kind by kind: each case is a line of network text whose written type must be the inferred one (the
// parser compares them).
#include <gtest/gtest.h>

#include <string>

#include "torchtrt/network.h"

namespace torchtrt::network {
namespace {

// Operands that the cases use. n in [1, 8], h in [16, 64], k in [2, 9], z in [0, 5].
constexpr const char* kOperands = R"(
  input %image : float32[n, 3, h, 32]
  input %small : float32[2, 3, 8, 9]
  input %signal : float32[2, 3, h]
  input %volume : float32[1, 2, 8, h, 6]
  input %matrix : float32[n, 12]
  input %tall : float32[k, 1]
  input %row : float32[12]
  input %scalar : float32[]
  input %empty : float32[0, 4]
  input %integers : int64[n, 4]
  input %bytes : uint8[2, 3, 8, 9]
  input %mask : bool[n, 12]
  input %column : bool[12, 1]
  input %half : float16[n, 12]
  input %kernel : float32[6, 3, 3, 5]
  input %depthwise : float32[6, 1, 3, 3]
  input %kernel1 : float32[4, 3, 3]
  input %kernel3 : float32[4, 2, 1, 2, 3]
  input %deconv : float32[3, 5, 4, 4]
  input %ready : float32[n, 6, h, 32]
  input %six : float32[6]
  input %three : float32[3]
  input %deep : float32[n, 5, 12, 7]
  input %deeper : float32[5, 7, 4]
  input %gates : float32[h, n, 12]
  input %lstm_gates : float32[h, n, 16]
  input %recurrence : float32[12, 4]
  input %lstm_recurrence : float32[16, 4]
  input %sixteen : float32[16]
  input %state : float32[n, 4]
  input %grid : float32[n, 5, k, 2]
  input %volume_grid : float32[1, 5, 6, 7, 3]
  input %places : int64[k]
  input %rows : float32[k, 12]
  input %step_kernel : int8[6, 3, 3, 5]
  input %step_kernel1 : int8[4, 1, 3]
  input %steps : int8[n, k, 12]
  input %tokens : float32[n, k, 12]
  input %halves : uint8[6, 6]
  input %weights : int8[6, 12]
  input %group_scale : float32[6, 3]
  input %step_matrix : int8[12, 6]
  input %six_steps : uint8[n, k, 6]
  input %long_steps : uint8[n, 65793]
  input %long_matrix : int8[65793, 6]
  input %four : float32[4]
  input %step_signal : int8[2, 4, h]
)";

std::string textOf(const std::string& layer) {
  return "network \"case\" (n in [1, 4, 8], h in [16, 32, 64], k in [2, 4, 9], z in [0, 1, 5]) {" +
         std::string(kOperands) + layer + "\n}";
}

class Inference : public testing::TestWithParam<const char*> {};

TEST_P(Inference, GivesTheWrittenType) {
  EXPECT_NO_THROW(parse(textOf(GetParam())));
}

TEST_P(Inference, DiffersFromAnotherType) {
  const std::string layer = GetParam();
  const size_t bracket = layer.find('[', layer.rfind(" : "));
  EXPECT_THROW(parse(textOf(layer.substr(0, bracket + 1) + "77, " + layer.substr(bracket + 1))), CompileError);
}

INSTANTIATE_TEST_SUITE_P(
    Convolution, Inference,
    testing::Values(
        "%y = convolution(%image, %kernel) : float32[n, 6, h-2, 28]",
        "%y = convolution(%image, %kernel, %six) {pre_padding=[1, 2], post_padding=[1, 2]} : float32[n, 6, h, 32]",
        "%y = convolution(%image, %kernel, null, %ready) {pre_padding=[1, 2], post_padding=[1, 2]} : float32[n, 6, h, "
        "32]",
        "%y = convolution(%image, %kernel) {stride=[2, 3]} : float32[n, 6, (h+1)//2-1, 10]",
        "%y = convolution(%image, %kernel) {stride=[2, 2], pre_padding=[1, 0], post_padding=[1, 1]} : float32[n, 6, "
        "(h+1)//2, 15]",
        "%y = convolution(%image, %kernel) {dilation=[2, 3]} : float32[n, 6, h-4, 20]",
        "%y = convolution(%small, %depthwise) {groups=3} : float32[2, 6, 6, 7]",
        "%y = convolution(%signal, %kernel1) {stride=[4]} : float32[2, 4, (h+1)//4]",
        "%y = convolution(%volume, %kernel3) : float32[1, 4, 8, h-1, 4]",
        "%y = deconvolution(%small, %deconv) : float32[2, 5, 11, 12]",
        "%y = deconvolution(%image, %deconv) {stride=[2, 2], pre_padding=[1, 1], post_padding=[1, 1]} : float32[n, 5, "
        "2*h, 64]",
        "%y = deconvolution(%image, %deconv) {stride=[3, 2], output_padding=[2, 1]} : float32[n, 5, 3*h+3, 67]",
        "%y = deconvolution(%small, %deconv) {dilation=[2, 1], groups=3} : float32[2, 15, 14, 12]"));

INSTANTIATE_TEST_SUITE_P(
    Quantized, Inference,
    testing::Values(
        "%y = quantize(%image) {to=uint8, scale=0.5, zero_point=128, low=0, high=255} : uint8[n, 3, h, 32]",
        "%y = quantize(%empty) {to=int8, scale=1.2e-38, low=-128, high=-128} : int8[0, 4]",
        "%y = dequantize(%bytes) {scale=3e38} : float32[2, 3, 8, 9]",
        "%y = dequantize(%steps) {scale=1, zero_point=-128} : float32[n, k, 12]",
        "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, zero_point=255} : float32[2, 6, 6, 5]",
        "%y = quantized_convolution(%bytes, %step_kernel, %six, %six) {to=int8, low=-127, high=127, "
        "activation=\"silu\", stride=[2, 2], pre_padding=[1, 2], post_padding=[1, 2]} : int8[2, 6, 4, 5]",
        "%y = quantized_convolution(%step_signal, %step_kernel1, %four, null, %step_signal) {to=uint8, groups=4, "
        "pre_padding=[1], post_padding=[1], zero_point=-128, residual_zero_point=-128} : uint8[2, 4, h]",
        "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=float32} : float32[n, k, 6]",
        "%y = quantized_matrix_multiply(%steps, %step_matrix, %six, %six, %six_steps) {to=uint8, output_scale=0.1, "
        "output_zero_point=255, low=3, high=255, residual_scale=7, residual_zero_point=255} : uint8[n, k, 6]",
        "%y = quantized_matrix_multiply(%long_steps, %long_matrix, %six) {to=int8, low=0, high=0} : int8[n, 6]",
        "%y = integer_weight_matrix_multiply(%tokens, %halves, %group_scale, %group_scale, %six) {bits=4, "
        "group_size=4} "
        ": float32[n, k, 6]",
        "%y = integer_weight_matrix_multiply(%tokens, %weights, %group_scale) {bits=8, group_size=4} : float32[n, k, "
        "6]"));

INSTANTIATE_TEST_SUITE_P(
    Pooling, Inference,
    testing::Values(
        "%y = pooling(%image) {op=\"max\", window=[2, 2]} : float32[n, 3, h//2, 16]",
        "%y = pooling(%image) {op=\"max\", window=[2, 2], ceil_mode=true} : float32[n, 3, (h+1)//2, 16]",
        "%y = pooling(%image) {op=\"max\", window=[3, 3], stride=[2, 2], ceil_mode=true} : float32[n, 3, h//2, 16]",
        "%y = pooling(%image) {op=\"average\", window=[3, 3], stride=[2, 2], pre_padding=[1, 1], post_padding=[1, 1]}"
        " : float32[n, 3, (h+1)//2, 16]",
        "%y = pooling(%image) {op=\"average\", window=[2, 2], stride=[1, 1], pre_padding=[1, 1], post_padding=[1, 1], "
        "ceil_mode=true} : float32[n, 3, h+1, 33]",
        "%y, %i = pooling(%small) {op=\"max\", window=[2, 3], dilation=[2, 2], stride=[1, 1], return_indices=true}"
        " : float32[2, 3, 6, 5], int64[2, 3, 6, 5]",
        "%y = pooling(%bytes) {op=\"max\", window=[9]} : uint8[2, 3, 8, 1]",
        "%y = pooling(%volume) {op=\"average\", window=[2, 2, 2]} : float32[1, 2, 4, h//2, 3]",
        "%y = adaptive_pooling(%image) {op=\"average\", output_size=[1, 1]} : float32[n, 3, 1, 1]",
        "%y = adaptive_pooling(%image) {op=\"average\", output_size=[h//2, k]} : float32[n, 3, h//2, k]",
        "%y, %i = adaptive_pooling(%signal) {op=\"max\", output_size=[5], return_indices=true} : float32[2, 3, 5], "
        "int64[2, 3, 5]",
        "%y = resize(%image) {mode=\"nearest\", size=[2*h, 64]} : float32[n, 3, 2*h, 64]",
        "%y = resize(%bytes) {mode=\"linear\", size=[3, 4]} : uint8[2, 3, 3, 4]",
        "%y = convolution(%bytes, %bytes) : uint8[2, 2, 1, 1]",
        "%y = elementwise(%integers, %integers) {op=\"sum\", activation=\"relu\"} : int64[n, 4]",
        "%y = resize(%bytes) {mode=\"nearest_exact\", size=[3, 3]} : uint8[2, 3, 3, 3]",
        "%y = resize(%image) {mode=\"cubic\", size=[7, 7], align_corners=true} : float32[n, 3, 7, 7]",
        "%y = resize(%signal) {mode=\"linear\", size=[7], scales=[0.5]} : float32[2, 3, 7]",
        "%y = padding(%image) {pre=[0, 0, 1, 2], post=[0, 0, 3, 4]} : float32[n, 3, h+4, 38]",
        "%y = padding(%image) {pre=[0, -1, -2, 0], post=[0, 0, -3, k]} : float32[n, 2, h-5, k+32]",
        "%y = padding(%image) {pre=[0, 0, 15, 31], post=[0, 0, 0, 0], mode=\"reflect\"} : float32[n, 3, h+15, 63]"));

INSTANTIATE_TEST_SUITE_P(
    Pointwise, Inference,
    testing::Values(
        "%y = activation(%image) {op=\"relu\"} : float32[n, 3, h, 32]",
        "%y = activation(%integers) {op=\"relu\"} : int64[n, 4]",
        "%y = activation(%half) {op=\"gelu_erf\"} : float16[n, 12]",
        "%y = unary(%matrix) {op=\"exp\"} : float32[n, 12]", "%y = unary(%matrix) {op=\"isnan\"} : bool[n, 12]",
        "%y = unary(%integers) {op=\"not\"} : bool[n, 4]", "%y = unary(%integers) {op=\"bitwise_not\"} : int64[n, 4]",
        "%y = unary(%empty) {op=\"abs\"} : float32[0, 4]", "%y = parametric_relu(%matrix, %row) : float32[n, 12]",
        "%y = cast(%image) {to=float16} : float16[n, 3, h, 32]", "%y = identity(%mask) : bool[n, 12]",
        "%y = reformat(%image) : float32[n, 3, h, 32]", "%y = elementwise(%matrix, %row) {op=\"sum\"} : float32[n, 12]",
        "%y = elementwise(%row, %matrix) {op=\"div\"} : float32[n, 12]",
        "%y = elementwise(%tall, %row) {op=\"prod\"} : float32[k, 12]",
        "%y = elementwise(%scalar, %image) {op=\"pow\"} : float32[n, 3, h, 32]",
        "%y = elementwise(%matrix, %matrix) {op=\"less\"} : bool[n, 12]",
        "%y = elementwise(%mask, %column) {op=\"and\"} : bool[12, 12]",
        "%y = elementwise(%mask, %mask) {op=\"sum\"} : bool[n, 12]",
        "%y = elementwise(%integers, %integers) {op=\"bitwise_xor\"} : int64[n, 4]",
        "%y = select(%mask, %matrix, %scalar) : float32[n, 12]",
        "%y = select(%column, %row, %scalar) : float32[12, 12]",
        "%y = matrix_multiply(%matrix, %matrix) {transpose_b=true} : float32[n, n]",
        "%y = matrix_multiply(%matrix, %matrix) {transpose_a=true} : float32[12, 12]",
        "%y = matrix_multiply(%deep, %deeper) : float32[n, 5, 12, 4]",
        "%y = matrix_multiply(%matrix, %matrix, %scalar) {transpose_a=true, activation=\"relu\"} : float32[12, 12]"));

INSTANTIATE_TEST_SUITE_P(
    Reduction, Inference,
    testing::Values(
        "%y = softmax(%image) {axis=1} : float32[n, 3, h, 32]",
        "%y = reduce(%image) {op=\"avg\", axes=[2, 3], keep_dims=false} : float32[n, 3]",
        "%y = reduce(%image) {op=\"max\", axes=[0, 1, 2, 3], keep_dims=false} : float32[]",
        "%y = reduce(%image) {op=\"norm2\", axes=[1], keep_dims=true} : float32[n, 1, h, 32]",
        "%y = reduce(%matrix) {op=\"any\", axes=[1], keep_dims=false} : bool[n]",
        "%y = reduce(%mask) {op=\"all\", axes=[0], keep_dims=false} : bool[12]",
        "%y = reduce(%integers) {op=\"sum\", axes=[1], keep_dims=false} : int64[n]",
        "%y = reduce(%empty) {op=\"sum\", axes=[0], keep_dims=false} : float32[4]",
        "%v, %i = topk(%matrix) {k=[5], axis=1} : float32[n, 5], int64[n, 5]",
        "%y = cumulative(%matrix) {op=\"sum\", axis=1} : float32[n, 12]",
        "%v, %i = cumulative(%integers) {op=\"min\", axis=0} : int64[n, 4], int64[n, 4]",
        "%y, %l = recurrent(%gates, %recurrence, null, %state) {op=\"gru\"} : float32[h, n, 4], float32[n, 4]",
        "%y, %l, %c = recurrent(%lstm_gates, %lstm_recurrence, %sixteen, %state, %state) {op=\"lstm\", reverse=true}"
        " : float32[h, n, 4], float32[n, 4], float32[n, 4]",
        "%v, %i = topk(%image) {k=[k], axis=2, largest=false} : float32[n, 3, k, 32], int64[n, 3, k, 32]",
        "%y = normalization(%image, %three, %three, %three, %three) {mode=\"batch\", eps=1} : float32[n, 3, h, 32]",
        "%y = normalization(%image, %three) {mode=\"group\", groups=3, eps=0} : float32[n, 3, h, 32]",
        "%y = normalization(%matrix, %row, %row) {mode=\"layer\", eps=1} : float32[n, 12]",
        "%y = normalization(%matrix) {mode=\"rms\", normalized_rank=2, eps=1} : float32[n, 12]"));

INSTANTIATE_TEST_SUITE_P(
    Movement, Inference,
    testing::Values(
        "%y = scatter(%matrix, %places, %rows) {axis=0} : float32[n, 12]",
        "%y = scatter(%integers, %integers, %integers) {mode=\"element\", axis=1, reduce=\"sum\"} : int64[n, 4]",
        "%y = grid_sample(%image, %grid) {} : float32[n, 3, 5, k]",
        "%y = grid_sample(%volume, %volume_grid) {mode=\"nearest\"} : float32[1, 2, 5, 6, 7]",
        "%y = shuffle(%image) {first_permutation=[0, 2, 3, 1]} : float32[n, h, 32, 3]",
        "%y = shuffle(%image) {reshape_dims=[0, -1]} : float32[n, 96*h]",
        "%y = shuffle(%image) {reshape_dims=[n, 3, -1]} : float32[n, 3, 32*h]",
        "%y = shuffle(%image) {reshape_dims=[-1, h, 8, 3]} : float32[4*n, h, 8, 3]",
        "%y = shuffle(%image) {reshape_dims=[-1, 7]} : float32[(96*h*n)//7, 7]",
        "%y = shuffle(%image) {first_permutation=[0, 2, 3, 1], reshape_dims=[0, -1, 3], second_permutation=[0, 2, 1]}"
        " : float32[n, 3, 32*h]",
        "%y = shuffle(%matrix) {reshape_dims=[0, 3, 4, 1]} : float32[n, 3, 4, 1]",
        "%y = shuffle(%scalar) {reshape_dims=[1, 1]} : float32[1, 1]",
        "%y = shuffle(%empty) {reshape_dims=[0, 2, 2]} : float32[0, 2, 2]",
        "%y = slice(%image) {start=[0, 1, 2, 31], size=[n, 2, h-2, 8], stride=[1, 1, 1, -4]} : float32[n, 2, h-2, 8]",
        "%y = slice(%matrix) {start=[n-1, 0], size=[1, z]} : float32[1, z]",
        "%y = expand(%tall) {dims=[n, k, 12]} : float32[n, k, 12]",
        "%y = expand(%scalar) {dims=[h, 2]} : float32[h, 2]",
        "%y = concatenation(%image, %image, %ready) {axis=1} : float32[n, 12, h, 32]",
        "%y = concatenation(%matrix, %matrix) {axis=0} : float32[2*n, 12]",
        "%y = concatenation(%small, %small) {axis=3} : float32[2, 3, 8, 18]",
        "%y = gather(%image, %integers) {axis=1} : float32[n, n, 4, h, 32]",
        "%y = gather(%row, %integers) {axis=0} : float32[n, 4]",
        "%y = gather(%matrix, %integers) {mode=\"element\", axis=1} : float32[n, 4]"));

INSTANTIATE_TEST_SUITE_P(
    Sources, Inference,
    testing::Values("%y = constant() : float32[2, 1] data=[1, 2]",
                    "%y = fill() {op=\"constant\", dims=[n, 2], dtype=bool, value=1} : bool[n, 2]",
                    "%y = fill() {op=\"arange\", dims=[2*h], dtype=int64, int_step=1} : int64[2*h]"));

TEST(LazyInference, FollowsEveryChangeThroughToTheUsers) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {1, 2, 8, 8});
  Layer* pool = network.addPoolingNd(*input, "max", {2, 2});
  Layer* flat = network.addShuffle(*pool->getOutput(0));
  flat->setReshapeDimensions({0, -1});
  Layer* cast = network.addCast(*flat->getOutput(0), DType::kFloat16);
  EXPECT_EQ(cast->getOutput(0)->getDimensions(), (Dims{1, 32}));
  pool->setStrideNd({1, 1});
  EXPECT_EQ(cast->getOutput(0)->getDimensions(), (Dims{1, 98}));
  EXPECT_EQ(cast->getOutput(0)->getType(), DType::kFloat16);
  Tensor* other = network.addInput("z", DType::kFloat64, {3, 1, 2, 2});
  pool->setInput(0, other);
  EXPECT_EQ(flat->getOutput(0)->getType(), DType::kFloat64);
  EXPECT_EQ(cast->getOutput(0)->getDimensions(), (Dims{3, 1}));
  cast->setAttribute("to", DType::kInt32);
  EXPECT_EQ(cast->getOutput(0)->getType(), DType::kInt32);
}

TEST(LazyInference, ReportsAMalformedLayerWhenItIsAskedAndHealsWhenItIsMended) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {4});
  Layer* softmax = network.addSoftMax(*input, 3);
  Layer* relu = network.addActivation(*softmax->getOutput(0), "relu");
  EXPECT_THROW(relu->getOutput(0)->getDimensions(), CompileError);
  softmax->setAxis(0);
  EXPECT_EQ(relu->getOutput(0)->getDimensions(), Dims{4});
}

TEST(LazyInference, EndsOnACycleAndOnALongChain) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {4});
  Layer* first = network.addIdentity(*input);
  Layer* last = first;
  for (int i = 0; i < 20000; ++i) {
    last = network.addIdentity(*last->getOutput(0));
  }
  EXPECT_EQ(last->getOutput(0)->getDimensions(), Dims{4});
  first->setInput(0, last->getOutput(0));
  EXPECT_THROW(last->getOutput(0)->getDimensions(), CompileError);
}

}  // namespace
}  // namespace torchtrt::network
