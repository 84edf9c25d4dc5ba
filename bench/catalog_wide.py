"""More models, by architecture: what `./dev models --all` adds to those of catalog.py. All traced, from their configuration, small.

timm's are the smallest of each family; those whose size is not in their name take 64 x 64 pictures.
"""

import torch
import torch.nn.functional as F
from torch import nn

import models
from catalog import SMALL, Case, FirstOnly, noise, traced
from settling import settle

WIDE = {}


def entry(name: str):
    def add(build):
        WIDE[f"{name}, traced"] = build
        return build

    return add


def awake(module: nn.Module) -> nn.Module:
    """Biases, scales of blocks and whole heads that begin at about zero would hide what goes wrong before them or with them."""
    for parameter in module.parameters():
        if parameter.is_floating_point() and parameter.numel() and parameter.abs().max() < 1e-3:
            nn.init.normal_(parameter, std=0.1)
    return module


# transformers: models of text.

def _ids(length: int = 12, seed: int = 1) -> torch.Tensor:
    return torch.randint(5, 90, (2, length), generator=torch.Generator().manual_seed(seed))


def _mask() -> torch.Tensor:
    mask = torch.ones_like(_ids())
    mask[1, 8:] = 0
    return mask


def _pretrained(kind: str, options: dict, head: str = "Model") -> nn.Module:
    import transformers

    return awake(getattr(transformers, kind + head)(getattr(transformers, f"{kind}Config")(**options))).eval()


def _reader(kind: str, options: dict):
    def build() -> Case:
        module = _pretrained(kind, {"vocab_size": 99, **options})
        return traced(FirstOnly(module, "input_ids", "attention_mask"), _ids(), _mask())

    return build


DISENTANGLED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], **SMALL}
DECODER = {"use_cache": False, **SMALL}
GROUPED = {"num_key_value_heads": 2, "head_dim": 12, **DECODER}
N_NAMES = {"n_embd": 48, "n_layer": 2, "n_head": 4, "use_cache": False}
READERS = {
    "Deberta": DISENTANGLED, "DebertaV2": {"position_buckets": 8, **DISENTANGLED}, "XLMRoberta": SMALL, "MPNet": SMALL,
    "Camembert": SMALL, "Ernie": SMALL, "RemBert": {"input_embedding_size": 32, **SMALL}, "RoFormer": SMALL, "ConvBert": SMALL,
    "SqueezeBert": {"embedding_size": 48, **SMALL}, "MegatronBert": SMALL, "Nystromformer": SMALL, "FNet": SMALL,
    "Funnel": {"d_model": 48, "n_head": 4, "d_head": 12, "d_inner": 96, "block_sizes": [1, 1]},
    "XLNet": {"d_model": 48, "n_layer": 2, "n_head": 4, "d_inner": 96}, "XLM": {"emb_dim": 48, "n_layers": 2, "n_heads": 4},
    "Flaubert": {"emb_dim": 48, "n_layers": 2, "n_heads": 4}, "ModernBert": {"pad_token_id": 0, **SMALL}, "LayoutLM": SMALL,
    "Longformer": {"attention_window": [4, 4], **SMALL}, "Canine": SMALL, "Splinter": SMALL,
    "BigBird": {"attention_type": "original_full", **SMALL},
    "OPT": {"ffn_dim": 96, "word_embed_proj_dim": 48, **DECODER},
    "GPTNeo": {"hidden_size": 48, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "use_cache": False},
    "GPTJ": {"rotary_dim": 8, **N_NAMES}, "GPTNeoX": DECODER, "Bloom": {"hidden_size": 48, "n_layer": 2, "n_head": 4, "use_cache": False},
    "Falcon": DECODER, "Mistral": GROUPED, "Qwen2": GROUPED, "Qwen3": GROUPED, "Gemma": GROUPED, "Gemma2": GROUPED, "Phi": DECODER,
    "Phi3": {"pad_token_id": 0, **DECODER}, "CodeGen": {"rotary_dim": 8, **N_NAMES}, "Olmo": DECODER, "Cohere": DECODER,
    "CTRL": {"dff": 96, **N_NAMES}, "OpenAIGPT": N_NAMES, "BioGpt": DECODER,
    "XGLM": {"d_model": 48, "num_layers": 2, "attention_heads": 4, "ffn_dim": 96, "use_cache": False},
    "Mamba": {"hidden_size": 48, "num_hidden_layers": 2, "state_size": 8, "use_cache": False},
    "Mixtral": {"num_local_experts": 4, **GROUPED},
}
for _kind, _options in READERS.items():
    entry(_kind.lower())(_reader(_kind, _options))


