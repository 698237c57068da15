#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch wheels, CUDA toolkits, drivers, a compiler, CMakes, environments and peers for the tests, by name.

    parts.py get NAME...    fetch what is missing, print one path a line (progress goes to stderr)
    parts.py path NAME      print the path of a part that is present, else exit 1
    parts.py list           print every name and whether it is present

The parts lie in one cache folder: $TCS_REAL_PARTS, else ${XDG_CACHE_HOME:-~/.cache}/torch-cuda-stack/real-parts.
A part is built in a temporary folder beside its place and renamed into it when it is complete, under a lock, so any
number of processes may ask at once and none sees half a part. A part that is present is used as it is: remove its
folder to have it fetched again. Exit 77 with a one-line reason when a part cannot be had (no network, no pip, not a
Debian machine): tests skip then. Exit 2 on a name that is not in the tables.

Needs nothing but Python >= 3.9, pip, and for the Debian parts apt-get and dpkg (no root; the machine's own apt state
is neither read nor changed, apart from its list of sources). ROOTS alone need root, debootstrap and unshare.
"""
import argparse
import contextlib
import fcntl
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

# Wheels, installed by pip into a folder that looks like site-packages (so executables keep their run bits).
# name -> (requirements, platform, file that must be there, what of the part is printed)
# A pip toolkit is <part>/nvidia/cu13/{bin,include,lib,nvvm}; it has no lib64 and no unversioned libcudart.so.
TORCH_PROOF = "torch/lib/libtorch_cuda.so"
PIP_NVCC = "nvidia/cu13/bin/nvcc"
WHEELS = {
    "torch-2.15.0": ("torch==2.15.0", "x86_64", TORCH_PROOF, ""),
    "torch-2.11.0": ("torch==2.11.0", "x86_64", TORCH_PROOF, ""),
    "torch-2.7.1": ("torch==2.7.1", "x86_64", TORCH_PROOF, ""),
    "torch-2.3.0": ("torch==2.3.0", "x86_64", TORCH_PROOF, ""),
    "torch-1.13.1": ("torch==1.13.1", "x86_64", "torch/lib/libtorch_cuda_cu.so", ""),
    "torch-2.15.0-aarch64": ("torch==2.15.0", "aarch64", TORCH_PROOF, ""),
    "toolkit-13.0": (
        "nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88"
        " nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85", "x86_64", PIP_NVCC, ""),
    "toolkit-13.2": (
        "nvidia-cuda-nvcc==13.2.78 nvidia-cuda-crt==13.2.78 nvidia-nvvm==13.2.78"
        " nvidia-cuda-runtime==13.2.75 nvidia-cuda-cccl==13.2.75", "x86_64", PIP_NVCC, ""),
    "toolkit-13.5": (  # CCCL goes by its own version here: 3.5.0 of CUDA 13
        "nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-nvvm==13.5.37"
        " nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl==13.3.5.0.6", "x86_64", PIP_NVCC, ""),
    "toolkit-13.2-full": (  # and all that find_package(Torch) looks for
        "nvidia-cuda-nvcc==13.2.78 nvidia-cuda-crt==13.2.78 nvidia-nvvm==13.2.78 nvidia-cuda-runtime==13.2.75"
        " nvidia-cuda-cccl==13.2.75 nvidia-cuda-nvrtc==13.2.78 nvidia-nvtx==13.2.75 nvidia-cuda-cupti==13.2.75"
        " nvidia-cuda-profiler-api==13.2.75 nvidia-nvml-dev==13.2.82 nvidia-cublas==13.4.0.1 nvidia-cufft==12.2.0.46"
        " nvidia-curand==10.4.2.55 nvidia-cusolver==12.2.0.1 nvidia-cusparse==12.7.10.1 nvidia-nvjitlink==13.2.78",
        "x86_64", PIP_NVCC, ""),
    "cuobjdump": ("nvidia-cuda-cuobjdump==13.5.37", "x86_64", "nvidia/cu13/bin/cuobjdump", ""),
    "cmake-3.25": ("cmake==3.25.2", "x86_64", "cmake/data/bin/cmake", "cmake/data"),
    "cmake-3.31": ("cmake==3.31.10", "x86_64", "cmake/data/bin/cmake", "cmake/data"),
    "cmake-4.4": ("cmake==4.4.5", "x86_64", "cmake/data/bin/cmake", "cmake/data"),
    "kernels-0.17.2": ("kernels==0.17.2", "x86_64", "kernels/archs.py", ""),
}

# Virtual environments of the Python that runs this script, with all that `import torch` needs and what builds packages.
# name -> requirements
ENVIRONMENTS = {
    "env-torch-2.15.0": "torch==2.15.0 numpy setuptools wheel ninja packaging cmake scikit-build-core nanobind"
                        " nanobind-backend",
}

# Packages of which single files are kept; nothing of a source archive is run to get at them.
# name -> (requirement, which kind pip takes, the files)
FILES = {
    "deepspeed-0.19.8": ("deepspeed==0.19.8", "source", ["op_builder/builder.py"]),
    "flash-attn-2.8.3.post2": ("flash-attn==2.8.3.post2", "source", ["setup.py"]),
    "flashinfer-0.5.3": ("flashinfer-python==0.5.3", "wheel", ["flashinfer/compilation_context.py"]),
    "vllm-0.33.0": ("vllm==0.33.0", "source", ["cmake/utils.cmake"]),
    # What they read of the environment: probe-src/drive/projects.def.
    "auto-gptq-0.7.1": ("auto-gptq==0.7.1", "source", ["setup.py"]),
    "causal-conv1d-1.7.0": ("causal-conv1d==1.7.0", "source", ["setup.py"]),
    "cupy-14.2.0": ("cupy==14.2.0", "source",
                    ["install/cupy_builder/_compiler.py", "install/cupy_builder/_command.py"]),
    "deepspeed-0.19.8-setup": ("deepspeed==0.19.8", "source", ["setup.py"]),
    "deepspeed-0.19.8-accelerator": ("deepspeed==0.19.8", "source", ["accelerator/real_accelerator.py"]),
    "fairscale-0.4.13": ("fairscale==0.4.13", "source", ["setup.py"]),
    "horovod-0.28.1": ("horovod==0.28.1", "source", ["cmake/build_utils.py"]),
    "MinkowskiEngine-0.5.4": ("MinkowskiEngine==0.5.4", "source", ["setup.py"]),
    "mamba-ssm-2.3.2.post1": ("mamba-ssm==2.3.2.post1", "source", ["setup.py"]),
    "mmcv-2.2.0": ("mmcv==2.2.0", "source", ["setup.py"]),
    "natten-0.21.7": ("natten==0.21.7", "source", ["setup.py"]),
    "torch-lap-cuda-0.0.3": ("torch-lap-cuda==0.0.3", "source", ["setup.py"]),
    "torchani-2.9.0": ("torchani==2.9.0", "source", ["setup.py"]),
    "torch_cluster-1.6.3": ("torch_cluster==1.6.3", "source", ["setup.py"]),
    "torch_scatter-2.1.2": ("torch_scatter==2.1.2", "source", ["setup.py"]),
    "torch_sparse-0.6.18": ("torch_sparse==0.6.18", "source", ["setup.py"]),
    "torch_spline_conv-1.2.2": ("torch_spline_conv==1.2.2", "source", ["setup.py"]),
    "transformer-engine-torch-2.20.2": ("transformer-engine-torch==2.20.2", "source",
                                        ["setup.py", "build_tools/utils.py"]),
    "vllm-0.33.0-environment": ("vllm==0.33.0", "source", ["vllm/envs.py"]),
    "xformers-0.0.35": ("xformers==0.0.35", "source", ["setup.py"]),
}

# The CUDA libraries that a torch wheel names in its metadata, at the versions it pins, beside each other as pip
# would lay them (nvidia/cu13/lib, nvidia/cudnn/lib ...). name -> (torch part, file that must be there)
LIBRARIES = {"nvidia-libs-cu13": ("torch-2.15.0", "nvidia/cu13/lib/libcudart.so.13")}

# Debian packages, unpacked into a folder that stands for /usr.
# name -> (suite, packages, pattern of the direct dependencies to take too, layout function, file that must be there)
# Toolkits: <part>/bin/nvcc. 12.4 takes g++ up to 13; 11.8 takes up to 11, and without -ccbin looks for g++-11 on PATH:
# put <gxx-11>/bin there, or pass -ccbin <gxx-11>/bin/g++-11.
# Drivers: LD_LIBRARY_PATH=<part>/lib, <part>/bin/nvidia-smi. No kernel module goes with them: cuInit answers 100.
# (Run by root, cuInit, nvmlInit and nvidia-smi make /dev/nvidiactl all the same: it is no sign of a loaded module.)
TOOLKIT = "nvidia-cuda-toolkit nvidia-cuda-dev libcupti-dev libnvidia-ml-dev"
TOOLKIT_LIBRARIES = r"lib(cu(?!da1|da-)|nv(?!idia)|npp|thrust|accinj)"  # not the driver's
GXX = "g++-11 gcc-11 cpp-11 libgcc-11-dev libstdc++-11-dev libstdc++6 libgomp1 libatomic1 libquadmath0"
DRIVER = "libcuda1 libnvidia-ml1 nvidia-smi libnvidia-ptxjitcompiler1 libnvidia-nvvm4"
MULTIARCH = "lib/x86_64-linux-gnu"
DEBS = {
    "toolkit-12.4": ("trixie", TOOLKIT, TOOLKIT_LIBRARIES, "lay_out_toolkit", f"{MULTIARCH}/libcudart.so.12"),
    "toolkit-11.8": ("bookworm", TOOLKIT, TOOLKIT_LIBRARIES, "lay_out_toolkit", f"{MULTIARCH}/libcudart.so.11.0"),
    "gxx-11": ("bookworm", GXX, "", "", "bin/g++-11"),  # gcc finds its parts relative to where it lies
    "driver-535": ("bookworm", DRIVER, "", "lay_out_driver", "lib/libcuda.so.1"),
    "glibc-aarch64": ("trixie", "libc6:arm64", "", "", "lib/ld-linux-aarch64.so.1"),  # qemu-aarch64 -L <part>
    "driver-550": ("trixie", DRIVER, "", "lay_out_driver", "lib/libcuda.so.1"),
}

# The link-time stand-in for the driver that a toolkit ships, under the name that gets loaded: cuInit answers 34.
# name -> (toolkit part, file in it, name of the copy, which is what is printed)
STUBS = {"cuda-stub": ("toolkit-12.4", f"{MULTIARCH}/stubs/libcuda.so", "libcuda.so.1")}

# Whole Debian systems (9 GB) to chroot into, with what a source package needs to build and its source in /root.
# name -> (suite, packages, source package, file that must be there)
ROOTS = {"pytorch-source-2.6": ("trixie", "g++-13 nvidia-cuda-toolkit nvidia-cuda-dev ninja-build cmake", "pytorch",
                                "root/pytorch-2.6.0+dfsg/CMakeLists.txt")}

# In front of a command: mounts and processes of its own, which go with it, and it goes with who called it.
ALONE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--"]

NAMES = [*WHEELS, *ENVIRONMENTS, *FILES, *LIBRARIES, *DEBS, *STUBS, *ROOTS]
PYTHON_TAG = "3.11"  # of the wheels, whatever Python runs this script
COMMAND_LIMIT_S = 1800
SKIP = 77


class Unavailable(Exception):
    """A part cannot be had on this machine now; the text is one line that says why."""


def root():
    """The cache folder (it may not exist yet)."""
    if os.environ.get("TCS_REAL_PARTS"):
        return Path(os.environ["TCS_REAL_PARTS"]).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "torch-cuda-stack", "real-parts").absolute()


def path_of(name):
    """The path that stands for a part: its folder, a folder in it, or for a stub the file itself."""
    inside = WHEELS[name][3] if name in WHEELS else STUBS[name][2] if name in STUBS else ""
    return root() / name / inside


def present(name):
    return (root() / name).is_dir()


def ensure(name):
    """The path of a part, fetched first if need be. Raises Unavailable."""
    if not present(name):
        try:
            root().mkdir(parents=True, exist_ok=True)
            with locked(root() / f".{name}.lock"):
                if not present(name):
                    build_in_place(name)
        except OSError as error:  # a full disk, a cache that cannot be written
            raise Unavailable(f"{name}: {error}") from error
    return path_of(name)


@contextlib.contextmanager
def locked(file):
    """Hold an exclusive lock, which the system drops with the process; waits for another holder without limit."""
    with open(file, "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build_in_place(name):
    """Build a part beside its place and rename it there. The caller holds the part's lock."""
    for left_over in root().glob(f".{name}.tmp-*"):  # of a process that was killed
        shutil.rmtree(left_over)
    temp = Path(tempfile.mkdtemp(prefix=f".{name}.tmp-", dir=root()))
    try:
        part = temp / "part"
        part.mkdir()
        proof = build(name, part, temp)
        if not (part / proof).is_file():
            raise Unavailable(f"{name}: fetched, but it holds no {proof}")
        part.rename(root() / name)
    finally:
        shutil.rmtree(temp)


