"""Patterns in Python: the two samples of document 003 as printed, managers, errors."""

import gc

import pytest
import torch

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt
from gpt_reference import reference_attention
from torchtrt.functional import gpt_attention
from torchtrt.graph_rewriting import (
    AnalysisPatternManager,
    FLayerInfoMemo,
    FuseAttentionWithBiasPass,
    Layer,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
)
from torchtrt.network import Tensor, net_guard


# Document 003 prints this class.
class NaivePatternRewriter_ReplaceAddWithSub(PatternRewriter):

    def __init__(self):
        super().__init__('replace_add_with_sub',
                         root_layer={trt.LayerType.ELEMENTWISE},
                         separate_match_rewrite=True)

    def match(self, layer: Layer):
        # The rewriter will stop at the first matched layer, and then the Rewriter will enter the rewrite() to do the rewriting.
        return layer.as_layer().op == trt.ElementWiseOperation.SUM

    def rewrite(self, layer: Layer) -> None:
        # The layer here should be an Elementwise_SUM layer.
        with net_guard(layer.network):
            # There are several stages to replace some subgraph with another subgraph:

            # Stage 1: Get the input tensors and output tensors of the subgraph to replace.
            # - For Elementwise_SUM, there are two inputs and one output.
            a, b = layer.get_inputs(0, 1)
            o = layer.get_outputs(0)[0]

            # Stage 2: Create a new subgraph that takes the old one's inputs.
            # - Here we insert an Elementwise_SUB layer, and 'c' is the output.
            c = a - b

            # Stage 3: Redirect all the layers depending on the outputs of the old subgraph to the new subgraph's.
            # - After this, the SUM becomes dangling and will be pruned by TensorRT when building the engine.
            # - Note that there is no API in TensorRT python to remove a layer explicitly; `replace_all_uses_with` is the only way to "remove" a layer.
            o.replace_all_uses_with(c)

            # Stage 4: Mark all the layers in the old subgraph as removed.
            # - This helps the PatternRewriter to skip the removed layers.
            layer.mark_as_removed()


class GPTAttentionPluginRemovePaddingRewritePass(PatternRewriter):

    def __init__(self):
        super().__init__('gpt_attention_plugin_remove_padding',
                         root_layer={trt.LayerType.PLUGIN_V2})

    def match_and_rewrite(self, layer: Layer) -> bool:
        if layer.as_layer().type != trt.LayerType.PLUGIN_V2 or \
                layer.as_layer().plugin.plugin_namespace != 'tensorrt_llm' or \
                layer.as_layer().plugin.plugin_type != 'GPTAttention':
            return False

        # Retrieve the FLayerInfo
        flayer = FLayerInfoMemo.instance().get(layer.name)
        assert flayer
        # Although the layer is a plugin, which is a black box, we get some high-level input information from the FLayerInfo.
        tensor_input: Tensor = flayer.get_input('qkv')
        if tensor_input.shape[0] == 1:  # Already in remove-padding mode
            return False

        # Some information could be passed in from external
        assert self.args is not None, "args should be passed in from RewritePatternManager.rewrite()"
        batch_size, in_len, hidden_size = self.args['batch_size'], self.args['in_len'], self.args['hidden_size']

        with net_guard(layer.network):
            new_inputs = flayer.clone_inputs()

            # Step 1: Create new inputs and replace the original arglist.
            input = Tensor(
                name='qkv',
                dtype=trt.float16,
                shape=(1, batch_size * in_len, hidden_size),
            )
            new_inputs['qkv'] = input

            # Step 2: Create a new plugin instance.
            new_outs = gpt_attention(**new_inputs)

            # Step 3: Deprive all the users of the old plugin instance.
            flayer.replace_outputs_uses_with(layer.network, new_outs)

            # Step 4: Remove the old plugin instance.
            layer.mark_as_removed()

        return True


def add_network():
    net = trt.Network("add")
    with net_guard(net):
        a, b = Tensor(name="a", shape=(2, 3)), Tensor(name="b", shape=(2, 3))
        f.relu(a + b).mark_output("y")
    return net