def _translator(kind: str, options: dict):
    def build() -> Case:
        module = _pretrained(kind, {"vocab_size": 99, "use_cache": False, **options})
        return traced(FirstOnly(module, "input_ids", "attention_mask", "decoder_input_ids"), _ids(), _mask(), _ids(7, 2))

    return build


BOTH = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "attn_implementation": "eager"}
entry("t5")(_translator("T5", {"d_model": 48, "d_kv": 12, "d_ff": 96, "num_layers": 2, "num_heads": 4}))
for _kind in ["Bart", "MBart", "Pegasus", "Blenderbot", "M2M100", "PLBart"]:
    entry(_kind.lower())(_translator(_kind, BOTH))


# transformers: pictures, sounds, series.

def _seeing(kind: str, options: dict, size: int, head: str = "Model"):
    def build() -> Case:
        module = _pretrained(kind, options, head)
        return traced(settle(FirstOnly(module, "pixel_values"), noise(2, 3, size, size)), noise(2, 3, size, size))

    return build


PATCHES = {"image_size": 32, "patch_size": 8, **SMALL}
STAGES = {"hidden_sizes": [16, 32, 32, 32], "depths": [1, 1, 1, 1]}
WINDOWS = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}
for _kind, _options, _size in [
    ("DeiT", PATCHES, 32), ("Beit", PATCHES, 32), ("Dinov2", PATCHES, 32), ("ViTMSN", PATCHES, 32),
    ("Yolos", {**PATCHES, "image_size": [32, 32], "num_detection_tokens": 5}, 32), ("Swin", WINDOWS, 32), ("Swinv2", WINDOWS, 32),
    ("ResNet", {"embedding_size": 16, **STAGES}, 64), ("RegNet", {"embedding_size": 16, "groups_width": 8, **STAGES}, 64),
    ("ConvNextV2", {"hidden_sizes": [16, 24, 32, 40], "depths": [1, 1, 1, 1]}, 64), ("PoolFormer", STAGES, 64),
    ("Pvt", {"image_size": 64, "num_attention_heads": [1, 2, 2, 4], **STAGES}, 64),
    ("Levit", {"image_size": 64, "hidden_sizes": [16, 32, 48], "num_attention_heads": [2, 2, 2], "depths": [1, 1, 1], "key_dim": [8, 8, 8]}, 64),
    ("MobileViT", {"image_size": 64, "hidden_sizes": [24, 32, 40], "neck_hidden_sizes": [16, 16, 24, 32, 40, 48, 64]}, 64),
    ("MobileNetV1", {"depth_multiplier": 0.25}, 64), ("MobileNetV2", {"depth_multiplier": 0.35}, 64),
    ("EfficientNet", {"width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320}, 64),
    ("FocalNet", {"image_size": 32, "embed_dim": 16, "depths": [1, 1], "hidden_sizes": [16, 32], "focal_levels": [2, 2], "focal_windows": [3, 3]}, 32),
    ("GLPN", {"num_attention_heads": [1, 2, 2, 2], **STAGES}, 64), ("CLIPVision", PATCHES, 32), ("SiglipVision", PATCHES, 32),
]:
    entry(f"{_kind.lower()} of transformers")(_seeing(_kind, _options, _size))
entry("segformer")(_seeing("Segformer", {"num_attention_heads": [1, 2, 2, 2], "decoder_hidden_size": 32, "num_labels": 5, **STAGES}, 64,
                           "ForSemanticSegmentation"))


@entry("detr")
def _detr() -> Case:
    import transformers

    backbone = transformers.ResNetConfig(embedding_size=16, out_features=["stage4"], **STAGES)
    options = {**BOTH, "encoder_layers": 1, "decoder_layers": 1, "num_queries": 10, "use_timm_backbone": False,
               "use_pretrained_backbone": False, "backbone": None, "backbone_config": backbone}
    return _seeing("Detr", options, 64)()


@entry("clip")
def _clip() -> Case:
    import transformers

    config = transformers.CLIPConfig(text_config={"vocab_size": 99, "eos_token_id": 98, **SMALL}, vision_config=PATCHES, projection_dim=32)
    module = transformers.CLIPModel(config).eval()
    return traced(FirstOnly(module, "input_ids", "pixel_values", "attention_mask"), _ids(), noise(2, 3, 32, 32), _mask())


@entry("whisper")
def _whisper() -> Case:
    options = {**BOTH, "vocab_size": 99, "use_cache": False, "num_mel_bins": 16, "max_source_positions": 20, "pad_token_id": 0,
               "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}
    return traced(FirstOnly(_pretrained("Whisper", options), "input_features", "decoder_input_ids"), noise(2, 16, 40), _ids(7))


def _of_values(kind: str, options: dict, name: str, *shape: int):
    return lambda: traced(FirstOnly(_pretrained(kind, options), name), noise(*shape))


SOUND = {"conv_dim": [16] * 4, "conv_stride": [5, 2, 2, 2], "conv_kernel": [10, 3, 3, 2], "num_feat_extract_layers": 4,
         "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, **SMALL}
for _kind in ["Wav2Vec2", "Hubert", "WavLM", "SEW"]:
    entry(_kind.lower())(_of_values(_kind, {"squeeze_factor": 2, **SOUND} if _kind == "SEW" else SOUND, "input_values", 2, 800))
entry("audio spectrogram transformer")(_of_values("AST", {"max_length": 64, "num_mel_bins": 32, "patch_size": 8, **SMALL}, "input_values", 2, 64, 32))
entry("perceiver")(_of_values("Perceiver", {"d_model": 48, "num_latents": 8, "d_latents": 48, "num_self_attends_per_block": 2,
                                            "num_self_attention_heads": 4, "num_cross_attention_heads": 4}, "inputs", 2, 12, 48))
entry("patchtst")(_of_values("PatchTST", {"context_length": 32, "patch_length": 8, "patch_stride": 8, "num_input_channels": 3, "d_model": 48,
                                          "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 96}, "past_values", 2, 32, 3))


# timm, a model or two of each family.

TIMM = """
    resnext26ts skresnet18 ghostnetv2_100 ghostnetv3_050 convnextv2_atto mobilevitv2_050 test_vit2 test_convnext test_resnet test_efficientnet
    test_efficientnet_evos test_mambaout test_nfnet test_byobnet test_maxvit cait_xxs24_224 coat_lite_tiny coatnet_pico_rw_224 convit_tiny
    crossvit_tiny_240 cs3darknet_s densenet121 dla46_c dpn48b edgenext_xx_small efficientformer_l1 efficientformerv2_s0
    tf_efficientnetv2_b0 efficientvit_b0 efficientvit_m0 eva02_tiny_patch14_224 fastvit_t8 fasternet_t0 focalnet_tiny_srf gcvit_xxtiny
    gernet_s gmlp_ti16_224 halonet26t hardcorenas_a hgnet_tiny hgnetv2_b0 hiera_tiny_224 hrnet_w18_small inception_next_atto
    lambda_resnet26t levit_128s lcnet_035 poolformer_s12 caformer_s18 mixer_s32_224 mixnet_s mnasnet_small mobilenetv3_small_050
    mobilenetv4_conv_small_035 mobileone_s0 mvitv2_tiny nest_tiny nextvit_small nf_resnet26 pit_ti_224 pvt_v2_b0 rdnet_tiny regnetx_002
    repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_14w_8s resnest14d resnetblur50 resmlp_12_224 resnetv2_50 rexnet_100 selecsls42
    sequencer2d_s shvit_s1 starnet_s1 swiftformer_xs swin_tiny_patch4_window7_224 swinv2_cr_tiny_224 swinv2_tiny_window8_256 tinynet_e
    tiny_vit_5m_224 tnt_s_legacy_patch16_224 tresnet_m twins_pcpvt_small twins_svt_small visformer_tiny vitamin_small_224 volo_d1_224
    ese_vovnet19b_slim xception41 xcit_nano_12_p16_224 legacy_seresnet18 bat_resnext26ts botnet26t_256 davit_tiny hieradet_small
    convmixer_768_32 deit3_small_patch16_224 vit_tiny_patch16_224 flexivit_small
""".split()
SIZED = {"bat_resnext26ts", "mobilevitv2_050", "halonet26t", "hieradet_small", "lambda_resnet26t", "tiny_vit_5m_224"}  # of any size, but not of any


def _of_timm(name: str):
    def build() -> Case:
        import timm

        module = awake(timm.create_model(name, pretrained=False, exportable=True))
        fixed = module.default_cfg.get("fixed_input_size") or name in SIZED
        size = module.default_cfg["input_size"][-1] if fixed else 64
        return traced(settle(module, noise(2, 3, size, size)), noise(2, 3, size, size))

    return build


for _name in TIMM:
    entry(f"{_name} of timm")(_of_timm(_name))


# These models belong to no library.

class Tagger(nn.Module):
    """Scores 7 tags for every word of [batch, length] numbers."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(99, 24)
        self.reader = nn.LSTM(24, 32, num_layers=2, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(64, 7)

    def forward(self, words):
        return self.tags(self.reader(self.words(words))[0]).log_softmax(-1)


class WaveNet(nn.Module):
    """Gated dilated convolutions that see only what came before; [batch, 1, samples]."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 16, 1)
        self.gated = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2**i) for i in range(6))
        self.mixed = nn.ModuleList(nn.Conv1d(16, 16, 1) for _ in range(6))

    def forward(self, x):
        x, total = self.first(x), 0
        for i, (gated, mixed) in enumerate(zip(self.gated, self.mixed)):
            value, gate = gated(F.pad(x, (2**i, 0))).chunk(2, 1)
            skip = mixed(torch.tanh(value) * torch.sigmoid(gate))
            x, total = x + skip, total + skip
        return F.relu(total)


class GraphNetwork(nn.Module):
    """Two rounds of mean aggregation over edges [2, E] between nodes [N, 8]."""

    def __init__(self):
        super().__init__()
        self.own = nn.ModuleList(nn.Linear(i, 16) for i in (8, 16))
        self.others = nn.ModuleList(nn.Linear(i, 16) for i in (8, 16))

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        degree = torch.zeros(x.size(0)).index_add(0, target, torch.ones(target.size(0))).clamp(min=1)
        for own, others in zip(self.own, self.others):
            messages = others(x)[source]
            gathered = torch.zeros(x.size(0), 16).scatter_add(0, target.unsqueeze(-1).expand_as(messages), messages)
            x = torch.relu(own(x) + gathered / degree.unsqueeze(-1))
        return x


entry("unet")(lambda: traced(settle(models.UNet(8), noise(2, 3, 32, 48)), noise(2, 3, 32, 48)))
entry("lstm tagger")(lambda: traced(Tagger(), _ids()))
entry("wavenet")(lambda: traced(WaveNet(), noise(2, 1, 200)))
entry("graph network")(lambda: traced(GraphNetwork(), noise(20, 8), torch.randint(0, 20, (2, 60), generator=torch.Generator().manual_seed(3))))


@entry("raft")
def _raft() -> Case:
    import torchvision

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torchvision.models.optical_flow.raft_small(weights=None)

        def forward(self, first, second):
            return self.inner(first, second, num_flow_updates=2)[-1]

    pictures = noise(1, 3, 128, 128), noise(1, 3, 128, 128, seed=2)
    return traced(settle(Last(), *pictures), *pictures)


def _segmentation(name: str):
    def build() -> Case:
        import torchvision

        class Scores(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5)

            def forward(self, x):
                return self.inner(x)["out"]

        return traced(settle(Scores(), noise(2, 3, 64, 64)), noise(2, 3, 64, 64))

    return build


for _name in ["fcn_resnet50", "deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"]:
    entry(_name)(_segmentation(_name))
for _name in ["mc3_18", "r2plus1d_18", "s3d"]:
    def _video(name=_name) -> Case:
        import torchvision

        size = (1, 3, 14, 224, 224) if name == "s3d" else (1, 3, 4, 32, 32)
        return traced(settle(getattr(torchvision.models.video, name)(weights=None), noise(2, *size[1:])), noise(*size))

    entry(_name)(_video)
