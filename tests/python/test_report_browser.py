"""The page of a report in a real browser: it loads, searches, filters, opens and closes, and asks the network for nothing."""

import json
import shutil

import pytest
import torch
from playwright import sync_api
from torch import nn

import torchtrt
from nets import Mixed


class Deep(nn.Module):
    """Layers with module paths, enough for groups."""

    def __init__(self, depth: int = 4):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.ReLU()) for _ in range(depth)))
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        return self.head(self.layers(x).flatten(1))


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens a file; at the end the page must have said nothing on the console and asked for nothing."""
    said, contexts = [], []

    def open_page(path, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(f"file://{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser")
    torch.manual_seed(0)
    mixed = torch.jit.script(Mixed().eval())
    compiled = torchtrt.compile(mixed, inputs=[torchtrt.Input([64, 32])], min_block_size=1)
    x = torch.randn(64, 32)
    torchtrt.report(compiled).to_html(path / "mixed.html", torchtrt.profile(compiled, [x], calls=1), torchtrt.verify(mixed, compiled, [x], calls=1))
    compiled = torchtrt.compile(torch.jit.script(Deep().eval()), inputs=[torchtrt.Input([1, 4, 4, 4])])
    torchtrt.report(compiled).to_html(path / "deep.html")
    record = json.loads(compiled.torchtrt_report_json)
    record["nodes"] = [{"node": f"aten::relu # net.py:{i}:8 (layer{i % 97}.{i})", "target": "torch" if i % 5 else "engine", "code": f"code{i % 3}",
                        "reason": f"reason {i}"} for i in range(2000)]
    record["segments"].append({**record["segments"][0], "index": "1", "name": "", "target": "torch", "steps": [], "memory_bytes": 0,
                               "nodes": [node["node"] for node in record["nodes"]], "reasons": ["a reason"]})
    compiled._c.setattr("torchtrt_report_json", json.dumps(record))
    compiled.save(str(path / "large.ts"))
    torchtrt.report(torch.jit.load(str(path / "large.ts"))).to_html(path / "large.html")
    other = {"module": record["module"], "nodes": record["nodes"][:3], "later": {"a": 1},
             "segments": [{"index": "0", "name": "", "target": "torch", "later": 1}]}
    compiled._c.setattr("torchtrt_report_json", json.dumps(other))
    compiled.save(str(path / "other_release.ts"))
    torchtrt.report(torch.jit.load(str(path / "other_release.ts"))).to_html(path / "other_release.html")
    hostile = "</script><img src=x onerror=alert(1)><b>bold</b>"
    record["module"] = record["nodes"][0]["reason"] = record["segments"][1]["reasons"][0] = hostile
    record["nodes"][0] = {"node": hostile, "target": "torch", "code": hostile, "reason": hostile}
    compiled._c.setattr("torchtrt_report_json", json.dumps(record))
    compiled.save(str(path / "hostile.ts"))
    torchtrt.report(torch.jit.load(str(path / "hostile.ts"))).to_html(path / "hostile.html")
    return path


def tab(page, name: str):
    page.get_by_role("tab", name=name).click()


def test_every_part_is_drawn(folder, visit):
    page = visit(folder / "mixed.html")
    assert "Mixed" in page.locator("h1").inner_text()
    assert "In engines" in page.locator("main").inner_text()
    for name, shows in [("Nodes", "aten::linalg_inv"), ("Graph", "Nothing is selected"), ("Profile", "Roofline"), ("Memory", "Workspace"),
                        ("Precision", "float32"), ("Verify", "the outputs agree")]:
        tab(page, name)
        assert shows in page.locator("main").inner_text(), name
    assert page.locator("#panel").get_attribute("role") == "tabpanel"


def test_memory_begins_with_the_engine_of_the_largest_workspace(folder, visit):
    page = visit(folder / "mixed.html")
    tab(page, "Memory")
    engine = page.get_by_label("Engine")
    shown = engine.input_value()
    units = {"B": 1, "kB": 1e3, "MB": 1e6}
    sizes = {}
    for index in range(engine.locator("option").count()):
        engine.select_option(str(index))
        number, unit = page.locator("#panel .card", has_text="Workspace").first.locator(".value").inner_text().split()
        sizes[str(index)] = float(number) * units[unit]
    assert len(set(sizes.values())) > 1 and sizes[shown] == max(sizes.values())


def test_a_record_of_another_release_is_drawn_as_far_as_it_goes(folder, visit):
    page = visit(folder / "other_release.html")
    assert "of 3 nodes" in page.locator("main").inner_text()
    for name, shows in [("Nodes", "3 of 3 nodes"), ("Graph", "Nothing is selected"), ("Memory", "Workspace"), ("Precision", "float32")]:
        tab(page, name)
        assert shows in page.locator("main").inner_text(), name


def test_parts_without_data_name_the_option(folder, visit):
    page = visit(folder / "deep.html")
    for name, option in [("Profile", "--profile"), ("Verify", "--verify")]:
        tab(page, name)
        assert option in page.locator("main").inner_text()


def test_search_and_filters(folder, visit):
    page = visit(folder / "large.html")
    tab(page, "Nodes")
    assert "2,000 of 2,000 nodes" in page.locator(".toolbar").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("layer7 reason")
    page.wait_for_function("document.getElementById('found').textContent.startsWith('2')")
    assert page.locator("#found").inner_text().endswith("of 2,000 nodes")
    assert all("layer7" in row for row in page.locator("tbody tr").all_inner_texts())
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == "" and "2,000 of 2,000" in page.locator(".toolbar").inner_text()
    page.get_by_label("Runs in", exact=True).select_option("engine")
    assert "400 of 2,000 nodes" in page.locator(".toolbar").inner_text()
    page.get_by_label("Reason", exact=True).select_option("code1")
    assert "133 of 2,000 nodes" in page.locator(".toolbar").inner_text()


def test_tables_sort(folder, visit):
    page = visit(folder / "large.html")
    tab(page, "Nodes")
    page.get_by_role("button", name="#").click()
    assert page.locator("tbody tr td").first.inner_text() == "2000"
    assert page.locator("th").first.get_attribute("aria-sort") == "descending"


def test_graph_with_the_keyboard(folder, visit):
    page = visit(folder / "deep.html")
    tab(page, "Graph")
    graph = page.locator("canvas.graph")
    graph.focus()
    page.keyboard.press("ArrowDown")
    details = page.locator(".details")
    assert "0 Engine" in details.inner_text() and "runs in" in details.inner_text()
    page.keyboard.press("ArrowRight")  # into the engine, which is open
    page.keyboard.press("ArrowDown")
    status = page.locator("main [role=status]").last
    inside = status.inner_text()
    page.keyboard.press("Escape")
    assert "0 Engine" in details.inner_text()
    page.keyboard.press("Enter")
    assert "closed" in status.inner_text()
    page.keyboard.press("Enter")
    assert "open" in status.inner_text() and inside != status.inner_text()


def test_graph_opens_all_and_search_leads_to_steps(folder, visit):
    page = visit(folder / "large.html")
    tab(page, "Graph")
    page.get_by_role("button", name="Expand all").click()
    page.get_by_text("All groups are open.").wait_for(state="attached", timeout=60_000)
    page.get_by_role("button", name="Expand all").click()
    page.get_by_role("button", name="Collapse all").click()  # ends the call before
    page.get_by_text("All groups are closed.").wait_for(state="attached")
    page.keyboard.press("/")
    page.keyboard.type("layers.2")
    page.wait_for_function("document.getElementById('found').textContent.includes('match')")
    page.keyboard.press("Enter")
    assert "layers.2" in page.locator(".details").inner_text()
    page.get_by_label("Colour by", exact=True).select_option("kind")
    assert "convolution" in page.locator(".legend").inner_text()


def test_theme(folder, visit):
    page = visit(folder / "deep.html", color_scheme="dark")
    back = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(back)
    page.get_by_role("button", name="Switch to light").click()
    assert page.evaluate(back) != dark
    page.reload()
    assert page.evaluate(back) != dark
    page.get_by_role("button", name="Switch to dark").click()
    assert page.evaluate(back) == dark


def test_tabs_with_the_keyboard_and_phone(folder, visit):
    page = visit(folder / "mixed.html", viewport={"width": 390, "height": 844})
    page.get_by_role("tab", name="Summary").focus()
    for name in ["Nodes", "Graph", "Profile", "Memory", "Precision", "Verify"]:
        page.keyboard.press("ArrowRight")
        assert page.get_by_role("tab", name=name).get_attribute("aria-selected") == "true"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name


def test_names_with_html_stay_text(folder, visit):
    page = visit(folder / "hostile.html")
    assert "<b>bold</b>" in page.locator("h1").inner_text()
    for name in ["Nodes", "Graph", "Memory", "Precision", "Summary"]:
        tab(page, name)
        assert page.locator("main img, main b").count() == 0
    assert "onerror" in page.locator("main").inner_text()


def test_notebook_frame(folder, visit):
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html>{torchtrt.report(torch.jit.load(str(folder / 'large.ts')))._repr_html_()}", encoding="utf-8")
    frame = visit(path).frame_locator("iframe")
    frame.get_by_role("tab", name="Nodes").click()
    assert "2,000" in frame.locator(".toolbar").inner_text()
