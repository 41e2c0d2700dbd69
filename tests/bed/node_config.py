"""The configuration files of a node, as functions of where it lives.

Every default path outside the run's directory is overridden, so that a node leaves nothing behind
and never meets another containerd or kubelet of this machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NODE_NAME = "bed"
BRIDGE = "mexbed0"
POD_RANGE = "10.244.0.0/24"
NODE_ADDRESS = "10.244.0.1"
"""The bridge's address: the node's own, and the pods' gateway."""

PAUSE_IMAGE = "localhost/modelexport-bed-pause:1"
CGROUP = "modelexport-bed"


def containerd(directory: Path) -> str:
    """containerd's configuration (version 2, TOML) with everything under DIRECTORY."""
    return f"""\
version = 2
root = "{directory}/root"
state = "{directory}/state"
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = "{directory}/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE nobody may lower an OOM score; runc would die of it.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "{directory}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  Root = "{directory}/runc"
"""


def cni(directory: Path, network: str) -> str:
    """The pods' network: the bridge, addresses from a file, no masquerading."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": POD_RANGE, "gateway": NODE_ADDRESS}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(directory / "addresses"),
    }
    bridge = {"type": "bridge", "bridge": BRIDGE, "isGateway": True, "ipMasq": False}
    plugins = [{**bridge, "hairpinMode": True, "ipam": addresses}, {"type": "loopback"}]
    return json.dumps({"cniVersion": "0.4.0", "name": network, "plugins": plugins}, indent=2)


def kubelet(directory: Path, *, authority: Path, certificate: Path, key: Path, port: int) -> str:
    """The kubelet's configuration."""
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE_ADDRESS,
        "port": port,
        "healthzPort": 0,
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(certificate),
        "tlsPrivateKeyFile": str(key),
        "containerRuntimeEndpoint": f"unix://{directory.parent}/containerd/containerd.sock",
        "podLogsDir": str(directory / "pod-logs"),
        "volumePluginDir": str(directory / "volume-plugins"),
        "resolvConf": str(directory / "resolv.conf"),
        "failCgroupV1": False,
        # kube-proxy is on nftables; without this the kubelet leaves iptables chains behind.
        "makeIPTablesUtilChains": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{CGROUP}",
        "failSwapOn": False,
        # This node must take a 7 GB image on a disk that is nearly full and throw nothing away.
        "localStorageCapacityIsolation": False,
        "imageGCHighThresholdPercent": 100,
        "evictionHard": dict.fromkeys(
            ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available"), "0%"
        ),
    }
    return json.dumps(config, indent=2)


def kube_proxy(kubeconfig: Path, *, health_port: int, metrics_port: int) -> str:
    """kube-proxy's configuration."""
    config: dict[str, Any] = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "hostnameOverride": NODE_NAME,
        "clusterCIDR": POD_RANGE,
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "healthzBindAddress": f"127.0.0.1:{health_port}",
        "metricsBindAddress": f"127.0.0.1:{metrics_port}",
        # Pods of one bridge answer each other directly; only a masqueraded request to a Service
        # gets its answer through the node, where the address is translated back.
        "nftables": {"masqueradeAll": True},
        # The machine's connection-tracking limits are not ours to change.
        "conntrack": {"maxPerCore": 0, "min": 0},
    }
    return json.dumps(config, indent=2)
