#include "fuzz/torch_targets/module_changes.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <random>

#include "base/hash.h"
#include "runtime/archive.h"
#include "runtime/base64.h"
#include "support/plan_bytes.h"

namespace torchtrt::fuzz {
namespace {

using runtime::Records;

// Opcodes of pickles and words of code, to be put where something else stood.
constexpr std::string_view kPieces[] = {{"\x80\x02", 2},
                                        ".",
                                        "(",
                                        ")",
                                        "]",
                                        "}",
                                        "t",
                                        "l",
                                        "e",
                                        "a",
                                        "s",
                                        "u",
                                        "N",
                                        "0",
                                        "R",
                                        "Q",
                                        "\x81",
                                        "\x85",
                                        "\x86",
                                        "\x87",
                                        "b",
                                        "\x88",
                                        "\x89",
                                        {"h\0", 2},
                                        {"K\0", 2},
                                        "K\xff",
                                        "M\xff\xff",
                                        "J\xff\xff\xff\xff",
                                        "J\xff\xff\xff\x7f",
                                        {"J\0\0\0\x80", 5},
                                        {"X\0\0\0\0", 5},
                                        "X\xff\xff\xff\x7f",
                                        "ctorch._utils\n_rebuild_tensor_v2\n",
                                        "ctorch\nFloatStorage\n",
                                        "ctorch\nQUInt8Storage\n",
                                        "ctorch.jit._pickle\nrestore_type_tag\n",
                                        "ctorch.jit._pickle\nbuild_intlist\n",
                                        "c__torch__\nNet\n",
                                        "c__torch__.torch.classes.tensorrt\nEngine\n",
                                        "storage",
                                        "cpu",
                                        "cuda:0",
                                        "meta",
                                        "Tensor",
                                        "List[",
                                        "Dict[str, ",
                                        "Optional[",
                                        "__torch__.Net",
                                        "self",
                                        "return ",
                                        "def ",
                                        "class ",
                                        "-1",
                                        "9223372036854775807",
                                        "1e400",
                                        "\"",
                                        "\\",
                                        "\n  ",
                                        "# ",
                                        "annotate(",
                                        "ops.tensorrt.execute_engine("};

constexpr std::string_view kPlanStart = "VFRSVFBMQU";  // base64 of a plan's first bytes
constexpr std::string_view kArchiveStart = ":UEsD";    // of an archive's, behind its hash
constexpr size_t kHashDigits = 32;
constexpr size_t kTextHeader = 5;  // opcode X, then the length

class Changes {
 public:
  explicit Changes(uint64_t seed) : random_(seed) {}

  void change(Records& records) {
    std::string& content = chosen(records);
    switch (below(8)) {
      case 0:
        records.erase(records.begin() + static_cast<ptrdiff_t>(below(records.size())));
        break;
      case 1:
        content = records[below(records.size())].second;
        break;
      case 2:
        changePlan(content);
        break;
      case 3:
        changeSegment(content);
        break;
      case 4:
        content.resize(below(content.size() + 1));
        break;
      default:
        changeBytes(content);
    }
  }

 private:
  size_t below(size_t bound) {
    return bound == 0 ? 0 : static_cast<size_t>(random_() % bound);
  }

  // Pickles and code, mostly: the others are tensors' numbers.
  std::string& chosen(Records& records) {
    for (int i = 0; i < 8; ++i) {
      auto& [name, content] = records[below(records.size())];
      if (name.ends_with("pkl") || name.ends_with(".py")) {
        return content;
      }
    }
    return records[below(records.size())].second;
  }

  void changeBytes(std::string& content) {
    const size_t times = 1 + below(3);
    for (size_t i = 0; i < times; ++i) {
      const size_t at = below(content.size() + 1);
      const size_t length = std::min(below(16), content.size() - at);
      if (at == content.size() || below(4) == 0) {
        content.insert(at, kPieces[below(std::size(kPieces))]);
      } else if (below(3) == 0) {
        content.replace(at, length, content.substr(below(content.size()), below(32)));
      } else if (below(2) == 0) {
        content.replace(at, std::max<size_t>(length, 1), kPieces[below(std::size(kPieces))]);
      } else {
        content[at] = below(2) == 0 ? static_cast<char>(content[at] ^ (1 << below(8))) : static_cast<char>(random_());
      }
    }
  }

  // Replaces a pickled text that begins at `begin`, with its length.
  void replaceText(std::string& content, size_t begin, const std::string& text) {
    uint32_t length = 0;
    std::memcpy(&length, content.data() + begin - sizeof length, sizeof length);
    if (length > content.size() - begin) {
      return;
    }
    content.replace(begin, length, text);
    length = static_cast<uint32_t>(text.size());
    std::memcpy(content.data() + begin - sizeof length, &length, sizeof length);
  }