def build(name, part, temp):
    """Fill the folder `part`, with `temp` for scratch; the answer is the file that proves it complete."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise Unavailable(f"{name}: the real parts are for Linux on x86_64")
    if name in WHEELS:
        requirements, arch, proof, _ = WHEELS[name]
        install_wheels(name, requirements.split(), part, temp, arch, "--no-deps")
        return proof
    if name in ENVIRONMENTS:
        make_environment(name, ENVIRONMENTS[name].split(), part, temp)
        return "bin/ninja"
    if name in FILES:
        keep_files(name, *FILES[name], part, temp)
        return FILES[name][2][0]
    if name in LIBRARIES:
        torch, proof = LIBRARIES[name]
        install_wheels(name, cuda_requirements(ensure(torch)), part, temp, "x86_64")
        return proof
    if name in DEBS:
        suite, packages, dependencies, layout, proof = DEBS[name]
        unpack_debs(name, suite, packages.split(), dependencies, part, temp)
        if layout:
            globals()[layout](part)
        return proof
    if name in ROOTS:
        suite, packages, source, proof = ROOTS[name]
        make_root(name, suite, packages.split(), source, part)
        return proof
    toolkit, source, copy = STUBS[name]
    shutil.copy(ensure(toolkit) / source, part / copy)
    return copy


def say(text):
    print(f"parts.py: {text}", file=sys.stderr, flush=True)


def run(name, command, **options):
    """Run a command for a part and give its stdout. Raises Unavailable with the last line of its complaint."""
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=COMMAND_LIMIT_S, check=False, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{name}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise Unavailable(f"{name}: {command[0]} exited with {done.returncode}: {last}")
    return done.stdout


# ---- wheels

def pip_command():
    return [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else ["pip3"]


def install_wheels(name, requirements, part, temp, arch, *options):
    """Install the cp311 wheels of one platform into a folder, as pip would into site-packages."""
    say(f"{name}: pip installs {' '.join(requirements)}")
    tags = [f"manylinux_2_{minor}_{arch}" for minor in range(28, 4, -1)]  # older pips do not expand a tag downwards
    tags += [f"{old}_{arch}" for old in ("manylinux2014", "manylinux2010", "manylinux1", "linux")]
    run(name, [*pip_command(), "install", "--quiet", "--target", part, "--no-compile", "--no-cache-dir",
               "--only-binary=:all:", "--implementation=cp", "--python-version", PYTHON_TAG,
               *(f"--platform={tag}" for tag in tags), *options, *requirements],
        env={**os.environ, "TMPDIR": str(temp)})


def make_environment(name, requirements, part, temp):
    """Make a venv. Its scripts name the folder that it gets renamed to, so that it need not be built there."""
    say(f"{name}: pip installs {' '.join(requirements)}")
    run(name, [sys.executable, "-m", "venv", part])
    run(name, [part / "bin/python3", "-m", "pip", "install", "--quiet", "--no-cache-dir", *requirements],
        env={**os.environ, "TMPDIR": str(temp)})
    for script in (part / "bin").iterdir():
        text = script.read_bytes()
        if not script.is_symlink() and not text.startswith(b"\x7fELF"):
            script.write_bytes(text.replace(bytes(part), bytes(root() / name)))


# pip asks a source archive's build backend for its metadata even to download it, and vLLM's wants all of torch for
# that. This one stands in for setuptools and hands over the PKG-INFO that lies in the archive.
BACKEND = """import pathlib, re, shutil
def get_requires_for_build_wheel(config_settings=None):
    return []
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    name, version = (re.search(f"(?m)^{field}: (.*)$", text)[1] for field in ("Name", "Version"))
    info = pathlib.Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    shutil.copy("PKG-INFO", info / "METADATA")
    return info.name