def managed(*patterns, manager=RewritePatternManager):
    result = manager()
    for i, pattern in enumerate(patterns):
        result.add(label=f"{pattern.name}_{i}", pattern=pattern, benefit=0)
    return result


def test_document_003_add_becomes_sub():
    net = add_network()
    assert managed(NaivePatternRewriter_ReplaceAddWithSub()).rewrite(net) == {"replace_add_with_sub_0": 1}
    net.verify()
    assert [layer.as_layer().type.name for layer in net.get_layers()] == ["ELEMENTWISE", "ACTIVATION"]
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    assert torch.equal(net.build().run(a, b), torch.relu(a - b))


BATCH, IN_LEN, HEADS, SIZE = 3, 5, 2, 8
HIDDEN = 3 * HEADS * SIZE
LENGTHS = torch.tensor([5, 2, 4], dtype=torch.int32)


def padded_network():
    net = trt.Network("attention")
    with net_guard(net):
        qkv = Tensor(name="qkv", dtype=trt.float16, shape=(BATCH, IN_LEN, HIDDEN))
        lengths = Tensor(name="lengths", dtype=trt.int32, shape=(BATCH,))
        gpt_attention(qkv, context_lengths=lengths, num_heads=HEADS, head_size=SIZE).mark_output("context")
    return net


def test_document_003_padding_is_removed():
    net = padded_network()
    qkv = torch.randn(BATCH, IN_LEN, HIDDEN, generator=torch.Generator().manual_seed(1)).half()
    padded = net.build().run(qkv, LENGTHS)
    manager = managed(GPTAttentionPluginRemovePaddingRewritePass())
    done = manager.rewrite(net, args={"batch_size": BATCH, "in_len": IN_LEN, "hidden_size": HIDDEN})
    assert list(done.values()) == [1]
    net.verify()
    assert [(tensor.name, tensor.shape) for tensor in net.get_inputs()] == [
        ("qkv", (1, BATCH * IN_LEN, HIDDEN)), ("lengths", (BATCH,))]
    packed_input = torch.zeros(1, BATCH * IN_LEN, HIDDEN, dtype=torch.float16)
    rows = torch.cat([qkv[b, :length] for b, length in enumerate(LENGTHS)])
    packed_input[0, : len(rows)] = rows
    packed = net.build().run(packed_input, LENGTHS)
    assert packed.shape == (1, BATCH * IN_LEN, HEADS * SIZE)
    expected = reference_attention(qkv, HEADS, HEADS, SIZE, lengths=LENGTHS)[0]
    torch.testing.assert_close(padded.double(), expected, rtol=2e-2, atol=2e-3)
    together = torch.cat([padded[b, :length] for b, length in enumerate(LENGTHS)])
    assert torch.equal(packed[0, : len(rows)], together) and not packed[0, len(rows) :].any()
    assert managed(GPTAttentionPluginRemovePaddingRewritePass()).rewrite(net, args={}) == {
        "gpt_attention_plugin_remove_padding_0": 0}


def test_document_003_snippet_with_the_older_argument_name():
    net = padded_network()
    batch_size, in_len, hidden_size = BATCH, IN_LEN, HIDDEN
    layer = next(layer for layer in net.get_layers() if layer.as_layer().type == trt.LayerType.PLUGIN_V2)
    with net_guard(net):
        flayer = FLayerInfoMemo.instance().get(layer.name)
        assert flayer
        new_inputs = flayer.clone_inputs()

        # Step 1: Create new inputs and replace the original arglist.
        input = Tensor(
            name='tensor',
            dtype=trt.float16,
            shape=(1, batch_size * in_len, hidden_size),
        )
        new_inputs['tensor'] = input

        # Step 2: Create a new plugin instance.
        new_outs = gpt_attention(**new_inputs)
        assert FLayerInfoMemo.instance().get(new_outs.get_parent().name).get_input("qkv") == input


