#include "support/text_mutation.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <random>
#include <string_view>

#include "support/random_network.h"
#include "torchtrt/error.h"
#include "torchtrt/plugin.h"

namespace torchtrt::test {
namespace {

// A layer of every plugin that comes with torchtrt, and notation that random networks do not have.
constexpr const char* kWritten[] = {
    R"(network "counted" (n in [1, 2, 4]) {
  input %x : float32[n, 3]
  input %v : float32[8]
  input %mask : bool[n]
  %places, %found = plugin_v2(%x) {by_axis=false, counted=[0], namespace="torchtrt", type="NonZero", version="1"} : int64[3*n, 2], int64[]
  %rows, %columns, %number = plugin_v2(%x) {by_axis=true, counted=[0, 1], namespace="torchtrt", type="NonZero", version="1"}
  %kept, %left = plugin_v2(%x, %mask) {counted=[0], namespace="torchtrt", type="MaskedRows", version="1"}
  %values, %inverse, %counts, %unique = plugin_v2(%v) {consecutive=false, counted=[0, 2], namespace="torchtrt", type="Unique", version="1"}
  output "places" %places
  output "found" %found
  output "rows" %rows
  output "kept" %kept
  output "values" %values
}
)",
    R"(network "regions" () {
  input %image : float32[1, 4, 6, 6]
  input %boxes : float32[5, 4]
  input %scores : float32[5]
  input %regions : float32[5, 5]
  input %offset : float32[1, 18, 4, 4]
  %order, %count = plugin_v2(%boxes, %scores) {counted=[0], iou_threshold=0.5, namespace="torchtrt", type="Suppression", version="1"}
  %pooled = plugin_v2(%image, %regions) {aligned=true, columns=2, namespace="torchtrt", op="align", rows=2, sampling_ratio=2, spatial_scale=1.0, type="PoolRegions", version="1"} : float32[5, 4, 2, 2]
  %columns = plugin_v2(%image, %offset) {dilation=[1, 1], kernel=[3, 3], namespace="torchtrt", offset_groups=1, padding=[0, 0], stride=[1, 1], type="DeformedColumns", version="1"}
  %small = plugin_v2(%image) {align_corners=false, mode="linear", namespace="torchtrt", scales=doubles[0.0, 0.0], size=[3, 3], type="AntialiasedResize", version="1"}
  output "order" %order
  output "pooled" %pooled
  output "columns" %columns
  output "small" %small
}
)",
    R"(network "attention" (n in [1, 2, 4]) {
  input %q : float32[n, 2, 4, 8]
  input %qkv : float32[n, 4, 24]
  input %bounds : float32[7]
  input %half : float16[2, 3]
  %attended = plugin_v2(%q, %q, %q) {namespace="torchtrt", scale=0.125, transpose_k=true, type="Attention", version="1"} : float32[n, 2, 4, 8]
  %heads = plugin_v2(%qkv, %qkv, %qkv) {head_size=4, heads=2, k_channel=8, namespace="torchtrt", q_channel=0, safe=true, scale=0.5, sequence_first=false, transpose_k=true, type="Attention", v_channel=16, value_size=4, version="1"}
  %gpt = plugin_v2(%qkv) {head_size=4, namespace="tensorrt_llm", num_heads=2, num_kv_heads=2, operands="qkv", q_scaling=1.0, rotary_embedding_dim=4, type="GPTAttention", version="1"}
  %found = plugin_v2(%bounds, %q) {int32=false, namespace="torchtrt", right=true, type="Search", version="1"}
  %wide = cast(%half) {to=float32} : float32[2, 3] order=[1, 0] name="cast of \"half\""  # model.py:3:7 (block.0)
  %nothing = constant() {} : int64[0] data=[]
  %odd = constant() {} : bfloat16[4] data=[0x7fc1, nan, -inf, 1.5]
  output "attended" %attended
  output "heads" %heads
  output "gpt" %gpt
  output "found" %found
  output "wide" %wide
}
)",
};

