"""Records of functions: what they hold, and what is replaced through them."""

import pytest
import torch
import torch.nn.functional as F

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt
from torchtrt.graph_rewriting import FLayerInfoMemo, record_signature
from torchtrt.network import Tensor, net_guard


def test_records_hold_what_functions_were_given():
    @record_signature
    def scaled(x, factors, *, offset=None, config=()):
        return x * factors[0] + factors[1]

    net = trt.Network()
    with net_guard(net):
        x, a, b = (Tensor(name=name, shape=(2,)) for name in "xab")
        config = object()
        y = scaled(x, [a, b], config=config)
        y.mark_output("y")
        record = FLayerInfoMemo.instance().get(y.get_parent().name)
        assert record == FLayerInfoMemo.instance().get(x.get_users()[0].name), "one record for both layers"
        assert record.function == "scaled" and record.raw_outputs == [y]
        assert record.clone_inputs() == {"x": x, "factors": [a, b], "offset": None, "config": config}
        record.replace_input_with(x, b)
        assert record.get_input("x") == b and not x.get_users()
        assert FLayerInfoMemo.instance().get("no layer") is None
        with pytest.raises(torchtrt.CompileError, match="has no argument 'z'"):
            record.get_input("z")
    assert FLayerInfoMemo(net.clone()).get(y.get_parent().name).get_input("x").name == "b"


def test_uses_of_outputs_are_replaced_by_new_tensors():
    for replace in (
        lambda net, record, old, new: record.replace_outputs_uses_with(net, new),
        lambda net, record, old, new: record.replace_output_uses_with(net, [new]),
        lambda net, record, old, new: record.replace_output_uses_with(net, old, new),
    ):
        net = trt.Network()
        with net_guard(net):
            x = Tensor(name="x", shape=(2, 4))
            old = f.layer_norm(x, 4)
            (old + 1).mark_output("y")
            replace(net, FLayerInfoMemo.instance().get(old.get_parent().name), old, f.rms_norm(x, 4))
        assert not old.get_users() and net.get_outputs()["y"].get_parent().get_inputs(0)[0].get_parent().as_layer().mode == "rms"
        value = torch.randn(2, 4)
        torch.testing.assert_close(net.build().run(value), F.rms_norm(value, [4], eps=1e-6) + 1)