  // Returns the text at `begin`; nothing where no text has its length in front.
  static std::optional<std::string_view> textAt(std::string_view content, size_t begin) {
    if (begin < kTextHeader || content[begin - kTextHeader] != 'X') {
      return std::nullopt;
    }
    uint32_t length = 0;
    std::memcpy(&length, content.data() + begin - sizeof length, sizeof length);
    return length <= content.size() - begin ? std::optional(content.substr(begin, length)) : std::nullopt;
  }

  // Returns the place of one of the texts in which `mark` stands behind `skipped` bytes.
  size_t placeOf(std::string_view content, std::string_view mark, size_t skipped) {
    std::vector<size_t> places;
    for (size_t at = content.find(mark); at != std::string_view::npos; at = content.find(mark, at + 1)) {
      if (at >= skipped && textAt(content, at - skipped)) {
        places.push_back(at - skipped);
      }
    }
    return places.empty() ? std::string_view::npos : places[below(places.size())];
  }

  void changePlan(std::string& content) {
    const size_t begin = placeOf(content, kPlanStart, 0);
    const auto bytes = begin == std::string::npos ? std::nullopt : runtime::decodeBase64(*textAt(content, begin));
    if (!bytes) {
      changeBytes(content);
      return;
    }
    std::string plan = below(2) == 0 ? testing::changedPlanBytes(*bytes, random_()) : "";
    if (plan.empty()) {
      plan = *bytes;
      changeBytes(plan);
      testing::mendPlanBytes(plan);
    }
    replaceText(content, begin, runtime::encodeBase64(plan));
  }

  void changeSegment(std::string& content) {
    const size_t begin = placeOf(content, kArchiveStart, kHashDigits);
    const auto bytes = begin == std::string::npos
                           ? std::nullopt
                           : runtime::decodeBase64(textAt(content, begin)->substr(kHashDigits + 1));
    const std::string segment = bytes ? changedModule(*bytes, random_()) : "";
    if (segment.empty()) {
      changeBytes(content);
      return;
    }
    replaceText(content, begin, hashText(segment) + ":" + runtime::encodeBase64(segment));
  }

  std::mt19937_64 random_;
};

// A record's header, as far as it says where the next parts are.
struct Header {
  static constexpr std::string_view kMark = "PK\x03\x04";
  static constexpr size_t kBytes = 30;
  static constexpr size_t kNameLength = 26;
  static constexpr size_t kExtraLength = 28;

  static size_t numberAt(std::string_view bytes, size_t at) {
    return static_cast<unsigned char>(bytes[at]) + 256U * static_cast<unsigned char>(bytes[at + 1]);
  }
};

// Returns the records as their headers lie in the bytes: none of the lengths and checksums that changes make wrong is
// asked.
Records foundRecords(std::string_view bytes) {
  constexpr std::string_view kEnds[] = {Header::kMark, "PK\x01\x02", "PK\x07\x08"};
  Records records;
  size_t at = bytes.find(Header::kMark);
  while (at != std::string_view::npos && bytes.size() - at >= Header::kBytes) {
    const size_t name = at + Header::kBytes;
    const size_t name_length = Header::numberAt(bytes, at + Header::kNameLength);
    const size_t content = name + name_length + Header::numberAt(bytes, at + Header::kExtraLength);
    if (content > bytes.size()) {
      break;
    }
    size_t end = bytes.size();
    for (const std::string_view mark : kEnds) {
      end = std::min(end, bytes.find(mark, content));
    }
    const std::string_view path = bytes.substr(name, name_length);
    const size_t slash = path.find('/');
    records.emplace_back(path.substr(slash == std::string_view::npos ? 0 : slash + 1),
                         bytes.substr(content, end - content));
    at = bytes.find(Header::kMark, content);
  }
  return records;
}

bool isOfWriter(const Records::value_type& record) {
  return record.first == "version" || record.first == "byteorder" || record.first.starts_with(".data/");
}

}  // namespace

std::string changedModule(std::string_view archive, uint64_t seed) {
  try {
    Records records = runtime::recordsOf(std::string(archive));
    if (records.empty()) {
      return "";
    }
    Changes(seed).change(records);
    return runtime::archiveOf(records);
  } catch (const std::exception&) {  // libtorch's of several kinds
    return "";
  }
}

void mendModule(std::string& bytes) {
  Records records = foundRecords(bytes);
  std::erase_if(records, isOfWriter);
  if (records.empty()) {
    return;
  }
  try {
    bytes = runtime::archiveOf(records);
  } catch (const std::exception&) {  // two records of one name, or none
    return;
  }
}

}  // namespace torchtrt::fuzz