def test_fuse_attention_with_bias():
    net = trt.Network()
    bias = torch.randn(HIDDEN)
    with net_guard(net):
        qkv = Tensor(name="qkv", shape=(2, IN_LEN, HIDDEN))
        gpt_attention(qkv + f.constant(bias), num_heads=HEADS, head_size=SIZE).mark_output("context")
    value = torch.randn(2, IN_LEN, HIDDEN)
    before = net.build().run(value)
    assert list(managed(FuseAttentionWithBiasPass()).rewrite(net).values()) == [1]
    plugin = net.get_outputs()["context"].get_parent().as_layer().plugin
    assert plugin.fields["operands"] == "qkv,qkv_bias"
    with net_guard(net):
        record = FLayerInfoMemo.instance().get(net.get_outputs()["context"].get_parent().name)
        assert torch.equal(record.get_input("qkv_bias").constant(), bias)
    torch.testing.assert_close(net.build().run(value), before, rtol=1e-5, atol=1e-6)
    assert list(managed(FuseAttentionWithBiasPass()).rewrite(net).values()) == [0]


class Spy(PatternRewriter):
    def __init__(self, name, seen, **options):
        super().__init__(name, **options)
        self.seen = seen

    def match_and_rewrite(self, layer):
        self.seen.append((self.name, layer.name))
        return False


def test_patterns_are_tried_by_benefit_then_order():
    seen = []
    manager = RewritePatternManager()
    for name, benefit in (("low", -1), ("first", 0), ("second", 0), ("high", 3)):
        manager.add(label=name, pattern=Spy(name, seen, root_layer={trt.LayerType.ELEMENTWISE}), benefit=benefit)
    assert manager.rewrite(add_network()) == {"high": 0, "first": 0, "second": 0, "low": 0}
    assert [name for name, _ in seen] == ["high", "first", "second", "low"]
    assert manager.get("low").name == "low" and manager.get("none") is None
    with pytest.raises(torchtrt.CompileError, match="labelled 'low' is in the manager already"):
        manager.add(label="low", pattern=Spy("x", seen))


class SetOp(PatternRewriter):
    def __init__(self, before, after, kind=trt.LayerType.ELEMENTWISE):
        super().__init__(f"{before}_to_{after}", root_layer={kind}, separate_match_rewrite=True)
        self.before, self.after = before, after

    def match(self, layer):
        return layer.as_layer().op == self.before

    def rewrite(self, layer):
        layer.set_attribute("op", self.after)


def test_patterns_that_undo_each_other_are_stopped_and_the_network_kept():
    net = add_network()
    before = str(net)
    with pytest.raises(torchtrt.CompileError, match="within 10 rewrites; the last were 'sub_to_sum_1' on"):
        managed(SetOp("sum", "sub"), SetOp("sub", "sum")).rewrite(net, max_rewrites=10)
    assert str(net) == before


def test_an_error_names_pattern_and_layer_and_keeps_the_network():
    class Broken(PatternRewriter):
        def __init__(self):
            super().__init__("broken")

        def match_and_rewrite(self, layer):
            f.exp(layer.get_inputs(0)[0]).mark_output("more")
            raise ValueError("out of ideas")

    net = add_network()
    before, kept = str(net), net.get_inputs()[0]
    layer = net.get_layers()[0].name
    with pytest.raises(torchtrt.CompileError, match=f"pattern 'broken_0' on layer '{layer}'.*ValueError: out of ideas") as caught:
        managed(Broken()).rewrite(net)
    assert isinstance(caught.value.__cause__, ValueError)
    assert str(net) == before and kept.name == "a", "tensors held before are still those of the network"
    assert torch.equal(net.build().run(torch.ones(2, 3), torch.ones(2, 3)), torch.full((2, 3), 2.0))


