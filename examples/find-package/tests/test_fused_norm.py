# SPDX-License-Identifier: Apache-2.0
"""Holds fused_norm against plain PyTorch: on the CPU always, on the GPU where there is one.

Plain unittest, so that it needs nothing but torch:  python -m unittest discover -s tests
"""
import unittest

import torch

from fused_norm import AddRMSNorm, add_rms_norm

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
SHAPES = [(1, 1), (3, 7), (2, 5, 64), (1000, 33), (2, 4097)]


def plain(x, residual, weight, eps=1e-6):
    """The same in PyTorch's own operators, in the accuracy the kernels sum in."""
    total = x + residual
    wide = total.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (wide * scale * weight.to(wide.dtype)).to(x.dtype), total


def inputs(shape, dtype, device, grad=False):
    generator = torch.Generator().manual_seed(1)
    made = [torch.randn(s, generator=generator, dtype=torch.float64) for s in (shape, shape, shape[-1:])]
    return [t.to(device=device, dtype=dtype).requires_grad_(grad) for t in made]


class Forward(unittest.TestCase):
    def test_equals_plain_pytorch(self):
        for device in DEVICES:
            for dtype, tolerance in TOLERANCE.items():
                for shape in SHAPES:
                    with self.subTest(device=device, dtype=dtype, shape=shape):
                        args = inputs(shape, dtype, device)
                        for got, want in zip(add_rms_norm(*args), plain(*args)):
                            torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)

    def test_takes_a_transposed_input(self):
        for device in DEVICES:
            x, residual, weight = inputs((16, 16), torch.float32, device)
            got, want = add_rms_norm(x.t(), residual, weight), plain(x.t(), residual, weight)
            torch.testing.assert_close(got[0], want[0])

    def test_takes_an_empty_input(self):
        for device in DEVICES:
            y, total = add_rms_norm(*inputs((0, 8), torch.float32, device))
            self.assertEqual((y.shape, total.shape), ((0, 8), (0, 8)))

    def test_refuses_a_weight_of_the_wrong_size(self):
        x = torch.ones(2, 8)
        with self.assertRaisesRegex(RuntimeError, r"weight is \[7\], it has to be \[8\]"):
            add_rms_norm(x, x, torch.ones(7))

    def test_refuses_two_dtypes(self):
        x = torch.ones(2, 8)
        with self.assertRaisesRegex(RuntimeError, "have to be of one dtype"):
            add_rms_norm(x, x.double(), torch.ones(8))


class Gradient(unittest.TestCase):
    def test_equals_finite_differences(self):
        for device in DEVICES:
            with self.subTest(device=device):
                self.assertTrue(torch.autograd.gradcheck(add_rms_norm, inputs((3, 5), torch.float64, device, True)))

    def test_equals_plain_pytorch(self):
        for device in DEVICES:
            for dtype in (torch.float64, torch.float32):
                for shape in SHAPES:
                    with self.subTest(device=device, dtype=dtype, shape=shape):
                        self.compare(inputs(shape, dtype, device, True), TOLERANCE[dtype] * 100)

    def compare(self, args, tolerance):
        grads = []
        for function in (add_rms_norm, plain):
            y, total = function(*args)
            loss = (y * torch.linspace(-1, 1, y.shape[-1], device=y.device, dtype=y.dtype)).sum() + total.sin().sum()
            grads.append(torch.autograd.grad(loss, args))
        for got, want in zip(*grads):
            torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)

    def test_flows_when_only_one_output_is_used(self):
        args = inputs((3, 5), torch.float64, "cpu", True)
        got = torch.autograd.grad(add_rms_norm(*args)[0].sum(), args)
        want = torch.autograd.grad(plain(*args)[0].sum(), args)
        for one, other in zip(got, want):
            torch.testing.assert_close(one, other)

    def test_says_that_it_has_no_second_derivative(self):
        args = inputs((3, 5), torch.float64, "cpu", True)
        (grad,) = torch.autograd.grad(add_rms_norm(*args)[0].pow(2).sum(), args[0], create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "second derivatives are not implemented"):
            grad.sum().backward()


class Layer(unittest.TestCase):
    def test_learns(self):
        torch.manual_seed(1)
        layer, x = AddRMSNorm(8), torch.randn(64, 8)
        want = plain(x, x, torch.linspace(0.5, 2, 8))[0]
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
        for _ in range(100):
            optimizer.zero_grad()
            loss = (layer(x, x)[0] - want).pow(2).mean()
            loss.backward()
            optimizer.step()
        self.assertLess(loss.item(), 1e-4)

    @unittest.skipUnless(hasattr(torch.library, "opcheck"), "torch.library.opcheck came with PyTorch 2.4")
    def test_keeps_the_promises_of_its_schema(self):
        for device in DEVICES:
            torch.library.opcheck(torch.ops.fused_norm.add_rms_norm.default,
                                  (*inputs((3, 5), torch.float32, device, True), 1e-6))


if __name__ == "__main__":
    unittest.main()
