# SPDX-License-Identifier: Apache-2.0
"""compare.py EXAMPLE [DEVICE...]: the example's operator on each GPU against plain PyTorch on the CPU, forward and backward."""
import sys

sys.path.insert(0, sys.argv[1] + "/tests")
import torch  # noqa: E402
from fused_norm import add_rms_norm  # noqa: E402
from test_fused_norm import SHAPES, TOLERANCE, inputs, plain  # noqa: E402


def results(function, arguments):
    arguments = [a.detach().requires_grad_(True) for a in arguments]
    y, total = function(*arguments)
    (y * torch.linspace(-1, 1, y.shape[-1], device=y.device, dtype=y.dtype)).sum().backward()
    return [t.detach().double().cpu() for t in (y, total, *(a.grad for a in arguments))]


worst = {}
for device in sys.argv[2:] or [f"cuda:{index}" for index in range(torch.cuda.device_count())]:
    for dtype, tolerance in TOLERANCE.items():
        for shape in SHAPES:
            arguments = inputs(shape, dtype, "cpu")
            ours = results(add_rms_norm, [a.to(device) for a in arguments])
            theirs = results(plain, arguments)
            for number, (got, want) in enumerate(zip(ours, theirs)):
                allowed = tolerance if number < 2 else tolerance * 100
                scale = max(1.0, want.abs().max().item())
                torch.testing.assert_close(got, want, rtol=allowed, atol=allowed * scale)
                key = (device, str(dtype).replace("torch.", ""))
                worst[key] = max(worst.get(key, 0.0), (got - want).abs().max().item() / scale)
if not worst:
    sys.exit("PyTorch sees no GPU")
for (device, dtype), difference in worst.items():
    print(f"{device}, {dtype}: {len(SHAPES)} shapes, largest difference {difference:.1e}")
