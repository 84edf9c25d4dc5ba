#include <algorithm>
#include <array>

#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

struct Mirror {
  const char* op;
  const char* mirrored;  // op(a, b) == mirrored(b, a)
};
constexpr std::array<Mirror, 16> kMirrors = {{{"sum", "sum"},
                                              {"prod", "prod"},
                                              {"max", "max"},
                                              {"min", "min"},
                                              {"and", "and"},
                                              {"or", "or"},
                                              {"xor", "xor"},
                                              {"bitwise_and", "bitwise_and"},
                                              {"bitwise_or", "bitwise_or"},
                                              {"bitwise_xor", "bitwise_xor"},
                                              {"equal", "equal"},
                                              {"not_equal", "not_equal"},
                                              {"less", "greater"},
                                              {"greater", "less"},
                                              {"less_equal", "greater_equal"},
                                              {"greater_equal", "less_equal"}}};

const char* mirrorOf(const std::string& op) {
  const auto found =
      std::find_if(kMirrors.begin(), kMirrors.end(), [&](const Mirror& mirror) { return op == mirror.op; });
  return found == kMirrors.end() ? nullptr : found->mirrored;
}

class MoveConstantRight : public PatternRewriter {
 public:
  MoveConstantRight() : PatternRewriter("move_constant_right", {LayerType::kELEMENTWISE}) {}

  bool match(const Layer& layer) const override {
    return layer.getInput(0)->constant() && !layer.getInput(1)->constant() &&
           mirrorOf(layer.attributes().getString("op"));
  }

  void rewrite(Layer& layer, Rewriter& rewriter) override {
    Attributes attributes = layer.attributes();
    attributes.set("op", std::string(mirrorOf(attributes.getString("op"))));
    Layer& swapped = rewriter.create(layer.getType(), {layer.getInput(1), layer.getInput(0)}, attributes);
    rewriter.replaceLayer(layer, {swapped.getOutput(0)});
  }
};

}  // namespace

PassPtr createMoveConstantsRight(const Options&) {
  auto pass = std::make_unique<PatternPass>("move_constants_right");
  pass->add<MoveConstantRight>();
  return pass;
}

}  // namespace torchtrt::optimization
