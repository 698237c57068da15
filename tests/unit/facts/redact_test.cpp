// SPDX-License-Identifier: Apache-2.0
#include "facts/redact.h"

#include <catch2/catch_test_macros.hpp>

#include "facts/every_field.h"
#include "memory_host.h"

using namespace tcs;

namespace {

const Identity kOwn = {{"/data/homes/mallory"}, {"mallory"}, {"gpu17.lab.example", "gpu17"}};

std::string redacted(const std::string& text, const Identity& own = kOwn) {
  Json document = Json::object();
  document.add("text", text);
  return redact(document, own).find("text")->text;
}

struct Secret {
  const char *text, *secret;  // what is written, and what of it must be gone
};
const Secret secrets[] = {
    {"/home/alice/venv/bin/python", "alice"},
    {"-I/home/alice/include", "alice"},
    {"/Users/Bob/miniconda3", "Bob"},
    {"/mnt/c/Users/Bob/miniconda3", "Bob"},
    {"C:\\Users\\Carol Smith\\AppData\\x", "Carol"},
    {"C:\\Users\\Carol Smith\\AppData\\x", "Smith"},
    {"C:\\\\Users\\\\Dave\\\\x", "Dave"},
    {"/root/cuda", "/root"},
    {"/data/homes/mallory/cuda", "homes"},
    {"/scratch/mallory/cuda", "mallory"},
    {"written by mallory on a Monday", "mallory"},
    {"/opt/gpu17/cuda", "gpu17"},
    {"on GPU17.lab.example it hangs", "lab"},
    {"see node7.cluster.acme.com", "acme"},
    {"see gpu17.cluster.acme.com", "acme"},
    {"ssh printer.lan", "printer"},
    {"\\\\fileserver\\share\\cuda", "fileserver"},
    {"/net/fileserver/cuda", "fileserver"},
    {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "8932f937"},
    {"MIG-8932f937-d72c-4106-c12f-20bd9faed9f6", "d72c"},
    {"MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0", "20bd9faed9f6"},
    {"8932f937-d72c-4106-c12f-20bd9faed9f6", "8932f937"},
    {"the board GPU-8932f937 is gone", "8932f937"},
    {"https://eve:hunter2@pypi.acme.com/simple", "hunter2"},
    {"https://eve:hunter2@pypi.acme.com/simple", "acme"},
    {"http://wheels:8080/simple", "wheels"},
    {"git@git.acme.com:stack.git", "acme"},
    {"eve.adams+cuda@mail.acme.co", "adams"},
    {"asked by eve@box", "eve"},
    {"ghp_0123456789abcdefghijABCDEFGHIJ012345", "0123456789"},
    {"github_pat_11ABCDEFG0123456789_abcdefghijk", "ABCDEFG"},
    {"hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456", "AbCdEf"},
    {"AKIAIOSFODNN7EXAMPLE", "IOSFODNN"},
    {"xoxb-1234567890-abcdefghij", "1234567890"},
    {"glpat-abcdefghij0123456789", "abcdefghij"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "zdWIi"},
    {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY12", "MDENG"},
    {"f3b1c5d7e9a0b2c4d6e8f0a1b3c5d7e9", "f3b1c5"},
    {"deadbeefdeadbeefcafebabe01234567", "cafebabe"},
    {"key aGVsbG8gd29ybGQgdGhpcyBpcyBzZWNyZXQ0Mg==", "aGVsbG8"},
    {"password=hunter2", "hunter2"},
    {"-DSOME_TOKEN=hunter2 -DX=1", "hunter2"},
    {"--token hunter2", "hunter2"},
    {"api_key: 'hunter2'", "hunter2"},
    {"Authorization: Bearer abcdefgh1234", "abcdefgh1234"},
    {"no route to 10.11.12.13:443", "10.11.12.13"},
    {"fe80::1ff:fe23:4567:890a is down", "fe23"},
    {"2001:db8:0:1:1:1:1:1", "db8"},
    {"card 00:1b:63:84:45:e6", "84:45"},
    {"card 00-1b-63-84-45-e6", "84-45"},
    {"fe80::1%eth0 is down", "fe80"},
    {"fe80::1%enp3s0 is down", "enp3s0"},
    {"node ip-10-0-3-7", "10-0-3-7"},
    {"node ip-10-0-3-7.cluster.acme.com", "acme"},
    {"192.168.1.10-node", "192.168"},
    // People, wherever a path or a key shows that it is one.
    {"/home//ursula/x", "ursula"},
    {"/home/./victor/x", "victor"},
    {"/home/ACME\\trent/x", "trent"},
    {"/home/ludo\\ miller/y", "miller"},
    {"ran as ACME\\trent", "trent"},
    {"user=gretel", "gretel"},
    {"USER: hansel", "hansel"},
    {"uid=1000(ingrid) gid=1001(johanna)", "ingrid"},
    {"uid=1000(ingrid) gid=1001(johanna)", "johanna"},
    {"/media/quinn/disk", "quinn"},
    {"/run/media/rupert/disk", "rupert"},
    {"/home2/peggy/cuda", "peggy"},
    {"/export/homes/peggy/cuda", "peggy"},
    {"C:\\Documents and Settings\\udo\\x", "udo"},
    {"file=%2Fhome%2Fquirin%2Fx", "quirin"},
    {"/opt/mallory_env/lib", "mallory"},
    {"env_mallory", "mallory"},
    {"/scratch/mallory2/x", "mallory"},
    {"gpu17_1", "gpu17"},
    {"/home/alice/x and /opt/alice_env", "alice"},
    {"//fileserver/share/cuda", "fileserver"},
    {"a:\\\\fileserver\\share", "fileserver"},
    // Secrets by what stands before them.
    {"pass=hunter2", "hunter2"},
    {"PGPASS=hunter2", "hunter2"},
    {"DB_PWD=hunter2", "hunter2"},
    {"GIT_PAT=hunter2", "hunter2"},
    {"session=hunter2", "hunter2"},
    {"Cookie: hunter2", "hunter2"},
    {"SLACK_WEBHOOK=hunter2", "hunter2"},
    {"passwd hunter2", "hunter2"},
    {"password => hunter2", "hunter2"},
    {"Authorization: token abc12345def", "abc12345def"},
    {"sk_live_abcdefgh", "abcdefgh"},
    {"rk_live_abcdefgh", "abcdefgh"},
};

}  // namespace

TEST_CASE("no secret survives, wherever in the facts it stands") {
  for (const Secret& row : secrets) {
    INFO(row.text);
    for (const std::string& text :
         {std::string(row.text), cat("see ", row.text, ", that is it"), cat("'", row.text, "'")}) {
      const std::string out = write_json(redact(facts_to_json(every_field(text)), kOwn));
      CHECK_FALSE(contains(out, row.secret));
      List<std::string> unknown;
      CHECK(read_facts(out, unknown));
      CHECK(unknown.empty());
    }
  }
}

TEST_CASE("every text of the facts is filled by the test above, the origins too") {
  const std::string full = write_json(facts_to_json(every_field("/home/alice/x")), 0);
  const std::string out = write_json(redact(facts_to_json(every_field("/home/alice/x")), kOwn), 0);
  CHECK(replace_all(replace_all(full, "/home/alice/", "/home/<user-2>/"),
                    ",\"TORCH_API_TOKEN\":\"the token\"", "") == out);
}

TEST_CASE("redacting twice is redacting once") {
  for (const Secret& row : secrets) {
    INFO(row.text);
    CHECK(redacted(redacted(row.text)) == redacted(row.text));
  }
}

TEST_CASE("what names nobody stays") {
  for (const char* text : {"/usr/local/cuda-12.4/bin/nvcc",
                           "2.12.0.dev20260101+cu130",
                           "12.4.131",
                           "8.9.2.26",
                           "nvidia-cudnn-cu12==9.1.0.70",
                           "libcudnn.so.9.1.0.70",
                           "libcudnn8 8.9.7.29-1+cuda12.2",
                           "535.183.01",
                           "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                           "NVIDIA_RTX_PRO_6000_Blackwell_Max-Q",
                           "sm_90a compute_90",
                           "cp311-cp311-manylinux_2_28_x86_64",
                           "5.15.0-1053-aws",
                           "Debian GNU/Linux 12 (bookworm)",
                           "/opt/conda/envs/torch/lib",
                           "/tmp/pip-build-env-a1b2c3d4/overlay/lib/python3.11/site-packages",
                           "https://download.pytorch.org/whl/cu130",
                           "-gencode=arch=compute_90a,code=sm_90a",
                           "8.0;8.6;9.0+PTX",
                           "GPU-accelerated",
                           "basic block",
                           "gcc@12.3.0",
                           "c10::cuda::CUDAGuard",
                           "cuInit@libcuda.so.1",
                           "127.0.0.1",
                           "https://localhost:8080",
                           "x86_64-linux-gnu",
                           "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4",
                           "/usr/lib/wsl/lib/libcuda.so.1",
                           "//usr/local/cuda/lib64:/opt//cuda",
                           "C:\\\\CUDA\\\\v12.4\\\\bin",
                           "site-packages/media/lib",
                           "10.3.5.147-1",
                           "password authentication",
                           "libcuda (550)",
                           "std::string a::b",
                           "",
                           "~",
                           "not found: /x"}) {
    CHECK(redacted(text) == text);
  }
}

TEST_CASE("placeholders keep what is below what, and which device is meant") {
  CHECK(redacted("/home/alice/a:/home/bob/b:/home/alice/c") ==
        "/home/<user-2>/a:/home/<user-3>/b:/home/<user-2>/c");
  CHECK(redacted("/data/homes/mallory/venv") == "/<home-1>/venv");
  CHECK(redacted("/data/homes/mallory2/venv") == "/data/homes/<user-2>/venv");
  CHECK(redacted("/home//alice/a:/home/./alice/b") == "/home//<user-2>/a:/home/./<user-2>/b");
  const std::string one = "8932f937-d72c-4106-c12f-20bd9faed9f6",
                    two = "89aaaaaa-d72c-4106-c12f-20bd9faed9f6";
  const std::string devices = cat("GPU-", one, " GPU-", two, " ");
  const std::string with =
      "GPU-a0000001-0000-0000-0000-000000000000 "
      "GPU-a0000002-0000-0000-0000-000000000000 ";
  CHECK(redacted(devices) == with);
  CHECK(redacted(cat(devices, "GPU-8932")) == cat(with, "GPU-a0000001"));      // the first
  CHECK(redacted(cat(devices, "GPU-89a")) == cat(with, "GPU-a0000002"));       // the second
  CHECK(redacted(cat(devices, "GPU-89")) == cat(with, "GPU-a0"));              // either
  CHECK(redacted(cat(devices, "GPU-77")) == cat(with, "GPU-a0000003"));        // none
  CHECK(redacted(cat(devices, "GPU-8932F937")) == cat(with, "GPU-A0000001"));  // in capitals
}

TEST_CASE("a name that is also a word of the facts is no name") {
  const Identity own = {{"/home/cuda"}, {"cuda", "1000", "x"}, {"linux"}};
  CHECK(redacted("/usr/local/cuda of linux, 1000 x", own) == "/usr/local/cuda of linux, 1000 x");
  CHECK(redacted("/home/cuda/x", own) == "/<home-1>/x");
  const Identity joined = {{}, {"compute", "sm", "cu"}, {}};
  CHECK(redacted("compute_90 sm_90 cu124", joined) == "compute_90 sm_90 cu124");
}

TEST_CASE("variables whose name tells of a secret are neither recorded nor kept") {
  Facts facts;
  facts.environment = {{"CUDA_HOME", "/x"},
                       {"TORCH_HUB_TOKEN", "a"},
                       {"NVCC_Api_Key", "b"},
                       {"TORCH_PASSWORD", "c"}};
  const Json out = redact(facts_to_json(facts), kOwn);
  CHECK(out.find("environment")->members.size() == 1);
  CHECK(names_a_secret("HF_TOKEN"));
  for (const char* name : {"aws_secret_access", "PGPASS", "DB_PWD", "GIT_PAT", "CUDA_SESSION",
                           "NVCC_COOKIE", "SLACK_WEBHOOK"}) {
    INFO(name);
    CHECK(names_a_secret(name));
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "NVCC_APPEND_FLAGS"}) {
    INFO(name);
    CHECK_FALSE(names_a_secret(name));
  }
}

