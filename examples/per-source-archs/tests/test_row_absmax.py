# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from row_absmax import row_absmax

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


class RowAbsmax(unittest.TestCase):
    def test_is_the_largest_magnitude_of_each_row(self):
        for device in DEVICES:
            for shape in ((3, 1000), (1000, 1), (1, 31), (0, 4)):
                x = torch.randn(shape, device=device)
                torch.testing.assert_close(row_absmax(x), x.abs().amax(1))

    def test_reads_what_is_not_contiguous(self):
        for device in DEVICES:
            x = torch.randn(5, 7, device=device).t()
            torch.testing.assert_close(row_absmax(x), x.abs().amax(1))

    def test_of_nothing_is_zero(self):
        for device in DEVICES:
            torch.testing.assert_close(row_absmax(torch.empty(2, 0, device=device)), torch.zeros(2, device=device))

    def test_refuses_what_is_no_matrix(self):
        with self.assertRaisesRegex(RuntimeError, "has to be a float32 matrix"):
            row_absmax(torch.ones(2))


if __name__ == "__main__":
    unittest.main()