class __legacy__:
    get_requires_for_build_wheel = staticmethod(get_requires_for_build_wheel)
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
"""


def keep_files(name, requirement, kind, files, part, temp):
    """Download a package and keep the named files of it."""
    say(f"{name}: pip downloads {requirement}")
    backend = temp / "backend/setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(BACKEND, encoding="ascii")
    options = ["--only-binary=:all:"] if kind == "wheel" else ["--no-binary=:all:", "--no-build-isolation",
                                                               "--use-pep517"]
    run(name, [*pip_command(), "download", "--quiet", "--dest", temp, "--no-deps", "--no-cache-dir", *options,
               requirement], env={**os.environ, "TMPDIR": str(temp), "PYTHONPATH": str(backend.parent)})
    package = next(file for file in temp.iterdir() if file.name.endswith((".whl", ".tar.gz")))
    with tarfile.open(package) if kind == "source" else zipfile.ZipFile(package) as archive:
        for file in files:
            (part / file).parent.mkdir(parents=True, exist_ok=True)
            if kind == "wheel":
                (part / file).write_bytes(archive.read(file))
            else:  # the name of the archive is its only top folder
                (part / file).write_bytes(archive.extractfile(f"{package.name[:-7]}/{file}").read())


def cuda_requirements(torch):
    """What an unpacked torch wheel requires of CUDA, without the environment markers."""
    metadata = next(torch.glob("torch-*.dist-info/METADATA")).read_text(encoding="utf-8")
    return re.findall(r"^Requires-Dist: ((?:nvidia-|cuda-toolkit)[^;\s]+)", metadata, re.MULTILINE)


# ---- Debian packages

def unpack_debs(name, suite, packages, dependencies, part, temp):
    """Unpack the /usr of packages of a suite, and of those direct dependencies whose name the pattern matches."""
    say(f"{name}: apt gets {' '.join(packages)} of {suite}")
    foreign = {word.partition(":")[2] for word in packages} - {""}
    apt = private_apt(suite, temp, ["amd64", *sorted(foreign)])
    run(name, ["apt-get", "update", *apt])
    wanted = list(packages)
    if dependencies:
        text = run(name, ["apt-cache", "depends", "--important", *packages, *apt])
        found = re.findall(r"^ *\|?Depends: (\S+)$", text, re.MULTILINE)
        wanted += sorted({dep for dep in found if re.match(dependencies, dep)} - set(packages))
    debs, unpacked = temp / "debs", temp / "unpacked"
    debs.mkdir()
    run(name, ["apt-get", "download", *wanted, *apt], cwd=debs)
    for deb in sorted(debs.iterdir()):
        run(name, ["dpkg-deb", "--extract", deb, unpacked])
        deb.unlink()
    (unpacked / "usr").rename(part)


def private_apt(suite, temp, architectures=("amd64",)):
    """Options that make apt work in a folder of its own, on another suite of the mirror this machine uses."""
    uri, signed_by = debian_source()
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (temp / folder).mkdir(parents=True)
    (temp / "status").touch()
    (temp / "suite.sources").write_text(
        f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main contrib non-free non-free-firmware\n"
        + (f"Signed-By: {signed_by}\n" if signed_by else ""), encoding="ascii")
    settings = {"Dir::State": temp / "state", "Dir::State::status": temp / "status", "Dir::Cache": temp / "cache",
                "Dir::Etc::sourcelist": temp / "suite.sources", "Dir::Etc::sourceparts": "-",
                "Dir::Etc::preferences": "-", "Dir::Etc::preferencesparts": "-", "APT::Architecture": "amd64",
                "APT::Architectures": ",".join(architectures), "APT::Sandbox::User": "root",
                "Acquire::Languages": "none", "Acquire::Retries": "3"}
    return [f"-o{key}={value}" for key, value in settings.items()]


def debian_source(etc=Path("/etc/apt"), os_release=Path("/etc/os-release")):
    """(URI, key file or None) of the Debian archive that this machine is set up to use. Raises Unavailable."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', os_release.read_text(encoding="utf-8"), re.MULTILINE))
    codename = release.get("VERSION_CODENAME")
    for file in sorted((etc / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", file.read_text(encoding="utf-8")):
            field = dict(re.findall(r"^([\w-]+): *(.*)$", stanza, re.MULTILINE))
            if codename in field.get("Suites", "").split() and "main" in field.get("Components", "").split():
                return field["URIs"].split()[0], field.get("Signed-By")
    for file in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]:
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        for options, uri, archive in re.findall(r"^deb +(?:\[(.*?)\] +)?(\S+) +(\S+ +main\b)", text, re.MULTILINE):
            if archive.split()[0] == codename:
                signed_by = re.search(r"signed-by=(\S+)", options)
                return uri, signed_by and signed_by.group(1)
    raise Unavailable("no entry for a Debian archive in the machine's apt sources")


def link(target, place):
    """A symlink to a file of the same part, relative so that the part can be moved."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))


def lay_out_toolkit(part):
    """Make a Debian toolkit work from a prefix that stands for /usr.

    Debian's /usr/bin/nvcc is a script that runs /usr/lib/nvidia-cuda-toolkit/bin/nvcc, whose nvcc.profile (a link to
    /etc) names /usr outright and no headers, since /usr/include is searched anyway. Both are written anew, relative
    to nvcc (which puts its folder into _HERE_): cicc lies beside it, cudafe++, ptxas and the rest in <part>/bin.
    As in Debian the profile sets no TOP: CMake takes the folder above nvcc's as the root. Where that is not /usr it
    wants nvvm/libdevice and bin/crt/link.stub in it and, as FindCUDA does, looks for libraries in lib64 and lib only
    (and then in the machine's own folders, where another toolkit's may lie): three links give it that. The static
    archives, 2.2 GB, are dropped but for cudart's: FindCUDA and the shared CUDA:: targets do without.
    """
    home = part / "lib/nvidia-cuda-toolkit"
    (home / "bin/nvcc.profile").unlink()
    (home / "bin/nvcc.profile").write_text(
        "NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice\n"
        "PATH += $(_HERE_):$(_HERE_)/../../../bin:\n"
        'INCLUDES += "-I$(_HERE_)/../../../include" $(_SPACE_)\n'
        'LIBRARIES =+ $(_SPACE_) "-L$(_HERE_)/../../x86_64-linux-gnu/stubs" "-L$(_HERE_)/../../x86_64-linux-gnu"\n',
        encoding="ascii")
    (part / "bin/nvcc").write_text(
        '#!/bin/sh\n'
        'root=$(dirname "$(dirname "$(readlink -f "$0")")")\n'
        'exec "$root/lib/nvidia-cuda-toolkit/bin/nvcc" "$@"\n', encoding="ascii")
    link(home / "libdevice", part / "nvvm/libdevice")
    link(home / "bin/crt", part / "bin/crt")
    link(part / MULTIARCH, part / "lib64")
    for archive in (part / MULTIARCH).glob("lib*_static*.a"):
        if archive.name != "libcudart_static.a":
            archive.unlink()


def lay_out_driver(part):
    """Debian keeps a driver's files out of the loader's way, to be switched by alternatives: one lib, one bin."""
    for library in sorted((part / MULTIARCH).rglob("lib*.so*")):
        link(library, part / "lib" / library.name)
    link(next((part / "lib").rglob("nvidia-smi")), part / "bin/nvidia-smi")


# ---- Debian systems

def make_root(name, suite, packages, source, part):
    """debootstrap a suite of the mirror that this machine uses, install packages and get a source package ready.

    No /proc stays mounted in the part, however a step ends. The device files are those that debootstrap makes.
    """
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not shutil.which("unshare"):
        raise Unavailable(f"{name}: needs root, debootstrap and unshare")
    uri, signed_by = debian_source()
    say(f"{name}: debootstrap, the build dependencies and the source of {source} in {suite} (10 minutes)")
    keyring = [f"--keyring={signed_by}"] if signed_by and signed_by.startswith("/") else []
    run(name, [*ALONE, "debootstrap", "--variant=minbase", "--include=ca-certificates", *keyring, suite, part, uri])
    shutil.copy("/etc/resolv.conf", part / "etc/resolv.conf")
    (part / "etc/apt/sources.list").write_text(
        "".join(f"{kind} {uri} {suite} main contrib non-free non-free-firmware\n" for kind in ("deb", "deb-src")),
        encoding="ascii")
    (part / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n", encoding="ascii")  # no service is started
    (part / "usr/sbin/policy-rc.d").chmod(0o755)
    install = ["apt-get", "-q", "-y", "--no-install-recommends"]
    for command in (["apt-get", "-q", "update"], [*install, "install", "dpkg-dev", *packages],
                    [*install, "build-dep", source], ["apt-get", "-q", "source", source]):
        run(name, [*ALONE, "sh", "-ec", 'mount -t proc proc "$0/proc"; exec chroot "$0" env -i "$@"', part,
                   "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8",
                   "DEBIAN_FRONTEND=noninteractive", "sh", "-c", 'cd /root && exec "$@"', "sh", *command])


# ---- command line

def main(arguments):
    parser = argparse.ArgumentParser(prog="parts.py", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("get", help="fetch what is missing and print the paths").add_argument(
        "names", nargs="+", choices=NAMES, metavar="NAME")
    commands.add_parser("path", help="print the path of a part that is present, else exit 1").add_argument(
        "name", choices=NAMES, metavar="NAME")
    commands.add_parser("list", help="print every name and whether it is present")
    options = parser.parse_args(arguments)
    if options.command == "list":
        for name in NAMES:
            print(name, "present" if present(name) else "absent", sep="\t")
    elif options.command == "path":
        if not present(options.name):
            return 1
        print(path_of(options.name))
    else:
        for name in options.names:
            print(ensure(name), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Unavailable as reason:
        say(f"skip: {reason}")
        sys.exit(SKIP)
