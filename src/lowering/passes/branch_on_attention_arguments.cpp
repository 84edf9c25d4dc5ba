#include <torch/csrc/jit/ir/constants.h>

#include <map>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"
#include "lowering/script_replacement.h"

// Masks are optional arguments as a rule, and scripted modules find out in every call whether there is one. Converters
// need to know it.

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kAttention = R"(
def attention(query, key, value, mask: Optional[Tensor], dropout: float, is_causal: bool, scale: Optional[float],
              enable_gqa: bool):
  if mask is None:
    if is_causal:
      y = torch.scaled_dot_product_attention(query, key, value, None, dropout, True, scale=scale,
                                             enable_gqa=enable_gqa)
    else:
      y = torch.scaled_dot_product_attention(query, key, value, None, dropout, False, scale=scale,
                                             enable_gqa=enable_gqa)
  else:
    if is_causal:
      y = torch.scaled_dot_product_attention(query, key, value, mask, dropout, True, scale=scale,
                                             enable_gqa=enable_gqa)
    else:
      y = torch.scaled_dot_product_attention(query, key, value, mask, dropout, False, scale=scale,
                                             enable_gqa=enable_gqa)
  return y
)";

// The kinds of mask that the fused operators know have shapes of their own, so with one they stay as they are. They
// take nested tensors too.
constexpr const char* kHeads = R"(
def heads(query, key, value, embed_dim: int, num_head: int, qkv_weight, qkv_bias, proj_weight, proj_bias,
          mask: Optional[Tensor], need_weights: bool, average_attn_weights: bool, mask_type: Optional[int]):
  if mask is not None or query.is_nested:
    y, weights = torch._native_multi_head_attention(
        query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, need_weights,
        average_attn_weights, mask_type)
  else:
    y, weights = torch._native_multi_head_attention(
        query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, None, need_weights,
        average_attn_weights, None)
  return y, weights
)";

constexpr const char* kLayer = R"(
def layer(src, embed_dim: int, num_heads: int, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu: bool,
          norm_first: bool, eps: float, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2,
          ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask: Optional[Tensor], mask_type: Optional[int]):
  if mask is not None or src.is_nested:
    y = torch._transformer_encoder_layer_fwd(
        src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
        norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2,
        mask, mask_type)
  else:
    y = torch._transformer_encoder_layer_fwd(
        src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
        norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2,
        None, None)
  return y
)";

bool isKnown(const Value* value) {
  return torch::jit::toIValue(value).has_value();
}

bool mayBeNone(const Value* mask) {
  return mask->type()->kind() == c10::TypeKind::OptionalType && !isKnown(mask);
}

struct Branches {
  ScriptReplacement replacement;
  bool (*depend_on_run)(const Node& node);
};

const std::map<std::string, Branches>& branches() {
  static const std::map<std::string, Branches> all = {
      {"aten::scaled_dot_product_attention",
       {ScriptReplacement(kAttention),
        [](const Node& node) { return mayBeNone(node.input(3)) || !isKnown(node.input(5)); }}},
      // Without weights its second result is an undefined tensor, which engines do not give.
      {"aten::_native_multi_head_attention",
       {ScriptReplacement(kHeads),
        [](const Node& node) {
          return mayBeNone(node.input(9)) && torch::jit::constant_as<bool>(node.input(10)) == true;
        }}},
      {"aten::_transformer_encoder_layer_fwd",
       {ScriptReplacement(kLayer), [](const Node& node) { return mayBeNone(node.input(18)); }}}};
  return all;
}

}  // namespace

bool branchOnAttentionArguments(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    const auto found = branches().find(node->kind().toQualString());
    if (found != branches().end() && found->second.depend_on_run(*node)) {
      found->second.replacement.replace(node);
      changed = true;
    }
  });
  return changed;
}

}  // namespace torchtrt::lowering
