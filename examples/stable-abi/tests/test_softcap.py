# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from softcap import softcap

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


class Softcap(unittest.TestCase):
    def test_is_a_scaled_tanh(self):
        for device in DEVICES:
            for shape in ((3, 1000), (0, 4), ()):
                x = 100 * torch.randn(shape, device=device)
                torch.testing.assert_close(softcap(x, 30.0), 30 * torch.tanh(x / 30))

    def test_reads_what_is_not_contiguous(self):
        for device in DEVICES:
            x = torch.randn(5, 7, device=device).t()
            torch.testing.assert_close(softcap(x, 1.0), torch.tanh(x))

    def test_refuses_what_does_not_fit(self):
        with self.assertRaisesRegex(RuntimeError, "has to be float32"):
            softcap(torch.ones(2).half(), 1.0)
        with self.assertRaisesRegex(RuntimeError, "cap is -1, it has to be above 0"):
            softcap(torch.ones(2), -1.0)


if __name__ == "__main__":
    unittest.main()
