# SPDX-License-Identifier: Apache-2.0
"""torch_cuda_stack over the tool that TORCH_CUDA_STACK_TOOL names, on recorded machines."""
import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import torch_cuda_stack
from torch_cuda_stack import __main__ as command
from torch_cuda_stack import _tool
from torch_cuda_stack import setuptools as ours

MACHINES = Path(__file__).resolve().parents[1] / "machines"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def machine(self, name):
        path = self.root / f"{name}.json"
        path.write_text(json.dumps(json.loads((MACHINES / f"{name}.json").read_text())["facts"]))
        return path


class Answers(Case):
    def test_a_finding_comes_as_data(self):
        report = torch_cuda_stack.check(facts=self.machine("601-torch-lacks-device-image-hit"))
        self.assertFalse(report.ok)
        found = report.finding("TCS601")
        self.assertEqual((found.slug, found.layer, found.severity), ("torch-lacks-device-image", "torch", "error"))
        self.assertIn("has no kernel image that runs on sm_120", found.message)
        self.assertEqual([e.layer for e in found.evidence], ["device", "torch"])
        self.assertEqual(found.consequences, ("TCS912",))
        self.assertTrue(found.help)
        self.assertIsNone(report.finding("TCS602"))
        self.assertEqual([(c.target, c.torch) for c in report.coverage], [("12.0", "none")])
        self.assertEqual(report.raw["schema"], "torch-cuda-stack/report/1")

    def test_every_recorded_machine_can_be_read(self):
        machines = sorted(MACHINES.glob("*.json"))[::9]
        self.assertGreater(len(machines), 20)
        for path in machines:
            report = torch_cuda_stack.check(facts=self.machine(path.stem))
            self.assertIn(report.outcome, ("ok", "warn", "fail", "unknown"), path.stem)
            for found in report.findings:
                self.assertIn(found.severity, ("error", "warning", "unknown", "note"), path.stem)

    def test_what_is_accepted_does_not_fail(self):
        facts = self.machine("601-torch-lacks-device-image-hit")
        self.assertTrue(torch_cuda_stack.check(facts=facts, allow=["TCS601"]).ok)
        self.assertTrue(torch_cuda_stack.check(facts=facts, allow="TCS601").ok)
        self.assertTrue(torch_cuda_stack.check(facts=facts, fail_on="never").ok)

    def test_a_plan_has_the_words_of_each_reader(self):
        plan = torch_cuda_stack.plan(["8.6", "9.0"], facts=self.machine("601-torch-lacks-device-image-hit"), allow=["TCS601"])
        self.assertEqual([i.image for i in plan.images], ["sm_86", "sm_90"])
        self.assertEqual(plan.gencode_flags, ("-gencode=arch=compute_86,code=sm_86", "-gencode=arch=compute_90,code=sm_90"))
        self.assertEqual(plan.torch_cuda_arch_list.text, "8.6;9.0")
        self.assertTrue(plan.torch_python_list.complete)
        self.assertEqual([t.capability for t in plan.targets], ["8.6", "9.0"])
        self.assertFalse(plan.by_user)

    def test_a_list_of_ones_own_is_the_plan(self):
        plan = torch_cuda_stack.plan(arch_list="8.0+PTX", facts=self.machine("601-torch-lacks-device-image-hit"),
                                     allow=["TCS601"])
        self.assertTrue(plan.by_user)
        self.assertEqual([i.image for i in plan.images], ["sm_80", "compute_80"])

    def test_a_build_that_cannot_work_is_an_exception_with_the_report_as_its_text(self):
        with self.assertRaises(torch_cuda_stack.StackError) as caught:
            torch_cuda_stack.plan(facts=self.machine("601-torch-lacks-device-image-hit"))
        self.assertIn("error[TCS601 torch-lacks-device-image]", str(caught.exception))
        self.assertEqual(caught.exception.report.outcome, "fail")

    def test_a_refused_question_has_the_tools_own_words(self):
        with self.assertRaises(torch_cuda_stack.ToolError) as caught:
            torch_cuda_stack.check(facts=self.root / "none.json")
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("none.json", str(caught.exception))

    def test_this_python_is_the_one_that_is_asked_about(self):
        with mock.patch.object(_tool, "_ask", side_effect=AssertionError) as asked:
            with contextlib.suppress(AssertionError):
                torch_cuda_stack.check()
        self.assertIn(f"Python_EXECUTABLE={sys.executable}", asked.call_args[0][0])
        words = _tool._question(None, None, None, None, (), None, None, {"Python3_EXECUTABLE": "/other"})
        self.assertEqual(words, ["--set", "Python3_EXECUTABLE=/other"])

    def test_images_of_files_and_why_one_cannot_be_read(self):
        text = self.root / "text.so"
        text.write_text("no library")
        read = torch_cuda_stack.images(text, self.root / "missing.so")
        self.assertEqual([f.path for f in read], [str(text), str(self.root / "missing.so")])
        self.assertIn("No such file", read[1].error)
        self.assertEqual(torch_cuda_stack.images(), ())

    def test_a_tool_that_is_not_there_is_named(self):
        with mock.patch.dict(os.environ, TORCH_CUDA_STACK_TOOL="/none/tcstack"):
            with self.assertRaisesRegex(torch_cuda_stack.ToolNotFoundError, "/none/tcstack: No such file"):
                torch_cuda_stack.version()

    def test_the_environment_of_a_build_is_read_as_github_documents_it(self):
        text = "A<<END\none\nEND\nB<<END_\nEND\ntwo = 2\nEND_\nC<<END\n\nEND\n"
        self.assertEqual(_tool._github_variables(text), {"A": "one", "B": "END\ntwo = 2", "C": ""})
        given = torch_cuda_stack.build_environment("8.6", facts=self.machine("601-torch-lacks-device-image-hit"),
                                                   allow=["TCS601"])
        self.assertEqual(given["TORCH_CUDA_ARCH_LIST"], "8.6")


