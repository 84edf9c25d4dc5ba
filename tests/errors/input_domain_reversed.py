import torchtrt

CODE = "C002"
SAYS = ["tensor domain [2, 0]", "low < high"]


def misuse(folder):
    torchtrt.Input([1, 3], tensor_domain=(2, 0))
