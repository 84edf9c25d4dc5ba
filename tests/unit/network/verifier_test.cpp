// The verifier: for every rule of a kind of layer a network that breaks just this one.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "network/broken_rule.h"
#include "network/rules/rules.h"
#include "torchtrt/network.h"

namespace torchtrt::network {
namespace {

// Rules of the kinds: a line of network text for each.

constexpr const char* kOperands = R"(
  input %image : float32[n, 3, h, 32]
  input %half_image : float16[n, 3, h, 32]
  input %gates : float32[h, n, 12]
  input %recurrence : float32[12, 4]
  input %state : float32[n, 4]
  input %places : int64[5]
  input %volume : float32[1, 2, 8, 9, 6]
  input %volume_grid : float32[1, 5, 6, 7, 3]
  input %bytes : uint8[n, 3, h, 32]
  input %flags : bool[n, 3, h, 32]
  input %wide : int64[n, 3, h, 32]
  input %matrix : float32[n, 12]
  input %double : float64[n, 12]
  input %row : float32[12]
  input %eight : float32[8]
  input %scalar : float32[]
  input %empty : float32[0, 4]
  input %integers : int64[n, 12]
  input %mask : bool[n, 12]
  input %dynamic : float32[a, 12]
  input %dynamic_too : float32[b, 12]
  input %kernel : float32[6, 3, 3, 5]
  input %batched : float32[7, 32, 12]
  input %kernel5 : float32[3, 2, 4, 4]
  input %steps : uint8[n, 12]
  input %step_kernel : int8[6, 3, 3, 5]
  input %large_kernel : int8[6, 3, 150, 150]
  input %step_matrix : int8[12, 6]
  input %long : int8[n, 65794]
  input %long_matrix : int8[65794, 6]
  input %six : float32[6]
  input %out_steps : uint8[n, 6]
  input %half_six : float16[6]
  input %half_kernel : float16[6, 3, 3, 5]
  input %no_kernel : float32[6, 3, 0, 5]
  input %no_kernel5 : float32[3, 2, 4, 0]
  input %no_step_kernel : int8[6, 3, 0, 5]
  input %many_channels : float32[3, 1099511627777, 4, 4]
  input %halves : uint8[6, 6]
  input %weights : int8[6, 12]
  input %group_scale : float32[6, 3]
)";

struct BrokenRule {
  const char* rule;
  const char* layer;
};

std::string textOf(const std::string& layer) {
  return "network \"case\" (n in [2, 4, 8], h in [16, 32, 64], a in [1, 2, 9], b in [1, 2, 9]) {" +
         std::string(kOperands) + layer + "\n}";
}

class KindRules : public testing::TestWithParam<BrokenRule> {};

TEST_P(KindRules, RefuseWhatBreaksThem) {
  expectBroken(GetParam().rule, [] { parse(textOf(GetParam().layer)); });
}

const std::vector<BrokenRule>& brokenRules() {
  static const std::vector<BrokenRule> cases = {
      // of every kind
      {"operands", "%y = cast(%image, %image) {to=bool}"},
      {"operands", "%y = softmax(null) {axis=0}"},
      {"operands", "%y = concatenation(%image, null) {axis=0}"},
      {"operands", "%y = elementwise(%image) {op=\"sum\"}"},
      {"attributes-known", "%y = softmax(%image) {axis=0, axes=1}"},
      {"attributes-present", "%y = softmax(%image)"},
      {"attribute-types", "%y = softmax(%image) {axis=\"0\"}"},
      {"attribute-words", "%y = gather(%image, %integers) {axis=0, mode=\"elements\"}"},
      // convolution
      {"rank", "%y = convolution(%matrix, %matrix)"},
      {"rank",
       "%y = convolution(%image, %row) {stride=[1, 1], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1]}"},
      {"dtype", "%y = convolution(%flags, %kernel)"},
      {"one-dtype", "%y = convolution(%half_image, %kernel)"},
      {"window", "%y = convolution(%image, %kernel) {stride=[1]}"},
      {"window", "%y = convolution(%image, %kernel) {stride=[0, 1]}"},
      {"window", "%y = convolution(%image, %kernel) {post_padding=[0, -1]}"},
      {"window", "%y = convolution(%image, %kernel) {stride=[1, 1099511627777]}"},
      {"kernel", "%y = convolution(%image, %no_kernel)"},
      {"groups", "%y = convolution(%image, %kernel) {groups=0}"},
      {"groups", "%y = convolution(%image, %kernel) {groups=4}"},
      {"channels", "%y = convolution(%image, %kernel) {groups=3}"},
      {"bias", "%y = convolution(%image, %kernel, %row)"},
      {"output", "%y = convolution(%image, %kernel) {dilation=[1, 9]}"},
      {"output", "%y = convolution(%image, %kernel) {dilation=[40, 1]}"},
      {"residual", "%y = convolution(%image, %kernel, null, %image)"},
      {"activation", "%y = convolution(%image, %kernel) {activation=\"gelu\"}"},
      {"one-dtype", "%y = convolution(%image, %kernel, null, null, %six)"},
      {"one-dtype", "%y = convolution(%half_image, %half_kernel, %half_six, null, %six)"},
      {"one-dtype", "%y = convolution(%half_image, %half_kernel, %six, null, %half_six)"},
      {"one-dtype", "%y = convolution(%half_image, %kernel, null, null, %six)"},
      {"scale", "%y = convolution(%half_image, %half_kernel, %six, null, %group_scale)"},
      // deconvolution
      {"rank", "%y = deconvolution(%matrix, %matrix)"},
      {"dtype", "%y = deconvolution(%flags, %kernel5)"},
      {"one-dtype", "%y = deconvolution(%half_image, %kernel5)"},
      {"window", "%y = deconvolution(%image, %kernel5) {output_padding=[0]}"},
      {"kernel", "%y = deconvolution(%image, %no_kernel5)"},
      {"groups", "%y = deconvolution(%image, %kernel5) {groups=2}"},
      {"channels", "%y = deconvolution(%image, %kernel)"},
      {"channels", "%y = deconvolution(%image, %many_channels)"},
      {"bias", "%y = deconvolution(%image, %kernel5, %row)"},
      {"output-padding", "%y = deconvolution(%image, %kernel5) {stride=[2, 2], output_padding=[2, 0]}"},
      {"output", "%y = deconvolution(%image, %kernel5) {pre_padding=[40, 0], post_padding=[40, 0]}"},
      {"activation", "%y = deconvolution(%image, %kernel5) {activation=\"Relu\"}"},
      // pooling
      {"window", "%y = pooling(%image) {op=\"max\", window=[]}"},
      {"window", "%y = pooling(%row) {op=\"max\", window=[2, 2]}"},
      {"window", "%y = pooling(%image) {op=\"max\", window=[2, 2], stride=[0, 2]}"},
      {"window", "%y = pooling(%image) {op=\"max\", window=[2, 0]}"},
      {"window", "%y = pooling(%image) {op=\"max\", window=[1099511627776, 1099511627776]}"},
      {"dtype", "%y = pooling(%bytes) {op=\"average\", window=[2, 2]}"},
      {"dtype", "%y = pooling(%mask) {op=\"max\", window=[2]}"},
      {"padding", "%y = pooling(%image) {op=\"max\", window=[2, 2], pre_padding=[0, 2]}"},
      {"dilation", "%y = pooling(%image) {op=\"average\", window=[2, 2], dilation=[2, 1]}"},
      {"divisor", "%y = pooling(%image) {op=\"average\", window=[2, 2], divisor=-1}"},
      {"indices", "%y, %i = pooling(%image) {op=\"average\", window=[2, 2], return_indices=true}"},
      {"output", "%y = pooling(%image) {op=\"max\", window=[2, 33]}"},
      // adaptive pooling
      {"sizes", "%y = adaptive_pooling(%image) {op=\"max\", output_size=[]}"},
      {"sizes", "%y = adaptive_pooling(%row) {op=\"max\", output_size=[1, 1]}"},
      {"sizes", "%y = adaptive_pooling(%image) {op=\"max\", output_size=[1, -1]}"},
      {"dtype", "%y = adaptive_pooling(%bytes) {op=\"average\", output_size=[1, 1]}"},
      {"indices", "%y, %i = adaptive_pooling(%image) {op=\"average\", output_size=[1, 1], return_indices=true}"},
      {"empty", "%y = adaptive_pooling(%empty) {op=\"max\", output_size=[1, 1]}"},
      // resize and padding
      {"empty", "%y = resize(%empty) {mode=\"nearest\", size=[1, 1]}"},
      {"sizes", "%y = resize(%image) {mode=\"nearest\", size=[]}"},
      {"mode", "%y = resize(%wide) {mode=\"linear\", size=[4, 4]}"},
      {"mode", "%y = resize(%image) {mode=\"cubic\", size=[4]}"},
      {"mode", "%y = resize(%image) {mode=\"nearest\", size=[4, 4], align_corners=true}"},
      {"scales", "%y = resize(%image) {mode=\"linear\", size=[4, 4], scales=[2]}"},
      {"scales", "%y = resize(%image) {mode=\"linear\", size=[4, 4], scales=[2, -1]}"},
      {"lists", "%y = padding(%image) {pre=[0, 0, 0], post=[0, 0, 0, 0]}"},
      {"mode", "%y = padding(%image) {pre=[0, 0, 0, 32], post=[0, 0, 0, 0], mode=\"reflect\"}"},
      {"mode", "%y = padding(%image) {pre=[0, 0, 0, 33], post=[0, 0, 0, 0], mode=\"circular\"}"},
      {"mode", "%y = padding(%image) {pre=[0, 0, 0, -1], post=[0, 0, 0, 0], mode=\"replicate\"}"},
      {"mode", "%y = padding(%empty) {pre=[1, 0], post=[0, 0], mode=\"replicate\"}"},
      {"output", "%y = padding(%image) {pre=[0, -2, 0, 0], post=[0, -2, 0, 0]}"},
      // activation, parametric relu, unary
      {"op", "%y = activation(%image) {op=\"swish\"}"},
      {"dtype", "%y = activation(%integers) {op=\"sigmoid\"}"},
      {"dtype", "%y = activation(%mask) {op=\"relu\"}"},
      {"dtype", "%y = parametric_relu(%integers, %integers)"},
      {"one-dtype", "%y = parametric_relu(%matrix, %double)"},
      {"broadcast", "%y = parametric_relu(%matrix, %eight)"},
      {"broadcast", "%y = parametric_relu(%row, %matrix)"},
      {"op", "%y = unary(%image) {op=\"exponential\"}"},
      {"dtype", "%y = unary(%integers) {op=\"exp\"}"},
      {"dtype", "%y = unary(%mask) {op=\"neg\"}"},
      {"dtype", "%y = unary(%matrix) {op=\"bitwise_not\"}"},
      // elementwise, select, matrix multiply
      {"op", "%y = elementwise(%image, %image) {op=\"plus\"}"},
      {"one-dtype", "%y = elementwise(%matrix, %double) {op=\"sum\"}"},
      {"dtype", "%y = elementwise(%integers, %integers) {op=\"div\"}"},
      {"dtype", "%y = elementwise(%mask, %mask) {op=\"sub\"}"},
      {"dtype", "%y = elementwise(%matrix, %matrix) {op=\"bitwise_or\"}"},
      {"broadcast", "%y = elementwise(%row, %eight) {op=\"sum\"}"},
      {"broadcast", "%y = elementwise(%dynamic, %dynamic_too) {op=\"sum\"}"},
      {"activation", "%y = elementwise(%row, %row) {op=\"sum\", activation=\"none\"}"},
      {"activation", "%y = elementwise(%integers, %integers) {op=\"sum\", activation=\"tanh\"}"},
      {"activation", "%y = elementwise(%row, %row) {op=\"less\", activation=\"relu\"}"},
      {"condition", "%y = select(%matrix, %matrix, %matrix)"},
      {"one-dtype", "%y = select(%mask, %matrix, %double)"},
      {"broadcast", "%y = select(%mask, %row, %eight)"},
      {"broadcast", "%y = select(%mask, %eight, %eight)"},
      {"rank", "%y = matrix_multiply(%matrix, %row)"},
      {"dtype", "%y = matrix_multiply(%mask, %mask) {transpose_b=true}"},
      {"one-dtype", "%y = matrix_multiply(%matrix, %double) {transpose_b=true}"},
      {"inner", "%y = matrix_multiply(%matrix, %image)"},
      {"batch", "%y = matrix_multiply(%image, %batched)"},
      {"bias", "%y = matrix_multiply(%matrix, %matrix, %image) {transpose_a=true}"},
      {"residual", "%y = matrix_multiply(%matrix, %matrix, null, %row) {transpose_a=true}"},
      {"activation", "%y = matrix_multiply(%matrix, %matrix) {transpose_a=true, activation=\"x\"}"},
      // reductions
      {"dtype", "%y = softmax(%integers) {axis=0}"},
      {"axis", "%y = softmax(%image) {axis=4}"},
      {"axis", "%y = softmax(%image) {axis=-1}"},
      {"op", "%y = reduce(%image) {op=\"mean\", axes=[0], keep_dims=true}"},
      {"dtype", "%y = reduce(%integers) {op=\"avg\", axes=[0], keep_dims=true}"},
      {"dtype", "%y = reduce(%mask) {op=\"sum\", axes=[0], keep_dims=true}"},
      {"axes", "%y = reduce(%image) {op=\"sum\", axes=[], keep_dims=true}"},
      {"axes", "%y = reduce(%image) {op=\"sum\", axes=[1, 0], keep_dims=true}"},
      {"axes", "%y = reduce(%image) {op=\"sum\", axes=[1, 1], keep_dims=true}"},
      {"axes", "%y = reduce(%image) {op=\"sum\", axes=[4], keep_dims=true}"},
      {"not-empty", "%y = reduce(%empty) {op=\"max\", axes=[0], keep_dims=true}"},
      {"dtype", "%v, %i = topk(%mask) {k=[1], axis=0}"},
      {"axis", "%v, %i = topk(%image) {k=[1], axis=4}"},
      {"k", "%v, %i = topk(%image) {k=[1, 2], axis=3}"},
      {"k", "%v, %i = topk(%image) {k=[33], axis=3}"},
      {"dtype", "%y = cumulative(%mask) {op=\"sum\", axis=0}"},
      {"dtype", "%y = cumulative(%integers) {op=\"logsumexp\", axis=0}"},
      {"axis", "%y = cumulative(%image) {op=\"sum\", axis=4}"},
      // recurrent
      {"dtype", "%y, %l = recurrent(%integers, %integers, null, %integers) {op=\"gru\"}"},
      {"one-dtype", "%y, %l = recurrent(%gates, %recurrence, null, %double) {op=\"gru\"}"},
      {"state", "%y, %l = recurrent(%gates, %recurrence) {op=\"gru\"}"},
      {"rank", "%y, %l = recurrent(%matrix, %recurrence, null, %state) {op=\"gru\"}"},
      {"dims", "%y, %l = recurrent(%gates, %recurrence, null, %state) {op=\"rnn_relu\"}"},
      {"dims", "%y, %l = recurrent(%gates, %recurrence, %row, %matrix) {op=\"gru\"}"},
      {"cell", "%y, %l = recurrent(%gates, %recurrence, null, %state, %state) {op=\"gru\"}"},
      // quantize, dequantize
      {"dtype", "%y = quantize(%double) {to=int8, scale=1, low=0, high=1}"},
      {"to", "%y = quantize(%row) {to=int16, scale=1, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=0, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=-1, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=nan, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=inf, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=1e-40, low=0, high=1}"},
      {"scale", "%y = quantize(%row) {to=int8, scale=1e39, low=0, high=1}"},
      {"zero-point", "%y = quantize(%row) {to=int8, scale=1, zero_point=128, low=0, high=1}"},
      {"limits", "%y = quantize(%row) {to=uint8, scale=1, low=-1, high=1}"},
      {"limits", "%y = quantize(%row) {to=uint8, scale=1, low=0, high=256}"},
      {"limits", "%y = quantize(%row) {to=int8, scale=1, low=1, high=0}"},
      {"dtype", "%y = dequantize(%row) {scale=1}"},
      {"scale", "%y = dequantize(%steps) {scale=0}"},
      {"zero-point", "%y = dequantize(%steps) {scale=1, zero_point=-1}"},
      // integer_weight_matrix_multiply
      {"rank", "%y = integer_weight_matrix_multiply(%row, %weights, %group_scale) {bits=8, group_size=4}"},
      {"rank", "%y = integer_weight_matrix_multiply(%matrix, %step_kernel, %group_scale) {bits=8, group_size=4}"},
      {"rank", "%y = integer_weight_matrix_multiply(%matrix, %weights, %six) {bits=8, group_size=4}"},
      {"bits", "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale) {bits=3, group_size=4}"},
      {"dtype", "%y = integer_weight_matrix_multiply(%double, %weights, %group_scale) {bits=8, group_size=4}"},
      {"dtype", "%y = integer_weight_matrix_multiply(%matrix, %halves, %group_scale) {bits=8, group_size=4}"},
      {"dtype", "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale) {bits=4, group_size=4}"},
      {"dtype", "%y = integer_weight_matrix_multiply(%matrix, %weights, %weights) {bits=8, group_size=4}"},
      {"inner", "%y = integer_weight_matrix_multiply(%state, %weights, %group_scale) {bits=8, group_size=4}"},
      {"groups", "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale) {bits=8, group_size=5}"},
      {"groups", "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale) {bits=8, group_size=0}"},
      {"groups",
       "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale, %recurrence) {bits=8, group_size=4}"},
      {"bias",
       "%y = integer_weight_matrix_multiply(%matrix, %halves, %group_scale, null, %row) {bits=4, group_size=4}"},
      {"residual",
       "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale, null, null, %matrix) {bits=8, "
       "group_size=4}"},
      {"activation",
       "%y = integer_weight_matrix_multiply(%matrix, %weights, %group_scale) {bits=8, group_size=4, "
       "activation=\"gelu\"}"},
      // quantized_convolution
      {"rank", "%y = quantized_convolution(%steps, %step_matrix, %six) {to=float32}"},
      {"dtype", "%y = quantized_convolution(%image, %step_kernel, %six) {to=float32}"},
      {"dtype", "%y = quantized_convolution(%bytes, %bytes, %six) {to=float32}"},
      {"dtype", "%y = quantized_convolution(%bytes, %step_kernel, %integers) {to=float32}"},
      {"dtype", "%y = quantized_convolution(%bytes, %step_kernel, %six, %integers) {to=float32}"},
      {"dtype", "%y = quantized_convolution(%bytes, %step_kernel, %six, null, %wide) {to=float32}"},
      {"window", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, stride=[0, 1]}"},
      {"kernel", "%y = quantized_convolution(%bytes, %no_step_kernel, %six) {to=float32}"},
      {"groups", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, groups=4}"},
      {"channels", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, groups=3}"},
      {"vectors", "%y = quantized_convolution(%bytes, %step_kernel, %row) {to=float32}"},
      {"vectors", "%y = quantized_convolution(%bytes, %step_kernel, %six, %row) {to=float32}"},
      {"sums", "%y = quantized_convolution(%bytes, %large_kernel, %six) {to=float32}"},
      {"output", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, dilation=[1, 9]}"},
      {"residual", "%y = quantized_convolution(%bytes, %step_kernel, %six, null, %image) {to=float32}"},
      {"zero-point", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, zero_point=256}"},
      {"residual-steps", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=float32, residual_scale=0}"},
      {"output-steps", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=bool}"},
      {"activation", "%y = quantized_convolution(%bytes, %step_kernel, %six) {to=int8, activation=\"gelu\"}"},
      // quantized_matrix_multiply
      {"rank", "%y = quantized_matrix_multiply(%places, %step_matrix, %six) {to=float32}"},
      {"rank", "%y = quantized_matrix_multiply(%steps, %step_kernel, %six) {to=float32}"},
      {"dtype", "%y = quantized_matrix_multiply(%steps, %matrix, %six) {to=float32}"},
      {"inner", "%y = quantized_matrix_multiply(%out_steps, %step_matrix, %six) {to=float32}"},
      {"vectors", "%y = quantized_matrix_multiply(%steps, %step_matrix, %row) {to=float32}"},
      {"sums", "%y = quantized_matrix_multiply(%long, %long_matrix, %six) {to=float32}"},
      {"residual", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six, null, %steps) {to=float32}"},
      {"zero-point", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=float32, zero_point=-1}"},
      {"residual-steps",
       "%y = quantized_matrix_multiply(%steps, %step_matrix, %six, null, %out_steps) {to=float32, "
       "residual_zero_point=-1}"},
      {"output-steps", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=int8, output_scale=0}"},
      {"output-steps", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=int8, output_zero_point=128}"},
      {"output-steps", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=int8, low=1}"},
      {"activation", "%y = quantized_matrix_multiply(%steps, %step_matrix, %six) {to=int8, activation=\"gelu\"}"},
      // scatter, grid_sample
      {"indices", "%y = scatter(%row, %row, %row) {axis=0}"},
      {"update-dtype", "%y = scatter(%row, %places, %places) {axis=0}"},
      {"axis", "%y = scatter(%row, %places, %row) {axis=1}"},
      {"reduce", "%y = scatter(%mask, %places, %mask) {axis=0, reduce=\"sum\"}"},
      {"updates", "%y = scatter(%row, %places, %row) {axis=0}"},
      {"updates", "%y = scatter(%row, %places, %row) {mode=\"element\", axis=0}"},
      {"dtype", "%y = grid_sample(%wide, %wide) {}"},
      {"one-dtype", "%y = grid_sample(%image, %half_image) {}"},
      {"rank", "%y = grid_sample(%image, %matrix) {}"},
      {"dims", "%y = grid_sample(%image, %image) {}"},
      {"mode", "%y = grid_sample(%volume, %volume_grid) {mode=\"cubic\"}"},
      // normalization
      {"dtype", "%y = normalization(%integers) {mode=\"layer\", eps=1}"},
      {"one-dtype", "%y = normalization(%double, %row) {mode=\"layer\", eps=1}"},
      {"rank", "%y = normalization(%row) {mode=\"instance\", eps=1}"},
      {"rank", "%y = normalization(%row) {mode=\"layer\", normalized_rank=2, eps=1}"},
      {"rank", "%y = normalization(%row) {mode=\"rms\", normalized_rank=0, eps=1}"},
      {"groups", "%y = normalization(%image) {mode=\"group\", groups=2, eps=1}"},
      {"groups", "%y = normalization(%image) {mode=\"group\", groups=0, eps=1}"},
      {"statistics", "%y = normalization(%matrix, %row, %row) {mode=\"batch\", eps=1}"},
      {"statistics", "%y = normalization(%matrix, %row, %row, %row) {mode=\"batch\", eps=1}"},
      {"statistics", "%y = normalization(%matrix, %row, %row, %row, %row) {mode=\"layer\", eps=1}"},
      {"parameters", "%y = normalization(%matrix, %eight) {mode=\"layer\", eps=1}"},
      {"eps", "%y = normalization(%matrix, %row) {mode=\"layer\", eps=-1}"},
      {"activation", "%y = normalization(%matrix, %row) {mode=\"layer\", eps=1, activation=\"x\"}"},
      // movement
      {"first-permutation", "%y = shuffle(%image) {first_permutation=[0, 1, 2]}"},
      {"first-permutation", "%y = shuffle(%image) {first_permutation=[0, 1, 2, 2]}"},
      {"reshape", "%y = shuffle(%row) {reshape_dims=[-1, -1]}"},
      {"reshape", "%y = shuffle(%row) {reshape_dims=[3, 0]}"},
      {"reshape", "%y = shuffle(%row) {reshape_dims=[5, -1]}"},
      {"reshape", "%y = shuffle(%row) {reshape_dims=[13]}"},
      {"reshape", "%y = shuffle(%row) {reshape_dims=[-2, -6]}"},
      {"reshape", "%y = shuffle(%matrix) {reshape_dims=[n, 13]}"},
      {"reshape", "%y = shuffle(%empty) {reshape_dims=[0, -1]}"},
      {"second-permutation", "%y = shuffle(%row) {reshape_dims=[3, 4], second_permutation=[0]}"},
      {"lists", "%y = slice(%matrix) {start=[0], size=[1, 1]}"},
      {"stride", "%y = slice(%row) {start=[0], size=[1], stride=[0]}"},
      {"bounds", "%y = slice(%row) {start=[0], size=[13]}"},
      {"bounds", "%y = slice(%row) {start=[-1], size=[1]}"},
      {"bounds", "%y = slice(%row) {start=[3], size=[5], stride=[-1]}"},
      {"bounds", "%y = slice(%matrix) {start=[1, 0], size=[n, 12]}"},
      {"bounds", "%y = slice(%row) {start=[0], size=[-1]}"},
      {"dims", "%y = expand(%row) {dims=[2, 11]}"},
      {"dims", "%y = expand(%matrix) {dims=[12]}"},
      {"dims", "%y = expand(%row) {dims=[-2, 12]}"},
      {"dims", "%y = expand(%row) {dims=[2, -9223372036854775808, 12]}"},
      {"one-dtype", "%y = concatenation(%matrix, %double) {axis=0}"},
      {"axis", "%y = concatenation(%scalar, %scalar) {axis=0}"},
      {"dims", "%y = concatenation(%matrix, %empty) {axis=0}"},
      {"dims", "%y = concatenation(%matrix, %row) {axis=0}"},
      {"indices", "%y = gather(%matrix, %matrix) {axis=0}"},
      {"axis", "%y = gather(%matrix, %integers) {axis=2}"},
      {"element", "%y = gather(%row, %integers) {axis=0, mode=\"element\"}"},
      {"element", "%y = gather(%empty, %integers) {axis=0, mode=\"element\"}"},
      // sources
      {"dims", "%y = fill() {op=\"constant\", dims=[-2], dtype=float32}"},
      {"arange", "%y = fill() {op=\"arange\", dims=[2, 2], dtype=float32}"},
      {"arange", "%y = fill() {op=\"arange\", dims=[2], dtype=bool}"},
  };
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Verifier, KindRules, testing::ValuesIn(brokenRules()));

TEST(Verifier, HasACaseForEveryRule) {
  std::set<std::string> covered = {"constant weights", "plugin_v2 dtypes",
                                   "plugin_v2 shapes"};  // in tests of their own
  for (const BrokenRule& broken : brokenRules()) {
    const std::string layer = broken.layer;
    const size_t kind = layer.find("= ") + 2;
    covered.insert(layer.substr(kind, layer.find('(') - kind) + " " + broken.rule);
    covered.insert(broken.rule);
  }
  for (const LayerInfo& info : layerTable()) {
    for (const Rule& rule : rulesOf(info.type)) {
      EXPECT_EQ(covered.count(std::string(info.name) + " " + rule.name), 1u) << info.name << " " << rule.name;
    }
  }
  for (const Rule& rule : commonRules()) {
    EXPECT_EQ(covered.count(rule.name), 1u) << rule.name;
  }
}

TEST(Verifier, NamesLayerRuleLocationAndRemedy) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {2, 3});
  network.setCurrentLocation({"model.py", 7, 3, "forward", "head"});
  Layer* softmax = network.addSoftMax(*input, 2);
  softmax->setName("probabilities");
  network.markOutput(*softmax->getOutput(0));
  try {
    verify(network);
    FAIL() << "no error";
  } catch (const CompileError& error) {
    EXPECT_STREQ(error.what(),
                 "[C008] layer \"probabilities\" (softmax) breaks rule \"axis\": expected an axis of operand 0 "
                 "float32[2, 3], got "
                 "axis 2 (at model.py:7:3 (head))\n  the rule: the axis is one of the input's");
  }
}

TEST(Verifier, WantsDataInConstants) {
  Network network;
  Layer* constant = network.addConstant(Weights{DType::kFloat32, {2}, nullptr});
  network.markOutput(*constant->getOutput(0));
  expectBroken("weights", [&] { verify(network); });
  Network without;
  without.markOutput(*without.addLayer(LayerType::kCONSTANT, {})->getOutput(0));
  expectBroken("weights", [&] { verify(without); });
}

}  // namespace
}  // namespace torchtrt::network