class Command(Case):
    def said(self, *words):
        out, err, status = io.StringIO(), io.StringIO(), 0
        with mock.patch.object(sys, "argv", ["torch_cuda_stack", *map(str, words)]), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            try:
                command.main()
            except SystemExit as left:
                status = left.code
        return status, out.getvalue(), err.getvalue()

    def test_the_script_becomes_the_tool_with_its_exit_status(self):
        for words, status in ((["--version"], 0), (["no-such-verb"], 2)):
            done = subprocess.run([sys.executable, "-c", "from torch_cuda_stack.__main__ import tcstack; tcstack()", *words],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
        done = subprocess.run([sys.executable, "-m", "torch_cuda_stack", "explain", "TCS601"], capture_output=True, text=True)
        self.assertIn("TCS601 torch-lacks-device-image", done.stdout)

    def test_a_pytorch_beside_the_package_names_its_python(self):
        for torch in (True, False):
            site = self.root / f"site{torch}"
            (site / "torch").mkdir(parents=True)
            if torch:
                (site / "torch/version.py").write_text("")
            with mock.patch.object(os, "execve") as became, mock.patch.object(sys, "path", [str(site)]), \
                    mock.patch.object(sys, "argv", ["tcstack", "check"]):
                command.tcstack()
            _, words, environment = became.call_args[0]
            self.assertEqual(words, ["tcstack", "check"])
            self.assertEqual(environment.get("TORCH_CUDA_STACK_PYTHON"), sys.executable if torch else None)

    def test_places_are_printed_alone(self):
        self.assertEqual(self.said("--prefix"), (0, f"{torch_cuda_stack.prefix()}\n", ""))
        self.assertEqual(self.said("--cmake-dir"), (0, f"{torch_cuda_stack.cmake_dir()}\n", ""))
        status, _, err = self.said("--prefix", "more")
        self.assertEqual(status, 2)
        self.assertIn("takes nothing after it", err)
        self.assertEqual(self.said()[0], 2)

    def test_an_editable_install_has_its_built_files_elsewhere(self):
        (self.root / "bin").mkdir()
        (self.root / "bin/tcstack").write_text("")
        script = ("import importlib.util as u, sys\n"
                  "spec = u.spec_from_file_location('torch_cuda_stack', sys.argv[1] + '/__init__.py',\n"
                  "                                 submodule_search_locations=sys.argv[1:])\n"
                  "sys.modules[spec.name] = package = u.module_from_spec(spec)\n"
                  "spec.loader.exec_module(package)\n"
                  "print(package.prefix())\n")
        source = Path(torch_cuda_stack.__file__).resolve().parent
        done = subprocess.run([sys.executable, "-c", script, source, self.root], capture_output=True, text=True)
        self.assertEqual(done.stdout, f"{self.root}\n", done.stderr)

    def installed(self):
        there = self.root / "prefix/share/cmake/TorchCudaStack"
        for name in ("modules/FindTorchCudaStack.cmake", "modules/TorchCudaStack/detail/_tcs_installed.cmake",
                     "probe-src/tool/main/main.cpp"):
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (there / name).write_text(name)
        return mock.patch.object(_tool, "_HERE", self.root / "prefix")

    def test_a_vendored_copy_is_whole_and_names_no_installed_tool(self):
        target = self.root / "third party/stack"
        with self.installed():
            status, out, _ = self.said("vendor", target)
            self.assertEqual(status, 0)
            self.assertIn("stack/modules", out)
            (target / "modules/old.cmake").write_text("of an older release")
            self.assertEqual(self.said("vendor", target)[0], 0)
        files = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
        self.assertEqual(files, ["modules/FindTorchCudaStack.cmake", "probe-src/tool/main/main.cpp"])

    def test_a_copy_that_is_interrupted_leaves_the_old_one(self):
        target = self.root / "stack"
        with self.installed():
            self.assertEqual(self.said("vendor", target)[0], 0)
            with mock.patch.object(shutil, "copytree", side_effect=OSError("no space left")):
                status, _, err = self.said("vendor", target)
            self.assertEqual((status, "no space left" in err), (2, True))
            self.assertTrue((target / "modules/FindTorchCudaStack.cmake").is_file())
            (target / ".modules.new").mkdir()  # of a process that was killed
            self.assertEqual(self.said("vendor", target)[0], 0)
        self.assertEqual(sorted(p.name for p in target.iterdir()), ["modules", "probe-src"])

    def test_a_closed_standard_output_is_the_tools_affair(self):
        done = subprocess.run(f'exec "{sys.executable}" -m torch_cuda_stack explain TCS601 >&-', shell=True, capture_output=True,
                              text=True)
        self.assertNotIn("Traceback", done.stderr)

    def test_vendor_removes_nothing_that_is_not_ours(self):
        (self.root / "modules").mkdir()
        (self.root / "modules/mine.cmake").write_text("mine")
        with self.installed():
            status, _, err = self.said("vendor", self.root)
        self.assertEqual(status, 2)
        self.assertIn("is no copy of ours", err)
        self.assertEqual((self.root / "modules/mine.cmake").read_text(), "mine")
        with self.installed():
            self.assertEqual(self.said("vendor", self.root / "modules/mine.cmake")[0], 2)
            self.assertEqual(self.said("vendor")[0], 2)
            self.assertEqual(self.said("vendor", "--help")[0], 2)


class Setuptools(Case):
    def setUp(self):
        super().setUp()
        ours._before.clear()
        torch = types.ModuleType("torch.utils.cpp_extension")
        torch.CUDA_HOME = "/usr/local/cuda"
        torch.CUDAExtension = lambda name, sources, **more: (name, sources, more)
        fakes = {"torch": types.ModuleType("torch"), "torch.utils": types.ModuleType("torch.utils")}
        patched = mock.patch.dict(sys.modules, {**fakes, "torch.utils.cpp_extension": torch})
        patched.start()
        self.addCleanup(patched.stop)
        kept = mock.patch.dict(os.environ)
        kept.start()
        self.addCleanup(kept.stop)
        self.question = {"targets": "8.6", "allow": ["TCS601"]}
        facts = self.machine("601-torch-lacks-device-image-hit")
        for name in ("plan", "build_environment"):  # of a recorded machine, whatever this one has
            replayed = mock.patch.object(_tool, name, functools.partial(getattr(_tool, name), facts=facts))
            replayed.start()
            self.addCleanup(replayed.stop)

    def extension(self, **more):
        return ours.cuda_extension("ops._C", ["a.cpp", "b.cu"], **{**self.question, **more})

    def test_the_plan_reaches_nvcc_and_ones_own_flags_stay(self):
        name, sources, more = self.extension(extra_compile_args={"cxx": ["-O2"], "nvcc": ["-O3"]}, include_dirs=["x"])
        self.assertEqual((name, sources, more["include_dirs"]), ("ops._C", ["a.cpp", "b.cu"], ["x"]))
        self.assertEqual(more["extra_compile_args"], {"cxx": ["-O2"], "nvcc": ["-O3", "-gencode=arch=compute_86,code=sm_86"]})
        _, _, more = self.extension(extra_compile_args=["-g"])
        self.assertEqual(more["extra_compile_args"], {"cxx": ["-g"], "nvcc": ["-g", "-gencode=arch=compute_86,code=sm_86"]})

    def test_a_second_answer_on_architectures_is_refused(self):
        for flag in ("-arch=sm_80", "-gencode=arch=compute_80,code=sm_80", "--generate-code=arch=compute_80,code=sm_80",
                     "-gencode", "--gpu-architecture=sm_80", "-code=sm_80"):
            with self.assertRaisesRegex(ValueError, "nvcc has " + flag.replace("-", "."), msg=flag):
                self.extension(extra_compile_args={"nvcc": [flag]})
        self.extension(extra_compile_args={"nvcc": ["-I/opt/search/include", "-Xptxas", "-v"]})

    def test_each_extension_is_asked_about_without_the_answers_of_the_last(self):
        os.environ.pop("CUDA_HOME", None)
        os.environ["MAX_JOBS"] = "3"
        answers = iter([{"CUDA_HOME": "/one", "FORCE_CUDA": "1"}, {}])
        seen = []

        def environment(**_):
            seen.append(os.environ.get("CUDA_HOME"))
            return next(answers)

        with mock.patch.object(_tool, "build_environment", environment):
            self.extension()
            self.assertEqual(os.environ["CUDA_HOME"], "/one")
            self.assertNotIn("FORCE_CUDA", os.environ)
            self.extension()
        self.assertEqual(seen, [None, None])
        self.assertNotIn("CUDA_HOME", os.environ)
        self.assertEqual(os.environ["MAX_JOBS"], "3")

    def test_a_pytorch_that_was_imported_before_takes_the_plans_toolkit(self):
        torch_side = sys.modules["torch.utils.cpp_extension"]
        for before in (None, "/usr/local/cuda"):
            torch_side.CUDA_HOME = before
            with mock.patch.object(_tool, "build_environment", lambda **_: {"CUDA_HOME": "/another"}):
                ours.use_plan(**self.question)
            self.assertEqual(torch_side.CUDA_HOME, "/another")

    def test_a_toolkit_of_ones_own_stays_pytorchs(self):
        os.environ["CUDA_HOME"] = "/usr/local/cuda"
        with mock.patch.object(_tool, "build_environment", lambda **_: {}):
            ours.use_plan(**self.question)
        self.assertEqual(sys.modules["torch.utils.cpp_extension"].CUDA_HOME, "/usr/local/cuda")

    def test_what_cannot_work_stops_setup_py_with_the_findings(self):
        with self.assertRaisesRegex(torch_cuda_stack.StackError, "TCS601"):
            self.extension(allow=(), targets="12.0")


if __name__ == "__main__":
    unittest.main()
