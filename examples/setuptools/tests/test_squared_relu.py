# SPDX-License-Identifier: Apache-2.0
import unittest

import torch
from squared_relu import squared_relu

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


class SquaredRelu(unittest.TestCase):
    def test_is_relu_squared(self):
        for device in DEVICES:
            for shape in ((3, 1000), (0, 4), ()):
                x = torch.randn(shape, device=device)
                torch.testing.assert_close(squared_relu(x), torch.relu(x) ** 2)

    def test_hides_no_nan(self):
        for device in DEVICES:
            self.assertTrue(squared_relu(torch.full((1,), torch.nan, device=device)).isnan().item())

    def test_refuses_another_dtype(self):
        with self.assertRaisesRegex(RuntimeError, "has to be float32"):
            squared_relu(torch.ones(2).half())


if __name__ == "__main__":
    unittest.main()
