"""deploy/chart, rendered and held against the schemas of Kubernetes. Nothing here runs a cluster.

Helm renders it where it is installed, and otherwise Go's templates with sprig, which are what Helm is made of.
"""

import os
import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from server.settings import SETTINGS
from server.settings.reading import load_settings
from server.version import version
from tests.image.engine import HERE, ROOT

CHART = ROOT / "deploy" / "chart"
SPRIG = "/usr/share/gocode"
VARIANTS = {
    "defaults": {},
    "everything off": {
        "networkPolicy": {"enabled": False},
        "metrics": {"port": 0},
        "web": {"autoscaling": {"enabled": False}},
        "worker": {"autoscaling": {"enabled": False}},
        "ingress": {"annotations": None},
    },
    "everything set": {
        "image": {"repository": "registry.example.com/docent", "tag": "1.2.3"},
        "imagePullSecrets": [{"name": "registry"}],
        "secret": "other",
        "settings": {
            "CHAT_MODEL": "gpt-4o-mini",
            "WEB_WORKERS": 4,
            "LOG_FORMAT": "json",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.monitoring:4318",
            "CRAWL_SIGN_REQUESTS": 1,
            "CRAWL_SHARE_FROM": 1000,
        },
        "metrics": {"podMonitor": True},
        "backups": {"claim": "docent-backups"},
        "worker": {"autoscaling": {"queue": {"metric": ""}}},
        "networkPolicy": {
            "egress": [
                {
                    "to": [
                        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
                    ],
                    "ports": [{"port": 4318}],
                }
            ]
        },
    },
}


@pytest.fixture(scope="session")
def render(tmp_path_factory):
    """Renders the chart with values; returns its objects by (kind, name)."""
    folder = tmp_path_factory.mktemp("chart")
    if helm := shutil.which("helm"):
        command = [helm, "template", "docent", CHART, "--values"]
    elif (go := shutil.which("go")) and Path(SPRIG, "src/github.com/Masterminds/sprig").is_dir():
        environment = {**os.environ, "GO111MODULE": "off", "GOPATH": SPRIG, "GOCACHE": str(folder / "cache")}
        built = [go, "build", "-o", folder / "render", HERE / "render" / "main.go"]
        subprocess.run(built, env=environment, check=True)
        command = [folder / "render", CHART]
    else:
        pytest.fail(
            "nothing here renders the chart: install Helm, or on Debian: apt-get install golang-go "
            "golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev", pytrace=False
        )  # fmt: skip

    def rendered(values):
        file = folder / "values.yaml"
        file.write_text(yaml.safe_dump(values), encoding="utf-8")
        done = subprocess.run([*command, file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = list(filter(None, yaml.safe_load_all(done.stdout)))
        objects = {(one["kind"], one["metadata"]["name"]): one for one in found}
        assert len(objects) == len(found), "two objects have one name"
        return objects

    return rendered


def pods(objects):
    """(name, template of the pod) of everything that makes pods."""
    return {
        name: one["spec"]["template"]
        for (kind, name), one in objects.items()
        if kind in ("Deployment", "Job")
    }


@pytest.mark.parametrize("kubernetes", ["1.27.0", "1.37.0"])
@pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)
def test_every_object_is_as_the_schema_says(render, values, kubernetes):
    objects = render(values)
    objects.pop(
        ("PodMonitor", "docent"), None
    )  # of the Prometheus operator, of which there is no schema here
    for one in objects.values():
        kubernetes_validate.validate(one, kubernetes, strict=True)
    print(f"{len(objects)} objects hold against the strict schemas of Kubernetes {kubernetes}")


def test_the_schemas_refuse_a_field_that_does_not_exist(render):
    web = render({})["Deployment", "docent-web"]
    web["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(web, "1.37.0", strict=True)


def test_every_pod_is_without_rights_and_gets_secrets_by_reference(render):
    objects = render({})
    assert sorted(pods(objects)) == ["docent-prepare", "docent-web", "docent-worker"]
    assert not [kind for kind, _ in objects if kind in ("Secret", "ConfigMap")]
    for pod in pods(objects).values():
        [container] = pod["spec"]["containers"]
        assert pod["spec"]["securityContext"]["runAsNonRoot"]
        assert not pod["spec"]["automountServiceAccountToken"]
        limits = container["securityContext"]
        assert limits["readOnlyRootFilesystem"]
        assert limits["capabilities"] == {"drop": ["ALL"]}
        needed = {one["name"]: one["valueFrom"] for one in container["env"] if "valueFrom" in one}
        assert {name: one["secretKeyRef"]["key"] for name, one in needed.items()} == {
            name: name for name in ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "CHROMA_URL")
        }
        assert {one["name"].lower() for one in container["env"]} <= set(SETTINGS)
        mounted = {one["mountPath"] for one in container["volumeMounts"]}
        assert mounted == {"/data", "/tmp"}
        assert container["image"] == f"docent:{version()}"


@pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)
def test_docent_accepts_the_settings_of_every_pod(render, values, monkeypatch):
    keys = {"SECRET_KEY": "k" * 40, "DATABASE_URL": "postgresql://docent@postgres/docent"}
    keys |= {"REDIS_URL": "redis://redis:6379/0", "CHROMA_URL": "http://chroma:8000"}
    for pod in pods(render(values)).values():
        for one in pod["spec"]["containers"][0]["env"]:
            monkeypatch.setenv(one["name"], one.get("value") or keys[one["name"]])
        settings = load_settings()
        assert settings.crawling.sign_requests == ("CRAWL_SIGN_REQUESTS" in values.get("settings", ()))


