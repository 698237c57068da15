# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from swiglu import swiglu

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


class Swiglu(unittest.TestCase):
    def test_is_silu_times_up(self):
        for device in DEVICES:
            for shape in ((3, 1000), (0, 4), ()):
                gate, up = torch.randn(shape, device=device), torch.randn(shape, device=device)
                torch.testing.assert_close(swiglu(gate, up), torch.nn.functional.silu(gate) * up)

    def test_reads_what_is_not_contiguous(self):
        for device in DEVICES:
            gate = torch.randn(5, 7, device=device).t()
            torch.testing.assert_close(swiglu(gate, gate), torch.nn.functional.silu(gate) * gate)

    def test_refuses_what_does_not_fit(self):
        with self.assertRaisesRegex(RuntimeError, "have to be float32"):
            swiglu(torch.ones(2).double(), torch.ones(2))
        with self.assertRaisesRegex(RuntimeError, "of one shape"):
            swiglu(torch.ones(2), torch.ones(3))


if __name__ == "__main__":
    unittest.main()