TEST_CASE("an IP address that is all of a variable's value is no version") {
  Facts facts;
  facts.environment = {{"CUDA_PROXY", "10.1.2.3"}};
  facts.driver.version = Text("31.0.15.30");
  const std::string out = write_json(redact(facts_to_json(facts), kOwn), 0);
  CHECK_FALSE(contains(out, "10.1.2.3"));
  CHECK(contains(out, "31.0.15.30"));
}

TEST_CASE("user and machine are known from the environment and the kernel") {
  MemoryHost host;
  host.variables = {{"HOME", "/data/h/eve/"}, {"USER", "eve"}, {"HOSTNAME", "box3"}};
  host.files["/proc/sys/kernel/hostname"] = "box3.lab.example\n";
  Identity own = own_identity(host);
  CHECK(own.homes == List<std::string>{"/data/h/eve"});
  CHECK(own.users == List<std::string>{"eve"});
  CHECK(contains(own.hosts, "box3"));
  CHECK(contains(own.hosts, "box3.lab.example"));
  CHECK(contains(own.hosts, "lab.example"));
  host.files["/proc/sys/kernel/hostname"] = "box3.lab.acme.io\n";
  own = own_identity(host);
  CHECK(contains(own.hosts, "acme.io"));
  CHECK(contains(own.hosts, "acme"));
  CHECK_FALSE(contains(own.hosts, "io"));
  host.files["/etc/passwd"] = "root:x:0:0::/root:/bin/sh\neve:x:7:7::/data/eve2:/bin/sh\n";
  CHECK(own_identity(host).homes == List<std::string>{"/data/h/eve", "/data/eve2"});
  host.variables = {{"HOME", "/"}};
  CHECK(own_identity(host).homes.empty());
  host.variables = {{"HOME", "/export/home/frank"}};
  CHECK(own_identity(host).users == List<std::string>{"frank"});
}