def test_the_database_is_prepared_before_the_others_start(render):
    job = render({})["Job", "docent-prepare"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["prepare", "--database"]


def test_a_backup_before_an_upgrade_is_made_where_it_is_kept(render):
    def made(values):
        pod = pods(render(values))["docent-prepare"]["spec"]
        told = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
        return pod["volumes"][0], told.get("BACKUP_BEFORE_UPGRADE")

    assert made({}) == ({"name": "data", "emptyDir": {"sizeLimit": "5Gi"}}, "0")
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "docent-backups"}}
    assert made({"backups": {"claim": "docent-backups"}}) == (claim, None)


def test_web_servers_are_probed_and_drained(render):
    spec = render({"web": {"drainSeconds": 7}})["Deployment", "docent-web"]["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    probes = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")
    }
    assert probes == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "7"]
    assert pod["terminationGracePeriodSeconds"] == 37


def test_replicas_grow_with_work_and_are_not_all_taken_at_once(render):
    objects = render({})
    for name in ("docent-web", "docent-worker"):
        assert objects["PodDisruptionBudget", name]["spec"]["maxUnavailable"] == 1
        assert "replicas" not in objects["Deployment", name]["spec"], "the autoscaler decides"
    web, worker = (objects["HorizontalPodAutoscaler", f"docent-{name}"]["spec"] for name in ("web", "worker"))
    assert [one["type"] for one in web["metrics"]] == ["Resource"]
    assert [one["type"] for one in worker["metrics"]] == ["Resource", "External"]
    assert worker["metrics"][1]["external"]["metric"]["name"] == "docent_queue_depth"
    without = render(VARIANTS["everything set"])["HorizontalPodAutoscaler", "docent-worker"]
    assert [one["type"] for one in without["spec"]["metrics"]] == ["Resource"]
    assert render(VARIANTS["everything off"])["Deployment", "docent-web"]["spec"]["replicas"] == 2


def test_selectors_find_the_pods_that_they_mean(render):
    objects = render({})
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(objects).items()}
    for (kind, name), one in objects.items():
        spec = one["spec"]
        chosen = (
            spec.get("selector")
            if kind == "Service"
            else (spec.get("podSelector") or spec.get("selector") or {}).get("matchLabels")
        )
        if chosen:
            assert [pod for pod, has in labels.items() if chosen.items() <= has.items()] == [name], (
                kind,
                name,
            )


def test_the_network_lets_in_the_ingress_controller_and_prometheus_alone_and_nothing_out_to_private_networks(
    render,
):
    objects = render({})
    policies = {name: one["spec"] for (kind, name), one in objects.items() if kind == "NetworkPolicy"}
    assert sorted(policies) == ["docent-prepare", "docent-web", "docent-worker"]
    assert all(one["policyTypes"] == ["Ingress", "Egress"] for one in policies.values())
    ports = {
        name: [rule["ports"][0]["port"] for rule in one.get("ingress", ())] for name, one in policies.items()
    }
    assert ports == {"docent-prepare": [], "docent-web": ["http", "metrics"], "docent-worker": ["metrics"]}
    [_, metrics] = policies["docent-web"]["ingress"]
    assert metrics["from"][0]["namespaceSelector"]["matchLabels"] == {
        "kubernetes.io/metadata.name": "monitoring"
    }
    blocks = [
        to["ipBlock"] for rule in policies["docent-worker"]["egress"] for to in rule["to"] if "ipBlock" in to
    ]
    assert {"10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"} <= set(blocks[0]["except"])
    assert len(render(VARIANTS["everything set"])["NetworkPolicy", "docent-web"]["spec"]["egress"]) == 4


@pytest.mark.parametrize("name", ["docent-web", "docent-worker"])
def test_every_replica_serves_metrics_on_a_named_port(render, name):
    pod = pods(render({"metrics": {"port": 9999}}))[name]
    [container] = pod["spec"]["containers"]
    assert {"name": "metrics", "containerPort": 9999} in container["ports"]
    assert {"name": "METRICS_PORT", "value": "9999"} in container["env"]
    assert pod["metadata"]["annotations"]["prometheus.io/port"] == "9999"
    watched = render({"metrics": {"podMonitor": True}})
    assert "annotations" not in pods(watched)[name]["metadata"], "or it would be scraped twice"
    monitor = watched["PodMonitor", "docent"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["labels"][monitor["jobLabel"]] == "docent", "as the alert rules call the job"
    without = pods(render(VARIANTS["everything off"]))[name]
    assert "annotations" not in without["metadata"]
    assert "METRICS_PORT" not in {one["name"] for one in without["spec"]["containers"][0]["env"]}


def test_the_ingress_streams_over_tls(render):
    ingress = render({"ingress": {"host": "help.example.com"}})["Ingress", "docent"]
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    assert ingress["spec"]["tls"] == [{"hosts": ["help.example.com"], "secretName": "docent-tls"}]
    backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": "docent-web", "port": {"name": "http"}}


def test_the_chart_is_of_this_version():
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (about["version"], about["appVersion"]) == (version(), version())