// Words of texts, to be put where something else stood.
constexpr const char* kWords[] = {"0",
                                  "1",
                                  "-1",
                                  "7",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "4294967296",
                                  "1.5",
                                  "-0.0",
                                  "1e308",
                                  "nan",
                                  "inf",
                                  "true",
                                  "false",
                                  "null",
                                  "float32",
                                  "float64",
                                  "float16",
                                  "bfloat16",
                                  "int8",
                                  "int32",
                                  "int64",
                                  "uint8",
                                  "bool",
                                  "n",
                                  "2*n",
                                  "n//2",
                                  "max(n,3)",
                                  "(n",
                                  "unknown",
                                  "\"\"",
                                  "\"relu\"",
                                  "\"max\"",
                                  "\"sum\"",
                                  "\"none\"",
                                  "\"torchtrt\"",
                                  "[]",
                                  "[0]",
                                  "[0, 1]",
                                  "[-1]",
                                  "[1, 1, 1]",
                                  "ints[1]",
                                  "doubles[]",
                                  "doubles[0.5, nan]",
                                  "dims[n, 3]",
                                  "%x",
                                  "%image",
                                  "input",
                                  "output",
                                  "{",
                                  "}",
                                  "(",
                                  ")",
                                  ",",
                                  "=",
                                  ":",
                                  "#",
                                  "\"",
                                  "\\",
                                  "data=@0"};

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '%' || c == '"';
}

// One text, damaged several times.
class Damage {
 public:
  Damage(std::string text, uint64_t seed) : text_(std::move(text)), random_(seed) {}

  // Mostly single values, since text that is broken in more ways is refused by its notation alone.
  void once(const std::string& other) {
    if (text_.empty()) {
      text_ = other;
      return;
    }
    switch (below(16)) {
      case 0:
        text_[below(text_.size())] = static_cast<char>(random_());
        break;
      case 1:
        text_.resize(below(text_.size()));
        break;
      case 2:
        repeatLine(text_);
        break;
      case 3:
        repeatLine(other);
        break;
      case 4:
        dropLine();
        break;
      case 5:
        dropAttribute();
        break;
      case 6:
      case 7:
        replaceWord(wordOf(other));
        break;
      case 8:
        replaceWord(wordOf(text_));
        break;
      case 9:
      case 10:
      case 11:
        replaceAttribute();
        break;
      default:
        replaceWord(kWords[below(std::size(kWords))]);
    }
  }

  std::string take() {
    return std::move(text_);
  }

 private:
  size_t below(size_t count) {
    return static_cast<size_t>(random_() % count);
  }

  // Begin and length of a word at a random place, which may be empty.
  std::pair<size_t, size_t> wordAt(const std::string& text) {
    size_t begin = below(text.size());
    size_t end = begin;
    while (begin > 0 && isWordCharacter(text[begin - 1])) {
      --begin;
    }
    while (end < text.size() && isWordCharacter(text[end])) {
      ++end;
    }
    return {begin, end - begin};
  }

  std::string wordOf(const std::string& text) {
    const auto [begin, length] = wordAt(text);
    return text.substr(begin, length);
  }

  void replaceWord(const std::string& by) {
    const auto [begin, length] = wordAt(text_);
    text_.replace(begin, length, by);
  }

  std::pair<size_t, size_t> lineAt(const std::string& text) {
    const size_t at = below(text.size());
    const size_t before = text.rfind('\n', at);
    const size_t begin = before == std::string::npos || before == at ? at : before + 1;
    const size_t end = std::min(text.find('\n', begin), text.size());
    return {begin, end - begin};
  }

  void repeatLine(const std::string& from) {
    const auto [begin, length] = lineAt(from);
    const std::string line = from.substr(begin, length) + "\n";
    text_.insert(lineAt(text_).first, line);
  }

  void dropLine() {
    const auto [begin, length] = lineAt(text_);
    text_.erase(begin, length);
  }

