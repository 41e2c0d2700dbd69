"""What the NetworkPolicies of the chart let through: evaluated as the specification says."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from bed.processes import BedError
from unit.chart.rendering import Objects, Render, container_labels, named

METADATA = [
    "169.254.169.254",  # AWS, Google, Azure, Oracle, DigitalOcean, OpenStack
    "169.254.170.2",  # AWS: credentials of tasks
    "169.254.170.23",  # AWS: EKS Pod Identity
    "168.63.129.16",  # Azure's wire server
    "100.100.100.200",  # Alibaba
    "192.0.0.192",  # Oracle
    "fd00:ec2::254",  # AWS
    "fd00:ec2::23",  # AWS: EKS Pod Identity
    "fd20:ce::254",  # Google
    "fd00:42::42",  # Scaleway
    "fe80::a9fe:a9fe",  # OpenStack
]
PORTS = [53, 80, 443, 8080]


def policies(objects: Objects, name: str = "modelexport-exporter") -> Objects:
    return [o for o in objects if o["kind"] == "NetworkPolicy" and o["metadata"]["name"] == name]


def reaches(policy: dict[str, Any], address: str, port: int, protocol: str = "TCP") -> bool:
    """Return whether the policy lets a pod send to an address outside of the cluster."""
    return any(
        any(_contains(peer, address) for peer in rule["to"])
        and any(
            entry["protocol"] == protocol and entry.get("port", port) == port
            for entry in rule["ports"]
        )
        for rule in policy["spec"]["egress"]
    )


def _contains(peer: dict[str, Any], address: str) -> bool:
    block = peer.get("ipBlock")
    if block is None:
        return False
    found = ip_address(address)
    return found in ip_network(block["cidr"]) and not any(
        found in ip_network(left_out) for left_out in block.get("except", [])
    )


@pytest.mark.parametrize("name", ["modelexport-exporter", "modelexport"])
def test_metadata_is_never_reached(render: Render, name: str) -> None:
    (policy,) = policies(render(), name)
    found = [
        (address, port, protocol)
        for address in METADATA
        for port in PORTS
        for protocol in ("TCP", "UDP")
        if reaches(policy, address, port, protocol)
    ]
    assert found == []


def test_export_pods_reach_the_store_and_dns_and_nobody_reaches_them(render: Render) -> None:
    objects = render()
    (policy,) = policies(objects)
    selected = policy["spec"]["podSelector"]["matchLabels"]
    assert selected.items() <= container_labels(objects).items()
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert policy["spec"]["ingress"] == []
    assert reaches(policy, "52.216.1.1", 443)
    assert reaches(policy, "2600:1fa0::1", 443)
    assert not reaches(policy, "52.216.1.1", 53, "UDP")
    assert reaches(policy, "169.254.20.10", 53, "UDP")
    (dns,) = [peer for peer in policy["spec"]["egress"][0]["to"] if "podSelector" in peer]
    assert dns["namespaceSelector"] == {
        "matchLabels": {"kubernetes.io/metadata.name": "kube-system"}
    }


def test_a_store_with_known_addresses_is_all_that_is_reached(render: Render) -> None:
    store = {"cidrs": ["10.1.2.0/24"], "ports": [9000]}
    (policy,) = policies(render(networkPolicy={"store": store}))
    assert reaches(policy, "10.1.2.3", 9000)
    assert not reaches(policy, "10.1.2.3", 443)
    assert not reaches(policy, "10.1.3.3", 9000)
    assert not reaches(policy, "52.216.1.1", 443)


def test_a_store_in_the_cluster(render: Render) -> None:
    peer = {"podSelector": {"matchLabels": {"app": "minio"}}}
    (policy,) = policies(render(networkPolicy={"store": {"cidrs": [], "peers": [peer]}}))
    assert policy["spec"]["egress"][1]["to"] == [peer]
    assert not reaches(policy, "52.216.1.1", 443)


def test_more_rules(render: Render) -> None:
    rule = {
        "to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}],
        "ports": [{"protocol": "TCP", "port": 80}],
    }
    (policy,) = policies(render(networkPolicy={"extraEgress": [rule]}))
    assert reaches(policy, "169.254.170.23", 80)
    assert not reaches(policy, "169.254.169.254", 80)


@pytest.mark.parametrize(
    ("values", "namespaces"),
    [
        ({}, {"system"}),
        ({"operator": {"watchNamespaces": ["a", "b"]}}, {"a", "b"}),
        (
            {"operator": {"watchNamespaces": ["a"]}, "networkPolicy": {"namespaces": ["c"]}},
            {"c"},
        ),
        ({"networkPolicy": {"enabled": False}}, set()),
    ],
)
def test_namespaces(render: Render, values: dict[str, Any], namespaces: set[str]) -> None:
    objects = render(**values)
    assert {o["metadata"]["namespace"] for o in policies(objects)} == namespaces
    assert len(policies(objects, "modelexport")) == int(bool(namespaces))


def test_the_operator_s_metrics_are_reached(render: Render) -> None:
    objects = render()
    (policy,) = policies(objects, "modelexport")
    template = named(objects, "Deployment")["spec"]["template"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= (
        template["metadata"]["labels"].items()
    )
    ports = [port["containerPort"] for port in template["spec"]["containers"][0]["ports"]]
    assert [entry["port"] for entry in policy["spec"]["ingress"][0]["ports"]] == ports


@pytest.mark.parametrize(
    "values",
    [
        {"store": {"cidrs": ["everywhere"]}},
        {"metadataAddresses": {"ipv4": []}},
        {"dns": {"to": []}},
    ],
    ids=["no address", "no metadata address", "no DNS"],
)
def test_values_that_would_open_or_break_it_are_refused(
    render: Render, values: dict[str, Any]
) -> None:
    with pytest.raises(BedError, match="networkPolicy"):
        render(networkPolicy=values)
