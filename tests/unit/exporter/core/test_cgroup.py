from __future__ import annotations

from pathlib import Path

from modelexport_exporter.core.cgroup import Memory, read_memory


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_version_2(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": "1000\n",
            "sys/fs/cgroup/memory.peak": "900\n",
            "sys/fs/cgroup/memory.events": "low 0\nmax 7\noom 2\noom_kill 1\n",
        },
    )
    assert read_memory(tmp_path) == Memory(1000, 900, 1)


def test_version_2_without_a_limit(tmp_path: Path) -> None:
    write(tmp_path, {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"})
    assert read_memory(tmp_path) == Memory(None, None, 0)


def test_version_1_in_a_group_below(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/memory/pod/x"
    write(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/pod/x\n0::/\n",
            f"{group}/memory.limit_in_bytes": "1000\n",
            f"{group}/memory.max_usage_in_bytes": "900\n",
            f"{group}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        },
    )
    assert read_memory(tmp_path) == Memory(1000, 900, 3)


def test_version_1_where_the_container_sees_only_its_own_group(tmp_path: Path) -> None:
    mount = "sys/fs/cgroup/memory"
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/kubepods/pod1/abc\n",
            f"{mount}/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    assert read_memory(tmp_path) == Memory(None, None, 0)


def test_a_machine_without_control_groups_still_counts_its_kills(tmp_path: Path) -> None:
    write(tmp_path, {"proc/vmstat": "pgfault 12\noom_kill 4\n"})
    assert read_memory(tmp_path) == Memory(None, None, 4)
    assert read_memory(tmp_path / "nothing") == Memory()


def test_kills_in_other_containers_do_not_count_where_the_group_has_a_counter(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        {
            "proc/vmstat": "oom_kill 18\n",
            "proc/self/cgroup": "4:memory:/pod\n",
            "sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "1000\n",
            "sys/fs/cgroup/memory/pod/memory.oom_control": "under_oom 0\noom_kill 1\n",
        },
    )
    assert read_memory(tmp_path).oom_kills == 1
    (tmp_path / "sys/fs/cgroup/memory/pod/memory.oom_control").write_text("under_oom 0\n")
    assert read_memory(tmp_path).oom_kills == 18