def test_a_recorded_call_that_fails_during_a_rewrite_leaves_nothing():
    class Broken(PatternRewriter):
        def __init__(self):
            super().__init__("broken", root_layer={trt.LayerType.ELEMENTWISE})

        def match_and_rewrite(self, layer):
            return f.layer_norm(layer.get_inputs(0)[0], 7, torch.ones(7))

    net = add_network()
    with pytest.raises(torchtrt.CompileError, match="pattern 'broken_0'") as caught:
        managed(Broken()).rewrite(net)
    held = caught.value  # its traceback holds the frames of the call
    gc.collect()
    net.verify()
    assert len(FLayerInfoMemo(net)) == 0 and held is not None


def test_an_invalid_result_is_an_error_and_taken_back():
    class LosesTheOutput(PatternRewriter):
        def match_and_rewrite(self, layer):
            if not layer.network.get_outputs():
                return False
            layer.network.unmark_output("y")
            return True

    net = add_network()
    before = str(net)
    with pytest.raises(torchtrt.CompileError, match="expected at least one output"):
        managed(LosesTheOutput("loses")).rewrite(net)
    assert str(net) == before


def test_an_interrupt_passes_through():
    class Interrupts(PatternRewriter):
        def match_and_rewrite(self, layer):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        managed(Interrupts("interrupts")).rewrite(add_network())


def test_match_may_only_look():
    class Edits(SetOp):
        def match(self, layer):
            layer.set_attribute("op", "sub")

    net = add_network()
    with pytest.raises(torchtrt.CompileError, match="may not be changed here"):
        managed(Edits("sum", "sub")).rewrite(net)


class Count(PatternAnalyzer):
    def __init__(self, edit=False):
        super().__init__("count", root_layer={trt.LayerType.ELEMENTWISE, trt.LayerType.ACTIVATION})
        self.found, self.edit = [], edit

    def match(self, layer):
        return [layer, *layer.get_users()]

    def analyze(self, subgraph):
        self.found.append(([layer.as_layer().type.name for layer in subgraph], self.args))
        if self.edit:
            subgraph[0].set_attribute("op", "sub")


def test_analyzers_see_every_layer_once_and_cannot_edit():
    count = Count()
    managed(count, manager=AnalysisPatternManager).analyze(add_network(), args={"x": 1})
    assert count.found == [(["ELEMENTWISE", "ACTIVATION"], {"x": 1}), (["ACTIVATION"], {"x": 1})] and count.args is None
    with pytest.raises(torchtrt.CompileError, match="may not be changed here"):
        managed(Count(edit=True), manager=AnalysisPatternManager).analyze(add_network())


def test_edits_outside_of_patterns_keep_the_order_of_layers():
    net = add_network()
    layer = net.get_layers()[0]
    with net_guard(net):
        a, b = net.get_inputs()
        layer.get_outputs()[0].replace_all_uses_with(f.exp(a))  # of a layer that stands behind the reader
        net.verify()
        net.get_layers()[-1].replace_input_with(net.get_layers()[-2].get_outputs()[0], f.exp(b))
    net.verify()
    value = torch.randn(2, 3)
    torch.testing.assert_close(net.build().run(value, value * 2), torch.exp(value * 2))
    last = net.get_layers()[-1]
    with pytest.raises(torchtrt.CompileError, match="depends on its own output"):
        last.replace_input_with(last.get_inputs(0)[0], last.get_outputs()[0])


def test_strict_runs_verify_after_every_rewrite(monkeypatch):
    """Verifying after every rewrite blames the pattern that broke the network, even if a later one would hide the error."""
    def rewrite():
        kind = trt.LayerType.ACTIVATION
        return managed(SetOp("relu", "no such op", kind), SetOp("no such op", "tanh", kind)).rewrite(add_network())

    monkeypatch.setenv("TORCHTRT_STRICT", "0")
    assert list(rewrite().values()) == [1, 1]
    monkeypatch.setenv("TORCHTRT_STRICT", "1")
    with pytest.raises(torchtrt.CompileError, match="pattern 'relu_to_no such op_0' on layer .*no such op"):
        rewrite()