  // Begin and length of "name=value" at a random place, up to the comma or bracket behind it; else length 0.
  std::pair<size_t, size_t> attributeAt() {
    const size_t equals = text_.find('=', below(text_.size()));
    if (equals == std::string::npos) {
      return {0, 0};
    }
    size_t begin = equals;
    while (begin > 0 && isWordCharacter(text_[begin - 1])) {
      --begin;
    }
    size_t end = equals;
    int depth = 0;
    for (; end < text_.size() && text_[end] != '\n'; ++end) {
      depth += text_[end] == '[' ? 1 : (text_[end] == ']' ? -1 : 0);
      if (depth <= 0 && (text_[end] == ',' || text_[end] == '}')) {
        break;
      }
    }
    return {begin, end - begin};
  }

  void dropAttribute() {
    const auto [begin, length] = attributeAt();
    const bool is_followed = begin + length < text_.size() && text_[begin + length] == ',';
    text_.erase(begin, length + (is_followed ? 2 : 0));
  }

  void replaceAttribute() {
    const auto [begin, length] = attributeAt();
    if (length != 0) {
      const size_t equals = text_.find('=', begin);
      text_.replace(equals + 1, begin + length - equals - 1, kWords[below(std::size(kWords))]);
    }
  }

  std::string text_;
  std::mt19937_64 random_;
};

// The text without the types of layers, which then follow from what is damaged in front of them.
std::string withoutTypes(const std::string& text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const size_t types = line.find("} : ");
    if (types != std::string::npos && line.find("= constant(") == std::string::npos) {
      line.resize(types + 1);
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

}  // namespace

TextFuzzer::TextFuzzer(Use use) : texts_(std::begin(kWritten), std::end(kWritten)), use_(std::move(use)) {
  plugin::registerBuiltinPlugins();
  network::PrintOptions options;
  options.locations = true;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto network = randomNetwork(seed, {.layers = 5});
    texts_.push_back(print(*network, options));
    weights_.merge(collectWeights(*network));
  }
}

std::string TextFuzzer::mutated(uint64_t seed) const {
  std::mt19937_64 random(seed);
  const size_t written = random() % 4 == 0 ? random() % std::size(kWritten) : random() % texts_.size();
  const bool is_typed = random() % 4 == 0;
  return damaged(is_typed ? texts_[written] : withoutTypes(texts_[written]), random());
}

std::string TextFuzzer::damaged(const std::string& text, uint64_t seed) const {
  std::mt19937_64 random(seed);
  Damage damage(text, random());
  const uint64_t times = random() % 4 == 0 ? 1 + random() % 3 : 1;
  for (uint64_t i = 0; i < times; ++i) {
    damage.once(texts_[random() % texts_.size()]);
  }
  return damage.take();
}

std::string TextFuzzer::tryOne(uint64_t seed) {
  return tryText(mutated(seed));
}

std::string TextFuzzer::tryText(const std::string& text) {
  std::string problem;
  try {
    problem = read(text);
  } catch (const std::exception& error) {
    problem = std::string("expected a CompileError, got: ") + error.what();
  }
  return problem.empty() ? "" : problem + "\nfrom the text\n" + text;
}

std::string TextFuzzer::read(const std::string& text) {
  std::unique_ptr<network::Network> network;
  try {
    network = network::parse(text, weights_);
  } catch (const CompileError& error) {
    ++refused_;
    const bool has_place = error.location().line > 0 && error.location().column > 0;
    return has_place ? "" : std::string("an error without line and column: ") + error.what();
  }
  try {
    verify(*network);
  } catch (const CompileError&) {
    ++refused_;
    return "";
  }
  ++networks_;
  network::PrintOptions options;
  options.locations = options.memory_orders = true;
  const std::string printed = print(*network, options);
  if (print(*network::parse(printed, weights_), options) != printed) {
    return "printed text reads back to another network:\n" + printed;
  }
  if (use_) {
    use_(*network);
  }
  return "";
}

}  // namespace torchtrt::test
