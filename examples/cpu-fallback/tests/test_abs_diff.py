# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from abs_diff import abs_diff

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


class AbsDiff(unittest.TestCase):
    def test_is_the_absolute_difference(self):
        for device in DEVICES:
            for shape in ((3, 1000), (0, 4), ()):
                a, b = torch.randn(shape, device=device), torch.randn(shape, device=device)
                torch.testing.assert_close(abs_diff(a, b), (a - b).abs())

    def test_reads_what_is_not_contiguous(self):
        for device in DEVICES:
            a = torch.randn(5, 7, device=device).t()
            torch.testing.assert_close(abs_diff(a, 2 * a), a.abs())

    def test_refuses_what_does_not_fit(self):
        with self.assertRaisesRegex(RuntimeError, "of one shape"):
            abs_diff(torch.ones(2), torch.ones(3))


if __name__ == "__main__":
    unittest.main()
