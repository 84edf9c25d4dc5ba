// The page: its parts, names that look like HTML, and modules that have nothing to show.
#include "torchtrt/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/reports/page/html.h"

namespace torchtrt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using torch::jit::Module;

constexpr const char* kHostile = "</script><script>alert('\"&')</script>";

Module twoOperators() {
  Module net("Net");
  net.register_attribute("training", c10::BoolType::get(), false);
  net.define("def forward(self, x):\n  return torch.relu(torch.neg(x))\n");
  return net;
}

// The content of one part of the page's data.
std::string dataPart(const std::string& html, const std::string& name) {
  const std::string mark = "id=\"data-" + name + "\">";
  const size_t start = html.find(mark) + mark.size();
  return html.substr(start, html.find("</script>", start) - start);
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Html, TextsCannotLeaveTheirElement) {
  EXPECT_EQ(escapedHtml("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escapedHtml("plain \xC3\xA4"), "plain \xC3\xA4");
}

TEST(Html, JsonStaysTheSameJson) {
  EXPECT_EQ(escapedJson(R"({"a": "<!--</script>&"})"), R"({"a": "\u003c!--\u003c/script\u003e\u0026"})");
  EXPECT_EQ(escapedJson("\"\xE2\x80\xA8 \xE2\x80\xA9 \xE2\x80\xAA\""), "\"\\u2028 \\u2029 \xE2\x80\xAA\"");
  EXPECT_EQ(escapedJson("\"\xE2\x80"), "\"\xE2\x80");
}

TEST(Page, HasAllPartsAndNoNetwork) {
  Report report;
  ts::CompileSpec spec(std::vector<Input>{Input(std::vector<int64_t>{2, 4})});
  spec.min_block_size = 1;
  const Module compiled = ts::compile(twoOperators(), spec, &report);
  Profile profile;
  profile.milliseconds = 1.5;
  Verification verification;
  PageOptions options;
  options.report = &report;
  options.profile = &profile;
  options.verification = &verification;
  const std::string html = page(compiled, options);
  EXPECT_THAT(html,
              AllOf(HasSubstr("default-src 'none'"), HasSubstr("MIT"), Not(HasSubstr("{{")), Not(HasSubstr(" src="))));
  EXPECT_EQ(dataPart(html, "report"), escapedJson(report.toJson()));
  EXPECT_EQ(dataPart(html, "profile"), escapedJson(profile.toJson()));
  EXPECT_EQ(dataPart(html, "verification"), escapedJson(verification.toJson()));
  EXPECT_THAT(dataPart(html, "engines"),
              AllOf(HasSubstr("\"steps\": [{"), HasSubstr("\"actions\": [{"), HasSubstr("\"device\": \"cpu\"")));
  EXPECT_THAT(page(compiled), AllOf(HasSubstr("data-profile\">null<"), HasSubstr("data-verification\">null<")));
  EXPECT_EQ(page(compiled), page(compiled));
}

TEST(Page, AModuleWithoutEnginesHasNoReport) {
  const std::string html = page(twoOperators());
  EXPECT_EQ(dataPart(html, "report"), "null");
  EXPECT_EQ(dataPart(html, "engines"), "[]");
}

TEST(Page, NamesWithHtmlAreEscapedEverywhere) {
  Report report;
  report.module = kHostile;
  report.nodes = {{kHostile, "torch", kHostile, kHostile}};
  Report::Segment& segment = report.segments.emplace_back();
  segment.name = kHostile;
  segment.nodes = {kHostile};
  report.source_lines["net.py:1"] = kHostile;
  const std::string plain = page(twoOperators());
  PageOptions options;
  options.report = &report;
  const std::string html = page(twoOperators(), options);
  EXPECT_EQ(occurrences(html, "<script"), occurrences(plain, "<script"));
  EXPECT_EQ(occurrences(html, "</script"), occurrences(plain, "</script"));
  EXPECT_THAT(html, AllOf(Not(HasSubstr(kHostile)), HasSubstr("<title>&lt;/script&gt;")));
}

TEST(Page, ARecordThatIsNoTextIsNone) {
  Module net = twoOperators();
  net.register_attribute("torchtrt_report_json", c10::IntType::get(), 3);
  EXPECT_EQ(dataPart(page(net), "report"), "null");
}

}  // namespace
}  // namespace torchtrt
